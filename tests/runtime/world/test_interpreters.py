"""Interpreters of node groups: given to the workers of their nodes, and tried on every node before anything starts."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import pytest
from placewright.models.machines.node_group import EnvConfig, NodeGroup
from placewright.models.placements.plan import Plan
from placewright.models.placements.run import Run
from placewright.runtime.failure import LaunchFailed
from placewright.runtime.workers.member import members_of
from placewright.runtime.workers.worker_class import find_untrusted
from placewright.runtime.world import interpreters
from placewright.runtime.world.interpreters import check_interpreters, conflicts
from placewright.runtime.world.inventory import inventory, run_on_nodes
from placewright.runtime.world.matching import match_machines

from ...unhindered import unhindered
from ..conftest import Planner
from ..fake import FakePort

GOOD, BAD = "/opt/good/bin/python", "/opt/bad/bin/python"


def with_interpreters(plan: Plan, *configs: tuple[tuple[int, ...], str]) -> Plan:
    """The plan, all its components in a group of all nodes, some of which have an interpreter of their own."""
    ranks = tuple(range(len(plan.cluster.nodes)))
    group = NodeGroup("all", ranks, "Accelerator", tuple(EnvConfig(nodes, (), path) for nodes, path in configs))
    runs = {name: tuple(replace(run, node_group="all") for run in its) for name, its in plan.assignment.runs.items()}
    return replace(plan, cluster=plan.cluster.with_groups([group]), assignment=replace(plan.assignment, runs=runs))


@pytest.fixture
def two_nodes(plan: Planner) -> Plan:
    return plan("2x2", actor=(Run(range(2), 0), Run(range(2, 4), 1)))


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What was tried; nodes know the good interpreter alone."""
    asked: list[Any] = []

    def tried(trials: list[tuple[str, dict[str, str]]], limit: float) -> list[str]:
        asked.append(trials)
        return ["" if path == GOOD else "it does not exist there" for path, _ in trials]

    monkeypatch.setattr(interpreters, "run_trials", tried)
    return asked


def check(plan: Plan, port: FakePort) -> None:
    check_interpreters(port, plan, match_machines(plan, inventory(port)))


def test_each_worker_has_the_interpreter_of_its_node(two_nodes: Plan) -> None:
    members = members_of(with_interpreters(two_nodes, ((1,), GOOD)), "actor", "job", "10.0.0.1")
    assert [member.python for member in members] == [None, None, GOOD, GOOD]


def test_each_is_tried_once_on_each_of_its_nodes(two_nodes: Plan, known: list[Any]) -> None:
    check(with_interpreters(two_nodes, ((0, 1), GOOD)), FakePort(2, 2))
    assert known == [[(GOOD, {})], [(GOOD, {})]]


def test_nothing_is_asked_where_nothing_is_named(two_nodes: Plan) -> None:
    port = FakePort(2, 2)
    check(two_nodes, port)
    assert "run_on" not in port.calls


def test_every_bad_one_is_named_with_its_node_and_why(two_nodes: Plan, known: list[Any]) -> None:
    with pytest.raises(LaunchFailed) as caught:
        check(with_interpreters(two_nodes, ((0,), BAD), ((1,), BAD)), FakePort(2, 2))
    assert [(finding.code, finding.subject) for finding in caught.value.findings] == [("PW720", "node-0"), ("PW720", "node-1")]
    message = "node 0 (`node-0`, Ray node `host-0`): the interpreter `/opt/bad/bin/python` cannot run its workers: it does not exist there"
    assert caught.value.findings[0].message == message
    assert caught.value.exit_code == 4


def test_a_node_that_does_not_answer_is_a_finding_and_no_hang(two_nodes: Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interpreters, "ANSWER_LIMIT", -1.0)
    with pytest.raises(LaunchFailed, match="it could not be tried there: no answer in time"):
        check(with_interpreters(two_nodes, ((0,), GOOD)), FakePort(2, 2))


def test_two_interpreters_for_one_node_of_one_component_are_refused(two_nodes: Plan) -> None:
    (finding,) = conflicts(with_interpreters(two_nodes, ((0, 1), GOOD), ((1,), BAD)))
    assert finding.code == "PW720"
    assert finding.message == f"`actor` has 2 interpreters on node 1 (`node-1`): `{GOOD}` and `{BAD}`"
    assert list(conflicts(with_interpreters(two_nodes, ((0,), GOOD), ((1,), BAD)))) == []


def test_an_interpreter_of_a_file_is_used_only_if_the_user_trusts_it(two_nodes: Plan) -> None:
    made = with_interpreters(two_nodes, ((0,), GOOD))
    (finding,) = find_untrusted(made, ())
    assert finding.code == "PW711"
    assert finding.message == "node group `all` names a `python_interpreter_path`, which the workers would run in"
    assert list(find_untrusted(made, ("python_interpreter_path",))) == []


def test_nodes_are_asked_at_once_and_those_that_fail_or_are_silent_are_told_apart() -> None:
    port = FakePort(1, 1, 1)

    def half(which: int) -> int:
        return 4 // which

    results, missing = run_on_nodes(port, half, {"ray-0": (2,), "ray-1": (0,)}, 5.0)
    assert results == {"ray-0": 2}
    assert missing == {"ray-1": "ZeroDivisionError: integer division or modulo by zero"}
    assert run_on_nodes(port, half, {"ray-2": (1,)}, 0.0) == ({}, {"ray-2": "no answer in time"})


@pytest.mark.ray
def test_a_bad_interpreter_of_a_real_node_is_told_within_seconds(plan: Planner, address: str) -> None:
    from placewright.runtime.launch import launch

    made = with_interpreters(plan("2x4", actor=(Run(range(1), 0), Run(range(1, 2), 1))), ((1,), "/nope/python"))
    before = unhindered()
    with ExitStack() as stack, pytest.raises(LaunchFailed) as caught:
        stack.enter_context(launch(made, address=address, trusted_env=["python_interpreter_path"]))
    assert unhindered() - before < 30
    assert [(finding.code, finding.subject) for finding in caught.value.findings] == [("PW720", "node-1")]
