"""The README shows what really comes out: every command block and every program in it is run and compared.

`pytest tests/test_readme.py --update` writes what comes out; read what changed.
"""

from __future__ import annotations

import importlib
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Iterator

import pytest
from _pytest.mark.structures import ParameterSet

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text("utf-8") if (ROOT / "README.md").exists() else ""
_FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_TIME = re.compile(r"\b\d+(?:\.\d+)? ?(?:s|ms|seconds)\b")
_IDENTIFIER = re.compile(r"\b(?:[0-9a-f]{8}|\d{3,})\b")  # a Ray node or a process, in the table of a launch
PLACEWRIGHT = "from placewright.cli.main import main; main()"


@dataclass(frozen=True)
class Shown:
    """A command or a program with the output that the README shows for it."""

    command: str
    output: str
    python: bool = False

    @property
    def needs_ray(self) -> bool:
        return "launch" in self.command

    @property
    def written(self) -> str | None:
        """The file that it writes beside the examples, if any."""
        words = [] if self.python else shlex.split(self.command)
        return words[words.index("-o") + 1] if "-o" in words else None

    def needs(self) -> list[Shown]:
        """The commands of the README that write what this one reads, in their order."""
        words = [] if self.python else shlex.split(self.command)
        return [other for other in shown() if other.written in words and other != self]

    def run(self, folder: Path) -> str:
        """What it prints when it is run in a folder: output, then errors, without blanks at the ends of lines."""
        if self.command.startswith("cat "):
            return (folder / self.command.split()[1]).read_text("utf-8")
        if self.python:
            arguments = [sys.executable, "-c", self.command]
        else:
            name, *rest = shlex.split(self.command)
            assert name == "placewright"
            arguments = [sys.executable, "-c", PLACEWRIGHT, *rest]
        done = subprocess.run(arguments, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=280)
        return "\n".join(line.rstrip() for line in (done.stdout + done.stderr).strip("\n").splitlines()) + "\n"

    def as_written(self, output: str) -> str:
        """The piece of the README with another output."""
        return f"{self.command}```\n\n```text\n{output}" if self.python else f"$ {self.command}\n{output}"


def shown() -> Iterator[Shown]:
    program = ""
    for match in _FENCE.finditer(README):
        language, body = match[1], match[2]
        if language == "console":
            for part in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]:
                command, _, output = part.partition("\n")
                yield Shown(command, output)
        elif language == "python":
            program = body
        elif language == "text" and program:
            yield Shown(program, body, python=True)
            program = ""


def parameters() -> list[ParameterSet]:
    found = []
    for number, one in enumerate(shown()):
        marks = [pytest.mark.ray] if one.needs_ray else []
        found.append(pytest.param(one, marks=marks, id=f"{number}-{'program' if one.python else one.command[:40]}"))
    return found


def same_every_time(text: str, launched: bool) -> str:
    """The text without what differs from run to run; a launch also has columns as wide as its process numbers."""
    text = _TIME.sub("0 s", text).strip()
    if launched:
        text = "\n".join(" ".join(line.split()) for line in _IDENTIFIER.sub("N", text).splitlines())
    return text


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where a command runs, as a reader would: beside a copy of the examples."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


@pytest.mark.parametrize("one", parameters())
def test_the_output_is_real(one: Shown, folder: Path, request: pytest.FixtureRequest) -> None:
    for earlier in one.needs():
        earlier.run(folder)
    real = one.run(folder)
    same = same_every_time(real, one.needs_ray) == same_every_time(one.output, one.needs_ray)
    if request.config.getoption("--update") and not same:
        readme = (ROOT / "README.md").read_text("utf-8")
        assert readme.count(one.as_written(one.output)) == 1
        (ROOT / "README.md").write_text(readme.replace(one.as_written(one.output), one.as_written(real)), "utf-8")
        return
    assert same_every_time(real, one.needs_ray) == same_every_time(one.output, one.needs_ray)


def test_the_two_set_up_commands_are_those_of_a_fresh_machine() -> None:
    commands = [line for line in README.splitlines() if line.startswith("python3 -m venv .venv && ")]
    assert len(commands) == 2
    assert commands[0].endswith('-e ".[ray]" && .venv/bin/placewright launch examples/quickstart.yaml --simulate')
    assert commands[1].endswith(
        '-e ".[ray,serve,test]" && .venv/bin/pytest -n auto --dist worksteal -m "not ray" && .venv/bin/pytest -n 2 --dist loadfile -m ray'
    )
    assert all(" -c constraints.txt " in command for command in commands)


def test_the_programs_are_those_in_the_examples() -> None:
    programs = [match[2] for match in _FENCE.finditer(README) if match[1] == "python"]
    assert programs == [(ROOT / "examples" / f"{name}.py").read_text("utf-8") for name in ("quickstart", "strategies")]


def test_every_example_that_a_reader_is_told_to_run_is_there() -> None:
    """What they print is compared where each is tested, in tests/runtime."""
    told = [
        line.split()[1]
        for match in _FENCE.finditer(README)
        if match[1] == "sh"
        for line in match[2].splitlines()
        if line.startswith("python ")
    ]
    assert len(told) >= 4
    assert [name for name in told if not (ROOT / name).exists()] == []


def test_the_import_lines_for_programs_of_the_frameworks_are_right() -> None:
    lines = [line for match in _FENCE.finditer(README) if match[1] == "diff" for line in match[2].splitlines() if line]
    there = {name: None for line in lines if line.startswith("+") for name in imported(line)}
    assert there
    for line in lines:
        if line.startswith("-"):
            assert set(imported(line)) <= set(there), line
        else:
            module = importlib.import_module(line.removeprefix("+from ").partition(" ")[0])
            assert all(hasattr(module, name) for name in imported(line)), line


def imported(line: str) -> list[str]:
    return line.partition(" import ")[2].split(", ")


def test_no_output_is_our_own_fault() -> None:
    assert "placewright itself failed" not in README
    assert "Traceback" not in README


def test_every_link_to_a_file_leads_somewhere() -> None:
    for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"):
        for target in re.findall(r"\]\(([^)#]+)\)", (ROOT / name).read_text("utf-8")):
            assert "://" in target or (ROOT / target).exists(), f"{name}: {target}"


def test_every_key_of_hints_is_told_of() -> None:
    """So that what the schema completes is explained."""
    from placewright.models.dialects.rlinf.planning.form import MeasuredOnForm
    from placewright.models.hints.block import BlockForm
    from placewright.models.hints.estimate import EstimateForm
    from placewright.models.hints.forms import ComponentForm, ParallelForm, PlacedForm
    from placewright.models.hints.plan import BudgetForm, PlanForm
    from placewright.models.hints.relations import LinkForm, RelationForm

    forms = (ComponentForm, ParallelForm, PlacedForm, EstimateForm, PlanForm, BudgetForm, RelationForm, LinkForm, BlockForm, MeasuredOnForm)
    keys = {its.written for form in forms for its in form.keys.values()}
    told = set(re.findall(r"\w+", " ".join(re.findall(r"`[^`\n]+`", README))))
    assert keys <= told, sorted(keys - told)
