"""The model that the user names: whose it is not, which is said."""

from __future__ import annotations

from typing import Iterator, Mapping, Sequence

from ..component import Component
from ..findings.finding import Finding, Severity
from ..model_cards.card import ModelCard
from ..model_cards.use import DEGREES, ESTIMATE, ModelUse
from ..problem import Problem
from ..roles import role_of

CODE = "PW404"


def path_of(paths: Sequence[str]) -> str | None:
    """Which model the user names, of those that components without a role name: "" where one of them names none, whose it is then.

    Else the first that is not known, or the first; None where there is no such component.
    """
    from ..model_cards.known import known_model

    if not paths or not all(paths):
        return "" if paths else None
    return next((path for path in paths if known_model(path) is None), paths[0])


def passed_over(problem: Problem, models: Mapping[str, ModelUse], named: ModelCard) -> Iterator[Finding]:
    """Of which components the model is not, though they run one: their role is another's than the policy's, or they name another."""
    asked = [component for component in problem.components if _asks(problem, component, models)]
    if not asked:
        yield nowhere(named)
    for component in asked:
        name, use, role = component.name, models[component.name], role_of(component)
        if use.passed:
            why = f"it names `{use.path}`" if use.path else f"its role is {role}" if role else "nothing says that it runs the policy"
            advice = "" if use.card else "write its numbers in its `estimate`, such as `{heads: 32, kv_heads: 8, layers: 32}`"
            message = f"the model of `{named.name}` is not taken for `{name}`: {why}"
            span = use.span or component.span(ESTIMATE if component.estimate else DEGREES)
            yield Finding(CODE, Severity.INFO, name, message, span, help=advice)


def nowhere(named: ModelCard) -> Finding:
    """It is said where a model is named and no component asks for one."""
    message = f"the model of `{named.name}` is taken for no component: none has an estimate of its memory, nor degrees that divide a model"
    return Finding(CODE, Severity.INFO, "", message)


def _asks(problem: Problem, component: Component, models: Mapping[str, ModelUse]) -> bool:
    """Does anything follow from its model: an estimate, or whether its degrees divide it?"""
    use, its = models.get(component.name), problem.job.choices.get(component.name, (component.parallel,))
    if use is None:
        return False
    return component.estimate is not None or any(split.of(parallel) > 1 for parallel in its for split in use.splits)
