"""Inference has at least as many accelerators as its tp where RLinf starts it: where the actor does its work, on whatever that has."""

from __future__ import annotations

import pytest
from placewright.api import solve
from placewright.models.answer import Answer
from placewright.models.dialects import load
from placewright.models.machines.shorthand import read_shorthand
from placewright.models.planning.planned import PlanningResult
from placewright.models.planning.workload import SECOND
from placewright.models.reading import Reading
from placewright.models.text.source import Source
from placewright.planner.baseline import baseline_of_file
from placewright.planner.verify import verify

FILE = """
cluster: {{num_nodes: 1, component_placement: {{actor: "0", rollout: "0", reward: "0"}}}}
runner: {{task_type: reasoning}}
algorithm: {{group_size: 2, n_minibatches: 1, recompute_logprobs: true}}
data: {{rollout_batch_size: 2}}
rollout: {{group_name: rollouts, tensor_parallel_size: 1, max_running_requests: 8, return_logprobs: false}}
actor: {{training_backend: {backend}, model: {{tensor_model_parallel_size: {actor}}}}}
inference: {{group_name: inferring, load_from_actor: true, model: {{{inference}}}}}
placewright:
  components:
    actor: {{scaling: {scaling}, seconds: {{1: 10}}, {memory}}}
    rollout: {{scaling: {scaling}, seconds: {{1: 10}}, {memory}}}
    inference: {{seconds: {{2: 10}}, {memory}}}
"""
TP_2 = "tensor_model_parallel_size: 2, pipeline_model_parallel_size: 1, sequence_parallel: false"


def read(machines: str, backend: str, scaling: str = "linear", memory: str = "", inference: str = TP_2, actor: int = 1) -> Reading:
    text = FILE.format(backend=backend, scaling=scaling, memory=memory, inference=inference, actor=actor)
    return load.read(Source("run.yaml", text), read_shorthand(machines), "rlinf", "training")


def planned(reading: Reading) -> tuple[Answer, PlanningResult]:
    answer = solve(reading, sandbox=False)
    assert answer.plan is not None and answer.planned is not None, answer.findings
    return answer, answer.planned


BACKENDS = pytest.mark.parametrize("backend", ["megatron", "fsdp"])


@BACKENDS
@pytest.mark.parametrize(("machines", "scaling"), [("1x1", "linear"), ("1x1", "table"), ("1x2", "table")])
def test_the_own_ranks_are_the_plan_though_inference_would_need_two(backend: str, machines: str, scaling: str) -> None:
    """It was told that inference can be run in no way, though `verify` says ok of the file."""
    reading = read(machines, backend, scaling)
    assert not verify(reading).errors
    answer, found = planned(reading)
    assert found.proved and found.best.nanoseconds == 40 * SECOND
    assert answer.plan is not None and answer.plan.assignment.amount("actor") == 1


@BACKENDS
def test_own_ranks_of_one_accelerator_may_be_proposed_beside_a_better_plan(backend: str) -> None:
    """Of them it was said that inference is to have at least two."""
    _, found = planned(read("1x2", backend))
    assert found.best.nanoseconds == 20 * SECOND
    reading = read("1x2", backend).to_solve
    assert reading.problem is not None
    mine = baseline_of_file(reading.problem, found)
    assert mine is not None and mine.priced is not None and mine.priced.nanoseconds == 40 * SECOND and not mine.forbidden


def test_apart_it_has_as_many_as_its_tp() -> None:
    """No two of them have room on one accelerator of 80 GiB; of what FSDP trains nothing else says how many."""
    reading = read("1x4xH100", "fsdp", memory="memory: 50GiB")
    assert reading.to_solve.problem is not None
    together, apart = reading.to_solve.problem.job.planning.ways
    assert apart.least == {"inference": 2} and not together.least
    answer, _ = planned(reading)
    assert answer.plan is not None
    assert {name: answer.plan.assignment.amount(name) for name in ("actor", "rollout", "inference")} == {
        "actor": 1, "rollout": 1, "inference": 2,
    }  # fmt: skip
    assert solve(read("1x3xH100", "fsdp", memory="memory: 50GiB"), sandbox=False).planned is None


def test_degrees_of_its_own_say_how_many_apart() -> None:
    """Megatron divides the model by them, so that every count that is possible is enough."""
    reading = read("1x8xH100", "megatron", memory="memory: 50GiB", actor=2, inference=TP_2.replace("size: 1", "size: 2")).to_solve
    assert reading.problem is not None
    _, apart = reading.problem.job.planning.ways
    assert apart.least == {"actor": 4} and apart.shapes["inference"].parallel.replica == 4


def test_where_actor_and_rollout_cannot_share_it_has_as_many_whatever_is_chosen() -> None:
    reading = read("1x8xH100", "fsdp").to_solve
    assert reading.problem is not None and reading.problem["inference"].least == 1
    never = FILE.replace(
        "rollout: {{group_name: rollouts, tensor_parallel_size: 1", "rollout: {{group_name: rollouts, tensor_parallel_size: 3"
    )
    text = never.format(backend="fsdp", scaling="linear", memory="", inference=TP_2, actor=2).replace(
        'actor: "0", rollout: "0", reward: "0"', "actor: 0-1, rollout: 2-4, reward: 2-4, inference: 5-6"
    )
    alone = load.read(Source("run.yaml", text), read_shorthand("1x8xH100"), "rlinf", "training").to_solve
    assert alone.problem is not None
    (apart,) = alone.problem.job.planning.ways
    assert alone.problem["inference"].least == 2 and not apart.least
