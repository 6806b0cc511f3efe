"""An embodied job: its stages as a pipeline, its environments, its simulators."""

from __future__ import annotations

import pytest
from placewright.models.findings.finding import Severity
from placewright.models.planning.workload import After

from .opened import EMBODIED, Read, problem


def test_an_embodied_job_is_a_pipeline_of_its_stages_and_training_after_it(read: Read) -> None:
    anew = problem(read(EMBODIED).to_solve)
    workload = anew.job.planning.workload
    assert workload is not None
    assert workload.after == (After("env", "rollout"), After("rollout", "actor", whole=True))
    assert workload.batches == 2 and workload.nested and not anew.job.planning.ways
    assert anew["env"].timed is not None and {each.accelerators for each in anew["env"].timed.measured} == {2, 4, 8}


def test_in_rlinfs_own_units_a_batch_is_an_environment(read: Read) -> None:
    workload = problem(read(EMBODIED + "placewright: {plan: {cost_model: rlinf-embodied}}\n").to_solve).job.planning.workload
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


@pytest.mark.parametrize("rows", ["{1: 1, 2: 2, 4: 4}", "{16: 2}"])
def test_a_simulator_that_no_count_has_a_time_for_is_never_free(read: Read, rows: str) -> None:
    reading = read(EMBODIED.replace("{8: 1.2, 16: 2.4, 32: 4.6}", rows).replace("total_num_envs: 64", "total_num_envs: 72")).to_solve
    (finding,) = (each for each in reading.findings if each.code == "PW601")
    assert finding.severity is Severity.ERROR and finding.subject == "env" and "`env_profile_data`" in finding.message
    hints = "placewright: {components: {env: {seconds: {8: 3}}}}\n"
    assert not any(each.code == "PW601" for each in read(EMBODIED.replace("{8: 1.2, 16: 2.4, 32: 4.6}", rows) + hints).to_solve.findings)
