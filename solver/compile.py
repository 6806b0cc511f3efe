"""Compilation of a problem into a CP-SAT model: variables and rules, then a tier of the objective."""

from __future__ import annotations

from typing import Any, Iterable

from ..models.problem import Problem
from .cuts import CUTS
from .layout.layout import Layout
from .model.amount import Amount
from .model.variables import Variables
from .objectives.tiers import Tier
from .objectives.traffic import DomainTerm
from .rule import Rule
from .rules import RULES


def compile(problem: Problem, layout: Layout | None = None, rules: Iterable[Rule[Any]] = RULES) -> Variables:
    """Build the CP-SAT model of a problem under some rules, without an objective: see `aim`."""
    variables = Variables(problem, layout)
    for rule in rules:
        for subject in rule.subjects(problem):
            rule.encode(problem, subject, variables)
    return variables


def aim(variables: Variables, tier: Tier) -> Amount:
    """Make a tier the objective of the model, and return the amount."""
    amount = encode_tier(variables, tier)
    for level in dict.fromkeys(term.level for term, _ in tier.members if isinstance(term, DomainTerm)):
        for cut in CUTS:
            variables.once((cut, level), lambda cut=cut, level=level: cut(variables, (level,)) or 0)  # type: ignore[misc]
    variables.minimise(amount)
    return amount


def encode_tier(variables: Variables, tier: Tier) -> Amount:
    """Return the cost of a tier as an amount; post the rows that tighten it."""
    amount = variables.total(cost * term.encode(variables.problem, variables) for term, cost in tier.members)
    for term, _ in tier.members:
        if isinstance(term, DomainTerm):
            term.rows(variables.problem, variables)
    return amount
