"""How a search ends before its time: with its parent, by Ctrl-C; and what a command says and returns then."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from placewright.cli.main import run
from placewright.models.dialects.load import load
from placewright.models.problem import Problem
from placewright.solver.sandbox import solve as sandbox
from placewright.solver.searching.progress import Incumbents
from placewright.solver.session import Session
from printed import last_line

HERE = Path(__file__).parent
OPEN = """\
cluster: 1x5+6x4
components:
  a: {accelerators: 3, contiguous: true}
  b: {accelerators: 5, parallel: {tp: 5}}
  c: {accelerators: 7, contiguous: true}
  d: {accelerators: 4-8, parallel: {tp: 4}}
"""
COMMAND = """\
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from placewright.cli.main import run
from placewright.solver.sandbox import solve as sandbox
liar, lie, pid, *arguments = sys.argv[1:]
sandbox.command = lambda memory: (sys.executable, liar, lie, pid, str(memory))
sys.exit(run(arguments))
"""
"""A command line whose searches are the liar's; it writes the number of its process to a file.

It hears Ctrl-C even where these tests run in the background of a shell, which ignores it.
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "job.yaml").write_text(OPEN)
    return tmp_path


def started(folder: Path, lie: str, *arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", COMMAND, str(HERE / "liar.py"), lie, "pid", "solve", "job.yaml", "--limit", "60", *arguments]
    return subprocess.Popen(command, cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def searching(folder: Path) -> int:
    """The number of the process that searches, once it does."""
    return int(waited(lambda: (folder / "pid").exists() and (folder / "pid").read_text()))


def read_problem(folder: Path) -> Problem:
    problem = load(str(folder / "job.yaml"), None, "auto").problem
    assert problem is not None
    return problem


def waited(found: object) -> str:
    """What a function gives as soon as it gives something."""
    assert callable(found)
    for _ in range(2400):
        if its := found():
            return str(its)
        time.sleep(0.05)
    raise AssertionError("it never came")


def is_running(number: int) -> bool:
    try:
        state = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


@pytest.mark.parametrize("lie", ["hang", "hold"])
def test_the_search_dies_with_a_parent_that_is_killed(folder: Path, lie: str) -> None:
    """Even where a library holds the interpreter, so that no other thread of the search can see it."""
    with started(folder, lie) as parent:
        number = searching(folder)
        time.sleep(1.0)
        assert is_running(number)
        parent.kill()
    waited(lambda: not is_running(number))


def test_ctrl_c_without_an_answer_is_undecided(folder: Path) -> None:
    with started(folder, "hang") as parent:
        number = searching(folder)
        time.sleep(1.0)
        parent.send_signal(signal.SIGINT)
        out, err = parent.communicate(timeout=120)
    assert (parent.returncode, out) == (3, "")
    assert err.startswith("error[PW602]: undecided: the search was stopped by Ctrl-C before a placement or a proof was found\n")
    assert err.endswith("job.yaml: undecided\n") and "Traceback" not in err
    assert not is_running(number)


def test_ctrl_c_shows_the_best_verified_answer(folder: Path) -> None:
    with started(folder, "hang later", "--progress", "plain", "-o", "plan.json") as parent:
        number = searching(folder)
        seen: list[str] = []
        assert parent.stderr is not None
        while not any("optimal" in line or "at least" in line for line in seen):
            seen.append(parent.stderr.readline())
        parent.send_signal(signal.SIGINT)
        out, err = parent.communicate(timeout=120)
    assert parent.returncode == 0
    assert seen[0].startswith("searching, ") and seen[0].endswith(" s: no answer yet\n")
    assert "warning[PW602]: the search was stopped by Ctrl-C: the best verified answer until then is shown\n" in err
    assert "job.yaml: " in last_line(out) and json.loads((folder / "plan.json").read_text())["components"]
    assert not is_running(number)


def test_ctrl_c_is_heard_even_where_python_loses_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox, "command", lambda memory: (sys.executable, str(HERE / "liar.py"), "hang later", str(memory)))
    lost: list[bool] = []

    def losing(progress: Incumbents) -> None:
        if progress.plan is not None and not lost:
            try:
                signal.raise_signal(signal.SIGINT)
            except KeyboardInterrupt:  # as a finaliser does, for which Python prints it and goes on
                lost.append(True)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with Session() as session:
            answer = sandbox.solve(read_problem(folder), limit=60.0, on_progress=losing, session=session)
    finally:
        signal.signal(signal.SIGINT, before)
    assert lost and answer.plan is not None
    assert [finding.code for finding in answer.findings] == ["PW602"]


def test_a_second_ctrl_c_ends_at_once(folder: Path) -> None:
    """The first one comes while the search hangs, the second while the answer would be shown: whatever it meets, nothing stays."""
    with started(folder, "hang later") as parent:
        number = searching(folder)
        time.sleep(1.5)
        parent.send_signal(signal.SIGINT)
        parent.send_signal(signal.SIGINT)
        _, err = parent.communicate(timeout=120)
    assert parent.returncode in (0, 3, 130) and "Traceback" not in err
    assert not is_running(number)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("lie", "code", "said", "verdict"),
    [
        ("crash", 3, "error[PW602]: undecided: the solver crashed with SIGABRT (*** \\x1b[31mred) before a placement or a proof", "undecided"),
        ("overlap", 70, "error[PW610]: the search gave a wrong answer, which was refused: PW2", "undecided"),
        ("raises", 70, "error[PW610]: the search itself failed: KeyError: 'no such thing'", "undecided"),
        ("raises later", 70, "error[PW610]: the search itself failed: KeyError: 'no such thing'", ""),
        ("crash later", 0, "warning[PW602]: the solver crashed with SIGABRT (*** \\x1b[31mred): the best verified", ""),
    ],
)  # fmt: skip
def test_what_a_command_says_and_returns(
    lie: str, code: int, said: str, verdict: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sandbox, "command", lambda memory: (sys.executable, str(HERE / "liar.py"), lie, str(memory)))
    assert run(["solve", "job.yaml"]) == code
    out, err = capsys.readouterr()
    assert " ".join(err.split()).startswith(said)
    if verdict:
        assert out == "" and err.endswith(f"job.yaml: {verdict}\n")
        assert run(["solve", "job.yaml", "--format", "json"]) == code
        data = json.loads(capsys.readouterr().out)
        assert data["verdict"] == verdict and [each["code"] for each in data["findings"]] == [said.partition("[")[2][:5]]
    else:
        assert "job.yaml: " in last_line(out)


def test_a_memory_limit_is_one_that_a_search_can_begin_with(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for text, said in (
        ("10MiB", "is not between 512MiB and 1024TiB"),
        ("much", "is not an amount of memory"),
        ("2000TiB", "is not between"),
    ):
        assert run(["solve", str(folder / "job.yaml"), "--memory-limit", text]) == 2
        assert said in capsys.readouterr().err
    assert run(["solve", str(folder / "job.yaml"), "--memory-limit", "512MiB"]) == 0


def test_one_question_of_many_does_not_swallow_ctrl_c(folder: Path) -> None:
    """What a change costs is a question of its own: Ctrl-C ends them all."""
    command = [sys.executable, "-c", COMMAND, str(HERE / "liar.py"), "hang", "pid", "whatif", "job.yaml", "--drop", "d.parallel"]
    with subprocess.Popen(command, cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as parent:
        number = searching(folder)
        time.sleep(0.5)
        parent.send_signal(signal.SIGINT)
        _, err = parent.communicate(timeout=120)
    assert (parent.returncode, err) == (130, "interrupted\n")
    assert not is_running(number)
