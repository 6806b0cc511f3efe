"""What moved, in words and as data."""

from __future__ import annotations

from dataclasses import replace

from placewright.models.machines.cluster import Cluster
from placewright.models.machines.shorthand import read_shorthand
from placewright.models.placements.assignment import Assignment
from placewright.models.placements.moves import GroupMoves, Moves, Trade
from placewright.models.placements.plan import OPTIMAL, Plan, TermValue
from placewright.report.moves import render, summary, to_data
from placewright.report.solution import to_json

PART = GroupMoves("actor", 8, before=10, now=10, lost=1, kept=7, renumbered=1)
MOVES = Moves((PART,), 2, (("extra racks", 3),), Trade(4, "extra racks", 1))


def plan() -> Plan:
    machines = read_shorthand("1x8xH100")
    assert isinstance(machines, Cluster)
    return Plan(machines, Assignment({}), OPTIMAL, (TermValue("groups moved", 2, 2, 1), TermValue("extra racks", 4, 4, 1, 1)))


def test_the_summary_says_whether_fewer_would_do() -> None:
    assert summary(MOVES) == "lost 1 group, moved 2 more (proved fewest), kept 7; 1 group kept with new ranks"
    assert "at least 1 must move" in summary(replace(MOVES, bound=1))


def test_costs_before_and_now_and_what_more_moves_would_save() -> None:
    text = render(MOVES, plan())
    assert "extra racks       3    4" in text
    assert "moving 2 more would save 1 of: extra racks" in text
    assert "moving more would save nothing" in render(replace(MOVES, trade=None, no_trade=True), plan())


def test_data_has_the_same() -> None:
    data = to_data(MOVES)
    assert (data["lost"], data["moved"], data["kept"], data["proved"], data["trade"]) == (
        1, 2, 7, True, {"moves": 4, "term": "extra racks", "saved": 1},
    )  # fmt: skip
    assert '"moves": {' in to_json(plan(), MOVES)
    assert '"moves"' not in to_json(plan())
