"""Conversion of a group's placement argument to a plan of the group alone."""

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
"""Strategy, plan, or plan and component name.

A plan alone has a single component, or a component of the group's name.
"""


def plan_of(name: str, cluster: Cluster, where: Where | None, isolate: bool) -> Plan:
    """Return the plan of the group alone; by default a process per accelerator.

    Without `where` and without accelerators: one process on the first node. Raises LaunchFailed:
    the findings of a strategy that does not fit (PW1xx), PW112, PW702 (a plan for different
    machines).
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
    """Return the component of the plan that belongs to the group.

    Raises LaunchFailed (PW112) if that is ambiguous.
    """
    if name in plan.components:
        return name
    if len(plan.components) == 1:
        return plan.components[0]
    known = ", ".join(f"`{component}`" for component in plan.components) or "none"
    message = f"the plan has no component `{name}`; it has {known}"
    raise failed("PW112", name, message, "pass `placement_strategy=(plan, 'actor')`", name)
