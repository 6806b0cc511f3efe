"""The nodes that ROLL reserves, and what each worker has of them."""

from __future__ import annotations

from placewright.models.findings.finding import Severity
from placewright.models.machines.shorthand import DeclaredNodes, read_shorthand

from .pipelines import RLVR, changed, mended, of, said, the, where


def test_ids_are_counted_from_the_first_device_of_the_first_node() -> None:
    reading = of({"sft_train": {"device_mapping": "[1, 3]"}}, "1x2")
    assert the(reading, "PW102").message == "`sft_train` names device 3, on node 1, but the cluster has 1 node of 2 devices"
    assert said(mended(reading, "PW102", "1x2")) == []


def test_machines_that_are_not_described_are_said_to_be_assumed() -> None:
    reading = of({**RLVR, "num_gpus_per_node": 4})
    assert where(reading, "actor_train")[4] == [(1, 0)]
    assert reading.unchecked[0].why == "accelerators per node unknown; ROLL counts those of its own machine, 4 are assumed"
    assert of(RLVR, "x4").problem == of({**RLVR, "num_gpus_per_node": 4}).problem
    assert isinstance(read_shorthand("x4"), DeclaredNodes)


def test_smaller_nodes_do_not_count_and_surplus_devices_are_not_used() -> None:
    config = changed(RLVR, actor_train={"device_mapping": "list(range(0,16))"}, actor_infer={"device_mapping": "list(range(0,16))"})
    short = of(config, "1x8+1x4")
    assert "(1 other has fewer)" in next(finding.message for finding in short.findings)
    reading = of(config, "1x8+1x4+1x12")
    assert said(reading) == []
    assert reading.problem is not None
    assert [(node.name, len(node.accelerators)) for node in reading.problem.cluster.nodes] == [("node-0", 8), ("node-2", 8)]


def test_nodes_that_roll_could_use_twice_are_told() -> None:
    config = changed(RLVR, actor_train={"device_mapping": "list(range(0,16))"}, actor_infer={"device_mapping": "list(range(0,16))"})
    assert the(of(config, "1x8+1x16"), "PW114").severity is Severity.WARNING


def test_only_reserved_nodes_are_judged() -> None:
    reading = of(RLVR, "4x8")
    assert reading.problem is not None
    assert len(reading.problem.cluster.nodes) == 1


def test_a_worker_over_two_nodes_keeps_all_its_devices() -> None:
    reading = of(changed(RLVR, actor_infer={"device_mapping": "list(range(7,15))"}), "2x8")
    assert where(reading, "actor_infer")[0] == [(0, 7), (1, 0)]


def test_every_number_is_derived() -> None:
    reading = of(RLVR, "1x8")
    found = {(each.component, each.name): (each.value, each.formula) for each in reading.derivations}
    assert found["actor_infer", "world size"] == (4, "8 device ids // 2 per worker")
    assert found["actor_infer", "num_gpus_per_worker"] == (2, "tp 2 x pp 1")
    assert found["", "num_nodes"] == (1, "highest device id 7 // 8 per node + 1")
    defaults = {figure.name: figure.default for each in reading.derivations for figure in each.figures if figure.default}
    assert defaults["actor_infer.strategy_args.strategy_config.pipeline_parallel_size"].startswith("ROLL, ")
