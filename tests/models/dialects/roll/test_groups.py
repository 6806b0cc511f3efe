"""Files that were copied without the texts of ROLL's own `examples/config`, which their `defaults` name."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from placewright.models.composition import Composer
from placewright.models.dialects.load import load
from placewright.models.findings.finding import Severity
from placewright.models.machines.shorthand import read_shorthand
from placewright.models.reading import Reading

from .pipelines import AGENTIC, RLVR, Config, changed

ENVIRONMENTS: Config = {
    **AGENTIC,
    "val_batch_size": -1,
    "custom_envs": {"a": "${custom_env.SimpleSokoban}", "b": "${custom_env.FrozenLake}"},
}
ZERO3: Config = {"strategy_args": {"strategy_name": "deepspeed_train", "strategy_config": "${deepspeed_zero3}"}}


def copied(folder: Path, config: Config, *groups: str, release: str = "") -> Reading:
    text = yaml.safe_dump({"defaults": [f"../config/{group}@_here_" for group in groups], **config}, sort_keys=False)
    (folder / "job.yaml").write_text(text, "utf-8")
    frameworks = (f"roll=={release}",) if release else ()
    return load(folder / "job.yaml", read_shorthand("1x8"), "auto", "training", Composer(frameworks=frameworks))


def undecided(reading: Reading) -> list[str]:
    return [item.why for item in reading.unchecked if item.decides]


@pytest.mark.parametrize(
    ("config", "groups"), [(ENVIRONMENTS, ("traj_envs",)), (changed(RLVR, actor_train=ZERO3), ("envs", "deepspeed_zero3"))]
)
def test_texts_of_the_release_stand_in_for_absent_ones(config: Config, groups: tuple[str, ...], tmp_path: Path) -> None:
    reading = copied(tmp_path, config, *groups)
    assert undecided(reading) == [] and not [finding for finding in reading.findings if finding.severity is Severity.ERROR]
    (note,) = (finding for finding in reading.findings if finding.code == "PW122")
    assert note.severity is Severity.NOTE and all(f"`config/{group}`" in note.message for group in groups)


def test_a_text_tells_the_releases_that_have_it(tmp_path: Path) -> None:
    reading = copied(tmp_path, RLVR, "deepspeed_zero2")
    assert reading.document.release is not None and reading.document.release.release.name == "0.2.1"


def test_of_several_texts_the_first_is_the_reason(tmp_path: Path) -> None:
    reading = copied(tmp_path, RLVR, "deepspeed_zero3", "deepspeed_zero2", "deepspeed_zero", "deepspeed_zero3_cpuoffload")
    assert reading.document.release is not None
    assert reading.document.release.reason == "newest that has `defaults: deepspeed_zero3`"


def test_values_of_the_texts_count(tmp_path: Path) -> None:
    lower = {
        "strategy_args": {"strategy_name": "deepspeed_infer", "strategy_config": "${deepspeed_zero2}"},
        "device_mapping": "list(range(0,8))",
    }
    reading = copied(tmp_path, changed(RLVR, init_kl_coef=0.2, reference=lower), "deepspeed_zero2")
    assert any("zero_optimization.stage" in finding.message for finding in reading.findings if finding.severity is Severity.ERROR)


@pytest.mark.parametrize(("group", "release"), [("deepspeed_zero2", "0.3.0"), ("my_envs", "")])
def test_what_the_release_does_not_have_stays_open(group: str, release: str, tmp_path: Path) -> None:
    reading = copied(tmp_path, RLVR, "envs", group, release=release)
    assert undecided(reading) and [finding.severity for finding in reading.findings if finding.code == "PW122"] == [Severity.WARNING]


MINE = {"pyproject.toml": "", "config/mine.yaml": "deepspeed_zero2: {zero_optimization: {stage: 0}}\n"}
NESTED = {"pyproject.toml": "", "config/mine.yaml": "defaults: [../other/gone@_here_]\n"}
ZERO2 = "../config/deepspeed_zero2@_here_"


@pytest.mark.parametrize(
    ("defaults", "files", "more"),
    [
        (["_self_", ZERO2], {}, {}),  # its values come above those of the file
        (["../../mine/config/deepspeed_zero2@_here_"], {}, {}),
        (["mine/config/deepspeed_zero2@_here_"], {}, {}),
        ([{"optional ../config@_here_": "deepspeed_zero2"}], {}, {}),  # which Hydra passes over
        ([ZERO2], {}, {"hydra": {"searchpath": ["pkg://mine.conf"]}}),
        (["../config/mine@_here_", ZERO2], MINE, {}),
        ([ZERO2, "../config/mine@_here_"], NESTED, {}),
        (["../config/envs@_here_", ZERO2, "../mine/envs@_here_"], {"pyproject.toml": "", "mine/envs.yaml": "a: 1\n"}, {}),
    ],
)
def test_what_may_be_of_the_user_is_not_taken_from_the_release(
    defaults: list[object], files: dict[str, str], more: Config, tmp_path: Path
) -> None:
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, "utf-8")
    (tmp_path / "jobs").mkdir()
    (tmp_path / "jobs" / "job.yaml").write_text(yaml.safe_dump({"defaults": defaults, **RLVR, **more}), "utf-8")
    reading = load(tmp_path / "jobs" / "job.yaml", read_shorthand("1x8"), "auto", "training")
    assert reading.document.partial and undecided(reading)
    assert not [finding for finding in reading.findings if finding.code == "PW122" and finding.severity is Severity.NOTE]


@pytest.mark.parametrize(
    "defaults", [[ZERO2], [ZERO2, "_self_"], [{"../config@_here_": "deepspeed_zero2"}], [ZERO2, {"override hydra/job_logging": "none"}]]
)
def test_forms_of_what_is_of_the_release(defaults: list[object], tmp_path: Path) -> None:
    (tmp_path / "job.yaml").write_text(yaml.safe_dump({"defaults": defaults, **RLVR}), "utf-8")
    reading = load(tmp_path / "job.yaml", read_shorthand("1x8"), "auto", "training", Composer(settings=("rollout_batch_size=64",)))
    assert not reading.document.partial


def test_texts_of_the_repository_come_before_those_of_the_release(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("", "utf-8")
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "deepspeed_zero2.yaml").write_text("deepspeed_zero2: {zero_optimization: {stage: 0}}\n", "utf-8")
    (tmp_path / "jobs").mkdir()
    reading = copied(
        tmp_path / "jobs",
        changed(RLVR, actor_train=changed(ZERO3, strategy_args={"strategy_config": "${deepspeed_zero2}"})),
        "deepspeed_zero2",
    )
    assert [finding.message for finding in reading.findings if finding.code == "PW122"] == []
    assert any("zero_optimization.stage" in finding.message for finding in reading.findings if finding.severity is Severity.ERROR)
