"""What of a profiled file is planned, and what is said where nothing is."""

from __future__ import annotations

from typing import Callable

import pytest
from placewright.models.findings.finding import Severity
from placewright.models.parallel import Parallel
from placewright.models.planning.way import Multiple
from placewright.models.planning.workload import After, Timed
from placewright.models.problem import Problem
from placewright.models.reading import Reading
from placewright.solver.planning.asking.options import options
from placewright.solver.planning.asking.room import room

Read = Callable[..., Reading]
FILE = """
cluster: {num_nodes: 2, component_placement: PLACED}
runner: {task_type: reasoning}
algorithm: {group_size: 8, n_minibatches: 1, recompute_logprobs: true}
data: {rollout_batch_size: 64}
rollout: {tensor_parallel_size: 2, max_running_requests: 64}
actor: {training_backend: megatron, model: {tensor_model_parallel_size: 4}}
profile_data: {rollout_cost: 60, actor_cost: 40, inference_cost: 10}
"""
TOGETHER = '{"actor,rollout,reward": all}'
APART = "{rollout: 0-7, reward: 0-7, inference: 8-11, actor: 12-15}"


def text(placed: str = TOGETHER) -> str:
    return FILE.replace("PLACED", placed)


def problem(reading: Reading) -> Problem:
    assert reading.problem is not None
    return reading.problem


def said(reading: Reading, code: str = "PW604") -> list[str]:
    return [finding.message for finding in reading.findings if finding.code == code]


def test_verify_sees_the_ranks_and_solve_what_may_be_chosen(read: Read) -> None:
    reading = read(text())
    assert all(each.runs is not None and each.timed is None for each in problem(reading).components)
    assert problem(reading).job.workload is None
    anew = problem(reading.to_solve)
    assert {each.name for each in anew.components if each.runs is None} == {"actor", "rollout", "reward", "inference"}
    assert {each.name for each in anew.components if each.timed} == {"actor", "rollout", "inference"}
    assert anew.job.own["rollout"] == problem(reading)["rollout"].runs
    assert anew.job.own["inference"] == problem(reading)["actor"].runs


def test_a_file_without_times_is_solved_as_it_is(read: Read) -> None:
    reading = read(FILE.replace("PLACED", TOGETHER).replace("profile_data", "other_data"))
    assert reading.anew is None and reading.to_solve is reading


def test_the_workflow_is_that_of_rlinf_in_batches_of_a_prompt(read: Read) -> None:
    workload = problem(read(text()).to_solve).job.workload
    assert workload is not None
    assert [(each.earlier, each.later) for each in workload.after] == [("rollout", "inference"), ("inference", "actor")]
    assert (workload.batches, workload.model) == (64, "stream")
    without = problem(read(text().replace("recompute_logprobs: true", "recompute_logprobs: false")).to_solve).job.workload
    assert without is not None and without.after == (After("rollout", "actor"),)


def test_the_block_says_otherwise(read: Read) -> None:
    block = "placewright: {plan: {batches: 8, cost_model: rlinf, workflow: rollout => actor, budget: {accelerators: 8}}}\n"
    workload = problem(read(text() + block).to_solve).job.workload
    assert workload is not None
    assert (workload.batches, workload.model, workload.budget.accelerators) == (8, "rlinf", 8)
    assert workload.after == (After("rollout", "actor", whole=True),)


def test_both_arrangements_of_rlinf_are_offered_and_nothing_between(read: Read) -> None:
    together, apart = problem(read(text()).to_solve).job.ways
    assert (together.name, apart.name) == ("collocated", "disaggregated")
    assert together.without == {"inference"}
    shape = together.shapes["rollout"]
    assert (shape.per_process, shape.stride) == (2, 2)  # engines of 2 in the groups of 4 of the actor
    assert {frozenset(pair) for pair in apart.apart} == {
        frozenset(("actor", "rollout")), frozenset(("actor", "inference")), frozenset(("rollout", "inference"))
    }  # fmt: skip


def test_online_coding_is_never_collocated(read: Read) -> None:
    reading = read(text(APART).replace("task_type: reasoning", "task_type: coding_online_rl")).to_solve
    assert [way.name for way in problem(reading).job.ways] == ["disaggregated"]


def test_without_the_cost_of_inference_only_shared_accelerators_are_looked_at(read: Read) -> None:
    reading = read(text().replace(", inference_cost: 10", "")).to_solve
    assert [way.name for way in problem(reading).job.ways] == ["collocated"]
    assert any("`inference` takes" in message for message in said(reading))


def test_what_has_no_time_goes_along_or_stays(read: Read) -> None:
    anew = problem(read(text()).to_solve)
    assert [relation.components for relation in anew.job.relations if "reward" in relation.components] == [("actor", "reward")]
    other = problem(read(text('{"actor,rollout": 0-7, reward: 8-15}')).to_solve)
    assert other["reward"].runs is not None and other["actor"].runs is None


def test_costs_of_a_file_that_is_apart_are_those_of_a_run_on_everything(read: Read) -> None:
    reading = read(text(APART)).to_solve
    timed = problem(reading)["rollout"].timed
    assert timed is not None and max(each.accelerators for each in timed.measured) == 16
    assert any("here they are apart" in message for message in said(reading))
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
        ("actor_cost: 40, ", "", "nobody says how long `actor` takes"),
        ("num_nodes: 2,", "num_nodes: 2, auto_scheduler: true,", "RLinf's own scheduler"),
        (", max_running_requests: 64", ", max_running_requests: '${oc.env:REQUESTS}'", "`rollout.max_running_requests` is not known"),
        ("data: {rollout_batch_size: 64}", "data: {}", "`data.rollout_batch_size` is not in this file"),
    ],
)
def test_where_nothing_is_planned_the_reason_is_a_warning_and_the_ranks_stay(read: Read, old: str, new: str, why: str) -> None:
    reading = read(text().replace(old, new)).to_solve
    found = [finding for finding in reading.findings if finding.code == "PW604"]
    assert [finding.severity for finding in found] == [Severity.WARNING]
    assert why in found[0].message
    assert problem(reading)["actor"].runs is not None and not problem(reading).job.own
    assert problem(reading).job.workload is None


def test_the_setting_is_named_without_which_there_are_no_times(read: Read) -> None:
    """Others may stand in what is not read of `defaults` too; nothing waits for them. The finding is where the times are."""
    known = text().replace("tensor_parallel_size: 2", "tensor_parallel_size: 2, pipeline_parallel_size: 1")
    written = known.replace(", model: {tensor_model_parallel_size: 4}", "")
    reading = read("defaults: [training/megatron@actor.model]\n" + written).to_solve
    (found,) = (finding for finding in reading.findings if finding.code == "PW604")
    why = "the times of the file choose no ranks: `actor.model.context_parallel_size` is not in this file; it may come from `defaults`"
    assert found.message == why
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
    assert anew["actor"].runs is None and anew["rollout"].runs is None and anew.job.own


EMBODIED = """
cluster: {num_nodes: 1, component_placement: {"actor,env,rollout": all}}
runner: {task_type: embodied, only_eval: false}
env: {train: {total_num_envs: 64}}
rollout: {pipeline_stage_num: 2}
actor: {training_backend: fsdp}
profile_data: {env_profile_data: {8: 1.2, 16: 2.4, 32: 4.6}, rollout_profile_data: {8: 1.0, 16: 2.1, 32: 3.7}, actor_cost: 20}
"""


def test_an_embodied_job_is_a_pipeline_of_its_stages_and_training_after_it(read: Read) -> None:
    anew = problem(read(EMBODIED).to_solve)
    workload = anew.job.workload
    assert workload is not None
    assert workload.after == (After("env", "rollout"), After("rollout", "actor", whole=True))
    assert workload.batches == 2 and workload.nested and not anew.job.ways
    assert anew["env"].timed is not None and {each.accelerators for each in anew["env"].timed.measured} == {2, 4, 8}


def test_in_rlinfs_own_units_a_batch_is_an_environment(read: Read) -> None:
    workload = problem(read(EMBODIED + "placewright: {plan: {cost_model: rlinf-embodied}}\n").to_solve).job.workload
    assert workload is not None and workload.batches == 64
    assert workload.after == (After("env", "rollout"), After("rollout", "actor"))


def test_the_number_of_environments_is_that_of_the_tool_or_that_of_the_workers(read: Read) -> None:
    timed = problem(read(EMBODIED + "data: {env_num: 32}\n").to_solve)["env"].timed
    assert timed is not None and {each.accelerators for each in timed.measured} == {1, 2, 4, 8}


def test_a_bad_row_of_environments_is_named(read: Read) -> None:
    reading = read(EMBODIED.replace("8: 1.2", "eight: 1.2")).to_solve
    assert any("eight" in finding.message and finding.code == "PW105" for finding in reading.findings)


def test_each_component_is_planned_within_its_own_node_groups(read: Read) -> None:
    groups = "node_groups: [{label: a800, node_ranks: 0-1}, {label: '4090', node_ranks: 2}], "
    placed = '{"actor,rollout": {node_group: a800, placement: all}, env: {node_group: "4090", placement: all}}'
    text = EMBODIED.replace("num_nodes: 1, ", f"num_nodes: 3, {groups}").replace('{"actor,env,rollout": all}', placed)
    anew = problem(read(text, "2x8xA800+1x4xRTX4090").to_solve)
    env, rollout = anew["env"], anew["rollout"]
    assert (env.node_groups, rollout.node_groups) == (("4090",), ("a800",))
    assert env.timed is not None and {each.accelerators for each in env.timed.measured} == {2, 4}
    assert rollout.timed is not None and max(each.accelerators for each in rollout.timed.measured) == 16


def test_simulators_that_hold_no_accelerators_stay_where_they_are(read: Read) -> None:
    text = EMBODIED.replace('{"actor,env,rollout": all}', '{"actor,rollout": all, env: {node_group: node, placement: 0}}')
    anew = problem(read(text).to_solve)
    assert anew["env"].runs is not None and anew["env"].timed is None
    assert anew["rollout"].runs is None and anew["actor"].runs is None


def test_a_critic_shares_with_both_or_is_apart_from_both(read: Read) -> None:
    more = ", critic_cost: 30, critic_inference_cost: 5"
    changed = text('{"actor,rollout,reward,critic": all}').replace("inference_cost: 10", f"inference_cost: 10{more}")
    changed += "critic: {use_critic_model: true, training_backend: megatron, model: {tensor_model_parallel_size: 2}}\n"
    anew = problem(read(changed).to_solve)
    assert anew["critic"].runs is None and anew["critic"].timed is not None
    assert anew["critic_inference"].timed is not None and anew.job.own["critic_inference"] == anew.job.own["critic"]
    together, apart = anew.job.ways
    assert together.without == {"inference", "critic_inference"}
    assert apart.name == "disaggregated"
    workload = anew.job.workload
    assert workload is not None
    assert {(each.earlier, each.later) for each in workload.after} == {
        ("rollout", "inference"), ("rollout", "critic_inference"), ("inference", "actor"), ("inference", "critic"),
        ("critic_inference", "actor"), ("critic_inference", "critic"),
    }  # fmt: skip
    without = problem(read(changed.replace(", critic_inference_cost: 5", "")).to_solve)
    assert [way.name for way in without.job.ways] == ["collocated"]
    assert {frozenset(("critic", "actor")), frozenset(("critic", "rollout"))} <= {frozenset(pair) for pair in apart.apart}


def test_a_critic_without_a_cost_is_asked_for(read: Read) -> None:
    reading = read(text('{"actor,rollout,reward,critic": all}')).to_solve
    assert any("`critic` takes" in message for message in said(reading))


def test_components_that_have_no_ranks_are_searched_as_ever(read: Read) -> None:
    hints = "placewright: {plan: {workflow: rollout -> actor}, components: {actor: {seconds: {8: 40}}, rollout: {seconds: {8: 60}}}}\n"
    alone = FILE.replace("PLACED", "{reward: 0}").split("profile_data")[0].replace("recompute_logprobs: true", "recompute_logprobs: false")
    reading = read(alone + hints)
    assert reading.anew is None
    workload = problem(reading).job.workload
    assert workload is not None and workload.after == (After("rollout", "actor"),)


def test_several_processes_on_an_accelerator_are_planned_as_one(read: Read) -> None:
    reading = read(EMBODIED.replace('{"actor,env,rollout": all}', '{"actor,rollout": all, env: "0-7:0-15"}')).to_solve
    assert any("16 processes on 8 accelerators" in message for message in said(reading))


def test_hints_limit_the_counts(read: Read) -> None:
    anew = problem(read(text() + "placewright: {components: {actor: {accelerators: 4-8, memory: 20GiB}}}\n").to_solve)
    assert (anew["actor"].least, anew["actor"].most, anew["actor"].memory) == (4, 8, 20480)
    assert anew["actor"].timed is not None and anew["rollout"].most > 16


def test_reward_goes_along_where_the_prompts_divide_among_its_processes(read: Read) -> None:
    anew = problem(read(text()).to_solve)
    (share,) = (each for each in anew.shares if each.component == "reward")
    assert (share.amount, share.multiple) == (64, 1)
    assert all(64 % each.accelerators == 0 for each in (anew["actor"].timed or Timed(())).measured)
    always = text().replace("tensor_parallel_size: 2", "tensor_parallel_size: 8", 1)  # rollout on 8 or 16
    assert [each.components for each in problem(read(always).to_solve).job.relations if "reward" in each.components] == [
        ("rollout", "reward")
    ]


def test_apart_is_left_out_where_the_file_has_no_settings_for_it(read: Read) -> None:
    whole = text().replace("rollout: {", "rollout: {group_name: R, ")
    reading = read(whole).to_solve
    assert [way.name for way in problem(reading).job.ways] == ["collocated"]
    assert any("the file has no `inference`" in message and "only plans are looked at" in message for message in said(reading))
    section = "inference: {group_name: I, load_from_actor: true, model: {tensor_model_parallel_size: 4, pipeline_model_parallel_size: 1, sequence_parallel: true}}\n"
    assert len(problem(read(whole + section).to_solve).job.ways) == 2


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("task_type: reasoning", "task_type: reasoning, enable_dynamic_batch_size: true"),
        ("actor: {", "actor: {enable_dp_load_balance: true, "),
    ],
)
def test_apart_is_left_out_where_what_trains_refuses_it(read: Read, old: str, new: str) -> None:
    reading = read(text().replace(old, new)).to_solve
    assert [way.name for way in problem(reading).job.ways] == ["collocated"]
    assert any("what trains refuses" in message for message in said(reading))


def test_a_job_that_has_no_way_left_is_impossible(read: Read) -> None:
    coding = text(APART).replace("task_type: reasoning", "task_type: coding_online_rl, enable_dynamic_batch_size: true")
    (finding,) = (each for each in read(coding).to_solve.findings if each.code == "PW601")
    assert finding.severity is Severity.ERROR and "neither share their accelerators nor be apart" in finding.message


@pytest.mark.parametrize("rows", ["{1: 1, 2: 2, 4: 4}", "{16: 2}"])
def test_a_simulator_that_no_count_has_a_time_for_is_never_free(read: Read, rows: str) -> None:
    reading = read(EMBODIED.replace("{8: 1.2, 16: 2.4, 32: 4.6}", rows).replace("total_num_envs: 64", "total_num_envs: 72")).to_solve
    (finding,) = (each for each in reading.findings if each.code == "PW601")
    assert finding.severity is Severity.ERROR and finding.subject == "env" and "`env_profile_data`" in finding.message
    hints = "placewright: {components: {env: {seconds: {8: 3}}}}\n"
    assert not any(each.code == "PW601" for each in read(EMBODIED.replace("{8: 1.2, 16: 2.4, 32: 4.6}", rows) + hints).to_solve.findings)


def test_numbers_that_contradict_each_other_are_warned_of(read: Read) -> None:
    assert any("its workers start 64" in message for message in said(read(EMBODIED + "data: {env_num: 32}\n").to_solve))
    assert said(read(EMBODIED + "data: {env_num: 64}\n").to_solve) == []
    assert any(
        "do not divide into `algorithm.n_minibatches: 5`" in each
        for each in said(read(text().replace("n_minibatches: 1", "n_minibatches: 5")).to_solve)
    )


def test_counts_apart_leave_no_engine_without_weights(read: Read) -> None:
    assert all(not way.multiples for way in problem(read(text()).to_solve).job.ways)  # no whole job
    whole = (
        text()
        .replace("recompute_logprobs: true", "recompute_logprobs: false")
        .replace("rollout: {", "rollout: {group_name: R, rollout_backend: vllm, ")
    )
    _, apart = problem(read(whole).to_solve).job.ways
    assert apart.multiples == (Multiple("rollout", "actor", 4),)


HINTED = FILE.replace("profile_data: {rollout_cost: 60, actor_cost: 40, inference_cost: 10}\n", "").replace("PLACED", TOGETHER) + (
    "placewright: {components: {rollout: {seconds: {16: 60}}, actor: {seconds: {16: 40}}, NAME: {seconds: {16: 10}}}}\n"
)


@pytest.mark.parametrize("name", ["inference", "actor_inference"])
def test_who_infers_has_times_in_the_hints_though_nothing_starts_it_where_the_job_is_collocated(read: Read, name: str) -> None:
    reading = read(HINTED.replace("NAME", name))
    assert not reading.findings and {each.name for each in problem(reading).components} == {"actor", "rollout", "reward"}
    anew = problem(reading.to_solve)
    assert {each.name for each in anew.components if each.timed} == {"actor", "rollout", name}
    assert anew.job.own[name] == problem(reading)["actor"].runs


def test_seconds_of_inference_that_never_runs_count_nowhere(read: Read) -> None:
    without = HINTED.replace("NAME", "inference").replace("recompute_logprobs: true", "recompute_logprobs: false")
    reading = read(without.replace("rollout: {tensor", "rollout: {return_logprobs: true, tensor"))
    assert {each.name for each in problem(reading.to_solve).components} == {"actor", "rollout", "reward"}
    assert [each for each in said(reading.to_solve) if "not started" in each] == [
        "`inference` is not started: `algorithm.recompute_logprobs` is not true; its seconds count nowhere"
    ]
    critics = read(HINTED.replace("NAME", "critic_inference")).to_solve
    assert {each.name for each in problem(critics).components} == {"actor", "rollout", "reward"}
    assert "`critic_inference` is not started: there is no critic whose values it computes; its seconds count nowhere" in said(critics)


def test_inference_without_ranks_beside_actor_and_rollout_apart_is_left_to_solve(read: Read) -> None:
    apart = HINTED.replace("NAME", "inference").replace(TOGETHER, "{rollout: 0-7, reward: 0-7, actor: 12-15}")
    assert {each.name for each in problem(read(apart)).components if each.runs is None} == {"inference"}


def test_inference_has_other_degrees_where_what_trains_does_its_work(read: Read) -> None:
    """What the file has for it counts where it is started; elsewhere it is on the counts of the actor."""
    own = "inference: {model: {tensor_model_parallel_size: 1, pipeline_model_parallel_size: 8}}\n"
    anew = problem(read(text() + own).to_solve)
    together, apart = anew.job.ways
    assert together.shapes["inference"].parallel == Parallel(4) and apart.shapes["inference"].parallel == Parallel(1, 8)
    timed = anew["inference"].timed
    assert timed is not None and timed.samples == 512
    counts = {
        parallel: {each.accelerators for each in timed.measured if each.parallel == parallel} for parallel in (Parallel(4), Parallel(1, 8))
    }
    assert counts == {Parallel(4): {4, 8, 16}, Parallel(1, 8): {8, 16}}
    found = options(anew, anew["inference"], timed, room(anew, []), 1)
    assert {(each.amount, each.parallel) for each in found} == {
        (4, Parallel(4)), (8, Parallel(4)), (16, Parallel(4)), (8, Parallel(1, 8)), (16, Parallel(1, 8)),
    }  # fmt: skip
