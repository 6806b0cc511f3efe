"""A picture says what the plan and its account say, escapes every name, and loads nothing."""

from __future__ import annotations

import base64
import hashlib
import re
from html.parser import HTMLParser
from pathlib import Path
from xml.etree.ElementTree import Element, fromstring

import placewright as pw
import pytest
from markupsafe import escape
from placewright.models.machines.shorthand import read_shorthand
from placewright.models.parallel import Parallel
from placewright.models.placements.assignment import Assignment
from placewright.models.placements.plan import VERIFIED, Plan
from placewright.models.placements.run import Run
from placewright.report.picture.page import Picture, to_html, to_svg
from placewright.report.planning.data import to_data
from placewright.report.rows import rows_of

from ..planning.accounts import BY_HAND, account

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = {name: name for name in ("<script>alert(1)</script>", "b' onload='alert(2)", "{{7*7}}")} | {"c\u202e\x00": r"c\u202e\x00"}


class Elements(HTMLParser):
    """Names and attributes of the elements of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def tooltips(drawing: Element, kind: str) -> list[str]:
    """Tooltips of the groups of a class; of all others for ""."""
    groups = [group for group in drawing.iter(f"{SVG}g") if (group.get("class") or "").split()[:1] == ([kind] if kind else [])]
    return [title.text or "" for group in groups for title in group.findall(f"{SVG}title")]


def plan_on(shorthand: str, **runs: tuple[Run, ...]) -> Plan:
    machines = read_shorthand(shorthand)
    assert not isinstance(machines, str)
    return Plan(machines, Assignment(runs), VERIFIED)  # type: ignore[arg-type]


def test_every_accelerator_names_its_processes(colocated: Plan) -> None:
    drawn = set[tuple[str, str, str]]()
    for tooltip in tooltips(fromstring(to_svg(Picture("job.yaml", "ok", colocated))), "gpu"):
        where, *holders = tooltip.split("\n")
        drawn |= {(where.split()[0], *holder[2:].split(": rank ")) for holder in holders if ": rank " in holder}  # type: ignore[misc]
    meant: dict[tuple[str, str], list[int]] = {}
    for name in colocated.components:
        for placement in colocated.placements(name):
            for index in placement.local_hardware_ranks:
                meant.setdefault((f"{placement.node_id}:{index}", name), []).append(placement.rank)
    assert drawn == {(*where, ", ".join(map(str, ranks))) for where, ranks in meant.items()}


def test_idle_and_taken_accelerators_are_told_apart(colocated: Plan) -> None:
    shown = tooltips(fromstring(to_svg(Picture("job.yaml", "ok", colocated))), "gpu")
    assert shown[-2:] == ["node-1:2 H100\nidle", "node-1:3 H100\nheld by another job"]


def test_tp_groups_are_consecutive_accelerators_in_rank_order() -> None:
    plan = plan_on("2x4xH100", actor=(Run(range(4), 1), Run(range(4, 8), 0)))
    rows = rows_of(plan, ["actor"], {"actor": Parallel(tp=2)})
    assert [[cell.holders[0].group for cell in row.cells] for row in rows] == [[2, 2, 3, 3], [0, 0, 1, 1]]


def test_processes_without_accelerators_stand_beside_their_node(heterogeneous: Plan) -> None:
    rows = rows_of(heterogeneous, list(heterogeneous.components), {})
    assert (rows[0].besides, rows[16].besides) == (((3, "100 processes"),), ((2, "1 process on Franka 0"),))


def test_alike_nodes_share_a_row_where_nodes_are_many() -> None:
    plan = plan_on("1024x8xH100", actor=tuple(Run(range(8 * node, 8 * node + 8), node) for node in range(512)))
    picture = Picture("job.yaml", "ok", plan)
    assert [row.title for row in rows_of(plan, ["actor"], {})] == ["node-0 .. node-511 (512 nodes)", "node-512 .. node-1023 (512 nodes)"]
    assert len(to_html(picture)) < 30_000


def test_a_page_of_64_nodes_stays_small() -> None:
    runs = tuple(Run(range(8 * node, 8 * node + 8), node) for node in range(64))
    plan = plan_on("64x8xH100", actor=runs, rollout=runs, reference=runs)
    assert len(to_html(Picture("job.yaml", "ok", plan, dict.fromkeys(plan.components, Parallel(tp=8))))) < 400_000


def test_time_and_memory_are_those_of_the_json(tmp_path: Path) -> None:
    asked = account(tmp_path, BY_HAND, searches=0)
    answer = pw.solve(tmp_path / "job.yaml", sandbox=False)
    assert answer.plan is not None
    data = to_data(asked)
    shown = tooltips(fromstring(to_svg(Picture("job.yaml", "ok", answer.plan, account=asked))), "")
    works = {f"{turn['task'].split('.')[0]}: {turn['seconds']:.4g} seconds" for usage in data["usage"] for turn in usage["works"]}  # type: ignore[attr-defined]
    assert works == {" ".join(text.split()[:3]) for text in shown if "seconds of work" in text}
    loads = {
        f"{entry['component']} {entry['state']}: {entry['mebibytes'] / 1024:.1f} GiB"
        for bill in data["memory"]  # type: ignore[attr-defined]
        for part in bill["parts"]
        for entry in part["components"]
        if entry["mebibytes"]
    }
    assert loads
    assert loads == {text for text in shown if text.endswith("GiB") and not text.startswith("free of")}


def test_the_page_lists_plan_and_alternatives(tmp_path: Path) -> None:
    asked = account(tmp_path, BY_HAND, searches=0)
    answer = pw.solve(tmp_path / "job.yaml", sandbox=False)
    assert answer.plan is not None
    page = to_html(Picture("job.yaml", "ok", answer.plan, account=asked))
    rows = re.findall(
        r'<tr><td>[^<]*</td><td class="number">([\d.]+)</td><td class="number">(\d+)</td>', page.partition("Plan and alternatives")[2]
    )
    assert len(rows) == 1 + len(asked.alternatives)
    assert float(rows[0][0]) == pytest.approx(asked.planned.best.total / 1e9, rel=1e-3)


@pytest.mark.parametrize(("name", "shown"), HOSTILE.items())
def test_a_hostile_name_is_text(name: str, shown: str) -> None:
    plan = plan_on("1x2xH100", **{name: (Run(range(2), 0),)})
    picture = Picture(name, name, plan, data=f'{{"a": "{name}"}}')
    page = Elements(to_html(picture))
    assert [tag for tag, _ in page.found].count("script") == 1
    assert not [key for _, attributes in page.found for key in attributes if key.startswith("on")]
    drawing = fromstring(to_svg(picture))
    assert not [element for element in drawing.iter() if element.tag.rpartition("}")[2] in ("script", "img", "a", "foreignObject")]
    assert f"<td>{escape(shown)}</td>" in to_html(picture)


def test_a_page_runs_its_own_script_alone_and_loads_nothing(colocated: Plan) -> None:
    page = to_html(Picture("job.yaml", "ok", colocated))
    script = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script[0].encode()).digest()).decode()
    assert f"sha256-{digest}" in page
    assert set(re.findall(r"https?://[^\s\"'<]+", page)) == {"http://www.w3.org/2000/svg"}
    assert not [
        tag for tag, attributes in Elements(page).found if tag in ("link", "img", "iframe") or "src" in attributes or "href" in attributes
    ]


def test_without_scripts_everything_but_the_marks_is_there(colocated: Plan) -> None:
    page = to_html(Picture("job.yaml", "ok", colocated)).partition("<script>")[0]
    assert "<td>actor</td>" in page
    assert "node-1:2 H100\nidle" in page
