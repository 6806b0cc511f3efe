"""The arithmetic of batches, judged on request."""

from __future__ import annotations

import re
from typing import Any, Callable

import pytest
import yaml
from placewright.models.composition import Composer
from placewright.models.dialects import rlinf
from placewright.models.dialects.load import read as load
from placewright.models.findings.finding import Severity
from placewright.models.machines.shorthand import read_shorthand
from placewright.models.reading import Reading
from placewright.models.text.document import Document
from placewright.models.text.source import Source
from placewright.planner.verify import verify

Training = Callable[..., set[tuple[str, str]]]


def judged(level: str, task: str, settings: dict[str, Any]) -> set[tuple[str, str]]:
    root: dict[str, Any] = {
        "cluster": {"num_nodes": 1, "component_placement": {"env,actor,rollout,reward": "all"}},
        "runner": {"task_type": task},
    }
    for path, value in settings.items():
        place, (*above, last) = root, path.split(".")
        for key in above:
            place = place.setdefault(key, {})
        place[last] = value
    root.setdefault("actor", {}).setdefault("model", {})
    root.setdefault("rollout", {})
    source = Source("run.yaml", yaml.safe_dump(root, sort_keys=False))
    reading: Reading = rlinf.read(Document.of(source), read_shorthand("x8"), level)
    return {(finding.severity.value, finding.code) for finding in verify(reading).findings if finding.severity is not Severity.NOTE}


FSDP = {"actor.training_backend": "fsdp", "actor.micro_batch_size": 4}
REASONING = {"algorithm.recompute_logprobs": False, "rollout.return_logprobs": True, "data.rollout_batch_size": 16}
REWARDED = {"data.rollout_batch_size": 12, "algorithm.group_size": 8, "actor.training_backend": "megatron"}
"""Whole groups come to the 8 processes of `reward`, one and a half to each; the 96 samples divide."""
STEPS = {"env.train": {"total_num_envs": 64, "max_steps_per_rollout_epoch": 80}, "actor.model.num_action_chunks": 8}
ROLLOUT = {"rollout.pipeline_stage_num": 1, "runner.use_training_pipeline": False, "algorithm.loss_type": "actor"}
UNEVEN = {"env,rollout,reward": "0-3", "actor": "0-2"}
"""64 environments do not come evenly to the 3 processes of `actor`."""


@pytest.mark.parametrize(
    ("task", "settings", "expected"),
    [
        ("sft", {**FSDP, "actor.global_batch_size": 64}, set()),
        ("sft", {**FSDP, "actor.global_batch_size": 48}, {("error", "PW401")}),
        ("embodied_eval", {**FSDP, "actor.global_batch_size": 48}, set()),
        ("reasoning", {**REASONING, "actor.training_backend": "fsdp", "algorithm.group_size": 8}, set()),
        ("reasoning", {**REASONING, "actor.training_backend": "fsdp", "algorithm.group_size": 9, "algorithm.n_minibatches": 4}, {("error", "PW401")}),
        ("reasoning", {**REASONING, "actor.training_backend": "megatron", "algorithm.group_size": 8}, set()),
        ("reasoning", {**REASONING, "data.rollout_batch_size": 9, "actor.training_backend": "megatron", "algorithm.group_size": 4}, {("error", "PW403"), ("error", "PW401")}),
        ("reasoning", {**REASONING, **REWARDED}, {("error", "PW401")}),
        ("reasoning", {**REASONING, **REWARDED, "agentloop.group_name": "A"}, {("warning", "PW401")}),
        ("reasoning", {**REASONING, "algorithm.group_size": 8, "algorithm.n_minibatches": 7}, {("warning", "PW403")}),
        ("embodied", {**STEPS}, set()),
        ("embodied", {**STEPS, "actor.model.num_action_chunks": 7}, {("error", "PW403")}),
        ("embodied", {**STEPS, "algorithm.adv_type": "grpo", "algorithm.group_size": 1}, {("error", "PW403")}),
        ("embodied", {**STEPS, "algorithm.adv_type": "gae", "algorithm.group_size": 1}, set()),
        ("embodied", {**STEPS, **ROLLOUT, **FSDP, "actor.global_batch_size": 128}, set()),
        ("embodied", {**STEPS, **ROLLOUT, **FSDP, "actor.global_batch_size": 96, "env.train.rollout_epoch": 1}, {("error", "PW403")}),
        ("embodied", {**STEPS, **ROLLOUT, **FSDP, "actor.global_batch_size": 96, "cluster.component_placement": UNEVEN}, {("warning", "PW403")}),
        ("embodied", {**STEPS, **ROLLOUT, **FSDP, "actor.global_batch_size": 96, "algorithm.loss_type": "embodied_sac"}, set()),
    ],
)  # fmt: skip
def test_batches_divide_as_rlinf_demands_it(task: str, settings: dict[str, Any], expected: set[tuple[str, str]]) -> None:
    assert judged("training", task, settings) == expected
    assert judged("placement", task, settings) == set()


def test_the_nearest_batch_that_divides_is_proposed() -> None:
    root = {
        "cluster": {"num_nodes": 1, "component_placement": {"actor,rollout,reward": "all"}},
        "runner": {"task_type": "reasoning"}, "data": {"rollout_batch_size": 9},
        "algorithm": {"recompute_logprobs": True, "group_size": 4}, "actor": {"training_backend": "megatron", "model": {}}, "rollout": {},
    }  # fmt: skip
    (finding,) = rlinf.read(Document.of(Source("run.yaml", yaml.safe_dump(root))), read_shorthand("x8"), "training").findings
    assert finding.help == "set `data.rollout_batch_size: 8` or `16`"  # the 8 processes of reward, too


@pytest.mark.parametrize(("ranks", "expected"), [("6-7", set()), ("5-7", {("error", "PW403")})])
def test_all_samples_divide_among_the_replicas_of_inference(ranks: str, expected: set[tuple[str, str]]) -> None:
    placed = {"actor,reward": "0-1", "rollout": "2-3", "inference": ranks}
    settings = {"algorithm.recompute_logprobs": True, "data.rollout_batch_size": 16, "algorithm.group_size": 8}
    settings |= {"cluster.component_placement": placed, "actor.training_backend": "megatron"}
    found = judged("training", "reasoning", settings)
    assert {each for each in found if each[0] == "error"} == expected


@pytest.mark.parametrize(
    ("backend", "actor", "prompts"), [("megatron", "0-2", 511), ("megatron", "0-2", 512), ("fsdp", "0-7", 510), ("fsdp", "0-6", 511)]
)
def test_every_number_of_prompts_that_is_offered_verifies(backend: str, actor: str, prompts: int) -> None:
    root: dict[str, Any] = {
        "cluster": {"num_nodes": 1, "component_placement": {"actor,rollout": actor, "reward": "all"}},
        "runner": {"task_type": "reasoning"}, "data": {"rollout_batch_size": prompts},
        "algorithm": {"recompute_logprobs": True, "group_size": 4, "n_minibatches": 2}, "actor": {"training_backend": backend, "model": {}}, "rollout": {},
    }  # fmt: skip

    def helps() -> list[str]:
        document = Document.of(Source("run.yaml", yaml.safe_dump(root)))
        return [
            each.help for each in verify(rlinf.read(document, read_shorthand("x8"), "training")).findings if each.severity is Severity.ERROR
        ]

    offered = [re.findall(r"\d+", help_.partition(", or give")[0]) for help_ in helps()]
    assert offered and all(offered)
    for number in {int(number) for numbers in offered for number in numbers}:
        root["data"]["rollout_batch_size"] = number
        assert helps() == []


@pytest.mark.parametrize(("key", "value"), [("data.rollout_batch_size", "${oc.env:SIZE}"), ("algorithm.n_minibatches", "???")])
def test_an_unknown_batch_leaves_training_open_and_placement_not(key: str, value: str) -> None:
    section, _, name = key.partition(".")
    root: dict[str, Any] = {
        "cluster": {"num_nodes": 1, "component_placement": {"actor,rollout,reward": "all"}},
        "runner": {"task_type": "reasoning"}, "data": {"rollout_batch_size": 64},
        "algorithm": {"recompute_logprobs": True, "group_size": 4}, "actor": {"training_backend": "megatron", "model": {}}, "rollout": {},
    }  # fmt: skip
    root[section][name] = value
    reports = [
        verify(rlinf.read(Document.of(Source("run.yaml", yaml.safe_dump(root))), read_shorthand("1x8"), level))
        for level in ("training", "placement")
    ]
    assert [report.verdict for report in reports] == ["incomplete", "ok"]
    assert [f"`{key}`" in missing.fact for missing in reports[0].missing] == [True]


@pytest.mark.parametrize("release", ["0.1", "0.2", "0.3", "a3816b59"])
@pytest.mark.parametrize(
    ("numbers", "expected"),
    [
        ({"n_minibatches": 4, "training_batch_size_per_gpu": 4}, []),
        ({"n_minibatches": 4, "training_batch_size_per_gpu": 3}, ["training_batch_size_per_gpu: 2` or `4`"]),
        ({"n_minibatches": 8, "training_batch_size_per_gpu": 1}, []),
        ({"n_minibatches": 64, "training_batch_size_per_gpu": 1}, ["choose `algorithm.n_minibatches`"]),
    ],
)
def test_an_update_of_megatron_is_whole_micro_batches_of_all_replicas(release: str, numbers: dict[str, int], expected: list[str]) -> None:
    root: dict[str, Any] = {
        "cluster": {"num_nodes": 1, "component_placement": {"actor,rollout,reward": "all"}},
        "runner": {"task_type": "reasoning"}, "data": {"rollout_batch_size": 32},
        "algorithm": {"recompute_logprobs": True, "group_size": 8, **numbers}, "rollout": {},
        "actor": {"training_backend": "megatron", "model": {"tensor_model_parallel_size": 1}},
    }  # fmt: skip
    source, composer = Source("run.yaml", yaml.safe_dump(root)), Composer(frameworks=(f"rlinf=={release}",))
    findings = load(source, read_shorthand("x8"), level="training", composer=composer).findings
    errors = [finding for finding in findings if finding.severity is Severity.ERROR]
    assert [finding.code for finding in errors] == ["PW403"] * len(expected)
    assert [word for finding, word in zip(errors, expected) if word not in finding.help] == []


@pytest.mark.parametrize(("release", "is_refused"), [("0.1", True), ("0.2", False), ("0.3", False), ("a3816b59", False)])
def test_the_precision_of_amp_is_refused_by_the_first_release(release: str, is_refused: bool) -> None:
    root: dict[str, Any] = {
        "cluster": {"num_nodes": 1, "component_placement": {"actor,rollout,reward": "all"}},
        "runner": {"task_type": "reasoning"}, "data": {"rollout_batch_size": 32},
        "algorithm": {"recompute_logprobs": True, "group_size": 8}, "rollout": {},
        "actor": {"training_backend": "fsdp", "model": {}, "fsdp_config": {"amp": {"precision": "fp64"}}},
    }  # fmt: skip
    source, composer = Source("run.yaml", yaml.safe_dump(root)), Composer(frameworks=(f"rlinf=={release}",))
    findings = load(source, read_shorthand("x8"), level="training", composer=composer).findings
    messages = [finding.message for finding in findings if finding.severity is Severity.ERROR]
    assert messages == ["`actor.fsdp_config.amp.precision` is `fp64`, which is unknown"] * is_refused
