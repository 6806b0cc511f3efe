"""Which model of accelerators a component is on wherever it is, and its times with it, where it may lie on several kinds at once."""

from __future__ import annotations

from ....models.component import Component
from ....models.problem import Problem
from .slowest import untimed_on


def model_of(problem: Problem, component: Component) -> str | None:
    """The one model that a component is on; "" where it is on several, or may be; None where no time says how long on several.

    A time that names a model says nothing of several at once, but for given ranks: see solver/planning/asking/slowest.py.
    """
    nodes = problem.cluster.nodes
    if component.runs is not None:
        its = {nodes[node].accelerator_model for node, _ in problem.given().masks(component.name)}
    elif component.accelerator_model:
        its = {component.accelerator_model}
    else:
        ranks = frozenset(problem.cluster.members(component.node_groups)) - frozenset(component.excluded)
        its = {nodes[rank].accelerator_model for rank in ranks if nodes[rank].accelerators}
        timed = {each.model for each in component.timed.measured} if component.timed else {""}
        its = its if "" in timed else its & timed
    if len(its) == 1:
        return its.pop()
    if component.runs is not None:
        return None if untimed_on(problem, component) else ""
    names = component.timed is not None and any(each.model for each in component.timed.measured)
    return None if names else ""
