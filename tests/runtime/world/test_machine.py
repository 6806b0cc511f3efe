"""Machines as nodes of a cluster file, which is read back to the same cluster."""

from __future__ import annotations

from placewright.models.machines.cluster_file import cluster_of as read
from placewright.models.text.source import Source
from placewright.report.discovered import nodes_table, to_cluster_file
from placewright.runtime.world.machine import Device, Machine, cluster_of


def devices(*numa: str, model: str = "H100", memory: int | None = None) -> tuple[Device, ...]:
    return tuple(Device(str(index), model, memory, numa=domain) for index, domain in enumerate(numa))


def written(*machines: Machine) -> str:
    """The cluster file, which must be read back to the same cluster."""
    cluster, _ = cluster_of(machines)
    text = to_cluster_file(cluster)
    assert read(Source("cluster.yaml", text)) == cluster
    first_columns = [line[:4].strip() for line in nodes_table(cluster).splitlines()]  # a wide row is broken within its columns
    assert list(filter(None, first_columns)) == ["rank", *map(str, range(len(machines)))]
    return text


def notes(machine: Machine) -> list[str]:
    return [note.message for note in cluster_of([machine])[1]]


def test_plain_machines_are_one_word() -> None:
    assert written(*(Machine("", devices("", "")) for _ in range(3))) == "nodes: 3x2xH100\n"


def test_all_that_is_known_is_written_and_read_back() -> None:
    machine = Machine(
        "gpu-a", (Device("6", "910B", 61_440, numa="3"), Device("7", "910B", 61_440, numa="1", taken=True)), "NPU", 96, 1_048_576,
        ("Franka", "Franka"), {"tier": "gold"}, {"rack": "r1", "zone": "z"},
    )  # fmt: skip
    text = written(machine, Machine("login"))
    for part in ("ids: ['6', '7']", "memory: 61440MiB", "numa: 2", "taken: [1]", "cpus: 96", "type: Franka", "tier: gold", "rack: r1"):
        assert part in text
    assert notes(machine) == []


def test_numa_domains_count_only_if_they_are_even_and_in_order() -> None:
    assert "numa: 4" in written(Machine("a", devices("3", "3", "1", "1", "7", "7", "5", "5")))
    odd = Machine("a", devices("0", "1", "0", "1"))
    assert "numa" not in written(odd)
    assert notes(odd) == ["`a` has accelerators in the NUMA domains 0,1,0,1, which are not divided evenly and in order"]


def test_accelerators_of_several_models_count_as_of_any_with_the_least_memory() -> None:
    mixed = Machine("a", (Device("0", "A100", 81_920), Device("1", "H100", 81_559)))
    assert "{count: 2, model: GPU, memory: 81559MiB}" in written(mixed)
    assert notes(mixed) == ["`a` has accelerators of 2 models (1 A100, 1 H100), which count as of any"]


def test_nvlink_among_all_accelerators_makes_the_node_a_domain() -> None:
    assert "nvlink_domain: a" in written(Machine("a", devices("0", "0"), linked=((0, 1),)))
    assert "nvlink_domain: rack-7" in written(Machine("a", devices("0", "0"), topology={"nvlink_domain": "rack 7"}, linked=((0, 1),)))
    pairs = Machine("a", devices("", "", "", ""), linked=((0, 1), (2, 3)))
    assert "nvlink" not in written(pairs)
    assert notes(pairs) == ["`a` has NVLink only among some of its accelerators (0,1; 2,3)"]
    assert notes(Machine("a", devices("", ""), linked=((0,), (1,)))) == []


def test_names_are_made_distinct_and_fit_a_cluster_file() -> None:
    cluster, _ = cluster_of([Machine(name) for name in ("a", "b c", "a", "a-0", "x" * 80)])
    assert [node.name for node in cluster.nodes] == ["a-1", "b-c", "a-2", "a-0", "x" * 64]


def test_memory_is_written_where_it_is_not_that_of_the_model() -> None:
    assert "memory" not in written(Machine("a", devices("", memory=80 * 1024)))
    assert "memory: 81559MiB" in written(Machine("a", devices("", memory=81_559)))


def test_ids_that_a_cluster_file_cannot_hold_are_told() -> None:
    old = Machine("a", (Device("MIG-GPU-aaaa/1/0", "A100"), Device("MIG-GPU-aaaa/2/0", "A100")))
    assert written(old) == "nodes:\n  - name: a\n    accelerators: {count: 2, model: A100}\n"
    assert notes(old) == ["`a` has ids such as `MIG-GPU-aaaa/1/0`, which a cluster file cannot hold"]
