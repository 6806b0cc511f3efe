"""What a mode needs and what it forbids."""

from __future__ import annotations

from typing import Callable

import pytest
from placewright.models.reading import Reading

from .conftest import Job, codes, found

TOGETHER = {"actor,rollout,reward": "all"}
APART = {"actor": "0-3", "rollout,reward": "4-5"}


@pytest.mark.parametrize("missing", ["actor", "rollout", "reward"])
def test_actor_rollout_and_reward_are_placed(job: Job, missing: str) -> None:
    reading = job({name: "all" for name in ("actor", "rollout", "reward") if name != missing})
    assert [(finding.code, finding.subject) for finding in found(reading)] == [("PW123", missing)]


def test_a_missing_rollout_beside_inference_is_not_told_to_share(job: Job) -> None:
    reading = job({"actor,reward": "0-3", "inference": "4-5"}, algorithm__recompute_logprobs=True)
    (help_,) = [finding.help for finding in found(reading) if finding.subject == "rollout"]
    assert help_ == "add a line for `rollout`, with ranks of its own"


@pytest.mark.parametrize("settings", [{"actor__model": None}, {"rollout": [1]}, {"rollout": "x"}])
def test_sections_are_maps(job: Job, settings: dict[str, object]) -> None:
    assert codes(job(TOGETHER, algorithm__recompute_logprobs=True, **settings)) == {"PW105"}


def test_sections_and_the_source_of_probabilities_are_there(read: Callable[..., Reading]) -> None:
    text = "cluster: {num_nodes: 1, component_placement: {'actor,rollout,reward': all}}\nrunner: {task_type: reasoning}\n"
    missing = [finding.message for finding in found(read(text, "x8"))]
    assert ["`actor.model` and `rollout`" in missing[0], "`algorithm.recompute_logprobs`" in missing[1]] == [True, True]
    assert codes(read(f"defaults: [base]\n{text}", "x8")) == set()


def test_a_component_that_cannot_be_read_is_not_missing(job: Job) -> None:
    assert codes(job({"actor,rollout": "all", "reward": "none"})) == {"PW103"}


def test_inference_belongs_to_jobs_whose_parts_are_apart(job: Job) -> None:
    assert codes(job({"actor,rollout,reward,inference": "all"})) == {"PW123"}
    assert codes(job({**APART, "inference": "6-7"}, algorithm__recompute_logprobs=True)) == set()
    assert codes(job({**APART, "inference": "6-7"}, algorithm__recompute_logprobs=False, rollout__return_logprobs=True)) == {"PW123"}


def test_importance_sampling_recomputes_probabilities_too(job: Job) -> None:
    settings = {"algorithm__recompute_logprobs": False, "rollout__return_logprobs": True, "algorithm__importance_sampling_fix": True}
    assert codes(job({**APART, "inference": "6-7"}, **settings)) == set()
    assert codes(job(APART, **settings)) == {"PW123"}


def test_a_fsdp_actor_that_is_apart_needs_inference_in_any_case(job: Job) -> None:
    settings = {"algorithm__recompute_logprobs": False, "rollout__return_logprobs": True}
    assert codes(job(APART, actor__training_backend="fsdp", **settings)) == {"PW123"}
    assert codes(job(APART, actor__training_backend="megatron", **settings)) == set()


def test_online_coding_is_apart_and_trains_with_megatron(job: Job) -> None:
    settings = {"runner__task_type": "coding_online_rl", "algorithm__recompute_logprobs": True}
    assert codes(job({**APART, "inference": "6-7"}, actor__training_backend="megatron", **settings)) == set()
    assert codes(job({**APART, "inference": "6-7"}, actor__training_backend="fsdp", **settings)) == {"PW123"}
    assert codes(job(TOGETHER, actor__training_backend="megatron", **settings)) == {"PW123"}


def test_an_evaluation_needs_rollout_and_reward_alone(job: Job) -> None:
    assert codes(job({"rollout,reward": "all"}, runner__task_type="reasoning_eval")) == set()
    assert codes(job({"rollout": "all"}, runner__task_type="reasoning_eval")) == {"PW123"}


def test_a_critic_model_that_is_not_placed_is_warned_of(job: Job) -> None:
    (finding,) = found(job(TOGETHER, critic__use_critic_model=True))
    assert (finding.code, finding.severity.value, finding.subject) == ("PW123", "warning", "critic")


def test_nothing_of_it_concerns_embodied_jobs(job: Job) -> None:
    assert codes(job({"actor": "0,2", "rollout": "1-5", "env": "all"}, runner__task_type="embodied")) == set()


SECTION = {
    "inference__group_name": "I", "inference__load_from_actor": True, "inference__model__tensor_model_parallel_size": 1,
    "inference__model__pipeline_model_parallel_size": 1, "inference__model__sequence_parallel": False,
}  # fmt: skip
WHOLE = {"algorithm__recompute_logprobs": True, "actor__training_backend": "megatron", "rollout__group_name": "R"}


def test_inference_that_is_started_by_itself_has_a_section_of_settings(job: Job) -> None:
    placed = {**APART, "inference": "6-7"}
    assert codes(job(placed, **WHOLE, **SECTION)) == set()
    (missing,) = found(job(placed, **WHOLE))
    assert (missing.code, missing.subject) == ("PW101", "inference") and "the file has no `inference`," in missing.message
    without = {path: value for path, value in SECTION.items() if path != "inference__load_from_actor"}
    (missing,) = found(job(placed, **WHOLE, **without))
    assert "the file has no `inference.load_from_actor`," in missing.message
    fsdp = {**WHOLE, "actor__training_backend": "fsdp"}
    assert codes(job(placed, **fsdp, inference={"group_name": "I", "model": {}})) == set()
    critics = {"actor": 0, "rollout,reward": 1, "inference": 2, "critic_inference": 3, "critic": 4}
    (missing,) = found(
        job(critics, **WHOLE, **SECTION, critic__model={}, critic__use_critic_model=True, critic__training_backend="megatron")
    )
    assert "`critic_inference`" in missing.message and missing.code == "PW101"


def test_a_file_that_starts_nothing_needs_no_section(job: Job) -> None:
    snippet = {path: value for path, value in WHOLE.items() if path != "rollout__group_name"}
    assert codes(job({**APART, "inference": "6-7"}, **snippet)) == set()


@pytest.mark.parametrize("path", ["runner__enable_dynamic_batch_size", "actor__enable_dp_load_balance"])
def test_what_trains_apart_takes_batches_as_they_come(job: Job, path: str) -> None:
    settings = {"algorithm__recompute_logprobs": False, "rollout__return_logprobs": True, "actor__training_backend": "megatron", path: True}
    (finding,) = found(job(APART, **settings))
    assert finding.code == "PW123" and f"`{path.replace('__', '.')}` is true" in finding.message and finding.edit is not None
    assert codes(job(TOGETHER, **settings)) == set()
    assert codes(job(APART, **{**settings, path: False})) == set()


def test_the_critic_has_a_balance_of_its_own(job: Job) -> None:
    settings = {"algorithm__recompute_logprobs": False, "rollout__return_logprobs": True, "actor__training_backend": "megatron"}
    critic = {"critic__use_critic_model": True, "critic__training_backend": "megatron", "critic__enable_dp_load_balance": True}
    reading = job({**APART, "critic": 6, "critic_inference": 7}, **settings, **critic, critic__model={})
    assert any("`critic.enable_dp_load_balance` is true" in finding.message for finding in found(reading))


@pytest.mark.parametrize(
    ("actor", "rollout", "tp", "right"),
    [
        ("0-1", "2-5", 1, True), ("0-1", "2-4", 1, False), ("0-3", "4-6", 1, True), ("0-3", "4-6", 2, False), ("0-3", "4-5", 2, True),
        ("0-1", "2-7", 2, True), ("0-2", "3-7", 1, False),
    ],
)  # fmt: skip
def test_every_engine_of_rollout_gets_its_weights(job: Job, actor: str, rollout: str, tp: int, right: bool) -> None:
    settings = {
        "algorithm__recompute_logprobs": False, "rollout__return_logprobs": True, "rollout__group_name": "R", "rollout__rollout_backend": "sglang",
        "actor__training_backend": "megatron", "actor__model__tensor_model_parallel_size": tp,
    }  # fmt: skip
    reading = job({"actor": actor, "rollout,reward": rollout}, **settings)
    assert ("PW208" in codes(reading)) != right
    assert "PW208" not in codes(job({"actor": actor, "rollout,reward": rollout}, **{**settings, "rollout__rollout_backend": "other"}))
    if tp == 1:
        stages = {**settings, "rollout__pipeline_parallel_size": 2}
        assert not any("the weights of" in finding.message for finding in found(job({"actor": actor, "rollout,reward": rollout}, **stages)))


def test_the_tp_of_an_engine_divides_that_of_the_actor_it_gets_its_weights_from(job: Job) -> None:
    settings = {
        "algorithm__recompute_logprobs": True, "rollout__group_name": "R", "rollout__rollout_backend": "vllm", "rollout__tensor_parallel_size": 2,
        "actor__training_backend": "fsdp", "inference": {"group_name": "I", "model": {}},
    }  # fmt: skip
    placed = {**APART, "inference": "6-7"}
    (finding,) = (each for each in found(job(placed, **settings)) if each.code == "PW208")
    assert "the tp of actor, 1, is not a multiple of the tp of rollout, 2" in finding.message
    assert codes(job(placed, **{**settings, "rollout__tensor_parallel_size": 1})) == set()
    megatron = {**settings, **SECTION, "actor__training_backend": "megatron", "actor__model__tensor_model_parallel_size": 1}
    del megatron["inference"]
    assert codes(job(placed, **megatron)) == {"PW123"}


@pytest.mark.parametrize(
    ("task", "settings", "expected"),
    [
        ("reasoning", {"rollout__rollout_backend": "vllm", "actor__training_backend": "fsdp"}, set()),
        ("reasoning", {"rollout__rollout_backend": "hf"}, {"PW123"}),
        ("reasoning_eval", {"rollout__rollout_backend": "vlm", "actor__training_backend": "none"}, {"PW123"}),
        ("reasoning", {"actor__training_backend": "deepspeed"}, {"PW123"}),
        ("sft", {"actor__training_backend": "fdsp", "rollout__rollout_backend": "hf"}, {"PW123"}),
        ("embodied_eval", {"actor__training_backend": "none", "rollout__rollout_backend": "huggingface"}, set()),
    ],
)
def test_backends_are_those_of_rlinf(job: Job, task: str, settings: dict[str, str], expected: set[str]) -> None:
    placed = {"actor,rollout,reward": "all", **({"env": "all"} if task.startswith("embodied") else {})}
    assert codes(job(placed, runner__task_type=task, **settings)) == expected
