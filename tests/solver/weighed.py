"""The model of a problem with all tiers in one sum: for small problems, as it overflows with many tiers and large amounts."""

from __future__ import annotations

from placewright.models.problem import Problem
from placewright.solver import compile as compile_module
from placewright.solver.layout.layout import Layout
from placewright.solver.model.variables import Variables
from placewright.solver.objectives.tiers import tiers


def weighed(problem: Problem, layout: Layout | None = None) -> Variables:
    """The model, its objective as one sum, and the cuts that tighten its bound."""
    variables = compile_module.compile(problem, layout)
    amounts = [tier.scale * compile_module.encode_tier(variables, tier) for tier in tiers(problem)]
    variables.minimise(variables.total(amounts))
    for cut in compile_module.CUTS:
        cut(variables)
    return variables
