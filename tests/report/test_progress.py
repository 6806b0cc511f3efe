"""What is shown of a search while it runs."""

from __future__ import annotations

from dataclasses import replace

import pytest
from placewright.models.machines.cluster import Cluster
from placewright.models.placements.assignment import Assignment
from placewright.models.placements.plan import Plan, TermValue
from placewright.models.planning.workload import SECOND
from placewright.report.progress import describe_incumbent, distance

SHORT = TermValue("accelerators short", 2, 0, 1_000_000, 0)
BYTES = (TermValue("MiB of weights across racks", 48, 40, 100, 1), TermValue("MiB of streams across racks", 709, 569, 100, 1))
RACKS = TermValue("extra racks", 7, 7, 1, 2)
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
    assert describe_incumbent(plan) == text


@pytest.mark.parametrize(
    ("plan", "text"),
    [
        (after(1_000_000), "within 51.8% of the best possible; later terms not proved"),
        (after(60_900, short=0), "the best possible but for MiB of weights across racks and 1 more: 757, at least 609"),
        (after(75_700, short=0), "the best possible but for extra racks: 7, at least 0"),
    ],
)
def test_a_plan_says_how_far_its_first_open_tier_may_be_from_the_best(plan: Plan, text: str) -> None:
    racks = replace(RACKS, bound=0 if plan.bound == 75_700 else 7)
    assert distance(replace(plan, terms=(*plan.terms[:-1], racks))) == text


def test_traffic_that_counts_as_time_is_told_in_seconds() -> None:
    """36 MiB at 0.5 s and 8 MiB at 2 s are 34 s; of 3 s it is proved that they cannot be spared."""
    costs = {"MiB of weights across racks": SECOND // 2, "MiB of weights across zones": 2 * SECOND}
    names = zip(costs, (36, 8))
    terms = (
        *(TermValue(name, value, 0, costs[name] * 10, 0) for name, value in names),
        TermValue("MiB of weights across nodes", 5, 5, 0, 0),
    )
    plan = replace(PLAN, terms=(*terms, replace(RACKS, tier=1)), bound=30 * SECOND)
    assert describe_incumbent(plan, costs=costs) == "traffic: 34 seconds, at least 3, gap 91.2%"
    assert describe_incumbent(after(60_900, short=0), costs=costs) == describe_incumbent(after(60_900, short=0))


def test_a_proof_that_there_is_none_is_said() -> None:
    assert describe_incumbent(None, is_refuted=True) == "impossible; looking for what would help"
