"""Rules PW219 and PW220: components have their accelerators in a common order of ranks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Iterable, Iterator

from ....models.component import RANK_ALIGNED, ZERO_COPY, Component, Relation
from ....models.findings.finding import Finding, error
from ....models.machines.node_group import NODE
from ....models.placements.assignment import Assignment, Seat, seats
from ....models.problem import ConflictClause, Demand, Problem
from ...rule import RelationRule
from ...wording import demanding
from ..sharing.relations import require_one_order

if TYPE_CHECKING:
    from ...model.variables import Variables


def list_by_rank(assignment: Assignment, component: str) -> list[Seat]:
    """Return the accelerators of a component in the order of its ranks."""
    return [seat for _, process_seats in seats(assignment.of(component)) for seat, _, _ in process_seats]


class RankAligned(RelationRule):
    """Rank aligned components use the same accelerators in the same order of ranks.

    Their processes may have different sizes: the accelerators of all processes, one after the
    other, are the same list. So a rank of one component finds on its accelerator what the same rank
    of the other left there.
    """

    code, kind = "PW219", RANK_ALIGNED

    def subjects(self, problem: Problem) -> Iterable[Relation]:
        return [r for r in problem.find_relations(RANK_ALIGNED) if all(problem.kind(problem[name]) != NODE for name in r.components)]

    def encode(self, problem: Problem, relation: Relation, variables: Variables) -> None:
        """Require a common order of ranks; strides or given ranks may exclude it.

        The components are one bundle, and expansion gives them one order.
        """
        require_one_order(problem, relation, variables)

    def check(self, problem: Problem, relation: Relation, assignment: Assignment) -> Iterator[Finding]:
        first_name, second_name = relation.components
        orders = [list_by_rank(assignment, name) for name in relation.components]
        if orders[0] == orders[1]:
            return
        position = next((number for number, pair in enumerate(zip(*orders)) if pair[0] != pair[1]), min(map(len, orders)))
        texts = [f"{name} has {_place(order[position : position + 1])} there" for name, order in zip(relation.components, orders)]
        message = f"{first_name} and {second_name} must have the same rank order, but differ from accelerator number {position} on"
        label, advice = f"not in the order of {second_name}", "give both the same ranks in the same order"
        yield self.fault(problem, relation, message, advice, (position,), 1, label, notes=(" and ".join(texts),))

    def explain(self, problem: Problem, relation: Relation) -> ConflictClause:
        first_name, second_name = relation.components
        strides = [f"{name} has stride {problem[name].stride}" for name in relation.components if problem[name].stride > 1]
        text = f"{first_name} has its ranks on the accelerators of {second_name} in the same order"
        return self.clause(relation, text + (f" ({', '.join(strides)})" if strides else ""))


def _place(seat: list[Seat]) -> str:
    return f"accelerator {seat[0][1]} of node {seat[0][0]}" if seat else "none"


class ZeroCopy(RelationRule):
    """On every accelerator, matching tensor parallel ranks of two components meet.
    Rank a of the first meets rank floor(a x tp of the second / tp of the first) of the second.

    So each rank of the second finds a part of its weights where the first has trained it, and the
    weights are handed over in place. If the tp of the second is larger, the converse holds: its
    rank r meets rank floor(r x tp of the first / tp of the second). Every rank has as many
    accelerators as any other of its component; therefore one tp must divide the other.

    Source: RLinf, rlinf/utils/placement.py, ModelParallelComponentPlacement (stride = tp of the
    actor // tp of the rollout).
    """

    code, kind = "PW220", ZERO_COPY

    def subjects(self, problem: Problem) -> Iterable[Relation]:
        return [r for r in problem.find_relations(ZERO_COPY) if all(problem.kind(problem[name]) != NODE for name in r.components)]

    def encode(self, problem: Problem, relation: Relation, variables: Variables) -> None:
        """Require a common order of ranks; sizes, strides or given ranks may exclude it.

        The components are one bundle, and expansion interleaves the groups.
        """
        require_one_order(problem, relation, variables)

    def check(self, problem: Problem, relation: Relation, assignment: Assignment) -> Iterator[Finding]:
        first_name, second_name = relation.components
        source, target = (problem[name].parallel.tp for name in relation.components)
        count = min(source, target)
        span = relation.span or problem[second_name].span("placement")
        masks = [{place: mask for place, mask in assignment.masks(name).items() if mask} for name in relation.components]
        if masks[0] != masks[1]:
            message = f"{first_name} hands its weights to {second_name} in place, but their accelerators differ"
            node = min(place[0] for place in masks[0].keys() | masks[1].keys() if masks[0].get(place) != masks[1].get(place))
            advice = "give both the same ranks"
            yield error(self.code, first_name, message, span, help=advice, witnesses=(node,), amount=1, notes=demanding(relation))
            return
        ranks = [_tp_ranks(assignment, problem[name]) for name in relation.components]
        wrong = [
            (*seat, rank, second_rank)
            for seat, first_ranks in sorted(ranks[0].items(), key=lambda entry: entry[0][0])
            for rank in first_ranks
            for second_rank in ranks[1].get(seat, ())
            if rank * count // source != second_rank * count // target
        ]
        if wrong:
            node, index, rank, second_rank = wrong[0]
            message = f"accelerator {index} of node {node} has tp rank {rank} of {first_name} and tp rank {second_rank} of {second_name}"
            message += f" ({len(wrong)} do not match)" if len(wrong) > 1 else ""
            place = f"to find its weights in place {second_name} (tp {target}) must have rank {_fitting(rank, source, target)} there"
            label, advice = f"not where {first_name} has its weights", _advice(problem[first_name], problem[second_name])
            yield self.fault(problem, relation, message, advice, wrong[0], len(wrong), label, second_name, (place,))

    def explain(self, problem: Problem, relation: Relation) -> ConflictClause:
        first_name, second_name = relation.components
        source, target = (problem[name].parallel.tp for name in relation.components)
        text = f"{second_name} (tp {target}) finds its weights on the accelerators of {first_name} (tp {source})"
        divides = source % target == 0 or target % source == 0
        text += "" if divides else f", but neither of {source} and {target} divides the other"
        clause = self.clause(relation, text)
        degrees = [Demand(name, "parallel", problem[name].span("parallel")) for name in relation.components if not divides]
        return ConflictClause(clause.text, (*clause.demands, *degrees))


def _fitting(rank: int, source: int, target: int) -> str:
    """Return the ranks of the second that match a rank of the first, as text."""
    count = min(source, target)
    fit = [candidate for candidate in range(target) if candidate * count // target == rank * count // source]
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


def _tp_ranks(assignment: Assignment, component: Component) -> dict[Seat, list[int]]:
    """Return accelerator -> tensor parallel ranks of a component there."""
    ranks: dict[Seat, list[int]] = {}
    for number, seat in enumerate(list_by_rank(assignment, component.name)):
        ranks.setdefault(seat, []).append(number % component.parallel.tp)
    return ranks
