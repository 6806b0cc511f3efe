"""Who infers: with seconds in the hints, beside others, with degrees of its own."""

from __future__ import annotations

import pytest
from placewright.models.findings.finding import Severity
from placewright.models.parallel import Parallel
from placewright.models.roles import role_of
from placewright.planner.capacity import free_capacity
from placewright.planner.profile import options
from placewright.planner.verify import verify

from .opened import FILE, TOGETHER, Read, problem, said, text

HINTED = FILE.replace("profile_data: {rollout_cost: 60, actor_cost: 40, inference_cost: 10}\n", "").replace("PLACED", TOGETHER) + (
    "placewright: {components: {rollout: {seconds: {16: 60}}, actor: {seconds: {16: 40}}, NAME: {seconds: {16: 10}}}}\n"
)


@pytest.mark.parametrize("name", ["inference", "actor_inference"])
def test_who_infers_has_times_in_the_hints_though_nothing_starts_it_where_the_job_is_collocated(read: Read, name: str) -> None:
    reading = read(HINTED.replace("NAME", name))
    assert not reading.findings and {each.name for each in problem(reading).components} == {"actor", "rollout", "reward"}
    anew = problem(reading.to_solve)
    assert {each.name for each in anew.components if each.timed} == {"actor", "rollout", name}
    assert anew.job.planning.own[name] == problem(reading)["actor"].runs


def test_seconds_of_inference_that_never_runs_count_nowhere(read: Read) -> None:
    without = HINTED.replace("NAME", "inference").replace("recompute_logprobs: true", "recompute_logprobs: false")
    reading = read(without.replace("rollout: {tensor", "rollout: {return_logprobs: true, tensor"))
    assert {each.name for each in problem(reading.to_solve).components} == {"actor", "rollout", "reward"}
    assert [each for each in said(reading.to_solve) if "not started" in each] == [
        "`inference` is not started: `algorithm.recompute_logprobs` is not true, so its seconds do not count"
    ]
    critics = read(HINTED.replace("NAME", "critic_inference")).to_solve
    assert {each.name for each in problem(critics).components} == {"actor", "rollout", "reward"}
    assert "`critic_inference` is not started: there is no critic whose values it computes, so its seconds do not count" in said(critics)


@pytest.mark.parametrize(
    ("profiled", "says"),
    [(False, "write `seconds` of `inference` in `placewright.components`"), (True, "add `inference_cost` to `profile_data`")],
)
def test_an_fsdp_actor_that_could_not_be_apart_is_told_what_lets_it(read: Read, profiled: bool, says: str) -> None:
    """With seconds of inference alone, as was advised, nothing changes: nothing starts it."""
    plain = HINTED.replace("NAME: {seconds: {16: 10}}", "reward: {memory: 1GiB}").replace("megatron", "fsdp")
    plain = plain.replace("rollout: {tensor", "rollout: {return_logprobs: true, tensor") + ("profile_data: {}\n" if profiled else "")
    never = read(plain.replace("recompute_logprobs: true", "recompute_logprobs: false")).to_solve
    (apart,) = (each for each in never.findings if "share their accelerators" in each.message)
    assert apart.notes == (
        "an fsdp actor that is apart from rollout needs `inference`, which RLinf starts only with `algorithm.recompute_logprobs: true`",
    )
    assert apart.help == f"set `algorithm.recompute_logprobs: true`, and {says}"
    (silent,) = (each for each in read(plain).to_solve.findings if "share their accelerators" in each.message)
    assert silent.notes == ("the time of `inference` is unknown",) and silent.help == says
    timed = plain.replace("reward: {memory: 1GiB}", "inference: {seconds: {16: 10}}")
    assert not [each for each in said(read(timed).to_solve) if "share their accelerators" in each]


def test_inference_without_ranks_beside_actor_and_rollout_apart_is_left_to_solve(read: Read) -> None:
    apart = HINTED.replace("NAME", "inference").replace(TOGETHER, "{rollout: 0-7, reward: 0-7, actor: 12-15}")
    assert {each.name for each in problem(read(apart)).components if each.runs is None} == {"inference"}


def test_inference_has_other_degrees_where_what_trains_does_its_work(read: Read) -> None:
    """What the file has for it counts where it is started; elsewhere it is on the counts of the actor."""
    own = "inference: {model: {tensor_model_parallel_size: 1, pipeline_model_parallel_size: 8}}\n"
    anew = problem(read(text() + own).to_solve)
    together, apart = anew.job.planning.ways
    assert together.shapes["inference"].parallel == Parallel(4) and apart.shapes["inference"].parallel == Parallel(1, 8)
    timed = anew["inference"].timed
    assert timed is not None and timed.samples == 512
    counts = {
        parallel: {each.accelerators for each in timed.measured if each.parallel == parallel} for parallel in (Parallel(4), Parallel(1, 8))
    }
    assert counts == {Parallel(4): {4, 8, 16}, Parallel(1, 8): {8, 16}}
    found = options(anew, anew["inference"], timed, free_capacity(anew, []), 1)
    assert {(each.amount, each.parallel) for each in found} == {
        (4, Parallel(4)), (8, Parallel(4)), (16, Parallel(4)), (8, Parallel(1, 8)), (16, Parallel(1, 8)),
    }  # fmt: skip


@pytest.mark.parametrize("name", ["inference", "actor_inference", "critic_inference"])
def test_where_actor_and_rollout_are_apart_nothing_is_left_to_solve_of_inference_that_never_runs(read: Read, name: str) -> None:
    without = HINTED.replace("NAME", name).replace("recompute_logprobs: true", "recompute_logprobs: false")
    apart = without.replace("rollout: {tensor", "rollout: {return_logprobs: true, tensor").replace(
        TOGETHER, "{rollout: 0-7, reward: 0-7, actor: 12-15}"
    )
    reading = read(apart)
    assert all(each.runs is not None for each in problem(reading).components)
    assert verify(reading).errors == ()


def test_a_component_of_rlinf_keeps_its_role_whatever_its_hints_say(read: Read) -> None:
    hints = "placewright: {components: {rollout: {role: critic, seconds: {16: 60}}, actor: {role: actor, seconds: {16: 40}}}}\n"
    reading = read(HINTED[: HINTED.index("placewright")] + hints)
    for each in (reading, reading.to_solve):
        (told,) = (finding for finding in each.findings if "`role` of" in finding.message)
        assert "is `critic`" in told.message and "runs it as `rollout`" in told.message
        assert told.code == "PW124" and told.severity is Severity.WARNING
        assert role_of(problem(each)["rollout"]) == "rollout"
