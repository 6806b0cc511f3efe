"""Reader of ROLL configurations: roles, reserved nodes, and every finding."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Iterator

from ...component import UNBOUNDED, Component
from ...configuration.settings import Settings
from ...findings.causes import skeleton
from ...findings.finding import Finding, Severity, UnusableInput
from ...findings.span import Edit, apply_edits
from ...hints.block import may_leave_degrees, timed_names, without
from ...job import HintedJob, Job
from ...level import DEFAULT_LEVEL, TRAINING
from ...machines.cluster import Cluster
from ...machines.shorthand import MAX_NODES, AsDeclared
from ...planning.spec import PlanningSpec
from ...problem import Problem
from ...quantity import times
from ...reading import FileSession, Reading
from ...record import dataclass
from ...text.document import Document
from ...text.nearest import nearest
from ...text.source import Source
from ...text.tree import MapNode, Value
from ..skeleton import Reader
from .batches import chains, check_preferences, check_prompts, check_teacher_batches, check_trajectories
from .job import Role, RollSetup
from .misspelt import as_meant
from .models import models
from .modes import check_asynchronous, check_partial_gpu
from .names import ENVIRONMENT_VARIABLES
from .nodes import DeviceReservation, devices_per_node, nodes_reserved, opened, placed_component
from .planning import anew, choices_refused
from .profile import Defaults, profile_of
from .recognise import CAPABILITIES, HINTS, NAME
from .roles import read_roles, warn_unused_roles
from .strategies import check_strategies, offer_whole_replicas
from .transfers import check_logits_transfer, check_model_update


def read(document: Document, machines: Cluster | AsDeclared | None, level: str = DEFAULT_LEVEL) -> Reading:
    """Read a document into a problem and findings. See `Dialect.read`."""
    reading, hints = read_with(document, machines, level), document.root.get(HINTS)
    if not timed_names(hints):
        return reading
    opening = _RollOpening(document, machines, level, may_leave_degrees(hints))
    return replace(reading, session=FileSession(opening=opening), opens=True)


def read_with(document: Document, machines: Cluster | AsDeclared | None, level: str, hints: bool = True, trial: bool = False) -> Reading:
    """Read a document; without `hints` only explicit placements are read.

    A `trial` reads a changed document to test an edit; it tries no helps itself.
    """
    reader = _RollReader(document, machines, level, hints)
    reader.is_trial = trial
    return reader.read()


tried = partial(read_with, trial=True)


@dataclass(frozen=True)
class _RollOpening:
    """Document whose roles have times; implements `Opening`."""

    document: Document
    machines: Cluster | AsDeclared | None
    level: str
    leaves_degrees: bool

    def opened(self) -> Reading:
        """See `Opening.opened`."""
        return anew(read_with, tried, self.document, self.machines, self.level)

    def refused(self) -> tuple[Finding, ...]:
        """See `Opening.refused`."""
        return choices_refused(read_with, tried, self.document, self.machines, self.level) if self.leaves_degrees else ()


class _RollReader(Reader):
    """Reader of a document.

    `is_trial`: the document is a changed copy, read to see whether the edit may become a help.
    """

    NAME, FRAMEWORK, ENVIRONMENT = NAME, "ROLL", ENVIRONMENT_VARIABLES
    is_trial = False

    def as_meant(self) -> Document:
        """See `Reader.as_meant`."""
        self.meant = as_meant(self.notes, self.document, frozenset(self.hinted_names()))
        return self.meant

    def make_settings(self) -> Settings:
        """See `Reader.make_settings`."""
        return Settings(self.notes, self.interpolator, Defaults(profile_of(self.document.release)))

    def problem(self) -> Problem | None:
        """Build the problem; None if the roles need more than `MAX_NODES` nodes."""
        notes, settings, machines = self.notes, self.settings, self.machines
        hinted = self.hinted_names()
        pipeline, roles = read_roles(notes, settings, self.meant, frozenset(hinted), self.derivations)
        open_ = {role.key for role in roles if role.key in hinted and role.created and role.mapping is None and role.world_size is None}
        per_node = devices_per_node(notes, settings, machines)
        nodes, rewritten = nodes_reserved(notes, settings, roles, per_node, self.derivations, bool(open_))
        warn_unused_roles(notes, roles, per_node)
        if nodes > MAX_NODES:
            role = max(roles, key=lambda role: role.ids.highest if role.ids else -1)
            message = f"`{role.key}` names device {role.ids.highest if role.ids else 0:,}; more than {MAX_NODES:,} nodes are not read"
            notes.error("PW102", role.key, message, role.place, "too high", "is this id meant?")
            return None
        reserving = DeviceReservation(notes, settings, roles, per_node, nodes)
        cluster, beyond = reserving.cluster(machines, bool(open_)), reserving.beyond(machines)
        if not beyond:
            notes.findings += rewritten
        draft = self._with_hints(tuple(self._components(roles, open_, cluster, per_node, nodes)), cluster, roles)
        setup = RollSetup(
            notes, settings, pipeline, roles, per_node, cluster, {component.name: component for component in draft.components},
            draft.relations, dict(draft.choices), derivations=self.derivations, short=frozenset(role.key for role in beyond),
        )  # fmt: skip
        self._judge(setup)
        if beyond:
            reserving.tell_of(beyond, machines, (lambda *_: False) if self.is_trial else self.verifies)
        if not self.is_trial:
            offer_whole_replicas(setup, self.verifies)
        in_turn = {role.key for role in roles if open_ and role.ids is None and role.world_size}
        job = Job(tuple(setup.components.values()), (*draft.relations, *setup.relations), CAPABILITIES, setup.choices, tuple(setup.shares), models=setup.models, links=draft.links, preference=draft.preference, in_turn=frozenset(in_turn & set(setup.components)), in_step=frozenset(setup.in_step), planning=PlanningSpec(workload=draft.workload))  # fmt: skip
        return Problem(cluster, job)

    def _judge(self, setup: RollSetup) -> None:
        """Add the pipeline's demands on the roles, and the batches of their processes."""
        for judge in (check_strategies, check_model_update, check_asynchronous, check_partial_gpu, check_logits_transfer):
            judge(setup)
        check_prompts(setup, self.is_training)
        check_trajectories(setup, self.is_training)
        check_preferences(setup)
        if self.is_training:
            check_teacher_batches(setup)
        chains(setup)
        models(setup)

    def _components(self, roles: tuple[Role, ...], open_: set[str], cluster: Cluster, per_node: int, nodes: int) -> Iterator[Component]:
        """Yield a component for every role that ROLL starts or may start."""
        for role in roles:
            if role.key in open_:
                yield opened(role)
            elif role.created is not False and (role.world_size is not None or not role.readable):
                yield placed_component(role, cluster, per_node, nodes)
                if open_ and role.ids is None and role.world_size and len(cluster.nodes) > 1:
                    why = "on which nodes its workers are follows from how many nodes are reserved, once all roles are placed"
                    self.notes.unsure("PW102", role.key, why)

    def _with_hints(self, components: tuple[Component, ...], cluster: Cluster, roles: tuple[Role, ...]) -> HintedJob:
        """Add the hints to the components, with the strategy's devices per worker."""
        block = self.hints()
        draft = self.with_hints(None if block is None else self._only_roles(block, roles), cluster, components)
        sizes = {role.key: role.num_gpus_per_worker for role in roles}
        return replace(draft, components=tuple(_with_workers(component, sizes.get(component.name, 0)) for component in draft.components))

    def _only_roles(self, block: Value, roles: tuple[Role, ...]) -> Value | None:
        """Remove hints for roles that ROLL does not start; None if none are left.

        Add an error for each of them.
        """
        inner = block.get("components") if isinstance(block, MapNode) else None
        if not isinstance(inner, MapNode):
            return block
        started = [role.key for role in roles if role.created]
        strange = [entry for entry in inner if entry.key.text not in started]
        for entry in strange:
            name = entry.key.text
            close = nearest(name, [role for role in started if inner.get(role) is None])
            why = next((f": {role.reason}" for role in roles if role.key == name), "")
            message = f"the hints are about `{name}`, which ROLL does not start{why}"
            help = f"write `{close}`" if close else f"roles are {', '.join(f'`{role}`' for role in started)}"
            edit = self.notes.renamed(entry, close) if close else None
            self.notes.error("PW121", name, message, entry.key.span, "not started", help, edit)
        return without(block, strange)

    def verifies(self, edit: Edit | None = None, machines: Cluster | None = None) -> bool:
        """Return True if an edit or a new cluster causes no new error.

        Errors are compared by code, subject and message, apart from its numbers.
        """
        document, level = self.document, TRAINING if self.is_training else "placement"
        if edit is not None and edit.span.file != document.source.name:
            return False
        try:
            if edit is not None:
                text = apply_edits(document.source.text, [edit])
                document = replace(document.compose(Source(document.source.name, text)), release=document.release)
            changed = tried(document, machines or self.machines, level, self.has_hints).findings
        except UnusableInput:
            return False
        before, after = (
            {
                (finding.code, finding.subject, skeleton(finding.subject, finding.message))
                for finding in findings
                if finding.severity is Severity.ERROR
            }
            for findings in (self.notes.findings, changed)
        )
        return after <= before


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
