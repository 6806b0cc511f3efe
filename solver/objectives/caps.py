"""Limits on terms of the objective, by the names that are printed."""

from __future__ import annotations

from ...models.cap import Cap
from ...models.findings.finding import UnusableInput, error
from ...models.text.nearest import nearest
from . import OBJECTIVES


def cap_of(name: str, number: str) -> Cap:
    """The limit of a term, as a user writes it: `extra racks` and `2`. Raises UnusableInput for what is no term or no number."""
    names = [term.name for term in OBJECTIVES]
    if name not in names:
        close = nearest(name, names)
        advice = f"write `{close}={number}`" if close else f"write it as it is printed, such as `{names[0]}={number}`"
        raise UnusableInput([error("PW611", "", f"`{name[:80]}` is no term of the objective", help=advice)])
    if not number.isdecimal() or len(number) > 9:
        message = f"`{number[:80]}` is no number that `{name}` could be limited to"
        raise UnusableInput([error("PW611", "", message, help=f"write such as `{name}=0`")])
    return Cap(((name, 1),), int(number))
