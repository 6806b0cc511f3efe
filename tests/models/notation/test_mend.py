"""Texts of fixes: what was probably meant, and only what has no fault itself and keeps every process on one node."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from placewright.models.machines.cluster import Cluster
from placewright.models.machines.shorthand import read_shorthand
from placewright.models.placements.correction import correct_text
from placewright.models.placements.placement_text import PlacementText, number_groups, read_placement, runs_of
from placewright.models.placements.run_checks import why_not

CLUSTER = ("cluster",)


def better(text: str, machines: str, labels: tuple[str, ...] = CLUSTER) -> str | None:
    cluster = read_shorthand(machines)
    assert isinstance(cluster, Cluster)

    def starts(found: PlacementText) -> bool:
        return not why_not(runs_of(found.pairs, cluster, labels), in_order=True)

    return correct_text(text, number_groups(cluster, labels), cluster.numbering(labels), starts)


@pytest.mark.parametrize(
    ("text", "machines", "expected"),
    [
        ("0-17", "2x8", "0-15"),
        ("7-0", "2x8", "0-7"),
        ("8-11,0-3", "2x8", "0-3,8-11"),
        ("0-3,3-5", "2x8", "0-3,4-5"),
        ("0-3:0-5", "2x8", "0-3"),
        ("0-3:", "2x8", "0-3"),
        ("all:0", "1x8", "0-7:0"),
        ("0..7", "1x8", "0-7"),
        ("0 \u2013 3; 5", "1x8", "0-3,5"),
        ("[0, 1]", "1x8", "0,1"),
        ("6-9:0", "2x8", "8-11:0"),
        ("4-15:0-2", "2x8", "0-11:0-2"),
        ("8-17:0", "3x8", "8-17:0-4"),
        ("0-15:0", "2x8", "0-15:0-1"),
        ("0-2:0-1,6-9:2", "2x3+2x8", "0-1,6-9:2"),
        ("a-b", "1x8", None),
        ("16", "2x8", None),
        ("0:0:0", "1x8", None),
    ],
)  # fmt: skip
def test_a_text_and_what_was_meant(text: str, machines: str, expected: str | None) -> None:
    assert better(text, machines) == expected


def test_a_process_has_one_node() -> None:
    assert better("0-3:0-1", "4x8", ("node",)) == "0-1"


@settings(max_examples=400, deadline=None)
@given(st.text(alphabet="0123456789-:,. al", max_size=16), st.sampled_from(["2x8", "1x3+2x5", "1x1", "3x0"]))
def test_what_is_offered_can_be_started(text: str, machines: str) -> None:
    found = better(text, machines)
    if found is not None:
        cluster = read_shorthand(machines)
        assert isinstance(cluster, Cluster)
        assert found != text
        read = read_placement(found, number_groups(cluster, CLUSTER))
        assert read.faults == []
        assert why_not(runs_of(read.pairs, cluster, CLUSTER), in_order=True) == ""
