"""File of a launch as text, which the keeper reads again.

The keeper then also knows what the framework refuses.
"""

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
    """File and reading options as plain data; `others`: composed texts by name."""

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
        """Read the file again for a launch, from the stored texts instead of the disk."""
        library = Library({name: Source(name, text) for name, text in self.others.items()})
        composer = Composer(self.roots, self.settings, self.allowed, self.frameworks, library)
        again = AsRead(self.name, self.machines, self.dialect, self.level, composer)
        return again(self.text).to_launch


def reading_to_text(reading: Reading | None) -> str:
    """Serialize a file with the reading options; "" if unknown."""
    how = reading.session.as_before if reading is not None else None
    if reading is None or not isinstance(how, AsRead):
        return ""
    composer = how.composer or Composer()
    others = {name: source.text for name, source in composer.library.sources.items()}
    stored = FileAsRead(
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
    return line_of(_words().write(stored, FileAsRead)).decode()


def reading_of(text: str) -> Reading | None:
    """Rebuild the reading from a text of `reading_to_text`; None for "".

    Raises NotOurs for any other text.
    """
    if not text:
        return None
    stored: FileAsRead = _words().read(data_of(text.encode()), FileAsRead)
    return stored.read()


@cache
def _words() -> Codec:
    return Codec()
