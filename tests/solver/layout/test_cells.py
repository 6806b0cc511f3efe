"""Which nodes are one cell: as many as rows over all of them say exactly what fits, and each alone where they would not."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest
from placewright.models.component import REPLICA, TP, WHOLE, Keep
from placewright.models.placements.assignment import Assignment
from placewright.models.placements.run import Run
from placewright.models.problem import Problem
from placewright.solver.layout.cells import is_chain, round_sizes
from placewright.solver.layout.layout import Layout

from ..cases import cluster, component, problem
from ..parity_cases.kept import in_domains

SIX = cluster(*({"count": 4, "rack": rack} for rack in "aaabbb"), small=(0, 1, 2))
NUMA = cluster(*({"count": 4, "numa": 2} for _ in range(4)))
IN_NUMA = Keep(TP, "numa")


def cells(question: Problem) -> list[list[int]]:
    """The ranks of the nodes of each cell."""
    return [[node.rank for node in cell.nodes] for cell in Layout(question).cells]


def test_nodes_of_a_rack_are_one_cell_where_sizes_divide_each_other() -> None:
    assert cells(problem(SIX, component("a", 4, tp=4), component("b", 2, tp=2), component("c", 1))) == [[0, 1, 2], [3, 4, 5]]


def test_only_the_cells_where_sizes_do_not_divide_are_split() -> None:
    fives = cluster(*({"count": 5, "rack": rack} for rack in "aaabbb"), small=(0, 1, 2))
    asked = component("a", 4, tp=2), component("b", 3, tp=3, node_groups=("small",))
    assert cells(problem(fives, *asked)) == [[0], [1], [2], [3, 4, 5]]


def test_sizes_that_divide_each_other_once_they_are_rounded_up_do_not_split_a_cell() -> None:
    asked = component("a", 4, tp=2), component("b", 3, tp=3)
    assert cells(problem(SIX, *asked)) == [[0, 1, 2], [3, 4, 5]]


def test_where_only_nodes_with_equal_room_are_one_cell() -> None:
    nodes = cluster(*({"count": count} for count in (8, 8, 12, 12)))
    asked = component("a", 8, tp=8), component("b", 3, tp=3)
    assert cells(problem(nodes, *asked)) == [[0, 1], [2, 3]]


def test_nodes_on_which_something_could_stay_are_cells_of_their_own() -> None:
    question = problem(SIX, component("a", 4, tp=2), component("b", 3, tp=3))
    assert cells(replace(question, previous=Assignment({}))) == [[0, 1, 2], [3, 4, 5]]
    assert cells(replace(question, previous=Assignment({"a": (Run(range(2), 1),)}))) == [[0, 2], [1], [3, 4, 5]]


@pytest.mark.parametrize("free", [(8,), (12,), (8, 4), (6, 7), (11,)])
@pytest.mark.parametrize("sizes", [(8, 3), (6, 3), (12, 6, 3), (4, 3), (5, 2), (8, 5, 2), (3, 2, 1)])
def test_rounded_sizes_leave_all_that_fits(sizes: tuple[int, ...], free: tuple[int, ...]) -> None:
    taken = round_sizes(sizes, free)
    if taken is None:
        return
    assert is_chain(size for size in taken.values() if size <= max(free))
    for each in free:
        for counts in product(*(range(each // size + 1) for size in sizes)):
            fits = sum(count * size for count, size in zip(counts, sizes)) <= each
            assert fits == (sum(count * taken[size] for count, size in zip(counts, sizes)) <= each)


def test_what_sizes_are_rounded_up_to() -> None:
    assert round_sizes((8, 3), (8,)) == {3: 4, 8: 8}
    assert round_sizes((8, 3), (12,)) == {3: 3, 8: 9}
    assert round_sizes((12, 4, 2), (8,)) == {2: 2, 4: 4, 12: 12}
    assert round_sizes((3, 2), (5,)) is None


def test_nodes_that_are_excluded_alike_stay_together() -> None:
    assert cells(problem(SIX, component("a", 1, excluded=(1, 2, 5)))) == [[0], [1, 2], [3, 4], [5]]


def test_pieces_of_numa_domains_leave_nodes_together_where_all_are_such_pieces() -> None:
    odd = in_domains(NUMA, {1: (0, 0, 0, 1)})
    assert cells(problem(odd, component("a", 2, tp=2, keep=(IN_NUMA,)))) == [[0, 1, 2, 3]]


def test_beside_larger_groups_only_nodes_with_uneven_numa_domains_are_alone() -> None:
    odd = in_domains(NUMA, {1: (0, 0, 0, 1)})
    asked = component("a", 2, tp=2, keep=(IN_NUMA,)), component("b", 4, tp=4)
    assert cells(problem(odd, *asked)) == [[0, 2, 3], [1]]


def test_smaller_groups_of_whole_nodes_do_not_split_a_cell() -> None:
    odd = in_domains(NUMA, {1: (0, 0, 0, 1)})
    assert cells(problem(odd, component("a", 2, tp=2, keep=(IN_NUMA,)), component("b", 1))) == [[0, 1, 2, 3]]


def test_ranges_may_leave_any_part_of_a_numa_domain() -> None:
    asked = component("a", 2, tp=2, keep=(IN_NUMA,)), component("b", 4, tp=4), component("c", 1, contiguous=True)
    assert cells(problem(NUMA, *asked)) == [[0], [1], [2], [3]]


def test_a_replica_in_a_rack_needs_no_nodes_of_their_own() -> None:
    assert cells(problem(SIX, component("a", 8, tp=4, pp=2, keep=(Keep(REPLICA, "rack"),)))) == [[0, 1, 2], [3, 4, 5]]


def test_a_component_in_two_nodes_counts_nodes() -> None:
    assert cells(problem(SIX, component("a", 2, 8, keep=(Keep(WHOLE, "node", 2),)))) == [[rank] for rank in range(6)]


def test_cpus_split_only_where_they_might_not_do() -> None:
    nodes = cluster({"count": 4, "cpus": 8}, {"count": 4, "cpus": 8}, {"count": 4, "cpus": 7}, {"count": 4, "cpus": 7})
    assert cells(problem(nodes, component("a", 4, cpus=2), component("b", 2, cpus=1))) == [[0, 1], [2], [3]]


def test_units_grains_and_wholes() -> None:
    asked = component("a", 8, tp=4, pp=2, keep=(Keep(REPLICA, "rack"),)), component("b", 8, tp=8, keep=(Keep(TP, "rack"),), per_process=2)
    first, second = Layout(problem(SIX, *asked)).bundles
    assert (first.unit, first.piece, first.whole("rack"), first.whole("zone")) == (4, 1, 8, 4)
    assert (second.unit, second.whole("rack")) == (2, 8)
