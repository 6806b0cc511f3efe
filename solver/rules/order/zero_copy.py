"""Rule PW220: weights handed over in place are on the right accelerators."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Iterable, Iterator

from ....models.component import ZERO_COPY, Component, Relation
from ....models.findings.finding import Finding, error
from ....models.machines.node_group import NODE
from ....models.placements.assignment import Assignment
from ....models.problem import ConflictClause, Demand, Problem
from ...wording import demanded, demanding
from ..sharing.colocated import in_one_order
from .rank_lists import chunks

if TYPE_CHECKING:
    from ...model.variables import Variables

Ranks = dict[int, tuple[int, ...]]
"""Local index -> tensor parallel ranks on this accelerator of a node."""


class ZeroCopy:
    """On every accelerator, matching tensor parallel ranks of two components meet.
    Rank a of the first meets rank floor(a x tp of the second / tp of the first) of the second.

    So each rank of the second finds a part of its weights where the first has trained it, and the
    weights are handed over in place. If the tp of the second is larger, the converse holds: its
    rank r meets rank floor(r x tp of the first / tp of the second). Every rank has as many
    accelerators as any other of its component; therefore one tp must divide the other.

    Source: RLinf, rlinf/utils/placement.py, ModelParallelComponentPlacement (stride = tp of the
    actor // tp of the rollout).
    """

    code: ClassVar[str] = "PW220"

    def subjects(self, problem: Problem) -> Iterable[Relation]:
        return [r for r in problem.related(ZERO_COPY) if all(problem.kind(problem[name]) != NODE for name in r.components)]

    def encode(self, problem: Problem, relation: Relation, variables: Variables) -> None:
        """Require a common order of ranks; sizes, strides or given ranks may exclude it.

        The components are one bundle, and expansion interleaves the groups.
        """
        in_one_order(problem, relation, variables)

    def check(self, problem: Problem, relation: Relation, assignment: Assignment) -> Iterator[Finding]:
        first_name, second_name = relation.components
        source, target = (problem[name].parallel.tp for name in relation.components)
        parts = min(source, target)
        span = relation.span or problem[second_name].span("placement")
        masks = [{place: mask for place, mask in assignment.masks(name).items() if mask} for name in relation.components]
        if masks[0] != masks[1]:
            message = f"{first_name} hands its weights to {second_name} in place, but their accelerators differ"
            node = min(place[0] for place in masks[0].keys() | masks[1].keys() if masks[0].get(place) != masks[1].get(place))
            yield error(
                self.code,
                first_name,
                message,
                span,
                help="give both the same ranks",
                witnesses=(node,),
                amount=1,
                notes=demanding(relation),
            )
            return
        wrong, first = 0, tuple[int, ...]()
        for nodes, first_ranks, second_ranks in _side_by_side(
            _by_node(assignment, problem[first_name]), _by_node(assignment, problem[second_name])
        ):
            bad = [
                (index, rank, second_rank)
                for index, ranks in first_ranks.items()
                for rank in ranks
                for second_rank in second_ranks.get(index, ())
                if rank * parts // source != second_rank * parts // target
            ]
            if bad and not first:
                first = (nodes.start, *bad[0])
            wrong += len(bad) * len(nodes)
        if first:
            node, index, rank, second_rank = first
            message = f"accelerator {index} of node {node} has tp rank {rank} of {first_name} and tp rank {second_rank} of {second_name}"
            message += f" ({wrong} do not match)" if wrong > 1 else ""
            place = f"to find its weights in place {second_name} (tp {target}) must have rank {_fitting(rank, source, target)} there"
            yield error(
                self.code, second_name, message, span, label=f"not where {first_name} has its weights", witnesses=first, amount=wrong,
                help=_advice(problem[first_name], problem[second_name]), notes=(place, *demanding(relation)),
            )  # fmt: skip

    def explain(self, problem: Problem, relation: Relation) -> ConflictClause:
        first_name, second_name = relation.components
        source, target = (problem[name].parallel.tp for name in relation.components)
        text = f"{second_name} (tp {target}) finds its weights on the accelerators of {first_name} (tp {source})"
        divides = source % target == 0 or target % source == 0
        text += "" if divides else f", but neither of {source} and {target} divides the other"
        demands = [Demand(f"{first_name}+{second_name}", ZERO_COPY, relation.span)]
        demands += [Demand(name, "parallel", problem[name].span("parallel")) for name in relation.components if not divides]
        return ConflictClause(text + demanded(relation), tuple(demands))


def _fitting(rank: int, source: int, target: int) -> str:
    """Return the ranks of the second that match a rank of the first, as text."""
    parts = min(source, target)
    fit = [candidate for candidate in range(target) if candidate * parts // target == rank * parts // source]
    return f"{fit[0]}" if len(fit) == 1 else f"{fit[0]} to {fit[-1]}"


def _advice(source_component: Component, target_component: Component) -> str:
    """Return a fix as text: a tp, a stride, or an order of ranks."""
    source, target = source_component.parallel.tp, target_component.parallel.tp
    if source % target and target % source:
        return f"give {target_component.name} a tp that divides {source}"
    if source < target:
        return f"interleave the groups of {source_component.name} with `stride: {target // source}`"
    if source == target:
        return f"give {target_component.name} its ranks in the order of {source_component.name}"
    return f"interleave the groups of {target_component.name} with `stride: {source // target}`"


def _by_node(assignment: Assignment, component: Component) -> list[tuple[range, Ranks]]:
    """Return (nodes, tensor parallel ranks on each), every node once, ascending."""
    tp, pieces = component.parallel.tp, list[tuple[range, Ranks]]()
    for position, nodes, order in chunks(assignment, component.name):
        parts = [nodes] if len(order) % tp == 0 else [range(node, node + 1) for node in nodes]
        for offset, part in enumerate(parts):
            ranks: Ranks = {}
            for number, index in enumerate(order, position + offset * len(order)):
                ranks[index] = (*ranks.get(index, ()), number % tp)
            pieces.append((part, ranks))
    pieces.sort(key=lambda piece: piece[0].start)
    if all(before[0].stop <= after[0].start for before, after in zip(pieces, pieces[1:])):
        return pieces
    met: dict[int, Ranks] = {}  # ranks may come back to a node
    for nodes, ranks in pieces:
        for node in nodes:
            ranks_here = met.setdefault(node, {})
            ranks_here.update({index: (*ranks_here.get(index, ()), *new_ranks) for index, new_ranks in ranks.items()})
    return [(range(node, node + 1), ranks) for node, ranks in sorted(met.items())]


def _side_by_side(
    first_pieces: list[tuple[range, Ranks]], second_pieces: list[tuple[range, Ranks]]
) -> Iterator[tuple[range, Ranks, Ranks]]:
    """Yield common nodes with the ranks of both, equal nodes merged."""
    first_index, second_index = 0, 0
    while first_index < len(first_pieces) and second_index < len(second_pieces):
        (first_nodes, first_ranks), (second_nodes, second_ranks) = first_pieces[first_index], second_pieces[second_index]
        if common := range(max(first_nodes.start, second_nodes.start), min(first_nodes.stop, second_nodes.stop)):
            yield common, first_ranks, second_ranks
        first_index, second_index = (
            first_index + (first_nodes.stop <= second_nodes.stop),
            second_index + (second_nodes.stop <= first_nodes.stop),
        )
