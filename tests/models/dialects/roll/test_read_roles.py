"""Which roles and workers a pipeline of ROLL starts."""

from __future__ import annotations

import pytest
from placewright.models.roles import ROLES

from .pipelines import AGENTIC, MEGATRON, RLVR, VLLM, Config, changed, of, said, sizes, the, where


def test_rlvr_starts_actors_and_rewards() -> None:
    reading = of(RLVR)
    assert said(reading) == []
    assert sizes(reading) == {"actor_train": 8, "actor_infer": 4, "rewards.math": 4}
    assert reading.problem is not None
    assert all(component.role in ROLES for component in reading.problem.components)


def test_a_reference_is_started_for_kl_and_a_critic_for_gae() -> None:
    config = changed(RLVR, adv_estimator=None, init_kl_coef=None)
    assert [finding.code for finding in of(config).findings] == ["PW101", "PW101"]
    assert [
        "`adv_estimator` is `gae` by default" in each.message or "`init_kl_coef` is 0.2" in each.message for each in of(config).findings
    ] == [True] * 2
    devices = {**MEGATRON, "device_mapping": "list(range(0,8))"}
    assert sizes(of({**config, "critic": devices, "reference": devices})).keys() >= {"critic", "reference"}


@pytest.mark.parametrize(
    ("change", "why"),
    [({"enable_reference": True}, "enable_reference"), ({"use_kl_loss": True}, "use_kl_loss"), ({"init_kl_coef": 0.1}, "init_kl_coef")],
)
def test_why_a_reference_is_started_is_said(change: Config, why: str) -> None:
    assert f"`{why}`" in the(of({**RLVR, **change}), "PW101").message


def test_with_adapters_no_reference_is_started() -> None:
    config = changed(
        RLVR, use_kl_loss=True, actor_train={"model_args": {"lora_target": "all"}}, reference={"device_mapping": "list(range(0,8))"}
    )
    assert said(of(config, release="8eb27cc2")) == [("PW803", "warning", "reference")]
    assert "lora_target" in the(of(config), "PW803").notes[0]
    assert "start_rlvr_vl_pipeline.py" in of(config).unchecked[0].why


def test_unused_devices_reserve_nodes_all_the_same() -> None:
    reading = of(changed(RLVR, reference={"device_mapping": "list(range(8,24))"}))
    assert reading.problem is not None
    assert len(reading.problem.cluster.nodes) == 3
    assert "nodes up to 2 are reserved" in the(reading, "PW803").notes[1]


def test_agentic_starts_environments_on_nodes_in_turn() -> None:
    reading = of(
        changed(AGENTIC, actor_train={"device_mapping": "list(range(0,16))"}, actor_infer={"device_mapping": "list(range(0,16))"}), "2x8"
    )
    assert sizes(reading) == {"actor_train": 16, "actor_infer": 8, "train_env_manager": 3, "val_env_manager": 3}
    assert where(reading, "train_env_manager") == [[(0, -1)], [(1, -1)], [(0, -1)]]


def test_all_environments_are_in_one_worker_by_default() -> None:
    assert sizes(of(changed(AGENTIC, train_env_manager={"max_env_num_per_worker": "OUT"})))["train_env_manager"] == 1


def test_redundant_environments_count() -> None:
    assert sizes(of(changed(AGENTIC, train_env_manager={"group_size_redundancy": 2})))["train_env_manager"] == 5


def test_environments_have_no_devices() -> None:
    assert the(of(changed(AGENTIC, val_env_manager={"device_mapping": "list(range(0,8))"})), "PW123").subject == "val_env_manager"


def test_a_rollout_alone_starts_the_training_environments_alone() -> None:
    reading = of(changed(AGENTIC, actor_train={"device_mapping": "OUT", "strategy_args": "OUT", "name": "x"}))
    assert sizes(reading).keys() == {"actor_infer", "train_env_manager"}


def test_a_reward_of_agentic_pipelines_needs_devices() -> None:
    assert "`len()`" in the(of({**AGENTIC, "reward": {"world_size": 4}}), "PW101").message
    assert "reward" not in sizes(of({**AGENTIC, "reward": {"device_mapping": "[]"}}))
    assert sizes(of({**AGENTIC, "reward": {**VLLM, "device_mapping": "list(range(0,8))"}}))["reward"] == 4


def test_a_reward_model_is_started_where_it_has_devices() -> None:
    assert sizes(of({**RLVR, "reward_model": {**VLLM, "device_mapping": "[6, 7]"}}))["reward_model"] == 1
    assert "reward_model" not in sizes(of({**RLVR, "reward_model": {"model_args": {}}}))


@pytest.mark.parametrize(
    ("config", "names"),
    [
        ({"sft_train": {"device_mapping": "[0, 1]"}}, ["sft_train"]),
        ({"student": {"device_mapping": "[0]"}, "teacher": {"device_mapping": "[1]"}}, ["student", "teacher"]),
        ({"actor_train": {"device_mapping": "[0]"}, "reference": {"device_mapping": "[1]"}}, ["actor_train", "reference"]),
    ],
)
def test_other_pipelines_have_their_own_roles(config: Config, names: list[str]) -> None:
    assert [*sizes(of(config))] == names


def test_students_and_teachers_are_actors_and_references() -> None:
    devices = {**MEGATRON, "device_mapping": "list(range(0,8))"}
    config = {
        "student_train": devices,
        "student_infer": {**VLLM, "device_mapping": "list(range(0,8))"},
        "actor_train": {"device_mapping": "[99]"},
    }
    one = of({**config, "teacher": devices})
    assert sizes(one) == {"student_train": 8, "student_infer": 4, "teacher": 8}
    assert "take its place" in the(one, "PW803").notes[0]
    assert one.problem is not None
    assert len(one.problem.cluster.nodes) == 1, "what the students take the place of does not count"
    several = of({**config, "teacher": {"small": devices, "large": devices}})
    assert [*sizes(several)][2:] == ["teacher.small", "teacher.large"]
    assert the(of(config), "PW101").subject == "teacher"


def test_teachers_beside_rewards_are_the_references() -> None:
    devices = {**MEGATRON, "device_mapping": "list(range(0,8))"}
    assert "teacher" in sizes(of({**RLVR, "use_opd": True, "teacher": devices}))
    refused = of({**RLVR, "use_opd": True, "teacher": devices, "reference": devices})
    assert ("PW123", "error", "reference") in said(refused)


@pytest.mark.parametrize(
    ("written", "warned", "is_unknown"),
    [
        ({"tp_size": 2}, ["PW126"], False),
        ({"tp_size": 1, "pp_size": 1}, [], False),
        ({"pp_size": 2}, [], True),
        ({"dp_size": 2}, [], True),
        ({"dp_size": 2, "enable_dp_attention": True, "tensor_parallel_size": 2}, [], False),
    ],
)
def test_degrees_by_names_of_sglang_are_never_passed_over(written: dict[str, object], warned: list[str], is_unknown: bool) -> None:
    strategy = {"strategy_name": "sglang", "strategy_config": {"mem_fraction_static": 0.8, **written}}
    each = written.get("tensor_parallel_size", 1)
    reading = of(changed(RLVR, actor_infer={"strategy_args": strategy, "num_gpus_per_worker": each}), "1x8")
    assert [finding.code for finding in reading.findings] == warned
    assert any(each.decides for each in reading.unchecked if each.rule == "PW208") is is_unknown
