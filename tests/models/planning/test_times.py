"""What may be written of the time that a component takes, and what is said of the rest."""

from __future__ import annotations

from pathlib import Path

import placewright as pw
import pytest

WRONG = {
    "{8: 5, 08: 6}": "`a` has two times for 8 accelerators",
    "[{seconds: 3, accelerators: 8, phase: train}, {seconds: 4, accelerators: 8, phase: train}]": "`a` has two times for train on 8 accelerators",
    "[{seconds: 3, tp: 2, accelerator: H100}, {seconds: 4, tp: 2, accelerator: H100}]": "`a` has two times for 8 H100 with tp 2",
    "{8: 5, train: 3}": "`seconds` of the hints of `a`: counts of accelerators stand beside phases, whose own counts stand below them",
    "{8.5: 3}": "`seconds` of the hints of `a`: `8.5` is neither a count of accelerators nor a phase",
    "{-8: 3}": "`seconds` of the hints of `a`: `-8` is neither a count of accelerators nor a phase",
}
RIGHT = [
    "[{seconds: 3, accelerators: 8}, {seconds: 3, accelerators: 8}]",
    "[{seconds: 3, accelerators: 8, tp: 1}, {seconds: 4, accelerators: 8, tp: 2}]",
    "{train: 3, infer: 4}",
    "{8: 3, 16: 2}",
]


def verified(folder: Path, seconds: str) -> list[str]:
    file = folder / "job.yaml"
    file.write_text(f"cluster: 2x8xH100\ncomponents:\n  a: {{accelerators: 8, seconds: {seconds}}}\n", encoding="utf-8")
    return [finding.message for finding in pw.verify(file).findings if finding.severity.value == "error"]


@pytest.mark.parametrize("seconds", WRONG)
def test_times_that_cannot_be_meant_are_said(seconds: str, tmp_path: Path) -> None:
    assert verified(tmp_path, seconds) == [WRONG[seconds]]


@pytest.mark.parametrize("seconds", RIGHT)
def test_these_can(seconds: str, tmp_path: Path) -> None:
    assert not verified(tmp_path, seconds)
