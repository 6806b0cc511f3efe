"""A ROLL configuration as a Problem: its roles, the nodes that ROLL reserves for them, and every fault at once."""

from __future__ import annotations

from dataclasses import dataclass, field

from ...cluster import Cluster
from ...component import Component, Parallel, Relation
from ...configuration.notes import Notes
from ...configuration.settings import Settings
from ...derivation import Derivation
from ...job import Job
from ...problem import Problem
from ...reading import Reading
from ...shorthand import MAX_NODES, AsDeclared
from ...text.document import Document
from ...text.interpolation import Interpolator
from ...text.tree import Mapping
from ..dialect import TRAINING
from .capabilities import CAPABILITIES, ENVIRONMENT
from .machines.counts import devices_per_node, nodes_reserved
from .machines.reserved import Reserving
from .modes import read_modes
from .recognise import HINTS
from .roles.defaults import Defaults
from .roles.placed import opened, placed
from .roles.read_roles import read_roles
from .roles.setup import Setup
from .roles.unused import unused
from .work import read_work

NAME, FRAMEWORK = "roll", "ROLL"


def read(document: Document, machines: Cluster | AsDeclared | None, level: str = "placement") -> Reading:
    """The problem that the file states, and everything that is wrong with it. See `Dialect.read`."""
    return read_with(document, machines, level, hints=True)


def read_with(document: Document, machines: Cluster | AsDeclared | None, level: str, hints: bool) -> Reading:
    """As `read`; without `hints` only what is explicit is read."""
    reader = _Reader(document, level == TRAINING, hints)
    problem = reader.problem(machines)
    reader.notes.settle()
    findings = (*document.findings, *reader.interpolator.findings, *reader.notes.findings)
    unchecked = (*document.unchecked, *reader.interpolator.unchecked, *reader.notes.unchecked)
    return Reading(document, NAME, problem, findings, unchecked, tuple(reader.derivations))


@dataclass
class _Reader:
    """One file while it is read."""

    document: Document
    training: bool
    hints: bool
    derivations: list[Derivation] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.notes = Notes(self.document, FRAMEWORK)
        self.interpolator = Interpolator.of(self.document, ENVIRONMENT)
        self.notes.followed = self.interpolator.followed
        self.settings = Settings(self.notes, self.interpolator, Defaults())

    def problem(self, machines: Cluster | AsDeclared | None) -> Problem | None:
        """The problem; None where the roles need more nodes than are read."""
        hinted = self._hinted()
        pipeline, roles = read_roles(self.notes, self.settings, self.document, frozenset(hinted), self.derivations)
        per_node = devices_per_node(self.notes, self.settings, machines)
        nodes = nodes_reserved(self.notes, self.settings, roles, per_node, self.derivations)
        unused(self.notes, roles, per_node.count)
        if nodes > MAX_NODES:
            return None
        cluster = Reserving(self.notes, self.settings, roles, per_node, nodes).cluster(machines, bool(hinted))
        components: list[Component] = []
        for role in roles:
            if role.mapping is None and role.key in hinted:
                components.append(opened(role))
            elif role.created is not False and (role.world_size is not None or not role.readable):
                components.append(placed(role, cluster, per_node.count))
        known, relations, choices = self._with_hints(tuple(components), cluster)
        named = {component.name: component for component in known}
        setup = Setup(
            self.notes, self.settings, pipeline, roles, per_node.count, per_node.assumed, nodes, cluster, named, relations,
            derivations=self.derivations,
        )  # fmt: skip
        read_modes(setup)
        read_work(setup, self.training)
        job = Job(tuple(setup.components.values()), (*relations, *setup.relations), CAPABILITIES, choices, tuple(setup.shares))
        return Problem(cluster, job)

    def _hinted(self) -> tuple[str, ...]:
        """The names of the components that the hints are about."""
        block = self.document.root.get(HINTS) if self.hints else None
        inner = block.get("components") if isinstance(block, Mapping) else None
        return tuple(entry.key.text for entry in inner) if isinstance(inner, Mapping) else ()

    def _with_hints(
        self, components: tuple[Component, ...], cluster: Cluster
    ) -> tuple[tuple[Component, ...], tuple[Relation, ...], dict[str, tuple[Parallel, ...]]]:
        """The components with what the hints say of them."""
        block = self.document.root.get(HINTS) if self.hints else None
        if block is None:
            return components, (), {}
        from ...hints import add_block

        known, relations, choices = add_block(self.interpolator.tree(block, (HINTS,)), cluster, components, self.notes.findings)
        return known, relations, dict(choices)
