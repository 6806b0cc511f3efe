"""A placement node by node can say where anything is: every set of runs, written and read again, is the same."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from placewright.models.dialects import native
from placewright.models.findings.finding import Finding
from placewright.models.machines.node_group import ACCELERATOR, NODE
from placewright.models.placements.assignment import compress, seats
from placewright.models.placements.run import Run
from placewright.models.placements.runs_text import placement_list
from placewright.models.reading import Reading
from placewright.models.text.document import Document
from placewright.models.text.source import Source
from sampling import examples

CLUSTER = {
    "nodes": [
        {"name": "gpu", "repeat": 3, "accelerators": {"count": 8}},
        {"name": "arm", "hardware": [{"type": "Franka"}, {"type": "Franka"}]},
    ],
    "node_groups": [{"label": "gpus", "node_ranks": "0-2"}, {"label": "arms", "node_ranks": "3"}],
}


def read(placement: object, group: str = "gpus") -> Reading:
    data = {"cluster": CLUSTER, "components": {"a": {"node_group": group, "placement": placement}}}
    return native.read(Document.of(Source("job.yaml", json.dumps(data))), None)


def held(placement: object, group: str = "gpus") -> list[tuple[int, list[tuple[int, int]]]]:
    """(rank, [(node, index)...]) of a placement without faults."""
    reading = read(placement, group)
    assert reading.findings == ()
    assert reading.problem is not None
    return [(rank, [seat for seat, _, _ in its]) for rank, its in seats(reading.problem["a"].runs or ())]


def faults(placement: object, group: str = "gpus") -> list[Finding]:
    return list(read(placement, group).findings)


@pytest.mark.parametrize(
    ("entries", "expected"),
    [
        ([{"ranks": "0-3", "node": 0, "accelerators": [3, 2, 1, 0]}], [[(0, 3)], [(0, 2)], [(0, 1)], [(0, 0)]]),
        ([{"ranks": "0-1", "node": 0, "accelerators": "0-3"}], [[(0, 0), (0, 1)], [(0, 2), (0, 3)]]),
        ([{"ranks": "0-3", "node": 0, "accelerators": "6,0"}], [[(0, 6)], [(0, 6)], [(0, 0)], [(0, 0)]]),
        ([{"ranks": "0-3", "node": "0-1", "accelerators": "4-5"}], [[(0, 4)], [(0, 5)], [(1, 4)], [(1, 5)]]),
        (
            [{"ranks": "0,2", "node": "gpu1", "accelerators": "0-1"}, {"ranks": 1, "node": 2, "accelerators": 7}],
            [[(1, 0)], [(2, 7)], [(1, 1)]],
        ),
        (
            [{"ranks": 0, "node": 1, "accelerators": "0-1"}, {"ranks": 0, "node": 0, "accelerators": "0-1"}],
            [[(1, 0), (1, 1), (0, 0), (0, 1)]],
        ),
        ([{"ranks": "0-1", "node": 0}, {"ranks": 2, "node": 2}], [[(0, -1)], [(0, -1)], [(2, -1)]]),
        ([{"ranks": "0-23", "node": "all", "accelerators": "all"}], [[(node, index)] for node in range(3) for index in range(8)]),
    ],
)
def test_what_an_entry_says(entries: list[dict[str, object]], expected: list[list[tuple[int, int]]]) -> None:
    if entries[0]["node"] == "all":
        entries[0]["node"] = "0-2"
    assert held(entries) == list(enumerate(expected))


def test_hardware() -> None:
    assert held([{"ranks": "0-1", "node": "arm", "hardware": [1, 0]}], "arms") == [(0, [(3, 1)]), (1, [(3, 0)])]


def test_nodes_that_are_alike_are_one_entry_and_cost_no_more() -> None:
    reading = read([{"ranks": "0-11", "node": "0-2", "accelerators": "0-3"}])
    assert reading.problem is not None
    assert placement_list(reading.problem["a"].runs or (), names_group=False) == [{"ranks": "0-11", "node": "0-2", "accelerators": "0-3"}]


def test_equal_neighbours_on_nodes_in_order_are_one_entry() -> None:
    """As where a first rank is pinned to a later node, and the others follow from node to node."""
    seats = [(rank, [(node, index)]) for rank, (node, index) in enumerate([(2, 0), (0, 0), (0, 1), (1, 0), (1, 1), (2, 1)])]
    assert placement_list(compress(seats, ACCELERATOR, "gpus"), names_group=False) == [
        {"ranks": 0, "node": 2, "accelerators": 0},
        {"ranks": "1-4", "node": "0-1", "accelerators": "0-1"},
        {"ranks": 5, "node": 2, "accelerators": 1},
    ]


@pytest.mark.parametrize(
    ("placement", "code", "message"),
    [
        ([{"ranks": 0, "node": 4, "accelerators": 0}], "PW102", "`4`: node 4 is outside the cluster"),
        ([{"ranks": 0, "node": "gqu1", "accelerators": 0}], "PW103", "neither the rank nor the name of a node"),
        ([{"ranks": 0, "node": 0, "accelerators": 8}], "PW102", "accelerator 8 is not there: on node 0, ranks 0-7 exist"),
        ([{"ranks": 0, "node": 0, "accelerators": "3-1"}], "PW109", "runs backwards"),
        ([{"ranks": 0, "node": 0, "accelerators": [1, 1]}], "PW108", "accelerator 1 is named twice"),
        ([{"ranks": 0, "node": 0, "accelerators": "x"}], "PW103", "neither a rank"),
        ([{"ranks": 0, "node": 0, "accelerators": ""}], "PW112", "`accelerators` names nothing"),
        ([{"ranks": 0, "node": 3, "accelerators": 0}], "PW102", "node 3 has no accelerator"),
        ([{"ranks": "0-2", "node": 0, "accelerators": "0-1"}], "PW111", "3 ranks on a node cannot be divided evenly over 2"),
        ([{"ranks": "0-2", "node": "0-1", "accelerators": "0-1"}], "PW111", "dealt out evenly to 2 nodes"),
        ([{"ranks": 1, "node": 0, "accelerators": 0}], "PW110", "no entry says where process 0 is"),
        ([{"ranks": "0-99999999999", "node": 0, "accelerators": 0}], "PW102", "more than 1,048,576 processes"),
        ([{"ranks": "all", "node": 0, "accelerators": 0}], "PW103", "`all` is not allowed here"),
        ([{"ranks": 0, "node": 0, "hardware": 0}], "PW302", "so an entry in it names no hardware"),
        ([{"ranks": 0, "node": 0, "hardware": 0, "accelerators": 0}], "PW302", "not both"),
        ([{"ranks": 0, "node": 0, "accelerators": 0, "node_group": "arms"}], "PW107", "`arms` is none of its node groups"),
        ([], "PW105", "placement"),
        ([{"node": 0}], "PW101", "`placement.0.ranks` of the hints of `a` is missing"),
        ([{"rank": 0, "ranks": 0, "node": 0}], "PW104", "unknown key `placement.0.rank`"),
    ],
)
def test_faults(placement: object, code: str, message: str) -> None:
    finding = faults(placement)[0]
    assert finding.code == code
    assert message in finding.message
    assert finding.span is not None
    assert finding.help


def test_a_number_that_is_too_high_is_mended() -> None:
    (finding,) = faults([{"ranks": "0-15", "node": 0, "accelerators": "0-15"}])
    assert (finding.help, finding.edit and finding.edit.text) == ("write `0-7`", "0-7")


INDICES = st.lists(st.integers(0, 7), min_size=1, max_size=4, unique=True)
PROCESSES = st.lists(
    st.lists(st.tuples(st.integers(0, 2), INDICES), min_size=1, max_size=2, unique_by=lambda its: its[0]), min_size=1, max_size=9
)


@settings(max_examples=examples(75), deadline=None)
@given(PROCESSES)
def test_any_lists_read_back_as_themselves(processes: list[list[tuple[int, list[int]]]]) -> None:
    lists = [(rank, [(node, index) for node, its in pieces for index in its]) for rank, pieces in enumerate(processes)]
    runs = compress(lists, ACCELERATOR, "gpus")
    assert held(placement_list(runs, names_group=False)) == lists


PATTERNS = st.builds(
    lambda node, first, each, step, pitch, count: (node, first, each, step, pitch, count),
    st.integers(0, 2), st.integers(0, 1), st.integers(1, 2), st.integers(1, 2), st.integers(0, 2), st.integers(1, 3),
)  # fmt: skip


@settings(max_examples=examples(75), deadline=None)
@given(st.lists(PATTERNS, min_size=1, max_size=5), st.booleans())
def test_any_runs_read_back_as_themselves(patterns: list[tuple[int, int, int, int, int, int]], grouped: bool) -> None:
    runs, rank = [], 0
    for node, first, each, step, pitch, count in patterns:
        runs.append(Run(range(rank, rank + count), node, ACCELERATOR, first, each, step, pitch, "gpus"))
        rank += count
    assert held(placement_list(runs, grouped)) == [(r, [seat for seat, _, _ in its]) for r, its in seats(runs)]


def test_bare_nodes_read_back_as_themselves() -> None:
    runs = [Run(range(4), 0, NODE, each=0, pitch=0, node_group="gpus"), Run(range(4, 6), 2, NODE, each=0, pitch=0, node_group="gpus")]
    assert held(placement_list(runs, names_group=False)) == [(r, [seat for seat, _, _ in its]) for r, its in seats(runs)]
