"""Where given ranks leave a component no option, they are named among the demands that cannot hold together."""

from __future__ import annotations

import re
from pathlib import Path

import placewright as pw
import pytest
from placewright.models.answer import IMPOSSIBLE

JOB = """
cluster: 2x4xA
components:
{given}  actor: {{{actor}, seconds: {{4: 10}}}}
plan: {{cost_model: steady}}
"""
TP, RANGE, ALL = "parallel: {tp: 4}", "accelerators: 6, contiguous: true", "accelerators: 8"


@pytest.mark.parametrize(
    ("given", "actor", "told", "moved"),
    [
        ({"judge": "1,5"}, TP, "actor has tp 4; judge has given ranks", "`judge`"),
        (
            {"judge": "3-4"},
            RANGE,
            "actor asks for 6 accelerators (the cluster has 8); judge has given ranks; actor can have 1, 2, 3",
            "`judge`",
        ),
        ({"judge": "0-3"}, ALL, "actor asks for 8 accelerators (the cluster has 8); judge has given ranks; actor can have 1, 2, 3, 4", ""),
        ({"judge": "1", "ref": "6"}, TP, "actor has tp 4; each of judge and ref has given ranks", "`judge`"),
        ({"judge": "1-3", "ref": "6"}, f"exclude: 1, {TP}", "actor has tp 4; judge has given ranks; actor must not use node 1", "`judge`"),
    ],
)
def test_they_are_named(given: dict[str, str], actor: str, told: str, moved: str, tmp_path: Path) -> None:
    file = tmp_path / "job.yaml"
    lines = "".join(f'  {name}: {{placement: "{ranks}"}}\n' for name, ranks in given.items())
    file.write_text(JOB.format(given=lines, actor=actor), encoding="utf-8")
    answer = pw.solve(str(file), sandbox=False)
    assert answer.verdict == IMPOSSIBLE
    (finding,) = answer.findings
    assert finding.message == "impossible: no plan can run `actor` with all of its demands"
    assert set(told.split("; ")) <= {note.split(" (1 of 2")[0].split(": ")[-1] for note in finding.notes}
    assert any(re.match("line 4.*judge.* has given ranks", note) for note in finding.notes)
    assert ("give `judge` other ranks" in finding.help) == bool(moved)


def test_where_they_hold_everything_nothing_else_is_to_blame(tmp_path: Path) -> None:
    text = "cluster: 1x8xH100\ncomponents:\n  a: {placement: 0-7, memory: 1GiB}\n  b: {seconds: {8: 224}}\n"
    (tmp_path / "job.yaml").write_text(text, encoding="utf-8")
    (finding,) = pw.solve(tmp_path / "job.yaml").findings
    assert finding.message == "impossible: no plan can run `b`: a has given ranks"
    assert finding.help == "add 1 node with 8 H100"
