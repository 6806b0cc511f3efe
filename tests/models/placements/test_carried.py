"""A plan for another cluster: nodes are matched by their names."""

from __future__ import annotations

from dataclasses import replace

from placewright.models.machines.cluster import Cluster
from placewright.models.machines.shorthand import read_shorthand
from placewright.models.placements.assignment import Assignment
from placewright.models.placements.moves import GroupMoves, Moves
from placewright.models.placements.plan import VERIFIED, Plan
from placewright.models.placements.run import Run
from placewright.models.placements.run_checks import carry_over


def test_runs_follow_the_names_of_their_nodes_and_keep_their_ranks() -> None:
    machines = read_shorthand("3x8xH100")
    assert isinstance(machines, Cluster)
    runs = tuple(Run(range(8 * node, 8 * node + 8), node) for node in range(3))
    plan = Plan(machines, Assignment({"actor": runs}), VERIFIED)
    nodes = tuple(replace(machines.nodes[old], rank=new) for new, old in enumerate((2, 0)))
    found = carry_over(plan, Cluster(nodes))
    assert found.of("actor") == (Run(range(0, 8), 1), Run(range(16, 24), 0))


def test_moves_add_up() -> None:
    part = GroupMoves("actor", 8, before=10, now=7, lost=1, kept=6, renumbered=2)
    assert (part.survivors, part.ended, part.moved, part.started) == (9, 2, 1, 1)
    assert not Moves((part,), 0).proved
    assert Moves((part, part), 2).proved
