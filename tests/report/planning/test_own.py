"""The ranks of a file beside the plan, in words."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from placewright.models.account import Account, Baseline
from placewright.models.job import Job
from placewright.models.machines.cluster import Cluster
from placewright.models.planning.planned import CostedDesign
from placewright.models.problem import Problem
from placewright.report.planning.data import to_data
from placewright.report.planning.own import own_placement

from .accounts import BY_HAND, account


def yours_of(found: Account, priced: CostedDesign, forbidden: tuple[str, ...] = ()) -> Baseline:
    """A placement of the file's own that costs so much."""
    return Baseline(priced, Problem(Cluster(()), Job(())), found.planned.question, forbidden=forbidden)


def test_yours_is_to_be_kept_only_where_it_is_the_plan(tmp_path: Path) -> None:
    found = account(tmp_path, BY_HAND, 0)
    found = replace(found, own=yours_of(found, found.planned.best))
    assert "as long as the plan, and not placed as well\n" in own_placement(found)
    same = replace(found, planned=replace(found.planned, is_own=True))
    assert "as good as the plan: keep it\n" in own_placement(same)
    best = found.planned.best
    fewer = replace(best, design=replace(best.design, blocks=best.design.blocks[:1]))
    assert "as long as the plan, on 4 accelerators more\n" in own_placement(replace(found, planned=replace(found.planned, best=fewer)))


@pytest.mark.parametrize(
    ("percent", "fewer", "forbidden", "said"),
    [
        (4, 0, (), "4.0 % from the bound: keep it\n"),
        (5, 0, (), "5.0 % from the bound: keep it\n"),
        (6, 0, (), "6.0 % from the bound: the plan saves "),
        (4, 4, (), "4.0 % from the bound, on 4 accelerators more: the plan saves "),
        (4, 0, ("PW207: it does not divide",), "4.0 % from the bound: the plan saves "),
    ],
)
def test_yours_is_to_be_kept_near_the_best(tmp_path: Path, percent: int, fewer: int, forbidden: tuple[str, ...], said: str) -> None:
    """What may not be proposed is not to be kept, nor what holds more accelerators and is slower; a program is told the same."""
    found = account(tmp_path, BY_HAND, 0)
    best = found.planned.best
    blocks = best.design.blocks[:1] if fewer else best.design.blocks
    plan = replace(found.planned, best=replace(best, design=replace(best.design, blocks=blocks)))
    yours = yours_of(found, replace(best, nanoseconds=best.nanoseconds * (100 + percent) // 100), forbidden)
    found = replace(found, planned=plan, own=yours)
    assert said in own_placement(found)
    assert to_data(found)["keep"] is found.keeps is (": keep it" in said)


def test_yours_that_is_as_good_is_to_be_kept_where_the_fewest_accelerators_are_asked(tmp_path: Path) -> None:
    found = account(tmp_path, BY_HAND.replace("batches: 5", "batches: 5, minimise: accelerators, budget: {seconds: 200}"), 0)
    planned, best = found.planned, found.planned.best
    held = best.design.all_accelerators(planned.question)
    for is_own, said in ((True, f" on {held} accelerators, as good as the plan: keep it\n  "), (False, f", the plan's are {held}: ")):
        its = replace(found, planned=replace(planned, is_own=is_own), own=yours_of(found, best))
        assert said in own_placement(its)
        assert to_data(its)["keep"] is its.keeps is is_own


@pytest.mark.parametrize(
    ("percent", "said"),
    [(4, " accelerators, as many as the plan, 4.0 % more time: keep it\n"), (6, " accelerators, as many as the plan, which saves ")],
)
def test_yours_of_as_few_accelerators_is_kept_where_it_takes_hardly_longer(tmp_path: Path, percent: int, said: str) -> None:
    found = account(tmp_path, BY_HAND.replace("batches: 5", "batches: 5, minimise: accelerators, budget: {seconds: 200}"), 0)
    best = found.planned.best
    yours = yours_of(found, replace(best, nanoseconds=best.nanoseconds * (100 + percent) // 100))
    its = replace(found, planned=replace(found.planned, is_own=False), own=yours)
    assert said in own_placement(its)
    assert to_data(its)["keep"] is its.keeps is (percent < 5)
