"""Folders are searched for the files that place something."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from placewright.cli.main import run
from placewright.cli.options.inputs import configurations

GOOD = "cluster: {num_nodes: 1, component_placement: {actor: 0-7}}\n"
WRONG = "cluster: {num_nodes: 1, component_placement: {actor: 0-8}}\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    texts = {
        "b.yaml": GOOD,
        "a.yml": GOOD,
        "env/group.yaml": "total_num_envs: 4\n",
        "env/deep/c.yaml": WRONG,
        ".git/d.yaml": WRONG,
        ".e.yaml": WRONG,
        "notes.txt": WRONG,
        "many.yaml": "a: 1\n---\nb: 2\n",
        "with_alias.yaml": "a: &x 1\nb: *x\n",
    }
    for name, text in texts.items():
        (tmp_path / "conf" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "conf" / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path / "conf"


def test_yaml_files_in_order_without_what_is_hidden_or_would_be_waited_for(folder: Path) -> None:
    os.symlink(folder, folder / "loop")
    os.mkfifo(folder / "pipe.yaml")
    found = [str(Path(path).relative_to(folder)) for path in configurations(str(folder))]
    assert found == ["a.yml", "b.yaml", "many.yaml", "with_alias.yaml", "env/group.yaml", "env/deep/c.yaml"]


def test_what_places_nothing_is_counted(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["verify", "conf", "--cluster", "x8", "--format", "json"]) == 1
    data = json.loads(capsys.readouterr().out)
    assert [file["file"] for file in data["files"]] == ["conf/a.yml", "conf/b.yaml", "conf/env/deep/c.yaml"]
    assert data["skipped"] == 3
    assert run(["verify", "conf", "--cluster", "x8"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert "3 files place nothing" in lines
    (folder / "broken.yaml").write_text("a: [1, 2\n")
    assert run(["verify", "conf", "--cluster", "x8"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert "3 files place nothing" in lines and "not read, as YAML is broken there: conf/broken.yaml" in lines
    assert "1 file with errors: PW102 x1" in lines
    assert lines[-1] == "3 files: 2 ok, 1 faulty"


def test_a_configuration_that_cannot_be_read_is_told(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "b.yaml").write_text("a: &x 1\n" + GOOD)
    (folder / "broken.yaml").write_text("cluster: {component_placement: [\n")
    assert run(["verify", "conf", "--cluster", "x8", "--format", "json"]) == 2
    verdicts = {file["file"]: file["verdict"] for file in json.loads(capsys.readouterr().out)["files"]}
    assert verdicts["conf/broken.yaml"] == "unusable"


@pytest.mark.usefixtures("folder")
def test_a_named_dialect_decides_what_places_something(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["verify", "conf", "--cluster", "x8", "--dialect", "rlinf", "--format", "json"]) == 1
    assert json.loads(capsys.readouterr().out)["skipped"] == 3
    assert run(["verify", "conf", "--cluster", "x8", "--dialect", "native"]) == 2


def test_a_setting_that_cannot_be_used_is_told_for_every_file(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["verify", "conf", "--cluster", "x8", "--set", "a=1,2", "--format", "json"]) == 1
    files = json.loads(capsys.readouterr().out)["files"]
    assert len(files) == 3
    assert all("PW012" in {finding["code"] for finding in file["findings"]} for file in files)


def test_a_file_named_twice_is_one_file(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wrong = "conf/env/deep/c.yaml"
    assert run(["verify", "conf", wrong, f"./{wrong}", "conf/env", "conf/", "--cluster", "x8", "--format", "json"]) == 1
    files = json.loads(capsys.readouterr().out)["files"]
    assert sorted(file["file"] for file in files) == ["conf/a.yml", "conf/b.yaml", wrong]
    assert run(["verify", wrong, f"./{wrong}", "--cluster", "x8"]) == 1
    assert "1 file" not in capsys.readouterr().out


@pytest.mark.usefixtures("folder")
def test_folders_and_files_may_be_mixed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["verify", "conf/env/group.yaml", "conf", "--cluster", "x8", "--format", "json"]) == 2
    files = json.loads(capsys.readouterr().out)["files"]
    assert [file["verdict"] for file in files] == ["unusable", "ok", "ok", "faulty"]
