"""The questions that are asked again and again, by name."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import placewright as pw
from placewright.models.problem import Problem
from placing.family import instance

EXAMPLES = Path(__file__).resolve().parent.parent.parent / "examples"
FAMILY = "family"


def question(name: str) -> Problem:
    """`family/512/1` is the one of that size and seed; all else is an example that is read for four nodes of eight H100.

    With `too much` before it, every component asks for so much more that nothing has room for it.
    """
    asked = name.removeprefix("too much, ")
    if asked.startswith(FAMILY):
        _, size, seed = asked.split("/")
        problem = instance(int(size), int(seed))
    else:
        found = pw.load(EXAMPLES / asked, "4x8xH100").problem
        if found is None:
            raise SystemExit(f"{name} cannot be read")
        problem = found
    return problem if asked == name else _too_much(problem)


def _too_much(problem: Problem) -> Problem:
    first, *rest = problem.components
    amount = problem.cluster.total() // first.step * first.step
    return replace(problem, job=replace(problem.job, components=(replace(first, least=amount, most=amount), *rest)))
