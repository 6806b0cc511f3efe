"""Random problems in which any words may meet."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any, Sequence

from placewright.models.component import (
    APART,
    COLOCATED,
    COLOCATED_OR_DISJOINT,
    DISJOINT,
    IN_ORDER,
    KEPT,
    NEAR,
    NOT_FEWER,
    RANK_ALIGNED,
    SUBSET,
    TOGETHER,
    TP,
    WHOLE,
    ZERO_COPY,
    Component,
    Keep,
    Parallel,
    Pin,
    Relation,
    Spread,
)
from placewright.models.job import WEIGHTED, Capabilities, Job, Link, Preference
from placewright.models.machines.cluster import Cluster
from placewright.models.machines.node_group import NODE
from placewright.models.placements.assignment import Assignment, Seat, compress
from placewright.models.placements.run import Run
from placewright.models.problem import Problem

from .cases import GIB, cluster

LEVELS = ("rack", "rack", "nvlink_domain", "node", "node")
WORDS = (
    "given", "processes on nodes", "nodes in order", "weighted", "previous", "numa", "taken", "cpus", "host memory", "memory", "models", "zones",
    "per process", "contiguous", "stride", "degrees", "amounts", "phases", "groups", "any order", "keep", "keep", "spread", "pins", "excluded",
    "traffic", "relations", "relations", "in order", "apart or near", "links",
)  # fmt: skip
RELATIONS = (COLOCATED, COLOCATED, SUBSET, SUBSET, DISJOINT, COLOCATED_OR_DISJOINT, RANK_ALIGNED, ZERO_COPY, ZERO_COPY, NOT_FEWER)


class Drawn:
    """One random problem. It uses a few of the words, and these much: where all are rare, few of them meet. `words` are among them."""

    def __init__(self, source: random.Random, *words: str) -> None:
        self.source = source
        self.words = {*words, *source.sample(WORDS, source.choice([2, 3, 4, 5, 7]) if not words else source.choice([0, 1, 3]))}
        self.cluster = self._cluster()
        self.choices: dict[str, tuple[Parallel, ...]] = {}

    def problem(self) -> Problem:
        """It, as the other parts were drawn."""
        components = [self._component(name) for name in "abc"[: self._one(1, 2, 2, 2, 3)]]
        if self._says("given"):
            components.insert(0, self._given())
        if self._says("processes on nodes"):
            components.append(self._on_nodes())
        relations = self._relations(components)
        can = Capabilities(shares_accelerators=True, nodes_in_order=self._says("nodes in order"))
        preference = Preference(WEIGHTED, {"rack": self._one(0, 1, 5)}) if self._says("weighted") else Preference()
        links = self._links(components)
        found = Problem(self.cluster, Job(tuple(components), relations, can, self.choices, links=links, preference=preference))
        return replace(found, previous=self._previous(found)) if self._says("previous") else found

    def _says(self, word: str) -> bool:
        return self.source.random() < 0.6 and word in self.words

    def _one(self, *what: Any) -> Any:
        return self.source.choice(what)

    # -- what there is

    def _cluster(self) -> Cluster:
        while True:
            nodes = [self._node() for _ in range(self._one(2, 2, 3, 3, 4))]
            if sum(node["count"] for node in nodes) <= 9 - len(nodes) // 4:
                break
        if self.source.random() < 0.4:  # nodes that nothing tells apart but their one domain
            first = nodes[0] if nodes[0]["count"] * len(nodes) <= 9 else nodes[0] | {"count": 2, "taken": 0}
            racks = [node["rack"] for node in nodes]
            nodes = [first | {"rack": rack, "nvlink_domain": rack} for rack in (sorted(racks) if self._one(0, 1) else racks)]
        where = range(len(nodes))
        group = tuple(sorted(self.source.sample(where, self.source.randint(1, len(nodes)))))
        return cluster(*nodes, g=group)

    def _node(self) -> dict[str, Any]:
        count = self._one(1, 2, 2, 3, 4, 4)
        node = {
            "count": count,
            "rack": self._one("r", "s"),
            "nvlink_domain": self._one("n", "m"),
            "numa": self._one(1, 2) if count > 1 and "numa" in self.words else 1,
            "taken": self.source.randrange(1 << count) if self._says("taken") else 0,
            "cpus": self._one(1, 2, 4) if self._says("cpus") else None,
            "memory": self._one(3, 6) if self._says("host memory") else None,
            "gib": self._one(40, 80) if self._says("memory") else None,
            "model": self._one("X", "Y") if self._says("models") else "X",
        }
        return node | ({"zone": self._one("y", "z")} if self._says("zones") else {})

    def _seats(self) -> list[Seat]:
        return [(node.rank, i) for node in self.cluster.nodes for i in range(len(node.accelerators)) if not node.taken >> i & 1]

    # -- what must be placed

    def _component(self, name: str) -> Component:
        parallel = self._parallel()
        each = self._one(1, parallel.tp) if self._says("per process") else 1
        contiguous = self._says("contiguous") or self._says("stride")
        stride = 2 if contiguous and self._says("stride") else 1
        bare = Component(name, parallel=parallel, per_process=each, contiguous=contiguous, stride=stride)
        if self._says("degrees"):
            others = (parallel, *(self._parallel() for _ in range(self._one(1, 2))))
            self.choices[name] = tuple(dict.fromkeys(other for other in others if other.tp % each == 0))
        step = bare.step
        least = max(1, step * self._one(1, 1, 1, 2) + (self._one(0, -1) if self._says("amounts") else 0))
        most = least + (step * self._one(0, 1, 2) if self._says("amounts") else 0)
        memory, phase = (
            self._one(30, 40, 50) * GIB if self._says("memory") else 0,
            self._one(("p",), ("p", "q")) if self._says("phases") else (),
        )
        asked = replace(
            bare, least=least, most=most, memory=memory, phases=phase,
            offloaded=self._one(5, 20) * GIB if memory and phase else 0,
            node_groups=("g",) if self._says("groups") else ("cluster",),
            accelerator_model="X" if self._says("models") else "",
            any_order=contiguous and self._says("any order"),
        )  # fmt: skip
        return self._demanding(asked)

    def _parallel(self) -> Parallel:
        return Parallel(tp=self._one(1, 1, 2, 2, 4), pp=self._one(1, 1, 1, 2), ep=self._one(1, 1, 1, 2))

    def _given(self) -> Component:
        free = self._seats()
        held = sorted(self.source.sample(free, min(len(free), self._one(1, 2, 4))))
        parallel = Parallel(self._one(1, len(held)))
        component = Component("g", least=len(held), most=len(held), parallel=parallel, runs=compress(enumerate([seat] for seat in held)))
        return replace(
            component,
            memory=30 * GIB if self._says("memory") else 0,
            keep=self._keeps() if self._one(0, 0, 1) and self._says("keep") else (),
        )

    def _on_nodes(self) -> Component:
        count = self._one(1, 2, 3)
        component = Component("e", ("node",), least=count, most=count, cpus=self._one(0, 1), host_memory=self._one(0, 2))
        return self._demanding(component)

    def _demanding(self, component: Component) -> Component:
        """With demands on where it may be."""
        nodes, on_nodes = range(len(self.cluster.nodes)), component.node_groups == ("node",)
        processes = max(1, component.most // component.per_process)
        found: dict[str, Any] = {}
        if self._says("keep"):
            keeps = self._keeps()
            found["keep"] = tuple(keep for keep in keeps if not on_nodes or (keep.unit == WHOLE and keep.level != "numa"))
        if self._says("spread"):
            found["spread"] = (Spread(self._one(*LEVELS), self._one(1, 2), self._one(50, 75, 100)),)
        if self._says("pins"):
            first = self.source.randrange(processes)
            where = tuple(sorted(self.source.sample(nodes, self._one(1, 1, 2))))
            found["pins"] = (Pin(range(first, self.source.randint(first + 1, processes)), where),)
        if self._says("excluded"):
            found["excluded"] = (self.source.choice(nodes),)
        if self._says("cpus"):
            found["cpus"] = 1
        if self._says("host memory"):
            found["host_memory"] = self._one(1, 2)
        if self._says("traffic") and not on_nodes:
            found["traffic"] = self._one(1, 3)
        return replace(component, **found)

    def _keeps(self) -> tuple[Keep, ...]:
        keeps: dict[str, Keep] = {}
        for _ in range(self._one(1, 1, 2)):
            what = self._one(*KEPT)
            level = "numa" if what in (TP, WHOLE) and self._says("numa") else self._one(*LEVELS)
            keeps[what] = Keep(what, level, self._one(1, 1, 2) if what == WHOLE else 1, self.source.random() < 0.65)
        return tuple(keeps.values())

    # -- what holds between them

    def _relations(self, components: Sequence[Component]) -> tuple[Relation, ...]:
        found = []
        placed = [component for component in components if component.node_groups != ("node",)]
        for one, other in zip(placed[1:], placed):
            if self._says("relations"):
                kind, pair = self._one(*RELATIONS), self._one((one.name, other.name), (other.name, one.name))
                ranged = {each.node_groups for each in (one, other) if each.contiguous}
                tps = [each.parallel.tp for each in (one, other)]
                if kind == ZERO_COPY and (self.choices.keys() & set(pair) or max(tps) % min(tps)):
                    kind = COLOCATED
                if kind not in TOGETHER or len(ranged) < 2:
                    found.append(Relation(kind, pair))
        if len(placed) > 1 and self._says("in order"):
            found.append(Relation(IN_ORDER, tuple(component.name for component in placed)))
        if len(components) > 1 and self._says("apart or near"):
            pair = tuple(component.name for component in self.source.sample(list(components), 2))
            found.append(Relation(self._one(APART, NEAR), pair, level=self._one(*LEVELS)))
        return tuple(found)

    def _links(self, components: Sequence[Component]) -> tuple[Link, ...]:
        found = []
        for _ in range(self._one(1, 1, 2)):
            if len(components) > 1 and self._says("links"):
                one, other = self.source.sample(list(components), 2)
                found.append(Link(one.name, other.name, *self._one((2, 0, 1), (0, 1, 1), (0, 3, 2), (3, 1, 1))))
        return tuple(found)

    def _previous(self, problem: Problem) -> Assignment:
        """Some of the components somewhere, not always where they could be."""
        free, runs = self._seats(), dict[str, tuple[Run, ...]]()
        for component in problem.components:
            if problem.kind(component) != NODE and self._one(True, True, False):
                size = component.per_process
                held = self.source.sample(free, len(free)) if self._one(0, 0, 1) else list(free)
                held = held[: min(len(held), component.least) // size * size]
                runs[component.name] = compress(enumerate(held[start : start + size] for start in range(0, len(held), size)))
                free = [seat for seat in free if seat not in held]
        return Assignment(runs)


class Larger(Drawn):
    """The same on more nodes, which are more often alike: for several nodes in one cell."""

    def _cluster(self) -> Cluster:
        sizes, alike = self._one((4,), (8,), (4, 8), (3, 4, 6, 8)), self._one(True, False)
        nodes = [self._node() | {"count": self._one(*sizes)} for _ in range(self._one(5, 8, 12))]
        for node in nodes:
            node["taken"] = self.source.randrange(1 << node["count"]) if self._one(0, 1) and self._says("taken") else 0
        if alike:
            racks = sorted(node["rack"] for node in nodes)
            nodes = [nodes[0] | {"rack": rack, "nvlink_domain": rack} for rack in racks]
        group = tuple(sorted(self.source.sample(range(len(nodes)), self.source.randint(1, len(nodes)))))
        return cluster(*nodes, g=group)

    def _component(self, name: str) -> Component:
        found = super()._component(name)
        more, step = self._one(0, 1, 2) * found.step, self._one(0, 2, 4) * found.step
        return replace(found, least=found.least + more, most=found.most + more + (step if found.most > found.least else 0))
