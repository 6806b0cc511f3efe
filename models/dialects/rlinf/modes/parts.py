"""What the rules of a mode are told: the components of the file and of the hints, and the settings beside them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Mapping

from ....component import Component, Parallel, Relation
from ....configuration.notes import Notes
from ....configuration.settings import Settings
from ....findings.span import Span
from ....machines.cluster import Cluster
from ....machines.node_group import ACCELERATOR
from ....planning.way import Way
from ..capabilities import INFERENCE
from .task import Placer


@dataclass
class Parts:
    """The components under their names, as they become what the mode makes of them.

    Attributes
    ----------
    written : every name in `component_placement`, also of components that could not be read, with its place.
    owner : where `component_placement` or, without it, `cluster` stands.
    hinted : relations that the hints demand.
    planned : components whose ranks are chosen by their times.
    profiled : does the file say times, by which ranks may be chosen?
    choices : the parallel degrees that hints leave open, where it does.
    offered : the same, whether or not it does.
    relations : what the mode demands besides.
    ways : the arrangements that it leaves to the plan.
    """

    notes: Notes
    settings: Settings
    cluster: Cluster
    task: str
    placer: Placer
    components: dict[str, Component]
    written: dict[str, Span]
    owner: Span
    hinted: tuple[Relation, ...] = ()
    planned: frozenset[str] = frozenset()
    choices: Mapping[str, tuple[Parallel, ...]] = field(default_factory=dict)
    profiled: bool = False
    offered: Mapping[str, tuple[Parallel, ...]] = field(default_factory=dict)
    relations: list[Relation] = field(default_factory=list)
    ways: list[Way] = field(default_factory=list)

    @property
    def reason(self) -> str:
        """Who demands what a mode demands."""
        return f"RLinf's {self.placer.value}"

    def has(self, name: str) -> bool:
        """Is it placed, or to be placed?"""
        return name in self.written or name in self.components

    def first_of(self, *names: str) -> str | None:
        """The first of these that there is."""
        return next((name for name in names if self.has(name)), None)

    def on_accelerators(self, name: str) -> Component | None:
        """The component, if it could be read and is placed on accelerators: on other things a mode has no say here."""
        found = self.components.get(name)
        return found if found and self.cluster.kind(found.node_groups) == ACCELERATOR else None

    def placed(self, name: str) -> Component | None:
        """The component, if its accelerators are given and known."""
        found = self.on_accelerators(name)
        return found if found and found.runs else None

    def is_open(self, name: str) -> bool:
        """Is it left to solve? One whose ranks cannot be told without the cluster is not."""
        found = self.on_accelerators(name)
        return found is not None and found.runs is None and "placement" not in found.spans

    def worker_of_idle(self, name: str) -> str | None:
        """Who does the work of a component that some way has no place for, while the others say how many accelerators it has; else None."""
        idle = any(name in way.without for way in self.ways) and self.has(INFERENCE[name])
        return INFERENCE[name] if idle else None

    def steps_of(self, name: str) -> tuple[int, ...]:
        """What its accelerators are a multiple of, at the least, with each of the degrees that are open to it; nothing where none are.

        Where others have a choice and its hints say no degrees, its own may follow from that: then a plan judges its count, with each choice.
        """
        if name in self.choices:
            return tuple(each.tp for each in self.choices[name])
        return (1,) if self.choices and name in self.planned and "parallel" not in self.components[name].spans else ()

    def relate(self, kind: str, *names: str, choice: str = "") -> None:
        """The mode demands a relation of these components, as far as they are known and on accelerators; see Relation."""
        known = [name for name in names if self.on_accelerators(name)]
        if len(known) == len(names):
            spans = [span for name in names if (span := self.components[name].spans.get("placement"))]
            self.relations.append(Relation(kind, names, max(spans, default=None), self.reason, choice))

    def place(self, name: str) -> Span:
        """Where its ranks stand, or the name itself."""
        found = self.components.get(name)
        return (found.span("placement") if found else None) or self.written.get(name) or self.owner
