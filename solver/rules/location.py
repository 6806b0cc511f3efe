"""Rules PW301 to PW307: nodes and domains of a component."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Iterable, Iterator, Sequence

from ...models.component import APART, NEAR, Component, Relation, Spread
from ...models.findings.finding import Finding
from ...models.findings.wording import are, plural, with_noun
from ...models.machines.node_group import ACCELERATOR, NODE
from ...models.machines.topology import NODE_LEVEL, domains
from ...models.placements.assignment import Assignment, runs_by_node_sort
from ...models.placements.run import Repeat
from ...models.problem import ConflictClause, Demand, Problem
from ...models.ranks import list_ranks, write_range
from ..layout.bundle import Groups, gaps, line_of, needs_of, pinned_groups, split_pinned, unit
from ..rule import ComponentRule, RelationRule
from ..stretches import amounts_in, domains_of_first
from ..wording import domain_name, level_name, nodes_called

if TYPE_CHECKING:
    from ..layout.bundle import Bundle
    from ..layout.cells import Cell
    from ..model.amount import Amount
    from ..model.variables import Variables


class NodeGroupRule(ComponentRule):
    """A component uses only nodes of its node groups."""

    code: ClassVar[str] = "PW301"

    def subjects(self, problem: Problem) -> Iterable[Component]:
        return [c for c in problem.components if not problem.cluster.has_all(c.node_groups)]

    def encode(self, problem: Problem, component: Component, variables: Variables) -> None:
        members = problem.cluster.members(component.node_groups)
        variables.exclude(component, lambda node: node.rank not in members)

    def check(self, problem: Problem, component: Component, assignment: Assignment) -> Iterator[Finding]:
        members = problem.cluster.members(component.node_groups)
        astray = [repeat for repeat in assignment.repeats(component.name) if not members.issuperset(repeat.node_ranks)]
        strays = [run for repeat in astray for run in repeat if run.node not in members]
        if strays:
            run, count = strays[0], sum(len(run.ranks) for run in strays)
            label = ", ".join(component.node_groups)
            message = f"rank {run.ranks.start} of {component.name} is on node {run.node}, outside node group `{label}` ({with_noun(count, 'rank')} {are(count)})"
            advice = "place it on nodes of that group, or name another group"
            yield self.fault(component, message, "node_group", advice, (run.ranks.start, run.node), count)

    def explain(self, problem: Problem, component: Component) -> ConflictClause:
        count = len(problem.cluster.members(component.node_groups))
        text = f"{component.name} may use only node group `{', '.join(component.node_groups)}` ({count} {plural('node', count)})"
        return ConflictClause(text, (Demand(component.name, "node_groups", component.span("node_group")),))


class HardwareKind(ComponentRule):
    """A component holds the resource kind of its node groups.
    If it names an accelerator model, it holds only accelerators of that model.
    """

    code: ClassVar[str] = "PW302"

    def subjects(self, problem: Problem) -> Iterable[Component]:
        return problem.components

    def encode(self, problem: Problem, component: Component, variables: Variables) -> None:
        """Require the accelerator model, cell by cell.

        The kind of a searched component is that of its variables.
        """
        model = component.accelerator_model
        if model and problem.kind(component) == ACCELERATOR:
            variables.exclude(component, lambda node: node.accelerator_model != model)

    def check(self, problem: Problem, component: Component, assignment: Assignment) -> Iterator[Finding]:
        kind, groups = problem.kind(component), problem.cluster.groups
        kinds = {kind} if kind == NODE else {groups[label].kind for label in component.node_groups}
        for run in (run for repeat in assignment.repeats(component.name) for run in repeat.runs):
            if run.kind not in kinds:
                message = f"rank {run.ranks.start} of {component.name} holds a {run.kind}, but its node groups number {kind}s"
                advice = "name the node group of that hardware"
                yield self.fault(component, message, "placement", advice, (run.ranks.start, run.kind), len(run.ranks))
                return
        target = component.accelerator_model
        if not target or kind != ACCELERATOR:
            return
        for run, node, _ in runs_by_node_sort(problem.cluster, assignment.repeats(component.name)):
            model = node.accelerator_model
            if model != target:
                message = f"rank {run.ranks.start} of {component.name} is on {model or 'a node without accelerators'}, not on {target}"
                advice, witnesses = "place it on nodes of that model", (run.ranks.start, run.node)
                yield self.fault(component, message, "accelerator_model", advice, witnesses, run.amount)
                return

    def explain(self, problem: Problem, component: Component) -> ConflictClause:
        kind, model = problem.kind(component), component.accelerator_model
        if not model:
            return ConflictClause(f"the cluster has {problem.cluster.total(kind)} resources of kind {kind}")
        have = sum(len(node.accelerators) for node in problem.cluster.nodes if node.accelerator_model == model)
        is_written = component.is_written("accelerator_model")
        prefix = f"{component.name} may use only {model}" if is_written else f"the plan that was tried has {component.name} on {model}"
        return self.clause(component, f"{prefix} (the cluster has {have})", "accelerator_model")


class Excluded(ComponentRule):
    """A component uses none of the nodes excluded for it."""

    code: ClassVar[str] = "PW303"

    def subjects(self, problem: Problem) -> Iterable[Component]:
        return [component for component in problem.components if component.excluded]

    def encode(self, problem: Problem, component: Component, variables: Variables) -> None:
        """Forbid cells with excluded nodes.

        An excluded node is never in a cell with a node that is not excluded.
        """
        variables.exclude(component, lambda node: node.rank in component.excluded)

    def check(self, problem: Problem, component: Component, assignment: Assignment) -> Iterator[Finding]:
        exclusions = set(component.excluded)
        for repeat in assignment.repeats(component.name):
            astray = sorted(exclusions.intersection(repeat.node_ranks))
            if not astray:
                continue
            rank = repeat.on(astray[0] - repeat.node_ranks.start)[0].ranks.start
            used_nodes = [node for ranges in assignment.node_ranges(component.name) for node in sorted(exclusions.intersection(ranges))]
            more = f" ({len(used_nodes)} such nodes are used)" if len(used_nodes) > 1 else ""
            message = f"rank {rank} of {component.name} is on node {astray[0]}, which is excluded{more}"
            place, label = ("excluded", "excluded") if component.runs is None else ("placement", "on an excluded node")
            advice = f"place it on other nodes, or take {astray[0]} out of `exclude`"
            yield self.fault(component, message, place, advice, (rank, astray[0]), len(used_nodes), label)
            return

    def explain(self, problem: Problem, component: Component) -> ConflictClause:
        usable = problem.cluster.members(component.node_groups)
        remaining = len(usable.difference(component.excluded))
        nodes = nodes_called(problem.cluster, component.excluded)
        prefix = (
            f"{component.name} must not use" if component.is_written("excluded") else f"the plan that was tried has {component.name} off"
        )
        text = f"{prefix} {nodes} ({remaining} of {len(usable)} {'is' if remaining == 1 else 'are'} left)"
        return self.clause(component, text, "excluded")


SpreadSubject = tuple[Component, Spread]
"""Component, and a demand to spread it."""


class SpreadOver(ComponentRule):
    """A component is in at least the demanded number of topology domains.
    No domain of the level holds more than its share of the component's groups.

    The share is a percentage of the component's groups, rounded up to a whole group. A group is a
    tensor parallel group in whole processes, or a process on nodes.
    """

    code: ClassVar[str] = "PW305"

    def subjects(self, problem: Problem) -> Iterable[SpreadSubject]:
        return [(component, spread) for component in problem.components for spread in component.spread]

    def encode(self, problem: Problem, subject: SpreadSubject, variables: Variables) -> None:
        component, spread = subject
        names = variables.domains(spread.level)
        if spread.domains > 1:
            domain_count = variables.total(variables.present(component, spread.level, name) for name in names)
            variables.require(domain_count >= spread.domains)
        if spread.percent < 100:
            size = _group(problem, component)
            amounts = [variables.count_held(component, spread.level, name) for name in names]
            groups = variables.total(amounts)
            # The share is the percentage rounded up to a whole number of groups.
            share: Amount = _share(groups, spread.percent, size) if isinstance(groups, int) else 0
            if not isinstance(groups, int):
                share = variables.integer(0, problem.room_for(component) // size + 1, f"groups of {component.name} in one {spread.level}")
                variables.require(100 * size * share >= spread.percent * groups)
                variables.require(100 * size * share <= spread.percent * groups + 100 * size - 1)
            for amount in amounts:
                variables.require(amount <= size * share)

    def check(self, problem: Problem, subject: SpreadSubject, assignment: Assignment) -> Iterator[Finding]:
        component, spread = subject
        span = spread.span or component.span("spread")
        amounts = list(amounts_in(problem.cluster, spread.level, assignment, component.name))
        count, size, level = sum(repeats for _, _, repeats in amounts), _group(problem, component), level_name(spread.level)
        if count < spread.domains > 1:
            message = f"{component.name} is in {count} {plural(level, count)}, fewer than the {spread.domains} demanded"
            advice = f"place it in more {plural(level, 2)}, or ask for {count}"
            yield self.fault(component, message, span, advice, (count,), spread.domains - count)
        share = size * _share(sum(amount * repeats for _, amount, repeats in amounts), spread.percent, size)
        name, largest = max(((name, amount) for name, amount, _ in amounts), key=lambda entry: entry[1], default=("", 0))
        if largest > share:
            of_all = sum(amount * repeats for _, amount, repeats in amounts)
            message = f"{domain_name(spread.level, name)} holds {largest} of {of_all} {_unit(problem, component)} of {component.name},"
            message += f" more than {spread.percent} % in whole groups ({share})"
            advice = f"place at least {largest - share} of them in other {plural(level, 2)}"
            yield self.fault(component, message, span, advice, (name, largest), largest - share)

    def explain(self, problem: Problem, subject: SpreadSubject) -> ConflictClause:
        component, spread = subject
        count, level = len(domains(problem.cluster, spread.level)), level_name(spread.level)
        clauses = [f"is in at least {spread.domains} {plural(level, spread.domains)}"] if spread.domains > 1 else []
        clauses += [f"has at most {spread.percent} % of its groups in one {level}"] if spread.percent < 100 else []
        text = f"{component.name} {' and '.join(clauses)} (there {'is' if count == 1 else 'are'} {count})"
        return ConflictClause(text, (Demand(component.name, f"spread over {spread.level}", spread.span or component.span("spread")),))


def _group(problem: Problem, component: Component) -> int:
    return 1 if problem.kind(component) == NODE else component.group_size


def _unit(problem: Problem, component: Component) -> str:
    return "processes" if problem.kind(component) == NODE else "accelerators"


def _share(amount: int, percent: int, size: int) -> int:
    """Return the percentage of an amount in whole groups, rounded up."""
    return -(-amount * percent // (100 * size))


class Apart(RelationRule):
    """No domain of the relation's level holds some of both components.
    A failure of the domain then hits only one of them.
    """

    code, kind = "PW306", APART

    def encode(self, problem: Problem, relation: Relation, variables: Variables) -> None:
        first, second = (problem[name] for name in relation.components)
        for name in variables.domains(relation.level):
            both = variables.present(first, relation.level, name) + variables.present(second, relation.level, name)
            variables.require(both <= 1)

    def check(self, problem: Problem, relation: Relation, assignment: Assignment) -> Iterator[Finding]:
        first_name, second_name = relation.components
        overlap = domains_of_first(problem.cluster, relation.level, assignment, (first_name, second_name), met=True)
        if overlap:
            name, node, count = overlap
            level = level_name(relation.level)
            more = f" ({count} {plural(level, count)} do)" if count > 1 else ""
            message = f"{first_name} and {second_name} must be apart, but {domain_name(relation.level, name)} holds some of both{more}"
            yield self.fault(problem, relation, message, f"move one of the two to another {level}", (name, node), count)

    def explain(self, problem: Problem, relation: Relation) -> ConflictClause:
        first_name, second_name = relation.components
        count, level = len(domains(problem.cluster, relation.level)), level_name(relation.level)
        text = f"no {level} holds some of both {first_name} and {second_name} ({count} {plural(level, count)} in all)"
        return self.clause(relation, text)


class Near(RelationRule):
    """Every domain with some of the first component holds some of the second.

    The relation names the level of the domains.
    """

    code, kind = "PW307", NEAR

    def encode(self, problem: Problem, relation: Relation, variables: Variables) -> None:
        first, second = (problem[name] for name in relation.components)
        for name in variables.domains(relation.level):
            second_present = variables.present(second, relation.level, name)
            variables.require(variables.present(first, relation.level, name) <= second_present)

    def check(self, problem: Problem, relation: Relation, assignment: Assignment) -> Iterator[Finding]:
        first_name, second_name = relation.components
        strays = domains_of_first(problem.cluster, relation.level, assignment, (first_name, second_name), met=False)
        if strays:
            name, node, count = strays
            level = level_name(relation.level)
            more = f" (so do {count} {plural(level, count)})" if count > 1 else ""
            message = f"{first_name} must be near {second_name}, but {domain_name(relation.level, name)} holds {first_name} alone{more}"
            yield self.fault(problem, relation, message, f"move {first_name} to a {level} of {second_name}", (name, node), count)

    def explain(self, problem: Problem, relation: Relation) -> ConflictClause:
        first_name, second_name = relation.components
        count, level = len(domains(problem.cluster, relation.level)), level_name(relation.level)
        text = f"every {level} that holds some of {first_name} holds some of {second_name} ({count} {plural(level, count)} in all)"
        return self.clause(relation, text)


class Pinned(ComponentRule):
    """Every pinned process rank exists, and is on one of its pinned nodes."""

    code: ClassVar[str] = "PW304"

    def subjects(self, problem: Problem) -> Iterable[Component]:
        return [component for component in problem.components if component.pins]

    def encode(self, problem: Problem, component: Component, variables: Variables) -> None:
        """Require enough groups on the pinned nodes; expansion then keeps the pins.

        No cell has both pinned nodes and others.
        """
        from ..layout.ranks import of_given  # a slow import that no check needs

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
