"""Rule PW201: an accelerator is held once."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, ClassVar, Iterable, Iterator, Sequence

from ...models.component import Component
from ...models.findings.finding import Finding, error
from ...models.findings.wording import plural
from ...models.machines.node_group import ACCELERATOR
from ...models.placements.assignment import Assignment, runs_by_node_sort
from ...models.problem import ConflictClause, Problem
from ...models.ranks import list_ranks
from ...models.sharing import Members, find_around, sharing_sets
from ..layout.cells import enclosing_range, is_chain, numa_domains, shared_resources
from ..layout.parts import bits
from ..rule import ComponentRule
from ..wording import lowest

if TYPE_CHECKING:
    from ..layout.bundle import Bundle
    from ..layout.cells import Cell
    from ..layout.pools import NodePool
    from ..model.variables import Variables

Holder = tuple[str, str, int]
"""Joined names of colocated components, the first of them, and their mask."""


class NoOverlap(ComponentRule):
    """A resource exists, and at most one colocated set holds it.
    A resource that another job holds is not used.

    If the dialect expresses colocation by shared ranks, given components may share. A component
    inside another shares with that one, but not with others inside it. A searched component around
    given ones shares only their resources.
    """

    code: ClassVar[str] = "PW201"

    def subjects(self, problem: Problem) -> Iterable[str]:
        return ("accelerators",)

    def encode(self, problem: Problem, subject: str, variables: Variables) -> None:
        self._forbid_enclosed(variables)
        self._ranges(variables)
        for cell in variables.cells:
            for pool in variables.layout.pools:
                self._counts(pool, cell, variables)
            if variables.layout.shared:
                self._post_shared(cell, variables)

    def _forbid_enclosed(self, variables: Variables) -> None:
        """Forbid given resources inside two searched bundles that share nothing."""
        hosts = variables.layout.hosts
        for (first, first_masks), (second, second_masks) in combinations(variables.layout.enclosed.items(), 2):
            if first not in hosts[second] and second not in hosts[first]:
                is_disjoint = not any(mask & second_masks.get(node, 0) for node, mask in first_masks.items())
                variables.require(is_disjoint)

    def _ranges(self, variables: Variables) -> None:
        """Require contiguous bundles to be apart or nested.

        Their places hold only free resources.
        """
        pool_of, hosts = variables.layout.pool_of, variables.layout.hosts
        for first, second in combinations([bundle for pool in variables.layout.pools for bundle in pool.ranged], 2):
            rings = enclosing_range(pool_of, first), enclosing_range(pool_of, second)
            if rings[1] is first or rings[0] is second:
                inner, outer = (second, first) if rings[1] is first else (first, second)
                variables.require_inside(inner, outer)
            elif first.kind == second.kind and rings[0] is rings[1] and first not in hosts[second] and second not in hosts[first]:
                variables.require_disjoint(first, second)

    def _counts(self, pool: NodePool, cell: Cell, variables: Variables) -> None:
        if pool.host is not None:
            # Around a searched host every cell is a single node.
            inner = [bundle for inner_pool in variables.layout.pools if inner_pool.host is pool.host for bundle in inner_pool.bundles]
            load = variables.total(variables.beside_enclosed(bundle, cell) for bundle in inner)
            variables.require(load <= variables.beside_enclosed(pool.host, cell))
            return
        bundles = [bundle for bundle in pool.counted if variables.may_hold(bundle, cell)]
        # A plain sum is exact on a single node, whatever the sizes; several nodes need a row per
        # size.
        unit_sizes = {bundle: variables.layout.count_taken(bundle, cell) for bundle in bundles}
        for size in [1] if len(cell.nodes) == 1 else sorted(set(unit_sizes.values())):
            load = variables.total(
                unit_size // size * variables.units(bundle, cell) for bundle, unit_size in unit_sizes.items() if unit_size >= size
            )
            inner_count = sum(variables.layout.count_enclosed(bundle, cell) for bundle in bundles)
            variables.require(load - inner_count <= variables.slots(cell, pool, size))
        self._in_numa(pool, cell, [bundle for bundle in bundles if bundle.piece > 1], variables)

    def _post_shared(self, cell: Cell, variables: Variables) -> None:
        """Post rows for partly shared resources, and for ranges in counted bundles.

        A cell with any of these is a single node.
        """
        node = cell.nodes[0].rank
        for kind in dict.fromkeys(pool.kind for pool in variables.layout.shared):
            for mask, ring, inner, ranges in shared_resources([pool for pool in variables.layout.shared if pool.kind == kind], node):
                amounts = [variables.beside_enclosed(bundle, cell) for bundle in inner]
                amounts += [variables.range_of(bundle).covers(node, index) for bundle in ranges for index in bits(mask)]
                limit = variables.total(variables.range_of(ring).covers(node, index) for index in bits(mask)) if ring else mask.bit_count()
                variables.require(variables.total(amounts) <= limit)

    def _in_numa(self, pool: NodePool, cell: Cell, bound: list[Bundle], variables: Variables) -> None:
        """Post rows for pieces inside NUMA domains, a row per size.

        If the sizes form no chain, each cell is a single node, and its NUMA domains are counted.
        """
        if is_chain(bundle.piece for bundle in bound) and not any(variables.layout.count_enclosed(bundle, cell) for bundle in bound):
            for size in sorted({bundle.piece for bundle in bound}):
                load = variables.total(b.unit // size * variables.units(b, cell) for b in bound if b.piece >= size)
                variables.require(load <= variables.slots(cell, pool, size, inside_numa=True))
            return
        in_domain = {bundle: variables.pieces_by_domain(bundle, cell) for bundle in bound}
        domains = numa_domains(cell.nodes[0], pool.kind)
        for number, free_count in enumerate(variables.count_left_in_domains(cell, pool)):
            inner_masks = [variables.layout.enclosed.get(bundle, {}).get(cell.nodes[0].rank, 0) & domains[number] for bundle in bound]
            load = variables.total(bundle.piece * domain_pieces[number] for bundle, domain_pieces in in_domain.items())
            variables.require(load - sum(mask.bit_count() for mask in inner_masks) <= free_count)

    def check(self, problem: Problem, subject: str, assignment: Assignment) -> Iterator[Finding]:
        sets = sharing_sets(problem)
        for component in (component for members in sets for component in members):
            yield from self._exists(problem, component, assignment)
            if component.runs is None:
                yield from self._within(component, assignment)
        foreign = [stretch for stretch in problem.cluster.alike if stretch.node.taken]
        if len(sets) + bool(foreign) < 2:
            return  # a single holder cannot overlap
        holders_at: dict[tuple[int, str], list[Holder]] = {}
        masks_at, is_met = dict[tuple[int, str], int](), False
        for stretch in foreign:
            for rank in range(stretch.node.rank, stretch.stop):
                holders_at[rank, ACCELERATOR] = [("another job", "", stretch.node.taken)]
                masks_at[rank, ACCELERATOR] = stretch.node.taken
        masks = {component.name: assignment.masks(component.name) for members in sets for component in members}
        for members in sets:
            set_masks: dict[tuple[int, str], int] = {}
            for component in members:
                for place, mask in masks[component.name].items():
                    set_masks[place] = set_masks.get(place, 0) | mask
            for place, mask in set_masks.items():
                is_met = is_met or bool(masks_at.get(place, 0) & mask)
                masks_at[place] = masks_at.get(place, 0) | mask
                holders_at.setdefault(place, []).append(("+".join(component.name for component in members), members[0].name, mask))
        if not is_met:
            return
        inner_names: dict[tuple[str, str], list[str]] | None = None
        fixes: dict[tuple[str, str], str] = {}
        for (rank, kind), entries in sorted(holders_at.items()):
            holders: list[Holder] = []
            for name, lead, mask in entries:
                for earlier, earlier_lead, earlier_mask in holders:
                    both = mask & earlier_mask
                    if both:
                        inner_names = _find_inside(problem, sets) if inner_names is None else inner_names
                        for inner in (*inner_names.get((lead, earlier_lead), ()), *inner_names.get((earlier_lead, lead), ())):
                            both &= ~masks[inner].get((rank, kind), 0)
                    if both:
                        message = f"{name} and {earlier} both hold accelerator {lowest(both)} of node {rank} ({both.bit_count()} in all)"
                        if earlier_lead and (lead, earlier_lead) not in fixes:
                            fixes[lead, earlier_lead] = _sharing_fix(assignment, lead, earlier_lead)
                        help = fixes[lead, earlier_lead] if earlier_lead else _free(problem, rank)
                        yield error(
                            self.code, lead, message, problem[lead].span("placement"), label=f"also held by {earlier}",
                            help=help, witnesses=(rank, lowest(both)), amount=both.bit_count(),
                        )  # fmt: skip
                holders.append((name, lead, mask))

    def _exists(self, problem: Problem, component: Component, assignment: Assignment) -> Iterator[Finding]:
        """Yield errors on resources that do not exist."""
        for run, node, _ in runs_by_node_sort(problem.cluster, assignment.repeats(component.name)):
            if run.within[0] < 0 or run.mask & ~node.whole(run.kind):
                message = f"{component.name} uses accelerator {run.within[1]} of node {run.node}, which has {node.count(run.kind)}"
                yield self.fault(component, message, "placement", "", (run.node, run.within[1]), 1)

    def _within(self, component: Component, assignment: Assignment) -> Iterator[Finding]:
        """Yield errors on processes of a component that share an accelerator.

        Only for searched components: given ranks may share.
        """
        before: dict[tuple[int, str], int] = {}
        for run in assignment.of(component.name):
            mask, place = run.mask, (run.node, run.kind)
            if mask & before.get(place, 0) or mask.bit_count() < run.amount:
                message = f"two processes of {component.name} hold the same accelerator of node {run.node}"
                yield self.fault(component, message, "placement", "", (run.node,), 1)
            before[place] = before.get(place, 0) | mask

    def explain(self, problem: Problem, subject: str) -> ConflictClause:
        free = sum(node.free(ACCELERATOR).bit_count() for node in problem.cluster.nodes)
        return ConflictClause(f"the cluster has {free} {plural('free accelerator', free)}")


def _find_inside(problem: Problem, sets: Sequence[Members]) -> dict[tuple[str, str], list[str]]:
    """Return (first components of two sets) -> components of one set inside the other."""
    home = {component.name: members[0].name for members in sets for component in members}
    outer, inner_names = find_around(problem, problem.colocated_sets), dict[tuple[str, str], list[str]]()
    for members in problem.colocated_sets:
        for host in outer[members[0].name]:
            inner_names.setdefault((home[members[0].name], home[host[0].name]), []).extend(component.name for component in members)
    return inner_names


def _sharing_fix(assignment: Assignment, first: str, second: str) -> str:
    """Return a fix for components that share accelerators, as text.

    Different ranks, or the relation that the ranks would satisfy.
    """
    first_masks, second_masks = assignment.masks(first), assignment.masks(second)
    if first_masks == second_masks:
        return f"give them different ranks, or write `colocate_with: {second}` for {first}"
    for (inner, inner_masks), (outer, around_it) in (
        ((first, first_masks), (second, second_masks)),
        ((second, second_masks), (first, first_masks)),
    ):
        if all(not mask & ~around_it.get(place, 0) for place, mask in inner_masks.items()):
            return f"give them different ranks, or write `within: {outer}` for {inner}"
    return "give them different ranks"


def _free(problem: Problem, rank: int) -> str:
    """Return a fix with the free accelerators of a node, as text."""
    if free := problem.cluster.nodes[rank].free(ACCELERATOR):
        return f"of node {rank} name accelerators that are free: {list_ranks(bits(free))}"
    return f"name another node: on node {rank} no accelerator is free"
