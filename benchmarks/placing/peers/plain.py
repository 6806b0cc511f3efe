"""A problem of the families as plain rows: how many groups of each component are on nodes that are alike, tier by tier.

Written from what the demands and terms mean, without placewright's own model; only that a group of so many accelerators takes at least so
many pieces of every smaller size. Where sizes do not divide each other that may promise too much, and a bound is a bound all the same.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Hashable, Mapping, Sequence

from placewright.models.component import APART, NEAR, REPLICA, TP, WHOLE, Component
from placewright.models.machines.topology import LEVELS
from placewright.models.problem import Problem

Sum = dict[int, int]
"""Variable -> coefficient."""


@dataclass
class Rows:
    """Boxes of variables, rows as (sum, lowest, highest; None for none), and tiers as (sum to minimise, what is added to it)."""

    boxes: list[tuple[int, int]] = field(default_factory=list)
    rows: list[tuple[Sum, int | None, int | None]] = field(default_factory=list)
    tiers: list[tuple[Sum, int]] = field(default_factory=list)

    def variable(self, high: int) -> int:
        """A new whole number from 0."""
        self.boxes.append((0, high))
        return len(self.boxes) - 1

    def add(self, terms: Sum, low: int | None, high: int | None) -> None:
        """One more row."""
        self.rows.append((terms, low, high))


class Plain(Rows):
    """The rows of a problem. A tier in which nothing can differ is left out, as the engine does."""

    def __init__(self, problem: Problem) -> None:
        super().__init__()
        self.problem = problem
        self.placed = [c for c in problem.components if problem.kind(c) == "Accelerator"]
        pinned = {node for c in self.placed for pin in c.pins for node in pin.nodes}
        self.cells: Counter[tuple[Hashable, ...]] = Counter()
        for node in problem.cluster.nodes:
            if node.accelerators:
                place = tuple(node.topology.get(level, "") for level in LEVELS)
                free, memory = node.free("Accelerator").bit_count(), node.accelerator_memory or 0
                self.cells[(*place, node.accelerator_model, memory, free, node.rank if node.rank in pinned else -1)] += 1
        widest = max(len(node.accelerators) for node in problem.cluster.nodes)
        self.unit = {c.name: min(c.parallel.tp, widest) for c in self.placed}
        self.levels = [n for n, level in enumerate(LEVELS) if len({cell[n] for cell in self.cells}) > 1]
        self.groups: dict[tuple[str, tuple[Hashable, ...]], int] = {}
        self.total: dict[str, int] = {}
        self.held: dict[tuple[str, int, Hashable], Sum] = {}
        self.there: dict[tuple[str, int, Hashable], int] = {}
        for component in self.placed:
            self._place(component)
        for cell, count in self.cells.items():
            self._fit(cell, count)
        for component in self.placed:
            self._demand(component)
        for kind in (APART, NEAR):
            for relation in problem.find_relations(kind):
                self._relate(kind, *relation.components, LEVELS.index(relation.level))
        self._aim()

    def _place(self, component: Component) -> None:
        name, unit = component.name, self.unit[component.name]
        for cell, count in self.cells.items():
            model, memory, free = cell[3:6]
            if component.accelerator_model in ("", model) and int(str(memory)) >= component.memory:
                self.groups[name, cell] = self.variable(count * (int(str(free)) // unit))
        step = component.parallel.tp * component.parallel.pp
        self.total[name] = total = self.variable(component.most // step)
        its = {variable: unit for (each, _), variable in self.groups.items() if each == name}
        self.add({**its, total: -step}, 0, 0)
        self.add({total: step}, component.least, component.most)
        for level in self.levels:
            for domain in {cell[level] for cell in self.cells if (name, cell) in self.groups}:
                held = {self.groups[name, cell]: 1 for cell in self.cells if cell[level] == domain and (name, cell) in self.groups}
                room = min(sum(self.boxes[variable][1] for variable in held), component.most // unit)
                self.held[name, level, domain] = held
                self.there[name, level, domain] = seen = self.variable(1)
                self.add({**held, seen: -room}, None, 0)
                self.add({**held, seen: -1}, 0, None)

    def _fit(self, cell: tuple[Hashable, ...], count: int) -> None:
        free = int(str(cell[5]))
        here = [(self.unit[name], variable) for (name, its), variable in self.groups.items() if its == cell]
        for size in {unit for unit, _ in here}:
            taken = {variable: free // size - (free - unit) // size for unit, variable in here if size <= unit <= free}
            self.add(taken, None, count * (free // size))

    def _demand(self, component: Component) -> None:
        name, unit = component.name, self.unit[component.name]
        for keep in component.keep:
            if keep.unit in (TP, REPLICA) and keep.required:
                size = component.parallel.tp * (component.parallel.pp if keep.unit == REPLICA else 1)
                for held in self._domains(self.held, name, LEVELS.index(keep.level)).values():
                    self.add({**held, self.variable(component.most): -(size // unit)}, 0, 0)
        for spread in component.spread:
            level = LEVELS.index(spread.level)
            self.add(dict.fromkeys(self._domains(self.there, name, level).values(), 1), spread.domains, None)
            for held in self._domains(self.held, name, level).values():
                self.add(held, None, -(-component.most // unit * spread.percent // 100))
        for pin in component.pins:
            ranks = {self.groups[name, cell]: unit for cell in self.cells if cell[6] in pin.nodes and (name, cell) in self.groups}
            self.add(ranks, len(pin.ranks) // component.per_process, None)

    def _domains(
        self, of: Mapping[tuple[str, int, Hashable], Sum] | Mapping[tuple[str, int, Hashable], int], name: str, level: int
    ) -> dict:  # type: ignore[type-arg]
        return {domain: its for (each, where, domain), its in of.items() if each == name and where == level}

    def _relate(self, kind: str, one: str, other: str, level: int) -> None:
        theirs = self._domains(self.there, other, level)
        for domain, seen in self._domains(self.there, one, level).items():
            if kind == APART and domain in theirs:
                self.add({seen: 1, theirs[domain]: 1}, None, 1)
            elif kind == NEAR:
                self.add({seen: 1, **({theirs[domain]: -1} if domain in theirs else {})}, None, 0)

    def _aim(self) -> None:
        stretched = [c for c in self.placed if c.least < c.most]
        if stretched:
            steps = {self.total[c.name]: -c.parallel.tp * c.parallel.pp for c in stretched}
            self.tiers.append((steps, sum(c.most for c in stretched)))
        torn: Sum = {}
        for component in self.placed:
            for keep in (keep for keep in component.keep if keep.unit == WHOLE and not keep.required):
                seen = self._domains(self.there, component.name, LEVELS.index(keep.level)).values()
                cut = self.variable(1)
                self.add({**dict.fromkeys(seen, 1), cut: -len(seen)}, None, keep.domains)
                torn[cut] = 1
        if torn:
            self.tiers.append((torn, 0))
        targets = {link.target for link in self.problem.job.links}
        silent = [c.name for c in self.placed if not c.traffic and c.name not in targets]
        for level in self.levels:
            self.tiers.append(self._bytes(level))
        for level in self.levels:
            seen = {variable: 1 for name in silent for variable in self._domains(self.there, name, level).values()}
            self.tiers.append((seen, -len(silent)))

    def _bytes(self, level: int) -> tuple[Sum, int]:
        found: Sum = {}
        for component in (each for each in self.placed if each.traffic):
            found.update(dict.fromkeys(self._domains(self.there, component.name, level).values(), component.traffic))
        for link in self.problem.job.links:
            source, target = link.source, link.target
            served, serving = self._domains(self.there, source, level), self._domains(self.held, source, level)
            for domain, seen in self._domains(self.there, target, level).items():
                if link.weights:
                    alone = self.variable(1)
                    self.add({seen: 1, alone: -1, **({served[domain]: -1} if domain in served else {})}, None, 0)
                    found[alone] = link.weights
                if link.stream:
                    left = self.variable(self.problem[target].most)
                    asking = dict.fromkeys(self.held[target, level, domain], self.unit[target])
                    given = dict.fromkeys(serving.get(domain, ()), -link.ratio * self.unit[source])
                    self.add({**asking, **given, left: -1}, None, 0)
                    found[left] = link.stream
        return found, -sum(each.traffic for each in self.placed)


def tiers_of(values: Sequence[tuple[int, int | None]]) -> dict[str, object]:
    """What is said of an answer: the costs of its tiers, the bounds that are proved of them, and how far the first open one is."""
    bounds = [bound for _, bound in values]
    first = next((n for n, (value, bound) in enumerate(values) if bound is None or bound < value), None)
    value, bound = values[first] if first is not None else (0, 0)
    gap = 0.0 if first is None else (value - max(0, bound or 0)) / value
    return {"tiers": [value for value, _ in values], "bounds": bounds, "open": "" if first is None else first, "gap": round(gap, 5)}
