"""One question that is put to the counting rows: a problem, and the nodes of its cluster counted."""

from __future__ import annotations

from functools import cached_property
from typing import Mapping

from ....models.component import SUBSET
from ....models.part import explicit
from ....models.placements.assignment import Assignment
from ....models.problem import Problem
from ...layout.bundle import Bundle
from ...layout.layout import Layout
from ...layout.within.inside import company
from .census import Census, Members, bundles, in_the_open


class Question:
    """A problem with its census. The Layout is made only where a row needs the nodes one by one."""

    def __init__(self, problem: Problem, census: Census) -> None:
        self.problem, self.census = problem, census

    @cached_property
    def layout(self) -> Layout:
        """The bundles and cells of the problem."""
        return Layout(self.problem)

    @cached_property
    def nested(self) -> bool:
        """Does something lie within something else?"""
        return bool(self.problem.related(SUBSET))

    @cached_property
    def bundles(self) -> tuple[Bundle, ...]:
        """What is placed together."""
        return self.layout.bundles if self.nested else bundles(self.problem)

    @cached_property
    def open(self) -> list[Bundle]:
        """The searched bundles that compete for what is free in the cluster."""
        return in_the_open(self.problem, self.bundles)

    def masks(self, bundle: Bundle) -> Mapping[int, int]:
        """Node rank -> what a given bundle holds there."""
        member = bundle.fixed
        if member is None or member.runs is None:
            return {}
        masks = Assignment({member.name: member.runs}).masks(member.name)
        return {node: mask for (node, kind), mask in masks.items() if kind == bundle.kind and mask}

    def company(self, bundle: Bundle) -> Members:
        """The components that are wherever the bundle is."""
        return company(self.layout, bundle) if self.nested else bundle.components

    def may(self, bundle: Bundle) -> int:
        """Which kinds of nodes the bundle may use."""
        return self.census.may(self.company(bundle))

    @property
    def given(self) -> bool:
        """Do given components hold something?"""
        return any(component.runs for component in explicit(self.problem).components)
