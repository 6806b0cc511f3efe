"""A problem, rendered and read again, is the same problem: every process is where it was, every hint says what it said."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from placewright.models.conversion import LOSS, REFUSAL, differences
from placewright.models.dialects.dialect import Rendering
from placewright.models.dialects.load import read
from placewright.models.dialects.recognition import dialect_named
from placewright.models.findings.finding import Severity, UnusableInput
from placewright.models.job import Share
from placewright.models.problem import Problem
from placewright.models.text.source import Source
from sampling import examples

from .problems import problems

CASES = examples(75)
QUIET = settings(max_examples=CASES, deadline=None, suppress_health_check=list(HealthCheck))


def again(problem: Problem, rendering: Rendering, dialect: str) -> Problem:
    """What the new text states."""
    machines = None if dialect == "native" else replace(problem.cluster, declared=())
    reading = read(Source("new.yaml", rendering.text), machines, dialect)
    assert reading.problem is not None, (rendering.text, reading.findings)
    return reading.problem


@pytest.mark.slow
@QUIET
@given(problems())
def test_a_native_file_says_everything(problem: Problem) -> None:
    rendering = dialect_named("native").render(problem)
    found = again(problem, rendering, "native")
    assert rendering.losses == ()
    assert list(differences(problem, found, rendering.names)) == [], rendering.text
    assert found.cluster == problem.cluster
    assert set(problem.job.relations) <= set(found.job.relations)
    assert (found.job.links, found.job.preference) == (problem.job.links, problem.job.preference)
    assert [(share.component, share.multiple, share.proved) for share in found.shares] == [
        (share.component, share.multiple, share.proved) for share in problem.shares
    ]
    assert [component.role or component.name for component in found.components] == [c.role or c.name for c in problem.components]


@pytest.mark.slow
@QUIET
@given(problems(odd=False))
def test_what_an_rlinf_file_says_otherwise_is_announced(problem: Problem) -> None:
    try:
        rendering = dialect_named("rlinf").render(problem)
    except UnusableInput as refused:
        assert {finding.code for finding in refused.findings} == {REFUSAL}
        return
    found = again(problem, rendering, "rlinf")
    assert {loss.code for loss in rendering.losses} <= {LOSS}
    assert not [loss.message for loss in rendering.losses if loss.severity is Severity.WARNING]
    assert list(differences(problem, found, rendering.names)) == [], rendering.text


@pytest.mark.slow
@QUIET
@given(problems())
def test_what_an_rlinf_file_cannot_demand_is_announced(problem: Problem) -> None:
    try:
        rendering = dialect_named("rlinf").render(problem)
    except UnusableInput:
        return
    announced = {loss.subject for loss in rendering.losses if loss.severity is Severity.WARNING}
    found = differences(problem, again(problem, rendering, "rlinf"), rendering.names)
    assert {difference.component for difference in found} <= announced


@pytest.mark.slow
@pytest.mark.parametrize("dialect", ["native", "rlinf"])
def test_the_same_text_comes_out_of_the_text_itself(dialect: str) -> None:
    @QUIET
    @given(problems(odd=False))
    def check(problem: Problem) -> None:
        try:
            first = dialect_named(dialect).render(problem)
        except UnusableInput:
            return
        if any("RLinf runs" in loss.message for loss in first.losses):
            return  # a role that is lost leaves its name to another component
        once = again(problem, first, dialect)
        second = dialect_named(dialect).render(once)
        assert second.text == first.text or "- {ranks:" in first.text  # node by node the same place can be said in several ways

    check()


def test_a_role_that_rlinf_runs_otherwise_is_told_and_not_written() -> None:
    text = "cluster: 1x8\ncomponents:\n  rollout: {placement: 0, role: actor}\n  actor: {accelerators: 4}\n"
    problem = read(Source("job.yaml", text)).problem
    assert problem is not None
    rendering = dialect_named("rlinf").render(problem)
    assert "role:" not in rendering.text
    assert any(loss.subject == "rollout" and "is `actor`" in loss.message for loss in rendering.losses)
    assert dialect_named("rlinf").render(again(problem, rendering, "rlinf")).text == rendering.text


@pytest.mark.parametrize(("amount", "said"), [(1, "the 1 environment of `n` is dealt out"), (6, "the 6 environments of `n` are dealt out")])
def test_an_amount_that_is_not_demanded_any_more_is_told_as_one_or_several(amount: int, said: str) -> None:
    problem = read(Source("job.yaml", "cluster: 1x8\ncomponents:\n  env: {accelerators: 1-4}\n")).problem
    assert problem is not None
    dealt = replace(problem, job=replace(problem.job, shares=(Share("env", amount, 1, "environments", "n"),)))
    assert any(said in loss.message for loss in dialect_named("rlinf").render(dealt).losses)
