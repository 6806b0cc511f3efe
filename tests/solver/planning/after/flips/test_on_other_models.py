"""Where a plan flips of which not every choice of models was searched by itself: with other times every way to lay it is tried."""

from __future__ import annotations

from pathlib import Path

import placewright as pw
import pytest
from placewright.models.planning.measured import SECOND
from placewright.report.planning.data import to_data
from placewright.report.planning.text import render
from placewright.solver.planning.after.account import Account
from placewright.solver.planning.after.flips.flip import HUNDRED, WORTH
from placewright.solver.planning.variants import choices_of_models, choosing_models, wide

from ...variants.on_models import Instance
from ...variants.test_every_choice import Three
from .test_wider import there


@pytest.fixture
def many(monkeypatch: pytest.MonkeyPatch) -> None:
    """However few choices there are, they are too many."""
    for module in (choices_of_models, choosing_models, wide):
        monkeypatch.setattr(module, "MOST_PARTS", 0)


def held(account: Account) -> dict[tuple[str, bool], int]:
    """How far the plan is said to hold against any that was asked for: component, slower -> percent."""
    found = account.sensitivity
    assert found is not None and (found.on_models is None or found.on_models.as_it_is)
    ends = {(flip.component, flip.holds > HUNDRED): flip.holds for flip in found.flips if flip.holds != HUNDRED}
    ends.update({(its.component, its.slower): its.percent for its in found.on_models.holds} if found.on_models is not None else {})
    return ends


@pytest.mark.usefixtures("many")
@pytest.mark.parametrize("first", range(0, 60, 10))
def test_two_hold_as_far_as_is_said(first: int, tmp_path: Path) -> None:
    file, asked = tmp_path / "job.yaml", 0
    for seed in range(first, first + 10):
        instance = Instance(seed)
        file.write_text(instance.text(), encoding="utf-8")
        if instance.best() is None:
            continue
        account = pw.account(str(file), sandbox=False)
        assert account is not None and account.sensitivity is not None
        if not account.planned.question.on_models:
            continue
        for (name, _), percent in held(account).items():
            best, mine = instance.best({name: percent}), there(account.planned, name, percent)
            assert best is not None, seed
            if instance.fewest:
                assert best[0] >= account.planned.best.design.accelerators, (seed, name, percent)
            else:
                assert best[0] * SECOND * (HUNDRED + WORTH) >= mine * HUNDRED * (1 - 1e-9), (seed, name, percent)
            asked += percent != HUNDRED
        for flip in account.sensitivity.flips:
            assert flip.to is None or not flip.sure, seed
            if flip.flips is not None and flip.sure:
                assert instance.best({flip.component: flip.flips}) is None, seed
    assert asked > 3


class Slowed(Three):
    """The same, in which one component takes so many percent of its times."""

    def best_with(self, component: str, percent: int) -> int:
        """ns of the shortest iteration."""
        plain = self.times
        self.times = {
            (name, model): {count: time * (percent if name == component else HUNDRED) for count, time in its.items()}
            for (name, model), its in plain.items()
        }
        best, self.times = self.best(), plain
        assert best is not None
        return best[0] * SECOND // HUNDRED


@pytest.mark.usefixtures("many")
@pytest.mark.parametrize("first", range(0, 30, 10))
def test_three_hold_as_far_as_is_said(first: int, tmp_path: Path) -> None:
    file, asked = tmp_path / "job.yaml", 0
    for seed in range(first, first + 10):
        three = Slowed(seed)
        file.write_text(three.text(), encoding="utf-8")
        account = pw.account(str(file), sandbox=False) if three.best() else None
        if account is None or not account.planned.question.on_models:
            continue
        for (name, _), percent in held(account).items():
            best, mine = three.best_with(name, percent), there(account.planned, name, percent)
            assert best * (HUNDRED + WORTH) >= mine * HUNDRED * (1 - 1e-9), (seed, name, percent)
            asked += 1
    assert asked > 3


MANY = """
cluster: 1x8xH100+1x8xA100+1x8xL40S
components:
  a: {seconds: {H100: {1: 40, 8: 6}, A100: {1: 70, 8: 10}, L40S: {1: 90, 8: 13}}}
  b: {seconds: {H100: {1: 30, 8: 5}, A100: {1: 50, 8: 8}, L40S: {1: 60, 8: 9}}}
  c: {seconds: {H100: {1: 50, 8: 8}, A100: {1: 80, 8: 12}, L40S: {1: 99, 8: 15}}}
plan: {batches: 8, workflow: [a -> b -> c]}
"""


def test_what_is_proved_the_best_is_not_said_to_be_worse_than_other_models(tmp_path: Path) -> None:
    """Of 343 choices: only of nested plans it is said that some may be better as it is."""
    file = tmp_path / "job.yaml"
    file.write_text(MANY, encoding="utf-8")
    account = pw.account(str(file), sandbox=False)
    assert account is not None and account.planned.proved and account.sensitivity is not None
    its, wider = account.sensitivity.on_models, account.sensitivity.wider
    assert its is not None and its.as_it_is and {each.component for each in its.holds} == {"a", "b", "c"}
    assert wider is not None and wider.nested and not wider.over_kinds
    text = "\n".join(render(account))
    assert "the plan flips when another on the same models with accelerators shared as a whole or not at all is 5 % better:" in text
    assert "against plans with components on other models of accelerators it is proved to hold less far: with a from 0." in text
    assert "against plans in which a component uses only some of another's accelerators is not known: some may be better as it is" in text
    assert to_data(account)["sensitivity"]["on_other_models"]["holds"]
