"""How many replicas there can be, and which of them fill nodes evenly."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from placewright.runtime.failure import LaunchFailed
from placewright.runtime.replicas.launching import divide, num_replicas
from placewright.runtime.replicas.replica import EchoReplica, Replica, RolloutMode, get_replica_class, nodes_of

DEGREE = st.integers(1, 4)


@given(st.integers(0, 200), DEGREE, DEGREE, DEGREE)
def test_accelerators_are_dealt_out_and_the_rest_is_said(accelerators: int, tp: int, dp: int, pp: int) -> None:
    dealt = divide(accelerators, tp, dp, pp)
    assert dealt.replicas == num_replicas(accelerators, tp, dp, pp)
    assert dealt.replicas * tp * dp * pp + dealt.idle == accelerators
    assert 0 <= dealt.idle < dealt.size
    assert ("idle" in str(dealt)) == bool(dealt.idle)


def test_the_arithmetic_in_words() -> None:
    assert num_replicas(8, tp=2) == 4
    assert str(divide(8, tp=2)) == "8 accelerators // 2 for each = 4 replicas"
    assert str(divide(8, tp=3)) == "8 accelerators // 3 for each = 2 replicas, 2 stay idle"


@pytest.mark.parametrize("degrees", [(0, 1, 1), (1, -1, 1), (2.0, 1, 1), (None, 1, 1), ("2", 1, 1)])
def test_a_degree_that_is_no_number_above_zero_is_refused(degrees: tuple[Any, int, int]) -> None:
    with pytest.raises(ValueError, match="cannot be dealt to replicas of tp"):
        num_replicas(8, *degrees)


@pytest.mark.parametrize(("size", "node", "expected"), [(2, 8, (1, 2)), (8, 8, (1, 8)), (16, 8, (2, 8)), (4, 2, (2, 2)), (1, 1, (1, 1))])
def test_nodes_that_a_replica_fills(size: int, node: int, expected: tuple[int, int]) -> None:
    assert nodes_of(size, node, "replica 0") == expected


@pytest.mark.parametrize(("size", "node"), [(6, 8), (12, 8), (3, 2), (1, 0), (1, "8")])
def test_a_replica_that_would_lie_across_the_border_of_nodes_is_refused(size: int, node: Any) -> None:
    with pytest.raises(LaunchFailed, match=f"a replica of {size} accelerators does not fit nodes of {node}") as caught:
        EchoReplica(0, {"tensor_model_parallel_size": size}, {}, gpus_per_node=node)
    assert (caught.value.findings[0].code, caught.value.exit_code) == ("PW741", 2)


@pytest.mark.parametrize("value", [0, -1, "two", 1.5, True])
def test_a_degree_that_is_none_is_refused(value: Any) -> None:
    with pytest.raises(LaunchFailed, match=f"`data_parallel_size` of replica 3 is {value!r}") as caught:
        EchoReplica(3, {"data_parallel_size": value}, {})
    assert (caught.value.findings[0].code, caught.value.exit_code) == ("PW741", 2)


@pytest.mark.parametrize("config", [{"tensor_model_parallel_size": 2, "name": "echo"}, SimpleNamespace(tensor_model_parallel_size=2)])
def test_configurations_are_mappings_or_objects(config: Any) -> None:
    replica = EchoReplica(1, config, {"path": "/models/org/small"}, gpus_per_node=4)
    assert (replica.world_size, replica.nnodes, replica.gpus_per_replica_node) == (2, 1, 2)
    assert (replica.model_name, replica.subject) == ("small", "replica 1")
    assert (replica.server_address, replica.server_handle, replica.rollout_mode) == ("", None, None)


@pytest.mark.parametrize(
    ("model", "name"), [({}, "echo"), ("org/model/", "model"), ({"served_model_name": "x", "path": "y"}, "x"), (None, "echo")]
)
def test_the_name_under_which_a_model_is_served(model: Any, name: str) -> None:
    assert EchoReplica(0, {}, model).model_name == name


def test_what_the_engine_cannot_serve_is_refused_before_anything_starts() -> None:
    class TransformerReplica(Replica):
        engine = "transformer"

    with pytest.raises(LaunchFailed, match="4 heads of the transformer cannot be dealt to 8 workers evenly"):
        TransformerReplica(0, {"tensor_model_parallel_size": 8}, {})


def test_replicas_by_the_name_of_their_engine() -> None:
    assert get_replica_class("echo") is EchoReplica
    with pytest.raises(ValueError, match="there are no replicas of `llama`"):
        get_replica_class("llama")
    assert RolloutMode("hybrid") is RolloutMode.HYBRID
