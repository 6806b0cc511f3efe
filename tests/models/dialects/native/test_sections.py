"""Relations and work in a native file: what holds between components, and what is dealt out to their processes."""

from __future__ import annotations

import pytest
from placewright.models.component import COLOCATED_OR_DISJOINT, IN_ORDER, NOT_FEWER, Relation
from placewright.models.dialects import native
from placewright.models.findings.finding import Finding
from placewright.models.job import Share
from placewright.models.reading import Reading
from placewright.models.text.document import Document
from placewright.models.text.source import Source
from placewright.planner.verify import verify
from placewright.solver.searching.search import solve

HEAD = "cluster: 2x4\ncomponents:\n  actor: {placement: 0-3}\n  rollout: {placement: 4-7}\n  env: {node_group: node, processes: 4}\n"


def read(text: str, level: str = "placement") -> Reading:
    return native.read(Document.of(Source("job.yaml", HEAD + text)), None, level)


def only(text: str) -> Finding:
    (finding,) = read(text).findings
    assert finding.span is not None
    assert finding.help
    return finding


def test_relations_of_every_kind() -> None:
    reading = read(
        "relations:\n  - {kind: in order, components: [actor, rollout], reason: the test}\n"
        "  - {kind: colocated or disjoint, components: [actor, rollout]}\n  - {kind: not fewer, components: [env, rollout]}\n"
    )
    assert reading.findings == ()
    assert reading.problem is not None
    assert reading.problem.job.relations == (
        Relation(IN_ORDER, ("actor", "rollout")),
        Relation(COLOCATED_OR_DISJOINT, ("actor", "rollout")),
        Relation(NOT_FEWER, ("env", "rollout")),
    )
    assert reading.problem.job.relations[0].reason == "the test"
    assert verify(reading).verdict == "ok"


@pytest.mark.parametrize(
    ("relation", "code"),
    [
        ("{kind: colocated, components: [actor, rollout]}", "PW204"),
        ("{kind: subset, components: [actor, rollout]}", "PW212"),
        ("{kind: in order, components: [rollout, actor]}", "PW213"),
        ("{kind: not fewer, components: [env, big]}", "PW402"),
    ],
)
def test_relations_that_do_not_hold(relation: str, code: str) -> None:
    text = "cluster: 2x4\ncomponents:\n  actor: {placement: 0-3}\n  rollout: {placement: 4-7}\n"
    text += f"  env: {{node_group: node, placement: 0}}\n  big: {{node_group: node, placement: 0-1}}\nrelations: [{relation}]\n"
    report = verify(native.read(Document.of(Source("job.yaml", text)), None))
    assert code in {finding.code for finding in report.errors}


def test_relations_are_kept_by_a_search() -> None:
    text = "cluster: 2x4\ncomponents:\n  a: {accelerators: 2, contiguous: true}\n  b: {accelerators: 6, contiguous: true}\n"
    reading = native.read(Document.of(Source("job.yaml", text + "relations: [{kind: in order, components: [b, a]}]\n")), None)
    assert reading.problem is not None
    plan = solve(reading.problem).plan
    assert plan is not None
    assert [plan.assignment.of(name)[0].node for name in "ba"] == [0, 1]


def test_work() -> None:
    text = "work: [{component: rollout, what: samples, amount: 64, multiple: 8, required: false, reason: why}]\n"
    problem = read(text).problem
    assert problem is not None
    assert problem.shares == (Share("rollout", 64, 8, "samples", "work.0.amount", reason="why", proved=False),)
    assert verify(read(text)).verdict == "ok"
    (finding,) = verify(read("work: [{component: rollout, what: samples, amount: 66}]\n")).errors
    assert (finding.code, finding.message) == ("PW401", "66 samples over the 4 processes of rollout leave 2 over")
    assert finding.edit is not None
    assert finding.edit.text in ("64", "68")


def test_work_of_the_level_training_is_judged_there_only() -> None:
    text = "work: [{component: rollout, what: samples, amount: 66, level: training}]\n"
    assert verify(read(text)).verdict == "ok"
    assert [finding.code for finding in verify(read(text, "training")).errors] == ["PW401"]


@pytest.mark.parametrize(
    ("text", "code", "message", "advice"),
    [
        ("relations: {kind: disjoint}\n", "PW105", "`relations` is a map, not a list", "write `relations: [{kind"),
        (
            "relations: [{kind: beside, components: [actor, rollout]}]\n",
            "PW105",
            "`beside` is not a known kind of relation",
            "write one of `colocated`",
        ),
        ("relations: [{kind: disjoint, components: [actor, rolout]}]\n", "PW121", "`rolout`, which is not a component", "write `rollout`"),
        ("relations: [{kind: disjoint, components: [actor]}]\n", "PW105", "components", "two names"),
        ("relations: [{kind: disjoint, components: [actor, rollout, env]}]\n", "PW105", "holds between two components, not 3", "each two"),
        (
            "relations: [{kind: disjoint, components: [actor, env]}]\n",
            "PW121",
            "cannot be compared by accelerator",
            "drop relation `disjoint`",
        ),
        ("relations: [{kind: disjoint, components: [actor, actor]}]\n", "PW121", "names itself in relation `disjoint`", "another"),
        ("relations: [{kid: disjoint, components: [actor, rollout]}]\n", "PW104", "unknown key `kid` in `relations.0`", "write `kind`"),
        ("relations: [{components: [actor, rollout]}]\n", "PW101", "`kind` of `relations.0` is missing", "add"),
        ("work: [{component: env, amount: 5}]\n", "PW101", "`what` of `work.0` is missing", "add"),
        ("work: [{component: envs, what: games, amount: 5}]\n", "PW121", "`envs`, which is not a component", "write `env`"),
        ("work: [{component: env, what: games, amount: 0}]\n", "PW105", "0 is less than 1", "how many in all"),
        ("work: [{component: env, what: games, amount: 4, level: all}]\n", "PW105", "`all` is not a known level", "training"),
        ("work: [{component: env, what: games, amount: '${oc.env:GAMES}'}]\n", "PW120", "not known here", "write the value"),
    ],
)
def test_faults_and_what_mends_them(text: str, code: str, message: str, advice: str) -> None:
    finding = read(text).findings[0]
    assert finding.code == code
    assert message in finding.message
    assert advice in finding.help
    assert finding.span is not None
