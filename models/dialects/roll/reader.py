"""Reader of ROLL configurations: roles, reserved nodes, and every finding."""

from __future__ import annotations

from dataclasses import replace
from typing import Iterator

from ...component import UNBOUNDED, Component
from ...configuration.settings import Settings
from ...hints.block import hinted_entries, timed_names, without
from ...job import Capabilities, HintedJob, Job
from ...level import DEFAULT_LEVEL
from ...machines.shorthand import MAX_NODES
from ...planning.spec import PlanningSpec
from ...problem import Problem
from ...quantity import times
from ...reading import FileSession, Reading
from ...text.document import Document
from ...text.nearest import nearest
from ...text.tree import Value
from ..dialect import Machines
from ..skeleton import Reader
from .batches import BatchChecks
from .blocks import pipeline_of
from .demands import check_demands
from .findings import report
from .groups import with_own_groups
from .ids import range_text
from .job import Role, RollSetup
from .models import models
from .names import ENVIRONMENT_VARIABLES, HINTS, NAME
from .nodes import DeviceReservation, build_open_component, devices_per_node, nodes_reserved, placed_component
from .planning import RollOpening
from .profile import Defaults, fact_file, profile_of, release_of
from .roles import read_roles, warn_unused_roles
from .sharing import ModeChecks, TransferChecks
from .strategies import StrategyChecks
from .types import TypeChecks

CAPABILITIES = Capabilities(
    shares_accelerators=True, groups_may_cross=True, processes_may_cross=True, reserves_nodes=True, range_text=range_text,
    notices=fact_file("notices"),
)  # fmt: skip
"""Capabilities of ROLL placements.

Overlapping `device_mapping`s express colocation. Nodes have no order, and a group or a worker may
cross nodes. Source: ROLL, roll/distributed/scheduler/resource_manager.py,
roll/distributed/executor/cluster.py.
facts/notices.json: code of a shared rule -> moment when ROLL notices a violation by explicit ids.
"""


def read(document: Document, machines: Machines, level: str = DEFAULT_LEVEL) -> Reading:
    """Read a document into a problem and findings. See `Dialect.read`."""
    if document.release is None:
        document = replace(document, release=release_of(document))
    reading = read_with(document, machines, level)
    if not timed_names(document.root.get(HINTS)):
        return reading
    return replace(reading, session=FileSession(opening=RollOpening(read_with, reading.document, machines, level)), opens=True)


def read_with(document: Document, machines: Machines, level: str, hints: bool = True) -> Reading:
    """Read a document. Without `hints` only explicit placements are read."""
    return _RollReader(with_own_groups(document, profile_of(document.release).groups), machines, level, hints).read()


class _RollReader(Reader):
    """Reader of a document."""

    NAME, FRAMEWORK, ENVIRONMENT, resolves_all = NAME, "ROLL", ENVIRONMENT_VARIABLES, True

    def make_settings(self) -> Settings:
        """See `Reader.make_settings`. ROLL's programs take no settings: examples/start_*_pipeline.py."""
        self.interpolator.may_be_given = False
        return Settings(self.notes, self.interpolator, Defaults(profile_of(self.document.release)), self.decisive)

    def problem(self) -> Problem | None:
        """Build the problem; None if the roles need more than `MAX_NODES` nodes."""
        notes, with_hints = self.notes, frozenset(self.hinted_names())
        pipeline = pipeline_of(notes, self.settings, self.document.program)
        setup = RollSetup(notes, self.settings, pipeline, self.machines, with_hints, self.derivations)
        setup.roles = roles = read_roles(setup)
        open_ = {role.key for role in roles if role.key in with_hints and role.created and role.mapping is None and role.world_size is None}
        setup.per_node = devices_per_node(setup)
        nodes, rewrites = nodes_reserved(setup, bool(open_))
        warn_unused_roles(setup)
        if nodes > MAX_NODES:
            role = max(roles, key=lambda role: role.devices.highest)
            report(notes, "too_high", role.key, role.place, role=role, most=MAX_NODES)
            return None
        reserving = DeviceReservation(setup, nodes)
        setup.cluster, setup.short = reserving.cluster(bool(open_)), frozenset(role.key for role in reserving.beyond)
        if not reserving.beyond:
            notes.findings += rewrites
        draft = self._with_hints(setup, tuple(self._components(setup, open_, nodes)))
        setup.components = {component.name: component for component in draft.components}
        setup.hinted, setup.choices = draft.relations, dict(draft.choices)
        self._judge(setup)
        if reserving.beyond:
            reserving.report_beyond()
        in_turn = {role.key for role in roles if open_ and role.ids is None and role.world_size}
        job = Job(
            tuple(setup.components.values()), (*draft.relations, *setup.relations), CAPABILITIES, setup.choices, tuple(setup.shares),
            models=setup.models, links=draft.links, preference=draft.preference, in_turn=frozenset(in_turn & set(setup.components)),
            in_step=frozenset(setup.in_step), planning=PlanningSpec(workload=draft.workload),
        )  # fmt: skip
        return Problem(setup.cluster, job)

    def _judge(self, setup: RollSetup) -> None:
        StrategyChecks(setup).check()
        check_demands(setup)
        modes, transfers = ModeChecks(setup), TransferChecks(setup)
        transfers.check_model_update()
        modes.check_asynchronous()
        modes.check_partial_gpu()
        transfers.check_logits_transfer()
        BatchChecks(setup, self.is_training).check()
        models(setup, self.is_training)
        TypeChecks(setup).check()

    def _components(self, setup: RollSetup, open_: set[str], nodes: int) -> Iterator[Component]:
        for role in setup.roles:
            if role.key in open_:
                yield build_open_component(role)
            elif role.created is not False and (role.world_size is not None or not role.readable):
                yield placed_component(setup, role, nodes)
                if open_ and role.ids is None and role.world_size and len(setup.cluster.nodes) > 1:
                    why = "on which nodes its workers are follows from how many nodes are reserved, once all roles are placed"
                    self.notes.unsure("PW102", role.key, why)

    def _with_hints(self, setup: RollSetup, components: tuple[Component, ...]) -> HintedJob:
        block = self.hints()
        draft = self.with_hints(None if block is None else self._drop_unknown_roles(block, setup.roles), setup.cluster, components)
        sizes = {role.key: role.num_gpus_per_worker for role in setup.roles}
        return replace(draft, components=tuple(_with_workers(component, sizes.get(component.name, 0)) for component in draft.components))

    def _drop_unknown_roles(self, block: Value, roles: tuple[Role, ...]) -> Value | None:
        """Remove hints for roles that ROLL does not start, with an error for each. None if none are left."""
        hints, role_names = hinted_entries(block), [role.key for role in roles if role.created]
        strange = {name: entry for name, entry in hints.items() if name not in role_names}
        for name, entry in strange.items():
            close = nearest(name, [role for role in role_names if role not in hints])
            why = next((f": {role.reason}" for role in roles if role.key == name), "")
            help = f"write `{close}`" if close else f"roles are {', '.join(f'`{role}`' for role in role_names)}"
            edit = self.notes.rename(entry, close) if close else None
            report(self.notes, "hints_not_started", name, entry.key.span, edit, role=name, why=why, help=help)
        return without(block, strange)


def _with_workers(component: Component, size: int) -> Component:
    """Give the component workers of `size` devices unless the hints set a size."""
    spans = component.spans.keys()
    if "accelerators_per_process" in spans or {"accelerators", "processes"} <= spans or size <= 1:
        return component
    if "processes" in spans:  # then the hints count workers
        most = component.most if component.most >= UNBOUNDED else component.most * size
        counts = times(component.counts, size)
        return replace(component, per_process=size, least=component.least * size, most=most, counts=counts)
    return replace(component, per_process=size)
