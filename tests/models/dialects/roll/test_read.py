"""What a ROLL configuration comes to: roles, workers, devices, nodes; and what is wrong with how it says so."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml
from placewright.models.dialects.load import read
from placewright.models.findings.finding import Finding, Severity
from placewright.models.findings.span import apply_edits
from placewright.models.machines.cluster import Cluster
from placewright.models.machines.shorthand import AsDeclared, read_shorthand
from placewright.models.placements.assignment import seats
from placewright.models.reading import Reading
from placewright.models.roles import ROLES
from placewright.models.text.source import Source

Config = dict[str, Any]
MEGATRON = {"strategy_args": {"strategy_name": "megatron_train"}}
VLLM = {"strategy_args": {"strategy_name": "vllm", "strategy_config": {"tensor_parallel_size": 2}}}
RLVR: Config = {
    "adv_estimator": "grpo",
    "init_kl_coef": 0,
    "actor_train": {**MEGATRON, "device_mapping": "list(range(0,8))"},
    "actor_infer": {**VLLM, "device_mapping": "list(range(0,8))"},
    "rewards": {"math": {"world_size": 4}},
}
ENVIRONMENT = {"num_env_groups": 6, "group_size": 4, "max_env_num_per_worker": 8, "tags": ["a", "b"], "num_groups_partition": [2, 4]}
AGENTIC: Config = {**{key: RLVR[key] for key in RLVR if key != "rewards"}, "train_env_manager": ENVIRONMENT, "val_env_manager": ENVIRONMENT}


def of(config: Config | str, cluster: str | Cluster | None = None, level: str = "placement") -> Reading:
    text = config if isinstance(config, str) else yaml.safe_dump(json.loads(json.dumps(config)), sort_keys=False, width=1 << 20)
    machines = read_shorthand(cluster) if isinstance(cluster, str) else cluster
    return read(Source("train.yaml", text), machines, "roll", level)


def changed(config: Config, **blocks: Any) -> Config:
    """The configuration with these blocks merged into it; None takes one out."""
    found = json.loads(json.dumps(config))
    for name, block in blocks.items():
        if block is None:
            found.pop(name, None)
        elif isinstance(block, dict) and isinstance(found.get(name), dict):
            found[name] = {key: value for key, value in {**found[name], **block}.items() if value != "OUT"}
        else:
            found[name] = block
    return found


def sizes(reading: Reading) -> dict[str, int]:
    assert reading.problem is not None
    return {name: reading.problem.given().world_size(name) for name in reading.problem.given().runs}


def where(reading: Reading, name: str) -> list[list[tuple[int, int]]]:
    assert reading.problem is not None
    return [[seat for seat, _, _ in its] for _, its in seats(reading.problem.given().of(name))]


def said(reading: Reading) -> list[tuple[str, str, str]]:
    return [(finding.code, finding.severity.value, finding.subject) for finding in reading.findings]


def the(reading: Reading, code: str) -> Finding:
    (found,) = (finding for finding in reading.findings if finding.code == code)
    return found


def mended(reading: Reading, code: str, cluster: str | None = None) -> Reading:
    """The file with the edit of the only finding of a code made."""
    edit = the(reading, code).edit
    assert edit is not None
    return of(apply_edits(reading.source.text, [edit]), cluster)


# -- which roles there are


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
    assert said(of(config)) == [("PW803", "warning", "reference")]
    assert "lora_target" in the(of(config), "PW803").message
    assert "start_rlvr_vl_pipeline.py" in of(config).unchecked[0].why


def test_unused_devices_reserve_nodes_all_the_same() -> None:
    reading = of(changed(RLVR, reference={"device_mapping": "list(range(8,24))"}))
    assert reading.problem is not None
    assert len(reading.problem.cluster.nodes) == 3
    assert "nodes up to 2 are reserved" in the(reading, "PW803").message


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
    assert "take its place" in the(one, "PW803").message
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


# -- devices and workers


@pytest.mark.parametrize(
    ("strategy", "written", "each"), [("vllm", 1, 2), ("sglang", 4, 4), ("megatron_infer", 4, 1), ("fsdp2_infer", 1, 1), ("hf_infer", 1, 1)]
)
def test_devices_of_a_worker_follow_from_its_strategy(strategy: str, written: int, each: int) -> None:
    args = {"strategy_args": {"strategy_name": strategy, "strategy_config": {"tensor_parallel_size": 2}}, "num_gpus_per_worker": written}
    reading = of({"teacher": {**args, "device_mapping": "list(range(0,8))"}, "student": {"device_mapping": "[0]"}})
    assert sizes(reading)["teacher"] == 8 // each
    assert [finding.code for finding in reading.findings if finding.code == "PW126"] == ["PW126"] * (written != each)


def test_without_a_strategy_a_worker_has_what_is_written() -> None:
    assert where(of({"sft_train": {"device_mapping": "[3, 2, 1, 0]", "num_gpus_per_worker": 2}}), "sft_train") == [
        [(0, 3), (0, 2)],
        [(0, 1), (0, 0)],
    ]


def test_what_is_replaced_is_written_as_it_becomes() -> None:
    reading = of(changed(RLVR, actor_train={"world_size": 3}))
    assert the(reading, "PW126").message == "`actor_train.world_size` is 3, but ROLL replaces it with 8: 8 device ids // 1 per worker"
    assert said(mended(reading, "PW126")) == []


def test_devices_are_divided_among_workers() -> None:
    reading = of(changed(RLVR, actor_infer={"device_mapping": "list(range(0,7))"}))
    assert the(reading, "PW111").help == "name 6 or 8 devices: `list(range(0,6))`"
    assert sizes(mended(reading, "PW111"))["actor_infer"] == 3


@pytest.mark.parametrize(
    ("written", "after"),
    [
        ("[0, 1, 2, 3]", "list(range(0,4))"),
        ("\n  - 0\n  - 2\n  - 5", "list([0,2,5])"),
        ("\n    - 7\n    - 6\n    - 5 # last", "list(range(7,4,-1))"),
    ],
)
def test_a_yaml_list_is_understood_and_written_as_text(written: str, after: str) -> None:
    text = f"sft_train:\n  device_mapping: {written}\n  name: x\n"
    reading = of(text)
    assert the(reading, "PW105").help == f"write `{after}`"
    again = mended(reading, "PW105")
    assert said(again) == []
    assert where(again, "sft_train") == where(reading, "sft_train")


@pytest.mark.parametrize("value", ["7", "~", "{a: 1}", "[a]", "1.5", "true", '""', "0-7", "range(8", "[-1]"])
def test_what_is_no_text_of_ids_is_refused(value: str) -> None:
    reading = of(f"sft_train: {{device_mapping: {value}}}\n" if value != "0-7" else "sft_train:\n  device_mapping: 0-7\n")
    assert {finding.severity for finding in reading.findings} == {Severity.ERROR}
    assert {finding.code for finding in reading.findings} <= {"PW103", "PW105"}


def test_a_role_that_is_not_started_fails_only_where_roll_reads_it() -> None:
    assert said(of({**RLVR, "reference": {"device_mapping": "[-1]"}}))[0] == ("PW103", "warning", "reference")
    assert said(of({**RLVR, "reference": {"device_mapping": "[0"}}))[0] == ("PW103", "error", "reference")


def test_twice_the_same_device_is_told() -> None:
    assert (
        the(of({"sft_train": {"device_mapping": "[0, 1, 0]"}}), "PW108").message
        == "`sft_train` names device 0 more than once: 3 ids, 2 of them different"
    )


def test_edits_keep_the_quotes_and_the_rest() -> None:
    for before, after in (
        ('device_mapping: "list(rang(0,8))"  # all', 'device_mapping: "list(range(0,8))"  # all'),
        ("device_mapping: list(rang(0,8))", "device_mapping: list(range(0,8))"),
        ("device_mapping: 0-7", 'device_mapping: "list(range(0,8))"'),
    ):
        reading = of(f"sft_train:\n  {before}\n")
        edit = the(reading, "PW103").edit
        assert edit is not None
        assert apply_edits(reading.source.text, [edit]) == f"sft_train:\n  {after}\n"


def test_an_unknown_value_is_not_judged() -> None:
    reading = of(changed(RLVR, actor_train={"device_mapping": "${oc.env:GPUS}"}))
    assert said(reading) == []
    assert any(each.subject == "actor_train" for each in reading.unchecked)


def test_strategies_that_roll_had_once_are_named() -> None:
    reading = of(changed(RLVR, actor_train={"strategy_args": {"strategy_name": "deepspeed_train"}}))
    assert the(reading, "PW105").help == "write `megatron_train`"
    assert said(mended(reading, "PW105")) == []


def test_only_engines_generate() -> None:
    assert the(of(changed(RLVR, actor_infer={"strategy_args": {"strategy_name": "hf_infer"}})), "PW123").subject == "actor_infer"


@pytest.mark.parametrize(
    ("change", "subject"),
    [
        ({"critic": None}, "critic"), ({"actor_train": {"world_size": None}}, "actor_train"), ({"actor_train": {"strategy_args": None}}, "actor_train"),
        ({"actor_infer": {"num_gpus_per_worker": "2"}}, "actor_infer"), ({"actor_train": {"device_mapping": None}}, "actor_train"),
        ({"rewards": {"math": {"world_size": None}}}, "rewards.math"), ({"adv_estimator": "Gae"}, ""), ({"actor_train": 3}, "actor_train"),
    ],
)  # fmt: skip
def test_types_are_checked_as_roll_does(change: Config, subject: str) -> None:
    text = yaml.safe_dump(
        json.loads(json.dumps({**RLVR, **{k: {**RLVR[k], **v} if isinstance(v, dict) else v for k, v in change.items()}}))
    )
    assert ("PW105", "error", subject) in said(of(text))


def test_optional_blocks_may_be_null() -> None:
    assert said(of({**RLVR, "reward_model": None})) == []


# -- keys that ROLL drops


def test_a_misspelt_device_mapping_is_an_error_where_roll_misses_it() -> None:
    config = {"sft_train": {"device_maping": "list(range(0,8))"}}
    assert said(of(config)) == [("PW104", "error", "sft_train")]
    assert sizes(of(config)) == {"sft_train": 8}
    reading = of(changed(RLVR, rewards={"math": {"world_size": 4, "device_maping": "[0]"}}))
    assert said(reading) == [("PW104", "warning", "rewards.math")]
    assert said(mended(of({"sft_train": {"device_maping": "[0]", "world_size": 1}}), "PW104")) == []


def test_a_misspelt_role_is_named_with_what_was_meant() -> None:
    config = {("actor_trian" if key == "actor_train" else key): value for key, value in RLVR.items()}
    finding = the(of(config), "PW104")
    assert (finding.subject, finding.severity.value, finding.help) == ("actor_train", "error", "write `actor_train`")
    assert sizes(of(config)) == sizes(of(RLVR))
    assert said(mended(of(config), "PW104")) == []


def test_keys_with_dots_are_no_paths() -> None:
    assert "one key with a dot" in the(of({**RLVR, "actor_train.device_mapping": "[0]"}), "PW104").message


def test_a_role_of_another_pipeline_is_ignored() -> None:
    assert the(of({**AGENTIC, "rewards": {"math": {"world_size": 4}}}), "PW104").subject == "rewards"


def test_misspelt_keys_of_the_job_are_asked_about() -> None:
    assert the(of({**RLVR, "num_gpu_per_node": 8}), "PW104").help == "is `num_gpus_per_node` meant?"


# -- machines


def test_what_roll_counts_replaces_what_is_written() -> None:
    config = {**RLVR, "num_nodes": 2, "num_gpus_per_node": 1}
    config = changed(config, actor_train={"device_mapping": "list(range(0,2))"}, actor_infer={"device_mapping": "list(range(0,2))"})
    reading = of(config, "1x8")
    assert [finding.message.partition(":")[0] for finding in reading.findings] == [
        "`num_gpus_per_node` is 1, but ROLL replaces it with 8",
        "`num_nodes` is 2, but ROLL replaces it with 1",
    ]
    assert said(of(apply_edits(reading.source.text, [f.edit for f in reading.findings if f.edit]), "1x8")) == []


def test_ids_are_counted_from_the_first_device_of_the_first_node() -> None:
    reading = of({"sft_train": {"device_mapping": "[1, 3]"}}, "1x2")
    assert the(reading, "PW102").message == "`sft_train` names device 3, which is on node 1; the cluster has 1 node of 2 devices: ids 0-1"
    assert said(mended(reading, "PW102", "1x2")) == []


def test_machines_that_are_not_described_are_said_to_be_assumed() -> None:
    reading = of({**RLVR, "num_gpus_per_node": 4})
    assert where(reading, "actor_train")[4] == [(1, 0)]
    assert reading.unchecked[0].why.startswith("ROLL counts the devices of the machine that it is started on; 4 a node were taken")
    assert of(RLVR, "x4").problem == of({**RLVR, "num_gpus_per_node": 4}).problem
    assert isinstance(read_shorthand("x4"), AsDeclared)


def test_smaller_nodes_do_not_count_and_surplus_devices_are_not_used() -> None:
    config = changed(RLVR, actor_train={"device_mapping": "list(range(0,16))"}, actor_infer={"device_mapping": "list(range(0,16))"})
    short = of(config, "1x8+1x4")
    assert "(1 others have fewer)" in next(finding.message for finding in short.findings)
    reading = of(config, "1x8+1x4+1x12")
    assert said(reading) == []
    assert reading.problem is not None
    assert [(node.name, len(node.accelerators)) for node in reading.problem.cluster.nodes] == [("node-0", 8), ("node-2", 8)]


def test_nodes_that_roll_could_use_twice_are_told() -> None:
    config = changed(RLVR, actor_train={"device_mapping": "list(range(0,16))"}, actor_infer={"device_mapping": "list(range(0,16))"})
    assert the(of(config, "1x8+1x16"), "PW114").severity is Severity.WARNING


def test_only_reserved_nodes_are_judged() -> None:
    reading = of(RLVR, "4x8")
    assert reading.problem is not None
    assert len(reading.problem.cluster.nodes) == 1


def test_a_worker_over_two_nodes_keeps_all_its_devices() -> None:
    reading = of(changed(RLVR, actor_infer={"device_mapping": "list(range(7,15))"}), "2x8")
    assert where(reading, "actor_infer")[0] == [(0, 7), (1, 0)]


def test_every_number_is_derived() -> None:
    reading = of(RLVR, "1x8")
    found = {(each.component, each.name): (each.value, each.formula) for each in reading.derivations}
    assert found["actor_infer", "world size"] == (4, "8 device ids // 2 per worker")
    assert found["actor_infer", "num_gpus_per_worker"] == (2, "tp 2 x pp 1")
    assert found["", "num_nodes"] == (1, "highest device id 7 // 8 per node + 1")
    defaults = {figure.name: figure.default for each in reading.derivations for figure in each.figures if figure.default}
    assert defaults["actor_infer.strategy_args.strategy_config.pipeline_parallel_size"].startswith("ROLL, ")
