"""What `get_placement` takes for a cluster: a Cluster, a word, or how many accelerators each node has."""

from __future__ import annotations

from typing import Any

import placewright as pw
import pytest

PACKED = pw.PackedPlacementStrategy(0, 9)


@pytest.mark.parametrize("machines", ["3x4", "x4", 4, pw.cluster("2x4+1x2")])
def test_all_forms_give_the_same(machines: Any) -> None:
    assert [(p.node_rank, p.local_accelerator_id) for p in PACKED.get_placement(machines)] == [(i // 4, i % 4) for i in range(10)]


def test_as_many_nodes_as_it_takes() -> None:
    assert PACKED.get_placement(num_gpus_per_node=4) == PACKED.get_placement("3x4")
    assert pw.FlexiblePlacementStrategy([[9]]).get_placement(8)[0].node_rank == 1
    assert pw.NodePlacementStrategy([5]).get_placement(0)[0].accelerator_type == "NO_ACCEL"


def test_the_model_of_a_word_is_kept() -> None:
    assert PACKED.get_placement("x8x910B")[0].accelerator_type == "NPU"


def test_with_a_number_of_nodes_there_are_no_more() -> None:
    with pytest.raises(pw.UnusableInput, match="accelerators 0-9 reach outside cluster: 0-7 exist"):
        PACKED.get_placement(num_nodes_in_cluster=2, num_gpus_per_node=4)


@pytest.mark.parametrize(
    ("given", "isolated"),
    [({}, False), ({"isolate_accelerator": True}, True), ({"isolate_gpu": True}, True), ({"isolate_gpu": False}, False)],
)
def test_isolation_is_the_strategy_s_unless_it_is_said_here(given: dict[str, Any], isolated: bool) -> None:
    strategy = pw.PackedPlacementStrategy(1, 1, isolate_accelerator=False)
    (only,) = strategy.get_placement(num_gpus_per_node=2, **given)
    assert (only.isolate_accelerator, only.visible_accelerators) == (isolated, ("1",) if isolated else ("0", "1"))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "no cluster is given"),
        ({"cluster": "8"}, "`8` is not NODESxACCELERATORS"),
        ({"cluster": 0}, "`num_gpus_per_node` is 0, but it must be a whole number of at least 1"),
        ({"cluster": 4.0}, "the cluster is 4.0, which is none"),
        ({"cluster": "1x8", "num_gpus_per_node": 8}, "`cluster` and `num_gpus_per_node` are one argument"),
        ({"cluster": "2x8", "isolate_accelerator": True, "isolate_gpu": True}, "`isolate_accelerator` and `isolate_gpu` are one argument"),
        ({"cluster": pw.cluster("2x8"), "num_nodes_in_cluster": 3}, "`num_nodes_in_cluster` is 3, but the cluster itself has 2"),
        ({"cluster": 8, "num_nodes_in_cluster": 0}, "`num_nodes_in_cluster` is 0, but it must be a whole number of at least 1"),
        ({"cluster": "2x8", "isolate_accelerator": 8}, "`isolate_accelerator` is 8, but it must be True or False"),
    ],
)
def test_what_is_no_cluster_is_said(given: dict[str, Any], message: str) -> None:
    with pytest.raises(pw.UnusableInput, match=message) as refused:
        PACKED.get_placement(**given)
    (finding,) = refused.value.findings
    assert (finding.code, bool(finding.help)) == ("PW119", True)
