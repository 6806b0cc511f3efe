"""Ranks that are all given, beside what could be had without them."""

from __future__ import annotations

from pathlib import Path

import placewright as pw
import pytest
from placewright.models.account import Account
from placewright.models.planning.planned import PlanningResult
from placewright.models.planning.workload import SECOND

FILE = """
cluster: 2x8xH100
components:
  rollout: {ROLLOUT, seconds: {4: 100, 8: 55}, memory: 60GiB}
  actor: {ACTOR, seconds: {8: 60}, parallel: {tp: 2}, memory: 70GiB}
plan: {workflow: rollout -> actor, batches: 16}
"""
APART = """
cluster: 2x2xH100
components:
  rollout: {accelerators: 1-4, seconds: {2: 16, 3: 11, 4: 8}, scaling: table}
  judge: {accelerators: 1-2, seconds: {1: 10, 2: 6}, apart_from: {component: rollout, level: node}}
plan: {cost_model: steady}
"""
"""The quickest counts have no placement: the two share no node."""


def account(tmp_path: Path, rollout: str, actor: str) -> Account:
    path = tmp_path / "train.yaml"
    path.write_text(FILE.replace("ROLLOUT", rollout).replace("ACTOR", actor))
    return pw.account(path, sandbox=False)


def test_the_best_without_the_ranks_is_that_of_open_hints(tmp_path: Path) -> None:
    given = account(tmp_path, "placement: 0-3", "placement: 8-15")
    opened = account(tmp_path, "accelerators: 1-16", "accelerators: 2-16")
    assert given.given and not opened.given
    assert given.alternatives[0].priced == opened.planned.best
    assert given.planned.bound == opened.planned.best.nanoseconds
    assert given.planned.best.nanoseconds > given.planned.bound and not given.planned.proved
    assert given.planned.best.design.accelerators == 12


def test_what_is_chosen_is_the_best_also_when_it_is_given(tmp_path: Path) -> None:
    opened = account(tmp_path, "accelerators: 1-16", "accelerators: 2-16").planned.best
    held = {name: option.amount for name, option in opened.design.options.items()}
    assert held == {"rollout": 8, "actor": 8}
    given = account(tmp_path, "placement: 0-7", "placement: 8-15")
    assert given.planned.best == opened
    assert given.planned.proved


def test_a_count_that_is_asked_for_stays_as_it_is(tmp_path: Path) -> None:
    given = account(tmp_path, "placement: 0-3, accelerators: 4", "placement: 8-15")
    assert {each.priced.design.options["rollout"].amount for each in given.alternatives} == {4}


def test_ranks_whose_time_nobody_says_have_no_account(tmp_path: Path) -> None:
    path = tmp_path / "train.yaml"
    path.write_text("cluster: 1x8\ncomponents:\n  a: {placement: 0-3, seconds: {8: 5}, scaling: table}\n")
    with pytest.raises(ValueError, match="no time of an iteration is known"):
        pw.account(path, sandbox=False)
    path.write_text("cluster: 1x8\ncomponents:\n  a: {accelerators: 4}\n")
    with pytest.raises(ValueError, match="no `seconds`"):
        pw.account(path, sandbox=False)


def comes_back(path: Path, opened: PlanningResult) -> Account:
    """What is said of the plan in the file's own ranks, which is as good as it was without them."""
    path.write_text(path.read_text().replace("rollout: {", "rollout: {placement: 0-1, ").replace("judge: {", "judge: {placement: 2, "))
    given = pw.account(path, sandbox=False)
    assert given.keeps and given.planned.proved and given.planned.bound == opened.bound
    return given


def test_what_has_no_placement_is_nothing_that_could_be_had_without_the_ranks(tmp_path: Path) -> None:
    """What `solve` proved the best and wrote was 131.5 % from the bound: nobody had looked whether better counts have a placement."""
    path = tmp_path / "train.yaml"
    path.write_text(APART)
    opened = pw.account(path, sandbox=False, searches=0).planned
    assert opened.proved and opened.unplaceable and opened.best.nanoseconds == 16 * SECOND
    given = comes_back(path, opened)
    assert all(each.priced.nanoseconds >= opened.bound for each in given.alternatives)
    path.write_text(path.read_text().replace("2: 16,", "1: 31, 2: 16,").replace("placement: 0-1", "placement: 0"))
    worse = pw.account(path, sandbox=False)
    assert not worse.keeps and worse.alternatives[0].priced.nanoseconds == worse.planned.bound == opened.bound


def test_a_choice_of_models_that_is_proved_is_kept_where_it_is_written(tmp_path: Path) -> None:
    """It came back as 15.5 % from a bound that no placement reaches: a plan of a choice of models was no plan to compare with."""
    path = tmp_path / "train.yaml"
    path.write_text("""
cluster:
  nodes:
  - {accelerators: {count: 1, model: A, memory: 40GiB}}
  - {accelerators: {count: 1, model: B, memory: 80GiB}}
  - {accelerators: {count: 1, model: B, memory: 80GiB}}
components:
  actor: {accelerators: 1-3, phase: train, accelerator: A, keep: {tp: {level: node, required: false}}, seconds: {2: 7.5}}
  rollout:
    accelerators: 1-2
    memory: 41GiB
    offloaded: 41GiB
    phase: [generate, infer]
    seconds:
    - {accelerators: 2, seconds: 39, phase: generate, accelerator: A}
    - {accelerators: 2, seconds: 4, phase: generate, accelerator: B}
    - {accelerators: 2, seconds: 39, phase: infer, accelerator: A}
    - {accelerators: 3, seconds: 21, phase: infer, accelerator: A}
    - {accelerators: 1, seconds: 113, phase: infer, accelerator: B}
    - {accelerators: 2, seconds: 53, phase: infer, accelerator: B}
  reward:
    accelerators: 1-3
    phase: train
    keep: {component: node}
    seconds:
    - {accelerators: 2, seconds: 61, phase: train, accelerator: A}
    - {accelerators: 3, seconds: 40, phase: train, accelerator: A}
    - {accelerators: 1, seconds: 88, phase: train, accelerator: B}
    - {accelerators: 2, seconds: 68, phase: train, accelerator: B}
plan: {cost_model: stages, phases: [generate, infer, train], nested: true, budget: {seconds: 153, accelerators: 3}}
""")
    opened = pw.account(path, sandbox=False, searches=0).planned
    assert opened.proved and opened.best.nanoseconds == 145 * SECOND
    text = path.read_text().replace("actor: {", "actor: {placement: 0, ").replace("  rollout:\n", "  rollout:\n    placement: 1-2\n")
    path.write_text(text.replace("  reward:\n", "  reward:\n    placement: 1\n    within: [rollout]\n"))
    given = pw.account(path, sandbox=False)
    assert given.keeps and given.planned.proved and given.planned.bound == opened.bound
    slower = text.replace("placement: 1-2", "placement: 1").replace("  reward:\n", "  reward:\n    placement: 2\n")
    path.write_text(slower.replace(", budget: {seconds: 153, accelerators: 3}", ""))
    worse = pw.account(path, sandbox=False)
    assert not worse.keeps and worse.planned.bound == opened.bound == worse.alternatives[0].priced.nanoseconds
    assert worse.alternatives[0].priced not in worse.planned.not_placed


def test_with_traffic_ranks_are_compared_with_plans_that_have_a_placement(tmp_path: Path) -> None:
    """Nothing was placed beside ranks whose traffic counts: what was written came back as far from the bound."""
    path = tmp_path / "train.yaml"
    links = "links: [{from: rollout, to: judge, weights: 10GiB}]\n"
    path.write_text(APART.replace("plan: {", f"{links}plan: {{bandwidth: {{node: 10GiB}}, "))
    opened = pw.account(path, sandbox=False, searches=0).planned
    assert opened.proved and 17 * SECOND <= opened.price[0] < 17.1 * SECOND
    comes_back(path, opened)
