"""Helps of ROLL files were tried, and a cause is told once."""

from __future__ import annotations

import json

import pytest
from placewright.models.findings.finding import Severity
from placewright.models.findings.span import apply_edits
from placewright.planner.verify import verify

from .pipelines import MEGATRON, RLVR, Config, changed, mended, of, said, the

VLLM_OF_3 = {"strategy_name": "vllm", "strategy_config": {"tensor_parallel_size": 3}}
HALF = {"training_args": {"per_device_train_batch_size": 8}}


def on(ids: str, **more: object) -> Config:
    train = {**MEGATRON, **HALF, "device_mapping": ids}
    return changed(RLVR, actor_train=json.loads(json.dumps(train)), actor_infer={"device_mapping": ids}, rollout_batch_size=64, **more)


def test_too_few_nodes_are_one_finding_with_all_roles_and_a_help_that_verifies() -> None:
    reading = of(on("list(range(0,16))", num_nodes=1), "1x8", "training")
    finding = the(reading, "PW102")
    assert said(reading) == [("PW102", "error", "actor_train")]  # no batch over 16 ranks, no other number of nodes
    assert "before it reserves any" in finding.notes[0] and [note.partition(" in ")[0] for note in finding.notes[1:]] == [
        "`actor_train`",
        "`actor_infer`",
    ]
    assert finding.help.startswith("write `list(range(0,8))` for `actor_train`, `actor_infer`")
    assert said(mended(reading, "PW102", "1x8")) == [("PW126", "warning", "")] or said(mended(reading, "PW102", "1x8")) == []


def test_a_larger_cluster_is_offered() -> None:
    assert the(of(on("list(range(0,16))"), "1x8"), "PW102").help.endswith(", or give a cluster of 2 nodes of 8: `--cluster 2x8`")


def test_one_node_short_of_four_names_each_role_once() -> None:
    reading = of(on("list(range(0,32))"), "3x8", "training")
    assert [code for code, severity, _ in said(reading) if severity == "error"] == ["PW102"]
    assert said(mended(reading, "PW102", "3x8")) == [("PW401", "error", "actor_train")]  # 64 prompts over 24 ranks
    (finding,) = (finding for finding in verify(reading).findings if finding.severity is Severity.ERROR)
    assert (finding.help, finding.edit) == ("give a cluster of 4 nodes of 8: `--cluster 4x8`", None)


@pytest.mark.parametrize(
    ("cluster", "degree", "alternative"),
    [
        ("3x8", "tensor_model_parallel_size", ", or give actor_train 18 accelerators"),
        ("2x8", "tensor_model_parallel_size", ""),
        ("2x8", "context_parallel_size", ""),
        ("2x8", "pipeline_model_parallel_size", ""),
    ],
)
def test_degrees_that_do_not_divide_have_one_help_that_verifies(cluster: str, degree: str, alternative: str) -> None:
    config = on("list(range(0,16))")
    config["actor_train"]["strategy_args"]["strategy_config"] = {degree: 3}
    reading = of(config, cluster, "training")
    assert reading.problem is not None
    fix = reading.problem["actor_train"].fixes["PW208"]
    key = f"actor_train.strategy_args.strategy_config.{degree}"
    assert fix.help == f"set `{key}: 2`{alternative}" and fix.edit is not None
    after = verify(of(apply_edits(reading.source.text, [fix.edit]), cluster, "training"))
    assert [finding.code for finding in after.findings if finding.severity is Severity.ERROR] == []


@pytest.mark.parametrize(
    ("change", "help_"),
    [
        ({"num_return_sequences_in_group": -8}, "write `8`"),
        ({"num_return_sequences_in_group": 8, "rewards": {"math": {"world_size": -8}}}, "write `8`"),
        ({"rollout_batch_size": -64}, "write a number of prompts such as `64`"),
    ],
)
def test_a_negative_number_is_meant_without_its_sign(change: Config, help_: str) -> None:
    findings = of(changed(on("list(range(0,16))"), **change), "2x8", "training").findings
    assert [finding.help for finding in findings if finding.severity is Severity.ERROR] == [help_]


def test_workers_that_do_not_divide_have_one_help_that_verifies() -> None:
    config = changed(on("list(range(0,16))"), actor_infer={"strategy_args": VLLM_OF_3})
    reading = of(config, "2x8", "training")
    assert the(reading, "PW111").help == "name 15 devices: `list(range(0,15))`, or give each worker 2"
    assert the(of(config, "3x8", "training"), "PW111").help == "name 15 or 18 devices: `list(range(0,15))`, or give each worker 2"
    assert said(mended(reading, "PW111", "2x8")) == [("PW217", "warning", "actor_train")]  # since 0.2.0
    alone = changed(config, actor_infer={"device_mapping": "list(range(8,16))"}, actor_train={"device_mapping": "list(range(0,8))"})
    assert the(of(alone, "2x8", "training"), "PW111").help == "name 6 or 9 devices: `list(range(8,14))`, or give each worker 2"


def test_one_cause_is_one_finding() -> None:
    uneven = of(changed(on("list(range(0,16))"), rollout_batch_size=100), "2x8", "training")
    assert [code for code, _, _ in said(uneven)] == ["PW401"]
    assert said(mended(uneven, "PW401", "2x8")) == []
    config = changed(on("list(range(0,16))"), actor_train={"device_mapping": "list(range(0,15))"})
    config["actor_train"]["strategy_args"]["strategy_config"] = {"tensor_model_parallel_size": 2}
    report = verify(of(config, "2x8"))
    assert [finding.code for finding in report.findings if finding.severity is Severity.ERROR] == ["PW208"]
    assert any(each.rule == "PW217" for each in report.unchecked)


@pytest.mark.parametrize(
    ("role", "key", "help"),
    [
        ("actor_train", "num_gpus_per_worke", "write `num_gpus_per_worker`"),
        ("actor_train", "device_maping", "remove it: `device_mapping` is set too"),
        ("actor_infer", "strategy_arg", "remove it: `strategy_args` is set too"),
    ],
)
def test_the_nearest_key_is_named_whether_it_is_set_or_not(role: str, key: str, help: str) -> None:
    finding = the(of(changed(RLVR, **{role: {key: 1}}), "1x8"), "PW104")
    assert (finding.help, finding.severity) == (help, Severity.WARNING)  # ROLL drops it without a word


@pytest.mark.parametrize(
    ("key", "help"), [("num_node", "remove it: `num_nodes` is set too"), ("rollout_batchsize", "is `rollout_batch_size` meant?")]
)
def test_misspelt_keys_of_the_job_are_told_beside_the_right_one(key: str, help: str) -> None:
    assert the(of({**RLVR, "num_nodes": 1, key: 2}, "1x8"), "PW104").help == help


def test_a_key_that_the_file_itself_refers_to_is_no_misspelling() -> None:
    assert said(of({**RLVR, "rollout_batchsize": 64, "rollout_batch_size": "${rollout_batchsize}"}, "1x8")) == []


@pytest.mark.parametrize(
    ("role", "key", "help"),
    [
        ("actor_train", "tensor_model_paralel_size", "write `tensor_model_parallel_size`"),
        ("actor_train", "tensor_parallel_size", "write `tensor_model_parallel_size`"),
        ("actor_infer", "tensor_model_parallel_size", "remove it: `tensor_parallel_size` is set too"),
    ],
)
def test_degrees_that_the_strategy_does_not_take_are_refused(role: str, key: str, help: str) -> None:
    config = changed(RLVR)
    config[role]["strategy_args"].setdefault("strategy_config", {})[key] = 2
    reading = of(config, "1x8")
    assert (the(reading, "PW104").severity, the(reading, "PW104").help) == (Severity.ERROR, help)
    assert said(mended(reading, "PW104", "1x8")) == []
