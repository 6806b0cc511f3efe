"""Which release a file of verl is judged for, where nobody states it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from placewright.models.composition import Composer
from placewright.models.dialects.load import load, read
from placewright.models.dialects.verl.programs import configurations
from placewright.models.findings.finding import Severity
from placewright.models.machines.shorthand import DeclaredNodes, read_shorthand
from placewright.models.releases.choice import ReleaseChoice
from placewright.models.text.source import Source
from placewright.planner.verify import verify

GOOD = "trainer.nnodes=1 trainer.n_gpus_per_node=8 actor_rollout_ref.rollout.name=vllm"


def choice(settings: str, program: str = "verl.trainer.main_ppo") -> ReleaseChoice:
    found = read(Source("run.sh", f"python3 -m {program} {GOOD} {settings}\n")).document.release
    assert found is not None
    return found


def test_without_any_sign_it_is_the_newest() -> None:
    assert str(choice("")) == "verl 1dda039b (newest, assumed)"


@pytest.mark.parametrize(
    ("settings", "release", "reason"),
    [
        ("trainer.use_legacy_worker_impl=disable", "0.7.1", "newest that has `trainer.use_legacy_worker_impl`"),
        ("actor_rollout_ref.rollout.mode=sync", "0.6.1", "newest that has `actor_rollout_ref.rollout.mode=sync`"),
        ("model_engine=mindspeed", "0.9.0", "newest that has `model_engine=mindspeed`"),
        ("critic.model.fsdp_config.fsdp_size=2", "0.7.1", "newest that has `critic.model.fsdp_config.fsdp_size`"),
        # what Megatron's configuration lacked from 0.5.0 to 0.6.1, though its base has it
        (
            "--config-name=ppo_megatron_trainer actor_rollout_ref.rollout.mode=sync actor_rollout_ref.model.enable_gradient_checkpointing=True",
            "0.4.1",
            "newest that has `actor_rollout_ref.rollout.mode=sync` and `actor_rollout_ref.model.enable_gradient_checkpointing`",
        ),
        # keys of chosen options that the base has later, too; maps that are leaves in some releases
        *(
            (
                f"--config-name=ppo_megatron_trainer actor_rollout_ref.rollout.mode=sync {key}",
                "0.6.1",
                "newest that has `actor_rollout_ref.rollout.mode=sync`",
            )
            for key in (
                "critic.data_loader_seed=1",
                "'actor_rollout_ref.model.override_config={a: 1}'",
                "'actor_rollout_ref.actor.megatron.override_transformer_config={}'",
            )
        ),
    ],
)
def test_a_key_or_a_value_excludes_the_newest(settings: str, release: str, reason: str) -> None:
    found = choice(settings)
    assert (found.release.name, found.reason) == (release, reason)


@pytest.mark.parametrize("name", ["ppo_trainer", "ppo_megatron_trainer", "sft_trainer_engine"])
def test_every_release_is_found_by_its_keys_and_maps(name: str) -> None:
    catalog = configurations()
    for release in range(len(catalog.releases.names)):
        composed = catalog.compose(name, release)
        parts = [key.split(".") for key in (composed.keys if composed else ())]
        keys = {".".join(path[:length]) for path in parts for length in range(1, len(path) + 1)}
        assert [key for key in keys if not catalog.find_releases(name, key) >> release & 1] == []


@pytest.mark.parametrize(
    ("settings", "oldest"),
    [("distillation.enabled=False", "0.8.0"), ("trainer.use_v1=True", "0.9.0"), ("model_engine=torchtitan", "0.7.1")],
)
def test_a_key_excludes_the_oldest(settings: str, oldest: str) -> None:
    found = choice(settings)
    assert found.release == found.table.newest
    assert found.possible[0].name == oldest


def test_a_program_excludes_the_releases_that_lack_it() -> None:
    found = choice("", "recipe.one_step_off_policy.main_ppo")
    assert (found.possible[0].name, found.release.name) == ("0.5.0", "0.7.0")
    assert choice("", "verl.trainer.main_generation_server").possible[0].name == "0.6.0"


def test_keys_of_which_no_release_has_all() -> None:
    found = choice("distillation.enabled=True trainer.use_legacy_worker_impl=auto critic.model.fsdp_config.fsdp_size=2")
    assert found.reason == "no release takes all keys; it refuses `distillation.enabled`"
    assert found.release.name == "0.7.1"


def test_the_keys_of_an_unknown_program_show_nothing() -> None:
    assert choice("trainer.use_legacy_worker_impl=auto", "my.own.main").reason == "newest, assumed"


@pytest.mark.parametrize(
    ("name", "text", "release"),
    [
        ("REQUIRED_VERL.txt", "MODE=pinned_tag\nTAG=v0.8.0\nCOMMIT=bbca85c9\n", "0.8.0"),
        ("REQUIRED_VERL.txt", "MODE=pinned_commit\nCOMMIT=d62da4950573d7a4b7ef2362337952e7ab59e78d\n", "0.6.1"),
        ("REQUIRED_VERL.txt", "MODE=rolling\nVERL_COMMIT=0123456789012345678901234567890123456789\n", ""),
        ("requirements.txt", "torch\nverl==0.5.0\n", "0.5.0"),
        ("requirements.txt", "my-verl==0.5.0\nverl-extras==0.4.0\n", ""),
        ("pyproject.toml", 'dependencies = ["verl[gpu] == 0.7.0"]\n', "0.7.0"),
        ("pyproject.toml", 'dependencies = ["verl @ git+https://github.com/verl-project/verl.git@v0.7.1"]\n', "0.7.1"),
    ],
)
def test_what_lies_beside_a_script_names_its_release(tmp_path: Path, name: str, text: str, release: str) -> None:
    (tmp_path / name).write_text(text)
    script = tmp_path / "a" / "b" / "run.sh"
    script.parent.mkdir(parents=True)
    script.write_text(f"python3 -m verl.trainer.main_ppo {GOOD}\n")
    found = load(script).document.release
    assert found is not None
    assert (found.release.name, found.reason) == ((release, name) if release else ("1dda039b", "newest, assumed"))


@pytest.mark.parametrize(("settings", "release"), [("", "0.8.0"), ("trainer.use_legacy_worker_impl=auto", "0.7.1")])
def test_a_commit_between_two_releases_leaves_both_and_keys_choose(tmp_path: Path, settings: str, release: str) -> None:
    (tmp_path / "REQUIRED_VERL.txt").write_text("MODE=rolling\nVERL_COMMIT=bcb638649a50e58494a8ddd92085ad1174f674b8\n")
    script = tmp_path / "run.sh"
    script.write_text(f"python3 -m verl.trainer.main_ppo {GOOD} {settings}\n")
    found = load(script).document.release
    assert found is not None
    assert (found.release.name, found.reason) == (release, "REQUIRED_VERL.txt, between 0.7.1 and 0.8.0")


@pytest.mark.parametrize(
    ("version", "marks", "release"),
    [
        ("0.6.1", ("engine",), "0.6.1"),
        ("0.8.0.dev", ("engine",), "b178a3cd"),
        ("0.8.0.dev", ("engine", "model_engine", "distillation"), "0.8.0"),
        ("0.10.0.dev", ("engine", "model_engine", "distillation", "transfer_queue"), "1dda039b"),
        ("0.6.1", ("engine", "model_engine"), "0.6.1"),
    ],
)
@pytest.mark.parametrize("by_root", [False, True])
def test_a_checkout_is_known_by_its_files_as_its_version_does_not_tell(
    tmp_path: Path, version: str, marks: tuple[str, ...], release: str, by_root: bool
) -> None:
    top = tmp_path / "verl-checkout"
    for mark in marks:
        (top / "verl" / "trainer" / "config" / mark).mkdir(parents=True)
    (top / "verl" / "version").mkdir()
    (top / "verl" / "version" / "version").write_text(f"{version}\n")
    (top / "verl" / "trainer" / "main_ppo.py").write_text("")
    script = (tmp_path / "own" if by_root else top / "examples" / "grpo") / "run.sh"
    script.parent.mkdir(parents=True)
    script.write_text(f"python3 -m verl.trainer.main_ppo {GOOD}\n")
    found = load(script, composer=Composer((str(top / "verl" / "trainer" / "config"),)) if by_root else None).document.release
    assert found is not None
    assert (found.release.name, found.reason) == (release, "checkout verl-checkout")


SMALL = (
    f"python3 -m verl.trainer.main_ppo {GOOD} algorithm.adv_estimator=grpo data.train_batch_size=16 "
    "actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=1 actor_rollout_ref.rollout.log_prob_micro_batch_size_per_gpu=1 "
    "actor_rollout_ref.ref.log_prob_micro_batch_size_per_gpu=1 actor_rollout_ref.actor.ppo_mini_batch_size=64"
)
HYDRA = '@hydra.main(config_path="config", config_name="sft_trainer", version_base=None)\ndef main(config): ...\n'
FLAGGED = "has another `verl/trainer/main_ppo.py`"


@pytest.mark.parametrize(
    ("version", "code", "release"),
    [("0.1", "main()", "0.3.0"), ("0.3.1.dev", "main()", "0.3.0"), ("0.5.0", "main()", "0.5.0"), ("0.5.0", "", "0.5.0")],
)
@pytest.mark.parametrize("place", ["", "verl", "src", "src/verl"])
def test_what_a_changed_checkout_refuses_is_a_warning(tmp_path: Path, version: str, code: str, release: str, place: str) -> None:
    for path, text in (("version/version", version), ("trainer/main_ppo.py", code)):
        (tmp_path / place / "verl" / path).parent.mkdir(parents=True)
        (tmp_path / place / "verl" / path).write_text(text)
    script = tmp_path / "scripts" / "train" / "run.sh"
    script.parent.mkdir(parents=True)
    script.write_text(f"{SMALL}\n")
    reading = load(script)
    report, choice = verify(reading), reading.document.release
    assert choice is not None
    assert (choice.release.name, choice.differs) == (release, FLAGGED if code else "")
    (small,) = (finding for finding in report.findings if finding.code == "PW403")
    assert (small.severity, report.verdict) == (("warning", "incomplete") if code else ("error", "faulty"))
    assert not code or report.missing[0].add == f"Pass `--framework verl=={release}` to judge it as that release"
    assert verify(load(script, composer=Composer(frameworks=(f"verl=={release}",)))).verdict == "faulty"
    script.write_text(SMALL.replace("size=64", "size=16") + "\n")
    assert verify(load(script, DeclaredNodes(8))).verdict == "ok"


@pytest.mark.parametrize("found", [False, True])
def test_a_program_that_a_changed_checkout_still_has_starts(tmp_path: Path, found: bool) -> None:
    files = {"version/version": "0.9.0", "trainer/main_ppo.py": "main()"}
    files |= {"trainer/fsdp_sft_trainer.py": HYDRA, "trainer/config/sft_trainer.yaml": "data: {train_batch_size: 8}"} if found else {}
    for path, text in files.items():
        (tmp_path / "verl" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "verl" / path).write_text(f"{text}\n")
    (tmp_path / "run.sh").write_text("torchrun --nnodes=1 --nproc_per_node=8 -m verl.trainer.fsdp_sft_trainer data.train_batch_size=8\n")
    report = verify(load(tmp_path / "run.sh", DeclaredNodes(8)))
    assert found is not any("nothing starts" in finding.message for finding in report.findings)


@pytest.mark.parametrize("folder", [".", "repository", "repository/examples/config"])
def test_a_repository_s_own_defaults_stand_for_those_of_the_release(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: str) -> None:
    file = tmp_path / "repository/examples/config/mine.yaml"
    base = tmp_path / "repository/verl/trainer/config"
    for place, text in (
        (tmp_path / "repository/setup.py", ""),
        (base / "actor/dp_actor.yaml", "defaults: [../optim/fsdp, _self_]\nppo_mini_batch_size: 60\n"),
        (base / "optim/fsdp.yaml", "lr: 1\n"),
        (base / "ppo_trainer.yaml", "defaults: [actor@actor_rollout_ref.actor: dp_actor, _self_]\ndata: {train_batch_size: 60}\n"),
        (file, "hydra: {searchpath: [file://verl/trainer/config]}\ndefaults: [ppo_trainer, _self_]\n"
               "trainer: {nnodes: 1, n_gpus_per_node: 8}\nactor_rollout_ref: {rollout: {name: vllm}}\n"),
    ):  # fmt: skip
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, "utf-8")
    monkeypatch.chdir(tmp_path / folder)
    composer = Composer(frameworks=("verl==0.6.1",))
    report = verify(read(Source.read(os.path.relpath(file)), read_shorthand("1x8"), level="training", composer=composer))
    messages = [finding.message for finding in report.findings if finding.severity is Severity.ERROR]
    assert messages == ["60 samples do not divide among the 8 accelerators of the trainer"]
    assert [reason.why for reason in report.unchecked if reason.decides] == []
