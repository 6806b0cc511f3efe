"""Who is with one that is with a third is with the third: nobody is a stranger to what several relations together put on its accelerators."""

from __future__ import annotations

from pathlib import Path

import placewright as pw
import pytest
from placewright.planner.problem import planning_problem

FILES = {
    "with one that is with given ranks": (
        """cluster: 1x3xH100+1x2xH100
components:
  a: {seconds: {1: 242}, placement: 0-0}
  b: {seconds: {1: 278, 2: 138, 3: 332}, accelerators: 1-5, colocate_with: [c]}
  c: {seconds: {1: 73}, accelerators: 1-4, colocate_with: [a]}
plan: {workflow: a -> b -> c, nested: true, budget: {accelerators: 1}}
""",
        593.0,
    ),
    "given ranks with one that another is with": (
        """cluster: 1x3xH100
components:
  a: {seconds: {1: 373, 2: 42, 3: 110}, accelerators: 2-3}
  b: {seconds: {1: 88, 2: 142}, accelerators: 1-2, colocate_with: [a]}
  c: {seconds: {2: 177}, accelerators: 1-1}
  d: {seconds: {2: 364}, placement: 1-2, colocate_with: [a]}
plan: {workflow: a -> b -> c -> d, nested: true}
""",
        902.0,
    ),
    "with one that is within given ranks": (
        """cluster: 1x3xH100+1x2xH100
components:
  a: {seconds: {1: 87, 3: 193}, accelerators: 2-4, within: [c]}
  b: {seconds: {3: 335, 4: 234, 5: 181}, accelerators: 3-3, colocate_with: [a]}
  c: {seconds: {5: 111}, placement: 0-4}
plan: {workflow: a -> b -> c}
""",
        639.0,
    ),
    "within one that is with given ranks": (
        """cluster: 1x4xH100
components:
  a: {seconds: {3: 366, 4: 69}, accelerators: 1-4, within: [b]}
  b: {seconds: {2: 226, 3: 117, 4: 219}, accelerators: 1-4, parallel: {tp: 2}, colocate_with: [c]}
  c: {seconds: {2: 219}, placement: 1-2}
  d: {seconds: {2: 310, 3: 211, 4: 256}, accelerators: 1-4, disjoint_from: [b]}
plan: {workflow: a -> b -> c -> d}
""",
        4599.080907,
    ),
}
"""Every way to give the components accelerators was tried by hand: this is the least time of an iteration."""


@pytest.mark.parametrize("name", FILES)
def test_the_plan_is_the_best_of_all_that_could_be_had(name: str, tmp_path: Path) -> None:
    text, seconds = FILES[name]
    (tmp_path / "job.yaml").write_text(text)
    answer = pw.solve(tmp_path / "job.yaml", sandbox=False)
    assert answer.planned is not None
    assert answer.planned.proved
    assert answer.planned.best.nanoseconds / 1e9 == seconds


def test_what_follows_through_others_is_said_once(tmp_path: Path) -> None:
    (tmp_path / "job.yaml").write_text(
        """cluster: 1x4xH100
components:
  a: {accelerators: 1-4, seconds: {4: 9}, colocate_with: b}
  b: {accelerators: 1-4, seconds: {4: 9}, within: c}
  c: {accelerators: 1-4, seconds: {4: 9}, within: d}
  d: {accelerators: 1-4, seconds: {4: 9}}
  e: {accelerators: 1-4, seconds: {4: 9}}
plan: {workflow: a -> b -> c -> d -> e}
"""
    )
    problem = pw.load(tmp_path / "job.yaml").problem
    assert problem is not None
    question = planning_problem(problem)
    assert question.sharing.together == {("a", "b")}
    assert question.sharing.within == {(one, other) for one, other in ("bc", "cd", "ac", "ad", "bd")}
