"""`nested: false` beside what is demanded or given to be inside others: nothing else does."""

from __future__ import annotations

from pathlib import Path

import placewright as pw
import pytest
from placewright.models.answer import Answer

from .tried import priced

PARTS = {
    "given": "a: {placement: 0-3, seconds: {4: 40}}\n  b: {within: a, placement: 0-1, seconds: {2: 20}}",
    "open": "a: {accelerators: [3, 4], seconds: {4: 40}}\n  b: {within: a, accelerators: [1, 2], seconds: {2: 20}}",
}


def solved(folder: Path, parts: str, nested: str) -> Answer:
    file = folder / "job.yaml"
    file.write_text(
        f"""cluster: 2x4xH100
components:
  {PARTS[parts]}
  c: {{accelerators: [1, 2, 3], seconds: {{4: 30}}}}
  d: {{accelerators: [2, 4], seconds: {{4: 25}}}}
plan: {{workflow: [a -> c, b -> c, c -> d], nested: {nested}, batches: 4}}
""",
        encoding="utf-8",
    )
    return pw.solve(str(file), sandbox=False)


def insides(answer: Answer) -> set[tuple[str, str]]:
    """Who uses only some of another's accelerators, in any design that is told."""
    assert answer.planned is not None
    designs = [each.design for each in (answer.planned.best, *answer.planned.alternatives)]
    uses = [{name: set(design.blocks_of(name)) for name in design.options} for design in designs]
    return {(one, other) for its in uses for one in its for other in its if its[one] < its[other]}


@pytest.mark.parametrize("parts", PARTS)
@pytest.mark.parametrize("nested", ["false", "true"])
def test_it_is_the_best_of_all_that_may_be(tmp_path: Path, nested: str, parts: str) -> None:
    answer = solved(tmp_path, parts, nested)
    assert answer.planned is not None and answer.planned.proved
    question, best = answer.planned.question, answer.planned.best
    assert question.sharing.nested and question.sharing.only_within == (nested == "false")
    assert (best.nanoseconds, best.design.accelerators) == min(price for price, _ in priced(question, False))


def test_around_given_ranks_nothing_else_lies_inside_another(tmp_path: Path) -> None:
    assert insides(solved(tmp_path, "given", "false")) == {("b", "a")}
    assert insides(solved(tmp_path, "given", "true")) > {("b", "a")}


def test_who_is_on_the_same_accelerators_lies_inside_too(tmp_path: Path) -> None:
    """`b` is to be within `a`; whoever shares all of the accelerators of `b` is inside `a` as well, and nobody is inside `b`."""
    found = insides(solved(tmp_path, "open", "false"))
    assert found and not any(outer == "b" for _, outer in found)
