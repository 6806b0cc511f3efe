"""What room there is: kinds of accelerators, and the nodes of each that a component may use."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Iterable, Iterator, Mapping, Sequence

from ....models.component import Component
from ....models.machines.node import Node
from ....models.machines.node_group import ACCELERATOR
from ....models.planning.limits import Area
from ....models.planning.question import Kind, Option
from ....models.problem import Problem
from ...layout import grain

MOST_AREAS = 32


@dataclass(frozen=True)
class Room:
    """The kinds of accelerators of a problem, and on which nodes of each a component may be.

    `free` is what each node still has: neither other jobs nor components that are not planned hold it.
    """

    kinds: tuple[Kind, ...]
    nodes: tuple[tuple[Node, ...], ...]
    free: Mapping[int, int]

    def allowed(self, problem: Problem, component: Component, kind: int) -> frozenset[int]:
        """The ranks of the nodes of a kind that a component may use; where its ranks are given, those that it has."""
        if component.runs is not None:
            there = frozenset(node for node, _ in problem.given().masks(component.name))
        else:
            there = frozenset(problem.cluster.members(component.node_groups)) - frozenset(component.excluded)
        if component.accelerator_model not in ("", self.kinds[kind].model):
            return frozenset()
        return there & frozenset(node.rank for node in self.nodes[kind])

    def most(self, problem: Problem, component: Component, kind: int) -> int:
        """How many accelerators of a kind a component may use, in whole groups on each node."""
        return self.in_groups(self.allowed(problem, component, kind), group(problem, component))

    def in_groups(self, nodes: Iterable[int], size: int) -> int:
        """How many accelerators of these nodes lie in whole groups of a size."""
        return sum(self.free[rank] // size * size for rank in nodes)


def group(problem: Problem, component: Component) -> int:
    """How many accelerators of a component one node holds together, whatever its count is; 1 where nobody searches for its ranks."""
    if component.runs is not None or problem.job.laying is not None:
        return 1
    return grain.unit(problem, (replace(component, least=1, most=component.most if component.most > 1 else 2),))


def room(problem: Problem, given: Sequence[Component]) -> Room:
    """The kinds of accelerators, without what the components of `given` hold."""
    held: dict[int, int] = {}
    for component in given:
        if problem.kind(component) == ACCELERATOR:
            for (rank, _), mask in problem.given().masks(component.name).items():
                held[rank] = held.get(rank, 0) | mask
    free = {node.rank: (node.free(ACCELERATOR) & ~held.get(node.rank, 0)).bit_count() for node in problem.cluster.nodes}
    its: dict[tuple[str, int | None], list[Node]] = {}
    for node in problem.cluster.nodes:
        if free[node.rank]:
            its.setdefault((node.accelerator_model, node.accelerator_memory), []).append(node)
    kinds = tuple(Kind(model, sum(free[node.rank] for node in nodes), memory) for (model, memory), nodes in its.items())
    return Room(kinds, tuple(tuple(nodes) for nodes in its.values()), free)


def areas(problem: Problem, parts: Sequence[Component], options: Mapping[str, Sequence[Option]], room: Room) -> tuple[Area, ...]:
    """Nodes on which components must share the room, where that says more than how many accelerators there are.

    They are those that one component may use, and those that two or more may use between them.
    """
    found: list[Area] = []
    for kind, its in enumerate(room.kinds):
        allowed = {
            each.name: room.allowed(problem, each, kind) for each in parts if any(option.kind == kind for option in options[each.name])
        }
        sizes = sorted({option.group for name in allowed for option in options[name] if option.kind == kind})
        for nodes in _unions(dict.fromkeys(allowed.values())):
            inside = frozenset(name for name, where in allowed.items() if where <= nodes)
            whole = room.in_groups(nodes, 1)
            rooms = {1: whole} if whole < its.accelerators else {}
            rooms.update((size, most) for size in sizes if (most := room.in_groups(nodes, size)) < whole)
            if rooms:
                found.append(Area(kind, inside, rooms))
    return tuple(found)


def _unions(sets: Iterable[frozenset[int]]) -> Iterator[frozenset[int]]:
    """The sets and what they are together, no more than so many, each once."""
    known: dict[frozenset[int], None] = dict.fromkeys(each for each in sets if each)
    for one in list(known):
        for other in list(known):
            if len(known) < MOST_AREAS:
                known.setdefault(one | other)
    yield from known
