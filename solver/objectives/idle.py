"""Accelerators that a component would take and does not get."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ...models.assignment import Assignment
from ...models.component import UNBOUNDED, Component
from ...models.problem import Problem

if TYPE_CHECKING:
    from ..layout import Bundle, Layout
    from ..variables import Amount, Variables


class Idle:
    """For every component with a range of amounts: how far it stays below the upper end."""

    name: ClassVar[str] = "accelerators short of what was asked at most"

    def encode(self, problem: Problem, variables: Variables) -> Amount:
        short: list[Amount] = []
        for component in problem.hinted:
            bundle = variables.bundle(component)
            if bundle and least_and_most(problem, component.name):
                short.append(component.most - variables.accelerators(bundle))
        return variables.total(short)

    def value(self, problem: Problem, assignment: Assignment) -> int:
        return sum(
            component.most - sum(run.amount for run in assignment.of(component.name))
            for component in problem.hinted
            if least_and_most(problem, component.name) and any(run.each for run in assignment.of(component.name))
        )

    def bound(self, layout: Layout) -> int:
        """Each bundle as if it were alone, or all of one kind together, whichever says more."""
        alone = sum(self._alone(layout, bundle) for bundle in layout.bundles)
        together = sum(self._together(layout, kind) for kind in dict.fromkeys(bundle.kind for bundle in layout.searched))
        return max(alone, together)

    def _alone(self, layout: Layout, bundle: Bundle) -> int:
        room = bundle.unit * min(bundle.most, sum(layout.capacity(cell, bundle.kind, bundle.unit) for cell in layout.cells))
        held = sum(mask.bit_count() for mask in layout.fixed[bundle].values()) if bundle.fixed else room
        return sum(max(0, component.most - held) for component in _open(layout, bundle))

    def _together(self, layout: Layout, kind: str) -> int:
        """What all searched bundles of a kind would take at most, less what is free: every accelerator short is short for somebody."""
        free = sum(layout.capacity(cell, kind, 1) for cell in layout.cells)
        bundles = [bundle for bundle in layout.searched if bundle.kind == kind]
        stretchable = [bundle for bundle in bundles if _open(layout, bundle)]
        wanted = sum(min(component.most for component in bundle.components) for bundle in stretchable)
        needed = sum(bundle.unit * bundle.least for bundle in bundles if bundle not in stretchable)
        fewest = min((len(_open(layout, bundle)) for bundle in stretchable), default=0)
        return fewest * max(0, wanted + needed - free)

    def most(self, problem: Problem) -> int:
        return sum(component.most for component in problem.hinted if least_and_most(problem, component.name))


def least_and_most(problem: Problem, name: str) -> bool:
    """Was a range asked for, so that more is better?"""
    component = problem[name]
    return component.least < component.most < UNBOUNDED


def _open(layout: Layout, bundle: Bundle) -> list[Component]:
    """The members of a bundle that asked for a range."""
    return [component for component in bundle.components if component.runs is None and least_and_most(layout.problem, component.name)]
