"""Which groups of a component are pinned to which nodes, in the order of its ranks."""

from __future__ import annotations

from typing import Iterable, Sequence

from ...models.component import RANK_ALIGNED, Component
from ...models.machines.topology import domain
from ...models.problem import Problem
from .grain import unit, wholes

Allowed = frozenset[int]
"""Ranks of the nodes that a group may be on."""
Groups = list[tuple[range, Allowed]]
"""Numbers of groups on end, and the nodes that all pins of their ranks allow; ascending."""


def line_of(problem: Problem, component: Component) -> tuple[Component, ...]:
    """The component with all those that have the same order of ranks as it."""
    line = [component]
    for each in line:
        for relation in problem.related(RANK_ALIGNED):
            if each.name in relation.components:
                line += [problem[name] for name in relation.components if problem[name] not in line]
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
