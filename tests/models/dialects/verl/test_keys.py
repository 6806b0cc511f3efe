"""Keys that a release of verl does not have: what Hydra refuses, what nothing reads, and which key was meant."""

from __future__ import annotations

from pathlib import Path
from typing import Sequence

import pytest
from placewright.models.composition import Composer
from placewright.models.dialects.load import load_settings, read
from placewright.models.dialects.verl.programs import table_of
from placewright.models.findings.finding import Finding
from placewright.models.machines.shorthand import read_shorthand
from placewright.models.reading import Reading
from placewright.models.text.nearest import closest
from placewright.models.text.source import Source
from placewright.planner.verify import verify

GOOD = "trainer.nnodes=1 trainer.n_gpus_per_node=8 algorithm.adv_estimator=grpo actor_rollout_ref.rollout.name=vllm"
BESIDE = "data.train_batch_size=64 actor_rollout_ref.rollout.tensor_model_parallel_size=2 actor_rollout_ref.actor.ppo_mini_batch_size=64"
ROLLOUT = "actor_rollout_ref.rollout"


def reading(settings: str, release: str = "1dda039b", program: str = "verl.trainer.main_ppo", *set_: str) -> Reading:
    frameworks = (f"verl=={release}",) if release else ()
    return read(Source("run.sh", f"python3 -m {program} {GOOD} {settings}\n"), composer=Composer(settings=set_, frameworks=frameworks))


def about_keys(findings: Sequence[Finding]) -> list[Finding]:
    return [finding for finding in findings if finding.code in ("PW012", "PW104", "PW105")]


SLIPS = (
    (f"{ROLLOUT}.tensor_model_paralel_size", f"{ROLLOUT}.tensor_model_parallel_size"),
    (f"{ROLLOUT}.tensor_parallel_size", f"{ROLLOUT}.tensor_model_parallel_size"),
    (f"{ROLLOUT}.gpu_memory_utilisation", f"{ROLLOUT}.gpu_memory_utilization"),
    ("actor_rollout_ref.actor.ppo_minibatch_size", "actor_rollout_ref.actor.ppo_mini_batch_size"),
    ("actor_rollout_ref.rolout.tensor_model_parallel_size", f"{ROLLOUT}.tensor_model_parallel_size"),
    ("trainer.nnode", "trainer.nnodes"),
    ("trainer.n_gpu_per_node", "trainer.n_gpus_per_node"),
    ("data.train_batchsize", "data.train_batch_size"),
    ("trainer.train_batch_size", "data.train_batch_size"),
    ("trainer.save_frequency", "trainer.save_freq"),
    ("critic.micro_batch_size_per_gpu", "critic.ppo_micro_batch_size_per_gpu"),
    ("actor_rollout_ref.model.lora_r", "actor_rollout_ref.model.lora_rank"),
    (f"{ROLLOUT}.tp_size", f"{ROLLOUT}.tensor_model_parallel_size"),
    (f"{ROLLOUT}.dp", f"{ROLLOUT}.data_parallel_size"),
)


@pytest.mark.parametrize(("wrong", "right"), SLIPS)
@pytest.mark.parametrize("beside", ["", BESIDE])
def test_a_misspelt_key_is_refused_and_the_nearest_is_named(wrong: str, right: str, beside: str) -> None:
    found = reading(f"{beside} {wrong}=4")
    (finding,) = about_keys(found.findings)
    assert (finding.code, finding.severity.value, finding.help) == ("PW012", "error", f"write `{right}`")
    assert finding.unusable
    assert finding.edit is not None
    assert finding.edit.text == right


def test_the_same_with_set() -> None:
    (finding,) = about_keys(reading(BESIDE, "1dda039b", "verl.trainer.main_ppo", "trainer.nnode=2").findings)
    assert (finding.code, finding.help) == ("PW012", "write `trainer.nnodes` in `--set`")


def test_the_same_of_settings_without_a_script() -> None:
    settings = [*GOOD.split(), "actor_rollout_ref.rollout.mode=async", "trainer.nnode=2"]
    assert [each.help for each in about_keys(load_settings(settings, dialect="verl").findings)] == ["write `trainer.nnodes`"]


def test_with_a_plus_a_near_miss_is_a_warning_and_a_key_of_ones_own_is_not() -> None:
    (finding,) = about_keys(reading("+trainer.total_epoch=2 ++trainer.my_own=3 +my.section=4 +data.gen_batch_size=8").findings)
    assert (finding.code, finding.severity.value, finding.help) == ("PW104", "warning", "write `trainer.total_epochs`")


ACTOR = "actor_rollout_ref.actor"
FIELDS = (
    (f"+{ROLLOUT}.tensor_paralel_size=4", "0.6.1 0.7.0 0.8.0 0.9.0 1dda039b", "`RolloutConfig`"),
    (f"+{ACTOR}.ppo_minibatch_size=4", "0.6.0 1dda039b", "`FSDPActorConfig`"),
    (f"++{ACTOR}.fsdp_config.tp_size=4", "0.6.1 1dda039b", "`FSDPEngineConfig`"),
    ("algorithm.adv_estimator=gae +critic.my.key=4", "0.6.1", "`FSDPCriticConfig`"),
)
NO_FIELDS = (
    (f"+{ROLLOUT}.tensor_paralel_size=4", "0.5.0"),
    (f"+{ROLLOUT}.engine_kwargs.vllm.mine=4 +{ACTOR}.optim.override_optimizer_config.foreach=True", "0.8.0"),
    ("+actor_rollout_ref.model.override_config.mine=4 +data.mine=4 +trainer.mine=4", "0.8.0"),
    (f"{ROLLOUT}._target_=my.Own +{ROLLOUT}.mine=4", "0.8.0"),
    ("+critic.my.key=4", "0.6.1"),
    (f"+{ROLLOUT}.sglang_engine_mode=local", "0.6.0"),
)


@pytest.mark.parametrize(("settings", "names", "name"), FIELDS)
def test_a_plus_adds_no_field_to_a_dataclass(settings: str, names: str, name: str) -> None:
    for release in names.split():
        (finding,) = about_keys(reading(settings, release).findings)
        assert (finding.code, finding.severity.value) == ("PW104", "error")
        assert finding.message.startswith(name)


@pytest.mark.parametrize(("settings", "release"), NO_FIELDS)
def test_a_plus_adds_to_other_sections_and_to_older_releases(settings: str, release: str) -> None:
    assert about_keys(reading(settings, release).findings) == []


def test_a_field_of_a_section_above_is_none_of_the_section(tmp_path: Path) -> None:
    """As examples/sapo_trainer of verl 0.8 to 1dda039b: `tau_pos` is a field of the actor, but not of its policy loss."""
    texts = {
        "verl/trainer/main_ppo.py": '@hydra.main(config_path="config", config_name="ppo_trainer")\ndef main(config): ...\n',
        "verl/trainer/config/ppo_trainer.yaml": "defaults: [actor@actor_rollout_ref.actor: actor, _self_]\ntrainer: {nnodes: 1}\n",
        "verl/trainer/config/actor/actor.yaml": "_target_: verl.workers.config.FSDPActorConfig\ntau_pos: 1.0\n"
        "policy_loss: {_target_: verl.workers.config.PolicyLossConfig}\n",
        "run.sh": f"python3 -m verl.trainer.main_ppo +{ACTOR}.policy_loss.tau_pos=1.0\n",
    }
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    found = read(Source.read(tmp_path / "run.sh"), composer=Composer(frameworks=("verl==0.9.0",)))
    assert found.document.is_composed
    (finding,) = about_keys(found.findings)
    assert finding.message == "`PolicyLossConfig` of verl 0.9.0 has no field `tau_pos`, and takes no other key"


def test_a_value_from_a_key_that_depends_on_the_model_asks_for_the_model(tmp_path: Path) -> None:
    """As examples/grpo_trainer/run_qwen2_5_32b_fsdp.sh of verl 1dda039b."""
    rollout = "{name: vllm, n_gpus_per_node: '${oc.select:trainer.n_gpus_per_node,8}'}"
    texts = {
        "verl/trainer/main_ppo.py": '@hydra.main(config_path="config", config_name="ppo_trainer")\ndef main(config): ...\n',
        "verl/trainer/config/ppo_trainer.yaml": f"trainer: {{nnodes: 1, n_gpus_per_node: 8}}\nactor_rollout_ref: {{rollout: {rollout}}}\n",
        "run.sh": 'D=$(python3 -c "import torch_npu" && echo npu || echo gpu)\ncase "$D" in npu) N=16;; *) N=8;; esac\n'
        "python3 -m verl.trainer.main_ppo actor_rollout_ref.actor.use_dynamic_bsz=True trainer.n_gpus_per_node=$N\n",
    }
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    report = verify(read(Source.read(tmp_path / "run.sh"), read_shorthand("x8"), composer=Composer(frameworks=("verl==1dda039b",))))
    assert report.missing and all("--cluster" in missing.add for missing in report.missing)


@pytest.mark.parametrize(("setting", "is_missing"), [("", True), ("actor_rollout_ref.rollout.name=vllm", False)])
def test_a_command_line_has_all_mandatory_values(tmp_path: Path, setting: str, is_missing: bool) -> None:
    """As `reward_model.rollout.name` of tests/special_e2e/ppo_trainer/run_model_reward.sh of verl 0.7.0."""
    texts = {
        "verl/trainer/main_ppo.py": '@hydra.main(config_path="config", config_name="ppo_trainer")\ndef main(config): ...\n',
        "verl/trainer/config/ppo_trainer.yaml": "trainer: {nnodes: 1, n_gpus_per_node: 8}\nactor_rollout_ref: {rollout: {name: '???'}}\n",
        "run.sh": f"python3 -m verl.trainer.main_ppo trainer.nnodes=1 {setting}\n",
    }
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    found = read(Source.read(tmp_path / "run.sh"), read_shorthand("1x8"), composer=Composer(frameworks=("verl==0.7.0",))).findings
    message = "`actor_rollout_ref.rollout.name` is not set, and has no default"
    assert any(finding.message == message for finding in found) == is_missing


def test_a_plus_before_a_key_that_is_there_is_refused() -> None:
    (finding,) = about_keys(reading("+trainer.nnodes=2".replace("nnodes", "val_before_train")).findings)
    assert finding.message == "`trainer.val_before_train` is already in `ppo_trainer` of verl 1dda039b"


def test_a_key_of_other_releases_names_them() -> None:
    (finding,) = about_keys(reading("actor_rollout_ref.actor.fsdp_config.grad_offload=True", "0.6.1").findings)
    assert finding.code == "PW012"
    (finding,) = about_keys(reading("distillation.enabled=True", "0.6.1").findings)
    assert finding.notes == ("Hydra refuses it before the program starts", "verl 0.8.0 to 1dda039b have it")
    assert finding.help == "leave it out, or run a release that has it"


def test_a_program_that_a_release_lacks_is_one_finding() -> None:
    script = "torchrun --nnodes=1 --nproc_per_node=8 -m verl.trainer.fsdp_sft_trainer model.path=m data.train_batch_size=64\n"
    findings = read(Source("sft.sh", script), composer=Composer(frameworks=("verl==0.9.0",))).findings
    assert [finding.code for finding in findings] == ["PW123"]
    (finding,) = read(Source("sft.sh", script), composer=Composer(frameworks=("verl==0.5.0",))).findings
    assert finding.help == "write `model.partial_pretrain`"


MEGATRON = "actor_rollout_ref.actor.megatron.tensor_model_parallel_size=2"
HELPS = (
    (MEGATRON, "1dda039b", "choose what has it: `model_engine=megatron`"),
    (MEGATRON, "0.6.1", "choose what has it: `--config-name=ppo_megatron_trainer`"),
    (
        f"{ROLLOUT}.moe_tensor_parallel_size=2",
        "1dda039b",
        f"write `+{ROLLOUT}.moe_tensor_parallel_size=2`: verl takes it, though no configuration has it",
    ),
)


@pytest.mark.parametrize(("setting", "release", "help_"), HELPS)
def test_a_key_of_another_choice_names_the_choice(setting: str, release: str, help_: str) -> None:
    assert [each.help for each in about_keys(reading(setting, release).findings)] == [help_]


KNOWN = (
    ("distillation.enabled=True", "0.8.0"),
    ("reward.reward_model.enable=True", "0.7.1"),
    ("trainer.use_v1=False", "0.9.0"),
    ("critic.fsdp.fsdp_size=8", "0.8.0"),
    ("critic.model.fsdp_config.fsdp_size=8", "0.6.1"),
    ("model_engine=veomni actor_rollout_ref.actor.veomni.fsdp_size=2", "0.8.0"),
    ("model_engine=megatron actor_rollout_ref.actor.megatron.tensor_model_parallel_size=2", "0.9.0"),
    ("model_engine=$ENGINE actor_rollout_ref.actor.megatron.tensor_model_parallel_size=2", "0.9.0"),
    ("actor@actor_rollout_ref.actor=megatron_actor actor_rollout_ref.actor.megatron.tensor_model_parallel_size=2", "0.9.0"),
    ("trainer.use_legacy_worker_impl=disable", "0.7.0"),
    ("reward_model.reward_manager=dapo", "0.6.1"),
)


@pytest.mark.parametrize(("settings", "release"), KNOWN)
def test_a_key_that_a_release_has_is_not_told(settings: str, release: str) -> None:
    assert about_keys(reading(settings, release).findings) == []


@pytest.mark.parametrize("group", ["engine=fsdp", "engine=fsdp engine.strategy=fsdp2", "engine.fsdp_size=4 engine=fsdp", "engine=megatron"])
def test_an_engine_of_the_fine_tuning_is_a_group(group: str) -> None:
    script = f"torchrun --nnodes=1 --nproc_per_node=4 -m verl.trainer.sft_trainer model.path=m {group}\n"
    for release in ("0.6.0", "0.9.0"):
        assert about_keys(read(Source("sft.sh", script), composer=Composer(frameworks=(f"verl=={release}",))).findings) == []


def test_an_option_that_a_release_lacks_is_refused() -> None:
    (finding,) = about_keys(reading("model_engine=mindspeed", "1dda039b").findings)
    assert finding.notes == ("Hydra refuses it before the program starts", "verl 0.8.0 to 0.9.0 have it")
    assert about_keys(reading("model_engine=megatron", "0.7.0").findings)[0].code == "PW012"


NO_OPTIONS = (
    ("model_engine=fsdp", "0.7.1 0.9.0", "options are `dp`, `torchtitan`, `veomni`"),
    ("critic=big", "0.5.0 1dda039b", "options are `critic`, `dp_critic`, `megatron_critic`"),
    ("model@actor_rollout_ref.model=nope", "0.8.0", "options are `hf_model`"),
)


@pytest.mark.parametrize(("setting", "names", "help_"), NO_OPTIONS)
def test_an_option_that_no_release_has_is_refused(setting: str, names: str, help_: str) -> None:
    for number, release in enumerate(names.split()):
        (finding,) = about_keys(reading(setting, release).findings)
        assert (finding.code, finding.severity.value) == ("PW012", "error")
        assert number or finding.help == help_


DELETED = (
    ("~critic", "ppo_trainer", ""), ("~critic=null", "ppo_trainer", ""), ("~critic=dp_critic", "ppo_trainer", ""),
    ("~critic=megatron_critic", "ppo_megatron_trainer", ""), ("~data=legacy_data", "ppo_trainer", ""),
    ("~actor@actor_rollout_ref.actor=dp_actor", "ppo_trainer", ""),
    ("~critic=megatron_critic", "ppo_trainer", "`critic` is `dp_critic`, so Hydra does not delete it as `megatron_critic`"),
    ("~critic=dp_critic", "ppo_megatron_trainer", "`critic` is `megatron_critic`, so Hydra does not delete it as `dp_critic`"),
    ("~data=5", "ppo_trainer", "`data` is `legacy_data`, so Hydra does not delete it as `5`"),
    ("~critic={a:1}", "ppo_trainer", "`critic` is `dp_critic`, so Hydra does not delete it as `a map`"),
    ("~critic@critic=dp_critic", "ppo_trainer", "no list of defaults of `ppo_trainer` in verl b178a3cd has the group `critic@critic`"),
    ("~actor@actor_rollout_ref.actor=megatron_actor", "ppo_trainer",
     "`actor@actor_rollout_ref.actor` is `dp_actor`, so Hydra does not delete it as `megatron_actor`"),
)  # fmt: skip


@pytest.mark.parametrize(("setting", "configuration", "message"), DELETED)
def test_an_entry_of_the_defaults_is_deleted_with_its_own_option_alone(setting: str, configuration: str, message: str) -> None:
    found = reading(f"'{setting}'", "b178a3cd", f"verl.trainer.main_ppo --config-name={configuration}").findings
    assert [finding.message for finding in about_keys(found)] == ([message] if message else [])


@pytest.mark.parametrize("beside", ["--config-dir=conf", "hydra.searchpath=[file://conf]", "--config-path=/my/config"])
def test_an_option_in_a_folder_of_ones_own_is_not_known(beside: str) -> None:
    found = reading(f"model_engine=mine {beside}", "0.9.0")
    assert about_keys(found.findings) == []
    assert [each for each in found.unchecked if each.rule == "PW013" and each.subject == "model_engine" and each.decides]


def test_null_takes_a_group_out() -> None:
    assert about_keys(reading("reward=null", "0.9.0").findings) == []


def test_megatron_chosen_by_its_group_has_the_defaults_of_megatron() -> None:
    found = reading("model_engine=megatron actor_rollout_ref.actor.megatron.pipeline_model_parallel_size=2", "0.9.0")
    assert found.problem is not None
    actor = next(each for each in found.problem.job.components if each.name == "actor")
    assert actor.parallel.pp == 2


def test_keys_of_a_file_are_warned_of_beside_the_right_ones_too() -> None:
    text = "trainer: {nnodes: 1, nnode: 2, n_gpus_per_node: 8}\nactor_rollout_ref: {rollout: {n: 1}}\n"
    (finding,) = about_keys(read(Source("train.yaml", text), composer=Composer(frameworks=("verl==0.9.0",))).findings)
    assert finding.message == "verl has no key `trainer.nnode`, and ignores it"
    assert finding.notes == ("`trainer.nnodes` is set too",)


def test_the_keys_of_an_unknown_program_are_its_own() -> None:
    assert about_keys(reading("trainer.nnode=3 whatever=1", program="my.own.main").findings) == []


def test_keys_of_a_program_that_may_not_read_them_with_hydra_were_not_checked() -> None:
    for program, settings in (
        ("recipe.r1_ascend.main_ppo", "trainer.foo=3"),
        ("verl.trainer.main_ppo", ""),
        ("lab.main_ppo", "++trainer.x=3"),
    ):
        found = reading(settings, program=program)
        assert any(item.rule == "PW104" for item in found.unchecked) == (not program.startswith("verl."))
        assert not any(item.rule == "PW104" and item.decides for item in found.unchecked) and about_keys(found.findings) == []


def test_keys_of_a_choice_are_no_keys_of_another_section() -> None:
    settings = " ".join(f"{ACTOR}.megatron.{name}=1" for name in ("tensor_model_parallel_size", "pipeline_model_parallel_size"))
    (finding,) = about_keys(reading(settings, "0.8.0").findings)
    assert finding.help == "choose what has it: `model_engine=megatron`"
    assert finding.notes[-1].startswith(f"the same of `{ACTOR}.megatron.pipeline")


def test_a_key_with_another_word_is_not_near() -> None:
    (finding,) = about_keys(reading("model_engine=dp", "0.7.0").findings)
    assert finding.help == "leave it out, or run a release that has it" and finding.edit is None
    assert closest("model_engine", ("reward_model", "models_engine")) == "models_engine"
    assert closest("model_engine", ("reward_model",)) is None
    assert closest("batch_train_size", ("train_batch_size",)) == "train_batch_size"


def test_the_text_none_of_verls_own_file_means_nothing() -> None:
    table = table_of("ppo_megatron_trainer", 1)
    assert table is not None
    assert table.keys["actor_rollout_ref.ref.megatron.expert_tensor_parallel_size"] == "None"
    assert table.defaults["actor_rollout_ref.ref.megatron.expert_tensor_parallel_size"].value is None


MODULES = (
    ("verl.trainer.fsdp_sft_trainer", "0.9.0 1dda039b", "0.7.0"),
    ("verl.trainer.main_generation", "1dda039b", "0.7.0"),
    ("verl.trainer.main_generation_server", "0.5.0", "0.6.0"),
    ("verl.experimental.one_step_off_policy.main_ppo", "0.6.1", "0.7.1"),
    ("recipe.fully_async_policy.fully_async_main", "1dda039b", "0.6.1"),
)


@pytest.mark.parametrize(("module", "without", "has"), MODULES)
def test_a_release_without_the_program_is_refused(module: str, without: str, has: str) -> None:
    def about_it(release: str) -> list[str]:
        findings = read(
            Source("run.sh", f"python3 -m {module} trainer.nnodes=1\n"), composer=Composer(frameworks=(f"verl=={release}",))
        ).findings
        return [finding.severity.value for finding in findings if "so nothing starts" in finding.message]

    assert [about_it(release) for release in without.split()] == [["error"]] * len(without.split())
    assert about_it(has) == []
    assert not any(
        "so nothing starts" in each.message for each in read(Source("run.sh", f"python3 -m {module} trainer.nnodes=1\n")).findings
    )


def test_two_releases_of_one_framework_are_refused_and_the_same_twice_is_not() -> None:
    def stated(*releases: str) -> Reading:
        return read(
            Source("run.sh", f"python3 -m verl.trainer.main_ppo {GOOD}\n"),
            composer=Composer(frameworks=tuple(f"verl=={each}" for each in releases)),
        )

    findings = stated("0.6.1", "0.7.0").findings
    assert [each.message for each in findings] == ["two releases of verl are stated: 0.6.1 and 0.7.0"]
    assert stated("0.7.0", "0.7.0").problem is not None


@pytest.mark.parametrize(
    ("setting", "why"),
    [
        (f"+{ROLLOUT}.log_prob_use_dynamic_bsz=True", "is already in"),
        ("~data +data.seed=1 data.seed=2", ""),
        ("~trainer.val_only +trainer.val_only=True", ""),
        (f"+{ROLLOUT}.name=vllm", ""),
    ],
)
def test_a_default_decides_what_is_added(setting: str, why: str) -> None:
    found = read(Source("run.sh", f"python3 -m verl.trainer.main_ppo {setting}\n"), composer=Composer(frameworks=("verl==0.9.0",)))
    messages = [finding.message for finding in about_keys(found.findings) if finding.unusable]
    assert len(messages) == bool(why)
    assert all(why in message for message in messages)


@pytest.mark.parametrize("deletion", ["~trainer.val_only", "~trainer.val_only=False", "~data", "~data=legacy_data"])
def test_what_a_setting_deletes_is_not_followed(deletion: str) -> None:
    found = read(Source("run.sh", f"python3 -m verl.trainer.main_ppo {deletion}\n"), composer=Composer(frameworks=("verl==0.9.0",)))
    assert not about_keys(found.findings)
    assert any(item.decides and item.why.startswith(f"`{deletion}` deletes a part") for item in found.unchecked)


@pytest.mark.parametrize("setting", ["~trainer.val_only=True", "~nope", "optim@actor_rollout_ref.actor.optim=megatron"])
def test_what_hydra_does_not_delete_or_choose_is_refused(setting: str) -> None:
    found = read(Source("run.sh", f"python3 -m verl.trainer.main_ppo {setting}\n"), composer=Composer(frameworks=("verl==0.9.0",)))
    assert [finding.code for finding in about_keys(found.findings)] == ["PW012"]


def test_keys_of_a_file_whose_defaults_are_not_there_are_judged_by_the_release(tmp_path: Path) -> None:
    """As recipe/entropy of verl-recipe e7f88957: its `entropy_trainer` is found, verl's `ppo_trainer` is not."""
    (tmp_path / "config").mkdir()
    texts = "hydra: {searchpath: [file://verl/trainer/config]}\ndefaults: [ppo_trainer, _self_]\nown: {key: 1}\n"
    (tmp_path / "config" / "entropy_trainer.yaml").write_text(texts)
    options = "--config-path=config --config-name=entropy_trainer"
    script = tmp_path / "run.sh"
    script.write_text(f"python3 -m verl.trainer.main_ppo {options} {GOOD} own.key=2 actor_rollout_ref.actor.loss_mode=kl_cov\n")
    found = read(Source.read(script), composer=Composer(frameworks=("verl==0.6.1",)))
    (finding,) = [finding for finding in about_keys(found.findings) if finding.unusable]
    assert finding.message == "`entropy_trainer` of verl 0.6.1 has no key `actor_rollout_ref.actor.loss_mode`"


@pytest.mark.parametrize(
    ("setting", "verdict"),
    [
        ("~trainer.n_gpus_per_node", "faulty"),
        ("~trainer", "faulty"),
        ("~trainer.nnodes +trainer.nnodes=1", "ok"),
        (f"~{ROLLOUT}.tensor_model_parallel_size", "incomplete"),
    ],
)
def test_a_deleted_key_has_no_default(setting: str, verdict: str) -> None:
    whole = (
        f"algorithm.adv_estimator=grpo actor_rollout_ref.actor.use_dynamic_bsz=True {ROLLOUT}.name=vllm "
        "data.train_batch_size=256 actor_rollout_ref.model.path=/m"
    )
    text = f"python3 -m verl.trainer.main_ppo {whole} {setting}\n"
    reading = read(Source("run.sh", text), read_shorthand("1x8"), level="training", composer=Composer(frameworks=("verl==0.9.0",)))
    assert verify(reading).verdict == verdict


def test_a_key_is_no_misspelling_of_another_kind_of_ranks() -> None:
    inference = "distillation.teacher_models.teacher_model.inference"
    found = read(
        Source("run.sh", f"python3 -m verl.trainer.main_ppo {inference}.pipeline_model_parallel_size=2\n"),
        composer=Composer(frameworks=("verl==0.9.0",)),
    )
    (finding,) = about_keys(found.findings)
    assert finding.code == "PW012" and not finding.help.startswith("write `distillation")


@pytest.mark.parametrize(("wrong", "right"), [("rolout", "rollout"), ("rollot", "rollout")])
def test_a_misspelt_section_is_one_finding_with_what_it_sets(wrong: str, right: str) -> None:
    settings = f"{GOOD} data.train_batch_size=64 {BESIDE}".replace(f"{ROLLOUT}.", f"actor_rollout_ref.{wrong}.")
    micro = f"actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=2 actor_rollout_ref.{wrong}.log_prob_micro_batch_size_per_gpu=2"
    text = f"python3 -m verl.trainer.main_ppo {settings} {micro}\n"
    report = verify(read(Source("run.sh", text), read_shorthand("1x8"), composer=Composer(frameworks=("verl==0.9.0",))))
    assert [(finding.code, finding.help) for finding in report.errors] == [
        ("PW012", f"write `actor_rollout_ref.{right}` for `actor_rollout_ref.{wrong}`")
    ]


@pytest.mark.parametrize(
    ("key", "release", "help_"),
    [
        ("actor_rollout_ref.actor.optim.lr_scheduler_type=cosine", "0.5.0", "write `actor_rollout_ref.actor.optim.warmup_style`"),
        ("actor_rollout_ref.ref.fsdp_config.fsdp_size=4", "0.4.0", "leave it out, or run a release that has it"),
    ],
)
def test_a_right_key_of_another_release_is_no_slip(key: str, release: str, help_: str) -> None:
    (finding,) = about_keys(reading(key, release).findings)
    assert finding.help == help_ and "have it" in finding.notes[-1]
