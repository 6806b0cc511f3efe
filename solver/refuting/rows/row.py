"""A sum that shows why something is impossible."""

from __future__ import annotations

from dataclasses import field

from ....models.component import Component
from ....models.findings.span import Span
from ....models.record import dataclass


@dataclass(frozen=True)
class Row:
    """These components need `need` of something of which there are `have`; the sentence says of what.

    Attributes
    ----------
    size : where pieces of accelerators are counted, how many one piece has; else 0.
    unit : what one node holds together of such a piece; the piece itself unless `level` is above the node.
    level : inside one domain of which level a piece lies; "" for one node.
    span : where it is demanded, if that is elsewhere than the amount of the first component.
    """

    components: tuple[Component, ...]
    need: int
    have: int
    sentence: str
    size: int = 0
    unit: int = 0
    level: str = ""
    span: Span | None = field(default=None, compare=False)

    def __str__(self) -> str:
        return self.sentence
