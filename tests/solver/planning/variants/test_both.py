"""Plans that differ in two ways at once from those that are searched: a proof leaves them out only where it says one of the ways."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from random import Random

import placewright as pw
import pytest
from placewright.models.planning.measured import SECOND, TABLE
from placewright.models.problem import Problem
from placewright.report.planning.data import to_data
from placewright.report.planning.text import render
from placewright.solver.planning.answering import answering
from placewright.solver.planning.searching.sizes.settling import settle
from placewright.solver.searching.search import solve

from .test_over_kinds import SMALL, written
from .test_over_nodes import job, opened, timed

ANSWER = answering(solve, 10.0, 1, settle)


def nested(its: Problem) -> Problem:
    assert its.job.workload is not None
    return replace(its, job=replace(its.job, workload=replace(its.job.workload, nested=True)))


def random_job(random: Random) -> Problem:
    """Groups of two on nodes of three, and who shares seldom has a time on the same count."""
    rollout = {(2, count): random.randint(10, 100) for count in random.sample([2, 4, 6], 2)}
    actor = {(1, count): random.randint(10, 100) for count in random.sample([1, 2, 3, 4, 5, 6], 2)}
    return job([3, 3], timed("rollout", rollout), timed("actor", actor))


@pytest.mark.parametrize("seed", range(80))
def test_the_best_in_both_ways_is_named_and_what_nothing_is_said_of_is_no_better(seed: int) -> None:
    its = random_job(Random(seed))
    planned, both = ANSWER(its).planned, ANSWER(nested(opened(its))).planned
    if planned is None:
        return
    assert planned.proved and both is not None and both.proved
    told = [each for each in (planned.nested, planned.over_nodes, planned.at_once) if each is not None]
    for each in told:
        assert each.best is not None and each.best.nanoseconds == each.bound < planned.price[0]
    assert both.price[0] == min([planned.price[0], *(each.bound for each in told)])


def test_groups_over_nodes_on_some_of_another_s_accelerators_are_told() -> None:
    """120 seconds on four of six, as with either alone; with both, rollout is on all six and actor on four of these."""
    parts = timed("rollout", {(2, 2): 100, (2, 4): 60, (2, 6): 40}), timed("actor", {(1, 4): 60})
    its = job([3, 3], *(replace(each, timed=replace(each.timed, scaling=TABLE)) for each in parts if each.timed))
    planned = ANSWER(its).planned
    assert planned is not None and planned.over_nodes is None and planned.nested is None and planned.at_once is not None
    assert planned.at_once.bound == 100 * SECOND and planned.at_once.best is not None and planned.at_once.components == ("rollout",)
    alone = ANSWER(nested(its)).planned
    assert alone is not None and alone.price == planned.price and alone.over_nodes is not None and alone.over_nodes.best is not None
    assert alone.over_nodes.best.nanoseconds == 100 * SECOND


LARGE = "accelerators: 1-6, scaling: table, memory: 30GiB"
"""Only three have so much."""


def test_several_kinds_on_some_of_another_s_accelerators_are_told(tmp_path: Path) -> None:
    parts = f"any: {{accelerators: 1-6, scaling: table, seconds: {{3: 60, 6: 40}}}}\nlarge: {{{LARGE}, seconds: {{3: 60}}}}"
    file = written(tmp_path, SMALL, parts, "{workflow: any -> large}")
    planned, account = pw.solve(file, sandbox=False).planned, pw.account(file)
    assert planned is not None and planned.over_kinds is None and planned.nested is not None and planned.nested.best is not None
    assert planned.nested.bound == planned.nested.best.nanoseconds == 100 * SECOND
    assert "\n  100 seconds (16.7 % less): any on 6, large on 3 of those of any" in "\n".join(render(account))


def test_what_is_on_any_kinds_is_told_with_how_many_of_each_model(tmp_path: Path) -> None:
    """`any` is on six of the eight accelerators of both models, and nothing in its kind says on which."""
    parts = """
        any: {accelerators: 1-6, scaling: table, seconds: {3: 60, 6: 40}}
        large: {accelerators: 3, accelerator: H100, scaling: table, seconds: {3: 60}}"""
    account = pw.account(
        written(
            tmp_path,
            "nodes: [{accelerators: {count: 4, model: H100}}, {accelerators: {count: 4, model: A100}}]",
            parts,
            "{workflow: any -> large}",
        )
    )
    assert account is not None
    assert "\n  100 seconds (16.7 % less): any on 4 H100 and 2 A100, large on 3 H100 of those of any" in "\n".join(render(account))
    its = to_data(account)["nested"]["plan"]["components"]
    assert [its[name].get("models", its[name].get("model")) for name in ("any", "large")] == [["H100", "A100"], "H100"]


def test_groups_over_nodes_of_several_kinds_are_told(tmp_path: Path) -> None:
    """A node of each kind has three: a group of six lies over both."""
    group = "{accelerators: 1-6, scaling: table, parallel: {tp: [2, 6]}, seconds: {2: 60, 6: 40}}"
    parts = f"group: {group}\nlarge: {{{LARGE}, seconds: {{3: 1, 6: 1}}}}"
    planned = pw.solve(written(tmp_path, SMALL, parts, "{workflow: group -> large, nested: true}"), sandbox=False).planned
    assert planned is not None and planned.over_kinds is None and planned.over_nodes is not None
    assert planned.over_nodes.bound == 41 * SECOND and planned.over_nodes.components == ("group",)
    assert planned.over_nodes.best is not None and planned.over_nodes.question is not None


def test_what_several_ways_at_once_could_save_is_told_beside_what_each_could(tmp_path: Path) -> None:
    """130 seconds apart; nested 115, with pairs on four of five; over nodes as well 85, with pairs on all six."""
    parts = """
        pair: {accelerators: 1-6, parallel: {tp: 2}, scaling: table, seconds: {2: 100, 4: 70, 6: 40}}
        one: {accelerators: 1-6, scaling: table, seconds: {2: 60, 5: 45}}"""
    file = written(tmp_path, "nodes: [{repeat: 2, accelerators: {count: 3, model: H100}}]", parts, "{workflow: pair => one}")
    planned, account = pw.solve(file, sandbox=False).planned, pw.account(file)
    assert planned is not None and planned.price[0] == 130 * SECOND and planned.over_nodes is None
    assert planned.nested is not None and planned.nested.bound == 115 * SECOND
    told = planned.at_once
    assert told is not None and told.best is not None and told.bound == told.best.nanoseconds == 85 * SECOND
    assert (told.over_nodes, told.over_kinds, told.nested, told.components) == (True, False, True, ("pair",)) and account is not None
    said = (
        "with several of these at once (tp groups over nodes, `nested: true`):\n"
        "  85 seconds (34.6 % less): pair (tp 2) on 6, one on 5 of those of pair\n"
        "  `nested: true` in `plan` and `keep: {tp: {level: node, required: false}}` of pair let it be so"
    )
    assert said in "\n".join(render(account))
    data = to_data(account)["at_once"]
    assert isinstance(data, dict) and (data["bound"], data["of"], data["components"]) == (85.0, ["over_nodes", "nested"], ["pair"])
    assert isinstance(data["plan"], dict) and data["plan"]["seconds"] == 85.0
