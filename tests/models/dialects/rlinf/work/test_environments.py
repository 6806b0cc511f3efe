"""Environments divide among processes, stages and groups, as RLinf deals them out."""

from __future__ import annotations

from typing import Any, Callable

import pytest
import yaml
from placewright.models.findings.finding import Severity
from placewright.models.reading import Reading
from placewright.planner.verify import verify

Read = Callable[..., Reading]


def embodied(read: Read, env: str = "0-1", rollout: str = "0", total: Any = 8, stages: Any = 1, group: Any = 1, **more: Any) -> Reading:
    """A job that trains in `total` environments; more settings by dotted path (`__` for the dot)."""
    root: dict[str, Any] = {
        "cluster": {"num_nodes": 1, "component_placement": {"env": env, "actor,rollout": rollout, "reward": "0-1"}},
        "runner": {"task_type": "embodied"},
        "rollout": {"pipeline_stage_num": stages},
        "env": {"train": {"total_num_envs": total, "group_size": group}},
    }
    for path, value in more.items():
        place, (*above, last) = root, path.split("__")
        for key in above:
            place = place.setdefault(key, {})
        place[last] = value
    return read(yaml.safe_dump(root, sort_keys=False))


def judged(reading: Reading) -> set[tuple[str, str]]:
    return {(finding.severity.value, finding.code) for finding in verify(reading).findings if finding.severity is not Severity.NOTE}


@pytest.mark.parametrize(
    ("env", "total", "stages", "group", "expected"),
    [
        ("0-1", 8, 1, 1, set()),
        ("0-1", 8, 2, 2, set()),
        ("0-1", 7, 1, 1, {("error", "PW401")}),  # 7 % 2
        ("0-1", 6, 2, 1, {("error", "PW401")}),  # RLinf's check passes; 6 // 2 = 3 of a stage do not divide among 2
        ("0-1", 12, 1, 4, {("error", "PW401")}),  # 6 % 4
        ("0-1", 2, 2, 1, {("error", "PW401")}),  # 2 // 2 // 2 is 0
        ("0", 17, 2, 8, {("warning", "PW401")}),  # one environment is never built
        ("0", 17, 2, 3, {("error", "PW401")}),  # 8 % 3
    ],
)
def test_environments_divide(read: Read, env: str, total: int, stages: int, group: int, expected: set[tuple[str, str]]) -> None:
    assert judged(embodied(read, env, total=total, stages=stages, group=group)) == expected


def runs_in_rlinf(total: int, processes: int, stages: int, group: int, rollouts: int) -> bool:
    """RLinf's asserts, one after the other: its configuration check, then the routing of the first rollout."""
    each = total // processes // stages
    checked = total % processes == 0 and total % processes % stages == 0 and each > 0 and each % group == 0
    of_one_stage, sent = total // stages, each * processes
    routed = all(amount % others == 0 for amount in (of_one_stage, sent) for others in (processes, rollouts))
    return checked and routed


@pytest.mark.slow
@pytest.mark.parametrize("stages", [1, 2, 3])
@pytest.mark.parametrize("group", [1, 2])
def test_an_error_is_one_of_rlinf_and_what_is_fine_runs(read: Read, stages: int, group: int) -> None:
    for total in range(1, 19):
        for processes, rollouts in ((1, 1), (2, 1), (2, 3), (3, 2), (4, 4)):
            reading = embodied(read, f"0-{processes - 1}", f"0-{rollouts - 1}", total, stages, group)
            found = judged(reading)
            fails = not runs_in_rlinf(total, processes, stages, group, rollouts)
            assert (("error", "PW401") in found) == fails, (total, processes, rollouts, found)
            if not found:
                assert total % (processes * stages * group) == 0


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({"runner__only_eval": True, "env__eval": {"total_num_envs": 8}}, set()),
        ({"runner__only_eval": True, "env__eval": {"total_num_envs": 7}}, {("error", "PW401")}),
        ({"env__eval": {"total_num_envs": 7}}, set()),
        ({"runner__val_check_interval": 10, "env__eval": {"total_num_envs": 7}}, {("error", "PW401")}),
        ({"runner__task_type": "offline", "env__train__total_num_envs": 7}, set()),
        ({"runner__task_type": "sft", "env__train__total_num_envs": 7}, set()),
    ],
)
def test_only_what_will_be_built_is_judged(read: Read, more: dict[str, Any], expected: set[tuple[str, str]]) -> None:
    assert judged(embodied(read, **more)) == expected


def test_a_pipeline_of_training_deals_out_to_the_actor_and_drops_nothing(read: Read) -> None:
    pipeline = {"runner__use_training_pipeline": True}
    assert judged(embodied(read, "0", total=17, stages=2, **pipeline)) == {("error", "PW401")}
    assert judged(embodied(read, rollout="0-3", total=8, **pipeline)) == set()
    assert judged(embodied(read, rollout="0-2", total=8, **pipeline)) == {("error", "PW401")}


def test_the_decoupled_mode_needs_one_stage_and_enough_env_processes(read: Read) -> None:
    decoupled = {"runner__enable_decoupled_mode": True}
    assert judged(embodied(read, "0-3", "0-1", **decoupled)) == set()
    assert judged(embodied(read, "0-1", "0-3", **decoupled)) == {("error", "PW402")}
    assert judged(embodied(read, "0-3", "0-1", stages=2, **decoupled)) == {("error", "PW123")}
    assert judged(embodied(read, "0-3", "0-2", **decoupled)) == set()  # no fixed routing


def test_a_reward_model_takes_part_in_one_stage(read: Read) -> None:
    assert judged(embodied(read, reward__use_reward_model=True)) == set()
    assert judged(embodied(read, stages=2, reward__use_reward_model=True)) == {("error", "PW123")}
    assert judged(embodied(read, stages=2, reward__use_reward_model=True, reward__standalone_realworld=True)) == set()
    assert judged(embodied(read, "0-2", total=9, reward__use_reward_model=True)) == {("error", "PW401")}


def test_a_server_that_rlinf_starts_for_the_reward_model_is_placed(read: Read) -> None:
    served = {"reward__use_reward_model": True, "reward__worker_type": "api"}
    assert judged(embodied(read, **served)) == {("error", "PW123")}
    assert judged(embodied(read, **served, reward__api__api_base="http://a:1/v1")) == set()
    assert judged(embodied(read, **served, cluster__component_placement__reward_server="0-3")) == set()


def test_weights_are_sent_at_least_each_step(read: Read) -> None:
    assert judged(embodied(read, runner__weight_sync_interval=0)) == {("error", "PW105")}


def test_what_other_rollout_workers_ask_for_is_only_feared(read: Read) -> None:
    assert judged(embodied(read, rollout="0-2", rollout__rollout_backend="sglang")) == {("warning", "PW401")}


@pytest.mark.parametrize("total", ["8", None, [8], 2.5, 0, -8])
def test_amounts_that_are_no_whole_numbers_are_findings(read: Read, total: object) -> None:
    assert judged(embodied(read, total=total)) == {("error", "PW105")}


def test_a_number_that_mends_zero_environments_divides(read: Read) -> None:
    finding = next(iter(verify(embodied(read, "0-1", "0-2", total=0, stages=2, group=2)).findings))
    assert finding.edit is not None and finding.edit.text == "24"
    assert judged(embodied(read, "0-1", "0-2", total=24, stages=2, group=2)) == set()


def test_what_is_not_known_is_said_with_its_key(read: Read) -> None:
    reading = embodied(read, total="${oc.env:ENVS}")
    assert judged(reading) == set()
    assert ("PW401", "env.train.total_num_envs") in {(each.rule, each.subject) for each in reading.unchecked}
