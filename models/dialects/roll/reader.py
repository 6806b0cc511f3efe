"""A ROLL configuration as a Problem: its roles, the nodes that ROLL reserves for them, and every fault at once."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Iterator

from ...component import Component
from ...configuration.notes import Notes
from ...configuration.settings import Settings
from ...derivation import Derivation
from ...hints.said import may_leave_degrees, timed_names
from ...job import Job
from ...machines.cluster import Cluster
from ...machines.shorthand import MAX_NODES, AsDeclared
from ...problem import Problem
from ...reading import Reading
from ...said import Said
from ...text.document import Document
from ...text.interpolation import Interpolator
from ...text.tree import Mapping
from ..dialect import DEFAULT_LEVEL, TRAINING
from .capabilities import CAPABILITIES
from .machines.counts import devices_per_node, nodes_reserved
from .machines.reserved import Reserving
from .modes import read_modes
from .planning.anew import anew, choices_refused
from .recognise import HINTS, NAME
from .roles.defaults import Defaults
from .roles.hinted import only_roles, with_workers
from .roles.placed import opened, placed
from .roles.role import Role
from .roles.setup import Setup
from .variables import ENVIRONMENT
from .work import read_work
from .workers.meant import as_meant
from .workers.read_roles import read_roles
from .workers.unused import unused

FRAMEWORK = "ROLL"


def read(document: Document, machines: Cluster | AsDeclared | None, level: str = DEFAULT_LEVEL) -> Reading:
    """The problem that the file states, and everything that is wrong with it. See `Dialect.read`."""
    found = read_with(document, machines, level)
    hints = document.root.get(HINTS)
    if not timed_names(hints):
        return found
    return replace(
        found,
        anew=lambda: anew(read_with, document, machines, level),
        choices_refused=(lambda: choices_refused(read_with, document, machines, level)) if may_leave_degrees(hints) else None,
    )


def read_with(document: Document, machines: Cluster | AsDeclared | None, level: str, hints: bool = True) -> Reading:
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
        self.meant = as_meant(self.notes, self.document, frozenset(self._hinted()))
        self.interpolator = Interpolator.of(self.meant, ENVIRONMENT)
        self.notes.followed = self.interpolator.followed
        self.settings = Settings(self.notes, self.interpolator, Defaults())

    def problem(self, machines: Cluster | AsDeclared | None) -> Problem | None:
        """The problem; None where the roles need more nodes than are read."""
        notes, settings = self.notes, self.settings
        hinted = self._hinted()
        pipeline, roles = read_roles(notes, settings, self.meant, frozenset(hinted), self.derivations)
        open_ = {role.key for role in roles if role.key in hinted and role.created and role.mapping is None and role.world_size is None}
        per_node = devices_per_node(notes, settings, machines)
        nodes = nodes_reserved(notes, settings, roles, per_node, self.derivations, bool(open_))
        unused(notes, roles, per_node.count)
        if nodes > MAX_NODES:
            role = max(roles, key=lambda role: role.ids.highest if role.ids else -1)
            message = f"`{role.key}` names device {role.ids.highest if role.ids else 0:,}; more than {MAX_NODES:,} nodes are not read"
            notes.error("PW102", role.key, message, role.place, "too high", "is this id meant?")
            return None
        cluster = Reserving(notes, settings, roles, per_node, nodes).cluster(machines, bool(open_))
        said = self._with_hints(tuple(self._components(roles, open_, cluster, per_node.count, nodes)), cluster, roles)
        setup = Setup(
            notes, settings, pipeline, roles, per_node.count, per_node.assumed, nodes, cluster, {each.name: each for each in said.components},
            said.relations, dict(said.choices), derivations=self.derivations,
        )  # fmt: skip
        read_modes(setup)
        read_work(setup, self.training)
        in_turn = {role.key for role in roles if open_ and role.ids is None and role.world_size}
        job = Job(
            tuple(setup.components.values()), (*said.relations, *setup.relations), CAPABILITIES, setup.choices, tuple(setup.shares),
            models=setup.models, links=said.links, preference=said.preference, workload=said.workload,
            in_turn=frozenset(in_turn & set(setup.components)), in_step=frozenset(setup.in_step),
        )  # fmt: skip
        return Problem(cluster, job)

    def _components(self, roles: tuple[Role, ...], open_: set[str], cluster: Cluster, per_node: int, nodes: int) -> Iterator[Component]:
        """What is placed: the roles that ROLL starts, and those of which that is not known."""
        for role in roles:
            if role.key in open_:
                yield opened(role)
            elif role.created is not False and (role.world_size is not None or not role.readable):
                yield placed(role, cluster, per_node, nodes)
                if open_ and role.ids is None and role.world_size and len(cluster.nodes) > 1:
                    why = "on which nodes its workers are follows from how many nodes are reserved, once all roles are placed"
                    self.notes.unsure("PW102", role.key, why)

    def _hinted(self) -> tuple[str, ...]:
        """The names of the components that the hints are about."""
        block = self.document.root.get(HINTS) if self.hints else None
        inner = block.get("components") if isinstance(block, Mapping) else None
        return tuple(entry.key.text for entry in inner) if isinstance(inner, Mapping) else ()

    def _with_hints(self, components: tuple[Component, ...], cluster: Cluster, roles: tuple[Role, ...]) -> Said:
        """The components with what the hints say of them."""
        block = self.document.root.get(HINTS) if self.hints else None
        if block is None:
            return Said(components)
        from ...hints.block import add_block

        found = only_roles(self.notes, self.interpolator.tree(block, (HINTS,)), roles)
        if found is None:
            return Said(components)
        said = add_block(found, cluster, components, self.notes.findings)
        each = {role.key: role.num_gpus_per_worker for role in roles}
        return replace(said, components=tuple(with_workers(component, each.get(component.name, 0)) for component in said.components))
