"""Restriction of a problem to some components."""

from __future__ import annotations

from dataclasses import replace
from typing import AbstractSet as Set

from .problem import Problem
from .sharing import implied_relations


def restricted(problem: Problem, names: Set[str]) -> Problem:
    """Return the problem restricted to `names`; relations implied by the rest are kept."""
    components = tuple(component for component in problem.components if component.name in names)
    if len(components) == len(problem.components):
        return problem
    choices = {name: degrees for name, degrees in problem.job.choices.items() if name in names}
    relations = tuple(relation for relation in problem.job.relations if names >= set(relation.components))
    part = replace(problem, job=replace(problem.job, components=components, choices=choices, relations=relations))
    followed = tuple(implied_relations(problem, part))
    return replace(part, job=replace(part.job, relations=(*relations, *followed))) if followed else part


def given_part(problem: Problem) -> Problem:
    """Return the problem restricted to components with given ranks."""
    return restricted(problem, {component.name for component in problem.components if component.runs is not None})
