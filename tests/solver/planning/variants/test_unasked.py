"""What is told of plans that nobody asked for is no more than is proved of them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import placewright as pw
from placewright.models.planning.measured import SECOND
from placewright.models.planning.planned import Nested
from placewright.solver.planning.variants.unasked import unasked

FILE = """
cluster: 1x8xH100
components:
  rollout: {seconds: {2: 120, 4: 66}, phase: generate}
  reward: {seconds: {1: 50, 4: 32}, phase: infer}
  actor: {seconds: {2: 95, 8: 27}, phase: train}
plan: {workflow: rollout -> reward => actor, batches: 16, nested: NESTED}
"""


def test_the_bound_is_that_of_plans_on_several_kinds_too(tmp_path: Path) -> None:
    file = tmp_path / "job.yaml"
    file.write_text(FILE.replace("NESTED", "true"))
    wide = pw.solve(file, sandbox=False)
    file.write_text(FILE.replace(", nested: NESTED", ""))
    problem, plain = pw.load(file).problem, pw.solve(file, sandbox=False)
    assert problem is not None and plain.planned is not None and wide.planned is not None
    assert wide.planned.proved and wide.planned.price < plain.planned.price
    least, bounded = Nested(wide.planned.bound - 9 * SECOND), wide.planned.bound - 5 * SECOND
    found = replace(plain, planned=replace(plain.planned, nested=least))
    for over_kinds, bound in ((None, wide.planned.bound), (bounded, bounded)):
        answer = replace(wide, planned=replace(wide.planned, over_kinds=over_kinds))
        told = unasked(lambda _: found, lambda _, its=answer: its)(problem).planned  # type: ignore[misc]
        assert told is not None and told.nested is not None
        assert told.nested.best == wide.planned.best and told.nested.bound == bound
