"""The grid has one cell an accelerator, and every cell says who holds it."""

from __future__ import annotations

from dataclasses import replace

from placewright.models.machines.cluster import Cluster
from placewright.models.machines.shorthand import read_shorthand
from placewright.models.placements.assignment import Assignment
from placewright.models.placements.plan import VERIFIED, Plan
from placewright.models.placements.run import Run
from placewright.report.grid import grid
from placewright.report.wrapping import COLUMNS


def cluster(shorthand: str) -> Cluster:
    machines = read_shorthand(shorthand)
    assert isinstance(machines, Cluster)
    return machines


def test_shared_idle_and_taken_cells(colocated: Plan) -> None:
    assert grid(colocated) == (
        "        0     1     2     3\n"
        "node-0  ABx2  ABx2  A     A\n"
        "node-1  B     B     .     #\n"
        "\n"
        "A actor  B rollout  . idle  # held by another job"
    )


def test_equal_neighbours_are_one_line_where_nodes_are_many(heterogeneous: Plan) -> None:
    assert grid(heterogeneous) == (
        "                              0  1  2  3  4  5  6  7\n"
        "node-0 .. node-3 (4 nodes)    A  A  A  A  A  A  A  A  D: 100 processes\n"
        "node-4 .. node-7 (4 nodes)    A  A  A  A  A  A  A  A\n"
        "node-8 .. node-15 (8 nodes)   B  B  B  B  B  B  B  B\n"
        "node-16 .. node-17 (2 nodes)                          C: 1 process on Franka 0\n"
        "\n"
        "A actor  B rollout  C env  D agent"
    )


def test_many_accelerators_continue_on_further_lines() -> None:
    plan = Plan(cluster("1x40"), Assignment({"actor": (Run(range(33), 0),)}), VERIFIED)
    lines = grid(plan).splitlines()
    assert lines[1].split() == ["node-0", *["A"] * 16]
    assert lines[2].split() == ["+16", *["A"] * 16]
    assert lines[3].split() == ["+32", "A", *["."] * 7]


def test_a_row_of_a_narrow_terminal_continues_on_further_lines(colocated: Plan) -> None:
    before = COLUMNS.set(20)
    try:
        lines = grid(colocated).splitlines()
    finally:
        COLUMNS.reset(before)
    assert lines[:5] == ["        0     1", "node-0  ABx2  ABx2", "    +2  A     A", "node-1  B     B", "    +2  .     #"]


def test_every_accelerator_is_counted_once() -> None:
    plan = Plan(cluster("8x8"), Assignment({"a": tuple(Run(range(3 * n, 3 * n + 3), n, first=n % 4) for n in range(8))}), VERIFIED)
    picture = "".join(line[6:] for line in grid(plan).splitlines()[1:9])
    assert (picture.count("A"), picture.count(".")) == (24, 40)


def test_more_components_than_letters() -> None:
    plan = Plan(cluster("1x1"), Assignment({f"c{i}": (Run(range(1), 0),) if i == 53 else () for i in range(54)}), VERIFIED)
    assert grid(plan).splitlines()[1] == "node-0  B1"


def test_names_are_escaped() -> None:
    machines = cluster("1x1")
    nodes = (replace(machines.nodes[0], name="a\x1b[2J"),)
    plan = Plan(replace(machines, nodes=nodes), Assignment({"\u202e": (Run(range(1), 0),)}), VERIFIED)
    assert all(character.isprintable() or character == "\n" for character in grid(plan))
