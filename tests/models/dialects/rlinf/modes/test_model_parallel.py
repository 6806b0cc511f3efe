"""Reasoning jobs: what RLinf's model parallel placement makes of the components."""

from __future__ import annotations

import pytest
from placewright.models.component import Parallel
from placewright.models.findings.finding import Severity
from placewright.models.placements.assignment import seats
from placewright.models.reading import Reading

from .conftest import Job, codes, found

TOGETHER = {"actor,rollout,reward": "all"}
APART = {"actor": "0-3", "rollout,reward": "4-7"}
QUIET = {"algorithm__recompute_logprobs": False, "rollout__return_logprobs": True}


def held(reading: Reading, name: str) -> list[list[int]]:
    assert reading.problem is not None
    return [[index for (_, index), _, _ in its] for _, its in seats(reading.problem[name].runs or ())]


def test_where_actor_and_rollout_share_accelerators_the_engines_interleave(job: Job) -> None:
    reading = job(TOGETHER, actor__model__tensor_model_parallel_size=4, rollout__tensor_parallel_size=2)
    assert held(reading, "rollout") == [[0, 2], [1, 3], [4, 6], [5, 7]]
    assert held(reading, "actor") == held(reading, "reward") == [[rank] for rank in range(8)]
    assert codes(reading) == set()


def test_apart_an_engine_holds_tensor_and_pipeline_parallel_ranks(job: Job) -> None:
    reading = job(APART, rollout__tensor_parallel_size=2, rollout__pipeline_parallel_size=2, **QUIET)
    assert held(reading, "rollout") == [[4, 5, 6, 7]]


def test_together_pipeline_parallel_engines_are_packed_by_tensor_parallel_size_alone(job: Job) -> None:
    reading = job(TOGETHER, rollout__tensor_parallel_size=2, rollout__pipeline_parallel_size=2)
    assert held(reading, "rollout") == [[0, 1], [2, 3], [4, 5], [6, 7]]
    assert [finding.code for finding in found(reading)] == ["PW124"]


@pytest.mark.parametrize(
    ("count", "actor", "expected"),
    [(6, 1, {"PW124"}), (6, 2, {"PW124"}), (8, 4, {"PW124"}), (6, 4, {"PW124", "PW208"}), (5, 1, {"PW124", "PW208"})],
)
def test_together_the_count_is_a_multiple_of_the_larger_tensor_parallel_size_whatever_the_pipeline(
    count: int, actor: int, expected: set[str], job: Job
) -> None:
    sizes = {"rollout__tensor_parallel_size": 2, "rollout__pipeline_parallel_size": 2, "actor__model__tensor_model_parallel_size": actor}
    reading = job(TOGETHER, f"x{count}", **sizes)
    assert {finding.code for finding in found(reading)} == expected


def test_accelerators_that_engines_do_not_divide_are_given_to_the_engines_that_fit_where_that_goes(job: Job) -> None:
    reading = job({"actor": "0-1", "rollout,reward": "2-11"}, "x12", rollout__tensor_parallel_size=4, **QUIET)
    assert held(reading, "rollout") == [[2, 3, 4, 5, 6], [7, 8, 9, 10, 11]]
    assert "but one engine of tp 4 x pp 1 uses 4" in found(reading)[0].message
    assert codes(job({"actor": "0-1", "rollout,reward": "2-6"}, rollout__tensor_parallel_size=2, **QUIET)) == {"PW208"}


def test_an_engine_over_two_nodes_is_refused_which_rlinf_notices_at_launch(job: Job) -> None:
    reading = job(TOGETHER, "x6", nodes=2, rollout__tensor_parallel_size=4)
    assert codes(reading) == {"PW203"}


@pytest.mark.parametrize(("backend", "expected"), [("megatron", {"PW208"}), ("fsdp", {"PW123"})])
def test_whole_replicas_matter_to_megatron_alone(job: Job, backend: str, expected: set[str]) -> None:
    parts = {"actor": "0-5", "rollout,reward": "6-7"}
    reading = job(parts, actor__training_backend=backend, actor__model__tensor_model_parallel_size=4, **QUIET)
    assert codes(reading) == expected
    if not backend:
        assert [finding.code for finding in found(reading)] == ["PW208"]


def test_the_degrees_of_a_megatron_actor_are_those_of_the_component(job: Job) -> None:
    sizes = {"tensor_model_parallel_size": 2, "pipeline_model_parallel_size": 2, "context_parallel_size": 2}
    reading = job(TOGETHER, actor__training_backend="megatron", actor__model=sizes)
    assert reading.problem is not None and reading.problem["actor"].parallel == Parallel(2, 2, 2)


@pytest.mark.parametrize("value", ["2", [2], None, 1.5, 2.0, 0, -1])
def test_degrees_that_are_no_whole_numbers_are_findings(job: Job, value: object) -> None:
    assert codes(job(TOGETHER, rollout__tensor_parallel_size=value)) == {"PW105"}


def test_a_stride_is_a_whole_number_too(job: Job) -> None:
    assert codes(job(TOGETHER, actor__model__tensor_model_parallel_size=2.0)) == {"PW105"}
    assert codes(job(TOGETHER, actor__model__tensor_model_parallel_size=2.0, rollout__tensor_parallel_size=2)) == set()


def test_fsdp_knows_neither_pp_nor_cp(job: Job) -> None:
    sizes = {"pipeline_model_parallel_size": None, "context_parallel_size": -1}
    assert codes(job(TOGETHER, actor__training_backend="fsdp", actor__model=sizes)) == set()
    assert codes(job(TOGETHER, actor__training_backend="megatron", actor__model=sizes)) == {"PW105"}


def test_degrees_that_are_not_known_leave_the_rest_judged(job: Job) -> None:
    reading = job(TOGETHER, rollout__tensor_parallel_size="${oc.env:SIZE}")
    assert codes(reading) == set()
    assert "rollout.tensor_parallel_size" in {each.subject for each in reading.unchecked}


def test_inference_takes_the_degrees_of_its_section_or_of_the_actor(job: Job) -> None:
    parts = {"actor": "0-3", "rollout,reward": "4-6", "inference": "7"}
    again = {"algorithm__recompute_logprobs": True}
    assert codes(job(parts, actor__model__tensor_model_parallel_size=2, **again)) == {"PW208"}
    own = {"inference__model__tensor_model_parallel_size": 1}
    assert codes(job(parts, actor__model__tensor_model_parallel_size=2, **own, **again)) == set()


def test_inference_of_a_critic_has_the_degrees_of_the_critic_unless_it_says_others(job: Job) -> None:
    parts = {"actor": "0-1", "rollout,reward": "2-3", "inference": "4", "critic_inference": "5", "critic": "6-7"}
    settings = {"algorithm__recompute_logprobs": True, "critic__model__tensor_model_parallel_size": 2}
    assert codes(job(parts, critic_inference__model={}, **settings)) == {"PW208"}
    assert codes(job(parts, critic_inference__model={"tensor_model_parallel_size": 1}, **settings)) == set()
    assert codes(job(parts, algorithm__recompute_logprobs=True)) == {"PW101"}


def test_in_auto_mode_rollout_may_start_on_the_accelerators_of_the_actor_too(job: Job) -> None:
    auto = {"cluster__auto_scheduler": True, "cluster__use_pre_process_policy": True, "algorithm__recompute_logprobs": True}
    parts = {"actor": "0", "rollout": "1-2", "inference": "3-7", "reward": "0"}
    assert codes(job(parts, rollout__pipeline_parallel_size=3, **auto)) == set()
    wide = {"actor": "0-3", "rollout": "4-11", "inference": "12-15", "reward": "0"}
    assert codes(job(wide, nodes=2, rollout__pipeline_parallel_size=12, **auto)) == {"PW203"}


def test_a_critic_keeps_apart_where_actor_and_rollout_do(job: Job) -> None:
    assert codes(job({**TOGETHER, "critic": "all"})) == set()
    assert "PW207" in codes(job({**APART, "critic": "0-1"}, **QUIET))


def test_without_machines_what_must_be_there_is_still_said(job: Job) -> None:
    reading = job({"actor,rollout": "all"}, None)
    assert codes(reading) == {"PW123"}


@pytest.mark.parametrize("backend", ["megatron", "fsdp"])
def test_components_on_nodes_are_judged_on_the_accelerators_with_their_ranks(job: Job, backend: str) -> None:
    parts = {"actor,rollout": {"node_group": "node", "placement": "0"}, "reward": "0-7"}
    settings = {"actor__training_backend": backend, "rollout__tensor_parallel_size": 1, **QUIET}
    assert codes(job(parts, actor__model__tensor_model_parallel_size=2, **settings)) == {"PW208"}
    reading = job(parts, actor__model__tensor_model_parallel_size=1, **settings)
    assert codes(reading) == set() and [finding.code for finding in found(reading, Severity.WARNING)] == ["PW124"]
    assert reading.problem is not None and reading.problem["actor"].node_groups == ("cluster",)


def test_a_critic_that_the_settings_turn_off_is_not_started(job: Job) -> None:
    reading = job({**TOGETHER, "critic": "all"}, critic__use_critic_model=False)
    assert [(finding.code, finding.subject) for finding in found(reading, Severity.WARNING)] == [("PW803", "critic")]
    assert reading.problem is not None and "critic" not in {component.name for component in reading.problem.components}
    apart = job({**APART, "critic": "0-1"}, critic__use_critic_model=False, **QUIET)
    assert "PW207" in codes(apart)
