"""What hints ask for beside a placement: amounts that it has not are told, and those that it has are no error."""

from __future__ import annotations

from pathlib import Path

import placewright as pw
import pytest

CLUSTER = "cluster: 2x8xH100\ncomponents:\n  actor: {placement: PLACED}\n"
LISTED = "[{ranks: 0, node: 0, accelerators: 0-1}, {ranks: 1, node: 0, accelerators: 2-3}], "


def faults(tmp_path: Path, placed: str) -> list[str]:
    file = tmp_path / "job.yaml"
    file.write_text(CLUSTER.replace("PLACED", placed))
    return [
        f"{finding.code} {finding.message}; {finding.help}" for finding in pw.verify(file).findings if finding.severity.value == "error"
    ]


@pytest.mark.parametrize(
    "placed",
    [
        "'0-7:0-3', accelerators: 8",
        "'0-7:0-3', processes: 4",
        "'0-7:0-3', accelerators: 8, processes: 4",
        "'0-7:0-3', accelerators: 4-8, processes: 2-4, accelerators_per_process: 2",
        "'0-7:0-3', accelerators_per_process: 2",
        "'0-3:0-7', accelerators: 4",
        "'0-3:0-7', accelerators: 8",
        "'0-3:0-7', processes: 8",
        "'0-3:0,4-7:1-4', accelerators: 8",
        "'0-3:0,4-7:1-4', processes: 5",
        "'0-7:0-3', stride: 2, contiguous: true",
        LISTED + "processes: 2",
        LISTED + "accelerators: 4",
    ],
)
def test_a_placement_with_what_is_asked_for_is_no_error(placed: str, tmp_path: Path) -> None:
    assert faults(tmp_path, placed) == []


@pytest.mark.parametrize(
    ("placed", "said"),
    [
        ("0-7, processes: 4", "asks for 4 processes, 8 are placed; place 4, or ask for 8"),
        ("0-7, accelerators: 8, processes: 4", "asks for 4 processes, 8 are placed; place 4, or ask for 8"),
        ("0, processes: 2-4", "asks for 2-4 processes, 1 is placed; place 2, or ask for 1"),
        ("'0-7:0-3', accelerators: 8, processes: 8", "asks for 8 processes, 4 are placed; place 8, or ask for 4"),
        ("'0-7:0-3', accelerators: 16", "asks for 16 accelerators, 8 are placed; place 16, or ask for 8"),
        ("0-7, accelerators_per_process: 2", "asks for 2 accelerators a process, its placement gives 1; place 2 a process, or ask for 1"),
        (
            "'0-3:0,4-7:1-4', accelerators_per_process: 1",
            "asks for 1 accelerator a process, its placement gives 1 or 4; place 1 a process, or drop `accelerators_per_process`",
        ),
        ("0-7, stride: 2, contiguous: true, accelerators: 8, processes: 4", "asks for 4 processes, 8 are placed; place 4, or ask for 8"),
        (LISTED + "processes: 4", "asks for 4 processes, 2 are placed; place 4, or ask for 2"),
    ],
)
def test_a_placement_without_it_is_one_error(placed: str, said: str, tmp_path: Path) -> None:
    assert faults(tmp_path, placed) == [f"PW209 actor {said}"]
