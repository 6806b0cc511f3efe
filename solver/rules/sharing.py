"""Rules PW204, PW211, PW207, PW212, PW219 and PW220: components share accelerators, in one order, or do not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Iterable, Iterator, Mapping

from ...models.component import COLOCATED, COLOCATED_OR_DISJOINT, DISJOINT, RANK_ALIGNED, SUBSET, ZERO_COPY, Component, Relation
from ...models.findings.finding import Finding, error
from ...models.findings.wording import plural
from ...models.machines.node_group import NODE
from ...models.placements.assignment import Assignment, Seat, seats
from ...models.problem import ConflictClause, Demand, Problem
from ..rank_fixes import RankFix, contiguous_range, fix_with_ranges, move_off, move_onto
from ..rule import RelationRule
from ..wording import demanding, lowest, open_choice
from .amounts import amount_of

if TYPE_CHECKING:
    from ..model.variables import Variables


class Colocated(RelationRule):
    """Two colocated components use exactly the same accelerators."""

    code, kind = "PW204", COLOCATED

    def encode(self, problem: Problem, relation: Relation, variables: Variables) -> None:
        """Compare given parts; searched ones are a single bundle.

        Only given parts can differ, also through components between them.
        """
        require_given_alike(problem, relation, variables)

    def check(self, problem: Problem, relation: Relation, assignment: Assignment) -> Iterator[Finding]:
        first_name, second_name = relation.components
        first, second = assignment.masks(first_name), assignment.masks(second_name)
        if differ := {place: mask for place in {**first, **second} if (mask := first.get(place, 0) ^ second.get(place, 0))}:
            count, node, _ = _extent(differ)
            message = f"{first_name} and {second_name} are colocated but differ in {count} {plural('accelerator', count)}"
            message += f" (first on node {node})"
            help_text = "give both the same ranks" + ("" if relation.reason else f", or drop `colocate_with: {second_name}`")
            yield self.fault(problem, relation, message, help_text, (node,), count)

    def explain(self, problem: Problem, relation: Relation) -> ConflictClause:
        first_name, second_name = relation.components
        return self.clause(relation, open_choice(relation) or f"{first_name} uses the accelerators of {second_name}")

    def repairs(self, problem: Problem, relation: Relation) -> Iterator[RankFix]:
        """Yield the first component on the ranks of the second, then the reverse.

        Only if the framework demands the relation.
        """
        if not relation.reason:
            return
        first, second = (problem[name] for name in relation.components)
        for mover, target in ((first, second), (second, first)):
            yield from move_onto(problem, mover, target)


def _extent(masks: Mapping[tuple[int, str], int]) -> tuple[int, int, int]:
    """Return (number of resources, first node, lowest index there)."""
    (node, _), mask = min(masks.items())
    return sum(mask.bit_count() for mask in masks.values()), node, lowest(mask)


def _common(assignment: Assignment, first: str, second: str) -> dict[tuple[int, str], int]:
    """Return the resources held by both components: (node, kind) -> bit mask."""
    second_masks = assignment.masks(second)
    return {place: both for place, mask in assignment.masks(first).items() if (both := mask & second_masks.get(place, 0))}


def require_given_alike(problem: Problem, relation: Relation, variables: Variables) -> None:
    """Require the given ranks of the relation's components to be those of the bundle."""
    for component in (problem[name] for name in relation.components):
        bundle = variables.bundle(component)
        if bundle and component.runs is not None:
            masks = _union({(run.node, run.mask) for run in component.runs if run.mask})
            variables.require(masks == variables.layout.fixed[bundle])


def require_one_order(problem: Problem, relation: Relation, variables: Variables) -> None:
    """Require an order of ranks for the whole bundle of the relation's components.

    Without such an order nothing of the bundle is placed.
    """
    from ..layout.ranks import can_be_seated  # a slow import that no check needs

    require_given_alike(problem, relation, variables)
    bundle = variables.bundle(problem[relation.components[0]])
    if bundle and not can_be_seated(variables.layout, bundle):
        variables.require(variables.accelerators(bundle) == 0)


def _union(pairs: set[tuple[int, int]]) -> dict[int, int]:
    masks: dict[int, int] = {}
    for node, mask in pairs:
        masks[node] = masks.get(node, 0) | mask
    return masks


class ColocatedOrDisjoint(RelationRule):
    """Two components use exactly the same accelerators, or none in common.

    With the same accelerators they count as colocated (`Problem.decide`).

    Source: RLinf, rlinf/utils/placement.py, ModelParallelComponentPlacement (neither collocated nor
    disaggregated).
    """

    code, kind = "PW211", COLOCATED_OR_DISJOINT

    def encode(self, problem: Problem, relation: Relation, variables: Variables) -> None:
        """Compare given parts.

        Each decision of an open choice is a problem of its own (`Problem.alternatives`).
        """
        first_bundle, second_bundle = (variables.bundle(problem[name]) for name in relation.components)
        if first_bundle is None or second_bundle is None or first_bundle is second_bundle or first_bundle.kind != second_bundle.kind:
            return
        if not (first_bundle.fixed and second_bundle.fixed):
            raise ValueError(f"whether {first_bundle.name} and {second_bundle.name} share is not decided")
        first, second = variables.layout.fixed[first_bundle], variables.layout.fixed[second_bundle]
        is_disjoint = not any(mask & second.get(node, 0) for node, mask in first.items())
        variables.require(is_disjoint or first == second)

    def check(self, problem: Problem, relation: Relation, assignment: Assignment) -> Iterator[Finding]:
        first_name, second_name = relation.components
        common = _common(assignment, first_name, second_name)
        mask_sets = (common, assignment.masks(first_name), assignment.masks(second_name))
        counts = [sum(mask.bit_count() for mask in masks.values()) for masks in mask_sets]
        if common and not counts[0] == counts[1] == counts[2]:
            _, node, index = _extent(common)
            message = f"{first_name} and {second_name} share {counts[0]} of their {counts[1]} and {counts[2]} accelerators (first: {index} on node {node})"
            label = f"{counts[0]} shared, of {counts[1]} of {first_name} and {counts[2]} of {second_name}"
            advice = f"give {first_name} and {second_name} the same ranks, or ranks that do not meet"
            notes = ("they must use the same accelerators, or none in common",)
            yield self.fault(problem, relation, message, advice, (node, index), counts[0], label, second_name, notes)

    def explain(self, problem: Problem, relation: Relation) -> ConflictClause:
        return self.clause(relation, open_choice(relation.decide(COLOCATED)))

    def repairs(self, problem: Problem, relation: Relation) -> Iterator[RankFix]:
        """Yield the second component off or onto the first, then the reverse.

        Only moves in line with the choice of the relation.
        """
        first, second = (problem[name] for name in relation.components)
        for mover, target in ((second, first), (first, second)):
            if relation.choice != COLOCATED:
                yield from move_off(problem, mover, target)
            if relation.choice != DISJOINT:
                yield from move_onto(problem, mover, target)


class Disjoint(RelationRule):
    """Two disjoint components have no accelerator in common."""

    code, kind = "PW207", DISJOINT

    def encode(self, problem: Problem, relation: Relation, variables: Variables) -> None:
        """Compare given parts; forbid disjoint components in one bundle or nested.

        Different bundles never overlap (PW201) unless one is within the other. A bundle inside
        given parts has none of the accelerators that it must be apart from.
        """
        first_component, second_component = (problem[name] for name in relation.components)
        first, second = variables.bundle(first_component), variables.bundle(second_component)
        if first is None or second is None:
            return
        if first is second:
            variables.require(variables.accelerators(first) == 0)
        else:
            second_masks = variables.layout.find_known(second)
            common = [node for node, mask in variables.layout.find_known(first).items() if mask & second_masks.get(node, 0)]
            variables.require(not (common and first.kind == second.kind))
        for inner, outer in ((first, second), (second, first)):
            if outer in variables.layout.hosts[inner] and not inner.fixed:
                variables.require(variables.accelerators(inner) == 0)

    def check(self, problem: Problem, relation: Relation, assignment: Assignment) -> Iterator[Finding]:
        first_name, second_name = relation.components
        if common := _common(assignment, first_name, second_name):
            count, node, index = _extent(common)
            overlap_text = f"{count} {plural('accelerator', count)} (first: {index} on node {node})"
            message, notes = f"{first_name} and {second_name} must be disjoint but share {overlap_text}", demanding(relation)
            place, advice = (node, index), "move one of the two"
            yield error(self.code, first_name, message, relation.span, witnesses=place, amount=count, help=advice, notes=notes)

    def explain(self, problem: Problem, relation: Relation) -> ConflictClause:
        first_name, second_name = relation.components
        return self.clause(relation, open_choice(relation) or f"{first_name} shares no accelerator with {second_name}")

    def repairs(self, problem: Problem, relation: Relation) -> Iterator[RankFix]:
        """Yield the first component off the second, then the reverse."""
        first, second = (problem[name] for name in relation.components)
        yield from move_off(problem, first, second)
        yield from move_off(problem, second, first)


class Subset(RelationRule):
    """The first component uses only accelerators of the second.

    Source: RLinf, rlinf/utils/placement.py, MultiAgentModelParallelComponentPlacement (rollout
    parts within the actor).
    """

    code, kind = "PW212", SUBSET

    def subjects(self, problem: Problem) -> Iterable[Relation]:
        return [relation for relation in problem.find_relations(SUBSET) if problem.kind(problem[relation.components[0]]) != NODE]

    def encode(self, problem: Problem, relation: Relation, variables: Variables) -> None:
        """Compare given parts; pools and PW201 cover the others.

        Inside given parts a bundle has nothing else to choose from. Inside searched ones PW201
        counts everything there.
        """
        inner, outer = (variables.bundle(problem[name]) for name in relation.components)
        if inner is None or inner is outer:
            return
        if outer is None or inner.kind != outer.kind:
            variables.require(variables.accelerators(inner) == 0)
        elif outer.fixed:
            inner_masks, outer_masks = variables.layout.find_known(inner), variables.layout.fixed[outer]
            has_strays = any(mask & ~outer_masks.get(node, 0) for node, mask in inner_masks.items())
            variables.require(not has_strays)

    def check(self, problem: Problem, relation: Relation, assignment: Assignment) -> Iterator[Finding]:
        inner, outer = relation.components
        outer_masks = assignment.masks(outer)
        strays = {place: rest for place, mask in assignment.masks(inner).items() if (rest := mask & ~outer_masks.get(place, 0))}
        if strays:
            count, node, index = _extent(strays)
            message = f"{inner} uses {count} {plural('accelerator', count)} that {outer} does not use (first: {index} on node {node})"
            advice = f"give {inner} only ranks of {outer}"
            yield self.fault(problem, relation, message, advice, (node, index), count, label=f"outside {outer}")

    def explain(self, problem: Problem, relation: Relation) -> ConflictClause:
        inner, outer = relation.components
        amount = sum(run.amount for run in problem[outer].runs or ())
        has = f"has {amount}" if problem[outer].runs is not None else f"asks for {amount_of(problem[outer])}"
        return self.clause(relation, f"{inner} uses only accelerators of {outer}, which {has}")

    def repairs(self, problem: Problem, relation: Relation) -> Iterator[RankFix]:
        """Yield the nearest range of equal size inside the second, then the overlap."""
        inner, outer = (problem[name] for name in relation.components)
        inner_range, outer_range = contiguous_range(problem, inner), contiguous_range(problem, outer)
        if inner_range is None or outer_range is None or inner.node_groups != outer.node_groups:
            return
        if len(inner_range) <= len(outer_range):
            start = min(max(inner_range.start, outer_range.start), outer_range.stop - len(inner_range))
            yield fix_with_ranges(problem, {inner.name: range(start, start + len(inner_range))})
        if overlap := range(max(inner_range.start, outer_range.start), min(inner_range.stop, outer_range.stop)):
            yield fix_with_ranges(problem, {inner.name: overlap})


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
        return [r for r in problem.find_relations(self.kind) if all(problem.kind(problem[name]) != NODE for name in r.components)]

    def encode(self, problem: Problem, relation: Relation, variables: Variables) -> None:
        """Require a common order of ranks; sizes, strides or given ranks may exclude it.

        The components are one bundle, and expansion gives them one order or interleaves the groups.
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


class ZeroCopy(RankAligned):
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
