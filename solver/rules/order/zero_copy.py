"""Weights that never leave their accelerator: who needs a part of them is where that part is."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Iterable, Iterator

from ....models.component import ZERO_COPY, Component, Relation
from ....models.demand import Clause, Demand
from ....models.findings.finding import Finding, error
from ....models.machines.node_group import NODE
from ....models.placements.assignment import Assignment
from ....models.problem import Problem
from ...wording import demanded
from ..sharing.colocated import in_one_order
from .rank_lists import chunks

if TYPE_CHECKING:
    from ...model.variables import Variables

Ranks = dict[int, tuple[int, ...]]
"""Local index -> the tensor parallel ranks that are on this accelerator of a node."""


class ZeroCopy:
    """On every accelerator of the two components, tensor parallel rank a of the first meets rank floor(a x tp of the second / tp of the first) of the second.

    So each rank of the second finds a part of its weights where the first has trained it, and they are handed over in place. Where the
    tp of the second is the larger one, the same holds the other way round: its rank r meets rank floor(r x tp of the first / tp of the second).
    Every rank has as many accelerators as any other of its component; therefore one tp must divide the other.
    Source: RLinf, rlinf/utils/placement.py, ModelParallelComponentPlacement (stride = tp of the actor // tp of the rollout).
    """

    code: ClassVar[str] = "PW220"
    packs: ClassVar[bool] = True

    def subjects(self, problem: Problem) -> Iterable[Relation]:
        return [r for r in problem.related(ZERO_COPY) if all(problem.kind(problem[name]) != NODE for name in r.components)]

    def encode(self, problem: Problem, relation: Relation, variables: Variables) -> None:
        """They are one bundle, and expansion interleaves the groups; sizes, strides or given ranks may leave no way to."""
        in_one_order(problem, relation, variables)

    def check(self, problem: Problem, relation: Relation, assignment: Assignment) -> Iterator[Finding]:
        one, other = relation.components
        source, target = (problem[name].parallel.tp for name in relation.components)
        parts = min(source, target)
        span = relation.span or problem[other].span("placement")
        masks = [{place: mask for place, mask in assignment.masks(name).items() if mask} for name in relation.components]
        if masks[0] != masks[1]:
            message = f"{one} hands its weights to {other} in place, but they do not have the same accelerators{demanded(relation)}"
            node = min(place[0] for place in masks[0].keys() | masks[1].keys() if masks[0].get(place) != masks[1].get(place))
            yield error(self.code, one, message, span, help="give both the same ranks", witnesses=(node,), amount=1)
            return
        wrong, first = 0, tuple[int, ...]()
        for nodes, mine, theirs in _side_by_side(_by_node(assignment, problem[one]), _by_node(assignment, problem[other])):
            bad = [
                (index, rank, its)
                for index, ranks in mine.items()
                for rank in ranks
                for its in theirs.get(index, ())
                if rank * parts // source != its * parts // target
            ]
            if bad and not first:
                first = (nodes.start, *bad[0])
            wrong += len(bad) * len(nodes)
        if first:
            node, index, rank, its = first
            message = f"accelerator {index} of node {node} has tensor parallel rank {rank} of {one} (tp {source}) and rank {its} of {other} (tp {target})"
            message += f"; to find its weights there it must have rank {_fitting(rank, source, target)}" + (
                f" ({wrong} do not)" if wrong > 1 else ""
            )
            yield error(
                self.code, other, f"{message}{demanded(relation)}", span, label=f"not where {one} has its weights",
                help=_advice(problem[one], problem[other]), witnesses=first, amount=wrong,
            )  # fmt: skip

    def explain(self, problem: Problem, relation: Relation) -> Clause:
        one, other = relation.components
        source, target = (problem[name].parallel.tp for name in relation.components)
        text = f"{other} (tp {target}) finds its weights on the accelerators of {one} (tp {source})"
        divides = source % target == 0 or target % source == 0
        text += "" if divides else f", but neither of {source} and {target} divides the other"
        demands = [Demand(f"{one}+{other}", ZERO_COPY, relation.span)]
        demands += [Demand(name, "parallel", problem[name].span("parallel")) for name in relation.components if not divides]
        return Clause(text + demanded(relation), tuple(demands))


def _fitting(rank: int, source: int, target: int) -> str:
    """The ranks of the second that may be where this rank of the first is."""
    parts = min(source, target)
    fit = [its for its in range(target) if its * parts // target == rank * parts // source]
    return f"{fit[0]}" if len(fit) == 1 else f"{fit[0]} to {fit[-1]}"


def _advice(one: Component, other: Component) -> str:
    """A stride that does it, where one does."""
    source, target = one.parallel.tp, other.parallel.tp
    if source % target and target % source:
        return f"give {other.name} a tp that divides {source}"
    if source < target:
        return f"interleave the groups of {one.name} with `stride: {target // source}`"
    if source == target:
        return f"give {other.name} its ranks in the order of {one.name}"
    return f"interleave the groups of {other.name} with `stride: {source // target}`"


def _by_node(assignment: Assignment, component: Component) -> list[tuple[range, Ranks]]:
    """(nodes, the tensor parallel ranks on each), every node once, ascending."""
    tp, found = component.parallel.tp, list[tuple[range, Ranks]]()
    for position, nodes, order in chunks(assignment, component.name):
        each = [nodes] if len(order) % tp == 0 else [range(node, node + 1) for node in nodes]
        for offset, its in enumerate(each):
            ranks: Ranks = {}
            for number, index in enumerate(order, position + offset * len(order)):
                ranks[index] = (*ranks.get(index, ()), number % tp)
            found.append((its, ranks))
    found.sort(key=lambda piece: piece[0].start)
    if all(before[0].stop <= after[0].start for before, after in zip(found, found[1:])):
        return found
    met: dict[int, Ranks] = {}  # ranks that come back to a node
    for nodes, ranks in found:
        for node in nodes:
            there = met.setdefault(node, {})
            there.update({index: (*there.get(index, ()), *held) for index, held in ranks.items()})
    return [(range(node, node + 1), ranks) for node, ranks in sorted(met.items())]


def _side_by_side(mine: list[tuple[range, Ranks]], theirs: list[tuple[range, Ranks]]) -> Iterator[tuple[range, Ranks, Ranks]]:
    """The nodes that both are on, those together that have the same."""
    one, other = 0, 0
    while one < len(mine) and other < len(theirs):
        (nodes, ranks), (its, others) = mine[one], theirs[other]
        if common := range(max(nodes.start, its.start), min(nodes.stop, its.stop)):
            yield common, ranks, others
        one, other = one + (nodes.stop <= its.stop), other + (its.stop <= nodes.stop)
