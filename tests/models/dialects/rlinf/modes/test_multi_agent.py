"""Multi-agent jobs: engines within the actor, judges apart."""

from __future__ import annotations

import pytest
from placewright.models.placements.assignment import seats

from .conftest import Job, codes

AGENTS = {"data__type": "wideseek_r1", "algorithm__recompute_logprobs": False, "rollout__return_logprobs": True}
JUDGED = {**AGENTS, "agentloop__use_local_judge": True}


def test_engines_share_out_the_accelerators_of_the_actor(job: Job) -> None:
    assert codes(job({"actor,reward": "all", "rollout": "0-3", "rollout_judge": "4-7"}, **JUDGED)) == set()


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ({"actor": "0-5", "reward": "all", "rollout": "0-3"}, "PW204"),
        ({"actor,reward": "0-3", "rollout": "2-5"}, "PW212"),
        ({"actor,reward": "all", "rollout": "0-3", "rollout_judge": "4-7", "rollout_other": "7"}, "PW207"),
        ({"actor,reward,inference": "all", "rollout": "0-3"}, "PW123"),
        ({"actor,reward": "all", "rollout": "0-1,3"}, "PW205"),
        ({"actor": "all", "reward": "0-1,3-7", "rollout": "0-3"}, "PW204"),
    ],
)
def test_what_is_not_so_is_refused(job: Job, parts: dict[str, str], expected: str) -> None:
    assert codes(job(parts, **AGENTS)) == {expected}


def test_a_judge_is_packed_as_rollout_is_and_whole_by_its_own_degrees(job: Job) -> None:
    parts = {"actor,reward": "all", "rollout": "0-3", "rollout_judge": "4-7"}
    reading = job(parts, rollout__tensor_parallel_size=2, rollout_judge__tensor_parallel_size=2, **JUDGED)
    assert reading.problem is not None
    assert [[seat for seat, _, _ in its] for _, its in seats(reading.problem["rollout_judge"].runs or ())] == [
        [(0, 4), (0, 5)],
        [(0, 6), (0, 7)],
    ]
    assert codes(job(parts, rollout_judge__dp_size=3, **JUDGED)) == {"PW208"}


def test_a_judge_that_is_switched_on_is_placed(job: Job) -> None:
    assert codes(job({"actor,reward": "all", "rollout": "0-3"}, **JUDGED)) == {"PW123"}


def test_engines_of_their_own_for_the_workers_take_half_of_rollout(job: Job) -> None:
    settings = {"runner__task_type": "reasoning_eval", "data__type": "wideseek_r1", "rollout__use_fixed_worker": True}
    assert codes(job({"rollout,reward": "all"}, rollout__tensor_parallel_size=4, **settings)) == set()
    assert codes(job({"rollout,reward": "0-3"}, rollout__tensor_parallel_size=4, **settings)) == {"PW208"}


def test_there_is_an_agent_for_every_replica_of_rollout(job: Job) -> None:
    parts = {"actor,reward": "all", "rollout": "0-3"}
    assert codes(job(parts, rollout__pipeline_parallel_size=2, **AGENTS)) == {"PW208"}
    assert codes(job({"rollout,reward": "all"}, runner__task_type="reasoning_eval", rollout__pipeline_parallel_size=2)) == {"PW208"}


@pytest.mark.parametrize(
    ("rollout", "tp", "engine", "fails"), [("0-3", 1, 2, True), ("all", 1, 2, False), ("0-3", 2, 2, False), ("all", 2, 4, True)]
)
def test_engines_larger_than_the_tp_of_the_actor_get_no_weights(job: Job, rollout: str, tp: int, engine: int, fails: bool) -> None:
    """On all its accelerators an actor of tp 1 sends ranks to ranks in order; on some of them RLinf divides by its tp whatever that is."""
    settings = {"actor__training_backend": "fsdp", "actor__model__tensor_model_parallel_size": tp, "rollout__tensor_parallel_size": engine}
    assert codes(job({"actor,reward": "all", "rollout": rollout}, **settings, **AGENTS)) == ({"PW123"} if fails else set())
