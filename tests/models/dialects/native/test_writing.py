"""An answer in a native file: places, and what lets components share accelerators as they do in the answer."""

from __future__ import annotations

from pathlib import Path

import placewright as pw
from placewright.models.dialects.native.writing import write
from placewright.models.findings.span import apply_edits
from placewright.models.placements.assignment import Assignment
from placewright.models.placements.run import Run

HEAD = "cluster: 1x8xH100\ncomponents:\n"


def written(folder: Path, text: str, **runs: range) -> str:
    """The text with components on these accelerators of node 0, one a process."""
    file = folder / "run.yaml"
    file.write_text(HEAD + text)
    assignment = Assignment({name: (Run(range(len(its)), 0, first=its.start),) for name, its in runs.items()})
    after = apply_edits(HEAD + text, write(pw.load(file), assignment))
    file.write_text(after)
    report = pw.verify(file)
    assert not report.errors
    return after.removeprefix(HEAD)


def test_components_on_the_same_accelerators_name_the_first_of_them(tmp_path: Path) -> None:
    after = written(
        tmp_path, "  a: {accelerators: 4}\n  b: {accelerators: 4}\n  c: {accelerators: 4}\n", a=range(4), b=range(4), c=range(4)
    )
    assert after.splitlines() == [
        "  a: {accelerators: 4, placement: 0-3}",
        "  b: {accelerators: 4, placement: 0-3, colocate_with: [a]}",
        "  c: {accelerators: 4, placement: 0-3, colocate_with: [a]}",
    ]


def test_components_inside_another_name_it(tmp_path: Path) -> None:
    text = "  env:\n    accelerators: 2\n  rollout:\n    accelerators: 6\n  actor:\n    accelerators: 8\n"
    after = written(tmp_path, text, env=range(2), rollout=range(2, 8), actor=range(8))
    assert after.splitlines() == [
        "  env:",
        "    accelerators: 2",
        "    placement: 0-1",
        "    within: [actor]",
        "  rollout:",
        "    accelerators: 6",
        "    placement: 2-7",
        "    within: [actor]",
        "  actor:",
        "    accelerators: 8",
        "    placement: 0-7",
    ]


def test_what_the_file_says_already_is_not_said_again(tmp_path: Path) -> None:
    after = written(tmp_path, "  a: {accelerators: 4, colocate_with: b}\n  b: {accelerators: 4}\n", a=range(4), b=range(4))
    assert after.splitlines() == ["  a: {accelerators: 4, colocate_with: b, placement: 0-3}", "  b: {accelerators: 4, placement: 0-3}"]


def test_a_key_that_is_there_gets_the_name_too(tmp_path: Path) -> None:
    text = "  a: {accelerators: 2}\n  b: {accelerators: 2, within: c}\n  c: {accelerators: 4, within: [d]}\n  d: {accelerators: 6}\n"
    after = written(tmp_path, text, a=range(6, 8), b=range(2), c=range(4), d=range(6))
    assert after.splitlines()[1:3] == [
        "  b: {accelerators: 2, within: [c, d], placement: 0-1}",
        "  c: {accelerators: 4, within: [d], placement: 0-3}",
    ]
