"""Whole commands with their exact text. `pytest tests/scenarios --update` rewrites it; read what changed."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Iterator

import pytest
from one_search import one_process_that_searches
from placewright.cli.main import run
from placewright.models.findings.codes import CODES
from scenario import Outcome, Scenario

HERE = Path(__file__).parent
PLACEWRIGHT = "from placewright.cli.main import main; main()"
FILES = sorted(HERE.rglob("*.scenario"))


@pytest.fixture(scope="module", autouse=True)
def shared_search() -> Iterator[None]:
    """Ask one process for all scenarios. That a command starts its own, tests/solver/sandbox shows."""
    with one_process_that_searches():
        yield


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(HERE).with_suffix("").as_posix())
def test_scenario(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], request: pytest.FixtureRequest
) -> None:
    written = path.read_text("utf-8")
    scenario = Scenario.parse(written)
    scenario.write_files(tmp_path)
    monkeypatch.chdir(tmp_path)
    for name, value in scenario.environment.items():
        monkeypatch.setenv(name, value)

    def play(arguments: list[str]) -> Outcome:
        if arguments[0] == "launch":  # in a process of its own: this one may be connected to a Ray cluster of other tests
            done = subprocess.run([sys.executable, "-c", PLACEWRIGHT, *arguments], capture_output=True, text=True, timeout=280)
            return Outcome(done.returncode, done.stdout, done.stderr)
        code = run(arguments)
        captured = capsys.readouterr()
        return Outcome(code, captured.out, captured.err)

    real = str(scenario.played(play))
    if request.config.getoption("--update"):
        path.write_text(real, "utf-8")
    else:
        assert real == written


def test_no_scenario_shows_our_own_fault() -> None:
    for path in FILES:
        text = path.read_text("utf-8")
        assert "placewright itself failed" not in text, path.name
        assert "Traceback (most recent call last)" not in text, path.name


def test_every_code_in_a_scenario_is_a_code() -> None:
    shown = {code for path in FILES for code in re.findall(r"\[(PW\d{3})\]", path.read_text("utf-8"))}
    assert shown <= set(CODES)


def test_a_scenario_that_is_wrong_is_noticed() -> None:
    text = "A sentence.\n\n=== file a.txt times 2\nx\n=== run a 'b c'\n=== exit 0\nout\n=== stderr\nerr\n"
    scenario = Scenario.parse(text)
    assert str(scenario) == text
    assert str(scenario.played(lambda arguments: Outcome(0, "out", "err"))) == text
    assert str(scenario.played(lambda arguments: Outcome(1, "out", ""))) != text
    assert scenario.sections[1].rest == "a 'b c'"


def test_one_of_anything_is_told_as_one() -> None:
    words = "accelerators|components|demands|errors|groups|nodes|pairs|plans|processes|ranks|replicas|samples|seconds|ways|workers"
    pages = [*FILES, *HERE.parent.parent.glob("*.md"), *HERE.parent.parent.glob("docs/**/*.md")]
    found = {
        f"{path.name}: {match[0]}"
        for path in pages
        for match in re.finditer(rf" 1 (?<![\w.,:] 1 )(?:{words})\b.*", path.read_text("utf-8"))
    }
    assert found == set()
