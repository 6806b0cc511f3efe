"""An accelerator is held once."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, ClassVar, Iterable, Iterator

from ...models.assignment import Assignment
from ...models.component import Component
from ...models.demand import Clause
from ...models.finding import Finding, error
from ...models.node_group import ACCELERATOR
from ...models.problem import Problem
from ..wording import lowest

if TYPE_CHECKING:
    from ..variables import Variables

Holder = tuple[str, int]


class NoOverlap:
    """A resource is held by one colocated set at most, never by one that another job holds, and it exists.

    Components whose ranks are given may share where the dialect says colocation that way.
    """

    code: ClassVar[str] = "PW201"
    packs: ClassVar[bool] = True

    def subjects(self, problem: Problem) -> Iterable[str]:
        return ("accelerators",)

    def encode(self, problem: Problem, subject: str, variables: Variables) -> None:
        layout = variables.layout
        for bundle in layout.ranged:
            numbering = layout.numbering(bundle)
            variables.start_among(
                bundle,
                [
                    (start, units)
                    for start, units in variables.starts(bundle)
                    if not any(
                        ((1 << count) - 1) << first & ~layout.free[stretch.node_rank, bundle.kind]
                        for stretch, first, count in numbering.pieces(start, start + units * bundle.unit)
                    )
                ],
            )
        for one, other in combinations(layout.ranged, 2):
            if one.kind == other.kind:
                variables.apart(one, other)
        for kind in dict.fromkeys(bundle.kind for bundle in layout.counted):
            counted = [bundle for bundle in layout.counted if bundle.kind == kind]
            for cell in variables.cells:
                # On a single node the plain sum is exact whatever the sizes are; on several, one row per size is.
                for size in [1] if len(cell.nodes) == 1 else sorted({bundle.unit for bundle in counted}):
                    load = variables.total(b.unit // size * variables.units(b, cell) for b in counted if b.unit >= size)
                    variables.require(load <= variables.slots(cell, kind, size))

    def check(self, problem: Problem, subject: str, assignment: Assignment) -> Iterator[Finding]:
        held: dict[tuple[int, str], list[Holder]] = {}
        for node in problem.cluster.nodes:
            if node.taken:
                held[node.rank, ACCELERATOR] = [("another job", node.taken)]
        for members in _holders(problem):
            together: dict[tuple[int, str], int] = {}
            for component in members:
                yield from self._within(problem, component, assignment)
                for place, mask in assignment.masks(component.name).items():
                    together[place] = together.get(place, 0) | mask
            for place, mask in together.items():
                held.setdefault(place, []).append(("+".join(component.name for component in members), mask))
        for (rank, _), holders in sorted(held.items()):
            seen: list[Holder] = []
            for name, mask in holders:
                for other, theirs in seen:
                    if both := mask & theirs:
                        message = f"{name} and {other} both hold accelerator {lowest(both)} of node {rank} ({both.bit_count()} in all)"
                        component = problem[name.split("+")[0]]
                        yield error(
                            self.code, component.name, message, component.span("placement"), label=f"also held by {other}",
                            help="give them different ranks, or say that they are colocated", witnesses=(rank, lowest(both)), amount=both.bit_count(),
                        )  # fmt: skip
                seen.append((name, mask))

    def _within(self, problem: Problem, component: Component, assignment: Assignment) -> Iterator[Finding]:
        """Resources that do not exist, and groups of one component on top of each other (given ranks may share)."""
        before: dict[tuple[int, str], int] = {}
        for run in assignment.of(component.name):
            node, mask, place = problem.cluster.nodes[run.node], run.mask, (run.node, run.kind)
            if run.within[0] < 0 or mask & ~node.whole(run.kind):
                message = f"{component.name} uses accelerator {run.within[1]} of node {run.node}, which has {node.count(run.kind)}"
                yield error(self.code, component.name, message, component.span("placement"), witnesses=(run.node, run.within[1]), amount=1)
            shared = mask & before.get(place, 0)
            if component.runs is None and (shared or mask.bit_count() < run.amount):
                message = f"two processes of {component.name} hold the same accelerator of node {run.node}"
                yield error(self.code, component.name, message, component.span("placement"), witnesses=(run.node,), amount=1)
            before[place] = before.get(place, 0) | mask

    def explain(self, problem: Problem, subject: str) -> Clause:
        free = sum(node.free(ACCELERATOR).bit_count() for node in problem.cluster.nodes)
        return Clause(f"the cluster has {free} free accelerators")


def _holders(problem: Problem) -> Iterator[tuple[Component, ...]]:
    """The sets of components that may hold the same resource."""
    shares = problem.job.capabilities.shares_accelerators
    given: list[Component] = []
    for members in problem.colocated_sets:
        if shares and any(component.runs is not None for component in members):
            given += members
        else:
            yield members
    if given:
        yield tuple(given)
