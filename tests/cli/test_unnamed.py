"""Standard input and output as `-`, and pasted command lines."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from placewright.cli.main import run
from printed import last_line

GOOD = "cluster: {num_nodes: 1, component_placement: {actor: 0-7}}\r\n"
WRONG = GOOD.replace("0-7", "0-8")
HINTS = "cluster: 1x4\ncomponents:\n  actor: {accelerators: 4}\n"
COMMAND = ["python3", "-m", "verl.trainer.main_ppo", "trainer.nnodes=1", "trainer.n_gpus_per_node=8"]
WORDS = ["verify", "--cluster", "1x8", "--level", "placement"]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def given(monkeypatch: pytest.MonkeyPatch):
    def give(text: str | bytes) -> None:
        data = text if isinstance(text, bytes) else text.encode()
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data), newline=""))

    return give


def test_standard_input_is_read_as_a_file(given, capsys: pytest.CaptureFixture[str]) -> None:
    given(WRONG)
    assert run([*WORDS, "-"]) == 1
    text = capsys.readouterr().out
    assert " --> standard input:1:54\n" in text and last_line(text).startswith("standard input: faulty: ")
    given("#!/bin/bash\n" + " ".join(COMMAND) + "\n")
    assert run([*WORDS, "-", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["files"][0]["dialect"] == "verl"
    given(b"\xff")
    assert run([*WORDS, "-"]) == 2
    assert "is not UTF-8 text" in capsys.readouterr().err


@pytest.mark.parametrize("words", [["explain", "-"], ["convert", "-", "--to", "native"], ["solve", "-"], ["whatif", "-"]])
def test_every_verb_that_reads_a_file_reads_standard_input(words: list[str], given) -> None:
    given(HINTS if words[0] != "convert" else GOOD)
    assert run([*words, *(["--cluster", "1x8"] if words[0] == "convert" else [])]) == 0


def test_a_fixed_text_goes_to_standard_output_and_the_rest_beside_it(given, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for text in (WRONG, GOOD):
        given(text)
        assert run([*WORDS, "-", "--fix"]) == 0
        printed = capsys.readouterr()
        assert printed.out == GOOD
        assert last_line(printed.err).startswith("standard input: ok: ")
    given(WRONG)
    assert run([*WORDS, "-", "--diff"]) == 1
    assert "+cluster: {num_nodes: 1, component_placement: {actor: 0-7}}" in capsys.readouterr().out
    assert list(folder.iterdir()) == []


def test_a_dash_as_output_is_standard_output(given, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "job.yaml").write_text(HINTS)
    assert run(["solve", "job.yaml", "-o", "-"]) == 0
    printed = capsys.readouterr()
    assert json.loads(printed.out)["components"]["actor"] and "optimal" in printed.err
    given(HINTS)
    assert run(["solve", "-", "--write"]) == 0
    assert capsys.readouterr().out == HINTS.replace("{accelerators: 4}", "{accelerators: 4, placement: 0-3}")
    assert run(["solve", "job.yaml", "-o", "-", "--format", "json"]) == 2
    capsys.readouterr()
    assert run(["convert", "job.yaml", "--to", "native", "-o", "-"]) == 0
    assert "components:" in capsys.readouterr().out
    assert [path.name for path in folder.iterdir()] == ["job.yaml"]


@pytest.mark.parametrize(
    "words",
    [
        ["--", *COMMAND],
        COMMAND,
        [" ".join(COMMAND)],
        ["--", "env", "A=b", *COMMAND],
        ["CUDA_VISIBLE_DEVICES=0,1,2,3,4,5,6,7", *COMMAND],
        ["--set", "trainer.nnodes=1", *COMMAND],
        ["--", "ray", "job", "submit", "--", *COMMAND],
    ],
)
def test_a_pasted_command_is_read_as_a_script(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*WORDS, "--format", "json", *words]) == 0
    (file,) = json.loads(capsys.readouterr().out)["files"]
    assert (file["file"], file["dialect"], file["components"]["actor"]["world_size"]) == ("command line", "verl", 8)


def test_faults_of_a_pasted_command_are_shown_in_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*WORDS, "--", *COMMAND[:-1], "trainer.n_gpus_per_node='a b'"]) in (1, 2)
    assert "command line:1:" in capsys.readouterr().out
    assert run([*WORDS, "--", *COMMAND[:3], "+trainer.nnodes=1"]) in (1, 2)
    assert run([*WORDS, "--fix", "--", *COMMAND[:-1], "trainer.n_gpus_per_nod=8"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == " ".join(COMMAND)


def test_files_may_follow_two_dashes(folder: Path) -> None:
    for name in ("-odd.yaml", "python3"):
        (folder / name).write_text(GOOD)
    assert run([*WORDS, "--", "-odd.yaml", "python3"]) == 0
    assert run([*WORDS, "python3"]) == 0
    assert run([*WORDS, "--", "bash", "run.sh"]) == 2


def test_a_plan_is_drawn_from_standard_input_as_it_is(given, capsys: pytest.CaptureFixture[str]) -> None:
    given(HINTS)
    assert run(["solve", "-", "-o", "plan.json"]) == 0
    plan = Path("plan.json").read_text()
    given(plan)
    capsys.readouterr()
    assert run(["show", "-"]) == 0
    assert last_line(capsys.readouterr().out).startswith("standard input: optimal")
    assert run(["show", "plan.json", "--lose", "node-0"]) == 2
    assert "name its configuration" in capsys.readouterr().err
