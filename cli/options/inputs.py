"""Files of a command line; folders are searched for configurations with placements."""

from __future__ import annotations

import os
from dataclasses import field
from functools import cached_property
from typing import Callable, Iterator, Sequence, Union

from ...models.dialect_names import DIALECTS
from ...models.dialects.recognition import dialect_named, is_meant_for
from ...models.findings.finding import UnusableInput, error
from ...models.reading import Reading
from ...models.record import dataclass
from ...models.script.recognise import DOTTED_SETTING
from ...models.script.recognise import ENDINGS as SCRIPTS
from ...models.text.source import Source
from .standard_input import is_command, source_of

ENDINGS = (".yaml", ".yml", *SCRIPTS)
Load = Callable[[Union[str, Source], Union[str, None]], Sequence[Reading]]
"""Reader, called with a file or a text and the folder of the search.

The folder is None for a file that was named. Other files of the folder may be parts of the configuration.
"""
_MARKS = ("component_placement", "components:", "device_mapping")
_BROKEN = "this is not YAML"
_NOT_A_CONFIGURATION = {"PW003", "PW004", "PW005", "PW007"}


@dataclass
class Inputs:
    """Files, folders and settings of a command line.

    `skipped` counts files of folders without placements; `broken` are those among them that cannot be read.
    """

    words: Sequence[str]
    skipped: int = 0
    broken: list[str] = field(default_factory=list)

    @cached_property
    def paths(self) -> list[str]:
        """Words that name files and folders, each file once."""
        words = dict[str, str]()
        for word in self.words:
            if word not in self.settings:
                words.setdefault(os.path.normpath(word), word)
        return list(words.values())

    @cached_property
    def settings(self) -> list[str]:
        """Words that are settings."""
        return [word for word in self.words if "=" in word and not os.path.exists(word) and not is_command(word)]

    @cached_property
    def _seen(self) -> set[str]:
        """Files that need no search: named ones, and those of folders before."""
        return {path for path in map(os.path.normpath, self.paths) if not os.path.isdir(path)}

    @property
    def several(self) -> bool:
        """True if there may be more than one file."""
        return len(self.paths) + bool(self.settings) > 1 or any(map(os.path.isdir, self.paths))

    def readings(self, load: Load, set_: Callable[[Sequence[str]], Reading]) -> Iterator[Reading]:
        """Yield a Reading per file; `set_` reads the settings. Raises UnusableInput."""
        if self.settings and self.paths:
            message = f"`{self.settings[0]}` is not a file, and no setting of `{self.paths[0]}` either"
            raise UnusableInput([error("PW012", "", message, help=f"write `--set {self.settings[0]}` to change what the file says")])
        if self.settings:
            yield set_(self.settings)
        for path in self.paths:
            if os.path.isdir(path):
                yield from self._readings_in(path, load)
            else:
                yield from load(source_of(path), None)

    def _readings_in(self, folder: str, load: Load) -> Iterator[Reading]:
        file_count, skipped_before = 0, self.skipped
        for file in configurations(folder):
            file_count += 1
            if (path := os.path.normpath(file)) in self._seen:
                continue
            self._seen.add(path)
            every = list(load(file, folder))
            readings = [reading for reading in every if not places_nothing(reading)]
            self.skipped += not readings
            if not readings and any(finding.message.startswith(_BROKEN) for reading in every for finding in reading.findings):
                self.broken.append(file)
            yield from readings
        if self.skipped - skipped_before == file_count:
            message = f"`{folder}` holds no configuration that places something (files looked at: {file_count})"
            raise UnusableInput([error("PW001", "", message, help="name the folder of the configurations")])


def configurations(folder: str) -> Iterator[str]:
    """Yield the YAML files and scripts below a folder, in the order of their names.

    Hidden files, folders behind links, and pipes and devices (reading would block) are left out.
    """
    for parent, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for path in (os.path.join(parent, name) for name in sorted(files) if name.endswith(ENDINGS) and not name.startswith(".")):
            if os.path.isfile(path) or not os.path.exists(path):  # a dangling link gets its "unreadable" finding later
                yield path


def places_nothing(reading: Reading) -> bool:
    """Return True if a YAML file is not a configuration, or a part for composition."""
    codes = {finding.code for finding in reading.findings if finding.unusable}
    if "PW010" in codes or (reading.dialect in DIALECTS and not is_meant_for(dialect_named(reading.dialect), reading.document)):
        return True
    if reading.source.name.endswith(SCRIPTS) and reading.document.program is None:
        return not DOTTED_SETTING.search(reading.source.text)
    return bool(codes & _NOT_A_CONFIGURATION) and not any(mark in reading.source.text for mark in _MARKS)
