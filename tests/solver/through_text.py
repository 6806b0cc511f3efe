"""A problem as a native file: solved, written, verified again, its plan read back."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path
from typing import NamedTuple

from placewright.cli.main import run
from placewright.models.answer import IMPOSSIBLE
from placewright.models.answer import UNDECIDED as NOT_SEARCHED
from placewright.models.dialects.load import read
from placewright.models.dialects.recognition import dialect_named
from placewright.models.placements.assignment import Assignment, seats
from placewright.models.placements.plan_file import read_plan
from placewright.models.problem import Problem
from placewright.models.text.source import Source
from placewright.planner.verify import verify
from placewright.solver.searching.search import solve as search

from .brute_force import refused
from .whole_model import Disagreement

OK, FINDINGS, UNUSABLE, UNDECIDED = 0, 1, 2, 3


class Ended(NamedTuple):
    """A command that has ended."""

    exit_code: int
    output: str


def through_text(problem: Problem, where: Path) -> int:
    """The exit code of `solve`. Raises Disagreement if what it wrote is not what it found, or is not right."""
    file, plan = where / "run.yaml", where / "plan.json"
    file.write_text(dialect_named("native").render(problem).text)
    reading = read(Source("run.yaml", file.read_text()), None, "native")
    asked = reading.problem
    solved = _run("solve", str(file), "--write", "-o", str(plan), "--progress", "none")
    if solved.exit_code not in (OK, FINDINGS, UNUSABLE, UNDECIDED):
        raise Disagreement(f"exit {solved.exit_code}: {solved.output}\n{file.read_text()}")
    if solved.exit_code != OK:
        if plan.exists():
            raise Disagreement(f"exit {solved.exit_code} and a plan: {solved.output}\n{file.read_text()}")
        if solved.exit_code != UNUSABLE and asked is not None and not verify(reading).errors:
            verdict = {FINDINGS: IMPOSSIBLE, UNDECIDED: NOT_SEARCHED}[solved.exit_code]
            if verdict != search(asked).verdict:
                raise Disagreement(f"exit {solved.exit_code}: {solved.output}\n{file.read_text()}")
        return solved.exit_code
    assert asked is not None
    found = read_plan(plan)
    for command in (("verify", str(file)), ("explain", str(file))):
        again = _run(*command)
        if again.exit_code != OK:
            raise Disagreement(f"{command[0]}: exit {again.exit_code}: {again.output}\n{file.read_text()}")
    written = read(Source("run.yaml", file.read_text()), None, "native")
    if written.problem is None or written.problem.hinted or verify(written).errors:
        raise Disagreement(f"what was written is not whole: {written.findings}\n{file.read_text()}")
    if _seats(written.problem.build_given()) != _seats(found.assignment):
        raise Disagreement(f"written: {written.problem.build_given()}, in the plan: {found.assignment}\n{file.read_text()}")
    chosen = [each for each in asked.alternatives() if all(each[name].parallel == its for name, its in found.degrees.items())]
    if len(chosen) != 1 or refused(chosen[0], found.assignment):
        raise Disagreement(f"the plan is refused: {found.degrees}, {found.assignment}")
    if found.cluster.nodes != problem.cluster.nodes:
        raise Disagreement("the plan is for another cluster")
    return OK


def _run(*arguments: str) -> Ended:
    """A command in this process. What it prints goes nowhere if it is right."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run(arguments)
    return Ended(code, out.getvalue() + err.getvalue())


def _seats(assignment: Assignment) -> dict[str, list[object]]:
    return {name: [(rank, [seat for seat, _, _ in its]) for rank, its in seats(runs)] for name, runs in assignment.runs.items()}
