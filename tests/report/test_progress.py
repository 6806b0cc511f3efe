"""What is shown of a search while it runs."""

from __future__ import annotations

from dataclasses import replace

import pytest
from placewright.models.machines.cluster import Cluster
from placewright.models.placements.assignment import Assignment
from placewright.models.placements.plan import Plan, Term
from placewright.report.progress import standing

SHORT = Term("accelerators short", 2, 0, 1_000_000, 0)
BYTES = (Term("MiB of weights across racks", 48, 40, 100, 1), Term("MiB of streams across racks", 709, 569, 100, 1))
RACKS = Term("extra racks", 7, 7, 1, 2)
PLAN = Plan(Cluster(()), Assignment({}), "feasible", (SHORT, *BYTES, RACKS))


def after(bound: int, short: int = 2) -> Plan:
    return replace(PLAN, terms=(replace(SHORT, value=short), *BYTES, RACKS), bound=bound)


@pytest.mark.parametrize(
    ("plan", "text"),
    [
        (None, "no answer yet"),
        (after(1_000_000), "accelerators short: 2, at least 1, gap 51.8%"),
        (after(60_900, short=0), "MiB of weights across racks and 1 more: 757, at least 609, gap 19.6%"),
        (after(75_700, short=0), "extra racks: 7, at least 0, gap 100.0%"),
        (after(75_707, short=0), "optimal"),
    ],
)
def test_the_first_tier_that_is_open_is_shown_in_its_own_unit(plan: Plan | None, text: str) -> None:
    assert standing(plan) == text


def test_a_proof_that_there_is_none_is_said() -> None:
    assert standing(None, refuted=True) == "impossible; looking for what would help"
