"""A problem becomes a CP-SAT model: the variables, every rule, the objective."""

from __future__ import annotations

from typing import Any, Iterable

from ...models.problem import Problem
from ..cuts import CUTS
from ..cuts.cut import Cut
from ..objectives import OBJECTIVES, weights
from ..rule import Rule
from ..rules import RULES
from .variables import Variables


def compile(problem: Problem, rules: Iterable[Rule[Any]] = RULES, minimise: bool = True, cuts: Iterable[Cut] = CUTS) -> Variables:
    """The model of a problem under some rules; `minimise` adds the objective, and with it the cuts that tighten its bound."""
    variables = Variables(problem)
    for rule in rules:
        for subject in rule.subjects(problem):
            rule.encode(problem, subject, variables)
    if minimise:
        pairs = zip(OBJECTIVES, weights(problem))
        for cut in cuts:
            cut.encode(problem, variables)
        variables.minimise(variables.total(weight * objective.encode(problem, variables) for objective, weight in pairs))
    return variables
