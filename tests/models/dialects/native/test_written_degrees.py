"""Degrees that were chosen, in a native file: what is written is the job that was planned."""

from __future__ import annotations

from pathlib import Path
from random import Random

import placewright as pw
import pytest
from placewright.models.dialects.native.writing import write
from placewright.models.findings.span import apply_edits
from placewright.models.parallel import Parallel
from placewright.models.placements.assignment import Assignment
from placewright.models.placements.run import Run
from placewright.planner.accounting import account_of_given_ranks
from placewright.planner.answer import Solver
from placewright.planner.write_back import edits_of
from placewright.solver.searching.search import solve

NAMES = ("rollout", "actor", "judge")


def file_of(random: Random) -> str:
    """Two or three components on one or two nodes, with degrees that are open, in any style; times differ by degrees."""
    lines = [f"cluster: {random.choice((1, 2))}x4xH100", "components:"]
    names = NAMES[: random.choice((2, 3))]
    for name in names:
        degrees = {key: random.sample((1, 2, 4), random.randint(1, 3)) for key in ("tp", "pp") if random.random() < 0.8}
        rows = [
            f"{{accelerators: {count}, tp: {tp}, pp: {pp}, seconds: {random.randint(5, 400)}}}"
            for count in (2, 4, 8)
            for tp in degrees.get("tp", [1])
            for pp in degrees.get("pp", [1])
        ]
        hints = [f"seconds: [{', '.join(rows)}]", "scaling: table" if random.random() < 0.5 else "scaling: power"]
        shown, block = ", ".join(f"{key}: {its if len(its) > 1 else its[0]}" for key, its in degrees.items()), random.random() < 0.5
        if degrees and random.random() < 0.5:
            hints.insert(random.randint(0, 2), f"parallel: {{{shown}}}")
        elif degrees and block:
            hints.insert(
                random.randint(0, 2),
                "parallel:" + "".join(f"\n      {key}:" + "".join(f"\n        - {each}" for each in its) for key, its in degrees.items()),
            )
        elif degrees:
            hints.append("parallel: {" + shown + "}  # as tried")
        if random.random() < 0.2:
            hints.append("stride: 2\n    contiguous: true")
        flow = not any("\n" in hint or "#" in hint for hint in hints)
        lines.append(f"  {name}: {{{', '.join(hints)}}}" if flow else f"  {name}:\n    " + "\n    ".join(hints))
    return "\n".join([*lines, f"plan: {{workflow: {' -> '.join(names)}}}", ""])


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(60))
def test_what_is_written_is_what_was_planned(seed: int, tmp_path: Path) -> None:
    file = tmp_path / "job.yaml"
    file.write_text(file_of(Random(seed)))
    answer = pw.solve(file, sandbox=False)
    if answer.plan is None or answer.planned is None:
        assert answer.findings
        return
    reading = pw.load(file)
    edits, refused = edits_of(reading, answer)
    assert not refused
    file.write_text(apply_edits(reading.source.text, edits))
    again = pw.load(file).problem
    assert again is not None
    assert not again.job.choices
    options = answer.planned.best.design.options
    assert {each.name: each.parallel for each in again.components} == {name: its.parallel for name, its in options.items()}
    assert {name: again.build_given().amount(name) for name in options} == {name: its.amount for name, its in options.items()}
    fixed = account_of_given_ranks(again, Solver(solve))
    assert fixed is not None
    assert fixed.planned.best.nanoseconds == answer.planned.best.nanoseconds


def written(folder: Path, text: str, **degrees: Parallel) -> list[str]:
    """The components after these degrees, and all eight accelerators for each, are written."""
    file = folder / "job.yaml"
    file.write_text(text)
    assignment = Assignment({name: (Run(range(8), 0),) for name in degrees})
    return apply_edits(text, write(pw.load(file), assignment, degrees)).splitlines()[2:]


HEAD = "cluster: 1x8xH100\ncomponents:\n"


def test_only_what_is_open_changes(tmp_path: Path) -> None:
    text = HEAD + "  a: {accelerators: 8, parallel: {tp: [1, 2], pp: 2, cp: [1]}}\n"
    assert written(tmp_path, text, a=Parallel(2, 2)) == ["  a: {accelerators: 8, parallel: {tp: 2, pp: 2, cp: [1]}, placement: 0-7}"]


def test_a_list_in_lines_becomes_a_number(tmp_path: Path) -> None:
    text = HEAD + "  a:\n    accelerators: 8\n    parallel:\n      tp:\n        - 1\n        - 2  # the faster\n"
    assert written(tmp_path, text, a=Parallel(2))[:4] == ["  a:", "    accelerators: 8", "    parallel:", "      tp: 2  # the faster"]


def test_degrees_through_an_interpolation_are_written_in_its_place(tmp_path: Path) -> None:
    text = (
        HEAD
        + "  a: {accelerators: 8, parallel: {tp: [1, 2]}}\n  b: {accelerators: 8, parallel: '${components.a.parallel}', colocate_with: a}\n"
    )
    assert written(tmp_path, text, a=Parallel(1), b=Parallel(2)) == [
        "  a: {accelerators: 8, parallel: {tp: 1}, placement: 0-7}",
        "  b: {accelerators: 8, parallel: {tp: 2}, colocate_with: a, placement: 0-7}",
    ]
