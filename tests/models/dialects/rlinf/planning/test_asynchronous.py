"""Which of RLinf's programs starts an embodied job, as its file tells it: whether it generates while it trains."""

from __future__ import annotations

from typing import Callable

import pytest
from placewright.models.planning.workload import STEADY, STREAM, Workload
from placewright.models.reading import Reading

Read = Callable[..., Reading]
FILE = """
cluster: {num_nodes: 1, component_placement: {"actor,env,rollout": all}}
runner: {task_type: embodied, only_eval: false}
algorithm: ALGORITHM
env: {train: {total_num_envs: 64}}
rollout: {pipeline_stage_num: STAGES}
actor: {training_backend: fsdp}
profile_data: {actor_cost: 100, env_profile_data: {8: 40, 16: 60}, rollout_profile_data: {8: 30, 16: 50}}
"""
DECOUPLED = "{loss_type: decoupled_actor_critic, staleness_threshold: 1}"


def workload(read: Read, algorithm: str, block: str = "", stages: int = 2) -> Workload:
    problem = read(FILE.replace("ALGORITHM", algorithm).replace("STAGES", str(stages)) + block).to_solve.problem
    assert problem is not None and problem.job.planning.workload is not None
    return problem.job.planning.workload


def of_the_way(its: Workload) -> tuple[str, ...]:
    """What is assumed of how the job runs, besides the counts of what trains."""
    return its.assumed


@pytest.mark.parametrize(
    ("algorithm", "told_by"),
    [
        (DECOUPLED, "`algorithm.loss_type: decoupled_actor_critic`"),
        ("{loss_type: decoupled_actor_critic}", "`algorithm.loss_type: decoupled_actor_critic`"),
        ("{loss_type: embodied_sac, staleness_threshold: 2}", "`algorithm.staleness_threshold`"),
    ],
)
def test_what_only_the_asynchronous_program_reads_is_steady(algorithm: str, told_by: str, read: Read) -> None:
    its = workload(read, algorithm)
    assert its.model == STEADY
    assert [told_by in each for each in of_the_way(its)] == [True]


@pytest.mark.parametrize("algorithm", ["{loss_type: actor_critic}", "{loss_type: decoupled_actor_critic, staleness_threshold: 0}", "{}"])
def test_what_waits_for_new_weights_is_synchronous(algorithm: str, read: Read) -> None:
    """With no weights that may be older, nothing is generated before the training has ended."""
    assert (workload(read, algorithm).model, of_the_way(workload(read, algorithm))) == (STREAM, ())


@pytest.mark.parametrize("loss", ["embodied_sac", "embodied_dagger", "rlt_ac"])
def test_of_a_loss_of_both_programs_it_is_said_that_the_synchronous_one_is_meant(loss: str, read: Read) -> None:
    its = workload(read, f"{{loss_type: {loss}}}")
    (said,) = of_the_way(its)
    assert its.model == STREAM and "where `train_async.py` starts it, write `cost_model: steady`" in said


@pytest.mark.parametrize("model", ["stream", "steady", "rlinf-embodied"])
def test_the_cost_model_of_the_block_is_the_last_word(model: str, read: Read) -> None:
    for algorithm in (DECOUPLED, "{loss_type: embodied_sac}"):
        its = workload(read, algorithm, f"placewright: {{plan: {{cost_model: {model}}}}}\n")
        assert (its.model, of_the_way(its)) == (model, ())


def test_simulator_and_policy_answer_each_other_in_one_stage_which_steady_does_not_count(read: Read) -> None:
    assert [each.startswith("env and rollout: ") for each in of_the_way(workload(read, DECOUPLED, stages=1))] == [False, True]
