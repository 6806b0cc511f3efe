"""Where not every choice of models is planned, what is claimed of a plan is true of every way to lay the components all the same."""

from __future__ import annotations

from pathlib import Path

import placewright as pw
import pytest
from placewright.models.answer import IMPOSSIBLE
from placewright.models.planning.measured import SECOND
from placewright.solver.planning.variants import choosing_models

from .on_models import Instance


@pytest.mark.parametrize(("planned", "bounded"), [(24, 400), (1, 400), (0, 400), (24, 3)])
def test_what_is_claimed_holds(planned: int, bounded: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choosing_models, "MOST_PARTS", 0)
    monkeypatch.setattr(choosing_models, "MOST_PLANNED", planned)
    monkeypatch.setattr(choosing_models, "MOST_BOUNDED", bounded)
    proved, file = 0, tmp_path / "job.yaml"
    for seed in range(300, 330):
        instance = Instance(seed)
        file.write_text(instance.text(), encoding="utf-8")
        its, best = pw.solve(str(file), sandbox=False), instance.best()
        if its.planned is None or best is None:
            assert its.planned is None, seed
            assert its.verdict != IMPOSSIBLE or best is None, seed
            continue
        takes, used = round(its.planned.best.nanoseconds / SECOND), its.planned.best.design.accelerators
        mine = (used, takes) if instance.fewest else (takes, used)
        told = [each for each in (its.planned.bound, its.planned.over_kinds) if each is not None]
        assert mine >= best, seed
        assert min(told) <= best[0] * (1 if instance.fewest else SECOND), seed
        if its.planned.proved and its.planned.over_kinds is None:
            assert mine == best or (its.planned.ties_open and mine[0] == best[0]), seed
            proved += 1
    assert proved >= 5
