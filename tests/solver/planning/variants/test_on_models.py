"""Open components whose times name models, on several of these at once: against every way to lay them on the nodes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import placewright as pw
import pytest
from placewright.models.answer import IMPOSSIBLE, Answer
from placewright.models.planning.measured import SECOND
from placewright.models.problem import Problem
from placewright.report.planning.assumptions import assumptions
from placewright.report.planning.data import to_data
from placewright.report.planning.text import render
from placewright.solver.planning.variants import over_kinds
from placewright.solver.planning.variants.choosing_models import Choosing
from placewright.solver.planning.variants.merging import merged

from .every_way import each_planned
from .on_models import Instance, Laid


@pytest.mark.parametrize("first", range(0, 160, 10))
def test_as_good_as_every_way_to_lay_them(first: int, tmp_path: Path) -> None:
    for seed, instance, planned, best in each_planned(Instance, range(first, first + 10), tmp_path / "job.yaml"):
        assert not planned.ties_open, seed
        assert planned.over_kinds is None or 2 in instance.tp.values(), seed  # with groups over nodes too, less may do
        takes, used = round((planned.best.nanoseconds + planned.best.traffic) / SECOND), planned.best.design.accelerators
        assert ((used, takes) if instance.fewest else (takes, used)) == best, seed


def laid(instance: Instance, answer: pw.Answer) -> Laid:
    assert answer.plan is not None
    held = {name: answer.plan.assignment.masks(name) for name in "ab"}
    masks = {
        name: [sum(mask for (at, _), mask in its.items() if at == node) for node in range(len(instance.counts))]
        for name, its in held.items()
    }
    a, b = (tuple(mask.bit_count() for mask in masks[name]) for name in "ab")
    both = sum((one & other).bit_count() for one, other in zip(masks["a"], masks["b"]))
    return Laid(a, b, both > 0, sum(a) + sum(b) - both)


@pytest.mark.parametrize("first", range(0, 60, 10))
def test_it_flips_where_another_way_is_better(first: int, tmp_path: Path) -> None:
    file = tmp_path / "job.yaml"
    for seed in range(first, first + 10):
        instance = Instance(seed)
        file.write_text(instance.text(), encoding="utf-8")
        if instance.fewest or instance.best() is None:
            continue
        account, answer = pw.account(str(file), sandbox=False), pw.solve(str(file), sandbox=False)
        assert account is not None and account.sensitivity is not None
        where, held = laid(instance, answer), account.planned.over_kinds is None
        if not account.planned.question.on_models or not held:
            continue
        for flip in account.sensitivity.flips:
            for percent, better in ((flip.holds, False), (flip.flips, True)):
                if percent != 100:
                    mine, best = instance.seconds(where, {flip.component: percent}), instance.best({flip.component: percent})
                    assert mine is not None and best is not None
                    assert (best[0] * 1.05 <= mine * (1 + 1e-9)) == better, (seed, flip)


PARTS = """
components:
  rollout: {accelerators: 1-4, phase: generate, seconds: {1: 100, 4: 25}}
  actor: {accelerators: 1-4, phase: train, seconds: [
    {accelerator: H100, accelerators: 1, seconds: 100}, {accelerator: H100, accelerators: 4, seconds: 25},
    {accelerator: A100, accelerators: 1, seconds: 140}, {accelerator: A100, accelerators: 4, seconds: 35}]}
"""
PLAN = "plan: {workflow: rollout => actor, nested: true}\n"


def written(folder: Path, parts: str = PARTS, cluster: str = "1x2xH100+1x2xA100", plan: str = PLAN) -> str:
    file = folder / "job.yaml"
    file.write_text(f"cluster: {cluster}{parts}{plan}", encoding="utf-8")
    return str(file)


def test_it_is_told_on_which_model_it_is_slowest(tmp_path: Path) -> None:
    account = pw.account(written(tmp_path), sandbox=False)
    assert account is not None and account.planned.proved and account.planned.best.nanoseconds == 60 * SECOND
    assert "actor on H100 and A100: as long as on the slowest, A100, each rank with the same share" in assumptions(account)
    for name in ("actor", "rollout"):  # which has no model of its own, and lies on the same
        assert any(line.split()[:5] == [name, "4", "of", "H100", "and"] for line in render(account)[0].splitlines())
    (basis,) = [each for each in to_data(account)["rests_on"] if each["task"].startswith("actor")]
    assert (basis["slowest"], basis["models"]) == ("A100", ["H100", "A100"])
    data = to_data(account)
    assert data["components"]["actor"]["models"] == data["blocks"][0]["models"] == ["H100", "A100"]
    assert "model" not in data["components"]["actor"]
    assert account.sensitivity is not None and not account.sensitivity.left


def test_of_models_that_take_as_long_none_is_told_as_the_slowest(tmp_path: Path) -> None:
    parts = PARTS.replace("seconds: 140", "seconds: 100").replace("35}", "25}").replace("accelerators: 1-4, ph", "placement: 0-3, ph")
    account = pw.account(
        written(tmp_path, parts.replace("phase: train", "phase: train, colocate_with: rollout")), sandbox=False, searches=0
    )
    assert account is not None
    assert "actor on H100 and A100: as long on each of them, each rank with the same share" in assumptions(account)


def test_the_same_ranks_written_down_take_as_long(tmp_path: Path) -> None:
    parts = (
        PARTS.replace("phase:", "placement: 0-3, phase:")
        .replace("accelerators: 1-4, placement", "placement")
        .replace("train,", "train, colocate_with: [rollout],")
    )
    account = pw.account(written(tmp_path, parts), sandbox=False)
    assert account is not None and account.given and account.keeps and account.planned.best.nanoseconds == 60 * SECOND


def test_where_each_on_one_model_is_as_good_it_stays_there(tmp_path: Path) -> None:
    account = pw.account(
        written(
            tmp_path, PARTS.replace("A100, accelerators: 1, seconds: 140", "A100, accelerators: 1, seconds: 400").replace("35}", "100}")
        ),
        sandbox=False,
    )
    assert account is not None and account.planned.proved and account.planned.over_kinds is None


def test_of_equal_times_fewer_accelerators_on_several_models_are_found(tmp_path: Path) -> None:
    """Three of one model take as long as two of both: only one of each is free for both components together."""
    parts = """
components:
  one: {accelerators: 1-4, phase: infer, scaling: table, seconds: [
    {accelerator: H100, accelerators: 3, seconds: 10}, {accelerator: H100, accelerators: 2, seconds: 10}, {accelerator: A100, accelerators: 2, seconds: 10}]}
  two: {accelerators: 1-4, phase: infer, scaling: table, exclude: [1], seconds: {1: 5, 2: 10}}
"""
    planned = pw.solve(written(tmp_path, parts, "1x2xH100+1x1xA100", "plan: {cost_model: steady}\n"), sandbox=False).planned
    assert planned is not None and planned.proved and planned.price == (10 * SECOND, 3)


@pytest.mark.parametrize(("change", "open_"), [({}, False), ({"ties_open": True}, True), ({"proved": False}, True)])
def test_fewest_accelerators_are_claimed_only_where_no_other_choice_may_have_fewer(
    change: dict[str, bool], open_: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another choice takes as long at least, and what was found of it takes more."""

    def with_another(problem: Problem, found: Answer, every: Choosing, least: int) -> Answer:
        assert every.best is not None and every.best.proved
        dearer = replace(every.best.best, nanoseconds=every.best.best.nanoseconds + SECOND)
        its = replace(every.best, **(change and {"best": dearer}), **change)  # type: ignore[arg-type]
        every.answers.append(replace(every.answers[0], planned=its))
        return merged(problem, found, every, least)

    monkeypatch.setattr(over_kinds, "merged", with_another)
    planned = pw.solve(written(tmp_path), sandbox=False).planned
    assert planned is not None and planned.proved and planned.ties_open == open_


def test_what_no_choice_of_models_has_is_impossible(tmp_path: Path) -> None:
    answer = pw.solve(written(tmp_path, plan="plan: {workflow: rollout => actor, budget: {seconds: 59}}\n"), sandbox=False)
    assert answer.verdict == IMPOSSIBLE
    assert pw.solve(written(tmp_path, plan="plan: {workflow: rollout => actor, budget: {seconds: 60}}\n"), sandbox=False).plan is not None


TORN = """
components:
  rollout: {accelerators: 1-6, parallel: {tp: [3]}, phase: train, seconds: [
    {accelerators: 1, seconds: 55.0, tp: 3}, {accelerators: 4, seconds: 25.0, tp: 3},
    {accelerators: 6, seconds: 9.97, accelerator: A100}, {accelerators: 2, seconds: 70.71, accelerator: A100, tp: 3},
    {accelerators: 4, seconds: 28.72, accelerator: A100, tp: 3}, {accelerators: 5, seconds: 22.0, accelerator: A100, tp: 3}]}
  actor: {accelerators: 1-6, parallel: {tp: [3]}, phase: infer, seconds: [
    {accelerators: 1, seconds: 10.0, accelerator: A100, tp: 3}, {accelerators: 2, seconds: 5.36, accelerator: A100, tp: 3},
    {accelerators: 3, seconds: 3.67, accelerator: A100, tp: 3}, {accelerators: 4, seconds: 5.5, accelerator: A100, tp: 3},
    {accelerators: 5, seconds: 4.92, accelerator: A100, tp: 3}, {accelerators: 6, seconds: 2.19, accelerator: A100, tp: 3},
    {accelerators: 6, seconds: 9.17, accelerator: H100, tp: 3}]}
  reward: {accelerators: 1-6, parallel: {tp: [1, 2]}, memory: 10GiB, seconds: [
    {accelerators: 6, seconds: 17.78, accelerator: A100}, {accelerators: 1, seconds: 11.0, accelerator: H100},
    {accelerators: 2, seconds: 5.36, accelerator: H100}, {accelerators: 3, seconds: 3.72, accelerator: H100},
    {accelerators: 4, seconds: 2.5, accelerator: H100}, {accelerators: 5, seconds: 2.0, accelerator: H100},
    {accelerators: 6, seconds: 4.49, accelerator: H100}]}
relations: [{kind: subset, components: [actor, rollout]}]
"""


def test_groups_over_nodes_are_told_of_every_choice(tmp_path: Path) -> None:
    """With them 41.3 seconds are known, with components on other models than in the plan."""
    plan = "plan: {cost_model: rlinf-embodied, workflow: [rollout => actor, rollout => reward, actor => reward], batches: 4}\n"
    planned = pw.solve(written(tmp_path, TORN, "1x3xA100+1x2xH100+1x1xH100", plan), sandbox=False).planned
    assert planned is not None and planned.proved and planned.price[0] == 63_193_333_000
    assert planned.over_nodes is not None and planned.over_nodes.bound <= 41_301_248_000
