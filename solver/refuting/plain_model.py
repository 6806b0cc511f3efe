"""A second model of a problem, written apart from `model/` and `rules/`: resources per node, and nothing about which ones.

The search and its model share one encoding of every rule, so two "infeasible" answers of it can share one mistake. This model is made
from the definitions of the demands alone. It is a relaxation: orders of ranks, ranges, holes and what is dealt out are left out. So
every placement satisfies it, and where nothing satisfies it there is no placement.
"""

from __future__ import annotations

from functools import cached_property
from math import lcm
from typing import Iterable, Iterator, Mapping, Union

from ortools.sat.python import cp_model

from ...models.component import APART, DISJOINT, NEAR, NOT_FEWER, SUBSET, Component
from ...models.locality import EP, REPLICA, TP, WHOLE, Keep
from ...models.machines.node import Node
from ...models.machines.node_group import ACCELERATOR, NODE
from ...models.machines.topology import NODE_LEVEL, NUMA, domain
from ...models.problem import Problem

SECONDS = 5.0
"""Deterministic seconds of the one search."""
MOST_COUNTS = 60_000
"""Counts of a component on a node that are decided at most."""

Amount = Union[int, cp_model.LinearExpr]
Members = tuple[Component, ...]


def is_refuted(problem: Problem) -> bool:
    """True if the plain model proves that a problem has no placement; False if it has one, is too large, or is not decided in time.

    The choices of the problem are made: degrees, and whether components that are `colocated or disjoint` share.
    """
    if len(problem.cluster.nodes) * len(problem.components) > MOST_COUNTS or not all(_is_of_one_kind(problem, c) for c in problem.hinted):
        return False
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.cp_model_presolve = False
    solver.parameters.max_deterministic_time = SECONDS
    solver.parameters.catch_sigint_signal = False
    return bool(solver.solve(PlainModel(problem).model) == cp_model.INFEASIBLE)


def _is_of_one_kind(problem: Problem, component: Component) -> bool:
    return problem.kind(component) == NODE or len({problem.cluster.groups[label].kind for label in component.node_groups}) == 1


class PlainModel:
    """Counts of resources per node and component, with a row for each demand that counts can say.

    Attributes
    ----------
    model : the rows.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem, self.model = problem, cp_model.CpModel()
        self._nodes = list(problem.cluster.nodes)
        self._given = problem.given()
        self._counts: dict[str, list[Amount]] = {}
        self._members: dict[tuple[str, ...], frozenset[int]] = {}
        self._present: dict[tuple[str, str], dict[str, Amount]] = {}
        for component in problem.components:
            if component.runs is not None:
                self._counts[component.name] = self._of_given(component)
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
        """Components on the same resources, as far as they hold any; each of the others alone."""
        found: list[Members] = []
        for members in self.problem.colocated_sets:
            holding = tuple(each for each in members if self.problem.kind(each) != NODE)
            found += [holding] if holding else []
            found += [(each,) for each in members if self.problem.kind(each) == NODE]
        return found

    def _of_given(self, component: Component) -> list[Amount]:
        """Resources of a given component on each node; of processes without resources how many."""
        if self.problem.kind(component) == NODE:
            processes = self._given.processes_on(component.name)
            return [processes.get(node.rank, 0) for node in self._nodes]
        masks = self._given.masks(component.name)
        return [sum(mask.bit_count() for (rank, _), mask in masks.items() if rank == node.rank) for node in self._nodes]

    def _place(self, members: Members) -> None:
        """The counts of a set: all of its members have the same ones."""
        given = next((each for each in members if each.runs is not None), None)
        hinted = [each for each in members if each.runs is None]
        if given is not None:
            counts = self._counts[given.name]
            for each in hinted:
                self._require(each.may_have(sum(count for count in counts if isinstance(count, int))))
        else:
            piece = lcm(*(self._piece(each) for each in hinted))
            rooms = [self._room(node, members) // piece for node in self._nodes]
            counts = [piece * self.model.new_int_var(0, room, "") if room else 0 for room in rooms]
            step = lcm(*(1 if self.problem.kind(each) == NODE else each.step for each in hinted))
            allowed = [
                amount for amount in range(0, piece * sum(rooms) + 1, piece)
                if amount % step == 0 and all(each.may_have(amount) for each in hinted)
            ]  # fmt: skip
            total = self.model.new_int_var_from_domain(cp_model.Domain.from_values(allowed), "") if allowed else 0
            self._require(bool(allowed))
            self.model.add(sum(counts) == total)
        self._counts.update({each.name: counts for each in hinted})

    def _piece(self, component: Component) -> int:
        """Resources of which a node has a multiple: those of a process, in whole tensor parallel groups unless these may lie elsewhere."""
        if self.problem.kind(component) == NODE:
            return 1
        kept = [keep for keep in component.keep if keep.what == TP]
        inside = not kept or any(keep.required and keep.level in (NODE_LEVEL, NUMA) for keep in kept)
        return lcm(component.per_process, component.parallel.tp if inside else 1)

    def _room(self, node: Node, members: Members) -> int:
        """Resources of a node that a set may use at all."""
        kind = self.problem.kind(members[0])
        if not all(self._may_use(each, node) for each in members):
            return 0
        if kind == NODE:
            return members[0].most
        has = node.accelerator_memory if kind == ACCELERATOR else None
        return 0 if has is not None and _memory(members, has) > has else node.free(kind).bit_count()

    def _may_use(self, component: Component, node: Node) -> bool:
        labels, model = component.node_groups, component.accelerator_model
        if labels not in self._members:
            self._members[labels] = self.problem.cluster.members(labels)
        fits = not model or self.problem.kind(component) != ACCELERATOR or node.accelerator_model == model
        return fits and node.rank in self._members[labels] and node.rank not in component.excluded

    # -- rows

    def _require(self, holds: bool) -> None:
        if not holds:
            self.model.add_bool_or([])

    def _capacity(self) -> None:
        """Each resource of a node is held by one set, those aside that lie within another."""
        inner = {relation.components[0] for relation in self.problem.related(SUBSET)}
        nested = [members for members in self._sets if not inner.isdisjoint(each.name for each in members)]
        given = [members for members in self._sets if any(each.runs is not None for each in members)]
        held: dict[tuple[int, str], int] = {}
        within: dict[tuple[int, str], int] = {}
        for members in given:
            masks = within if members in nested else held
            for place, mask in ((place, mask) for each in members for place, mask in self._given.masks(each.name).items()):
                masks[place] = masks.get(place, 0) | mask
        open_ = [members for members in self._sets if members not in given and members not in nested]
        for kind in {self.problem.kind(members[0]) for members in open_} - {NODE}:
            its = [self._counts[members[0].name] for members in open_ if self.problem.kind(members[0]) == kind]
            for number, node in enumerate(self._nodes):
                # What lies within another may be on resources that given ones hold too.
                free = node.free(kind) & ~(held.get((node.rank, kind), 0) & ~within.get((node.rank, kind), 0))
                self._at_most(sum(counts[number] for counts in its), free.bit_count())

    def _on_nodes(self) -> None:
        """CPUs and memory of the nodes, for all processes on them."""
        for number, node in enumerate(self._nodes):
            for name, has in (("cpus", node.cpus), ("host_memory", node.memory)):
                if has is not None:
                    its = [each for each in self.problem.components if getattr(each, name)]
                    self._at_most(sum(getattr(each, name) * self._processes(each, number) for each in its), has)

    def _processes(self, component: Component, number: int) -> Amount:
        """Processes of a component on a node."""
        if component.runs is not None:
            return self._given.processes_on(component.name).get(self._nodes[number].rank, 0)
        count = self._counts[component.name][number]
        if self.problem.kind(component) == NODE or component.per_process == 1:
            return count
        processes = self.model.new_int_var(0, self._nodes[number].count(self.problem.kind(component)), "")
        self.model.add(component.per_process * processes == count)
        return processes

    def _topology(self, component: Component) -> None:
        """What is kept together, spread and pinned."""
        counts, nodes = self._counts[component.name], self.problem.kind(component) == NODE
        for keep in (keep for keep in component.keep if keep.required and keep.level != NUMA):
            if keep.what == WHOLE:
                self._at_most(sum(self._domains(component, keep.level).values()), keep.domains)
            elif not nodes and (size := _kept(component, keep)) > 1:
                for its in self._by_domain(keep.level).values():
                    self.model.add(sum(counts[number] for number in its) == size * self.model.new_int_var(0, 1 << 30, ""))
        for spread in (spread for spread in component.spread if spread.level != NUMA):
            if spread.domains > 1:
                self._at_most(spread.domains, sum(self._domains(component, spread.level).values()))
            size = 1 if nodes else component.group_size
            share = self.model.new_int_var(0, 1 << 30, "")  # the percentage in whole groups, rounded up
            self.model.add(100 * size * share <= spread.percent * sum(counts) + 100 * size - 1)
            for its in self._by_domain(spread.level).values():
                self.model.add(sum(counts[number] for number in its) <= size * share)
        for pin in component.pins:
            pinned = sum(rank * component.per_process < component.least for rank in pin.ranks)
            there = [self._counts[component.name][number] for number, node in enumerate(self._nodes) if node.rank in pin.nodes]
            self._at_most(pinned * (1 if nodes else component.per_process), sum(there))

    def _relations(self) -> None:
        """What is asked between two components."""
        problem = self.problem
        for relation in problem.related(SUBSET):
            inner, outer = (problem[name] for name in relation.components)
            if problem.kind(inner) == problem.kind(outer) != NODE:
                for one, other in zip(self._counts[inner.name], self._counts[outer.name]):
                    self._at_most(one, other)
        for relation in problem.related(DISJOINT):
            for members in self._sets:
                self._require(not {*relation.components} <= {each.name for each in members})
        for relation in (relation for kind in (APART, NEAR) for relation in problem.related(kind) if relation.level != NUMA):
            here, there = (self._domains(problem[name], relation.level) for name in relation.components)
            for name in here:
                if relation.kind == APART:
                    self._at_most(here[name] + there[name], 1)
                else:
                    self._at_most(here[name], there[name])
        for relation in problem.related(NOT_FEWER):
            many, few = (problem[name] for name in relation.components)
            self._at_most(self._least_processes(few), self._most_processes(many))

    def _least_processes(self, component: Component) -> int:
        own = component.least if self.problem.kind(component) == NODE else -(-component.least // component.per_process)
        return self._given.world_size(component.name) if component.runs is not None else own

    def _most_processes(self, component: Component) -> Amount:
        if component.runs is not None:
            return self._given.world_size(component.name)
        return sum(self._processes(component, number) for number in range(len(self._nodes)))

    def _by_domain(self, level: str) -> Mapping[str, list[int]]:
        """The positions of the nodes of each domain."""
        found: dict[str, list[int]] = {}
        for number, node in enumerate(self._nodes):
            found.setdefault(domain(node, level), []).append(number)
        return found

    def _domains(self, component: Component, level: str) -> Mapping[str, Amount]:
        """For each domain, whether it holds some of a component."""
        key = component.name, level
        if key not in self._present:
            self._present[key] = dict(self._presence(component, level))
        return self._present[key]

    def _presence(self, component: Component, level: str) -> Iterator[tuple[str, Amount]]:
        if component.runs is not None:
            there = {node for node, _ in self._given.masks(component.name)} | set(self._given.processes_on(component.name))
            for name, its in self._by_domain(level).items():
                yield name, int(any(self._nodes[number].rank in there for number in its))
            return
        for name, its in self._by_domain(level).items():
            amount, present = sum(self._counts[component.name][number] for number in its), self.model.new_bool_var("")
            most = sum(self._room(self._nodes[number], (component,)) for number in its)
            self._at_most(amount, most * present)
            self._at_most(present, amount)
            yield name, present

    def _at_most(self, one: Amount, other: Amount) -> None:
        if isinstance(one, int) and isinstance(other, int):
            self._require(one <= other)
        else:
            self.model.add(one <= other)


def _memory(members: Iterable[Component], capacity: int) -> int:
    """MiB that components on the same accelerator need there in the phase that needs most."""
    its = list(members)
    found = []
    for phase in dict.fromkeys(phase for each in its for phase in each.phases) or ("",):
        needs = [(each.needs(capacity), not each.phases or phase in each.phases) for each in its]
        found.append(sum(working if is_there else kept for (working, kept), is_there in needs))
    return max(found)


def _kept(component: Component, keep: Keep) -> int:
    """Accelerators of a group that is kept in one domain, where all groups are whole; else 1."""
    parallel = component.parallel
    size = {TP: parallel.tp, EP: parallel.tp * parallel.ep, REPLICA: parallel.replica}[keep.what]
    return size if parallel.replica % size == 0 else 1
