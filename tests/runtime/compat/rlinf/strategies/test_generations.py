"""Three generations of RLinf's names: every one is taken, and every one is offered."""

from __future__ import annotations

import dataclasses
import inspect
from typing import Any

import placewright as pw
import pytest

PACKED = pw.PackedPlacementStrategy(0, 7, 2, 2)


@pytest.mark.parametrize(
    "named",
    [
        {"start_gpu_id": 0, "end_gpu_id": 7, "num_gpus_per_process": 2, "stride": 2},
        {"start_accelerator_id": 0, "end_accelerator_id": 7, "num_accelerators_per_process": 2, "stride": 2},
        {"start_hardware_rank": 0, "end_hardware_rank": 7, "num_hardware_per_process": 2, "stride": 2},
        {"start_gpu_id": 0, "end_hardware_rank": 7, "num_accelerators_per_process": 2, "stride": 2, "isolate_gpu": True},
    ],
)
def test_packed_under_the_names_of_each_generation(named: dict[str, Any]) -> None:
    strategy = pw.PackedPlacementStrategy(**named)
    assert strategy == PACKED
    assert strategy.start_gpu_id == strategy.start_hardware_rank == strategy.start_accelerator_id == 0
    assert strategy.end_gpu_id == strategy.end_hardware_rank == strategy.end_accelerator_id == 7
    assert strategy.num_gpus_per_process == strategy.num_hardware_per_process == 2


@pytest.mark.parametrize("name", ["accelerator_id_lists", "accelerator_ids_list", "gpu_ids_list", "hardware_ranks_list"])
def test_flexible_under_the_names_of_each_generation(name: str) -> None:
    strategy = pw.FlexiblePlacementStrategy(**{name: [[1], [0]]})
    assert strategy == pw.FlexiblePlacementStrategy([[1], [0]])
    assert getattr(strategy, name) == ((1,), (0,))


@pytest.mark.parametrize("name", ["node_ranks", "node_ids"])
def test_nodes_under_the_names_of_each_generation(name: str) -> None:
    assert pw.NodePlacementStrategy(**{name: [1]}) == pw.NodePlacementStrategy([1])


def test_the_node_group_under_both_names() -> None:
    assert pw.NodePlacementStrategy([0], node_group_label="a").node_group == "a"
    assert pw.FlexiblePlacementStrategy([[0]], node_group=["a", "b"]).node_group_label == ("a", "b")


def test_positions_are_alike_in_all_generations() -> None:
    assert pw.PackedPlacementStrategy(0, end_gpu_id=7, num_hardware_per_process=2, stride=2) == PACKED
    assert pw.PackedPlacementStrategy(0, 7, 1, 1, "train").node_group == "train"
    assert pw.PackedPlacementStrategy(0, 7, 1, 1, False).isolate_accelerator is False  # as the older documentation lists it


def test_the_names_that_are_shown_are_those_of_the_second_generation() -> None:
    assert list(inspect.signature(pw.PackedPlacementStrategy).parameters) == [
        "start_accelerator_id", "end_accelerator_id", "num_accelerators_per_process", "stride", "node_group", "isolate_accelerator",
    ]  # fmt: skip
    assert repr(PACKED).startswith("PackedPlacementStrategy(start_accelerator_id=0, end_accelerator_id=7, ")
    assert dataclasses.replace(PACKED, end_accelerator_id=15).end_gpu_id == 15


@pytest.mark.parametrize(
    ("named", "message", "help"),
    [
        (
            {"start_gpu_id": 0, "start_accelerator_id": 0, "end_gpu_id": 1},
            "`start_gpu_id` and `start_accelerator_id` are one argument",
            "give it once, as `start_accelerator_id`",
        ),
        ({"start_acelerator_id": 0, "end_gpu_id": 1}, "there is no argument `start_acelerator_id`", "write `start_accelerator_id`"),
        ({"start_gpu_id": -1, "end_gpu_id": 1}, "`start_gpu_id` is -1, but it must be a whole number of at least 0", "pass `start_gpu_id=0` or more"),
        ({"start_gpu_id": 0, "end_gpu_id": "1"}, "`end_gpu_id` is '1', but it must be a whole number of at least 0", "pass `end_gpu_id=0` or more"),
        ({"start_gpu_id": 0}, "`end_accelerator_id` is missing", "pass `end_accelerator_id=...`"),
    ],
)  # fmt: skip
def test_a_name_is_refused_as_it_was_said(named: dict[str, Any], message: str, help: str) -> None:
    with pytest.raises(pw.UnusableInput) as refused:
        pw.PackedPlacementStrategy(**named)
    first = refused.value.findings[0]
    assert (first.code, first.message, first.help) == ("PW119", message, help)


def test_every_reason_is_given_at_once() -> None:
    with pytest.raises(pw.UnusableInput) as refused:
        pw.PackedPlacementStrategy(0, -1, 0, stride=0, strid=2, start_gpu_id=3)
    assert [finding.message for finding in refused.value.findings] == [
        "`end_accelerator_id` is -1, but it must be a whole number of at least 0",
        "`num_accelerators_per_process` is 0, but it must be a whole number of at least 1",
        "`stride` is 0, but it must be a whole number of at least 1",
        "there is no argument `strid`",
        "`start_accelerator_id` and `start_gpu_id` are one argument",
    ]


def test_too_many_values_are_refused() -> None:
    with pytest.raises(pw.UnusableInput, match="7 values are given, but there are 6 arguments"):
        pw.PackedPlacementStrategy(0, 7, 1, 1, None, True, 3)  # type: ignore[call-arg]


class Whole:
    """A whole number of another type, as numpy has them."""

    def __init__(self, value: int) -> None:
        self.value = value

    def __index__(self) -> int:
        return self.value


def test_whole_numbers_of_other_types_are_taken() -> None:
    assert pw.PackedPlacementStrategy(Whole(0), Whole(7), Whole(2), Whole(2)) == PACKED
    assert pw.FlexiblePlacementStrategy([range(2), [Whole(2)]]).accelerator_id_lists == ((0, 1), (2,))
    assert pw.NodePlacementStrategy([Whole(1)]).get_placement(num_gpus_per_node=Whole(4))[0].node_rank == 1


def test_arrays_of_numpy_are_taken() -> None:
    numpy = pytest.importorskip("numpy")
    assert pw.PackedPlacementStrategy(numpy.int64(0), numpy.int32(7), numpy.uint8(2), 2) == PACKED
    assert pw.FlexiblePlacementStrategy(numpy.arange(4).reshape(2, 2)).accelerator_id_lists == ((0, 1), (2, 3))
    for refused in (lambda: pw.PackedPlacementStrategy(0, numpy.float64(7)), lambda: pw.NodePlacementStrategy(numpy.array(3))):
        with pytest.raises(pw.UnusableInput):
            refused()


def test_a_placement_has_the_names_of_each_generation() -> None:
    (only,) = pw.PackedPlacementStrategy(3, 3).get_placement("1x4")
    assert only.local_gpu_id == only.local_accelerator_rank == only.local_accelerator_id == 3
    assert only.cuda_visible_devices == only.visible_accelerators == ("3",)
    assert only.isolate_gpu is only.isolate_accelerator is True
    assert (only.cluster_node_rank, only.node_group_label) == (0, "cluster")
    with pytest.raises(dataclasses.FrozenInstanceError):
        only.local_accelerator_id = 1  # type: ignore[misc]
