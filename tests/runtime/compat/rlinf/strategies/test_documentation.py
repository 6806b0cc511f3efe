"""RLinf's own pages about placement, run as they are written: what they promise holds, and where its code differs it is said."""

from __future__ import annotations

import placewright as pw
import pytest
from placewright.models.placements.placement import Placement

NODE = pw.cluster("1x8")


def held(strategy: pw.PackedPlacementStrategy | pw.FlexiblePlacementStrategy, cluster: str = "2x4") -> list[tuple[int, tuple[int, ...]]]:
    return [(each.node_rank, each.local_hardware_ranks) for each in strategy.get_placement(cluster)]


def test_the_page_of_the_first_generation() -> None:
    strategy = pw.PackedPlacementStrategy(start_gpu_id=0, end_gpu_id=7, num_gpus_per_process=2, stride=2, isolate_gpu=True)
    placed = strategy.get_placement(num_gpus_per_node=4, isolate_gpu=True)
    properties = ("rank", "node_id", "node_rank", "local_gpu_id", "local_rank", "local_world_size", "cuda_visible_devices", "isolate_gpu")
    assert [tuple(getattr(each, name) for name in properties) for each in placed] == [
        (0, "node-0", 0, 0, 0, 2, ("0", "2"), True),
        (1, "node-0", 0, 1, 1, 2, ("1", "3"), True),
        (2, "node-1", 1, 0, 0, 2, ("0", "2"), True),
        (3, "node-1", 1, 1, 1, 2, ("1", "3"), True),
    ]


def test_the_page_of_the_second_generation() -> None:
    strategy = pw.PackedPlacementStrategy(
        start_accelerator_id=0, end_accelerator_id=7, num_accelerators_per_process=2, stride=1, isolate_accelerator=True
    )
    placed = strategy.get_placement(pw.cluster("2x4xH100"), isolate_accelerator=True)
    properties = ("rank", "node_id", "node_rank", "local_accelerator_id", "local_rank", "local_world_size", "visible_accelerators")
    assert [tuple(getattr(each, name) for name in properties) for each in placed] == [
        (0, "node-0", 0, 0, 0, 2, ("0", "1")),
        (1, "node-0", 0, 2, 1, 2, ("2", "3")),
        (2, "node-1", 1, 0, 0, 2, ("0", "1")),
        (3, "node-1", 1, 2, 1, 2, ("2", "3")),
    ]
    assert all(isinstance(each, Placement) and each.isolate_accelerator for each in placed)


def test_every_stride_th_of_a_block() -> None:
    """ "``[0, 1, 2, 3]`` with stride 2 is ``[0, 2]``", and what is left of the block is the next process's."""
    assert held(pw.PackedPlacementStrategy(0, 3, 2, 2), "1x4") == [(0, (0, 2)), (0, (1, 3))]


def test_all_ids_are_consumed_and_the_next_node_is_begun() -> None:
    assert held(pw.PackedPlacementStrategy(0, 5)) == [(0, (0,)), (0, (1,)), (0, (2,)), (0, (3,)), (1, (0,)), (1, (1,))]


def test_the_stride_of_single_accelerators_leaves_none_out() -> None:
    """The pages speak of ``0, 2, 4`` for a stride of 2; with one accelerator a process RLinf's code places all, one by one."""
    assert pw.PackedPlacementStrategy(0, 7, 1, 2).runs(NODE) == pw.PackedPlacementStrategy(0, 7).runs(NODE)


def test_whole_blocks_are_enforced_by_the_constructor() -> None:
    with pytest.raises(pw.UnusableInput) as refused:
        pw.PackedPlacementStrategy(0, 9, 2, 2)
    (finding,) = refused.value.findings
    assert finding.message == "10 accelerators (0-9) cannot be divided into blocks of 4 (2 per process x stride 2)"
    assert finding.help == "end at 7"


def test_no_process_lies_on_two_nodes() -> None:
    """The pages promise it of the constructor's division alone, which cannot know the nodes."""
    with pytest.raises(pw.UnusableInput, match="process 1 would span several nodes: its block needs 4 accelerators, node 0 has 2 left"):
        pw.PackedPlacementStrategy(0, 11, 4).get_placement("2x6")


def test_isolation_by_default_and_switched_off() -> None:
    assert pw.PackedPlacementStrategy(0, 0).get_placement("1x2")[0].visible_accelerators == ("0",)
    assert pw.PackedPlacementStrategy(0, 0).get_placement("1x2", False)[0].visible_accelerators == ("0", "1")


def test_flexible_lists_regardless_of_contiguity() -> None:
    lists = [[0, 3], [1], [6, 5]]
    assert held(pw.FlexiblePlacementStrategy(accelerator_id_lists=lists)) == [(0, (0, 3)), (0, (1,)), (1, (1, 2))]


def test_a_node_placement_puts_many_processes_on_one_node() -> None:
    placed = pw.NodePlacementStrategy([0] * 4).get_placement(NODE)
    assert [(each.local_rank, each.local_world_size, each.local_accelerator_id) for each in placed] == [(i, 4, 0) for i in range(4)]
