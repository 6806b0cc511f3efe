"""RLinf's `component_placement`, and the plan of a group's workers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Mapping, Sequence, Union

from ....models.findings.finding import UnusableInput
from ....models.machines.cluster import Cluster as Machines
from ....models.placements.assignment import Assignment
from ....models.placements.plan import VERIFIED, Plan
from ....models.placements.run import Run
from ...failure import LaunchFailed, build_failure, build_refusal, quote_names
from .cluster import Cluster
from .machines import plain, read_section
from .strategies import NodePlacementStrategy, PackedPlacementStrategy, PlacementStrategy


class StatedPlacement(PlacementStrategy):
    """Strategy with the runs that a file prescribes for a component."""

    counts_nodes = True
    isolate_accelerator = True

    def __init__(self, runs: Sequence[Run]) -> None:
        self._given = tuple(runs)

    def runs(self, cluster: Machines) -> Sequence[Run]:
        """Return the prescribed runs; valid only for the cluster they were read for."""
        return self._given

    @property
    def reach(self) -> int:
        """Highest node rank in use."""
        return max(run.node for run in self._given)


class ComponentPlacement:
    """Components of ``config.cluster.component_placement`` and their placement on a cluster.

    `config` is a map or an OmegaConf container. Also under RLinf's name HybridComponentPlacement.
    Raises LaunchFailed with all errors. Source: RLinf, rlinf/scheduler/placement/placement.py.
    """

    def __init__(self, config: Mapping[str, Any], cluster: Cluster) -> None:
        self._runs = dict(read_section("config", plain(config["cluster"]), cluster.machines).build_given().runs)

    @property
    def components(self) -> list[str]:
        """Names of the components, in written order."""
        return list(self._runs)

    def get_strategy(self, component_name: str) -> PlacementStrategy:
        """Return the strategy of a component. Unknown component: ValueError (PW718)."""
        return StatedPlacement(self._find_runs(component_name))

    def get_world_size(self, component_name: str) -> int:
        """Return the number of workers. Unknown component: ValueError (PW718)."""
        return max(run.ranks.stop for run in self._find_runs(component_name))

    def _find_runs(self, name: str) -> Sequence[Run]:
        if name not in self._runs:
            names = quote_names(self._runs)
            raise build_refusal(
                "PW718", name, f"there is no component `{name}`; there are {names}", "add it to `cluster.component_placement`"
            )
        return self._runs[name]


HybridComponentPlacement = ComponentPlacement


PlacementSource = Union[PlacementStrategy, Plan, "tuple[Plan, str]"]
"""Strategy, plan, or plan and component name.

A plan alone has a single component, or a component of the group's name.
"""


def plan_of(name: str, cluster: Cluster, where: PlacementSource | None, isolate: bool) -> Plan:
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
    """Return the component that belongs to the group; LaunchFailed (PW112) if ambiguous."""
    if name in plan.components:
        return name
    if len(plan.components) == 1:
        return plan.components[0]
    names = quote_names(plan.components)
    message = f"the plan has no component `{name}`; it has {names}"
    raise build_failure("PW112", name, message, "pass `placement_strategy=(plan, 'actor')`", name)
