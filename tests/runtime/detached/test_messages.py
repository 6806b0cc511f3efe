"""What a keeper is asked."""

from __future__ import annotations

from placewright.models.component import Component, Parallel
from placewright.models.job import Job
from placewright.models.machines.shorthand import read_shorthand
from placewright.models.problem import Problem
from placewright.runtime.detached.messages import problem_of, problem_to_text


def test_a_problem_goes_through_its_text_and_none_is_none() -> None:
    asked = Problem(read_shorthand("2x8xH100"), Job((Component("actor", least=8, most=16, parallel=Parallel(tp=4)),)))
    assert problem_of(problem_to_text(asked)) == asked
    assert problem_of(problem_to_text(None)) is None
