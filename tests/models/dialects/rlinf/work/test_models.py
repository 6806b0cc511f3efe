"""Which model each component of RLinf runs, and what of it its ranks divide."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from placewright.models.component import Parallel
from placewright.models.dialects.load import read
from placewright.models.findings.span import apply_edits
from placewright.models.machines.shorthand import read_shorthand
from placewright.models.model_cards import ModelUse
from placewright.models.reading import Reading
from placewright.models.text.source import Source
from placewright.planner.verify import verify

GRPO: dict[str, Any] = {
    "cluster.num_nodes": 1,
    "cluster.component_placement": {"actor,rollout,reward": "all"},
    "runner.task_type": "reasoning",
    "algorithm.recompute_logprobs": True,
    "rollout.model.model_path": "models/ours",
    "rollout.tensor_parallel_size": 1,
    "actor.training_backend": "megatron",
    "actor.model.tensor_model_parallel_size": 1,
}
TENSOR, STAGES, EXPERTS = (f"actor.model.{name}_parallel_size" for name in ("tensor_model", "pipeline_model", "expert_model"))
ENGINE = "rollout.tensor_parallel_size"


def text_of(settings: dict[str, Any]) -> str:
    root: dict[str, Any] = {}
    for path, value in {**GRPO, **settings}.items():
        place, (*above, last) = root, path.split(".")
        for key in above:
            place = place.setdefault(key, {})
        place[last] = value
    return yaml.safe_dump(root, sort_keys=False)


def reading(text: str) -> Reading:
    return read(Source("run.yaml", text), read_shorthand("1x8"))


def models(settings: dict[str, Any]) -> dict[str, ModelUse]:
    problem = reading(text_of(settings)).problem
    assert problem is not None
    return dict(problem.job.models)


def faults(text: str) -> list[tuple[str, str]]:
    return [(finding.subject, finding.label) for finding in verify(reading(text)).errors]


MODEL = {"heads": 28, "kv_heads": 4, "layers": 30, "vocabulary": 152_002, "experts": 12}


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, []),
        ({TENSOR: 2, STAGES: 2, EXPERTS: 2, ENGINE: 2}, []),
        ({TENSOR: 8}, [("actor", "tp 8")]),
        ({TENSOR: 4}, [("actor", "tp 4")]),  # the vocabulary: RLinf adds no padding
        ({TENSOR: 4, ENGINE: 4}, [("actor", "tp 4")]),  # the engine pads it itself
        ({TENSOR: 8, ENGINE: 8}, [("rollout", "tp 8"), ("actor", "tp 8")]),
        ({STAGES: 4}, [("actor", "pp 4")]),
        ({EXPERTS: 8}, [("actor", "ep 8")]),
        ({"actor.training_backend": "fsdp", TENSOR: 8}, []),
    ],
)
def test_what_megatron_and_the_engine_divide(settings: dict[str, Any], expected: list[tuple[str, str]]) -> None:
    assert faults(text_of({**settings, "placewright.model": MODEL})) == expected


@pytest.mark.parametrize("settings", [{TENSOR: 8}, {TENSOR: 8, ENGINE: 8}, {TENSOR: 8, STAGES: 1, ENGINE: 4}, {EXPERTS: 8}])
def test_the_edits_mend_it(settings: dict[str, Any]) -> None:
    text = text_of({**settings, "placewright.model": {**MODEL, "vocabulary": 152_064}})
    found = verify(reading(text)).errors
    assert {finding.code for finding in found} == {"PW404"}
    rounds = 0
    while edits := [finding.edit for finding in verify(reading(text)).errors if finding.edit]:
        text, rounds = apply_edits(text, edits), rounds + 1
    assert faults(text) == [] and rounds == (2 if settings == {TENSOR: 8, ENGINE: 8} else 1)  # first the engine, then its actor


def test_every_component_has_the_model_of_rollout() -> None:
    apart = {"cluster.component_placement": {"actor,reward": "0-3", "inference": "4-5", "rollout": "6-7"}}
    found = models({**apart, "inference.model.tensor_model_parallel_size": 2})
    assert {name: use.path for name, use in found.items()} == dict.fromkeys(("actor", "inference", "rollout"), "models/ours")
    tensor = [split for split in found["inference"].splits if split.degree == "tp"]
    assert {split.of(Parallel(2)) for split in tensor} == {2}  # of its own section


def test_fine_tuning_names_the_model_of_the_actor() -> None:
    sft = {"runner.task_type": "sft", "cluster.component_placement": {"actor": "all"}, "actor.model.model_path": "Qwen/Qwen2.5-7B"}
    assert {name: (use.path, use.key) for name, use in models(sft).items()} == {"actor": ("Qwen/Qwen2.5-7B", "actor.model.model_path")}
    assert faults(text_of({**sft, TENSOR: 8})) == [("actor", "tp 8")]


@pytest.mark.parametrize(("task", "names"), [("reasoning_eval", {"rollout"}), ("embodied", set()), ("embodied_eval", set()), ("", set())])
def test_tasks_that_train_nothing_with_megatron(task: str, names: set[str]) -> None:
    assert models({"runner.task_type": task, "actor.training_backend": "fsdp"}).keys() == names


def test_a_model_that_is_only_taken_for_one_warns() -> None:
    text = text_of({TENSOR: 8, "rollout.model.model_path": "/models/Qwen2.5-7B"})
    report = verify(reading(text))
    assert not report.errors and [finding.code for finding in report.findings] == ["PW404"]
    assert any("taken for `Qwen/Qwen2.5-7B`" in note for note in report.findings[0].notes)
