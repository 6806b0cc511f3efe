"""Bundles of components on the same resources, with unit and piece sizes."""

from __future__ import annotations

from functools import cached_property
from math import lcm
from typing import Iterable, Sequence

from ...models.component import EP, RANK_ALIGNED, REPLICA, TP, UNBOUNDED, WHOLE, Component, Keep
from ...models.machines.node_group import NODE
from ...models.machines.topology import LEVELS, NODE_LEVEL, NUMA, domain
from ...models.problem import Problem
from ...models.record import dataclass

Allowed = frozenset[int]
"""Ranks of the nodes open to a group."""
Groups = list[tuple[range, Allowed]]
"""Ascending (consecutive group numbers, nodes allowed by all pins of their ranks)."""


def size_of(component: Component, keep: Keep) -> int:
    """Return the accelerators of a group kept together by a demand.

    For a whole component: all of its accelerators if their number is known and it must be in a
    single domain, else 1.
    """
    parallel = component.parallel
    if keep.unit == WHOLE:
        return component.least if component.least == component.most and keep.domains == 1 else 1
    return {TP: parallel.tp, EP: parallel.tp * parallel.ep, REPLICA: parallel.replica}[keep.unit]


def domain_multiple(problem: Problem, component: Component, level: str) -> int:
    """Return the divisor of the component's resources in every domain of a level.

    Only demands on this level count.
    """
    keeps = (keep for keep in component.keep if keep.required and keep.level == level)
    divisor = lcm(*(size_of(component, keep) for keep in keeps if keep.unit != WHOLE or level not in LEVELS))
    has_stride = component.contiguous and component.stride > 1 and component.group_size > 1
    if level == NUMA and divisor > 1 and has_stride:
        return lcm(divisor, component.block)  # groups spread over their whole block
    if level != NODE_LEVEL or problem.kind(component) == NODE:
        return divisor
    # A tensor parallel group stays on a node unless a demand sets its level; a process always does.
    crosses = any(keep.unit == TP for keep in component.keep)
    if crosses:
        group = component.per_process * (component.stride if has_stride and component.per_process > 1 else 1)
    else:
        group = component.unit
    return lcm(divisor, group, problem.whole_replica(component))


def piece(problem: Problem, members: Iterable[Component]) -> int:
    """Return the resources of a piece, always whole inside a NUMA domain."""
    return lcm(*(domain_multiple(problem, component, NUMA) for component in members))


def unit(problem: Problem, members: Iterable[Component]) -> int:
    """Return the resources of a unit, always whole on a node."""
    members = tuple(members)
    return lcm(piece(problem, members), *(domain_multiple(problem, component, NODE_LEVEL) for component in members))


def is_single(members: Iterable[Component]) -> bool:
    """Return True if some member must be a single unit or piece."""
    keeps = ((component, keep) for component in members for keep in component.keep if keep.required and keep.unit == WHOLE)
    return any(keep.level not in LEVELS and keep.domains == 1 and component.least == component.most for component, keep in keeps)


def wholes(problem: Problem, members: Iterable[Component]) -> tuple[tuple[str, int], ...]:
    """Return (level above the node, divisor of the resources in its domains), widest first.

    Only levels with a larger divisor than the unit.
    """
    members, unit_size = tuple(members), unit(problem, members)
    sizes = [(level, lcm(*(domain_multiple(problem, component, level) for component in members))) for level in LEVELS]
    return tuple((level, lcm(size, unit_size)) for level, size in sizes if unit_size % size)


@dataclass(frozen=True, eq=False)
class Bundle:
    """Components on the same resources, placed together in units.

    Two bundles are equal only if they are the same object.

    Attributes
    ----------
    components : the members.
    kind : kind of resource.
    unit : resources that a node holds whole, a multiple of the groups and processes of every
        member.
    piece : resources of a unit that a NUMA domain holds whole; 1 if NUMA domains do not matter.
    wholes : (topology level above the node, size): the resources in a domain of the level are a
        multiple of the size.
    solid_in : node groups in whose numbering the bundle must be a solid range; None if it need not.
    single : True if the whole bundle is a single unit.
    """

    components: tuple[Component, ...]
    kind: str
    unit: int = 1
    piece: int = 1
    wholes: tuple[tuple[str, int], ...] = ()
    solid_in: tuple[str, ...] | None = None
    single: bool = False

    @cached_property
    def name(self) -> str:
        """Names of the components, joined by `+`."""
        return "+".join(component.name for component in self.components)

    @cached_property
    def least(self) -> int:
        """Fewest units for the members' amounts."""
        return max(-(-component.least // self.unit) for component in self.components)

    @cached_property
    def most(self) -> int:
        """Most units for the members' amounts."""
        return min(component.most for component in self.components) // self.unit

    @property
    def bounded(self) -> bool:
        """True if a member has an upper bound."""
        return min(component.most for component in self.components) < UNBOUNDED

    @property
    def contiguous(self) -> bool:
        """True if the bundle must be a solid range."""
        return self.solid_in is not None

    @cached_property
    def fixed(self) -> Component | None:
        """Member with given ranks; None if the bundle is searched.

        With such a member the whole bundle is given.
        """
        return next((component for component in self.components if component.runs is not None), None)

    def whole(self, level: str) -> int:
        """Return the divisor of the resources in every domain of a level above the node."""
        return dict(self.wholes).get(level, self.unit)


def bundles_of(problem: Problem) -> tuple[Bundle, ...]:
    """Return a bundle for every colocated set with resources."""
    sets = [members for members in problem.colocated_sets if problem.kind(members[0]) != NODE]
    return tuple(
        Bundle(
            members, problem.kind(members[0]), unit(problem, members), piece(problem, members), wholes(problem, members),
            problem.solid_in(members), is_single(members),
        )
        for members in sets
    )  # fmt: skip


def line_of(problem: Problem, component: Component) -> tuple[Component, ...]:
    """Return all components with the component's order of ranks.

    Ranges in step on the same resources are included.
    """
    line, pairs = [component], [relation.components for relation in problem.find_relations(RANK_ALIGNED)]
    if problem.job.in_step:
        lead = {peer.name: members[0].name for members in problem.colocated_sets for peer in members if peer.any_order}
        pairs += [pair for pair in problem.job.in_step if pair[0] in lead and lead[pair[0]] == lead.get(pair[1])]
    for member in line:
        for names in pairs:
            if member.name in names:
                line += [problem[name] for name in names if problem[name] not in line]
    return tuple(line)


def pinned_groups(problem: Problem, line: Sequence[Component]) -> Groups:
    """Return the nodes allowed by pins for the pieces of a line.

    A line has components with one order of ranks. A piece is held whole by a node, for all of them.
    """
    size, cuts = unit(problem, line), set[int]()
    pins: list[tuple[int, int, Allowed]] = []
    for component in line:
        for pin in (pin for pin in component.pins if len(pin.ranks)):
            first, last = pin.ranks.start * component.per_process // size, -(-pin.ranks.stop * component.per_process // size)
            cuts |= {first, last}
            pins.append((first, last, frozenset(pin.nodes)))
    borders, groups = sorted(cuts), list[tuple[range, Allowed]]()
    for start, stop in zip(borders, borders[1:]):
        nodes = [node_set for first, last, node_set in pins if first <= start and stop <= last]
        if nodes:
            groups.append((range(start, stop), frozenset[int].intersection(*nodes)))
    return groups


def split_pinned(problem: Problem, line: Sequence[Component]) -> tuple[Groups, list[tuple[str, str, int]]] | None:
    """Return pinned pieces, and (level, domain, resources for pinned blocks there).

    A block is held whole by a domain of a level above the node, such as a replica. The pins of its
    pieces decide its domain, and leave the pieces only nodes there. None if they leave several
    domains.
    """
    groups, size, needs = pinned_groups(problem, line), unit(problem, line), list[tuple[str, str, int]]()
    nodes = problem.cluster.nodes
    for level, whole in wholes(problem, line):
        blocks: dict[int, set[str]] = {}
        for numbers, node_set in groups:
            domain_names = {domain(nodes[node], level) for node in node_set}
            for block in range(numbers.start * size // whole, (numbers.stop * size - 1) // whole + 1):
                blocks[block] = blocks.get(block, domain_names) & domain_names
        if any(len(domain_names) > 1 for domain_names in blocks.values()):
            return None
        counts: dict[str, int] = {}
        for domain_names in blocks.values():
            for name in domain_names:
                counts[name] = counts.get(name, 0) + whole
        needs += [(level, name, need) for name, need in counts.items()]
        cut = [(range(n, n + 1), node_set) for numbers, node_set in groups for n in numbers]
        groups = [
            (numbers, frozenset(node for node in node_set if domain(nodes[node], level) in blocks[numbers.start * size // whole]))
            for numbers, node_set in cut
        ]
    return groups, needs


def needs_of(groups: Groups) -> dict[Allowed, int]:
    """Return sets of nodes -> groups required on them.

    The keys are the allowed sets, and every union of overlapping allowed sets. These requirements
    are sufficient to keep the pins (Hall's condition: disjoint sets add up).
    """
    counts: dict[Allowed, int] = {}
    for numbers, node_set in groups:
        counts[node_set] = counts.get(node_set, 0) + len(numbers)
    unions, waiting = dict.fromkeys(counts), list(counts)
    while waiting:
        current = waiting.pop()
        for second in counts:
            if current & second and (both := current | second) not in unions:
                unions[both] = None
                waiting.append(both)
    return {union: sum(count for node_set, count in counts.items() if node_set <= union) for union in unions}


def gaps(nodes: Iterable[int], total: int) -> list[range]:
    """Return the node ranks below `total` outside `nodes`, as ascending ranges."""
    ranges, after = [], 0
    for node in [*sorted(set(nodes)), total]:
        if after < node:
            ranges.append(range(after, node))
        after = node + 1
    return ranges
