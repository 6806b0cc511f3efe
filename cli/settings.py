"""Project settings: `placewright.toml`, or `[tool.placewright]` of `pyproject.toml`.

The nearest file counts, from the current folder upwards.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import Callable, Iterator, Mapping

from ..models.dialects.released import known_framework
from ..models.findings.finding import Finding, UnusableInput, error
from ..models.findings.span import Span
from ..models.level import LEVELS
from ..models.machines.shorthand import looks_like_shorthand, read_shorthand
from ..models.text.nearest import nearest
from .options.selection import read_codes, read_ignored
from .options.shared import DIALECTS

CODE = "PW016"
FILE, PROJECT, TABLE = "placewright.toml", "pyproject.toml", "tool.placewright"
PER_PATH = ("ignore", "cluster", "level", "framework", "dialect")
"""Settings that may differ by path."""
MAX_BYTES = 1 << 20
Settings = dict[str, object]
"""Defaults of verbs by parameter name."""


def settings_of(folder: str) -> Settings:
    """Return the settings of a folder; empty without a file. Raises UnusableInput for faults."""
    path = next(_candidates(folder), None)
    return {} if path is None else _read(path)


def _candidates(folder: str) -> Iterator[str]:
    """Yield settings files, nearest first, up to the repository root or the home folder."""
    home, directory = os.path.expanduser("~"), os.path.abspath(folder)
    while True:
        if os.path.isfile(path := os.path.join(directory, FILE)):
            yield path
        if os.path.isfile(path := os.path.join(directory, PROJECT)) and _has_table(path):
            yield path
        parent = os.path.dirname(directory)
        if directory in (home, parent) or os.path.exists(os.path.join(directory, ".git")):
            return
        directory = parent


def _has_table(path: str) -> bool:
    """Return True if a `pyproject.toml` contains the table; avoids parsing every file."""
    try:
        with open(path, "rb") as stream:
            text = stream.read(MAX_BYTES)
            return any(f"[{TABLE}{end}".encode() in text for end in "].")
    except OSError:
        return False


def _read(path: str) -> Settings:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    name = os.path.relpath(path)
    try:
        with open(path, "rb") as stream:
            text = stream.read(MAX_BYTES + 1).decode()
        data = tomllib.loads(text)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as problem:
        raise UnusableInput([error(CODE, "", f"`{name}` cannot be read: {problem}", help="write it as TOML")]) from None
    if os.path.basename(path) == PROJECT:
        data = data["tool"]["placewright"]
    reader = _SettingsReader(name, text, Path(path).parent)
    settings = reader.read(data)
    if reader.findings:
        raise UnusableInput(reader.findings)
    return settings


class _SettingsReader:
    """Reader of one settings file; collects findings."""

    def __init__(self, name: str, text: str, folder: Path) -> None:
        self._name, self._text, self._folder = name, text, folder
        self.findings: list[Finding] = []
        self._keys: dict[str, tuple[str, Callable[[object], object], str]] = {
            "cluster": ("cluster", self._cluster, "machines such as `2x8xH100`, or the path of a cluster file"),
            "level": ("level", lambda value: _check_word(value, LEVELS), f"one of {', '.join(LEVELS)}"),
            "config-root": ("roots", self._folders, "an existing folder, or a list of them"),
            "framework": (
                "frameworks",
                lambda value: tuple(map(known_framework, _texts(value))),
                "a release such as `verl==0.6.1`, or a list of them",
            ),
            "select": ("select", lambda value: read_codes(_texts(value)), "a code such as `PW102`, the beginning of codes, or a list"),
            "ignore": ("ignore", lambda value: read_ignored(_texts(value)), "a code such as `PW801`, the beginning of codes, or a list"),
            "warnings-as-errors": ("warnings_as_errors", _boolean, "true or false"),
            "docs-url": ("site", _text, "the address where you serve the documentation"),
            "per-path": ("by_path", self._read_paths, 'tables such as `"examples/**" = {ignore = ["PW801"]}`'),
            "dialect": ("dialect", lambda value: _check_word(value, DIALECTS), f"one of {', '.join(DIALECTS)}"),
        }

    def read(self, data: Mapping[str, object]) -> Settings:
        """Return settings by parameter name; faults go to `findings`."""
        settings: Settings = {}
        for key, value in data.items():
            if key not in self._keys:
                suggestion = nearest(key, self._keys)
                keys = ", ".join(f"`{name}`" for name in self._keys)
                help_ = f"write `{suggestion}`" if suggestion else f"keys are {keys}"
                self._fault(key, f"`{key[:80]}` is not a setting of placewright", "not a setting", help_)
                continue
            parameter, convert, form = self._keys[key]
            try:
                settings[parameter] = convert(value)
            except ValueError as problem:
                self._fault(key, f"`{key}` is not {form}", str(problem) or "not usable", f"write {form}")
        return settings

    def _fault(self, key: str, message: str, label: str, help_: str) -> None:
        match = re.search(rf"^[ \t]*(?:\[(?:{TABLE}\.)?)?[\"']?({re.escape(key)})[\"']?[ \t]*[]=.]", self._text, re.MULTILINE)
        span = None
        if match:
            start, line = match.start(1), self._text.count("\n", 0, match.start(1)) + 1
            span = Span(self._name, start, match.end(1), line, start - (self._text.rfind("\n", 0, start) + 1) + 1)
        self.findings.append(error(CODE, key, message, span, label=label, help=help_))

    def _cluster(self, value: object) -> str:
        text = _text(value)
        if looks_like_shorthand(text):
            read_shorthand(text)
            return text
        path = self._folder / text
        if not path.is_file():
            raise ValueError("there is no such file")
        return os.path.relpath(path)

    def _read_paths(self, value: object) -> tuple[tuple[str, Settings], ...]:
        """Return (pattern of absolute paths, settings by parameter name) for each table."""
        import glob

        folder, tables = glob.escape(os.path.abspath(self._folder)), list[tuple[str, Settings]]()
        for pattern, table in value.items() if isinstance(value, dict) else [("", value)]:
            if not isinstance(table, dict):
                raise ValueError("not a table")
            if unknown := set(table) - set(PER_PATH):
                raise ValueError(f"`{min(unknown)[:40]}` is not one of {', '.join(PER_PATH)}")
            settings = {self._keys[key][0]: self._keys[key][1](item) for key, item in table.items()}
            tables.append((os.path.join(folder, pattern), settings))
        return tuple(tables)

    def _folders(self, value: object) -> tuple[str, ...]:
        folders = tuple(self._folder / text for text in _texts(value))
        if not all(map(Path.is_dir, folders)):
            raise ValueError("there is no such folder")
        return tuple(map(os.path.relpath, folders))


def _boolean(value: object) -> bool:
    if not isinstance(value, bool):
        raise ValueError("neither true nor false")
    return value


def _check_word(value: object, words: tuple[str, ...]) -> str:
    text = _text(value)
    if text not in words:
        raise ValueError("unknown word")
    return text


def _texts(value: object) -> tuple[str, ...]:
    return tuple(map(_text, value)) if isinstance(value, list) else (_text(value),)


def _text(value: object) -> str:
    if not isinstance(value, str) or not value:
        raise ValueError("not a text")
    return value
