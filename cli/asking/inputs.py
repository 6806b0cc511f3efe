"""The files of a command line, folders searched for those that place something."""

from __future__ import annotations

import os
from functools import cached_property
from typing import Callable, Iterator, Sequence, Union

from ...models.dialects.recognition import DIALECTS, dialect_named, is_meant_for
from ...models.findings.finding import UnusableInput, error
from ...models.reading import Reading
from ...models.record import dataclass
from ...models.script.recognise import DOTTED_SETTING
from ...models.script.recognise import ENDINGS as SCRIPTS

ENDINGS = (".yaml", ".yml", *SCRIPTS)
Load = Callable[[str, Union[str, None]], Sequence[Reading]]
"""Reads a file; of a folder that was named, whose other files may be parts of it, with that folder."""
_MARKS = ("component_placement", "components:", "device_mapping")
_NOT_A_CONFIGURATION = {"PW003", "PW004", "PW005", "PW007"}


@dataclass
class Inputs:
    """Files and folders, and how many files of the folders place nothing (`skipped`).

    Words such as `trainer.nnodes=2` that name no file are the settings of one configuration.
    """

    words: Sequence[str]
    skipped: int = 0

    @cached_property
    def paths(self) -> list[str]:
        """The words that name files and folders."""
        return [word for word in self.words if word not in self.settings]

    @cached_property
    def settings(self) -> list[str]:
        """The words that are settings."""
        return [word for word in self.words if "=" in word and not os.path.exists(word)]

    @property
    def several(self) -> bool:
        """May it be more than one file?"""
        return len(self.paths) + bool(self.settings) > 1 or any(map(os.path.isdir, self.paths))

    @property
    def searched(self) -> bool:
        """Is one of them a folder?"""
        return any(map(os.path.isdir, self.paths))

    def readings(self, load: Load, set_: Callable[[Sequence[str]], Reading]) -> Iterator[Reading]:
        """Every file, read; settings by `set_`. Raises UnusableInput for a folder in which nothing is placed."""
        if self.settings:
            yield set_(self.settings)
        for path in self.paths:
            if os.path.isdir(path):
                yield from self._of_folder(path, load)
            else:
                yield from load(path, None)

    def _of_folder(self, folder: str, load: Load) -> Iterator[Reading]:
        looked_at, skipped = 0, self.skipped
        for file in configurations(folder):
            looked_at += 1
            readings = [reading for reading in load(file, folder) if not places_nothing(reading)]
            self.skipped += not readings
            yield from readings
        if self.skipped - skipped == looked_at:
            message = f"`{folder}` holds no configuration that places something (files looked at: {looked_at})"
            raise UnusableInput([error("PW001", "", message, help="name the folder of the configurations")])


def configurations(folder: str) -> Iterator[str]:
    """The YAML files and scripts below a folder, in the order of their names.

    Nothing that is hidden, no folder through a link, and no pipe or device, on which reading would wait.
    """
    for here, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for path in (os.path.join(here, name) for name in sorted(files) if name.endswith(ENDINGS) and not name.startswith(".")):
            if os.path.isfile(path) or not os.path.exists(path):  # a link that leads nowhere is said to be unreadable
                yield path


def places_nothing(reading: Reading) -> bool:
    """Is it no configuration of any dialect: another YAML file, or a part that others are composed of?"""
    codes = {finding.code for finding in reading.findings if finding.unusable}
    if "PW010" in codes or (reading.dialect in DIALECTS and not is_meant_for(dialect_named(reading.dialect), reading.document)):
        return True
    if reading.source.name.endswith(SCRIPTS) and reading.document.program is None:
        return not DOTTED_SETTING.search(reading.source.text)
    return bool(codes & _NOT_A_CONFIGURATION) and not any(mark in reading.source.text for mark in _MARKS)
