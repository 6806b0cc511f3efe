"""What crosses between the sets of one structure at least, by the ways in which they may be run."""

from __future__ import annotations

from functools import partial
from typing import Callable, NamedTuple, Sequence

from ....sandbox.interrupts import was_heard
from ..crossing.least import LeastCrossing, exactly
from ..structures.structure import Structure
from .choice import Amount, Choice

PAIRS = 2_000
"""Amounts of one set with one of another of which it is told exactly what crosses between them, before they are chosen."""


class Between(NamedTuple):
    """What crosses between two sets at least, in ns: by the place of the source's choice, then by that of the target's.

    `exact`: it by their amounts, where the rows say less.
    """

    source: int
    target: int
    rows: Sequence[Sequence[int]]
    exact: Callable[[Amount, Amount], int] | None = None


def between_sets(structure: Structure, choices: Sequence[Sequence[Choice]], crossing: LeastCrossing | None) -> tuple[Between, ...]:
    """What crosses by the choices of each set; of very many, all that need as few domains are looked at together.

    After Ctrl-C nothing further is counted: what is left out makes what is proved smaller, and nothing is searched with it any more.
    """
    if crossing is None:
        return ()
    found: list[Between] = []
    for pair in crossing.pairs(structure):
        ones, others = ([choice.amount for choice in choices[number]] for number in (pair.source, pair.target))
        few = len(set(ones)) * len(set(others)) <= PAIRS
        range_of = {each: exactly(each) for each in (*ones, *others)}
        one, other = (range_of, range_of) if few else (crossing.ranges(ones), crossing.ranges(others))
        rows = {}
        for its in dict.fromkeys(one[each] for each in ones):
            if was_heard():
                return tuple(found)
            beside = {each: crossing.between(pair, its, each) for each in dict.fromkeys(other[each] for each in others)}
            rows[its] = [beside[other[each]] for each in others]
        if any(map(any, rows.values())):
            exact = None if few else partial(crossing.between_amounts, pair)
            found.append(Between(pair.source, pair.target, tuple(rows[one[each]] for each in ones), exact))
    return tuple(found)
