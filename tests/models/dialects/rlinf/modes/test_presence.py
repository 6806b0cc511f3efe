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
