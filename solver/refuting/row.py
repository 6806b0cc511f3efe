"""A sum that shows why something is impossible."""

from __future__ import annotations

from dataclasses import dataclass

from ...models.component import Component


@dataclass(frozen=True)
class Row:
    """These components need `need` of something of which there are `have`; the sentence says of what."""

    components: tuple[Component, ...]
    need: int
    have: int
    sentence: str

    def __str__(self) -> str:
        return self.sentence
