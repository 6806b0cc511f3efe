"""Device ids as ROLL's users write them."""

from __future__ import annotations

from itertools import groupby

from .ids import Ids

_SHORT = 2
"""So many ids in a row are written one by one."""


def text_of(ids: Ids) -> str:
    """`list(range(0,8))+list([12,14])`; it needs no quotes in YAML."""
    pieces = []
    for short, parts in groupby(ids.parts, key=lambda part: len(part) <= _SHORT):
        if short:
            pieces.append(f"list([{','.join(str(each) for part in parts for each in part)}])")
        else:
            pieces += [f"list({_range(part)})" for part in parts]
    return "+".join(pieces) or "list([])"


def range_text(ids: range) -> str:
    """`list(range(0,8))` for ids that go on from each other."""
    return text_of(Ids((ids,)))


def _range(part: range) -> str:
    stop = part[-1] + (1 if part.step > 0 else -1)
    return f"range({part[0]},{stop})" if part.step == 1 else f"range({part[0]},{stop},{part.step})"
