"""What of a model is not checked, because nobody says what there is to divide."""

from __future__ import annotations

from pathlib import Path

import placewright as pw
import pytest


@pytest.mark.parametrize(
    ("degrees", "estimate", "told"),
    [
        ("{ep: 4}", "", "the number of experts is unknown: write it in the `estimate`, such as `{experts: 128}`"),
        ("{ep: 4}", "{experts: 128}", None),
        ("{ep: 4}", "{layers: 30, heads: 32}", "the number of experts of `actor.estimate` is unknown"),
        ("{tp: 4}", "", None),
        ("{tp: 4}", "{layers: 30, heads: 32}", None),
    ],
)
def test_experts_that_nobody_counts_are_not_checked(degrees: str, estimate: str, told: str | None, tmp_path: Path) -> None:
    file = tmp_path / "job.yaml"
    more = f", estimate: {estimate}" if estimate else ""
    file.write_text(f"cluster: 1x8xH100\ncomponents:\n  actor: {{placement: 0-7, parallel: {degrees}{more}}}\n")
    report = pw.verify(file)
    assert not report.errors
    assert [each.why for each in report.unchecked if each.rule == "PW404"] == ([told] if told else [])
