"""Accelerators that a component would take and does not get."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ...models.assignment import Assignment
from ...models.component import UNBOUNDED
from ...models.problem import Problem

if TYPE_CHECKING:
    from ..layout import Layout
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
        least = 0
        for bundle in layout.bundles:
            for component in bundle.components:
                if component.runs is None and least_and_most(layout.problem, component.name):
                    room = bundle.unit * min(bundle.most, sum(layout.capacity(cell, bundle.kind, bundle.unit) for cell in layout.cells))
                    held = sum(mask.bit_count() for mask in layout.fixed[bundle].values()) if bundle.fixed else room
                    least += max(0, component.most - held)
        return least

    def most(self, problem: Problem) -> int:
        return sum(component.most for component in problem.hinted if component.most < UNBOUNDED)


def least_and_most(problem: Problem, name: str) -> bool:
    """Was a range asked for, so that more is better?"""
    component = problem[name]
    return component.least < component.most < UNBOUNDED
