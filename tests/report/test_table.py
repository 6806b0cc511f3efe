"""Tables say how large each component is and where every process of it runs."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from placewright.models.placements.plan import Plan
from placewright.report.table import _pieces, components_table, placements_table, table
from placewright.report.wrapping import COLUMNS


def test_sizes_nodes_accelerators_and_ranks(heterogeneous: Plan) -> None:
    assert components_table(heterogeneous) == (
        "component  world size  nodes  accelerators  ranks\n"
        "actor              64      8            64  a800 0-63\n"
        "rollout            64      8            64  4090 0-63\n"
        "env                 2      2             -  franka 0-1\n"
        "agent             400      4             -  node 0-3"
    )


def test_shared_accelerators_are_counted_once(colocated: Plan) -> None:
    assert components_table(colocated).splitlines()[2].split() == ["rollout", "6", "2", "4", "0-1,4-5"]


def test_every_process(heterogeneous: Plan) -> None:
    assert placements_table(heterogeneous, "env") == (
        "env  node  name     group   local  holds  sees\n"
        "  0    16  node-16  franka  0/1    0      -\n"
        "  1    17  node-17  franka  0/1    0      -"
    )
    assert len(placements_table(heterogeneous, "agent").splitlines()) == 401


@given(st.integers(0, 1 << 70))
def test_a_mask_as_ranges(mask: int) -> None:
    pieces = _pieces(mask)
    assert sum(1 << rank for piece in pieces for rank in piece) == mask
    assert all(first.stop < second.start for first, second in zip(pieces, pieces[1:]))


def test_long_and_odd_cells() -> None:
    shown = table([["name"], ["x" * 100], ["\x1b"]])
    assert shown.splitlines() == ["name", "x" * 57 + "...", r"\x1b"]


def test_what_is_too_wide_is_broken_within_its_column() -> None:
    rows = [["of", "number", "value"], ["actor", "weights of each step", "7 of 8 and more"], ["b", "few", "1"]]
    token = COLUMNS.set(32)
    try:
        shown = table(rows, right=(2,))
    finally:
        COLUMNS.reset(token)
    assert shown.splitlines() == [
        "of     number           value",
        "actor  weights of  7 of 8 and",
        "       each step         more",
        "b      few                  1",
    ]
    assert table(rows).splitlines()[1] == "actor  weights of each step  7 of 8 and more"


def test_a_row_that_cannot_fit_is_a_line_of_its_named_cells() -> None:
    rows = [
        ["component", "world size", "nodes", "accelerators", "ranks"],
        ["actor_train", "8", "1", "8", "0-7"],
        ["env", "2", "1", "-", ""],
    ]
    token = COLUMNS.set(40)
    try:
        shown = table(rows, right=(1, 2, 3))
    finally:
        COLUMNS.reset(token)
    assert shown.splitlines() == ["actor_train: world size 8, nodes 1,", "  accelerators 8, ranks 0-7", "env: world size 2, nodes 1"]
