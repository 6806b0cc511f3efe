"""Rules PW205, PW213, PW217, PW206 and PW210: ranges and the order of ranks."""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING, ClassVar, Iterable, Iterator, Mapping

from ...models.component import IN_ORDER, Component, Relation
from ...models.findings.finding import Finding, error
from ...models.findings.wording import plural
from ...models.machines.node_group import ACCELERATOR, CLUSTER_LABEL, NODE, Numbering
from ...models.placements.assignment import Assignment, seats
from ...models.placements.run import Run
from ...models.problem import ConflictClause, Problem
from ...models.ranks import write_ranks
from ...models.sharing import given_part
from ..layout.parts import bits
from ..rank_fixes import RankFix, contiguous_range, fix_with_ranges
from ..rule import ComponentRule, RelationRule, largest_node
from ..stretches import extent
from ..wording import demanding, join_names

if TYPE_CHECKING:
    from ..layout.bundle import Bundle
    from ..model.amount import Amount
    from ..model.variables import Variables


class Contiguous(ComponentRule):
    """A contiguous component is one solid range in its node groups' numbering.
    Its ranks ascend there, unless it allows any order.

    Source: RLinf, rlinf/utils/placement.py (model-parallel components must be continuous).
    """

    code: ClassVar[str] = "PW205"

    def subjects(self, problem: Problem) -> Iterable[Component]:
        return [c for c in problem.components if c.contiguous and problem.kind(c) != NODE]

    def encode(self, problem: Problem, component: Component, variables: Variables) -> None:
        """Constrain given parts; a searched bundle has a start instead of counts."""
        bundle = variables.bundle(component)
        if bundle and bundle.fixed and component.runs is None:
            numbering = problem.cluster.numbering(problem.range_in(component))
            is_solid = solid(variables.layout.fixed[bundle], numbering) is not None
            variables.require(is_solid)

    def check(self, problem: Problem, component: Component, assignment: Assignment) -> Iterator[Finding]:
        first = problem.cluster.numbering(problem.range_in(component)).first
        masks = {node: mask for (node, _), mask in assignment.masks(component.name).items() if mask}
        span = component.span("placement")
        strays = [node for node in masks if node not in first]
        if strays:
            message = f"{component.name} is on node {strays[0]}, which its node groups do not number"
            advice = "name the node groups that it may use"
            yield error(self.code, component.name, message, span, help=advice, witnesses=(strays[0],), amount=len(strays))
        if strays or not masks:
            return
        low, high = extent(first, masks)
        count = sum(mask.bit_count() for mask in masks.values())
        if count != high - low:
            message = f"{component.name} uses {count} of the ranks {low}-{high - 1}, not one solid range"
            advice = f"write one range such as `{low}-{low + count - 1}`"
            advice += ", or drop `contiguous`" if "contiguous" in component.spans else ""
            yield self.fault(component, message, "placement", advice, (low, high - 1), high - low - count)
        if component.any_order:
            return
        rank = _goes_back(assignment.of(component.name), first, low, component.unit)
        if rank is not None:
            message = f"rank {rank} of {component.name} comes before lower ranks in its range"
            yield error(self.code, component.name, message, span, help="write the ranks in ascending order", witnesses=(rank,), amount=1)

    def explain(self, problem: Problem, component: Component) -> ConflictClause:
        longest, ranks = _longest_free(problem, component), plural("rank", component.least)
        text = f"{component.name} must be one solid range of {component.least} {ranks} (the longest free range has {longest})"
        return self.clause(component, text, "contiguous")


def _goes_back(runs: Iterable[Run], first: Mapping[int, int], low: int, unit: int) -> int | None:
    """Return the first process that goes back to an earlier block; None without any.

    Blocks are counted from `low`.
    """
    before = 0
    for run in runs:
        ascends = run.step > 0 and run.pitch > (run.each - 1) * run.step
        for rank in (run.ranks[0], run.ranks[-1]) if ascends else run.ranks:
            for index in run.list_held(rank):
                block = (first[run.node] + index - low) // unit
                if block < before:
                    return rank
                before = block
    return None


def _longest_free(problem: Problem, component: Component) -> int:
    """Return the length of the longest free solid range of a component's numbering.

    Resources of other jobs, and of given components without a relation to this one, are not free.
    """
    akin = {name for relation in problem.job.relations if component.name in relation.components for name in relation.components}
    kind, masks = problem.kind(component), dict[int, int]()
    for run in (run for peer in given_part(problem).components if peer.name not in akin for run in peer.runs or () if run.kind == kind):
        masks[run.node] = masks.get(run.node, 0) | run.mask
    free: list[bool] = []
    for stretch in problem.cluster.numbering(problem.range_in(component)).stretches:
        mask = problem.cluster.nodes[stretch.node_rank].free(kind) & ~masks.get(stretch.node_rank, 0)
        free += [bool(mask >> index & 1) for index in range(stretch.count)]
    return max((len(list(same)) for is_free, same in groupby(free) if is_free), default=0)


class InOrder(RelationRule):
    """Components in order are solid ranges of the cluster's accelerators, without gaps.
    They go from the first accelerator to the last.

    Source: RLinf, rlinf/utils/placement.py, ModelParallelComponentPlacement (auto mode).
    """

    code, kind = "PW213", IN_ORDER

    def encode(self, problem: Problem, relation: Relation, variables: Variables) -> None:
        numbering = problem.cluster.numbering((CLUSTER_LABEL,))
        before: Amount = 0
        last: Bundle | None = None
        for name in relation.components:
            bundle = variables.bundle(problem[name])
            if bundle is None or bundle.kind != ACCELERATOR:
                variables.require(False)
                return
            start, before_next = self._ends(bundle, numbering, variables)
            variables.require(start == before)
            if last and all(not neighbour.fixed and variables.layout.numbering(neighbour) == numbering for neighbour in (last, bundle)):
                variables.range_of(bundle).follows(variables.range_of(last))  # redundant, place by place: a tighter relaxation
            before, last = before_next, bundle
        variables.require(before == numbering.size)

    def _ends(self, bundle: Bundle, numbering: Numbering, variables: Variables) -> tuple[Amount, Amount]:
        """Return a bundle's first accelerator, and the accelerator after its last.

        -1 for a bundle given in pieces.
        """
        if bundle.fixed:
            ranks = solid(variables.layout.fixed[bundle], numbering)
            return (ranks.start, ranks.stop) if ranks else (-1, -1)
        if variables.layout.numbering(bundle) == numbering:
            return variables.range_of(bundle).first_and_end()
        places = self._places(bundle, numbering, variables)
        variables.range_of(bundle).only(places)
        nowhere = (0, 0)
        first = variables.range_of(bundle).worth(lambda place: places.get(place, nowhere)[0])
        return first, variables.range_of(bundle).worth(lambda place: places.get(place, nowhere)[1])

    def _places(self, bundle: Bundle, numbering: Numbering, variables: Variables) -> dict[tuple[int, int], tuple[int, int]]:
        """Return place -> (start, stop) in the cluster, for places solid there too."""
        bundle_numbering, places = variables.layout.numbering(bundle), {}
        for start, units in variables.range_of(bundle).starts:
            masks: dict[int, int] = {}
            for stretch, first, count in bundle_numbering.pieces(start, start + units * bundle.unit):
                masks[stretch.node_rank] = ((1 << count) - 1) << first
            if ranks := solid(masks, numbering):
                places[start, units] = (ranks.start, ranks.stop)
        return places

    def check(self, problem: Problem, relation: Relation, assignment: Assignment) -> Iterator[Finding]:
        faults = list(self._faults(problem, relation, assignment))
        subjects = dict.fromkeys(fault.subject for fault in faults[1:] if fault.subject != faults[0].subject)
        if faults:  # one cause, whose help is about all components
            yield replace(faults[0], also=tuple(subjects))

    def _faults(self, problem: Problem, relation: Relation, assignment: Assignment) -> Iterator[Finding]:
        first, next_start, before = problem.cluster.numbering((CLUSTER_LABEL,)).first, 0, ""
        total = problem.cluster.total(ACCELERATOR)
        for name in relation.components:
            masks = {node: mask for (node, kind), mask in assignment.masks(name).items() if kind == ACCELERATOR and mask}
            if not masks:
                yield self._fault(problem, relation, name, f"{name} has no accelerators", (next_start,))
                continue
            low, high = extent(first, masks)
            count = sum(mask.bit_count() for mask in masks.values())
            if count != high - low:
                message = f"{name} uses {count} of the accelerators {low}-{high - 1}, not one solid range"
                yield self._fault(problem, relation, name, message, (low, high - 1))
            if low != next_start:
                message = f"{name} begins at accelerator {low} instead of {next_start}{f', after {before}' if before else ''}"
                yield self._fault(problem, relation, name, message, (low, next_start))
            next_start, before = high, name
        if next_start != total:
            message = f"{before or join_names(relation.components)} ends at accelerator {next_start - 1} instead of {total - 1}, the last of the cluster"
            yield self._fault(problem, relation, relation.components[-1], message, (next_start, total))

    def _fault(self, problem: Problem, relation: Relation, name: str, message: str, witnesses: tuple[int, ...]) -> Finding:
        order, size = join_names(relation.components), problem.cluster.total(ACCELERATOR)
        return error(
            self.code, name, message, problem[name].span("placement"), label="out of order", witnesses=witnesses, amount=1,
            help=f"place {order} one after the other over `{write_ranks((range(size),))}`", notes=demanding(relation),
        )  # fmt: skip

    def explain(self, problem: Problem, relation: Relation) -> ConflictClause:
        size = problem.cluster.total(ACCELERATOR)
        return self.clause(
            relation,
            f"{join_names(relation.components)} come one after the other and fill the cluster ({size} {plural('accelerator', size)})",
        )

    def repairs(self, problem: Problem, relation: Relation) -> Iterator[RankFix]:
        """Yield ranges of the present sizes; the last component takes the rest."""
        ranges, start = {}, 0
        for name in relation.components:
            current_range = contiguous_range(problem, problem[name])
            if current_range is None or problem[name].node_groups != (CLUSTER_LABEL,):
                return
            stop = problem.cluster.total(ACCELERATOR) if name == relation.components[-1] else start + len(current_range)
            if stop <= start:
                return
            ranges[name], start = range(start, stop), stop
        yield fix_with_ranges(problem, ranges)


def solid(masks: Mapping[int, int], numbering: Numbering) -> range | None:
    """Return the ranks of the resources if they form a solid range, else None."""
    if not masks or not masks.keys() <= numbering.first.keys():
        return None
    ranks = sorted(numbering.first[node] + i for node, mask in masks.items() for i in range(mask.bit_length()) if mask >> i & 1)
    return range(ranks[0], ranks[-1] + 1) if ranks[-1] - ranks[0] + 1 == len(ranks) else None


Pair = tuple[Component, Component]


class InStep(ComponentRule):
    """Two contiguous components that share accelerators are in step.
    The first begins and ends whole processes of the second away from the start and the end of the
    second.

    Each may reach beyond the other: both distances are multiples of the accelerators of one process
    of the second, in ranks of the common numbering. So every process of the second has its weights
    from equally many ranks of the first, or from none. If both are searched, they have one order of
    ranks there, whatever is pinned (see `where/pinned.py`).

    Source: ROLL, roll/third_party/megatron/model_update.py and
    roll/third_party/fsdp2/model_update.py (_setup_colocated_model_update).
    """

    code: ClassVar[str] = "PW217"

    def subjects(self, problem: Problem) -> Iterable[Pair]:
        """Return the pairs of `Job.in_step` that are ranges of one numbering.

        In the written order of the components.
        """
        names = [component.name for component in problem.components] if problem.job.in_step else []
        pairs = [(problem[first], problem[second]) for first in names for second in names if (first, second) in problem.job.in_step]
        return [pair for pair in pairs if self._is_said(problem, *pair)]

    def _is_said(self, problem: Problem, first: Component, second: Component) -> bool:
        solid = first.contiguous and second.contiguous and NODE not in (problem.kind(first), problem.kind(second))
        return solid and problem.range_in(first) == problem.range_in(second)

    def encode(self, problem: Problem, pair: Pair, variables: Variables) -> None:
        """Require equal remainders of the starts, and of the ends.

        Always for nested ranges; beside given ranks, only if the two meet.
        """
        first_bundle, second_bundle = (variables.bundle(component) for component in pair)
        if first_bundle is None or second_bundle is None or first_bundle is second_bundle or first_bundle.kind != second_bundle.kind:
            return
        first, step = problem.cluster.numbering(problem.range_in(pair[0])).first, pair[1].per_process
        edges = [self._edges(bundle, first, step, variables) for bundle in (first_bundle, second_bundle)]
        hosts = variables.layout.hosts
        always = first_bundle in hosts[second_bundle] or second_bundle in hosts[first_bundle]
        if first_bundle.fixed and second_bundle.fixed:
            second_part = variables.layout.fixed[second_bundle]
            met = any(mask & second_part.get(node, 0) for node, mask in variables.layout.fixed[first_bundle].items())
            variables.require(not met or edges[0] == edges[1])
            return
        if always:
            meet: Amount = 1
        elif first_bundle.fixed or second_bundle.fixed:
            given_bundle, open_bundle = (first_bundle, second_bundle) if first_bundle.fixed else (second_bundle, first_bundle)
            meet = variables.boolean(f"{first_bundle.name} and {second_bundle.name} meet")
            for node, mask in variables.layout.fixed[given_bundle].items():
                for index in bits(mask):
                    variables.at_most(variables.range_of(open_bundle).covers(node, index), meet)
        else:
            return  # not nested, so they share nothing
        for first_part, second_part in zip(*edges):
            for first_rest, second_rest in zip(first_part, second_part):
                variables.at_most(first_rest + meet, second_rest + 1)

    def _edges(self, bundle: Bundle, first: Mapping[int, int], step: int, variables: Variables) -> tuple[list[Amount], list[Amount]]:
        """Return remainder indicators modulo `step` of a bundle's start and end.

        The end is the rank after the last.
        """
        if not bundle.fixed:
            return variables.range_of(bundle).rests(step)
        masks = {node: mask for node, mask in variables.layout.fixed[bundle].items() if node in first}
        low, high = extent(first, masks) if masks else (0, 0)
        return [int(low % step == rest) for rest in range(step)], [int(high % step == rest) for rest in range(step)]

    def check(self, problem: Problem, pair: Pair, assignment: Assignment) -> Iterator[Finding]:
        first_component, second_component = pair
        first = problem.cluster.numbering(problem.range_in(first_component)).first
        first_masks, second_masks = (
            {node: mask for (node, _), mask in assignment.masks(component.name).items() if mask and node in first} for component in pair
        )
        if not any(mask & second_masks.get(node, 0) for node, mask in first_masks.items()):
            return
        step, (low, high), (second_low, second_high) = second_component.per_process, extent(first, first_masks), extent(first, second_masks)
        yield from self._check_turned(pair, low - second_low, first, assignment)
        if (low - second_low) % step or (high - second_high) % step:
            edges = [
                f"{edge_name} {abs(away)} {plural('rank', abs(away))} {'after' if away > 0 else 'before'} it"
                for edge_name, away in (("begins", low - second_low), ("ends", high - second_high))
                if away % step
            ]
            message = f"{first_component.name} (ranks {low}-{high - 1}) and {second_component.name} (ranks {second_low}-{second_high - 1}) share accelerators, but"
            message += f" {first_component.name} {' and '.join(edges)}: not with whole processes of {step}"
            advice = f"let {first_component.name} share whole processes of {second_component.name}, or no accelerator"
            yield self.fault(first_component, message, "placement", advice, (low, second_low), len(edges))

    def _check_turned(self, pair: Pair, away: int, first: Mapping[int, int], assignment: Assignment) -> Iterator[Finding]:
        """Yield an error if two searched components overlap in different rank orders."""
        first_component, second_component = pair
        if any(component.runs is not None or not component.any_order or component.stride > 1 for component in pair):
            return
        first_ranks, second_ranks = (
            [first[node] + index for _, process_seats in seats(assignment.of(component.name)) for (node, index), _, _ in process_seats]
            for component in pair
        )
        out = [
            place for place, rank in enumerate(first_ranks) if 0 <= place + away < len(second_ranks) and second_ranks[place + away] != rank
        ]
        if out:
            message = f"{first_component.name} and {second_component.name} share accelerators, but not in one order of ranks: {len(out)} of {first_component.name} meet others"
            advice = "pin both alike, or fewer ranks"
            yield self.fault(first_component, message, "placement", advice, (out[0],), len(out))

    def explain(self, problem: Problem, pair: Pair) -> ConflictClause:
        first, second = pair
        return ConflictClause(
            f"where they share accelerators, {first.name} begins and ends with whole processes of {second.name}, {second.per_process} each"
        )


class Strided(ComponentRule):
    """The groups of a contiguous component interleave in blocks of stride x group size.
    Group j of a block holds every stride-th rank.

    Source: RLinf, rlinf/scheduler/placement/packed.py (num_hardware_per_process and stride).
    """

    code: ClassVar[str] = "PW206"

    def subjects(self, problem: Problem) -> Iterable[Component]:
        return [c for c in problem.components if c.contiguous and c.stride > 1]

    def encode(self, problem: Problem, component: Component, variables: Variables) -> None:
        """Constrain given parts to whole blocks on every node.

        A unit of a searched bundle is a whole block, and expansion interleaves it.
        """
        variables.require_multiples(component, component.unit)

    def check(self, problem: Problem, component: Component, assignment: Assignment) -> Iterator[Finding]:
        first = problem.cluster.numbering(problem.range_in(component)).first
        resources = [seat for _, process_seats in seats(assignment.of(component.name)) for seat, _, _ in process_seats]
        if any(node not in first for node, _ in resources):
            return  # PW205 reports it
        ranks = [first[node] + index for node, index in resources]
        size, stride = component.group_size, component.stride
        start = min(ranks, default=0)
        for position, rank in enumerate(ranks):
            block, offset = divmod(position, size * stride)
            target = start + block * size * stride + offset // size + offset % size * stride
            if rank != target:
                message = f"accelerator {position % size} of group {position // size} of {component.name} is rank {rank}"
                message += f", with stride {stride} it must be {target}"
                advice = f"use whole blocks of {size * stride} ranks, or drop `stride`"
                yield self.fault(component, message, "stride", advice, (position, rank), 1)
                return

    def explain(self, problem: Problem, component: Component) -> ConflictClause:
        text = f"{component.name} interleaves {component.stride} groups in blocks of {component.unit} (the largest node has {largest_node(problem, component)})"
        return self.clause(component, text, "stride")


class NodeOrder(ComponentRule):
    """In rank order, the nodes of a component's processes never go back.
    The next process has no lower node rank. The rule applies if the framework requires it.

    Source: RLinf, rlinf/scheduler/placement/flexible.py ("Placements must be sorted by node_id", at
    launch only).
    """

    code: ClassVar[str] = "PW210"

    def subjects(self, problem: Problem) -> Iterable[Component]:
        return problem.components if problem.job.capabilities.nodes_in_order else ()

    def encode(self, problem: Problem, component: Component, variables: Variables) -> None:
        """Restrict contiguous bundles to ascending nodes.

        Expansion orders the ranks of other bundles by node; a contiguous bundle follows its
        numbering.
        """
        bundle = variables.bundle(component)
        if component.runs is not None or bundle is None or not bundle.contiguous:
            return
        numbering = variables.layout.numbering(bundle)
        if bundle.fixed:
            nodes = sorted(variables.layout.fixed[bundle], key=lambda node: numbering.first.get(node, node))
            variables.require(nodes == sorted(nodes))
            return
        ranks, ascending = [stretch.node_rank for stretch in numbering.stretches], []
        # Groups on several nodes go back to a lower node if they interleave over a border.
        block = component.block if component.stride > 1 and component.group_size > 1 and bundle.unit % component.block else 1
        if ranks == sorted(ranks) and block == 1:
            return
        node_at = [stretch.node_rank for stretch in numbering.stretches for _ in range(stretch.count)]
        order = [first + position for first in range(component.stride) for position in range(0, block, component.stride)]
        for start, units in variables.range_of(bundle).starts:
            stop = start + units * bundle.unit
            nodes = [stretch.node_rank for stretch, _, _ in numbering.pieces(start, stop)]
            if block > 1 and not (stop - start) % block:
                nodes = [node_at[at + position] for at in range(start, stop, block) for position in order]
            if nodes == sorted(nodes):
                ascending.append((start, units))
        variables.range_of(bundle).only(ascending)

    def check(self, problem: Problem, component: Component, assignment: Assignment) -> Iterator[Finding]:
        repeats = assignment.repeats(component.name)
        for before, after in zip(repeats, repeats[1:]):
            last, run = before.node_ranks.stop - 1, after.runs[0]
            if run.node < last:
                message = f"rank {run.ranks.start} of {component.name} is on node {run.node}, rank {before.ranks.stop - 1} on node {last}"
                message += ": RLinf refuses nodes out of order, but only at launch"
                advice, witnesses = "write the node groups in the order of their nodes", (run.ranks.start, last, run.node)
                yield self.fault(component, message, "node_group", advice, witnesses, last - run.node, "nodes go back here")
                return

    def explain(self, problem: Problem, component: Component) -> ConflictClause:
        return ConflictClause(
            f"the processes of {component.name} come in the order of their nodes ({len(problem.cluster.nodes)} {plural('node', len(problem.cluster.nodes))})"
        )
