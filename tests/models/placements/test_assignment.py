"""Runs: many processes in few words, and back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from placewright.models.machines.node_group import NODE
from placewright.models.placements.assignment import Assignment, compress, seats
from placewright.models.placements.run import Run

RUNS = [
    (Run(range(4), 0), [[0], [1], [2], [3]]),
    (Run(range(2), 0, first=4, each=2, pitch=2), [[4, 5], [6, 7]]),
    (Run(range(2), 0, each=2, step=2, pitch=1), [[0, 2], [1, 3]]),
    (Run(range(3), 0, first=1, pitch=0), [[1], [1], [1]]),
    (Run(range(2), 0, first=3, each=2, step=-1, pitch=-2), [[3, 2], [1, 0]]),
    (Run(range(2), 0, NODE, each=0, pitch=0), [[], []]),
    (Run(range(2, 4), 0, first=6, pitch=-3), [[6], [3]]),
]


@pytest.mark.parametrize(("run", "held"), RUNS)
def test_what_a_run_holds(run: Run, held: list[list[int]]) -> None:
    assert [list(run.list_held(rank)) for rank in run.ranks] == held
    flat = [index for its in held for index in its]
    assert run.mask == sum(1 << index for index in set(flat))
    assert run.amount == len(flat)
    assert run.within == ((min(flat), max(flat)) if flat else (0, -1))


def test_a_process_in_several_runs_holds_all_of_them_in_order() -> None:
    runs = (Run(range(1), 0, first=7), Run(range(1), 1, first=0))
    assert [(rank, [seat for seat, _, _ in its]) for rank, its in seats(runs)] == [(0, [(0, 7), (1, 0)])]


def test_an_assignment_reads_everything_off_its_runs() -> None:
    assignment = Assignment({"a": (Run(range(2), 0), Run(range(2, 4), 1, first=6)), "b": (Run(range(1), 0, "Franka"),)})
    assert assignment.masks("a") == {(0, "Accelerator"): 0b11, (1, "Accelerator"): 0b11000000}
    assert assignment.masks("b") == {(0, "Franka"): 1}
    assert (assignment.world_size("a"), assignment.world_size("none"), assignment.of("none")) == (4, 0, ())


@pytest.mark.parametrize(
    ("lists", "count"),
    [
        ([[(0, 0)], [(0, 1)], [(1, 0)], [(1, 1)]], 2),
        ([[(0, 0), (0, 1)], [(0, 2), (0, 3)]], 1),
        ([[(0, 3), (0, 2)], [(0, 1), (0, 0)]], 1),
        ([[(0, 0)], [(0, 0)], [(0, 0)]], 1),
        ([[(0, 0)], [(0, 3)], [(0, 5)], [(0, 9)]], 2),
        ([[(0, 6), (0, 7), (1, 0), (1, 1)]], 2),
    ],
)
def test_patterns_become_few_runs(lists: list[list[tuple[int, int]]], count: int) -> None:
    runs = compress(enumerate(lists))
    assert len(runs) == count
    assert [[seat for seat, _, _ in its] for _, its in seats(runs)] == lists


@given(st.lists(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 9)), min_size=1, max_size=4), max_size=8))
def test_compressing_loses_nothing(lists: list[list[tuple[int, int]]]) -> None:
    runs = compress(enumerate(lists))
    assert [[seat for seat, _, _ in its] for _, its in seats(runs)] == lists
    ranks = [run.ranks.start for run in runs]
    assert ranks == sorted(ranks)
