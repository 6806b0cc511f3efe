"""Bundles: components on the same resources, placed as one; their sizes and whole pieces."""

from __future__ import annotations

from functools import cached_property
from math import lcm
from typing import TYPE_CHECKING, Iterable, Sequence

from ...models.component import RANK_ALIGNED, UNBOUNDED, Component
from ...models.locality import EP, REPLICA, TP, WHOLE, Keep
from ...models.machines.node_group import NODE
from ...models.machines.topology import LEVELS, NODE_LEVEL, NUMA, domain
from ...models.problem import Problem
from ...models.record import dataclass

if TYPE_CHECKING:
    pass


Allowed = frozenset[int]
"""Ranks of the nodes that a group may be on."""
Groups = list[tuple[range, Allowed]]
"""Numbers of groups on end, and the nodes that all pins of their ranks allow; ascending."""


def size_of(component: Component, keep: Keep) -> int:
    """Accelerators of one group that a demand keeps together; all of them where it is the whole component of a known size, else 1."""
    parallel = component.parallel
    if keep.what == WHOLE:
        return component.least if component.least == component.most and keep.domains == 1 else 1
    return {TP: parallel.tp, EP: parallel.tp * parallel.ep, REPLICA: parallel.replica}[keep.what]


def whole_in(problem: Problem, component: Component, level: str) -> int:
    """What the component has in each domain of a level is a multiple of this, by what is said of that level itself."""
    asked = (keep for keep in component.keep if keep.required and keep.level == level)
    kept = lcm(*(size_of(component, keep) for keep in asked if keep.what != WHOLE or level not in LEVELS))
    strided = component.contiguous and component.stride > 1 and component.group_size > 1
    if level == NUMA and kept > 1 and strided:
        return lcm(kept, component.block)  # every group is all over its block
    if level != NODE_LEVEL or problem.kind(component) == NODE:
        return kept
    # A tensor parallel group stays on one node, unless its own demand says otherwise; a process always does.
    crosses = any(keep.what == TP for keep in component.keep)
    if crosses:
        group = component.per_process * (component.stride if strided and component.per_process > 1 else 1)
    else:
        group = component.unit
    return lcm(kept, group, problem.whole_replica(component))


def piece(problem: Problem, members: Iterable[Component]) -> int:
    """Resources that one NUMA domain holds whole."""
    return lcm(*(whole_in(problem, component, NUMA) for component in members))


def unit(problem: Problem, members: Iterable[Component]) -> int:
    """Resources that one node holds whole."""
    members = tuple(members)
    return lcm(piece(problem, members), *(whole_in(problem, component, NODE_LEVEL) for component in members))


def is_single(members: Iterable[Component]) -> bool:
    """Is all of one of them one piece, for one node or one NUMA domain?"""
    asked = ((component, keep) for component in members for keep in component.keep if keep.required and keep.what == WHOLE)
    return any(keep.level not in LEVELS and keep.domains == 1 and component.least == component.most for component, keep in asked)


def wholes(problem: Problem, members: Iterable[Component]) -> tuple[tuple[str, int], ...]:
    """(level above the node, what its domains hold multiples of), the widest first; only where that says more than the unit."""
    members, least = tuple(members), unit(problem, members)
    found = [(level, lcm(*(whole_in(problem, component, level) for component in members))) for level in LEVELS]
    return tuple((level, lcm(size, least)) for level, size in found if least % size)


@dataclass(frozen=True, eq=False)
class Bundle:
    """Components that share their resources: one thing to place, in units that one node holds whole.

    Two bundles are the same only if they are the same object.

    Attributes
    ----------
    components : its members.
    kind : the kind of resource.
    unit : resources that one node holds whole: what the groups and processes of every member divide.
    piece : resources of a unit that one NUMA domain holds whole; 1 where NUMA domains do not matter to it.
    wholes : (level of the topology above the node, size): what it holds in each domain of the level is a multiple of the size.
    solid_in : the node groups in whose numbering it must be one solid range; None if it need not.
    single : whether all of it is one unit.
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
        """The names of its components."""
        return "+".join(component.name for component in self.components)

    @cached_property
    def least(self) -> int:
        """Fewest units that satisfy the members' amounts."""
        return max(-(-component.least // self.unit) for component in self.components)

    @cached_property
    def most(self) -> int:
        """Most units that do."""
        return min(component.most for component in self.components) // self.unit

    @property
    def bounded(self) -> bool:
        """Did anybody say how large it may become?"""
        return min(component.most for component in self.components) < UNBOUNDED

    @property
    def contiguous(self) -> bool:
        """Must it be one solid range?"""
        return self.solid_in is not None

    @cached_property
    def fixed(self) -> Component | None:
        """The member whose ranks are given, if there is one: then all of it is given."""
        return next((component for component in self.components if component.runs is not None), None)

    def whole(self, level: str) -> int:
        """What each domain of a level of the topology above the node holds multiples of."""
        return dict(self.wholes).get(level, self.unit)


def line_of(problem: Problem, component: Component) -> tuple[Component, ...]:
    """The component with all those that have the same order of ranks as it: ranges in step on the same resources too."""
    line, pairs = [component], [relation.components for relation in problem.related(RANK_ALIGNED)]
    if problem.job.in_step:
        lead = {each.name: members[0].name for members in problem.colocated_sets for each in members if each.any_order}
        pairs += [pair for pair in problem.job.in_step if pair[0] in lead and lead[pair[0]] == lead.get(pair[1])]
    for each in line:
        for names in pairs:
            if each.name in names:
                line += [problem[name] for name in names if problem[name] not in line]
    return tuple(line)


def pinned_groups(problem: Problem, line: Sequence[Component]) -> Groups:
    """Where the pieces of components with one order of ranks are pinned to: what one node holds whole of all of them."""
    size, cuts = unit(problem, line), set[int]()
    pins: list[tuple[int, int, Allowed]] = []
    for component in line:
        for pin in (pin for pin in component.pins if len(pin.ranks)):
            first, last = pin.ranks.start * component.per_process // size, -(-pin.ranks.stop * component.per_process // size)
            cuts |= {first, last}
            pins.append((first, last, frozenset(pin.nodes)))
    ordered, found = sorted(cuts), list[tuple[range, Allowed]]()
    for start, stop in zip(ordered, ordered[1:]):
        nodes = [allowed for first, last, allowed in pins if first <= start and stop <= last]
        if nodes:
            found.append((range(start, stop), frozenset[int].intersection(*nodes)))
    return found


def in_blocks(problem: Problem, line: Sequence[Component]) -> tuple[Groups, list[tuple[str, str, int]]] | None:
    """The pinned pieces, and (level above the node, domain, resources that pinned blocks need there).

    A block is what a domain of the level holds whole, such as a replica: the pins of its pieces say in which domain it is, and leave
    them only nodes there. None where they leave it several.
    """
    groups, size, needs = pinned_groups(problem, line), unit(problem, line), list[tuple[str, str, int]]()
    nodes = problem.cluster.nodes
    for level, whole in wholes(problem, line):
        blocks: dict[int, set[str]] = {}
        for numbers, allowed in groups:
            there = {domain(nodes[node], level) for node in allowed}
            for block in range(numbers.start * size // whole, (numbers.stop * size - 1) // whole + 1):
                blocks[block] = blocks.get(block, there) & there
        if any(len(there) > 1 for there in blocks.values()):
            return None
        counts: dict[str, int] = {}
        for there in blocks.values():
            for name in there:
                counts[name] = counts.get(name, 0) + whole
        needs += [(level, name, need) for name, need in counts.items()]
        cut = [(range(n, n + 1), allowed) for numbers, allowed in groups for n in numbers]
        groups = [
            (numbers, frozenset(node for node in allowed if domain(nodes[node], level) in blocks[numbers.start * size // whole]))
            for numbers, allowed in cut
        ]
    return groups, needs


def needs_of(groups: Groups) -> dict[Allowed, int]:
    """Nodes -> how many groups must be on some of them: for every set that the allowed ones are, and every union of some that meet.

    As many groups in each of these sets are all that it needs for the pins to be kept (Hall's condition: sets that do not meet add up).
    """
    counts: dict[Allowed, int] = {}
    for numbers, allowed in groups:
        counts[allowed] = counts.get(allowed, 0) + len(numbers)
    unions, waiting = dict.fromkeys(counts), list(counts)
    while waiting:
        one = waiting.pop()
        for other in counts:
            if one & other and (both := one | other) not in unions:
                unions[both] = None
                waiting.append(both)
    return {union: sum(count for allowed, count in counts.items() if allowed <= union) for union in unions}


def gaps(nodes: Iterable[int], total: int) -> list[range]:
    """The ranks of the nodes below `total` that are not among these, as ascending ranges."""
    found, after = [], 0
    for node in [*sorted(set(nodes)), total]:
        if after < node:
            found.append(range(after, node))
        after = node + 1
    return found
