"""Why there is no design is said at the place in the file that is the reason, where one is."""

from __future__ import annotations

from pathlib import Path

import placewright as pw
import pytest

from .texts import ACTOR, ROLLOUT, solved


@pytest.mark.parametrize(("more", "at"), [("scaling: table", "{3: 55}"), ("samples: 7", "7"), ("samples: 7, scaling: linear", "7")])
def test_what_is_wrong_with_its_times_is_pointed_at(more: str, at: str, tmp_path: Path) -> None:
    """Not at whatever is written last of them."""
    text = f"cluster: 2x8xH100\ncomponents: {{rollout: {{accelerators: 2-6, seconds: {{3: 55}}, parallel: {{tp: 2}}, {more}}}}}\n"
    if "samples" in more:
        text = text.replace("2-6", "4-6").replace("tp: 2", "tp: 1")
    (finding,) = solved(tmp_path, text).findings
    assert finding.span is not None and text[finding.span.start : finding.span.end] == at


@pytest.mark.parametrize(
    ("first", "second", "message", "at", "other"),
    [
        ("colocate_with: actor", "disjoint_from: rollout", "`rollout` and `actor` are to be on the same accelerators", "rollout", "actor"),
        ("within: actor, disjoint_from: [actor]", "role: actor", "`rollout` is to be within `actor`", "actor", "actor"),
    ],
)
def test_relations_that_cannot_both_be_are_pointed_at(first: str, second: str, message: str, at: str, other: str, tmp_path: Path) -> None:
    """Nothing is said of letting them share, or be on others: that is what was written."""
    text = f"cluster: 2x8xH100\ncomponents:\n  rollout: {{{ROLLOUT}, {first}}}\n  actor: {{{ACTOR}, {second}}}\n"
    (tmp_path / "job.yaml").write_text(text, encoding="utf-8")
    (finding,) = pw.solve(tmp_path / "job.yaml").findings
    assert finding.message == f"impossible: {message}, and they are to share none"
    assert finding.help == "drop one of the two demands" and finding.span and finding.origin
    assert text[finding.span.start : finding.span.end] == at and text[finding.origin.start : finding.origin.end] == other
    assert text[: finding.span.start].rstrip("[ ").endswith("disjoint_from:")


@pytest.mark.parametrize(
    ("third", "at"),
    [("memory: 78GiB, colocate_with: actor, phase: infer", "78GiB"), ("accelerators: 4, memory: 1GiB, colocate_with: actor", "actor")],
)
def test_what_is_in_the_way_is_pointed_at(third: str, at: str, tmp_path: Path) -> None:
    """A memory that does not fit beside what stays; a relation without which there would be a design."""
    text = f"cluster: 2x8xH100\ncomponents:\n  rollout: {{{ROLLOUT.replace('1-16', '8')}, offloaded: 2GiB}}\n"
    text += f"  actor: {{{ACTOR.replace('2-16', '8')}, offloaded: 4GiB}}\n  judge: {{{third}}}\n"
    (tmp_path / "job.yaml").write_text(text, encoding="utf-8")
    (finding,) = pw.solve(tmp_path / "job.yaml").findings
    assert finding.span is not None and text[finding.span.start : finding.span.end] == at
