"""Which nodes might lack CPUs or host memory for what could be placed on them: rules count on each of them alone."""

from __future__ import annotations

from typing import Callable, Iterator

from ....models.component import Component
from ....models.machines.node import Node
from ....models.placements.assignment import Assignment
from ..parts import Parts


class Reserved:
    """The most that could be reserved on each node of something that processes need, if all its resources were used.

    Parameters
    ----------
    need : how much of it one process of a component needs.
    has : how much a node has; None if that is unknown.
    """

    def __init__(
        self,
        parts: Parts,
        need: Callable[[Component], int],
        has: Callable[[Node], int | None],
    ) -> None:
        self._parts, self._need, self._has = parts, need, has
        self._any = any(need(component) for component in parts.problem.components)
        self._nested = any(parts.hosts.values())
        self._known = {name: its for members in parts.problem.colocated_sets for name, its in self._counts(members)} if self._any else {}

    def _counts(self, members: tuple[Component, ...]) -> Iterator[tuple[str, dict[int, int]]]:
        """Component -> node rank -> processes, of those whose place is known."""
        for component in members:
            runs = component.runs if component.runs is not None else self._parts.on_nodes.get(component.name)
            if self._need(component) and runs is not None:
                yield component.name, Assignment({component.name: runs}).processes_on(component.name)

    def may_be_short(self, node: Node) -> bool:
        """Could what is placed on the node need more than it has?"""
        has = self._has(node)
        if has is None or not self._any:
            return False
        from fractions import Fraction

        known, densest = 0, dict[str, list[Fraction]]()
        for members in self._parts.problem.colocated_sets:
            its = [component for component in members if self._need(component)]
            known += sum(self._need(c) * self._known[c.name].get(node.rank, 0) for c in its if c.name in self._known)
            # all that are dealt out could be on one node
            known += sum(self._need(c) * self._parts.dealt[c.name].processes for c in its if c.name in self._parts.dealt)
            open_ = [c for c in its if c.name not in self._known and c.name not in self._parts.dealt]
            each = sum((Fraction(self._need(c), c.per_process) for c in open_), Fraction(0))
            densest.setdefault(self._parts.problem.kind(members[0]), []).append(each)
        # An accelerator is held by one of these sets, or by one and those that lie within it.
        most = [node.count(kind) * (sum(its) if self._nested else max(its)) for kind, its in densest.items()]
        return known + sum(most) > has


def reservations(parts: Parts) -> tuple[Reserved, Reserved]:
    """CPUs and host memory."""
    return (
        Reserved(parts, lambda component: component.cpus, lambda node: node.cpus),
        Reserved(parts, lambda component: component.host_memory, lambda node: node.memory),
    )
