"""Plans with a component on several kinds of accelerators at once are not searched: what is proved without them is said to be so."""

from __future__ import annotations

from pathlib import Path

import placewright as pw
import pytest
from placewright.models.answer import IMPOSSIBLE, UNDECIDED
from placewright.report.planning.data import to_data
from placewright.report.planning.text import render

SMALL = "nodes: [{accelerators: {count: 3, model: H100}}, {accelerators: {count: 3, model: H100, memory: 24GiB}}]"
BOTH = "nodes: [{accelerators: {count: 4, model: H100}}, {accelerators: {count: 4, model: A100}}]"
NAMED = "[{accelerators: 1, seconds: 1, accelerator: H100}, {accelerators: 1, seconds: 2, accelerator: A100}]"


def written(folder: Path, cluster: str, parts: str, plan: str) -> str:
    file = folder / "job.yaml"
    lines = "\n".join(f"  {each.strip()}" for each in parts.strip().splitlines())
    file.write_text(f"cluster: {{{cluster}}}\ncomponents:\n{lines}\nplan: {plan}\n", encoding="utf-8")
    return str(file)


@pytest.mark.parametrize("aim", ["seconds", "accelerators"])
def test_the_least_of_several_kinds_is_told(aim: str, tmp_path: Path) -> None:
    """Both are on one kind of 4: 0.25 and 25 seconds; on 8 of both they would take half as long."""
    plan = "{workflow: named => any}" if aim == "seconds" else "{workflow: named => any, minimise: accelerators, budget: {seconds: 30}}"
    parts = f"named: {{accelerators: 1-8, seconds: {NAMED}}}\nany: {{accelerators: 1-8, seconds: {{1: 100}}}}"
    file = written(tmp_path, BOTH, parts, plan)
    answer, account = pw.solve(file, sandbox=False), pw.account(file)
    assert answer.planned is not None and account is not None and answer.planned.proved
    said, told = "\n".join(render(account)), to_data(account)
    if aim == "accelerators":  # 4 are the fewest on both kinds, too
        assert answer.planned.over_kinds is None and "over_kinds" not in told and "each component" not in said
        return
    assert answer.planned.best.nanoseconds == 25_250_000_000 and answer.planned.over_kinds == 12_625_000_000
    assert "proved the best with each component on one kind of accelerators" in said
    assert "with a component on several kinds of accelerators at once: at least 12.62 seconds; such plans are not searched" in said
    assert told["over_kinds"] == {"bound": 12.625}


def test_memory_alone_tells_accelerators_of_one_model_apart(tmp_path: Path) -> None:
    """87.5 seconds on one kind of them; four of both take 55.9."""
    parts = """
        a: {accelerators: 1-6, seconds: {train: {3: 49, 5: 31}}, memory: 16GiB, offloaded: 2GiB, colocate_with: b}
        b: {accelerators: 1-6, parallel: {tp: 2}, seconds: {2: 17, 4: 10}}
        c: {accelerators: 1-6, parallel: {tp: 2}, seconds: {4: 8, 6: 8}, memory: 28GiB}"""
    file = written(tmp_path, SMALL, parts, "{cost_model: steady, nested: true, budget: {accelerators: 4}}")
    planned = pw.solve(file, sandbox=False).planned
    assert planned is not None and round(planned.best.nanoseconds / 1e9, 1) == 87.5
    assert planned.over_kinds is not None and round(planned.over_kinds / 1e9, 1) == 55.9
    account = pw.account(file)
    assert account is not None and "a, b (2 H100 with 24 GiB)" in (said := "\n".join(render(account))) and "c (2 H100 with 80 GiB)" in said


def test_where_all_times_name_models_none_is_known_of_several(tmp_path: Path) -> None:
    parts = f"one: {{accelerators: 1-8, seconds: {NAMED}}}\nother: {{accelerators: 1-8, seconds: {NAMED}}}"
    planned = pw.solve(written(tmp_path, BOTH, parts, "{workflow: one => other}"), sandbox=False).planned
    assert planned is not None and planned.proved and planned.over_kinds is None


def test_what_only_several_kinds_allow_is_not_called_impossible(tmp_path: Path) -> None:
    """`a` has designs on one kind, and no placement there: it is to be on two nodes. On both kinds it has one, without `c` beside it."""
    cluster = "nodes: [{accelerators: {count: 4, model: H100}}, {accelerators: {count: 2, model: H100, memory: 24GiB}}]"
    parts = """
        a: {accelerators: 1-6, seconds: {2: 79, 4: 56}, spread: {level: node, domains: 2}}
        b: {accelerators: 1-6, seconds: {2: 94, 4: 70}, memory: 23GiB}
        c: {accelerators: 2, seconds: {generate: {2: 67}}, memory: 37GiB}"""
    assert pw.solve(written(tmp_path, cluster, parts, "{cost_model: steady}"), sandbox=False).verdict == UNDECIDED
    room = (
        parts.replace("b: {", "b: {accelerator: H100, ")
        .replace("c: {", "c: {accelerator: H100, ")
        .replace("a: {", "a: {accelerator: A100, ")
    )
    assert (
        pw.solve(written(tmp_path, cluster.replace("H100, memory: 24GiB", "A100"), room, "{cost_model: steady}"), sandbox=False).verdict
        == IMPOSSIBLE
    )
