"""What is to be placed and what is given: the bundles of a problem, what the given ones hold, and what that leaves free."""

from __future__ import annotations

from functools import cached_property
from typing import Sequence

from ...models.component import Component
from ...models.machines.node_group import NODE, Numbering
from ...models.placements.assignment import Assignment
from ...models.placements.run import Run
from ...models.problem import Problem
from ...models.sharing import around
from . import grain
from .bundle import Bundle
from .on_nodes.dealt import Dealt
from .on_nodes.spread import spread_over_nodes


class Parts:
    """The bundles of a problem, what the given ones hold, and what is free beside them."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        placed = [members for members in problem.colocated_sets if problem.kind(members[0]) != NODE]
        self.bundles = tuple(self._bundle(members) for members in placed)
        self.bundle_of = {component.name: bundle for bundle in self.bundles for component in bundle.components}
        self.on_nodes = self._on_nodes()
        self.fixed = {bundle: self._masks(bundle) for bundle in self.bundles if bundle.fixed}
        self.free = self._free()
        self.hosts = self._hosts()
        self.dealt: dict[str, Dealt] = {}

    def _bundle(self, members: tuple[Component, ...]) -> Bundle:
        problem = self.problem
        return Bundle(
            members, problem.kind(members[0]), grain.unit(problem, members), grain.piece(problem, members), grain.wholes(problem, members),
            problem.solid_in(members), grain.is_single(members),
        )  # fmt: skip

    @cached_property
    def searched(self) -> tuple[Bundle, ...]:
        """The bundles whose place is to be found."""
        return tuple(bundle for bundle in self.bundles if not bundle.fixed)

    @cached_property
    def counted(self) -> tuple[Bundle, ...]:
        """Those that are counted into cells."""
        return tuple(bundle for bundle in self.searched if not bundle.contiguous)

    @cached_property
    def ranged(self) -> tuple[Bundle, ...]:
        """Those that have a start instead."""
        return tuple(bundle for bundle in self.searched if bundle.contiguous)

    def numbering(self, bundle: Bundle) -> Numbering:
        """The numbering in which a contiguous bundle is one range."""
        return self.problem.cluster.numbering(bundle.solid_in or bundle.components[0].node_groups)

    def _on_nodes(self) -> dict[str, Sequence[Run]]:
        """The components that nodes are the resource of: they are spread evenly, and only where that matters is there something to search."""
        members = [c for c in self.problem.components if self.problem.kind(c) == NODE]
        return {c.name: c.runs if c.runs is not None else self._spread(c) for c in members}

    def _spread(self, component: Component) -> Sequence[Run]:
        shares = [share for share in self.problem.shares if share.component == component.name]
        return spread_over_nodes(self.problem.cluster, component, shares)

    def _masks(self, bundle: Bundle) -> dict[int, int]:
        member = bundle.fixed
        if member is None or member.runs is None:
            return {}
        masks = Assignment({member.name: member.runs}).masks(member.name)
        return {node: mask for (node, kind), mask in masks.items() if kind == bundle.kind and mask}

    def _free(self) -> dict[tuple[int, str], int]:
        kinds = dict.fromkeys(bundle.kind for bundle in self.bundles)
        free = {(node.rank, kind): node.free(kind) for node in self.problem.cluster.nodes for kind in kinds}
        given = self.problem.given()
        for component in self.problem.components:
            if component.runs is not None:
                for (node, kind), mask in given.masks(component.name).items():
                    if (node, kind) in free:
                        free[node, kind] &= ~mask
        return free

    def _hosts(self) -> dict[Bundle, tuple[Bundle, ...]]:
        """Bundle -> those that it lies within, directly or not."""
        outer = around(self.problem, self.problem.colocated_sets)
        found = {}
        for bundle in self.bundles:
            names = [members[0].name for members in outer[bundle.components[0].name]]
            found[bundle] = tuple(self.bundle_of[name] for name in names if name in self.bundle_of)
        return found
