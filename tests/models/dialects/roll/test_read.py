"""Keys, types and strategies of a ROLL configuration: what is refused, asked about or ignored."""

from __future__ import annotations

import json

import pytest
import yaml
from placewright.models.findings.finding import Severity
from placewright.models.findings.span import apply_edits
from placewright.planner.verify import verify

from .pipelines import AGENTIC, RLVR, Config, changed, mended, of, said, the

DEVICES = {"strategy_args": {"strategy_name": "megatron_infer"}, "device_mapping": "list(range(0,8))"}


def test_an_unknown_value_is_not_judged() -> None:
    reading = of(changed(RLVR, actor_train={"device_mapping": "${oc.env:GPUS}"}))
    assert said(reading) == []
    assert any(each.subject == "actor_train" for each in reading.unchecked)


def test_strategies_that_roll_had_once_are_named() -> None:
    reading = of(changed(RLVR, actor_train={"strategy_args": {"strategy_name": "deepspeed_train"}}), release="0.3.0")
    assert the(reading, "PW105").help == "write `megatron_train`"
    assert "removed in 0.3.0" in the(reading, "PW105").message
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


def test_a_misspelt_device_mapping_is_an_error_where_roll_misses_it() -> None:
    config = {"sft_train": {"device_maping": "list(range(0,8))"}}
    (finding,) = verify(of(config)).findings
    assert (finding.code, finding.severity.value, finding.subject) == ("PW104", "error", "sft_train")
    assert finding.notes[-1].startswith("this fixes PW101 too")
    reading = of(changed(RLVR, rewards={"math": {"world_size": 4, "device_maping": "[0]"}}))
    assert said(reading) == [("PW104", "warning", "rewards.math")]
    assert said(mended(of({"sft_train": {"device_maping": "[0]", "world_size": 1}}), "PW104")) == []


def test_a_misspelt_role_is_named_with_what_was_meant() -> None:
    config = {("actor_trian" if key == "actor_train" else key): value for key, value in RLVR.items()}
    (finding,) = verify(of(config)).findings
    assert (finding.subject, finding.severity.value, finding.help) == ("actor_trian", "error", "write `actor_train`")
    assert said(mended(of(config), "PW104")) == []


@pytest.mark.parametrize("release", ["0.1.0", "0.2.0", "0.3.0", ""])
@pytest.mark.parametrize("name", ["reward", "rewads"])
def test_rewards_under_another_name_are_missed(name: str, release: str) -> None:
    config: Config = {**changed(RLVR, rewards=None), name: RLVR["rewards"], "enable_reference": False}
    config |= {"actor_train": {**RLVR["actor_train"], "data_args": {"domain_interleave_probs": {"math": 1.0}}}, "reference": DEVICES}
    reading = of(config, "1x8", "training", release)
    findings = [finding for finding in verify(reading).findings if finding.severity is Severity.ERROR]
    assert [(finding.code, finding.subject, finding.help) for finding in findings] == [("PW104", name, "write `rewards`")]
    assert not [finding for finding in verify(mended(reading, "PW104")).findings if finding.severity is Severity.ERROR]


def test_a_rollout_starts_without_rewards() -> None:
    config = {**changed(RLVR, rewards=None, actor_train=None), "reward": RLVR["rewards"]}
    assert [severity for code, severity, _ in said(of(config)) if code == "PW104"] == ["warning"]
    partial = {"defaults": ["base"], **changed(RLVR, rewards=None), "reward": RLVR["rewards"]}
    assert "error" not in [severity for code, severity, _ in said(of(partial)) if code == "PW104"]


def test_a_comma_in_a_flow_map_is_one_error_at_its_text() -> None:
    text = "adv_estimator: grpo\ninit_kl_coef: 0\nrewards: {math: {world_size: 1}}\n"
    text += "actor_train: {device_mapping: list(range(0,8))}\nactor_infer: {strategy_args: {strategy_name: vllm}, device_mapping: '[0]'}\n"
    reading = of(text, "1x8")
    assert [code for code, severity, _ in said(reading) if severity == "error" or code == "PW104"] == ["PW103"]
    finding = the(reading, "PW103")
    assert finding.help == "write the text in quotes: in a flow map a comma ends it"
    assert finding.span is not None and finding.span.line == 4


def test_keys_with_dots_are_no_paths() -> None:
    assert "one key with a dot" in the(of({**RLVR, "actor_train.device_mapping": "[0]"}), "PW104").message


def test_a_role_of_another_pipeline_is_ignored() -> None:
    assert the(of({**AGENTIC, "rewards": {"math": {"world_size": 4}}}), "PW104").subject == "rewards"


def test_misspelt_keys_of_the_job_are_asked_about() -> None:
    assert the(of({**RLVR, "num_gpu_per_node": 8}), "PW104").help == "is `num_gpus_per_node` meant?"


def test_what_roll_counts_replaces_what_is_written() -> None:
    config = {**RLVR, "num_nodes": 2, "num_gpus_per_node": 1}
    config = changed(config, actor_train={"device_mapping": "list(range(0,2))"}, actor_infer={"device_mapping": "list(range(0,2))"})
    reading = of(config, "1x8")
    assert [finding.message.partition(":")[0] for finding in reading.findings] == [
        "`num_gpus_per_node` is 1, but ROLL replaces it with 8",
        "`num_nodes` is 2, but ROLL replaces it with 1",
    ]
    assert said(of(apply_edits(reading.source.text, [f.edit for f in reading.findings if f.edit]), "1x8")) == []
