"""Where given ranks leave a component no way to be run, these are named."""

from __future__ import annotations

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
        ({"judge": "1,5"}, TP, "tp 4 needs 4 accelerators of one node, and the largest that it may use has 3", "`judge`"),
        ({"judge": "3-4"}, RANGE, "it asks for 6 accelerators, and can have 1, 2, 3: whole replicas", "`judge`"),
        ({"judge": "0-3"}, ALL, "it asks for 8 accelerators, and can have 1, 2, 3, 4: whole replicas", ""),
        ({"judge": "1", "ref": "6"}, TP, "tp 4 needs 4 accelerators of one node", "`judge`"),
        ({"judge": "1-3", "ref": "6"}, f"exclude: 1, {TP}", "tp 4 needs 4 accelerators of one node", ""),
        ({"judge": "1", "ref": "2"}, f"exclude: 1, {TP}", "tp 4 needs 4 accelerators of one node", ""),
    ],
)
def test_they_are_named(given: dict[str, str], actor: str, told: str, moved: str, tmp_path: Path) -> None:
    file = tmp_path / "job.yaml"
    lines = "".join(f'  {name}: {{placement: "{ranks}"}}\n' for name, ranks in given.items())
    file.write_text(JOB.format(given=lines, actor=actor), encoding="utf-8")
    answer = pw.solve(str(file), sandbox=False)
    assert answer.verdict == IMPOSSIBLE
    (finding,) = answer.findings
    names = "`judge` and `ref`" if actor.startswith("exclude") and given["judge"] == "1" else "`judge`"
    assert finding.message.startswith(f"impossible: `actor` can be run in no way: {told}")
    assert finding.message.endswith(f"; without the ranks that are given to {names} it could be run")
    assert (", or give `judge` other ranks" in finding.help) == bool(moved)
    if moved:
        file.write_text(file.read_text(encoding="utf-8").replace(f'"{given["judge"]}"', '"0-1"' if "-" in given["judge"] else '"4"'))
        assert pw.solve(str(file), sandbox=False).plan is not None
