"""Rollout in pipeline stages: they do nothing where it shares the accelerators of the actor, so that its engines are of tp alone there."""

from __future__ import annotations

import pytest
from placewright.api import solve
from placewright.models.component import Parallel
from placewright.models.dialects import load
from placewright.models.findings.finding import Severity
from placewright.models.machines.shorthand import read_shorthand
from placewright.models.planning.planned import PlanningResult
from placewright.models.text.source import Source
from placewright.planner.accounting import account_of
from placewright.planner.verify import verify

from .opened import Read, problem

FILE = """
cluster: {num_nodes: NODES, component_placement: {"actor,rollout,reward": RANKS}}
runner: {task_type: reasoning}
algorithm: {group_size: 16, n_minibatches: 1, recompute_logprobs: true}
data: {rollout_batch_size: 48}
rollout: {tensor_parallel_size: 2, pipeline_parallel_size: 2, max_running_requests: 4, return_logprobs: false}
actor: {training_backend: BACKEND, model: {tensor_model_parallel_size: TP}}
inference: {group_name: InferenceGroup, load_from_actor: true, model: {tensor_model_parallel_size: TP}}
profile_data: {rollout_cost: 258, actor_cost: 159, inference_cost: 10}
"""
STAGED, BY_TP = Parallel(2, 2), Parallel(2)


def file(nodes: int = 1, ranks: str = "all", backend: str = "fsdp", tp: int = 1) -> str:
    return FILE.replace("NODES", str(nodes)).replace("RANKS", ranks).replace("BACKEND", backend).replace("TP", str(tp))


def planned(text: str, machines: str) -> PlanningResult:
    reading = load.read(Source("run.yaml", text), read_shorthand(machines), "rlinf", "training")
    assert not verify(reading).errors
    answer = solve(reading, sandbox=False)
    assert answer.planned is not None, answer.findings
    return answer.planned


def test_each_arrangement_has_its_engines(read: Read) -> None:
    anew = problem(read(file(), "1x6xH100").to_solve)
    together, apart = anew.job.planning.ways
    assert (together.shapes["rollout"].parallel, apart.shapes["rollout"].parallel) == (BY_TP, STAGED)
    assert (together.shapes["rollout"].per_process, apart.shapes["rollout"].per_process) == (2, 4)
    timed = anew["rollout"].timed
    assert timed is not None
    counts = {degrees: {each.accelerators for each in timed.measured if each.parallel == degrees} for degrees in (BY_TP, STAGED)}
    assert counts == {BY_TP: {2, 4, 6}, STAGED: {4, 6}}


def test_without_stages_both_have_the_same(read: Read) -> None:
    anew = problem(read(file().replace("pipeline_parallel_size: 2", "pipeline_parallel_size: 1"), "1x6xH100").to_solve)
    assert all("rollout" not in way.shapes for way in anew.job.planning.ways if way.name == "disaggregated")


def test_six_accelerators_hold_three_engines_of_tp_2_beside_the_actor() -> None:
    """They are not whole engines of tp 2 and pp 2; what was measured on them is the best all the same."""
    found = planned(file(), "1x6xH100")
    assert found.proved and found.is_own and found.best.nanoseconds // 10**6 == 427_000
    assert found.best.design.options["rollout"].parallel == BY_TP


@pytest.mark.parametrize(("nodes", "machines"), [(1, "1x3xH100"), (2, "2x3xH100")])
def test_no_node_need_hold_an_engine_in_stages_that_only_a_plan_apart_has(nodes: int, machines: str) -> None:
    found = planned(file(nodes, "0-1", "megatron", 2), machines)
    assert found.proved and found.best.design.options["rollout"].parallel == BY_TP


BESIDE = """
cluster: {num_nodes: 1, component_placement: {actor: "0", rollout: "1-3", reward: "0"}}
runner: {task_type: reasoning}
algorithm: {group_size: 2, n_minibatches: 1, recompute_logprobs: false}
data: {rollout_batch_size: 12}
rollout: {tensor_parallel_size: 1, pipeline_parallel_size: 2, max_running_requests: 8, return_logprobs: true}
actor: {training_backend: megatron, model: {tensor_model_parallel_size: 1}}
placewright:
  components:
    actor: {scaling: table, seconds: {1: 100, 2: 90, 3: 80, 4: 70}}
    rollout: {scaling: table, seconds: {1: 100, 2: 60, 3: 17, 4: 10}}
"""


def test_own_ranks_that_are_no_whole_engines_are_told_to_be_just_that() -> None:
    """RLinf gives an engine of two the third accelerator too, and only warns; that it would be placed otherwise was told beside it."""
    reading = load.read(Source("run.yaml", BESIDE), read_shorthand("1x4"), "rlinf", "placement")
    assert [(each.code, each.severity) for each in verify(reading).findings] == [("PW208", Severity.WARNING)]
    answer, anew = solve(reading, sandbox=False), problem(reading.to_solve)
    assert answer.planned is not None
    found = account_of(anew, answer.planned).own
    assert found is not None and found.priced is not None and found.priced.design.options["rollout"].amount == 3
    assert found.forbidden == (
        "the 3 accelerators of `rollout` are not a multiple of pp 2: plans are of whole replicas, and 1 accelerator is left",
    )
