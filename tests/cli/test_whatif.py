"""`whatif`: demands by the names that users give them, machines in a word, exit codes that say what became of the change."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from placewright.cli.main import run
from placewright.models.component import DISJOINT, REPLICA, TP, Component, Keep, Parallel, Pin, Relation, Spread
from placewright.models.findings.finding import Finding
from placewright.models.job import Job
from placewright.models.machines.shorthand import read_shorthand
from placewright.models.problem import Problem
from placewright.solver import process
from placewright.solver.pricing.changes import demands_named, move_to_machines, names, without_named
from placewright.solver.pricing.price import price, without
from placewright.solver.pricing.result import BETTER, IMPOSSIBLE_NOW, POSSIBLE_NOW, SAME, WORSE
from placewright.solver.process import Child
from placewright.solver.searching.search import solve

JOB = """\
cluster: 2x8xH100
components:
  actor: {accelerators: 8, parallel: {tp: 8}, memory: 60GiB}
  rollout: {accelerators: 8, parallel: {tp: 4}, memory: 90GiB}
"""


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "job.yaml").write_text(JOB, "utf-8")
    monkeypatch.chdir(tmp_path)
    return "job.yaml"


def test_a_bare_number_of_nodes_says_that_it_is_more(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    run(["whatif", file, "--nodes", "2"])
    assert "--nodes 2 more (4 nodes)" in capsys.readouterr().out


def question(*components: Component, **more: object) -> Problem:
    where = read_shorthand("4x8xH100")
    return Problem(where, Job(components, **more))  # type: ignore[arg-type]


ACTOR = Component(
    "actor", least=16, most=16, parallel=Parallel(8), memory=1024, keep=(Keep(TP, "node"), Keep(REPLICA, "rack")),
    spread=(Spread("rack", percent=60),), pins=(Pin(range(8), (0,)),), excluded=(3,),
)  # fmt: skip
MANY = question(ACTOR, Component("rollout", memory=2048), relations=(Relation(DISJOINT, ("rollout", "actor")),))


def test_every_demand_has_one_name_in_the_keys_of_the_file() -> None:
    assert list(names(MANY)) == [
        "actor.accelerators", "actor.parallel", "actor.memory", "actor.exclude", "actor.keep.tp.node", "actor.keep.replica.rack",
        "actor.spread.rack", "actor.pin.0-7", "rollout.accelerators", "rollout.memory", "rollout.disjoint_from.actor",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("actor.memory", ["actor memory"]),
        ("memory", ["actor memory", "rollout memory"]),
        ("actor.keep", ["actor keep tp in node", "actor keep replica in rack"]),
        ("actor.keep.replica", ["actor keep replica in rack"]),
        ("keep replica in rack", ["actor keep replica in rack"]),
        ("keep  replica in rack ", ["actor keep replica in rack"]),
        ("actor.spread", ["actor spread over rack"]),
        ("pin", ["actor pins 0-7"]),
        ("rollout.disjoint_from", ["rollout+actor disjoint"]),
        ("actor.amount", ["actor amount"]),
    ],
)
def test_demands_are_called_by_their_names_or_shorter(text: str, meant: list[str]) -> None:
    found = demands_named(MANY, text)
    assert not isinstance(found, Finding)
    assert [f"{demand.component} {demand.field}" for demand in found] == meant


def test_what_is_no_demand_gets_the_nearest_name() -> None:
    found = demands_named(MANY, "actor.memmory")
    assert isinstance(found, Finding)
    assert (found.code, found.help) == ("PW612", "name `actor.memory`")


def test_dropped_degrees_leave_no_choice() -> None:
    choice = question(Component("a", parallel=Parallel(2)), choices={"a": (Parallel(2), Parallel(4))})
    found = demands_named(choice, "a.parallel")
    assert not isinstance(found, Finding)
    assert without(choice, found).job.choices == {}
    assert without(choice, found)["a"].parallel == Parallel()


@pytest.mark.parametrize(
    ("text", "nodes", "accelerators"),
    [("+2", 6, 48), ("2xH100", 6, 48), ("+1x4xA100", 5, 36), ("3x8xH100", 7, 56), ("-3", 1, 8)],
)
def test_machines_in_a_word(text: str, nodes: int, accelerators: int) -> None:
    changed = move_to_machines(question(Component("a")), text)
    assert isinstance(changed, Problem)
    assert (len(changed.cluster.nodes), changed.cluster.total()) == (nodes, accelerators)
    assert [node.rank for node in changed.cluster.nodes] == list(range(nodes))


@pytest.mark.parametrize("text", ["-4", "-9", "0", "many", "2xA100", "+1x9999xH100", "", "+", "4x8x"])
def test_machines_that_cannot_be_are_told(text: str) -> None:
    changed = move_to_machines(question(Component("a")), text)
    assert isinstance(changed, Finding)
    assert changed.code == "PW609"
    assert changed.help


def test_lost_nodes_are_named_or_numbered() -> None:
    asked = question(Component("a"))
    for words in (["node-3"], ["3"], ["3", "node-3"]):
        left = without_named(asked, words)
        assert isinstance(left, Problem)
        assert [node.name for node in left.cluster.nodes] == ["node-0", "node-1", "node-2"]
    wrong = without_named(asked, ["node-9", "x"])
    assert isinstance(wrong, tuple)
    assert {finding.code for finding in wrong} == {"PW609"}
    assert isinstance(without_named(asked, ["0", "1", "2", "3"]), tuple)


def test_the_effect_of_a_change_is_told_in_both_directions() -> None:
    tight = question(Component("a", least=32, most=32), Component("b", least=8, most=8))
    roomy = question(Component("a", least=16, most=16), Component("b", least=8, most=8))
    assert [each.effect for each in price(tight, [("", roomy), ("", tight)], solve).after] == [POSSIBLE_NOW, SAME]
    assert [each.effect for each in price(roomy, [("", tight)], solve).after] == [IMPOSSIBLE_NOW]
    short = question(Component("a", least=8, most=40))
    enough = question(Component("a", least=8, most=32))
    assert [each.effect for each in price(short, [("", enough)], solve).after] == [SAME]  # what is asked for less is not a better
    barred = question(Component("a", least=8, most=40, excluded=(3,)))
    assert [each.effect for each in price(barred, [("", short)], solve).after] == [BETTER]
    assert [each.effect for each in price(short, [("", barred)], solve).after] == [WORSE]


def test_the_same_question_is_solved_once() -> None:
    asked = []
    one = question(Component("a", least=8, most=8))

    def counting(problem: Problem) -> object:
        asked.append(problem)
        return solve(problem)

    price(one, [("x", one), ("y", question(Component("a", least=8, most=8)))], counting)  # type: ignore[arg-type]
    assert len(asked) <= 2  # the second cluster is another object, though it is equal


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ([], 1),
        (["--drop", "rollout.memory"], 0),
        (["--drop", "actor.memory"], 1),
        (["--drop", "rollout.memory", "--nodes", "-1"], 1),
        (["--set", "components.rollout.memory=40GiB"], 0),
        (["--drop", "no.such"], 2),
        (["--nodes", "lots"], 2),
        (["--lose", "node-7"], 2),
        (["--set", "components.rollout.memory=lots"], 1),
    ],
)
def test_the_exit_code_is_that_of_the_changes_that_were_asked_for(file: str, arguments: list[str], code: int) -> None:
    assert run(["whatif", file, *arguments]) == code


def test_json_says_the_same(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["whatif", file, "--drop", "rollout.memory", "--format", "json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert (data["schema"], data["file"], data["before"]["verdict"]) == (1, "job.yaml", "impossible")
    (change,) = data["changes"]
    assert (change["change"], change["effect"], change["verdict"]) == ("without rollout.memory", POSSIBLE_NOW, "optimal")


def test_what_cannot_be_changed_is_told_as_json_too(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["whatif", file, "--drop", "no.such", "--format", "json"]) == 2
    (finding,) = json.loads(capsys.readouterr().out)["findings"]
    assert finding["code"] == "PW612"


def test_the_table_escapes_what_comes_from_the_command_line(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["whatif", file, "--drop", "\x1b[31mactor"]) == 2
    captured = capsys.readouterr()
    assert "\x1b[31m" not in captured.out + captured.err


def test_what_nobody_checked_is_said_of_the_answer_and_of_each_change(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path(file).write_text(JOB.replace(", memory: 90GiB", ""), "utf-8")
    assert run(["whatif", file, "--drop", "actor.memory"]) == 0
    text = capsys.readouterr().out
    assert "not checked:\n  PW501 rollout: no memory given" in text
    assert "without actor.memory, not checked:\n  PW501 actor: no memory given" in text
    run(["whatif", file, "--drop", "actor.memory", "--format", "json"])
    data = json.loads(capsys.readouterr().out)
    assert [each["subject"] for each in data["before"]["unchecked"]] == ["rollout"]
    assert [each["subject"] for each in data["changes"][0]["unchecked"]] == ["actor, rollout"]


def test_one_process_searches_for_all_that_is_asked_and_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[Child] = []

    def counted(*arguments: Any) -> Child:
        started.append(Child(*arguments))
        return started[-1]

    monkeypatch.setattr(process, "Child", counted)
    racks = (
        "nodes: [{accelerators: {count: 8}, repeat: 2, topology: {rack: a}}, {accelerators: {count: 8}, repeat: 2, topology: {rack: b}}]"
    )
    (tmp_path / "job.yaml").write_text(
        f"cluster: {{{racks}}}\ncomponents:\n"
        "  actor: {accelerators: 12, parallel: {tp: 6}, spread: rack}\n  rollout: {accelerators: 14, parallel: {tp: 2}, spread: rack}\n"
    )
    assert run(["whatif", str(tmp_path / "job.yaml")]) == 0
    assert len(started) == 1
    assert not started[0].is_idle
