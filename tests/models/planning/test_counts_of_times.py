"""A time without a count holds for as many accelerators as the component can have, where these are one number."""

from __future__ import annotations

from pathlib import Path

import placewright as pw
import pytest


def read(tmp_path: Path, cluster: str, hints: str) -> pw.Reading:
    (tmp_path / "job.yaml").write_text(f"cluster: {cluster}\ncomponents:\n  a: {{{hints}}}\n")
    return pw.load(tmp_path / "job.yaml")


@pytest.mark.parametrize(
    ("cluster", "hints", "count"),
    [
        ("1x1xH100", "seconds: 30", 1), ("1x1xH100", "accelerators: 1-8, seconds: 30", 1), ("1x4xH100", "accelerators: 4-8, seconds: 30", 4),
        ("1x8xH100", "accelerators: 4, seconds: 30", 4), ("2x8xH100", "processes: 4, accelerators_per_process: 2, seconds: 30", 8),
    ],
)  # fmt: skip
def test_the_only_count_is_meant(cluster: str, hints: str, count: int, tmp_path: Path) -> None:
    reading = read(tmp_path, cluster, hints)
    assert not reading.failed and reading.problem is not None
    timed = reading.problem["a"].timed
    assert timed is not None
    assert [each.accelerators for each in timed.measured] == [count]


@pytest.mark.parametrize(
    ("cluster", "hints"), [("1x2xH100", "seconds: 30"), ("1x8xH100", "accelerators: 4-8, seconds: 30"), ("1x1xH100+1x0", "node_group: node, seconds: 30")]
)  # fmt: skip
def test_of_several_it_is_asked_which(cluster: str, hints: str, tmp_path: Path) -> None:
    (found,) = read(tmp_path, cluster, hints).findings
    assert found.code == "PW121" and "are measured on an unknown number" in found.message
