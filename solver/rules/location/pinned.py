"""Rule PW304: pinned processes are on their nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Iterable, Iterator, Sequence

from ....models.component import Component
from ....models.findings.finding import Finding
from ....models.findings.wording import plural, with_noun
from ....models.machines.node_group import NODE
from ....models.machines.topology import NODE_LEVEL
from ....models.placements.assignment import Assignment
from ....models.placements.run import Repeat
from ....models.problem import ConflictClause, Demand, Problem
from ....models.ranks import list_ranks, write_range
from ...layout.bundle import Groups, gaps, line_of, needs_of, pinned_groups, split_pinned, unit
from ...rule import ComponentRule
from ...wording import nodes_called

if TYPE_CHECKING:
    from ...layout.bundle import Bundle
    from ...layout.cells import Cell
    from ...model.amount import Amount
    from ...model.variables import Variables


class Pinned(ComponentRule):
    """Every pinned process rank exists, and is on one of its pinned nodes."""

    code: ClassVar[str] = "PW304"

    def subjects(self, problem: Problem) -> Iterable[Component]:
        return [component for component in problem.components if component.pins]

    def encode(self, problem: Problem, component: Component, variables: Variables) -> None:
        """Require enough groups on the pinned nodes; expansion then keeps the pins.

        No cell has both pinned nodes and others.
        """
        from ...layout.ranks import of_given  # a slow import that no check needs

        bundle = variables.bundle(component)
        last = max((pin.ranks.stop for pin in component.pins), default=0)
        variables.require(variables.processes(component) >= last)
        if component.runs is not None:
            ranks = [(rank, run.node) for run in component.runs for rank in run.ranks]
            variables.require(all(node in pin.nodes for rank, node in ranks for pin in component.pins if rank in pin.ranks))
            return
        line = line_of(problem, component)
        pieces = split_pinned(problem, line)
        if pieces is None:  # out of scope, and reported elsewhere
            return
        in_order, has_given = problem.job.capabilities.nodes_in_order, any(member.runs is not None for member in line)
        solid = any(member.contiguous and not member.any_order for member in line)
        if bundle and bundle.contiguous and not bundle.fixed:
            variables.range_of(bundle).only(list(_starts(variables, bundle, line, solid or in_order)))
        elif bundle and bundle.fixed and (has_given or solid or in_order):
            rank_nodes = [node for node, _ in (of_given(variables.layout, bundle) or {}).get(component.name, ())]
            variables.require(_is_kept(rank_nodes, pieces[0], unit(problem, line)))
        elif in_order:
            self._in_order(component, pieces[0], unit(problem, line), variables)
        else:
            for level, name, need in pieces[1]:
                variables.require(variables.count_held(component, level, name) >= need)
            for nodes, need in needs_of(pieces[0]).items():
                amount = variables.total(_count_held(component, cell, variables) for cell in variables.cells if cell.nodes[0].rank in nodes)
                variables.require(amount >= need * unit(problem, line))

    def _in_order(self, component: Component, groups: Groups, size: int, variables: Variables) -> None:
        """Keep pins if ranks ascend with the nodes.

        For every gap between allowed nodes, the pinned pieces lie behind the gap or before it, or
        the gap is empty.
        """
        total = len(variables.problem.cluster.nodes)
        limit = max(variables.problem.room_for(component), component.most)
        for numbers, nodes in groups:
            for gap in gaps(nodes, total):
                count_to_start, count_to_stop = (self._below(component, node, variables) for node in (gap.start, gap.stop))
                either = [variables.boolean(f"{component.name} around nodes {write_range(gap)}") for _ in range(3)]
                variables.require(variables.total(either) >= 1)
                variables.require(count_to_stop <= numbers.start * size + limit * (1 - either[0]))
                variables.require(count_to_start >= numbers.stop * size * either[1])
                variables.require(count_to_stop - count_to_start <= limit * (1 - either[2]))

    def _below(self, component: Component, node: int, variables: Variables) -> Amount:
        """Return the component's resources on lower nodes."""
        return variables.total(_count_held(component, cell, variables) for cell in variables.cells if cell.nodes[0].rank < node)

    def check(self, problem: Problem, component: Component, assignment: Assignment) -> Iterator[Finding]:
        size = assignment.world_size(component.name)
        for pin in component.pins:
            span = pin.span or component.span("pins")
            targets = f"{plural('node', len(pin.nodes))} {list_ranks(pin.nodes)}"
            if pin.ranks.stop > size:
                message = (
                    f"rank {max(size, pin.ranks.start)} of {component.name} is pinned to {targets}, but it has {with_noun(size, 'process')}"
                )
                yield self.fault(component, message, span, "pin only ranks that exist", (size,), 1)
                continue
            astray = list(_find_misplaced(assignment.repeats(component.name), pin.ranks, frozenset(pin.nodes)))
            if astray:
                rank, node = astray[0][0].start, astray[0][1]
                count = sum(len(ranks) for ranks, _ in astray)
                more = f" ({count} of these ranks are elsewhere)" if count > 1 else ""
                message = f"rank {rank} of {component.name} is on node {node}, it is pinned to {targets}{more}"
                advice = f"place {plural('rank', len(pin.ranks))} {write_range(pin.ranks)} on {targets}, or pin others"
                yield self.fault(component, message, span, advice, (rank, node), count)

    def explain(self, problem: Problem, component: Component) -> ConflictClause:
        kind, clauses, demands = problem.kind(component), [], []
        for pin in component.pins:
            nodes = [node for node in sorted(set(pin.nodes)) if node < len(problem.cluster.nodes)]
            have = sum(problem.cluster.nodes[node].free(kind).bit_count() for node in nodes)
            free = "" if kind == NODE else f" ({'it has' if len(nodes) == 1 else 'they have'} {have} free)"
            clauses.append(f"{plural('rank', len(pin.ranks))} {write_range(pin.ranks)} on {nodes_called(problem.cluster, pin.nodes)}{free}")
            demands.append(Demand(component.name, f"pins {write_range(pin.ranks)}", pin.span or component.span("pins")))
        ascending = "; its ranks ascend with those of the nodes" if problem.job.capabilities.nodes_in_order else ""
        return ConflictClause(f"{component.name} has {', '.join(clauses)}{ascending}", tuple(demands))


def _count_held(component: Component, cell: Cell, variables: Variables) -> Amount:
    return variables.count_held(component, NODE_LEVEL, cell)


def _starts(variables: Variables, bundle: Bundle, line: Sequence[Component], in_order: bool) -> Iterator[tuple[int, int]]:
    """Yield the places of a range that keep all pins."""
    groups, size = pinned_groups(variables.problem, line), unit(variables.problem, line)
    numbering = variables.layout.numbering(bundle)
    for start, units in variables.range_of(bundle).starts:
        stop = start + units * bundle.unit
        if in_order:
            firsts = ((start + number * size, nodes) for numbers, nodes in groups for number in numbers)
            keeps_pins = all(first < stop and numbering.locate(first)[0].node_rank in nodes for first, nodes in firsts)
        else:
            pieces_on = {stretch.node_rank: count // size for stretch, _, count in numbering.pieces(start, stop)}
            keeps_pins = all(sum(pieces_on.get(node, 0) for node in nodes) >= need for nodes, need in needs_of(groups).items())
        if keeps_pins:
            yield start, units


def _is_kept(nodes: Sequence[int], groups: Groups, size: int) -> bool:
    """Return True if every pinned piece is on its nodes.

    `nodes`: node of every resource in rank order.
    """
    every = ((number * size, node_set) for numbers, node_set in groups for number in numbers)
    return all(first < len(nodes) and nodes[first] in node_set for first, node_set in every)


def _find_misplaced(repeats: Sequence[Repeat], ranks: range, nodes: frozenset[int]) -> Iterator[tuple[range, int]]:
    """Yield (ranks, node) of ranks outside the nodes."""
    for repeat in repeats:
        if ranks.start >= repeat.ranks.stop or repeat.ranks.start >= ranks.stop:
            continue
        per_node = max(1, repeat.each_node)
        first = max(0, ranks.start - repeat.ranks.start) // per_node
        last = min(repeat.nodes - 1, (ranks.stop - 1 - repeat.ranks.start) // per_node)
        for offset in range(first, last + 1):
            if repeat.runs[0].node + offset not in nodes:
                for run in repeat.on(offset):
                    common = range(max(ranks.start, run.ranks.start), min(ranks.stop, run.ranks.stop))
                    if common:
                        yield common, run.node
