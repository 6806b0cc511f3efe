"""Whether actor and rollout may share accelerators, or be apart, is judged by the degrees that are left open, not by the file's own."""

from __future__ import annotations

import pytest
from placewright.api import solve
from placewright.models.parallel import Parallel
from placewright.models.planning.planned import PlanningResult
from placewright.models.reading import Reading
from placewright.models.tied_degrees import as_written
from placewright.planner.baseline import baseline_of
from placewright.planner.costs import cost_model
from placewright.planner.problem import planning_problem
from placewright.planner.verify import verify

from .opened import APART, Read, problem, text


def job(actor: int, rollout: int, trains: str, generates: str, placed: str = "", inference: str = "", engine: str = "vllm") -> str:
    """A whole job with these degrees in its settings, and these in its hints."""
    found = (
        (text(placed) if placed else text())
        .replace("recompute_logprobs: true", f"recompute_logprobs: {'true' if inference else 'false'}")
        .replace("rollout: {", f"rollout: {{group_name: R, rollout_backend: {engine}, return_logprobs: true, ")
        .replace("tensor_parallel_size: 2", f"tensor_parallel_size: {rollout}")
        .replace("tensor_model_parallel_size: 4", f"tensor_model_parallel_size: {actor}")
    )
    hints = [f"actor: {{parallel: {{{trains}}}, seconds: {{8: 40}}}}", f"rollout: {{parallel: {{{generates}}}, seconds: {{8: 40}}}}"]
    hints += ["inference: {seconds: {8: 1}}"] if inference else []
    return found[: found.index("profile_data")] + inference + f"placewright: {{components: {{{', '.join(hints)}}}}}\n"


def planned(reading: Reading) -> PlanningResult:
    answer = solve(reading, sandbox=False)
    assert answer.planned is not None
    return answer.planned


def test_degrees_of_the_file_that_do_not_go_together_do_not_make_others_impossible(read: Read) -> None:
    reading = read(job(3, 2, "tp: [3, 4]", "tp: [2, 4]"))
    assert [way.name for way in problem(reading.to_solve).job.planning.ways] == ["collocated", "disaggregated"]
    found = planned(reading)
    assert found.proved
    assert found.best.design.options["actor"].parallel == Parallel(4)


def test_a_file_that_rlinf_refuses_as_it_stands_is_planned_with_other_degrees(read: Read) -> None:
    text = job(2, 4, "tp: [2, 4]", "tp: [4, 2]", APART.replace("inference: 8-11, ", ""))
    assert {each.code for each in verify(read(text)).errors} == {"PW123"}
    found = planned(read(text))
    assert found.proved
    assert found.unplaceable == ()
    assert found.best.design.options["rollout"].parallel.tp <= found.best.design.options["actor"].parallel.tp


def test_degrees_of_the_file_are_a_choice_also_where_others_as_good_go_with_more(read: Read) -> None:
    """Rollout of tp 4 goes with an actor of tp 4 alone, that of tp 2 with both; what takes as long with the file's own stays."""
    its = problem(read(job(4, 4, "tp: [2, 4]", "tp: [2, 4]")).to_solve)
    assert its.job.planning.workload is not None
    options = planning_problem(its).options["rollout"]
    assert [each.parallel.tp for each in options if each.amount == 8] == [4, 2]


def test_where_only_the_files_own_degrees_are_left_it_is_impossible_as_before(read: Read) -> None:
    (told,) = (each for each in read(job(3, 2, "tp: 3", "tp: 2")).to_solve.findings if each.code == "PW601")
    assert "neither share their accelerators nor be apart" in told.message


def test_what_trains_apart_from_inference_has_a_multiple_of_its_tp(read: Read) -> None:
    section = "inference: {group_name: I, load_from_actor: true, model: {tensor_model_parallel_size: 4, pipeline_model_parallel_size: 1, sequence_parallel: true}}\n"
    reading = read(job(2, 1, "tp: [2, 4]", "tp: [1, 2]", inference=section)).to_solve
    assert not any("would get no weights" in note for finding in reading.findings for note in finding.notes)
    followed = problem(reading).job.planning.followed
    apart = {each.degrees["actor"].tp for each in followed if "disaggregated" in [way.name for way in each.ways]}
    assert apart == {4} and {each.degrees["actor"].tp for each in followed} == {2, 4}
    none = read(job(2, 1, "tp: 2", "tp: [1, 2]", inference=section)).to_solve
    assert [way.name for way in problem(none).job.planning.ways] == ["collocated"]
    assert any("would get no weights" in note for finding in none.findings for note in finding.notes)


def test_an_actor_with_a_smaller_tp_than_the_files_may_have_fewer_accelerators(read: Read) -> None:
    assert problem(read(job(4, 1, "tp: [1, 4]", "tp: [1, 2]")).to_solve)["actor"].least == 1


def test_of_degrees_that_all_need_more_the_least_is_told(read: Read) -> None:
    short = job(2, 1, "tp: [4, 8]", "tp: [1, 2]").replace("actor: {parallel", "actor: {accelerators: 3, parallel")
    told = [each for each in read(short).to_solve.findings if "fewer than" in each.message]
    assert [(each.message, each.help) for each in told] == [
        ("`actor` asks for 3 accelerators, fewer than its tp 4", "ask for 4 accelerators, or a smaller tp")
    ]


@pytest.mark.parametrize("machines", ["x8", None])
def test_choices_without_the_degrees_of_the_file_are_planned_wherever_it_is_run(read: Read, machines: str | None) -> None:
    reading = read(job(4, 2, "tp: [1, 2]", "tp: [1, 2]"), machines)
    assert not verify(reading).errors
    one = verify(read(job(4, 2, "tp: 2", "tp: [1, 2]"), machines))
    assert [(each.code, each.subject) for each in one.errors] == [("PW121", "actor")]  # no list: they contradict the settings


@pytest.mark.parametrize("backend", ["megatron", "fsdp"])
def test_degrees_of_the_file_that_are_not_offered_are_told_as_that_alone(read: Read, backend: str) -> None:
    its = problem(read(job(4, 2, "tp: [1, 2]", "tp: [1, 2]").replace("megatron", backend)).to_solve)
    assert its.job.planning.workload is not None and its.job.choices["actor"] == (Parallel(1), Parallel(2))
    own = baseline_of(its, planning_problem(its), cost_model(its.job.planning.workload.model))
    assert own.priced is not None and own.priced.design.options["actor"].parallel == Parallel(4)
    assert own.forbidden == ("`actor` is to have tp 1 or tp 2, not tp 4",)


def test_what_rlinf_refuses_of_the_file_as_it_stands_is_not_to_be_proposed(read: Read) -> None:
    """A megatron actor of tp 2 takes no rollout of tp 4, whatever degrees the hints offer besides, and these ranks would be quicker."""
    text = job(2, 4, "tp: [2, 4]", "tp: [1, 4]", '{"actor,rollout,reward": all}')
    reading = read(text)
    assert [each.code for each in verify(reading).errors] == ["PW123"]
    its = problem(reading.to_solve)
    assert its.job.planning.workload is not None
    own = baseline_of(its, planning_problem(its), cost_model(its.job.planning.workload.model))
    assert own.priced is not None and not own.unclear
    assert own.forbidden[0].startswith("PW123: the tp of rollout is 4, but a megatron actor of tp 2 takes at most its own")
    assert problem(read(job(4, 4, "tp: [2, 4]", "tp: [1, 4]")).to_solve).job.planning.own_faults == ()


def test_ranks_of_the_file_are_judged_with_its_own_degrees(read: Read) -> None:
    """Megatron of tp 4 does not start on 3 accelerators, though tp 1 would, which hints offer."""
    small = '{"rollout,reward": 0-7, actor: 8-10}'
    found = verify(read(job(4, 1, "tp: [1, 4]", "tp: 1", small)))
    assert [(each.code, each.subject) for each in found.errors] == [("PW208", "actor")]


def test_ranks_that_interleave_by_the_tp_of_an_fsdp_actor_are_in_order(read: Read) -> None:
    text = job(4, 2, "tp: [1, 2, 4]", "tp: [1, 2]").replace("megatron", "fsdp")
    its = as_written(problem(read(text).to_solve))
    assert its.job.planning.workload is not None
    own = baseline_of(its, planning_problem(its), cost_model(its.job.planning.workload.model))
    assert own.priced is not None and own.forbidden == ()
