"""The main file that a program begins with, where it lies in a folder that may be read."""

from __future__ import annotations

import os
import re
from typing import Sequence

from ..composition.search_path import Located, SearchPath
from ..findings.finding import UnusableInput
from ..text.source import Source
from .holding.value import Text

_DECORATED = re.compile(r"^@hydra\.main\(([^()]*)\)", re.MULTILINE)
_ARGUMENT = re.compile(r"""\b(config_path|config_name)\s*=\s*(?:"([^"\n]*)"|'([^'\n]*)'|None)""")


def primary(script: str, program: str, path: Text | None, config: str, roots: Sequence[str]) -> Located | None:
    """The main file that `--config-path` and `--config-name` name; else those that the program itself says, if it lies there too.

    A relative path counts from the folder of the program, which is looked for below the folder of the script and the roots; what
    is not known of a path, such as the folder that the script is started from, is taken for one of them.
    """
    if "\0" in f"{program}{config}{path.plain if path else ''}":  # no file has such a name
        return None
    search = SearchPath.of(os.path.dirname(script), (), roots)
    own = _of_program(program, search) if path is None or not config else {}
    name = config or own.get("config_name", "")
    written = own.get("config_path", "") if path is None else _known_end(path)
    if not name or os.path.isabs(name) or (path is not None and not written):
        return None
    if os.path.isabs(written):
        return _in_folder(written, name, search)
    base = os.path.dirname(_file_of(program))
    for folder in dict.fromkeys((f"{base}/{written}", written, "") if path is not None or own else (f"{base}/config", "config", "")):
        found = search.find(os.path.normpath(os.path.join(folder.lstrip("/"), name)))
        if isinstance(found, Located):
            return found
    return None


def _in_folder(folder: str, name: str, search: SearchPath) -> Located | None:
    real = os.path.realpath(folder)
    if not any(real == root or real.startswith(root.rstrip(os.sep) + os.sep) for root in search.roots):
        return None
    found = SearchPath.of(folder, (), ()).find(name)
    return found if isinstance(found, Located) else None


def _file_of(program: str) -> str:
    """The file of a module or a file, below the folder that programs are started from."""
    return program if program.endswith(".py") else program.replace(".", "/") + ".py"


def _of_program(program: str, search: SearchPath) -> dict[str, str]:
    """What `@hydra.main(...)` says in the text of a program; nothing where that is not there, or says it otherwise than in plain words."""
    file = _file_of(program)
    if os.path.isabs(file):
        return {}
    for folder in search.folders:
        place = os.path.realpath(os.path.join(folder.path, file))
        if any(place.startswith(root.rstrip(os.sep) + os.sep) for root in search.roots) and os.path.isfile(place):
            try:
                text = Source.read(place).text
            except UnusableInput:
                return {}
            found = _DECORATED.search(text)
            return {name: one or other for name, one, other in _ARGUMENT.findall(found[1])} if found else {}
    return {}


def _known_end(path: Text) -> str:
    """The path; where it begins with what is not known, what follows that."""
    if path.secret:
        return ""
    start, position = 0, 0
    for piece in path.pieces:
        position += len(piece.text)
        if piece.unknown or piece.unset:
            start = position
    end = path.plain[start:]
    return end.lstrip("/") if start else end
