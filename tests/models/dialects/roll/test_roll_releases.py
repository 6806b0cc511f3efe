"""What is said of a ROLL file depends on the release that it is judged for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from placewright.models.dialects.roll.names import AGENTIC as AGENTIC_CONFIG
from placewright.models.dialects.roll.names import RELEASES
from placewright.models.dialects.roll.names import RLVR as RLVR_CONFIG
from placewright.models.dialects.roll.profile import Defaults, profile_of
from placewright.models.findings.finding import Severity
from placewright.models.findings.span import apply_edits
from placewright.models.reading import Reading
from placewright.models.releases.choice import state_release
from placewright.models.releases.evidence import release_beside
from placewright.models.releases.release import read_releases

from .pipelines import AGENTIC, RLVR, Config, changed, of, said, sizes, the

TABLE = read_releases(RELEASES)
NAMES = [release.name for release in TABLE]
ZERO_3 = {"zero_optimization": {"stage": 3}}


def by_deepspeed(name: str = "deepspeed_train", config: Any = None) -> Config:
    return {"strategy_args": {"strategy_name": name, "strategy_config": ZERO_3 if config is None else config}}


def errors(reading: Reading) -> list[str]:
    return [finding.code for finding in reading.findings if finding.severity is Severity.ERROR]


DEEPSPEED = changed(RLVR, actor_train=by_deepspeed())


def test_a_removed_strategy_shows_an_older_release_and_is_one_warning() -> None:
    both = changed(DEEPSPEED, reference={**by_deepspeed("deepspeed_infer"), "device_mapping": "list(range(0,8))"}, use_kl_loss=True)
    for config, roles in ((DEEPSPEED, 1), (both, 2)):
        reading = of(config, "1x8", "training")
        assert said(reading) == [("PW105", "warning", "actor_train")]
        finding = the(reading, "PW105")
        assert "removed in ROLL 0.3.0" in finding.message and "judged for ROLL 0.2.1" in finding.notes[0]
        assert finding.message.count("`deepspeed_") == roles
        assert reading.document.release is not None and reading.document.release.release.name == "0.2.1"


def test_it_is_an_error_of_a_release_that_has_it_no_more_and_nothing_of_one_that_has_it() -> None:
    assert errors(of(DEEPSPEED, "1x8", release="0.3.0")) == ["PW105"]
    both = changed(DEEPSPEED, reference={**by_deepspeed(), "device_mapping": "list(range(0,8))"}, use_kl_loss=True)
    reading = of(both, "1x8", release="0.3.0")
    assert errors(reading) == ["PW105"] and "2 roles" in the(reading, "PW105").message
    assert the(reading, "PW105").help == "write `megatron_train`, with keys of `megatron_train` in `strategy_config`"
    assert the(reading, "PW105").edit is None  # Megatron refuses `zero_optimization`
    free = changed(RLVR, actor_train={"strategy_args": {"strategy_name": "deepspeed_train", "strategy_config": None}})
    reading = of(free, "1x8", release="0.3.0")
    edit = the(reading, "PW105").edit
    assert edit is not None and errors(of(apply_edits(reading.source.text, [edit]), "1x8", release="0.3.0")) == []
    for name in ("0.1.3", "0.2.0", "0.2.1"):
        assert said(of(DEEPSPEED, "1x8", "training", name)) == []


@pytest.mark.parametrize(
    ("name", "stage", "code"),
    [("deepspeed_train", 0, "PW403"), ("deepspeed_train", 1, ""), ("deepspeed_infer", 2, "PW403"), ("deepspeed_infer", 3, "")],
)
def test_stages_of_zero_that_deepspeed_is_refused_with_are_told(name: str, stage: int, code: str) -> None:
    role = by_deepspeed(name, {"zero_optimization": {"stage": stage}})
    config = changed(RLVR, reference={**role, "device_mapping": "list(range(0,8))"}, use_kl_loss=True)
    assert errors(of(config, "1x8", release="0.2.1")) == [code] * bool(code)


def test_an_unset_stage_of_zero_is_not_judged() -> None:
    reading = of(changed(RLVR, actor_train=by_deepspeed(config={})), "1x8", "training", "0.2.1")
    assert said(reading) == [] and any("stage" in each.why for each in reading.unchecked)


def test_ranks_of_deepspeed_that_share_a_sequence_divide() -> None:
    config = changed(DEEPSPEED, actor_train={"model_args": {"ulysses_size": 2}})
    reading = of(config, "1x8", release="0.2.1")
    assert reading.problem is not None and reading.problem["actor_train"].parallel.cp == 2


def test_a_strategy_that_came_later_is_an_error_before() -> None:
    config = changed(RLVR, actor_train={"strategy_args": {"strategy_name": "fsdp2_train"}})
    finding = the(of(config, "1x8", release="0.1.3"), "PW105")
    assert "before 0.2.0" in finding.message
    assert said(of(config, "1x8")) == []


def test_the_newest_release_is_assumed_and_left_over_keys_exclude_nothing() -> None:
    reading = of({**RLVR, "alive_check_interval": 10}, "1x8")  # removed in 0.2.0: ROLL drops it without a word
    assert reading.document.release is not None and str(reading.document.release).endswith("(newest, assumed)")
    assert len(reading.document.release.possible) == len(NAMES)


def test_a_key_that_came_later_excludes_what_is_older() -> None:
    reading = of({**RLVR, "enable_reference": False}, "1x8")
    assert reading.document.release is not None
    assert next(iter(reading.document.release.possible)).name == "0.1.3"


@pytest.mark.parametrize("count", [0, -1, 4])
def test_devices_of_a_node_are_replaced_since_0_1_3(count: int) -> None:
    reading = of({**RLVR, "num_gpus_per_node": count}, "1x8", "training", "0.1.3")
    assert said(reading) == [("PW126", "warning", "")] and sizes(reading)["actor_train"] == 8


@pytest.mark.parametrize(("key", "value"), [("num_nodes", 0), ("num_nodes", 3)])
def test_nodes_are_replaced_before_they_are_read(key: str, value: int) -> None:
    assert said(of({**RLVR, key: value}, "1x8")) == [("PW126", "warning", "")]


def test_devices_of_a_node_are_read_as_written_before() -> None:
    config = {**RLVR, "num_gpus_per_node": 4, "reference": {**by_deepspeed("deepspeed_infer"), "device_mapping": "list(range(0,8))"}}
    reading = of(config, "2x8", release="0.1.1")
    assert reading.problem is not None and len(reading.problem.cluster.nodes) == 2
    assert not any(finding.code in ("PW126", "PW803") for finding in reading.findings)  # and the reference is always started
    assert errors(of({**config, "num_gpus_per_node": 0}, "2x8", release="0.1.1")) == ["PW105"]


def test_a_reference_is_always_started_before_0_1_3() -> None:
    assert errors(of(RLVR, "1x8", release="0.1.1")) == ["PW101"]
    assert errors(of(RLVR, "1x8", release="0.1.3")) == []


def test_ids_with_holes_are_refused_since_0_2_0() -> None:
    holes = {"device_mapping": "list([0,1,2,3,8,9,10,11])"}
    config = changed(RLVR, actor_train=holes, actor_infer={"device_mapping": "list([4,5,12,13])"})
    contiguous = [of(config, "2x8", release=name).problem for name in ("0.1.3", "0.2.0")]
    assert [each["actor_train"].contiguous for each in contiguous if each] == [False, True]


def test_partial_gpu_mode_is_there_since_0_2_0() -> None:
    config = changed(AGENTIC, actor_train={"device_mapping": "list(range(0,4))"}, val_batch_size=24, rollout_batch_size=24)
    assert "PW123" in errors(of(config, "1x8", release="0.2.0"))
    assert "PW123" not in errors(of(config, "1x8", release="0.1.3"))


def test_what_generates_is_an_engine_since_0_2_0() -> None:
    config = changed(RLVR, actor_infer={"strategy_args": {"strategy_name": "hf_infer"}}, num_gpus_per_worker=1)
    assert errors(of(config, "1x8", release="0.1.3")) == []
    assert errors(of(config, "1x8", release="0.2.0")) == ["PW123"]
    assert "accept" in the(of(config, "1x8"), "PW123").notes[-1]


def test_environments_fill_their_workers_in_0_1_0() -> None:
    uneven = {"num_env_groups": 6, "group_size": 4, "max_env_num_per_worker": 9, "tags": ["a"], "num_groups_partition": [6]}
    config = changed(AGENTIC, train_env_manager=uneven, val_env_manager=uneven, rollout_batch_size=24, val_batch_size=24,
                     reference={"strategy_args": {"strategy_name": "megatron_infer"}, "device_mapping": "list(range(0,8))"})  # fmt: skip
    assert [errors(of(config, "1x8", release=name)).count("PW403") for name in ("0.1.0", "0.1.1")] == [2, 0]


def test_a_reward_flow_pipeline_starts_the_actor_alone() -> None:
    config = {"train_batch_size": 8, "actor_train": {**by_deepspeed(), "device_mapping": "list(range(0,8))"}}
    reading = of(config, "1x8", "training")
    assert errors(reading) == [] and sizes(reading) == {"actor_train": 8}


def test_profiles_have_the_blocks_and_words_of_their_release() -> None:
    profiles = {name: profile_of(state_release(TABLE, release)) for name in NAMES if (release := TABLE.find(name))}
    assert "reward_model" in profiles["0.3.0"].blocks(RLVR_CONFIG) and "reward_model" not in profiles["0.2.1"].blocks(RLVR_CONFIG)
    assert "reward" in profiles["0.2.0"].blocks(AGENTIC_CONFIG) and "reward" not in profiles["0.1.3"].blocks(AGENTIC_CONFIG)
    defaults = {name: profiles[name].keys("StrategyArguments")["strategy_name"][1] for name in ("0.2.1", "0.3.0")}
    assert defaults == {"0.2.1": "deepspeed_train", "0.3.0": "fsdp2_train"}
    assert "step_reinforce" not in profiles["0.1.0"].keys(AGENTIC_CONFIG)["adv_estimator"][0]
    assert all("num_gpus_per_node" in Defaults(profile) for profile in profiles.values())


def test_a_key_of_another_release_is_named_with_it() -> None:
    reading = of(changed(RLVR, actor_train={"use_remove_padding": True}), "1x8")
    assert "only in 0.1.1 to 0.1.3" in the(reading, "PW104").message
    assert said(of(changed(DEEPSPEED, actor_train={"use_remove_padding": True}), "1x8", release="0.1.3")) == []


def test_aliases_and_defaults_are_those_of_the_release() -> None:
    unnamed = changed(RLVR, actor_train={"strategy_args": {"strategy_config": ZERO_3}})
    reading = of(unnamed, "1x8", release="0.2.1")
    assert reading.problem is not None and reading.problem["actor_train"].backend == "deepspeed"


@pytest.mark.parametrize("mark", [*sorted(TABLE.marks), ""])
def test_a_checkout_is_named_by_the_files_that_came_with_its_release(mark: str, tmp_path: Path) -> None:
    """Each release has its mark and those before it."""
    came = {path: next(release for release in TABLE if TABLE.holds(ranges[0], release)) for path, ranges in TABLE.marks.items()}
    last = came[mark] if mark else TABLE.releases[0]
    for path in (TABLE.checkout, *(path for path, release in came.items() if release.index <= last.index)):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("", "utf-8")
    choice = release_beside(TABLE, "", [str(tmp_path)])
    assert choice is not None and choice.release == last
