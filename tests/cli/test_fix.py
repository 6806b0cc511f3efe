"""`placewright verify --fix` and `--diff`: verified edits alone, byte for byte, in all files or in none."""

from __future__ import annotations

import errno
import os
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from placewright.cli.main import run
from placewright.models.dialects.load import load_all
from placewright.models.fixing import fix
from placewright.models.machines.shorthand import read_shorthand
from placewright.planner.verify import verify

HERE = Path(__file__).parents[1] / "models" / "dialects"
BROKEN = sorted([*(HERE / "rlinf" / "broken").glob("*.yaml"), *(HERE / "roll" / "broken").glob("*.yaml")])
OLD = "# größe\ncluster:   # two\n  num_nodes: 1\n  component_placement: {actor: 0-8, rollout:  '0-7'}  # why\n\n\n"
NEW = OLD.replace("0-8", "0-7")
SCRIPT = "#!/bin/bash\nfor tp in 1 2; do  # both\n  python3 -m verl.trainer.main_ppo trainer.nnodes=1 trainer.n_gpus_per_nod=8 \\\n    +x=$tp\ndone\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_all_other_bytes_and_the_mode_stay(folder: Path, mark: bytes, end: str, capsys: pytest.CaptureFixture[str]) -> None:
    file = folder / "run.yaml"
    file.write_bytes(mark + OLD.replace("\n", end).encode())
    file.chmod(0o640)
    assert run(["verify", "run.yaml", "--cluster", "x8", "--fix"]) == 0
    assert file.read_bytes() == mark + NEW.replace("\n", end).encode()
    assert file.stat().st_mode & 0o777 == 0o640
    assert capsys.readouterr().err == "run.yaml: 1 edit made\n"
    assert [path.name for path in folder.iterdir()] == ["run.yaml"]
    assert run(["verify", "run.yaml", "--cluster", "x8", "--fix"]) == 0
    assert capsys.readouterr().err == ""


def test_a_difference_counts_before_what_is_still_unknown(folder: Path) -> None:
    (folder / "b.yaml").write_text(
        "cluster:\n  num_nodes: 2\n  component_placement:\n    actor: {node_group: a80, placement: 0-7}\n"
        "  node_groups: [{label: a800, node_ranks: 0-1}]\n"
    )
    assert run(["verify", "b.yaml", "--diff"]) == 1
    assert run(["verify", "b.yaml", "--fix"]) == 5


def test_a_difference_is_a_patch_and_nothing_is_written(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, end in (("a.yaml", "\n"), ("b.yaml", "\r\n")):
        (folder / name).write_bytes(OLD.replace("\n", end).encode())
    (folder / "good.yaml").write_text(NEW)
    assert run(["verify", "a.yaml", "b.yaml", "good.yaml", "--cluster", "x8", "--diff"]) == 1
    assert (folder / "a.yaml").read_text() == OLD
    patch = capsys.readouterr().out
    assert "good.yaml" not in patch
    subprocess.run(["git", "apply", "-p0", "-"], input=patch.encode(), check=True)
    assert (folder / "a.yaml").read_bytes() == NEW.encode()
    assert (folder / "b.yaml").read_bytes() == NEW.replace("\n", "\r\n").encode()
    assert run(["verify", "a.yaml", "--cluster", "x8", "--diff"]) == 0
    assert run(["verify", "a.yaml", "--cluster", "x8", "--diff", "--fix"]) == 2


def test_a_read_only_file_stays_and_so_do_the_others(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("a.yaml", "b.yaml"):
        (folder / name).write_text(OLD)
    access = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: "b.yaml" not in str(path) and access(path, mode))  # root may write anything
    assert run(["verify", "a.yaml", "b.yaml", "--cluster", "x8", "--fix"]) == 2
    assert "cannot be written: Permission denied" in capsys.readouterr().err
    assert [(folder / name).read_text() for name in ("a.yaml", "b.yaml")] == [OLD, OLD]
    assert sorted(path.name for path in folder.iterdir()) == ["a.yaml", "b.yaml"]


def test_a_hard_link_names_the_same_file_still(folder: Path) -> None:
    (folder / "real.yaml").write_text(OLD)
    (folder / "other.yaml").hardlink_to(folder / "real.yaml")
    assert run(["verify", "real.yaml", "--cluster", "x8", "--fix"]) == 0
    assert (folder / "other.yaml").read_text() == NEW
    assert (folder / "other.yaml").samefile(folder / "real.yaml")
    assert sorted(path.name for path in folder.iterdir()) == ["other.yaml", "real.yaml"]


def test_a_hard_link_that_cannot_be_written_whole_stays_as_it_was(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "real.yaml").write_text(OLD)
    (folder / "other.yaml").hardlink_to(folder / "real.yaml")
    synced, sync = [], os.fsync

    def full(handle: int) -> None:
        synced.append(handle)
        if len(synced) == 2:  # the first is the text beside it
            raise OSError(errno.ENOSPC, "No space left on device")
        sync(handle)

    monkeypatch.setattr(os, "fsync", full)
    assert run(["verify", "real.yaml", "--cluster", "x8", "--fix"]) == 2
    assert (folder / "other.yaml").read_text() == OLD
    assert sorted(path.name for path in folder.iterdir()) == ["other.yaml", "real.yaml"]


def test_a_link_stays_a_link(folder: Path) -> None:
    (folder / "real.yaml").write_text(OLD)
    (folder / "link.yaml").symlink_to("real.yaml")
    assert run(["verify", "link.yaml", "--cluster", "x8", "--fix"]) == 0
    assert (folder / "link.yaml").is_symlink()
    assert (folder / "real.yaml").read_text() == NEW


def test_nothing_is_written_if_a_file_changed_meanwhile(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("a.yaml", "b.yaml"):
        (folder / name).write_text(OLD)
    real = fix

    def slow(readings, judge):
        (folder / "b.yaml").write_text(OLD + "late: 1\n")
        return real(readings, judge)

    monkeypatch.setattr("placewright.cli.fixing.fix", slow)
    assert run(["verify", "a.yaml", "b.yaml", "--cluster", "x8", "--fix"]) == 2
    assert "`b.yaml` was changed while it was fixed; no file was written" in capsys.readouterr().err
    assert (folder / "a.yaml").read_text() == OLD
    assert (folder / "b.yaml").read_text() == OLD + "late: 1\n"
    assert len(list(folder.iterdir())) == 2


@pytest.mark.parametrize("fails_at", [1, 2, 3, 4])
def test_all_files_are_written_or_none(folder: Path, monkeypatch: pytest.MonkeyPatch, fails_at: int) -> None:
    for name in ("a.yaml", "b.yaml"):
        (folder / name).write_text(OLD)
    calls = Counter[str]()

    def failing(name: str, real):
        def call(*words):
            calls["all"] += 1
            if calls["all"] == fails_at:
                raise OSError(28, "No space left on device", "b.yaml")
            return real(*words)

        return call

    import os

    monkeypatch.setattr("os.fsync", failing("fsync", os.fsync))
    monkeypatch.setattr("os.replace", failing("replace", os.replace))
    assert run(["verify", "a.yaml", "b.yaml", "--cluster", "x8", "--fix"]) == 2
    assert [path.read_text() for path in sorted(folder.iterdir())] == [OLD, OLD]


def test_every_program_of_a_script_is_judged(folder: Path) -> None:
    (folder / "run.sh").write_text(SCRIPT)
    assert run(["verify", "run.sh", "--cluster", "x8", "--fix", "--level", "placement"]) == 0
    assert (folder / "run.sh").read_text() == SCRIPT.replace("per_nod=", "per_node=")


@pytest.mark.parametrize("more", [[], ["--warnings-as-errors"]])
def test_what_only_a_warning_deletes_stays(folder: Path, more: list[str]) -> None:
    text = "pretrain: x\nactor_train:\n  device_mapping: list(range(0,8))\n  not_a_key: 1\n"
    (folder / "run.yaml").write_text(text)
    readings = load_all("run.yaml", read_shorthand("1x8"), "roll")
    removals = [finding for finding in verify(readings[0]).findings if finding.edit and not finding.edit.text]
    assert [finding.severity.value for finding in removals] == ["warning"]
    run(["verify", "run.yaml", "--dialect", "roll", "--cluster", "1x8", "--fix", *more])
    assert "not_a_key" in (folder / "run.yaml").read_text()


def test_settings_of_a_command_line_are_not_written(folder: Path) -> None:
    words = ["--dialect", "verl", "trainer.nnodes=1", "trainer.n_gpus_per_nod=8", "--cluster", "x8"]
    run(["verify", *words, "--fix"])
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("path", BROKEN, ids=lambda path: f"{path.parts[-3]}-{path.stem}")
def test_a_fixed_file_verifies_better(path: Path) -> None:
    readings = load_all(path, read_shorthand("2x8"))
    fixed = fix(readings, verify)
    before = [verify(reading) for reading in readings]
    withheld = Counter(item.rule for report in before for item in report.unchecked if item.why.startswith("judged once"))
    errors = lambda reports: Counter(finding.code for report in reports for finding in report.errors)  # noqa: E731
    assert not errors(fixed.reports) - errors(before) - withheld
    assert (fixed.text != readings[0].source.text) == bool(fixed.count)
    assert [report.verdict for report in fixed.reports] == [verify(reading.session.read(fixed.text)).verdict for reading in readings]
