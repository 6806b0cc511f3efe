"""Of whose memory a plan takes for granted that none stays while others work, since nobody says that any does."""

from __future__ import annotations

from typing import Iterator, Sequence

from ....models.memory.bill import DECLARED, KEPT, WORKS, BlockBill
from ...wording import listed


def emptied(bills: Sequence[BlockBill]) -> Iterator[str]:
    """A sentence, where all of their memory would have no room beside that of the others.

    Nothing is said where nobody knows how much memory there is: no plan rests on it there.
    """
    names = dict.fromkeys(name for each in bills if each.capacity is not None for name in _emptied(each, each.capacity))
    if names:
        of = "its" if len(names) == 1 else "their"
        yield f"{listed(list(names))}: nothing of {of} memory stays while others work there, as no `offloaded` says more; all of it would have no room"


def _emptied(bill: BlockBill, capacity: int) -> Iterator[str]:
    """Those of which one alone would have no room in some part; and the others, where these would have none together."""
    works = [its for moment in bill.moments for its in moment.entries if its.state == WORKS]
    needs = {its.component: its.mebibytes for its in sorted(works, key=lambda its: its.mebibytes)}
    gone = set[str]()
    for moment in bill.moments:
        if any(its.state == WORKS for its in moment.entries):
            left = capacity - moment.mebibytes
            away = [its.component for its in moment.entries if its.state == KEPT and its.origin == DECLARED and not its.mebibytes]
            large = {name for name in away if needs.get(name, 0) > left}
            rest = {name for name in away if name not in large}
            gone |= large | (rest if sum(needs.get(name, 0) for name in rest) > left else set())
    return (name for name in bill.block.components if name in gone)
