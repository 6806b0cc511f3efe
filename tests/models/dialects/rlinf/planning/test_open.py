"""What of a profiled file is planned, and what is said where nothing is."""

from __future__ import annotations

import pytest
from placewright.models.findings.finding import Severity
from placewright.models.planning.workload import After, TimedComponent

from .opened import APART, FILE, TOGETHER, Read, problem, said, text


def test_verify_sees_the_ranks_and_solve_what_may_be_chosen(read: Read) -> None:
    reading = read(text())
    assert all(each.runs is not None and each.timed is None for each in problem(reading).components)
    assert problem(reading).job.planning.workload is None
    anew = problem(reading.to_solve)
    assert {each.name for each in anew.components if each.runs is None} == {"actor", "rollout", "reward", "inference"}
    assert {each.name for each in anew.components if each.timed} == {"actor", "rollout", "inference"}
    assert anew.job.planning.own["rollout"] == problem(reading)["rollout"].runs
    assert anew.job.planning.own["inference"] == problem(reading)["actor"].runs


def test_a_file_without_times_is_solved_as_it_is(read: Read) -> None:
    reading = read(FILE.replace("PLACED", TOGETHER).replace("profile_data", "other_data"))
    assert not reading.opens and reading.to_solve is reading


def test_the_workflow_is_that_of_rlinf_in_batches_of_a_prompt(read: Read) -> None:
    workload = problem(read(text()).to_solve).job.planning.workload
    assert workload is not None
    assert [(each.earlier, each.later) for each in workload.after] == [("rollout", "inference"), ("inference", "actor")]
    assert (workload.batches, workload.model) == (64, "stream")
    without = problem(read(text().replace("recompute_logprobs: true", "recompute_logprobs: false")).to_solve).job.planning.workload
    assert without is not None and without.after == (After("rollout", "actor"),)


def test_the_block_says_otherwise(read: Read) -> None:
    block = "placewright: {plan: {batches: 8, cost_model: rlinf, workflow: rollout => actor, budget: {accelerators: 8}}}\n"
    workload = problem(read(text() + block).to_solve).job.planning.workload
    assert workload is not None
    assert (workload.batches, workload.model, workload.budget.accelerators) == (8, "rlinf", 8)
    assert workload.after == (After("rollout", "actor", whole=True),)


def test_both_arrangements_of_rlinf_are_offered_and_nothing_between(read: Read) -> None:
    together, apart = problem(read(text()).to_solve).job.planning.ways
    assert (together.name, apart.name) == ("collocated", "disaggregated")
    assert together.without == {"inference"}
    shape = together.shapes["rollout"]
    assert (shape.per_process, shape.stride) == (2, 2)  # engines of 2 in the groups of 4 of the actor
    assert {frozenset(pair) for pair in apart.apart} == {
        frozenset(("actor", "rollout")), frozenset(("actor", "inference")), frozenset(("rollout", "inference"))
    }  # fmt: skip


def test_online_coding_is_never_collocated(read: Read) -> None:
    reading = read(text(APART).replace("task_type: reasoning", "task_type: coding_online_rl")).to_solve
    assert [way.name for way in problem(reading).job.planning.ways] == ["disaggregated"]


def test_without_the_cost_of_inference_only_shared_accelerators_are_looked_at(read: Read) -> None:
    reading = read(text().replace(", inference_cost: 10", "")).to_solve
    assert [way.name for way in problem(reading).job.planning.ways] == ["collocated"]
    assert any("the time of `inference` is unknown" in finding.notes for finding in reading.findings)


def test_what_has_no_time_goes_along_or_stays(read: Read) -> None:
    anew = problem(read(text()).to_solve)
    assert [relation.components for relation in anew.job.relations if "reward" in relation.components] == [("actor", "reward")]
    other = problem(read(text('{"actor,rollout": 0-7, reward: 8-15}')).to_solve)
    assert other["reward"].runs is not None and other["actor"].runs is None


def test_costs_of_a_file_that_is_apart_are_those_of_a_run_on_everything(read: Read) -> None:
    reading = read(text(APART)).to_solve
    timed = problem(reading)["rollout"].timed
    assert timed is not None and max(each.accelerators for each in timed.measured) == 16
    assert any("on all 16 accelerators" in message for message in said(reading))
    part = read(text('{"actor,rollout,reward": 0-7}')).to_solve
    measured = problem(part)["actor"].timed
    assert measured is not None and max(each.accelerators for each in measured.measured) == 8
    assert any("measured on 8 accelerators" in message for message in said(part))
    one = FILE.replace("tensor_model_parallel_size: 4", "tensor_model_parallel_size: 1").replace(
        "tensor_parallel_size: 2", "tensor_parallel_size: 1"
    )
    assert any(
        "measured on 1 accelerator," in message for message in said(read(one.replace("PLACED", '{"actor,rollout,reward": 0}')).to_solve)
    )
    assert said(read(text()).to_solve) == []


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("task_type: reasoning", "task_type: sft", "of task `sft` nothing is planned"),
        ("data: {", "data: {type: wideseek_r1, ", "of programs that place by RLinf's MultiAgentModelParallelComponentPlacement nothing"),
        ("actor_cost: 40, ", "", "the time of `actor` is unknown"),
        ("num_nodes: 2,", "num_nodes: 2, auto_scheduler: true,", "RLinf's own scheduler"),
        (", max_running_requests: 64", ", max_running_requests: '${oc.env:REQUESTS}'", "`rollout.max_running_requests` is not known"),
        ("data: {rollout_batch_size: 64}", "data: {}", "`data.rollout_batch_size` is not in this file"),
    ],
)
def test_where_nothing_is_planned_the_reason_is_a_warning_and_the_ranks_stay(read: Read, old: str, new: str, why: str) -> None:
    reading = read(text().replace(old, new)).to_solve
    found = [finding for finding in reading.findings if finding.code == "PW604"]
    assert [finding.severity for finding in found] == [Severity.WARNING]
    assert why in found[0].notes[0]
    assert problem(reading)["actor"].runs is not None and not problem(reading).job.planning.own
    assert problem(reading).job.planning.workload is None


def test_the_setting_is_named_without_which_there_are_no_times(read: Read) -> None:
    """Others may stand in what is not read of `defaults` too; nothing waits for them. The finding is where the times are."""
    known = text().replace("tensor_parallel_size: 2", "tensor_parallel_size: 2, pipeline_parallel_size: 1")
    written = known.replace(", model: {tensor_model_parallel_size: 4}", "")
    reading = read("defaults: [training/megatron@actor.model]\n" + written).to_solve
    (found,) = (finding for finding in reading.findings if finding.code == "PW604")
    assert found.notes == ("`actor.model.context_parallel_size` is not in this file; it may come from `defaults`",)
    assert found.span is not None and found.span.line == 1 + len(written.splitlines())
    assert found.help == "write it into this file, or name the folder of its `defaults` with `--config-root`"


@pytest.mark.parametrize("cost", ["-1", "soon", "[1, 2]", ".inf"])
def test_a_cost_that_is_no_number_of_seconds(read: Read, cost: str) -> None:
    reading = read(text().replace("actor_cost: 40", f"actor_cost: {cost}")).to_solve
    assert any(finding.code == "PW105" and finding.severity is Severity.ERROR for finding in reading.findings)


def test_seconds_in_the_hints_are_enough_and_come_before_the_profile(read: Read) -> None:
    hints = "placewright: {components: {actor: {seconds: {16: 33, 8: 50}}}}\n"
    timed = problem(read(text() + hints).to_solve)["actor"].timed
    assert timed is not None and {each.accelerators for each in timed.measured} == {8, 16}
    both = "placewright: {components: {actor: {seconds: {16: 33}}, rollout: {seconds: {16: 70}}}}\n"
    alone = FILE.replace("PLACED", TOGETHER).split("profile_data")[0].replace("recompute_logprobs: true", "recompute_logprobs: false")
    anew = problem(read(alone + both).to_solve)
    assert anew["actor"].runs is None and anew["rollout"].runs is None and anew.job.planning.own


def test_a_critic_shares_with_both_or_is_apart_from_both(read: Read) -> None:
    more = ", critic_cost: 30, critic_inference_cost: 5"
    changed = text('{"actor,rollout,reward,critic": all}').replace("inference_cost: 10", f"inference_cost: 10{more}")
    changed += "critic: {use_critic_model: true, training_backend: megatron, model: {tensor_model_parallel_size: 2}}\n"
    anew = problem(read(changed).to_solve)
    assert anew["critic"].runs is None and anew["critic"].timed is not None
    assert anew["critic_inference"].timed is not None and anew.job.planning.own["critic_inference"] == anew.job.planning.own["critic"]
    together, apart = anew.job.planning.ways
    assert together.without == {"inference", "critic_inference"}
    assert apart.name == "disaggregated"
    workload = anew.job.planning.workload
    assert workload is not None
    assert {(each.earlier, each.later) for each in workload.after} == {
        ("rollout", "inference"), ("rollout", "critic_inference"), ("inference", "actor"), ("inference", "critic"),
        ("critic_inference", "actor"), ("critic_inference", "critic"),
    }  # fmt: skip
    without = problem(read(changed.replace(", critic_inference_cost: 5", "")).to_solve)
    assert [way.name for way in without.job.planning.ways] == ["collocated"]
    assert {frozenset(("critic", "actor")), frozenset(("critic", "rollout"))} <= {frozenset(pair) for pair in apart.apart}


def test_a_critic_without_a_cost_is_asked_for(read: Read) -> None:
    reading = read(text('{"actor,rollout,reward,critic": all}')).to_solve
    assert any("time of `critic` is unknown" in note for finding in reading.findings for note in finding.notes)


def test_components_that_have_no_ranks_are_searched_as_ever(read: Read) -> None:
    hints = "placewright: {plan: {workflow: rollout -> actor}, components: {actor: {seconds: {8: 40}}, rollout: {seconds: {8: 60}}}}\n"
    alone = FILE.replace("PLACED", "{reward: 0}").split("profile_data")[0].replace("recompute_logprobs: true", "recompute_logprobs: false")
    reading = read(alone + hints)
    assert not reading.opens
    workload = problem(reading).job.planning.workload
    assert workload is not None and workload.after == (After("rollout", "actor"),)


def test_hints_limit_the_counts(read: Read) -> None:
    anew = problem(read(text() + "placewright: {components: {actor: {accelerators: 4-8, memory: 20GiB}}}\n").to_solve)
    assert (anew["actor"].least, anew["actor"].most, anew["actor"].memory) == (4, 8, 20480)
    assert anew["actor"].timed is not None and anew["rollout"].most > 16


def test_reward_goes_along_where_the_prompts_divide_among_its_processes(read: Read) -> None:
    anew = problem(read(text()).to_solve)
    (share,) = (each for each in anew.shares if each.component == "reward")
    assert (share.amount, share.multiple) == (64, 1)
    assert all(64 % each.accelerators == 0 for each in (anew["actor"].timed or TimedComponent(())).measured)
    always = text().replace("tensor_parallel_size: 2", "tensor_parallel_size: 8", 1)  # rollout on 8 or 16
    assert [each.components for each in problem(read(always).to_solve).job.relations if "reward" in each.components] == [
        ("rollout", "reward")
    ]
