"""What a configuration comes to, as text and as data: no line too long, every figure once, nothing that moves a cursor."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from functools import partial

from placewright.models.derivation import Derivation, Figure
from placewright.models.dialects import native
from placewright.models.findings.span import Span
from placewright.models.report import Report
from placewright.models.text.document import Document
from placewright.models.text.source import Source
from placewright.planner.accounting import explain
from placewright.report.explanation.data import render as to_json
from placewright.report.explanation.text import WIDTH, Footnotes, layout, render
from placewright.solver.explaining.explain import Explanation


def explained(components: str, cluster: str = "2x8xH100") -> Explanation:
    reading = native.read(Document.of(Source("job.yaml", f"cluster: {cluster}\ncomponents:\n{components}")), None)
    return explain(reading, lambda machines: reading)


SHARED = "  actor: {placement: 0-7}\n  rollout: {placement: 0-7}\n  critic: {placement: 2-3}\n  env: {placement: 6-9}\n  agent: {placement: 12}\n"


def test_what_is_shared_is_told_in_sentences() -> None:
    block = next(each for each in render(explained(SHARED)).split("\n\n") if each.startswith("shared:"))
    assert block.split("\n  ")[1:] == [
        "actor and rollout hold the same 8 accelerators",
        "critic is within actor and rollout: 2 of 8",
        "actor and rollout overlap env in part: 2 in common, of 8 and 4",
        "agent shares none: 1 accelerator of its own",
    ]


def test_what_is_to_be_solved_has_the_counts_that_it_asks_for() -> None:
    found = explained("  actor: {accelerators: [2, 4-8, 16]}\n  rollout: {accelerators: 4-8}\n")
    rows = [re.split(r"  +", row)[2] for row in render(found).splitlines() if row.endswith("to solve")]
    assert rows == ["2, 4-8 or 16", "4-8"]
    asked = [each["asks_for"] for each in json.loads(to_json([found]))["files"][0]["components"].values()]
    ends = [{"least": 2, "most": 2}, {"least": 4, "most": 8}, {"least": 16, "most": 16}]
    assert asked == [{"least": 2, "most": 16, "counts": ends}, {"least": 4, "most": 8, "counts": []}]


def test_where_not_all_choices_of_degrees_were_read_others_may_need_fewer() -> None:
    found = explained("  actor: {accelerators: 4-8}\n")
    assert found.needs is not None and render(found).endswith(
        "needs at least 4 accelerators, 4 of them for what is to be solved; verify finds no error"
    )
    left = render(replace(found, needs=replace(found.needs, unread_choices=1234)))
    assert "4 of them for what is to be solved (with 1,234 choices of degrees, which were not read, it may be fewer); verify" in left


def test_colour_changes_nothing_but_the_colour() -> None:
    found = explained(SHARED)
    painted = render(found, colour=True)
    assert "\x1b[1;31m" in painted
    assert re.sub(r"\x1b\[[0-9;]*m", "", painted) == render(found)


def test_on_how_many_nodes_with_how_much_on_each() -> None:
    assert layout(((2, 8),)) == "2 x 8"
    assert layout(((1, 4), (2, 8))) == "1 x 4 + 2 x 8"
    assert layout(((1, 4), (2, 8), (1, 1), (1, 2))) == "5 x 1-8"


def test_a_figure_has_one_number_and_its_place_or_default() -> None:
    notes = Footnotes("train.yaml")
    written, default = Figure("data.size", 8, Span("train.yaml", 0, 1, 3, 7)), Figure("n", 2, default="verl, rollout.yaml")
    given, elsewhere = (
        Figure("k", 1, Span("--set k=1", 0, 1, 1, 1)),
        Figure("z", 1, Span("/very/long/name/of/a/folder/of/groups/base.yaml", 0, 1, 9, 1)),
    )
    assert notes.marks((written, default)) == "[1,2]"
    assert notes.marks((default, given, elsewhere)) == "[2,3,4]"
    assert notes.marks(()) == ""
    assert notes.text().splitlines() == [
        "figures (lines of train.yaml):",
        "[1]  line 3       data.size: 8",
        "[2]  default      n: 2 (verl, rollout.yaml)",
        "[3]  --set k=1    k: 1",
        "[4]  base.yaml:9  z: 1",
    ]


def test_long_formulas_go_on_below_themselves() -> None:
    long = Derivation("actor", "samples", 4, " x ".join(f"{each} parts" for each in range(40)), (Figure("a.b", 1),))
    shown = render(Explanation(Report("train.yaml", "verl"), derivations=(long,)))
    assert all(len(line) <= WIDTH for line in shown.splitlines())
    assert re.sub(r"\s+", " ", shown).count(long.formula) == 1


def test_names_cannot_move_the_cursor() -> None:
    shown = render(
        Explanation(Report("train.yaml", "rlinf"), derivations=(Derivation("a\x1b[2J", "n\n", 1, "f\r", (Figure("k\x1b", 1),)),))
    )
    assert "\x1b" not in shown and "\r" not in shown
    assert r"a\x1b[2J" in shown


def test_of_what_cannot_be_read_only_the_errors_are_told() -> None:
    reading = partial(native.read, Document.of(Source("job.yaml", "cluster: many\ncomponents: {actor: {placement: 0-7}}\n")), None)
    found = explain(reading(), lambda machines: reading())
    assert found.needs is None
    assert render(found).startswith("error[PW011]: `many`") and render(found).endswith("job.yaml: verify finds 1 error")
    assert json.loads(to_json([found]))["files"][0]["needs"] is None


def test_a_program_gets_every_field_by_name() -> None:
    (data,) = json.loads(to_json([explained(SHARED)]))["files"]
    assert data["needs"] == {
        "accelerators": 11, "accelerators_to_solve": 0, "choices_not_read": None, "sizes_not_read": None, "nodes": 2, "cpus": None,
        "idle_accelerators": 5, "cluster": {"accelerators": 16, "nodes": 2},
    }  # fmt: skip
    assert data["components"]["env"]["layout"] == [{"nodes": 2, "each": 2}]
    assert data["shared"][1] == {
        "components": ["critic"],
        "accelerators": 2,
        "meets": [{"kind": "within", "components": ["actor", "rollout"], "accelerators": 2}],
    }
    (number, *_) = data["numbers"]
    assert (number["component"], number["name"], number["value"]) == ("actor", "world size", 8)
    assert (number["figures"][0]["file"], number["figures"][0]["line"]) == ("job.yaml", 3)
    assert data["verdict"] == "faulty"  # native components that are not colocated must not meet
    assert {finding["code"] for finding in data["errors"]} == {"PW201"}


TOPOLOGY = """  actor:
    accelerators: 8
    keep: {tp: numa, component: {level: node, domains: 2, required: false}}
    spread: {level: node, domains: 2, percent: 60}
    pin: [{ranks: 0-1, nodes: 0}]
    exclude: 2
    host_memory: 10GiB
    traffic: 1GiB
    apart_from: {component: rollout, level: node}
  rollout: {accelerators: 4, memory: 9GiB, phase: generate, offloaded: 2GiB}
links: [{from: actor, to: rollout, weights: 3GiB, stream: 5MiB, ratio: 2}]
objective: {weights: {rack: 10}}
"""


def test_every_demand_on_the_topology_is_a_sentence_with_its_line() -> None:
    explanation = explained(TOPOLOGY, "{nodes: [{repeat: 3, accelerators: {count: 8, numa: 2}}]}")
    blocks = {block.partition(":")[0]: block.split("\n  ")[1:] for block in render(explanation).split("\n\n")}
    assert blocks["shared"] == ["actor is to share no node with rollout"]
    assert blocks["demanded"] == [
        "actor: each tp group in one NUMA domain (line 5)",
        "actor: all of it in at most 2 nodes if that can be (line 5)",
        "actor: in at least 2 nodes, at most 60 % of it in one node (line 6)",
        "actor: ranks 0-1 on node 0 (line 7)",
        "actor: not on node 2 (line 8)",
        "actor: 10 GiB of its node for each process (line 9)",
        "actor: its processes exchange 1 GiB a step with each extra node or rack (line 10)",
        "rollout: 2 GiB of each accelerator stay taken while another phase runs (line 12)",
        "actor to rollout: 3 GiB of weights for each domain without actor and 5 MiB for each accelerator of rollout that none of actor "
        "serves in its domain, one of which serves 2 (line 13)",
        "the job: bytes across all levels of the topology in one sum, a MiB each: zone 1, rack 10, NVLink domain 1",
    ]
    data = json.loads(to_json([explanation]))["files"][0]
    assert [len(each["components"]) for each in data["demands"]] == [1] * 8 + [2, 0]
    assert data["demands"][0] == {"components": ["actor"], "demand": "each tp group in one NUMA domain", "line": 5, "column": 16}
    assert data["asked"] == [{"kind": "apart", "components": ["actor", "rollout"], "level": "node"}]
