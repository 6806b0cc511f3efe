"""Clusters found out: from Ray's nodes, from Slurm, from pasted texts."""

from __future__ import annotations

from typing import Any

import pytest
from placewright.models.findings.finding import UnusableInput
from placewright.models.machines.cluster_file import cluster_of as read
from placewright.models.text.source import Source
from placewright.report.discovered import to_cluster_file
from placewright.runtime import discover as taken
from placewright.runtime.discover import Discovery, from_ray, from_slurm, from_texts
from placewright.runtime.port.port import RayBundle
from placewright.runtime.world import inventory as looking

from ...unhindered import unhindered
from ..fake import FakePort
from ..test_command import wait_until
from ..world.machines import report

SMI = "".join(f"GPU {index}: NVIDIA H100 80GB HBM3 (UUID: GPU-{index})\n" for index in range(2))


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """What the nodes are seen to be, one after the other."""
    reports: list[dict[str, Any]] = []
    waiting = iter(range(1000))
    monkeypatch.setattr(looking, "survey_node", lambda variables, devices: reports[next(waiting) % len(reports)])
    return reports


def names(found: Discovery) -> list[str]:
    return [node.name for node in found.cluster.nodes]


def test_every_node_is_looked_at_and_the_file_reads_back_to_the_same_cluster(seen: list[dict[str, Any]]) -> None:
    seen += [report(2), report(4)]
    found = from_ray(FakePort(2, 4))
    assert [(node.name, len(node.accelerators), node.accelerator_model, node.numa_domains) for node in found.cluster.nodes] == [
        ("host-0", 2, "H100", 2), ("host-1", 4, "H100", 2),
    ]  # fmt: skip
    assert read(Source("c.yaml", to_cluster_file(found.cluster))) == found.cluster
    assert (found.notes, found.unchecked) == ((), ())


def test_a_node_that_cannot_be_looked_at_is_told_and_not_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(variables: list[str], devices: bool) -> None:
        raise OSError("no")

    monkeypatch.setattr(looking, "survey_node", broken)
    found = from_ray(FakePort(2))
    assert names(found) == ["host-0"]
    assert [(item.rule, item.subject, item.why) for item in found.unchecked] == [("devices", "host-0", "OSError: no")]


def test_what_another_job_holds_is_taken_and_nothing_stays_held(seen: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch) -> None:
    seen += [report()]
    port = FakePort(4, 2, 2)
    other = port.hold("other", [RayBundle("ray-0", {"GPU": 3.0}), RayBundle("ray-1", {"GPU": 2.0})])
    port.state(other)
    monkeypatch.setattr(taken, "accelerators_given", lambda *_: [("2",)])
    found = from_ray(port)
    assert [node.taken for node in found.cluster.nodes] == [0b1011, 0b11, 0]
    port.release(other)
    assert port.left_over() == {}


def test_pasted_texts_name_their_machines_by_their_files_where_there_are_several() -> None:
    one, two = Source("logs/gpu-a.txt", SMI), Source("logs/gpu-b.txt", SMI)
    assert names(from_texts([one])) == ["node-0"]
    assert names(from_texts([one, two])) == ["gpu-a", "gpu-b"]


def test_slurm_names_the_machines_and_a_text_tells_what_each_has() -> None:
    found = from_slurm({"SLURM_JOB_NODELIST": "a[1-2]", "SLURM_GPUS_ON_NODE": "2"}, [Source("smi.txt", SMI)])
    assert [(node.name, len(node.accelerators), node.accelerator_model) for node in found.cluster.nodes] == [
        ("a1", 2, "H100"),
        ("a2", 2, "H100"),
    ]
    with pytest.raises(UnusableInput, match="Slurm gives 8 GPUs of a machine, nvidia-smi names 2"):
        from_slurm({"SLURM_JOB_NODELIST": "a1", "SLURM_GPUS_ON_NODE": "8"}, [Source("smi.txt", SMI)])


def test_a_machine_alone_has_its_place_in_the_network() -> None:
    place = {"SLURM_TOPOLOGY_ADDR": "s0.s3.a1", "SLURM_TOPOLOGY_ADDR_PATTERN": "switch.switch.node"}
    (node,) = from_slurm({"SLURM_JOB_NODELIST": "a1", "SLURM_GPUS_ON_NODE": "2", **place}).cluster.nodes
    assert node.topology == {"zone": "s0", "rack": "s3"}
    assert not any(node.topology for node in from_slurm({"SLURM_JOB_NODELIST": "a[1-2]", **place}).cluster.nodes)


@pytest.mark.ray
def test_a_real_cluster_is_found_with_what_others_hold(address: str) -> None:
    import ray
    from placewright.runtime.port.on_ray import RayPort

    port = RayPort()
    found = from_ray(port)
    assert [(node.name, len(node.accelerators), node.taken) for node in found.cluster.nodes] == [("node-0", 4, 0), ("node-1", 4, 0)]
    assert found.unchecked == ()
    other = ray.util.placement_group([{"GPU": 3}], bundle_label_selector=[{"placewright.node-rank": "1"}])
    try:
        assert other.wait(60)
        # the nodes tell of it a little later
        wait_until(lambda: {node.rank: node.free.get("GPU") for node in port.nodes()} == {0: 4, 1: 1})
        before = unhindered()
        found = from_ray(port)
        assert unhindered() - before < 10
        assert [node.taken.bit_count() for node in found.cluster.nodes] == [0, 3]
    finally:
        ray.util.remove_placement_group(other)
