"""Parts of a dialect that are loaded first: evidence in a file, and the homes of the other parts."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any, Mapping

from ..record import dataclass


@dataclass(frozen=True, slots=True)
class Signs:
    """Keys that indicate a dialect, by dotted path.

    `sure` keys occur in no other kind of file; `weak` keys may occur in other files too.
    """

    sure: tuple[str, ...] = ()
    weak: tuple[str, ...] = ()

    @property
    def any(self) -> tuple[str, ...]:
        """All keys, the sure keys first."""
        return (*self.sure, *self.weak)


def part_of(package: str, homes: Mapping[str, str], name: str) -> Any:
    """Load a function of a dialect from its module. Files of other dialects load none."""
    if name not in homes:
        raise AttributeError(f"module {package!r} has no attribute {name!r}")
    part = getattr(import_module(homes[name], package), name)
    setattr(sys.modules[package], name, part)
    return part
