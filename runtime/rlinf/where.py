"""Where the workers of a group go: a strategy, a plan or a component of a plan, as a plan of this group alone."""

from __future__ import annotations

from dataclasses import replace
from typing import Union

from ...models.findings.finding import UnusableInput
from ...models.placements.assignment import Assignment
from ...models.placements.plan import VERIFIED, Plan
from ...models.strategies import NodePlacementStrategy, PackedPlacementStrategy, PlacementStrategy
from ..failure import LaunchFailed, failed
from .cluster import Cluster

Where = Union[PlacementStrategy, Plan, "tuple[Plan, str]"]
"""A strategy, a plan with one component or with one of the group's name, or a plan and the name of a component of it."""


def plan_of(name: str, cluster: Cluster, where: Where | None, isolate: bool) -> Plan:
    """The plan of a group of this name alone; without `where`, a process on each accelerator, or one on the first node if there is none.

    Raises LaunchFailed: what a strategy says that does not fit (PW1xx), PW112, PW702 (a plan for other machines).
    """
    if isinstance(where, (Plan, tuple)):
        plan, component = where if isinstance(where, tuple) else (where, _component(where, name))
        cluster.must_fit(plan)
        return replace(plan, assignment=Assignment({name: plan.assignment.of(component)}))
    if where is None:
        count = cluster.num_accelerators
        where = PackedPlacementStrategy(0, count - 1) if count else NodePlacementStrategy([0])
    try:
        runs = tuple(where.runs(cluster.machines))
    except UnusableInput as problem:
        raise LaunchFailed(*problem.findings) from None
    return Plan(cluster.machines, Assignment({name: runs}), VERIFIED, isolate_accelerator=isolate and where.isolate_accelerator)


def _component(plan: Plan, name: str) -> str:
    """The component of a plan that a group of this name is. Raises LaunchFailed (PW112) if that is not clear."""
    if name in plan.components:
        return name
    if len(plan.components) == 1:
        return plan.components[0]
    known = ", ".join(f"`{each}`" for each in plan.components) or "none"
    message = f"the plan has no component `{name}`; it has {known}"
    raise failed("PW112", name, message, "pass `placement_strategy=(plan, 'actor')`", name)
