"""What a process finds in its environment."""

from __future__ import annotations

from dataclasses import replace

import pytest
from placewright.models.machines.cluster import Cluster
from placewright.models.machines.node import Node, accelerators
from placewright.models.machines.node_group import EnvConfig, NodeGroup
from placewright.models.placements.placement import Placement, placements
from placewright.models.placements.run import Run
from placewright.runtime.workers.member import rank_environment, visibility
from placewright.runtime.world.interpreters import find_env_vars

MASTER = "10.0.0.7"


def machines(model: str = "H100", count: int = 4, nodes: int = 2) -> Cluster:
    return Cluster(tuple(Node(rank, f"node-{rank}", accelerators(count, model)) for rank in range(nodes)))


def one(model: str = "H100", isolate: bool = True) -> Placement:
    """The second of two processes on the second node, each with two accelerators."""
    return placements(machines(model), (Run(range(2), 0, each=2, pitch=2), Run(range(2, 4), 1, each=2, pitch=2)), isolate)[3]


def test_a_rank_knows_its_place_in_the_world() -> None:
    found = rank_environment("actor", one(), 4, MASTER)
    assert (found["GROUP_NAME"], found["RANK"], found["WORLD_SIZE"]) == ("actor", "3", "4")
    assert (found["NODE_RANK"], found["CLUSTER_NODE_RANK"]) == ("1", "1")
    assert (found["NODE_LOCAL_RANK"], found["NODE_LOCAL_WORLD_SIZE"]) == ("1", "2")
    assert found["MASTER_ADDR"] == "10.0.0.7"
    assert found["LOCAL_HARDWARE_RANKS"] == "2,3"


def test_a_process_that_sees_its_own_accelerators_alone_has_local_rank_0_of_1() -> None:
    found = rank_environment("actor", one(), 4, MASTER)
    assert (found["LOCAL_RANK"], found["LOCAL_WORLD_SIZE"]) == ("0", "1")


def test_a_process_that_sees_the_whole_node_has_its_rank_on_the_node() -> None:
    found = rank_environment("actor", one(isolate=False), 4, MASTER)
    assert (found["LOCAL_RANK"], found["LOCAL_WORLD_SIZE"]) == ("1", "2")
    assert found["CUDA_VISIBLE_DEVICES"] == "0,1,2,3"


@pytest.mark.parametrize(
    ("model", "variable", "switch"),
    [
        ("H100", "CUDA_VISIBLE_DEVICES", "RAY_EXPERIMENTAL_NOSET_CUDA_VISIBLE_DEVICES"),
        ("AMD_GPU:MI300X", "HIP_VISIBLE_DEVICES", "RAY_EXPERIMENTAL_NOSET_HIP_VISIBLE_DEVICES"),
        ("INTEL_GPU:MAX1550", "ZE_AFFINITY_MASK", "RAY_EXPERIMENTAL_NOSET_ZE_AFFINITY_MASK"),
        ("NPU:910B", "ASCEND_RT_VISIBLE_DEVICES", "RAY_EXPERIMENTAL_NOSET_ASCEND_RT_VISIBLE_DEVICES"),
        ("MUSA_GPU:S4000", "MUSA_VISIBLE_DEVICES", "RAY_EXPERIMENTAL_NOSET_MUSA_VISIBLE_DEVICES"),
        ("KUNLUN_XPU:P800", "CUDA_VISIBLE_DEVICES", "RAY_EXPERIMENTAL_NOSET_CUDA_VISIBLE_DEVICES"),
        ("GAUDI2", "HABANA_VISIBLE_MODULES", "RAY_EXPERIMENTAL_NOSET_HABANA_VISIBLE_MODULES"),
        ("TPU:v5p", "TPU_VISIBLE_CHIPS", "RAY_EXPERIMENTAL_NOSET_TPU_VISIBLE_CHIPS"),
        ("NEURON_CORE:trn2", "NEURON_RT_VISIBLE_CORES", "RAY_EXPERIMENTAL_NOSET_NEURON_RT_VISIBLE_CORES"),
    ],
)
def test_each_maker_has_its_own_variable_and_ray_is_told_to_leave_it_alone(model: str, variable: str, switch: str) -> None:
    found = visibility(one(model))
    assert found[variable] == "2,3"
    assert found[switch] == "1"
    assert found["RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO"] == "0"


def test_a_part_of_a_host_of_tpus_is_told_how_its_chips_lie() -> None:
    assert visibility(one("TPU-V5P"))["TPU_CHIPS_PER_HOST_BOUNDS"] == "1,2,1"
    whole = placements(machines("TPU-V5P"), (Run(range(1), 0, each=4),))[0]
    assert "TPU_CHIPS_PER_HOST_BOUNDS" not in visibility(whole)


def test_visible_ids_are_the_physical_ones_in_the_order_of_the_plan() -> None:
    node = Node(0, "node-0", accelerators(4, "H100", ids=("GPU-d", "GPU-c", "GPU-b", "GPU-a")))
    backwards = placements(Cluster((node,)), (Run(range(1), 0, first=3, each=2, step=-2),))
    assert visibility(backwards[0])["CUDA_VISIBLE_DEVICES"] == "GPU-a,GPU-c"


def test_on_a_node_without_accelerators_a_process_sees_none_of_any_maker() -> None:
    bare = machines(count=0)
    found = visibility(placements(bare, (Run(range(1), 0, "node", each=0, node_group="node"),))[0])
    names = {"CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ZE_AFFINITY_MASK", "ASCEND_RT_VISIBLE_DEVICES", "MUSA_VISIBLE_DEVICES"}
    assert {name: found[name] for name in names} == dict.fromkeys(names, "")


def group(*configs: EnvConfig) -> tuple[Cluster, Placement]:
    cluster = machines().with_groups([NodeGroup("a", (0, 1), "Accelerator", configs)])
    return cluster, replace(one(), node_group="a")


def test_the_variables_of_its_node_in_its_group_are_given_to_a_process_and_no_others() -> None:
    cluster, placement = group(EnvConfig((0,), (("A", "0"),)), EnvConfig((1,), (("B", "1"), ("C", ""))))
    assert find_env_vars(cluster, placement) == {"B": "1", "C": ""}
    assert find_env_vars(cluster, replace(placement, node_group="cluster")) == {}


def test_a_list_of_paths_goes_before_the_one_that_is_there() -> None:
    cluster, placement = group(EnvConfig((1,), (("PYTHONPATH", "/opt/robot"),)))
    assert find_env_vars(cluster, placement) == {"PYTHONPATH": "/opt/robot:${PYTHONPATH}"}
