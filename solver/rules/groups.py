"""Rules PW218, PW203, PW214 and PW202: groups, replicas and processes stay inside domains and nodes."""

from __future__ import annotations

from collections import Counter
from itertools import groupby
from typing import TYPE_CHECKING, ClassVar, Iterable, Iterator, Sequence

from ...models.component import EP, REPLICA, TP, WHOLE, Component, Keep
from ...models.findings.finding import Finding
from ...models.findings.wording import plural
from ...models.machines.cluster import Cluster
from ...models.machines.node_group import ACCELERATOR, NODE
from ...models.machines.topology import LEVELS, NODE_LEVEL, NUMA, domain, domains, numa_masks
from ...models.placements.assignment import Assignment, Seat, seats
from ...models.problem import ConflictClause, Demand, Problem
from ..rule import ComponentRule, largest_node
from ..wording import domain_name, level_name

if TYPE_CHECKING:
    from ..layout.bundle import Bundle
    from ..model.variables import Variables

Visit = tuple[str, int, int]
"""Domain, node, and accelerators there, in the order of ranks."""


def torn(visits: Iterable[Visit], size: int) -> dict[int, tuple[tuple[str, int], tuple[str, int]]]:
    """Return group -> first two (domain, node), for groups in several domains."""
    crossing: dict[int, tuple[tuple[str, int], tuple[str, int]]] = {}
    position, origin = 0, ("", -1)
    for name, node, amount in visits:
        if position % size and name != origin[0]:
            crossing.setdefault(position // size, (origin, (name, node)))
        if position % size + amount >= size or not position % size:
            origin = (name, node)
        position += amount
    return crossing


def visits_of(problem: Problem, level: str, assignment: Assignment, component: str) -> Iterator[Visit]:
    """Yield the visits of a component in rank order.

    Cost grows with runs and their nodes; for NUMA domains, with accelerators.
    """
    nodes = problem.cluster.nodes
    if level == NUMA:
        for _, process_seats in seats(assignment.of(component)):
            for (node, index), kind, _ in process_seats:
                yield _numa_domain(problem.cluster, node, index, kind), node, 1
        return
    name, node, amount = "", -1, 0  # of ranks in a row on one node
    for repeat in sorted(assignment.repeats(component), key=lambda repeat: (repeat.ranks.start, repeat.ranks.stop)):
        per_node = sum(run.amount or len(run.ranks) for run in repeat.runs)
        for node_rank in repeat.node_ranks:
            if node_rank == node:
                amount += per_node
                continue
            if amount:
                yield name, node, amount
            name = problem.cluster.name(node_rank) if level == NODE_LEVEL else domain(nodes[node_rank], level)
            node, amount = node_rank, per_node
    if amount:
        yield name, node, amount


def _numa_domain(cluster: Cluster, node: int, index: int, kind: str) -> str:
    masks = numa_masks(cluster.nodes[node]) if kind == ACCELERATOR else ()
    return f"{next((number for number, mask in enumerate(masks) if mask >> index & 1), 0)} of {cluster.name(node)}"


KeepSubject = tuple[Component, Keep]
"""Component, and a demand to keep it or its groups together."""

NAMES = {TP: "tp group", EP: "ep group", REPLICA: "replica"}


class GroupsWhole(ComponentRule):
    """Every group of a kind is inside one domain of a topology level.
    A whole component is inside at most the demanded number of domains.

    Groups are cut from the ranks in order: tensor parallel groups of tp accelerators, expert
    parallel groups of tp x ep, replicas of tp x pp x cp (x dp).

    Source: Megatron-LM, core/parallel_state.py (tp is the fastest dimension of the rank order).
    """

    code: ClassVar[str] = "PW218"

    def subjects(self, problem: Problem) -> Iterable[KeepSubject]:
        return [(component, keep) for component in problem.components for keep in component.keep if keep.required]

    def encode(self, problem: Problem, subject: KeepSubject, variables: Variables) -> None:
        """Require multiples of the group size in domains, or starts that keep groups whole.

        Ranks go domain by domain, so groups are whole if every domain has a multiple of their size.
        Groups inside a node or a NUMA domain are units or pieces of the bundle, counted by PW201.
        """
        component, keep = subject
        bundle = variables.bundle(component)
        runs = component.runs if component.runs is not None else variables.layout.on_nodes.get(component.name)
        if runs is not None:
            variables.require(_are_whole(problem, subject, [seat for _, process_seats in seats(runs) for seat, _, _ in process_seats]))
        elif bundle and bundle.contiguous and not bundle.fixed:
            self._starts(problem, subject, bundle, variables)
        elif bundle and bundle.fixed:
            from ..layout.ranks import of_given  # a slow import that no check needs

            variables.require(_are_whole(problem, subject, (of_given(variables.layout, bundle) or {}).get(component.name, [])))
        elif keep.unit == WHOLE:
            if bundle is None or keep.level in LEVELS or not _is_one_group(subject):
                names = variables.domains(keep.level)
                domain_count = variables.total(variables.present(component, keep.level, name) for name in names)
                variables.at_most(domain_count, keep.domains)
        elif bundle is None:  # processes that form no groups
            return
        elif keep.level in LEVELS:
            for name in domains(problem.cluster, keep.level):
                variables.wholes(bundle, keep.level, name)

    def _starts(self, problem: Problem, subject: KeepSubject, bundle: Bundle, variables: Variables) -> None:
        """Restrict a range to starts without a domain border inside a group."""
        from ..layout.ranks import GroupsCut, order_in_blocks  # slow imports that no check needs

        component, keep = subject
        numbering, size = variables.layout.numbering(bundle), _size(component, keep)
        resources = [(stretch.node_rank, index) for stretch in numbering.stretches for index in range(stretch.count)]
        labels = [_label(problem, component, keep.level, seat) for seat in resources]
        groups = GroupsCut(labels, size, order_in_blocks(variables.layout, bundle, component))
        fit = []
        for start, units in variables.range_of(bundle).starts:
            stop = start + units * bundle.unit
            if keep.unit == WHOLE:
                if len(set(labels[start:stop])) <= keep.domains:
                    fit.append((start, units))
            elif not (stop - start) % size and not groups.count_cut(start, stop):
                fit.append((start, units))
        variables.range_of(bundle).only(fit)

    def check(self, problem: Problem, subject: KeepSubject, assignment: Assignment) -> Iterator[Finding]:
        component, keep = subject
        span, level = keep.span or component.span("keep"), level_name(keep.level)
        visits = list(visits_of(problem, keep.level, assignment, component.name))
        if keep.unit == WHOLE:
            names = list(dict.fromkeys(name for name, _, _ in visits))
            if len(names) > keep.domains:
                message = f"{component.name} is in {len(names)} {plural(level, len(names))}, more than the {keep.domains} allowed"
                advice = f"place it in fewer {plural(level, 2)}, or allow {len(names)}"
                yield self.fault(component, message, span, advice, (len(names), names[keep.domains]), len(names) - keep.domains)
            return
        size, group_name, total = _size(component, keep), NAMES[keep.unit], sum(amount for _, _, amount in visits)
        crossing = torn(visits, size)
        if crossing:
            group, (first, second) = next(iter(crossing.items()))
            more = f" ({len(crossing)} {plural(group_name, len(crossing))} do)" if len(crossing) > 1 else ""
            message = f"{group_name} {group} of {component.name} ({size} accelerators) is in {domain_name(keep.level, first[0])}"
            message += f" and {domain_name(keep.level, second[0])}{more}"
            advice = f"give every {level} a multiple of {size} accelerators of {component.name}, its ranks one {level} after the other"
            notes, witnesses = (f"a {group_name} must be in one {level}",), (group, first[1], second[1])
            yield self.fault(component, message, span, advice, witnesses, len(crossing), f"crosses {plural(level, 2)}", notes)
        elif total % size:
            message = f"the {total} accelerators of {component.name} are not whole number of {plural(group_name, 2)} of {size}"
            advice = f"give it {total - total % size or size} accelerators"
            yield self.fault(component, message, span, advice, (total, size), total % size)

    def explain(self, problem: Problem, subject: KeepSubject) -> ConflictClause:
        component, keep = subject
        level, name = level_name(keep.level), component.name
        if keep.unit == WHOLE:
            limit = f"one {level}" if keep.domains == 1 else f"at most {keep.domains} {plural(level, 2)}"
            text = f"{name} is in {limit}"
        else:
            text = f"every {NAMES[keep.unit]} of {name} ({_size(component, keep)} accelerators) is in one {level}"
        largest = _largest(problem, component, keep.level)
        text += f" (there are {len(domains(problem.cluster, keep.level))})" if largest is None else f" (the largest has {largest} free)"
        return ConflictClause(text, (Demand(name, f"keep {keep.unit} in {keep.level}", keep.span or component.span("keep")),))


def _size(component: Component, keep: Keep) -> int:
    """Return the accelerators of a group."""
    parallel = component.parallel
    return {TP: parallel.tp, EP: parallel.tp * parallel.ep, REPLICA: parallel.replica}.get(keep.unit, 1)


def _is_one_group(subject: KeepSubject) -> bool:
    """Return True if the whole component is one piece for a single domain."""
    component, keep = subject
    return component.least == component.most and keep.domains == 1


def _are_whole(problem: Problem, subject: KeepSubject, ranks: Iterable[Seat]) -> bool:
    """Return True if the resources, in rank order, satisfy the demand."""
    component, keep = subject
    labels = [_label(problem, component, keep.level, seat) for seat in ranks]
    if keep.unit == WHOLE:
        return len(set(labels)) <= keep.domains
    size = _size(component, keep)
    return not len(labels) % size and all(len(set(labels[start : start + size])) == 1 for start in range(0, len(labels), size))


def _label(problem: Problem, component: Component, level: str, seat: Seat) -> object:
    """Return a label for the domain of a resource."""
    rank, index = seat
    node = problem.cluster.nodes[rank]
    if level not in (NUMA, NODE_LEVEL):
        return domain(node, level)
    masks = numa_masks(node) if level == NUMA and problem.kind(component) == ACCELERATOR and index >= 0 else ()
    return (rank, *(mask >> index & 1 for mask in masks))


def _largest(problem: Problem, component: Component, level: str) -> int | None:
    """Return the most free accelerators of a domain, on nodes of the component's groups.

    None for a component on nodes.
    """
    kind, free = problem.kind(component), dict[str, int]()
    if kind == NODE:
        return None
    for rank in sorted(problem.cluster.members(component.node_groups)):
        node = problem.cluster.nodes[rank]
        if level == NUMA and kind == ACCELERATOR:
            free[node.name] = max((node.free(kind) & mask).bit_count() for mask in numa_masks(node) or (0,))
        else:
            name = node.name if level == NUMA else domain(node, level)
            free[name] = free.get(name, 0) + node.free(kind).bit_count()
    return max(free.values(), default=0)


class ProcessOnOneNode(ComponentRule):
    """All resources of one process are on one node and of one kind.

    If the framework starts an engine of its own that reaches other nodes, a given process may lie
    on several: that is slow, not an error, and usual where only stages of a pipeline are apart.

    Source: RLinf, rlinf/scheduler/placement/flexible.py (one node per process, noticed only at
    launch).
    """

    code: ClassVar[str] = "PW203"

    def subjects(self, problem: Problem) -> Iterable[Component]:
        return problem.components

    def encode(self, problem: Problem, component: Component, variables: Variables) -> None:
        """Constrain given parts; units hold whole processes of a single node."""
        variables.require_multiples(component, component.per_process)

    def check(self, problem: Problem, component: Component, assignment: Assignment) -> Iterator[Finding]:
        crossing, mixes_kinds = dict[int, tuple[int, int]](), False
        last_rank, last_node, last_kind = -1, -1, ""
        for repeat in assignment.repeats(component.name):
            for run in repeat.runs:
                if run.ranks.start == last_rank and (run.node, run.kind) != (last_node, last_kind):
                    crossing.setdefault(last_rank, (last_node, run.node))
                    mixes_kinds |= run.kind != last_kind
                last_rank, last_node, last_kind = run.ranks.stop - 1, run.node, run.kind
            last_rank, last_node = repeat.ranks.stop - 1, repeat.node_ranks.stop - 1
        if crossing:
            rank, nodes = next(iter(crossing.items()))
            more = f" ({len(crossing)} processes do)" if len(crossing) > 1 else ""
            # Searched processes never cross nodes, even if the framework allows given ranks to do
            # so.
            may = problem.job.capabilities.processes_may_cross and component.runs is not None and not mixes_kinds
            stages, visits = component.parallel.pp, visits_of(problem, NODE_LEVEL, assignment, component.name)
            if may and stages > 1 and not torn(visits, component.parallel.tp):
                return  # each stage is on one node
            message = f"process {rank} of {component.name} spans nodes {nodes[0]} and {nodes[1]}{more}"
            message += ": slow, but not refused" if may else ""
            on_nodes, notes = problem.kind(component) == NODE, () if may else ("a process runs on one node",)
            advice = "name one node for each process" if on_nodes else "give each process accelerators of one node"
            yield self.fault(component, message, "placement", advice, (rank, *nodes), len(crossing), "crosses nodes", notes, not may)

    def explain(self, problem: Problem, component: Component) -> ConflictClause:
        per_process = component.per_process
        text = f"a process of {component.name} needs {per_process} of one node (the largest node has {largest_node(problem, component)})"
        return self.clause(component, text, *["per_process"] * (per_process > 1))


Torn = tuple[int, tuple[int, ...], tuple[int, ...]]
"""Replica number, its nodes, and its accelerators on every node."""


class ReplicaOnWholeNodes(ComponentRule):
    """A replica of an engine is inside one node, or on whole nodes.
    On whole nodes it has all accelerators of its component there.

    Replicas are cut from the ranks in order. A server is started for as many ranks as one node is
    assumed to give. If these lie on two nodes, the server gets accelerators of its own node that
    belong to others.

    Source: verl, verl/workers/rollout/replica.py (init_hybrid),
    verl/workers/rollout/vllm_rollout/vllm_async_server.py (launch_servers).
    """

    code: ClassVar[str] = "PW214"

    def subjects(self, problem: Problem) -> Iterable[Component]:
        return [c for c in problem.components if problem.whole_replica(c) > 1 and problem.kind(c) != NODE]

    def encode(self, problem: Problem, component: Component, variables: Variables) -> None:
        """Constrain given parts; units hold whole replicas of a single node."""
        variables.require_multiples(component, component.parallel.replica)

    def check(self, problem: Problem, component: Component, assignment: Assignment) -> Iterator[Finding]:
        size, replica = problem.whole_replica(component), component.parallel.replica
        # Searched replicas are inside one node; only given ones may span whole nodes.
        whole = component.runs is not None and not component.server
        cut = list(self._torn(size, list(visits_of(problem, NODE_LEVEL, assignment, component.name)), whole))
        if not cut:
            return
        number, nodes, counts = cut[0]
        group_name, unit = ("server", f"{size} of {replica} accelerators") if size < replica else ("replica", f"{size} accelerators")
        more = f" ({len(cut)} {group_name}s do)" if len(cut) > 1 else ""
        places = " and ".join(f"{count} on node {node}" for node, count in zip(nodes, counts))
        message = f"{group_name} {number} of {component.name} ({component.parallel}: {unit}) has {places}{more}"
        limits = f"a {group_name} must be inside one node{' or on whole nodes' if whole else ''}"
        advice = f"give {component.name} a number of accelerators on each node that {size} divides, or that divides {size}"
        edit, label = component.fix(self.code, "").edit, f"{group_name}s of {size} cross nodes"
        place = edit.span if edit else "placement"
        yield self.fault(component, message, place, advice, (number, *nodes), len(cut), label, (limits,))

    def _torn(self, size: int, visits: Sequence[Visit], may_be_whole: bool) -> Iterator[Torn]:
        """Yield the replicas on several nodes that leave accelerators of the component there."""
        totals = Counter[int]()
        for _, node, amount in visits:
            totals[node] += amount
        number, pieces = 0, list[tuple[int, int]]()
        for node, same in groupby(visits, key=lambda visit: visit[1]):
            amount = sum(amount for _, _, amount in same)
            if pieces:
                share = min(amount, size - sum(count for _, count in pieces))
                pieces.append((node, share))
                amount -= share
                if sum(count for _, count in pieces) < size:
                    continue
                if not may_be_whole or any(count != totals[host] for host, count in pieces):
                    yield number, tuple(host for host, _ in pieces), tuple(count for _, count in pieces)
                number += 1
            number, pieces = number + amount // size, [(node, amount % size)] if amount % size else []

    def explain(self, problem: Problem, component: Component) -> ConflictClause:
        size = component.parallel.replica
        text = (
            f"a replica of {component.name} needs {size} accelerators of one node (the largest node has {largest_node(problem, component)})"
        )
        return self.clause(component, text, "parallel")


class GroupInNode(ComponentRule):
    """The accelerators of a tensor parallel group are on one node.

    Groups are cut from the ranks in order: ranks 0 to tp-1 are the first.

    Source: Megatron-LM, core/parallel_state.py (tp is the fastest dimension of the rank order).
    """

    code: ClassVar[str] = "PW202"

    def subjects(self, problem: Problem) -> Iterable[Component]:
        """Return the components without a demand on the place of their tp groups.

        PW218 checks the others.
        """
        wide = [component for component in problem.components if component.parallel.tp > 1 and problem.kind(component) != NODE]
        return [component for component in wide if not any(keep.unit == TP for keep in component.keep)]

    def encode(self, problem: Problem, component: Component, variables: Variables) -> None:
        """Constrain given parts; units keep searched groups whole.

        A unit is counted in one cell and taken from one node, and no start cuts a unit.
        """
        variables.require_multiples(component, component.group_size)

    def check(self, problem: Problem, component: Component, assignment: Assignment) -> Iterator[Finding]:
        tp = component.parallel.tp
        cut = torn(visits_of(problem, NODE_LEVEL, assignment, component.name), tp)
        if not cut:
            return
        # A framework may let groups cross nodes: slow, but no failure. Searched groups never cross.
        may = problem.job.capabilities.groups_may_cross and component.runs is not None
        if may and problem.job.capabilities.processes_may_cross and component.per_process % tp == 0:
            return  # PW203 reports the process around the group, which crosses nodes too
        if may and problem.whole_replica(component) % tp == 0 and any(ReplicaOnWholeNodes().check(problem, component, assignment)):
            return  # PW214 reports the replica around the group
        group, nodes = next((group, (first, second)) for group, ((_, first), (_, second)) in cut.items())
        more = f" ({len(cut)} groups do)" if len(cut) > 1 else ""
        message = f"tp group {group} of {component.name} ({tp} accelerators) spans nodes {nodes[0]} and {nodes[1]}{more}"
        message += ": slow, but not refused" if may else ""
        most = max(node.count(problem.kind(component)) for node in problem.cluster.nodes)
        alignment = "start each group of ranks at a multiple of tp inside a node"
        advice, label = alignment if tp <= most else f"a tp of at most {most} would stay on a node", f"tp {tp} crosses nodes"
        place = "parallel" if self.code in component.fixes else "placement"
        yield self.fault(component, message, place, advice, (group, *nodes), len(cut), label, is_error=not may)

    def explain(self, problem: Problem, component: Component) -> ConflictClause:
        text = f"a tp group of {component.name} needs {component.parallel.tp} accelerators of one node (the largest node has {largest_node(problem, component)})"
        return self.clause(component, text, "parallel")
