"""Errors of a file whose release nobody states: refused by all possible releases, else warnings."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Sequence

import pytest
from placewright.models.composition import Composer
from placewright.models.dialects.agreement import with_policy
from placewright.models.dialects.load import load, read
from placewright.models.findings.finding import Finding, Severity, error
from placewright.models.machines.shorthand import read_shorthand
from placewright.models.model_cards import ModelCard
from placewright.models.reading import Reading
from placewright.models.releases.release import Release
from placewright.models.text.source import Source
from placewright.planner.verify import verify

R, A = "actor_rollout_ref.rollout", "actor_rollout_ref.actor"
SIZES = "trainer.nnodes=1 trainer.n_gpus_per_node=8 algorithm.adv_estimator=grpo data.train_batch_size=256"
MICRO = f"{A}.ppo_micro_batch_size_per_gpu=2 {R}.log_prob_micro_batch_size_per_gpu=2"
WHOLE = f"{SIZES} {MICRO} {A}.ppo_mini_batch_size=64 {R}.tensor_model_parallel_size=1"
OLD_REWARD = "reward_model.enable=True reward_model.model.path=m reward_model.micro_batch_size_per_gpu=2"


def reading(settings: str, release: str = "") -> Reading:
    frameworks = (f"verl=={release}",) if release else ()
    text = f"python3 -m verl.trainer.main_ppo {settings}\n"
    return read(Source("run.sh", text), read_shorthand("1x8"), composer=Composer(frameworks=frameworks))


def errors(findings: Sequence[Finding]) -> list[str]:
    return [finding.message for finding in findings if finding.severity is Severity.ERROR]


@pytest.mark.parametrize(
    ("settings", "refusing", "accepting", "note"),
    [
        (WHOLE, "1dda039b", "0.5.0", "verl 0.3.0 to 0.5.0 accept it"),
        (
            f"{SIZES} {R}.name=vllm {A}.ppo_mini_batch_size=64 {A}.ppo_micro_batch_size=8 {R}.log_prob_micro_batch_size=8",
            "1dda039b",
            "0.5.0",
            "accept it",
        ),
        (f"{WHOLE} {R}.name=vllm {OLD_REWARD} reward_model.model.use_remove_padding=True", "b178a3cd", "0.6.1", "accept it"),
    ],
    ids=["engine", "micro batches", "reward model"],
)
def test_what_a_part_of_the_possible_releases_refuses_is_a_warning(settings: str, refusing: str, accepting: str, note: str) -> None:
    assert errors(reading(settings, refusing).findings) and not errors(reading(settings, accepting).findings)
    disputed = [finding for finding in reading(settings).findings if finding.disputed]
    assert disputed and not errors(reading(settings).findings)
    assert all(finding.severity is Severity.WARNING and note in finding.notes[-1] for finding in disputed)
    report = verify(reading(settings))
    assert report.verdict == "incomplete" and "--framework verl==VERSION" in report.missing[0].add


def test_what_all_possible_releases_refuse_is_an_error() -> None:
    settings = f"{WHOLE} {R}.name=vllm".replace("parallel_size=1", "parallel_size=3")
    assert [finding.code for finding in verify(reading(settings)).errors] == ["PW208"]
    assert len(errors(reading(f"{WHOLE} {R}.nmae=vllm").findings)) == 1  # `name` has a default in old releases


def test_where_no_release_has_all_keys_those_with_the_fewest_errors_decide() -> None:
    keys = "critic.model.enable_gradient_checkpointing=True reward_model.param_offload=True algorithm.use_kl_in_reward=False"
    text = f"--config-name=ppo_megatron_trainer {WHOLE} {R}.name=vllm {OLD_REWARD} {keys}"
    found = reading(text)
    assert found.document.release is not None and "no release takes all keys" in found.document.release.reason
    assert [message.partition("no key ")[2] for message in errors(found.findings)] == ["`reward_model.param_offload`"]


def test_the_errors_stay_where_each_release_has_its_own() -> None:
    text = f"{WHOLE} {R}.name=vllm distillation.enabled=False {A}.fsdp_config.grad_offload=True"
    assert errors(reading(text).findings)


@pytest.mark.parametrize("release", ["0.6.1", "0.9.0"])
def test_a_stated_release_decides_alone(release: str) -> None:
    assert errors(reading(WHOLE, release).findings) == [f"`{R}.name` is not set, and has no default"]


@pytest.mark.parametrize("code", ["", "def main(): ...\n"])
def test_a_fork_without_a_version_proves_nothing(tmp_path: Path, code: str) -> None:
    (tmp_path / "verl" / "trainer").mkdir(parents=True)
    (tmp_path / "verl" / "trainer" / "main_ppo.py").write_text(code)
    script = tmp_path / "run.sh"
    script.write_text(f"python3 -m verl.trainer.main_ppo {WHOLE} {R}.name=vllm trainer.logger=[board]\n")
    found = load(script)
    assert found.document.release is not None and bool(found.document.release.differs) is bool(code)
    assert any("which this release of verl does not log to" in finding.message for finding in found.findings)
    assert bool(errors(found.findings)) is not bool(code)


@pytest.mark.parametrize(("section", "proves"), [("rllm: {enable: true}", False), ("rewardd: {enable: true}", True), ("rllm: true", True)])
def test_a_section_of_no_release_is_of_another_program(section: str, proves: bool) -> None:
    text = f"trainer: {{nnodes: 1, n_gpus_per_node: 8}}\nactor_rollout_ref: {{rollout: {{name: vllm, tensor_model_parallel_size: 3}}}}\n{section}\n"
    found = verify(read(Source("job.yaml", text), read_shorthand("1x8"), composer=Composer(frameworks=("verl==0.9.0",))))
    assert bool(found.errors) is proves


def test_a_setting_overrides_the_configuration_of_the_checkout(tmp_path: Path) -> None:
    folder = tmp_path / "verl" / "trainer" / "config"
    folder.mkdir(parents=True)
    micro, batches = "ppo_micro_batch_size_per_gpu: 2, use_dynamic_bsz: false", "log_prob_micro_batch_size_per_gpu: 2"
    (folder / "ppo_trainer.yaml").write_text(
        f"data: {{train_batch_size: 32}}\nalgorithm: {{adv_estimator: grpo}}\ntrainer: {{nnodes: 1, n_gpus_per_node: 8}}\n"
        f"actor_rollout_ref: {{actor: {{ppo_mini_batch_size: 64, {micro}}}, rollout: {{name: vllm, {batches}}}}}\n"
    )
    script = tmp_path / "run.sh"
    script.write_text(f"python3 -m verl.trainer.main_ppo --config-path=$PWD/verl/trainer/config --config-name=ppo_trainer {R}.name=vllm\n")
    helps = [finding.help for finding in load(script, read_shorthand("1x8")).findings if finding.code == "PW403"]
    assert helps == ["set `data.train_batch_size=64`"]


def test_ranks_that_older_releases_take_are_disputed() -> None:
    steps = "rollout_batch_size: 16\nprompt_length: 128\nresponse_length: 128\nadv_estimator: grpo\nuse_kl_loss: false\ninit_kl_coef: 0\nnum_gpus_per_node: 8\n"
    train = (
        "training_args: {per_device_train_batch_size: 1, gradient_accumulation_steps: 4}\n  strategy_args: {strategy_name: megatron_train}"
    )
    infer = "strategy_args: {strategy_name: vllm}"
    text = (
        f"pretrain: m\n{steps}actor_train:\n  {train}\n  device_mapping: list([0,1,4,5])\n"
        f"actor_infer:\n  {infer}\n  device_mapping: list([2,3,6,7])\nrewards: {{}}\n"
    )

    def codes(release: str = "") -> tuple[str, list[str]]:
        composer = Composer(frameworks=(f"roll=={release}",) if release else ())
        report = verify(read(Source("job.yaml", text), read_shorthand("1x8"), "roll", composer=composer))
        return report.verdict, [finding.code for finding in report.errors]

    assert codes("0.2.1")[1] == ["PW205", "PW205"] and not codes("0.1.3")[1]
    assert codes() == ("incomplete", [])


def test_an_error_names_only_releases_that_accept_the_value() -> None:
    found = verify(reading(f"{WHOLE} {R}.name=vllm {A}.strategy=fsdp3")).errors
    assert len(found) == 1 and not any("accept" in note or "this fixes" in note for note in found[0].notes)


def test_a_search_and_a_launch_take_what_the_assumed_release_refuses_for_an_error() -> None:
    disputed = reading(f"{WHOLE}")
    assert verify(disputed).verdict == "incomplete" and not verify(disputed).errors
    assert verify(disputed.to_solve).errors and verify(disputed.to_launch).errors


def test_positions_of_a_model_that_is_passed_are_compared_between_releases() -> None:
    """Older releases end every answer at the last position, where newer ones refuse the limit."""
    card = ModelCard("mine", heads=8, positions=4096)

    def judged(release: str = "") -> tuple[str, list[str]]:
        report = verify(with_policy(reading(f"{WHOLE} {R}.name=vllm {R}.max_model_len=8192", release), card))
        return report.verdict, [finding.code for finding in report.errors]

    assert judged("1dda039b") == ("faulty", ["PW403"]) and judged("0.7.0") == ("ok", [])
    assert judged() == ("incomplete", [])


def test_refusals_of_open_degrees_are_compared_between_releases() -> None:
    sound = reading(f"{WHOLE} {R}.name=vllm")
    refusal = error("PW208", "actor", "every choice of degrees that the hints leave open is refused", sound.source.whole())

    @dataclass
    class Opening:
        refusals: tuple[Finding, ...]

        def open_ranks(self) -> Reading:
            return sound

        def find_refusals(self) -> tuple[Finding, ...]:
            return self.refusals

    def refusing(releases: str) -> Reading:
        def read_for(release: Release) -> Reading:
            opening = Opening((refusal,) if release.name in releases.split() else ())
            return replace(sound, session=replace(sound.session, opening=opening, for_release=None))

        return replace(sound, session=replace(sound.session, opening=Opening((refusal,)), for_release=read_for))

    assert sound.document.release is not None
    names = [release.name for release in sound.document.release.possible]
    assert verify(refusing(" ".join(names))).verdict == "faulty"
    report = verify(refusing(names[-1]))
    assert (report.verdict, [finding.disputed for finding in report.findings if finding.code == "PW208"]) == ("incomplete", [True])


@pytest.mark.parametrize(
    ("reference", "is_faulty"),
    [
        ("trainer.logger.0", False),
        ("trainer.logger[0]", False),
        ("foo.optim.lr", False),
        ("foo.optim.nope", True),
        ("trainer.nnodes.0", True),
    ],
)
def test_a_reference_into_a_default_or_through_a_section_is_resolved(reference: str, is_faulty: bool) -> None:
    settings = f"{WHOLE} {R}.name=vllm '+foo=${{{A}}}' '+bar=${{{reference}}}'"
    assert any("cannot be resolved" in message for message in errors(reading(settings, "0.9.0").findings)) is is_faulty
