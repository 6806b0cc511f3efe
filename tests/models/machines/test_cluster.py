"""Clusters in one word, node groups, and the numbering of what is in them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from placewright.models.machines.cluster import Cluster
from placewright.models.machines.cluster_file import ClusterForm, cluster_to_data
from placewright.models.machines.node import Hardware, Node, accelerators, memory_of
from placewright.models.machines.node_group import NODE, NodeGroup
from placewright.models.machines.shorthand import DeclaredNodes, looks_like_shorthand, read_shorthand


@pytest.mark.parametrize(
    ("text", "counts", "models"),
    [
        ("2x8xH100", [8, 8], {"H100"}),
        ("4x8", [8] * 4, {"GPU"}),
        ("2x8xH100+1x0", [8, 8, 0], {"H100", ""}),
        ("1x8x4090+1x4xMI300X", [8, 4], {"4090", "MI300X"}),
        ("1x2xNV_GPU:A100 + 1x1", [2, 1], {"A100", "GPU"}),
    ],
)
def test_clusters_in_one_word(text: str, counts: list[int], models: set[str]) -> None:
    cluster = read_shorthand(text)
    assert isinstance(cluster, Cluster)
    assert looks_like_shorthand(text)
    assert [len(node.accelerators) for node in cluster.nodes] == counts
    assert {node.accelerator_model for node in cluster.nodes} == models
    assert [node.rank for node in cluster.nodes] == list(range(len(counts)))


def test_as_many_nodes_as_are_declared() -> None:
    assert read_shorthand("x8") == DeclaredNodes(8)
    assert read_shorthand("x4xH100") == DeclaredNodes(4, "H100")


def test_a_model_that_is_a_number_needs_the_nodes_too() -> None:
    with pytest.raises(ValueError, match="4,090 accelerators on one node are too many; write `1x8x4090` for 8 of the model 4090"):
        read_shorthand("8x4090")


@pytest.mark.parametrize(
    "text", ["", "8", "2x", "x", "2x8x", "2x8xH100+", "0x8", "199999x8", "1x9999", "-1x8", "2x8xH 100", "2x8xH100x3", "x8xH100x3"]
)
def test_what_is_no_cluster_is_a_sentence(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        read_shorthand(text)


def test_memory_is_known_or_unknown_but_never_guessed() -> None:
    assert memory_of("H100") == 80 * 1024
    assert memory_of("H1000") is None
    assert accelerators(1, "AMD_GPU:Thing", 5)[0].memory == 5
    assert [device.vendor for device in (*accelerators(1, "MI300X"), *accelerators(1, "910B"), *accelerators(1, "X"))] == [
        "AMD_GPU",
        "NPU",
        "NV_GPU",
    ]


NODES = (
    Node(0, "n0", accelerators(2, "A")),
    Node(1, "n1", hardware=(Hardware("Franka"), Hardware("Franka"))),
    Node(2, "n2", accelerators(3, "B"), (Hardware("Franka"),)),
)
CLUSTER = Cluster(
    NODES, (NodeGroup("late", (2,), "Accelerator"), NodeGroup("robots", (1, 2), "Franka"), NodeGroup("early", (0,), "Accelerator"))
)


def test_the_kind_of_a_group() -> None:
    kinds = {label: group.kind for label, group in CLUSTER.groups.items()}
    assert kinds == {"late": "Accelerator", "robots": "Franka", "early": "Accelerator", "cluster": "Accelerator", "node": NODE}
    assert Cluster((Node(0, "n", hardware=(Hardware("Franka"),)),)).groups["cluster"].kind == NODE
    assert CLUSTER.kind(("late", "node")) == NODE


@pytest.mark.parametrize(
    ("labels", "order"),
    [
        (("cluster",), [(0, 0), (0, 1), (2, 0), (2, 1), (2, 2)]),
        (("robots",), [(1, 0), (1, 1), (2, 0)]),
        (("late", "early"), [(2, 0), (2, 1), (2, 2), (0, 0), (0, 1)]),
        (("node",), [(0, 0), (1, 0), (2, 0)]),
    ],
)
def test_resources_are_numbered_group_by_group_and_node_by_node(labels: tuple[str, ...], order: list[tuple[int, int]]) -> None:
    numbering = CLUSTER.numbering(labels)
    found = [(stretch.node_rank, local) for stretch, local in map(numbering.locate, range(numbering.size))]
    assert found == order
    with pytest.raises(IndexError):
        numbering.locate(numbering.size)


@given(st.integers(0, 5), st.integers(0, 5))
def test_pieces_are_the_ranks_one_by_one(start: int, stop: int) -> None:
    numbering = CLUSTER.numbering(("cluster",))
    start, stop = min(start, stop), max(start, stop)
    pieces = [(stretch.node_rank, first + i) for stretch, first, count in numbering.pieces(start, stop) for i in range(count)]
    assert pieces == [(stretch.node_rank, local) for stretch, local in map(numbering.locate, range(start, stop))]


def test_a_cluster_survives_its_data() -> None:
    cluster = Cluster(
        (
            Node(
                0,
                "a",
                accelerators(2, "AMD_GPU:X", 7, ("u-1", "u-2"), numa=2),
                (Hardware("Arm", (("ip", "1.2.3.4"),)),),
                8,
                1024,
                {"k": "v"},
                {"zone": "z", "rack": "r"},
                0b10,
            ),
            Node(1, "b"),
        ),
        (NodeGroup("g", (0, 1), "Arm"),),
    )
    assert ClusterForm.read(cluster_to_data(cluster)).build() == cluster
