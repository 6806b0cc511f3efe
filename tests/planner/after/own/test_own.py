"""What the file's own ranks come to, under the same cost model as the plan."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, Sequence

import placewright as pw
import pytest
from placewright.models.component import Component
from placewright.models.placements.assignment import seats
from placewright.models.planning.design import Design
from placewright.models.planning.option import Option
from placewright.models.planning.planned import PlanningResult
from placewright.models.problem import Problem
from placewright.planner import problem as question_room
from placewright.planner.baseline import baseline_of_file

from .stated import FILE, on, priced, problem


def laid_out(design: Design) -> dict[str, list[int]]:
    """The accelerators of each component, block after block."""
    found: dict[str, list[int]] = {name: [] for name in design.options}
    first = 0
    for block in design.blocks:
        for name in block.components:
            found[name] += range(first, first + block.accelerators)
        first += block.accelerators
    return found


def planned(problem: Problem) -> PlanningResult:
    found = pw.solve(problem, sandbox=False).planned
    assert found is not None
    return found


@pytest.mark.parametrize("model", ["stream", "stages", "steady"])
@pytest.mark.parametrize("nested", ["true", "false"])
def test_ranks_of_a_design_cost_what_the_design_does(tmp_path: Path, model: str, nested: str) -> None:
    text = FILE.replace("batches: 4", f"batches: 4, cost_model: {model}, nested: {nested}")
    if model == "stages":
        for name, phase in (("rollout", "generate"), ("inference", "infer"), ("actor", "train")):
            text = text.replace(f"{name}: {{", f"{name}: {{phase: {phase}, ")
    its = problem(tmp_path, text)
    found = planned(its)
    assert len(found.alternatives) > 1
    for each in (found.best, *found.alternatives):
        degrees = tuple(replace(one, parallel=each.design.options[one.name].parallel) for one in its.components)
        beside = on(replace(its, job=replace(its.job, components=degrees)), laid_out(each.design))
        again = baseline_of_file(beside, found)
        assert again is not None and again.priced is not None
        assert again.priced.nanoseconds == each.nanoseconds
        assert again.priced.design.accelerators == each.design.accelerators
        assert again.forbidden == ()
        assert again.over(each) == 0


def test_a_file_without_ranks_of_its_own_is_compared_with_nothing(tmp_path: Path) -> None:
    its = problem(tmp_path)
    assert baseline_of_file(its, planned(its)) is None


def test_what_overlaps_in_part_takes_turns_and_is_not_allowed(tmp_path: Path) -> None:
    found = priced(on(problem(tmp_path), {"rollout": range(8), "inference": range(4, 12), "actor": range(16)}))
    assert found.priced is not None
    assert [block.components for block in found.priced.design.blocks] == [
        ("rollout", "actor"), ("rollout", "inference", "actor"), ("inference", "actor"), ("actor",),
    ]  # fmt: skip
    assert found.priced.design.segments == (0, 1, 2)
    assert found.priced.nanoseconds == sum(times for option in found.priced.design.options.values() for times in option.nanoseconds)
    assert any(
        each.endswith("shares only some of its accelerators, which `nested: true` in `plan` would allow") for each in found.forbidden
    )


def test_a_count_that_the_hints_do_not_offer_has_a_price_all_the_same(tmp_path: Path) -> None:
    found = priced(on(problem(tmp_path), {"rollout": range(4), "inference": range(4, 14), "actor": range(14, 16)}))
    assert found.priced is not None
    assert found.priced.design.options["inference"].nanoseconds == (16_000_000_000,)
    assert any("`inference` is to have" in each and "accelerators, not 10" in each for each in found.forbidden)


def test_its_times_say_what_they_rest_on(tmp_path: Path) -> None:
    found = priced(on(problem(tmp_path), {"rollout": range(8), "inference": range(8), "actor": range(8)}))
    assert [(str(each.task), each.kind) for each in found.bases] == [
        ("rollout", "interpolated"), ("inference", "measured"), ("actor", "measured"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "places", "why"),
    [
        (FILE, {"rollout": range(8), "actor": range(8)}, "the file gives no ranks of `inference` on these nodes"),
        (
            FILE.replace("{8: 20}", "{8: 20}, scaling: table"),
            {"rollout": range(8), "inference": range(8, 12), "actor": range(8)},
            "there are no seconds of `inference` on 4",
        ),
        (
            FILE.replace(
                "{seconds: {4: 100, 16: 30}, parallel: {tp: [1, 2]}}",
                "{seconds: [{accelerators: 8, tp: 2, seconds: 9}, {accelerators: 8, tp: 4, seconds: 8}], parallel: {tp: [1, 2, 4]}}",
            ),
            {"rollout": range(8), "inference": range(8), "actor": range(8)},
            "there are no seconds of `rollout` on 8 with tp 1: its times there are of tp 2 and tp 4",
        ),
        (
            FILE.replace("2x8xH100", "1x8xH100+1x8x4090").replace(
                "{4: 100, 16: 30}", "[{accelerators: 16, accelerator: H100, tp: 1, seconds: 30}]"
            ),
            {"rollout": range(16), "inference": range(8), "actor": range(8)},
            "`rollout` is on H100 and 4090, which only `scope: [heterogeneous]` compares",
        ),
    ],
)
def test_where_there_is_no_price_it_says_why(tmp_path: Path, text: str, places: dict[str, Sequence[int]], why: str) -> None:
    found = priced(on(problem(tmp_path, text), places))
    assert found.priced is None
    assert found.why_not == why
    assert found.over(planned(problem(tmp_path)).best) is None


TIED = """
cluster: 1x8xH100
components:
  env: {accelerators: 2, seconds: {2: 30}}
  rollout: {accelerators: 2, seconds: {2: 30}}
  actor: {accelerators: 8, seconds: {8: 60}}
plan: {workflow: env => rollout => actor, nested: true}
"""


@pytest.mark.parametrize(
    "places", [{"env": (2, 3), "rollout": (0, 1)}, {"env": (6, 7), "rollout": (6, 7)}, {"env": (1, 5), "rollout": (0, 3)}]
)
def test_where_the_files_own_is_as_good_it_is_the_plan(tmp_path: Path, places: dict[str, Sequence[int]]) -> None:
    asked_for = on(problem(tmp_path, TIED), {**places, "actor": range(8)})
    answer = pw.solve(asked_for, sandbox=False)
    assert answer.plan is not None and answer.planned is not None
    assert answer.planned.is_own and answer.planned.proved
    for name, runs in asked_for.job.planning.own.items():
        assert list(seats(answer.plan.assignment.of(name))) == list(seats(runs))
    mine = baseline_of_file(asked_for, answer.planned)
    assert mine is not None and mine.priced == answer.planned.best
    assert answer.planned.best.design.structure() not in {each.design.structure() for each in answer.planned.alternatives}


def test_the_files_own_is_not_the_plan_where_it_is_slower_or_refused(tmp_path: Path) -> None:
    places = {"env": range(2), "rollout": range(2), "actor": range(8)}
    slower = pw.solve(
        on(problem(tmp_path, TIED.replace("8, seconds: {8: 60}", "1-8, seconds: {4: 90, 8: 60}")), {**places, "actor": range(4)}),
        sandbox=False,
    )
    assert slower.planned is not None and not slower.planned.is_own
    apart = pw.solve(
        on(problem(tmp_path, TIED.replace("seconds: {2: 30}}\n  rollout", "seconds: {2: 30}, disjoint_from: rollout}\n  rollout")), places),
        sandbox=False,
    )
    assert apart.planned is not None and not apart.planned.is_own


def test_no_plan_is_proved_the_best_beside_a_better_one_of_the_file_that_nothing_forbids(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where counts are left out of a question that no demand and no rule speaks against, the file's own ranks of them are no worse proved."""
    mine = on(problem(tmp_path, TIED.replace("8, seconds: {8: 60}", "1-8, seconds: {4: 90, 8: 60}")), {
        "env": range(2), "rollout": range(2, 4), "actor": range(8)
    })  # fmt: skip
    every = question_room.options

    def some(asked_for: Problem, component: Component, *others: Any) -> tuple[Option, ...]:
        return tuple(each for each in every(asked_for, component, *others) if component.name != "actor" or each.amount < 8)

    monkeypatch.setattr(question_room, "options", some)
    answer = pw.solve(mine, sandbox=False)
    assert answer.planned is not None
    theirs = baseline_of_file(mine, answer.planned)
    assert theirs is not None and theirs.priced is not None and theirs.unclear
    assert theirs.priced.nanoseconds < answer.planned.best.nanoseconds
    assert not answer.planned.proved and answer.planned.bound <= theirs.priced.nanoseconds
