"""Alternatives to a plan: the best designs of other structures, placed."""

from __future__ import annotations

from typing import Sequence

from ..models.answer import IMPOSSIBLE, UNDECIDED, Answer
from ..models.planning.planned import CostedDesign
from .benders import ALTERNATIVES, GIVEN, BendersLoop, Placed
from .search.found import Price

TRIES = 8
"""Maximum number of placed designs."""
AGAIN = 3
"""Maximum number of further searches, each without unplaceable designs."""
SEARCHED = 0.1
"""Deterministic seconds counted for a searched placement."""


def best_alternatives(loop: BendersLoop, best: Placed) -> tuple[tuple[CostedDesign, ...], Sequence[CostedDesign]]:
    """Return the best designs of other structures by price, and the unplaced ones among them.

    They are placed as long as time and tries are left; a design without a placement is a no-good for
    a further search.
    """
    known, seen = list[tuple[Price, CostedDesign]](), {best.priced.design.structure()}
    unsure, left, tries = list[CostedDesign](), loop.limit, TRIES

    def keep(price: Price, priced: CostedDesign) -> None:
        known.append((price, priced))
        known.sort(key=lambda entry: entry[0])
        seen.add(priced.design.structure())

    for placed in sorted(loop.placed, key=lambda placed: placed.price):
        if placed.priced.design.structure() not in seen:
            keep(placed.price, placed.priced)
    for again in range(AGAIN + 1):
        ruled_out = False
        for found in loop.searched.found:
            if found.design.structure() in seen or (len(known) >= ALTERNATIVES and found.price >= known[ALTERNATIVES - 1][0]):
                continue
            answer, attempt = Answer(UNDECIDED), None
            if tries > 0 and left > 0:
                answer, attempt = loop.attempt(found.design, anywhere=True)
                left -= SEARCHED if answer.how == "search" else 0.0
            tries -= 1
            if answer.verdict == IMPOSSIBLE:
                loop.probes = allowed = max(0, min(loop.probes, int(left / SEARCHED)))
                loop.bar(found, answer)
                left, ruled_out = left - SEARCHED * (allowed - loop.probes), True
                continue
            priced = attempt.priced if attempt is not None and answer.plan is not None else loop.cost(found.design)
            keep(loop.price(priced), priced)
            if answer.plan is None:
                unsure.append(priced)
                tries = tries if answer.how == GIVEN else 0
        if not ruled_out or tries <= 0 or loop.spent >= loop.limit or loop.session.cancelled or again == AGAIN:
            break
        loop.search()
    return tuple(priced for _, priced in known[:ALTERNATIVES]), unsure
