"""Objective terms: accelerators and processes below the upper end of a range."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ...models.component import UNBOUNDED, Component
from ...models.machines.node_group import NODE
from ...models.placements.assignment import Assignment
from ...models.problem import Problem
from ..layout.layout import allowed

if TYPE_CHECKING:
    from ..layout.bundle import Bundle
    from ..layout.layout import Layout
    from ..layout.pools import NodePool
    from ..model.amount import Amount
    from ..model.variables import Variables


class MissingAccelerators:
    """Accelerators below the upper end, per component with a range of amounts."""

    name: ClassVar[str] = "accelerators short of what was asked at most"

    def encode(self, problem: Problem, variables: Variables) -> Amount:
        wanted = [(component.most, variables.bundle(component)) for component in self.stretchable(problem)]
        return variables.total(most - variables.accelerators(bundle) for most, bundle in wanted if bundle)

    def stretchable(self, problem: Problem) -> list[Component]:
        """Return the components with a range of amounts.

        The term is the sum of their upper ends, less the accelerators that they get.
        """
        return [component for component in problem.hinted if least_and_most(problem, component.name)]

    def value(self, problem: Problem, assignment: Assignment) -> int:
        return sum(
            component.most - sum(run.amount for run in assignment.of(component.name))
            for component in problem.hinted
            if least_and_most(problem, component.name) and any(run.each for run in assignment.of(component.name))
        )

    def bound(self, layout: Layout) -> int:
        """Return the larger bound: bundles alone, or all bundles of a pool together."""
        alone = sum(self._alone(layout, bundle) for bundle in layout.bundles)
        return max(alone, sum(self._together(layout, pool) for pool in layout.pools))

    def _alone(self, layout: Layout, bundle: Bundle) -> int:
        members = _open(layout, bundle)
        if not members:
            return 0
        if bundle.fixed:
            amount = sum(mask.bit_count() for mask in layout.fixed[bundle].values())
        else:
            room = sum(layout.pieces(bundle, cell, bundle.unit) for cell in layout.cells)
            fit = allowed(layout, bundle, room)
            amount = bundle.unit * (fit[-1] if fit else bundle.most)
        return sum(max(0, component.most - amount) for component in members)

    def _together(self, layout: Layout, pool: NodePool) -> int:
        """Return the joint shortfall of a pool's bundles.

        Demand at the upper ends, less the free resources. A missing accelerator counts for every
        member with a range, at least `fewest`.
        """
        free = sum(mask.bit_count() for mask in pool.free.values())
        free += sum(mask.bit_count() for bundle in pool.bundles for mask in layout.enclosed.get(bundle, {}).values())
        stretchable = [bundle for bundle in pool.bundles if _open(layout, bundle)]
        wanted = sum(min(component.most for component in bundle.components) for bundle in stretchable)
        needed = sum(bundle.unit * bundle.least for bundle in pool.bundles if bundle not in stretchable)
        fewest = min((len(_open(layout, bundle)) for bundle in stretchable), default=0)
        return fewest * max(0, wanted + needed - free)

    def most(self, problem: Problem) -> int:
        return sum(component.most for component in problem.hinted if least_and_most(problem, component.name))


class MissingProcesses:
    """Processes below the upper end, per component on nodes with a range."""

    name: ClassVar[str] = "processes short of what was asked at most"

    def encode(self, problem: Problem, variables: Variables) -> Amount:
        return variables.total(component.most - variables.processes(component) for component in _on_nodes(problem))

    def value(self, problem: Problem, assignment: Assignment) -> int:
        return sum(component.most - assignment.world_size(component.name) for component in _on_nodes(problem))

    def bound(self, layout: Layout) -> int:
        return sum(component.most - _room(layout, component) for component in _on_nodes(layout.problem))

    def most(self, problem: Problem) -> int:
        return sum(component.most for component in _on_nodes(problem))


def _on_nodes(problem: Problem) -> list[Component]:
    """Return the components on nodes with a range of amounts."""
    return [component for component in problem.hinted if problem.kind(component) == NODE and component.least < component.most < UNBOUNDED]


def _room(layout: Layout, component: Component) -> int:
    """Return the most processes of the component."""
    dealt = layout.dealt.get(component.name)
    return dealt.processes if dealt else max((run.ranks.stop for run in layout.on_nodes[component.name]), default=0)


def least_and_most(problem: Problem, name: str) -> bool:
    """Return True if the component has a bounded range of accelerators."""
    component = problem[name]
    return component.least < component.most < UNBOUNDED and problem.kind(component) != NODE


def _open(layout: Layout, bundle: Bundle) -> list[Component]:
    """Return the members of a bundle with a range of amounts."""
    return [component for component in bundle.components if component.runs is None and least_and_most(layout.problem, component.name)]
