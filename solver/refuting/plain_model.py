"""Independent second model: resource counts per node, without their identity.

The search and its model share one encoding of every rule, so two "infeasible" answers may share one
mistake. This model follows from the definitions of the demands alone. It is a relaxation without
rank orders, ranges, holes and shares: every placement satisfies it, so its infeasibility is a
proof.
"""

from __future__ import annotations

from collections import Counter
from functools import cached_property
from math import lcm
from typing import Iterable, Mapping, Union

from ortools.sat.python import cp_model

from ...models.component import APART, DISJOINT, EP, NEAR, NOT_FEWER, REPLICA, SUBSET, TP, WHOLE, Component, Keep
from ...models.machines.node import Node
from ...models.machines.node_group import ACCELERATOR, NODE
from ...models.machines.topology import NODE_LEVEL, NUMA, domain
from ...models.problem import Problem

SECONDS = 5.0
"""Deterministic seconds of the search."""
MOST_COUNTS = 60_000
"""Largest number of decision counts (component x node)."""
Amount = Union[int, cp_model.LinearExpr]
Members = tuple[Component, ...]


def is_refuted(problem: Problem) -> bool:
    """Return True if the plain model proves that a problem has no placement.

    False if it is feasible, too large or undecided in time. Choices must be made: degrees, and
    whether components that are `colocated or disjoint` share.
    """
    groups = problem.cluster.groups
    components = [component for component in problem.hinted if problem.kind(component) != NODE]
    if any(len({groups[label].kind for label in component.node_groups}) > 1 for component in components):
        return False
    if len(problem.cluster.nodes) * len(problem.components) > MOST_COUNTS:
        return False
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.cp_model_presolve = False
    solver.parameters.max_deterministic_time = SECONDS
    solver.parameters.catch_sigint_signal = False
    return bool(solver.solve(PlainModel(problem).model) == cp_model.INFEASIBLE)


class PlainModel:
    """Counts of resources per node and component, with rows for countable demands.

    Attributes
    ----------
    model : the CP-SAT model.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem, self.model = problem, cp_model.CpModel()
        self._nodes, self._given = list(problem.cluster.nodes), problem.build_given()
        self._counts = {component.name: self._of_given(component) for component in problem.components if component.runs is not None}
        self._members: dict[tuple[str, ...], frozenset[int]] = {}
        self._present: dict[tuple[str, str], dict[str, Amount]] = {}
        for members in self._sets:
            self._place(members)
        self._capacity()
        self._on_nodes()
        for component in problem.hinted:
            self._topology(component)
        self._relations()

    # -- counts

    @cached_property
    def _sets(self) -> list[Members]:
        """Colocated sets with resources; components without resources are separate."""
        sets: list[Members] = []
        for members in self.problem.colocated_sets:
            holding = tuple(member for member in members if self.problem.kind(member) != NODE)
            sets += [holding] if holding else []
            sets += [(member,) for member in members if member not in holding]
        return sets

    def _of_given(self, component: Component) -> list[Amount]:
        """Return an explicit component's resources per node, or processes without resources."""
        if self.problem.kind(component) == NODE:
            counts = self._given.processes_on(component.name)
        else:
            counts = Counter(rank for (rank, _), mask in self._given.masks(component.name).items() for _ in range(mask.bit_count()))
        return [counts.get(node.rank, 0) for node in self._nodes]

    def _place(self, members: Members) -> None:
        """Create the counts of a set, shared by all members."""
        explicit = next((member for member in members if member.runs is not None), None)
        open_members = [member for member in members if member.runs is None]
        if explicit is not None:
            counts = self._counts[explicit.name]
            amount = sum(count for count in counts if isinstance(count, int))
            self._require(all(member.may_have(amount) for member in open_members))
        else:
            piece = lcm(*(self._piece(member) for member in open_members))
            capacities = [self._room(node, members) // piece for node in self._nodes]
            counts = [piece * self.model.new_int_var(0, capacity, "") if capacity else 0 for capacity in capacities]
            step = lcm(*(1 if self.problem.kind(member) == NODE else member.step for member in open_members))
            possible = (amount for amount in range(0, piece * sum(capacities) + 1, piece) if amount % step == 0)
            amounts = [amount for amount in possible if all(member.may_have(amount) for member in open_members)]
            total = self.model.new_int_var_from_domain(cp_model.Domain.from_values(amounts), "") if amounts else 0
            self._require(bool(amounts))
            self.model.add(sum(counts) == total)
        self._counts.update({member.name: counts for member in open_members})

    def _piece(self, component: Component) -> int:
        """Return the resources of a process, in whole tp groups unless they may cross nodes."""
        if self.problem.kind(component) == NODE:
            return 1
        tp_keeps = [keep for keep in component.keep if keep.unit == TP]
        is_local = not tp_keeps or any(keep.required and keep.level in (NODE_LEVEL, NUMA) for keep in tp_keeps)
        return lcm(component.per_process, component.parallel.tp if is_local else 1)

    def _room(self, node: Node, members: Members) -> int:
        """Return the resources of a node usable by a set."""
        kind = self.problem.kind(members[0])
        if not all(self._may_use(member, node) for member in members):
            return 0
        if kind == NODE:
            return members[0].most
        capacity = node.accelerator_memory if kind == ACCELERATOR else None
        return 0 if capacity is not None and _memory(members, capacity) > capacity else node.free(kind).bit_count()

    def _may_use(self, component: Component, node: Node) -> bool:
        labels, model = component.node_groups, component.accelerator_model
        if labels not in self._members:
            self._members[labels] = self.problem.cluster.members(labels)
        fits = not model or self.problem.kind(component) != ACCELERATOR or node.accelerator_model == model
        return fits and node.rank in self._members[labels] and node.rank not in component.excluded

    # -- rows

    def _require(self, condition: bool) -> None:
        if not condition:
            self.model.add_bool_or([])

    def _at_most(self, smaller: Amount, larger: Amount) -> None:
        if isinstance(smaller, int) and isinstance(larger, int):
            self._require(smaller <= larger)
        else:
            self.model.add(smaller <= larger)

    def _capacity(self) -> None:
        """Require that a node's resources belong to a single set, except nested sets."""
        inner = {relation.components[0] for relation in self.problem.find_relations(SUBSET)}
        occupied_masks: dict[tuple[int, str], int] = {}
        within: dict[tuple[int, str], int] = {}
        open_sets: list[Members] = []
        for members in self._sets:
            is_nested = not inner.isdisjoint(member.name for member in members)
            if any(member.runs is not None for member in members):
                masks = within if is_nested else occupied_masks
                for place, mask in ((place, mask) for member in members for place, mask in self._given.masks(member.name).items()):
                    masks[place] = masks.get(place, 0) | mask
            elif not is_nested:
                open_sets.append(members)
        for kind in {self.problem.kind(members[0]) for members in open_sets} - {NODE}:
            open_counts = [self._counts[members[0].name] for members in open_sets if self.problem.kind(members[0]) == kind]
            for number, node in enumerate(self._nodes):
                # Nested components may use resources that explicit ones hold too.
                free = node.free(kind) & ~(occupied_masks.get((node.rank, kind), 0) & ~within.get((node.rank, kind), 0))
                self._at_most(sum(counts[number] for counts in open_counts), free.bit_count())

    def _on_nodes(self) -> None:
        """Require CPUs and memory for all processes of a node."""
        for number, node in enumerate(self._nodes):
            for name, capacity in (("cpus", node.cpus), ("host_memory", node.memory)):
                users = [component for component in self.problem.components if getattr(component, name)]
                if capacity is not None:
                    self._at_most(sum(getattr(component, name) * self._processes(component, number) for component in users), capacity)

    def _processes(self, component: Component, number: int) -> Amount:
        """Return the processes of a component on a node."""
        if component.runs is not None:
            return self._given.processes_on(component.name).get(self._nodes[number].rank, 0)
        count = self._counts[component.name][number]
        if self.problem.kind(component) == NODE or component.per_process == 1:
            return count
        processes = self.model.new_int_var(0, self._nodes[number].count(self.problem.kind(component)), "")
        self.model.add(component.per_process * processes == count)
        return processes

    def _topology(self, component: Component) -> None:
        """Require keeps, spreads and pins."""
        counts, nodes = self._counts[component.name], self.problem.kind(component) == NODE
        for keep in (keep for keep in component.keep if keep.required and keep.level != NUMA):
            if keep.unit == WHOLE:
                self._at_most(sum(self._domains(component, keep.level).values()), keep.domains)
            elif not nodes and (size := _count_kept(component, keep)) > 1:
                for positions in self._by_domain(keep.level).values():
                    self.model.add(sum(counts[number] for number in positions) == size * self.model.new_int_var(0, 1 << 30, ""))
        for spread in (spread for spread in component.spread if spread.level != NUMA):
            if spread.domains > 1:
                self._at_most(spread.domains, sum(self._domains(component, spread.level).values()))
            size = 1 if nodes else component.group_size
            share = self.model.new_int_var(0, 1 << 30, "")  # percentage in whole groups, rounded up
            self.model.add(100 * size * share <= spread.percent * sum(counts) + 100 * size - 1)
            for positions in self._by_domain(spread.level).values():
                self.model.add(sum(counts[number] for number in positions) <= size * share)
        for pin in component.pins:
            rank_count = sum(rank * component.per_process < component.least for rank in pin.ranks)
            pinned_counts = [counts[number] for number, node in enumerate(self._nodes) if node.rank in pin.nodes]
            self._at_most(rank_count * (1 if nodes else component.per_process), sum(pinned_counts))

    def _relations(self) -> None:
        """Require the relations between two components."""
        problem = self.problem
        for kind in (SUBSET, DISJOINT, APART, NEAR, NOT_FEWER):
            for relation in (relation for relation in problem.find_relations(kind) if relation.level != NUMA):
                if kind == DISJOINT:
                    self._require(not any({*relation.components} <= {member.name for member in members} for members in self._sets))
                    continue
                first, second = (problem[name] for name in relation.components)
                if kind == SUBSET and problem.kind(first) == problem.kind(second) != NODE:
                    for inner_count, outer_count in zip(self._counts[first.name], self._counts[second.name]):
                        self._at_most(inner_count, outer_count)
                elif kind == NOT_FEWER:
                    self._at_most(self._least_processes(second), self._most_processes(first))
                elif kind in (APART, NEAR):
                    of_second = self._domains(second, relation.level)
                    for name, present in self._domains(first, relation.level).items():
                        self._at_most(*((present + of_second[name], 1) if kind == APART else (present, of_second[name])))

    def _least_processes(self, component: Component) -> int:
        if component.runs is not None:
            return self._given.world_size(component.name)
        return component.least if self.problem.kind(component) == NODE else -(-component.least // component.per_process)

    def _most_processes(self, component: Component) -> Amount:
        if component.runs is not None:
            return self._given.world_size(component.name)
        return sum(self._processes(component, number) for number in range(len(self._nodes)))

    def _by_domain(self, level: str) -> Mapping[str, list[int]]:
        """Return domain -> positions of nodes."""
        positions: dict[str, list[int]] = {}
        for number, node in enumerate(self._nodes):
            positions.setdefault(domain(node, level), []).append(number)
        return positions

    def _domains(self, component: Component, level: str) -> Mapping[str, Amount]:
        """Return domain -> indicator of the component's presence."""
        key = component.name, level
        if key not in self._present:
            presence = self._presence if component.runs is None else self._given_presence
            self._present[key] = {name: presence(component, positions) for name, positions in self._by_domain(level).items()}
        return self._present[key]

    def _given_presence(self, component: Component, positions: list[int]) -> Amount:
        nodes = {node for node, _ in self._given.masks(component.name)} | set(self._given.processes_on(component.name))
        return int(any(self._nodes[number].rank in nodes for number in positions))

    def _presence(self, component: Component, positions: list[int]) -> Amount:
        amount, present = sum(self._counts[component.name][number] for number in positions), self.model.new_bool_var("")
        self._at_most(amount, sum(self._room(self._nodes[number], (component,)) for number in positions) * present)
        self._at_most(present, amount)
        return present


def _memory(members: Iterable[Component], capacity: int) -> int:
    """Return the MiB of colocated components in the worst phase."""
    components, sums = list(members), []
    for phase in {phase for component in components for phase in component.phases} or {""}:
        needs = [(component.needs(capacity), not component.phases or phase in component.phases) for component in components]
        sums.append(sum(working if is_working else idle for (working, idle), is_working in needs))
    return max(sums)


def _count_kept(component: Component, keep: Keep) -> int:
    """Return the accelerators of a group within a domain, 1 if groups are split."""
    parallel = component.parallel
    size = {TP: parallel.tp, EP: parallel.tp * parallel.ep, REPLICA: parallel.replica}[keep.unit]
    return size if parallel.replica % size == 0 else 1
