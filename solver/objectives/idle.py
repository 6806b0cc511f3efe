"""Accelerators that a component would take and does not get."""

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
    from ..layout.pools import Pool
    from ..model.amount import Amount
    from ..model.variables import Variables


class Idle:
    """For every component with a range of amounts: how far it stays below the upper end."""

    name: ClassVar[str] = "accelerators short of what was asked at most"

    def encode(self, problem: Problem, variables: Variables) -> Amount:
        asked = [(each.most, variables.bundle(each)) for each in self.stretchable(problem)]
        return variables.total(most - variables.accelerators(bundle) for most, bundle in asked if bundle)

    def stretchable(self, problem: Problem) -> list[Component]:
        """The components with a range of amounts: the term is the sum of their upper ends, less what they get."""
        return [each for each in problem.hinted if least_and_most(problem, each.name)]

    def value(self, problem: Problem, assignment: Assignment) -> int:
        return sum(
            component.most - sum(run.amount for run in assignment.of(component.name))
            for component in problem.hinted
            if least_and_most(problem, component.name) and any(run.each for run in assignment.of(component.name))
        )

    def bound(self, layout: Layout) -> int:
        """Each bundle as if it were alone, or all of one pool together, whichever says more."""
        alone = sum(self._alone(layout, bundle) for bundle in layout.bundles)
        return max(alone, sum(self._together(layout, pool) for pool in layout.pools))

    def _alone(self, layout: Layout, bundle: Bundle) -> int:
        asked = _open(layout, bundle)
        if not asked:
            return 0
        if bundle.fixed:
            held = sum(mask.bit_count() for mask in layout.fixed[bundle].values())
        else:
            room = sum(layout.pieces(bundle, cell, bundle.unit) for cell in layout.cells)
            fit = allowed(layout, bundle, room)
            held = bundle.unit * (fit[-1] if fit else bundle.most)
        return sum(max(0, component.most - held) for component in asked)

    def _together(self, layout: Layout, pool: Pool) -> int:
        """What all bundles of a pool would take at most, less what is free: every accelerator short is short for somebody."""
        free = sum(mask.bit_count() for mask in pool.free.values())
        free += sum(mask.bit_count() for bundle in pool.bundles for mask in layout.enclosed.get(bundle, {}).values())
        stretchable = [bundle for bundle in pool.bundles if _open(layout, bundle)]
        wanted = sum(min(component.most for component in bundle.components) for bundle in stretchable)
        needed = sum(bundle.unit * bundle.least for bundle in pool.bundles if bundle not in stretchable)
        fewest = min((len(_open(layout, bundle)) for bundle in stretchable), default=0)
        return fewest * max(0, wanted + needed - free)

    def most(self, problem: Problem) -> int:
        return sum(component.most for component in problem.hinted if least_and_most(problem, component.name))


class FewProcesses:
    """Processes without accelerators that a component would have and does not get."""

    name: ClassVar[str] = "processes short of what was asked at most"

    def encode(self, problem: Problem, variables: Variables) -> Amount:
        return variables.total(each.most - variables.processes(each) for each in _on_nodes(problem))

    def value(self, problem: Problem, assignment: Assignment) -> int:
        return sum(each.most - assignment.world_size(each.name) for each in _on_nodes(problem))

    def bound(self, layout: Layout) -> int:
        return sum(each.most - _room(layout, each) for each in _on_nodes(layout.problem))

    def most(self, problem: Problem) -> int:
        return sum(each.most for each in _on_nodes(problem))


def _on_nodes(problem: Problem) -> list[Component]:
    """The components on nodes with a range of amounts."""
    return [each for each in problem.hinted if problem.kind(each) == NODE and each.least < each.most < UNBOUNDED]


def _room(layout: Layout, component: Component) -> int:
    """Processes that the component has at most."""
    dealt = layout.dealt.get(component.name)
    return dealt.processes if dealt else max((run.ranks.stop for run in layout.on_nodes[component.name]), default=0)


def least_and_most(problem: Problem, name: str) -> bool:
    """Was a range of accelerators asked for, so that more is better?"""
    component = problem[name]
    return component.least < component.most < UNBOUNDED and problem.kind(component) != NODE


def _open(layout: Layout, bundle: Bundle) -> list[Component]:
    """The members of a bundle that asked for a range."""
    return [component for component in bundle.components if component.runs is None and least_and_most(layout.problem, component.name)]
