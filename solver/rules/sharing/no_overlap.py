"""An accelerator is held once."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, ClassVar, Iterable, Iterator, Sequence

from ....models.component import Component
from ....models.demand import Clause
from ....models.findings.finding import Finding, error
from ....models.findings.wording import plural
from ....models.machines.node_group import ACCELERATOR
from ....models.placements.assignment import Assignment, met
from ....models.problem import Problem
from ....models.ranks import merge, write_ranks
from ....models.sharing import Members, around, holders
from ...layout.cells import is_chain, numa_domains, ring_of, rooms
from ...layout.parts import bits
from ...wording import lowest

if TYPE_CHECKING:
    from ...layout.bundle import Bundle
    from ...layout.cells import Cell
    from ...layout.pools import Pool
    from ...model.variables import Variables

Holder = tuple[str, str, int]
"""(names of the components together, the first of them, what they hold)."""


class NoOverlap:
    """A resource is held by one colocated set at most, never by one that another job holds, and it exists.

    Components whose ranks are given may share where the dialect says colocation that way; what lies within another shares
    with that one, but not with others that lie there. What is searched around given ones shares only what these hold.
    """

    code: ClassVar[str] = "PW201"
    packs: ClassVar[bool] = True

    def subjects(self, problem: Problem) -> Iterable[str]:
        return ("accelerators",)

    def encode(self, problem: Problem, subject: str, variables: Variables) -> None:
        self._enclosed(variables)
        self._ranges(variables)
        for cell in variables.cells:
            for pool in variables.layout.pools:
                self._counts(pool, cell, variables)
            if variables.layout.shared:
                self._shared(cell, variables)

    def _enclosed(self, variables: Variables) -> None:
        """No given resource lies within two searched bundles that share nothing."""
        hosts = variables.layout.hosts
        for (one, mine), (other, theirs) in combinations(variables.layout.enclosed.items(), 2):
            if one not in hosts[other] and other not in hosts[one]:
                apart = not any(mask & theirs.get(node, 0) for node, mask in mine.items())
                variables.require(apart, f"given ranks lie within {one.name} and {other.name}")

    def _ranges(self, variables: Variables) -> None:
        """No place of a contiguous bundle has something that is not free; two of them are apart, or one lies within the other."""
        of, hosts = variables.layout.pool_of, variables.layout.hosts
        for one, other in combinations([bundle for pool in variables.layout.pools for bundle in pool.ranged], 2):
            rings = ring_of(of, one), ring_of(of, other)
            if rings[1] is one or rings[0] is other:
                inner, outer = (other, one) if rings[1] is one else (one, other)
                variables.inside(inner, outer)
            elif one.kind == other.kind and rings[0] is rings[1] and one not in hosts[other] and other not in hosts[one]:
                variables.apart(one, other)

    def _counts(self, pool: Pool, cell: Cell, variables: Variables) -> None:
        if pool.host is not None:
            # Where the host is searched each cell is one node.
            its = [bundle for each in variables.layout.pools if each.host is pool.host for bundle in each.bundles]
            load = variables.total(variables.beside_enclosed(bundle, cell) for bundle in its)
            variables.require(load <= variables.beside_enclosed(pool.host, cell))
            return
        counted = [bundle for bundle in pool.counted if variables.may_hold(bundle, cell)]
        # On a single node the plain sum is exact whatever the sizes are; on several, one row per size is.
        taken = {bundle: variables.layout.taken(bundle, cell) for bundle in counted}
        for size in [1] if len(cell.nodes) == 1 else sorted(set(taken.values())):
            load = variables.total(each // size * variables.units(bundle, cell) for bundle, each in taken.items() if each >= size)
            enclosed = sum(variables.layout.enclosed_in(bundle, cell) for bundle in counted)
            variables.require(load - enclosed <= variables.slots(cell, pool, size))
        self._in_numa(pool, cell, [bundle for bundle in counted if bundle.piece > 1], variables)

    def _shared(self, cell: Cell, variables: Variables) -> None:
        """Resources of which some bundles may use all, and others some, or ranges within counted ones: each cell that has any is one node."""
        node = cell.nodes[0].rank
        for kind in dict.fromkeys(pool.kind for pool in variables.layout.shared):
            for mask, ring, inner, ranges in rooms([pool for pool in variables.layout.shared if pool.kind == kind], node):
                held = [variables.beside_enclosed(bundle, cell) for bundle in inner]
                held += [variables.covers(bundle, node, index) for bundle in ranges for index in bits(mask)]
                room = variables.total(variables.covers(ring, node, index) for index in bits(mask)) if ring else mask.bit_count()
                variables.require(variables.total(held) <= room)

    def _in_numa(self, pool: Pool, cell: Cell, bound: list[Bundle], variables: Variables) -> None:
        """Pieces that lie inside NUMA domains: one row per size too; where sizes are no chain, each cell is one node, and its domains are counted."""
        if is_chain(bundle.piece for bundle in bound) and not any(variables.layout.enclosed_in(bundle, cell) for bundle in bound):
            for size in sorted({bundle.piece for bundle in bound}):
                load = variables.total(b.unit // size * variables.units(b, cell) for b in bound if b.piece >= size)
                variables.require(load <= variables.slots(cell, pool, size, inside_numa=True))
            return
        in_domain = {bundle: variables.pieces_by_domain(bundle, cell) for bundle in bound}
        domains = numa_domains(cell.nodes[0], pool.kind)
        for number, left in enumerate(variables.left_in_domains(cell, pool)):
            enclosed = [variables.layout.enclosed.get(bundle, {}).get(cell.nodes[0].rank, 0) & domains[number] for bundle in bound]
            load = variables.total(bundle.piece * its[number] for bundle, its in in_domain.items())
            variables.require(load - sum(mask.bit_count() for mask in enclosed) <= left)

    def check(self, problem: Problem, subject: str, assignment: Assignment) -> Iterator[Finding]:
        sets = holders(problem)
        for component in (component for members in sets for component in members):
            yield from self._exists(problem, component, assignment)
            if component.runs is None:
                yield from self._within(component, assignment)
        taken = [alike for alike in problem.cluster.alike if alike.node.taken]
        if len(sets) + bool(taken) < 2:
            return  # nobody is there to share with
        held: dict[tuple[int, str], list[Holder]] = {}
        for alike in taken:
            for rank in range(alike.node.rank, alike.stop):
                held[rank, ACCELERATOR] = [("another job", "", alike.node.taken)]
        masks = {component.name: assignment.masks(component.name) for members in sets for component in members}
        for members in sets:
            together: dict[tuple[int, str], int] = {}
            for component in members:
                for place, mask in masks[component.name].items():
                    together[place] = together.get(place, 0) | mask
            for place, mask in together.items():
                held.setdefault(place, []).append(("+".join(component.name for component in members), members[0].name, mask))
        inside, ways = _inside(problem, sets), dict[tuple[str, str], str]()
        for (rank, kind), its in sorted(held.items()):
            seen: list[Holder] = []
            for name, lead, mask in its:
                for other, its_lead, theirs in seen:
                    both = mask & theirs
                    for inner in (*inside.get((lead, its_lead), ()), *inside.get((its_lead, lead), ())) if both else ():
                        both &= ~masks[inner].get((rank, kind), 0)
                    if both:
                        message = f"{name} and {other} both hold accelerator {lowest(both)} of node {rank} ({both.bit_count()} in all)"
                        if its_lead and (lead, its_lead) not in ways:
                            ways[lead, its_lead] = _apart_or(assignment, lead, its_lead)
                        help = ways[lead, its_lead] if its_lead else _free(problem, rank)
                        yield error(
                            self.code, lead, message, problem[lead].span("placement"), label=f"also held by {other}",
                            help=help, witnesses=(rank, lowest(both)), amount=both.bit_count(),
                        )  # fmt: skip
                seen.append((name, lead, mask))

    def _exists(self, problem: Problem, component: Component, assignment: Assignment) -> Iterator[Finding]:
        """Resources that do not exist."""
        for run, node, _ in met(problem.cluster, assignment.repeats(component.name)):
            if run.within[0] < 0 or run.mask & ~node.whole(run.kind):
                message = f"{component.name} uses accelerator {run.within[1]} of node {run.node}, which has {node.count(run.kind)}"
                yield error(self.code, component.name, message, component.span("placement"), witnesses=(run.node, run.within[1]), amount=1)

    def _within(self, component: Component, assignment: Assignment) -> Iterator[Finding]:
        """Groups of one component on top of each other; given ranks may share."""
        before: dict[tuple[int, str], int] = {}
        for run in assignment.of(component.name):
            mask, place = run.mask, (run.node, run.kind)
            if mask & before.get(place, 0) or mask.bit_count() < run.amount:
                message = f"two processes of {component.name} hold the same accelerator of node {run.node}"
                yield error(self.code, component.name, message, component.span("placement"), witnesses=(run.node,), amount=1)
            before[place] = before.get(place, 0) | mask

    def explain(self, problem: Problem, subject: str) -> Clause:
        free = sum(node.free(ACCELERATOR).bit_count() for node in problem.cluster.nodes)
        return Clause(f"the cluster has {free} {plural('free accelerator', free)}")


def _inside(problem: Problem, sets: Sequence[Members]) -> dict[tuple[str, str], list[str]]:
    """(first components of two sets) -> the components of the one that lie within the other."""
    home = {component.name: members[0].name for members in sets for component in members}
    outer, found = around(problem, problem.colocated_sets), dict[tuple[str, str], list[str]]()
    for members in problem.colocated_sets:
        for host in outer[members[0].name]:
            found.setdefault((home[members[0].name], home[host[0].name]), []).extend(component.name for component in members)
    return found


def _apart_or(assignment: Assignment, one: str, other: str) -> str:
    """Where a component has accelerators of another one: to have none of them, or what to say of these ranks where that can be said."""
    its, others = assignment.masks(one), assignment.masks(other)
    if its == others:
        return "give them different ranks, or say that they are colocated"
    for (inner, inside), (outer, around_it) in (((one, its), (other, others)), ((other, others), (one, its))):
        if all(not mask & ~around_it.get(place, 0) for place, mask in inside.items()):
            return f"give them different ranks, or say `within: {outer}` of {inner}"
    return "give them different ranks"


def _free(problem: Problem, rank: int) -> str:
    """Which accelerators of a node no other job holds."""
    free = problem.cluster.nodes[rank].free(ACCELERATOR)
    kept = write_ranks(merge([range(index, index + 1) for index in range(free.bit_length()) if free >> index & 1]))
    return (
        f"of node {rank} name accelerators that are free: {kept}" if kept else f"name another node: on node {rank} no accelerator is free"
    )
