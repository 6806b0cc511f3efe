"""One override of a command line, as Hydra reads it."""

from __future__ import annotations

from enum import Enum

from ..findings.span import Span
from ..record import dataclass
from .tree import Value


class Kind(Enum):
    """What a setting does, by its mark."""

    CHANGE, ADD, FORCE, DELETE = "", "+", "++", "~"


@dataclass(frozen=True, slots=True)
class Setting:
    """`key=value`, `+key=value`, `++key=value`, `~key` or `group@package=option`; `value` is None where none is written."""

    text: str
    kind: Kind
    key: str
    package: str | None
    value: Value | None
    span: Span
    key_span: Span

    @property
    def names(self) -> tuple[str, ...]:
        """The key as a path."""
        return tuple(self.key.split(".")) if self.key else ()
