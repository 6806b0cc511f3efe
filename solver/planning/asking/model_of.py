"""Which model of accelerators a component is on wherever it is, and its times with it, where it may lie on several kinds at once."""

from __future__ import annotations

from ....models.component import Component
from ....models.problem import Problem
from .slowest import untimed_on


def model_of(problem: Problem, component: Component) -> str | None:
    """The one model that a component is on; "" where it is on several, or may be; None where its time depends on which these are.

    Times that name models say how long it takes on several at once where these are known: see solver/planning/asking/slowest.py.
    """
    if component.runs is not None:
        nodes = problem.cluster.nodes
        given = {nodes[node].accelerator_model for node, _ in problem.given().masks(component.name)}
        return given.pop() if len(given) == 1 else None if untimed_on(problem, component) else ""
    its = models_there(problem, component)
    if len(its) == 1:
        return its[0]
    names = component.timed is not None and any(each.model for each in component.timed.measured)
    return None if names else ""


def models_there(problem: Problem, component: Component) -> tuple[str, ...]:
    """The models that a component whose place is open may be on, and has a time for, in the order of the nodes."""
    if component.accelerator_model:
        return (component.accelerator_model,)
    ranks, nodes = frozenset(problem.cluster.members(component.node_groups)) - frozenset(component.excluded), problem.cluster.nodes
    its = dict.fromkeys(nodes[rank].accelerator_model for rank in sorted(ranks) if nodes[rank].accelerators)
    timed = {each.model for each in component.timed.measured} if component.timed else {""}
    return tuple(model for model in its if "" in timed or model in timed)
