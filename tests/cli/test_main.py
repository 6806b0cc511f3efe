"""The command itself: its help, its exit codes, and how it ends when something is wrong with us."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import click
import pytest
from placewright.cli import main as command
from placewright.models.findings.finding import UnusableInput, error

RUN = [sys.executable, "-c", "from placewright.cli.main import main; main()"]


def test_help_names_every_verb_without_loading_one() -> None:
    code = (
        "import sys\nfrom placewright.cli.main import run\nrun(['--help'])\nprint(*[m for m in sys.modules if m.startswith('placewright')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    *text, loaded = done.stdout.splitlines()
    assert all(any(line.split()[:1] == [verb] for line in text) for verb in command.VERBS)
    assert not any(f"placewright.cli.{verb}" in loaded.split() for verb in command.VERBS)


def test_every_verb_exists_and_explains_itself(capsys: pytest.CaptureFixture[str]) -> None:
    for verb in command.VERBS:
        assert command.run([verb, "--help"]) == 0
        assert "Usage: placewright " + verb in capsys.readouterr().out


@pytest.mark.parametrize(
    "arguments", [["nosuchverb"], ["verify"], ["verify", "a.yaml", "--nosuchoption"], ["verify", "a", "--cluster", "2x8x"], []]
)
def test_a_wrong_command_line_is_exit_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert command.run(arguments) == 2
    assert "Usage: placewright" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("word", "advice"),
    [("verfy", "Did you mean `verify`?"), ("zzz", "Verbs are verify, solve,"), (__file__, f"write `placewright verify {__file__}`")],
)
def test_a_word_that_is_no_verb_gets_the_nearest_one(word: str, advice: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert command.run([word]) == 2
    assert advice in " ".join(capsys.readouterr().err.split())


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.run(["--version"]) == 0
    assert capsys.readouterr().out.startswith("placewright ")


def fail_with(problem: BaseException, monkeypatch: pytest.MonkeyPatch) -> None:
    @click.command()
    def broken() -> None:
        raise problem

    monkeypatch.setattr(command.LazyGroup, "get_command", lambda *_: broken)


def test_our_own_fault_is_exit_70_in_two_lines(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.delenv("PLACEWRIGHT_DEBUG", raising=False)
    fail_with(ZeroDivisionError("a\nb"), monkeypatch)
    assert command.run(["verify"]) == 70
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.splitlines()[0] == "placewright itself failed: ZeroDivisionError: a b"
    assert "Traceback" not in captured.err


def test_our_own_fault_shows_its_traceback_when_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLACEWRIGHT_DEBUG", "1")
    fail_with(ZeroDivisionError("a"), monkeypatch)
    with pytest.raises(ZeroDivisionError):
        command.run(["verify"])


def test_unusable_input_is_exit_2_with_its_findings(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    fail_with(UnusableInput([error("PW008", "", "this is not a plan")]), monkeypatch)
    assert command.run(["verify"]) == 2
    assert capsys.readouterr().err == "error[PW008]: this is not a plan\n\n`placewright explain PW008` says more\n\nunusable, 1 error\n"


def test_an_interrupt_is_exit_130(monkeypatch: pytest.MonkeyPatch) -> None:
    fail_with(KeyboardInterrupt(), monkeypatch)
    assert command.run(["verify"]) == 130


@pytest.mark.slow
def test_a_reader_that_leaves_is_no_fault(tmp_path: Path) -> None:
    text = "components:\n" + "".join(f"  c{number}: {{placement: 9-1}}\n" for number in range(600))
    (tmp_path / "many.yaml").write_text("cluster: 2x8\n" + text)
    # Unbuffered, Python itself forgets what a pipe did not take, and never learns that it broke.
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    pipe = subprocess.PIPE
    with subprocess.Popen([*RUN, "verify", "many.yaml"], cwd=tmp_path, stdout=pipe, stderr=pipe, env=buffered) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.read(10)
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == 128 + signal.SIGPIPE


@pytest.mark.parametrize(("file", "code"), [("many.yaml", 1), ("good.yaml", 0), ("none.yaml", 2)])
def test_what_verify_says_is_all_there_when_its_process_ends(
    file: str, code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    many = "".join(f"  c{number}: {{placement: 9-1}}\n" for number in range(300))
    (tmp_path / "many.yaml").write_text("cluster: 2x8\ncomponents:\n" + many)
    (tmp_path / "good.yaml").write_text("cluster: 2x8\ncomponents:\n  actor: {placement: 0-15}\n")
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    done = subprocess.run([*RUN, "verify", file], cwd=tmp_path, env=buffered, capture_output=True, text=True)
    monkeypatch.chdir(tmp_path)
    assert command.run(["verify", file]) == done.returncode == code
    said = capsys.readouterr()
    assert (done.stdout, done.stderr) == (said.out, said.err)


@pytest.mark.parametrize(("streams", "code"), [("> /dev/full", 2), (">&-", 0), ("2>&- >&-", 0), ("< /dev/null", 0)])
def test_output_without_a_place_is_no_fault_of_placewright(streams: str, code: int, tmp_path: Path) -> None:
    (tmp_path / "good.yaml").write_text("cluster: 2x8\ncomponents:\n  actor: {placement: 0-15}\n")
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    line = f"{shlex.join([*RUN, 'verify', 'good.yaml'])} {streams}"
    done = subprocess.run(["bash", "-c", line], cwd=tmp_path, env=buffered, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (code, "the output cannot be written: No space left on device\n" if code else "")


def test_names_that_a_terminal_cannot_say_do_not_break_it(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0", "LC_ALL": "C"}
    done = subprocess.run([*RUN, "verify", "名前.yaml"], cwd=tmp_path, env=environment, capture_output=True)
    assert done.returncode == 2
    assert b"Traceback" not in done.stderr
    assert done.stdout.isascii()
