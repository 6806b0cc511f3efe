"""`placewright verify`: many files, one process, one exit code, in little time."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from placewright.cli.main import run
from printed import last_line

GOOD = "cluster: {num_nodes: 1, component_placement: {actor: 0-7}}\n"
WRONG = "cluster: {num_nodes: 1, component_placement: {actor: 0-8}}\n"
BROKEN = "cluster: [\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in (("good", GOOD), ("wrong", WRONG), ("broken", BROKEN)):
        (tmp_path / f"{name}.yaml").write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("files", "code"),
    [
        (["good"], 0),
        (["good", "good"], 0),
        (["wrong"], 1),
        (["wrong", "good"], 1),
        (["broken"], 2),
        (["broken", "wrong", "good"], 2),
        (["gone", "good"], 2),
    ],
)
@pytest.mark.parametrize("form", ["text", "json"])
def test_the_worst_file_decides_the_exit_code(files: list[str], code: int, form: str) -> None:
    assert run(["verify", *(f"{name}.yaml" for name in files), "--cluster", "1x8", "--format", form]) == code


@pytest.mark.usefixtures("folder")
def test_one_unusable_file_does_not_stop_the_others(capsys: pytest.CaptureFixture[str]) -> None:
    run(["verify", "broken.yaml", "gone.yaml", "wrong.yaml", "good.yaml", "--cluster", "1x8", "--format", "json"])
    files = json.loads(capsys.readouterr().out)["files"]
    assert [(file["file"], file["verdict"]) for file in files] == [
        ("broken.yaml", "unusable"),
        ("gone.yaml", "unusable"),
        ("wrong.yaml", "faulty"),
        ("good.yaml", "ok"),
    ]
    assert files[2]["findings"][0]["line"] == 1


@pytest.mark.usefixtures("folder")
def test_text_ends_with_the_verdict(capsys: pytest.CaptureFixture[str]) -> None:
    run(["verify", "good.yaml", "--cluster", "1x8"])
    assert last_line(capsys.readouterr().out) == (
        "good.yaml: ok: placement and training arithmetic of RLinf a3816b59 (newest, assumed) on 1x8; "
        "1 component, 8 processes on 1 node; not checked: memory"
    )
    run(["verify", "wrong.yaml", "good.yaml", "--cluster", "1x8"])
    assert capsys.readouterr().out.splitlines()[-1] == "2 files: 1 ok, 1 faulty"


@pytest.mark.usefixtures("folder")
def test_a_pipe_gets_no_colour(capsys: pytest.CaptureFixture[str]) -> None:
    run(["verify", "wrong.yaml", "--cluster", "1x8"])
    assert "\x1b" not in capsys.readouterr().out


@pytest.mark.usefixtures("folder")
def test_a_named_dialect_is_believed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["verify", "good.yaml", "--cluster", "1x8", "--dialect", "rlinf", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["files"][0]["dialect"] == "rlinf"
    assert run(["verify", "good.yaml", "--cluster", "1x8", "--dialect", "native"]) != 0


@pytest.mark.parametrize("verb", ["verify", "solve", "explain"])
def test_a_plan_of_its_own_is_named_as_one(
    verb: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("job.yaml").write_text("cluster: 1x4\ncomponents: {a: {accelerators: 2}}\n")
    assert run(["solve", "job.yaml", "-o", "plan.json"]) == 0
    capsys.readouterr()
    assert run([verb, "plan.json"]) == 2
    printed = "".join(capsys.readouterr())
    assert "this is a plan of placewright, not a configuration" in printed
    assert "`placewright show plan.json` draws it" in printed
