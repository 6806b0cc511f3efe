"""The file that a launch was made of, as text by which the keeper reads it again: then it knows too what the framework refuses in it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Mapping, Union

from ...models.composition import Composer
from ...models.composition.places import Library
from ...models.dialects.load import AsRead
from ...models.machines.cluster import Cluster
from ...models.machines.shorthand import AsDeclared
from ...models.reading import Reading
from ...models.text.source import Source
from ...solver.sandbox.messages import Codec, data_of, line_of


@dataclass(frozen=True)
class FileAsRead:
    """A file and how it was read, as plain data; `others` are the texts that it was put together with, by their names."""

    name: str
    text: str
    others: Mapping[str, str]
    machines: Union[Cluster, AsDeclared, None]
    dialect: str
    level: str
    roots: tuple[str, ...]
    settings: tuple[str, ...]
    allowed: tuple[str, ...]
    frameworks: tuple[str, ...] = ()

    def read(self) -> Reading:
        """The file, read again to be launched: of it and its parts the texts that were read before, whatever stands on the disk by now."""
        library = Library({name: Source(name, text) for name, text in self.others.items()})
        composer = Composer(self.roots, self.settings, self.allowed, self.frameworks, library)
        again = AsRead(self.name, self.machines, self.dialect, self.level, composer)
        return again(self.text).to_launch


def reading_to_text(reading: Reading | None) -> str:
    """What a file was and how it was read, as text; "" where that is not known."""
    how = reading.session.as_before if reading is not None else None
    if reading is None or not isinstance(how, AsRead):
        return ""
    composer = how.composer or Composer()
    others = {name: source.text for name, source in composer.library.sources.items()}
    its = FileAsRead(
        how.name,
        reading.source.text,
        others,
        how.machines,
        how.dialect,
        how.level,
        composer.roots,
        composer.settings,
        composer.allowed,
        composer.frameworks,
    )
    return line_of(_words().write(its, FileAsRead)).decode()


def reading_of(text: str) -> Reading | None:
    """The reading of a file that went through `reading_to_text`; None for "". Raises NotOurs for what is none."""
    if not text:
        return None
    its: FileAsRead = _words().read(data_of(text.encode()), FileAsRead)
    return its.read()


@cache
def _words() -> Codec:
    return Codec()
