"""Alternatives to a plan: the best designs of other structures, placed."""

from __future__ import annotations

from typing import Sequence

from ..models.answer import IMPOSSIBLE, UNDECIDED, Answer
from ..models.planning.planned import CostedDesign
from .benders import ALTERNATIVES, GIVEN, BendersLoop, PlacedDesign
from .search.found import Price

TRIES = 8
"""Maximum number of placed designs."""
AGAIN = 3
"""Maximum number of further searches, each without unplaceable designs."""
SEARCHED = 0.1
"""Deterministic seconds counted for a searched placement."""


def best_alternatives(loop: BendersLoop, best: PlacedDesign) -> tuple[tuple[CostedDesign, ...], Sequence[CostedDesign]]:
    """Return the best designs of other structures by price, and the unplaced ones among them.

    They are placed as long as time and tries are left; a design without a placement is a no-good for
    a further search.
    """
    entries, seen = list[tuple[Price, CostedDesign]](), {best.priced.design.structure()}
    unsure, remaining, tries = list[CostedDesign](), loop.limit, TRIES

    def keep(price: Price, candidate: CostedDesign) -> None:
        entries.append((price, candidate))
        entries.sort(key=lambda entry: entry[0])
        seen.add(candidate.design.structure())

    for placed in sorted(loop.placed, key=lambda placed: placed.price):
        if placed.priced.design.structure() not in seen:
            keep(placed.price, placed.priced)
    for round_number in range(AGAIN + 1):
        ruled_out = False
        for result in loop.searched.found:
            if result.design.structure() in seen or (len(entries) >= ALTERNATIVES and result.price >= entries[ALTERNATIVES - 1][0]):
                continue
            answer, attempt = Answer(UNDECIDED), None
            if tries > 0 and remaining > 0:
                answer, attempt = loop.attempt(result.design, anywhere=True)
                remaining -= SEARCHED if answer.how == "search" else 0.0
            tries -= 1
            if answer.verdict == IMPOSSIBLE:
                loop.probes = probes_before = max(0, min(loop.probes, int(remaining / SEARCHED)))
                loop.bar(result, answer)
                remaining, ruled_out = remaining - SEARCHED * (probes_before - loop.probes), True
                continue
            candidate = attempt.priced if attempt is not None and answer.plan is not None else loop.cost(result.design)
            keep(loop.price(candidate), candidate)
            if answer.plan is None:
                unsure.append(candidate)
                tries = tries if answer.how == GIVEN else 0
        if not ruled_out or tries <= 0 or loop.spent >= loop.limit or loop.session.cancelled or round_number == AGAIN:
            break
        loop.search()
    return tuple(candidate for _, candidate in entries[:ALTERNATIVES]), unsure
