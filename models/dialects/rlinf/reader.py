"""Reader of RLinf configurations: the whole `cluster` section, with every fault."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from functools import partial
from typing import Mapping, Sequence

from ...configuration.notes import Notes
from ...configuration.settings import Settings
from ...derivation import Figure
from ...hints.block import may_leave_degrees
from ...job import HintedJob, Job
from ...level import DEFAULT_LEVEL
from ...machines.cluster import Cluster
from ...machines.shorthand import DeclaredNodes
from ...placements.run import Run
from ...planning.spec import PlanningSpec
from ...problem import Problem
from ...reading import FileSession, Reading
from ...text.document import Document
from ...text.tree import MapNode, Scalar, Value
from ..skeleton import HINTS
from ..skeleton import Reader as Skeleton
from ..unread import counting_keys
from .checks import check_settings, is_whole, missing_keys, resolves_all
from .components import Context, accelerators_per_node, component_placement, names_in, read_components
from .known import AT_PLACEMENT, CAPABILITIES, ENVIRONMENT, KEY, NAMES, is_profiled, names, release_of
from .modes import Mode, apply_mode
from .modes.arrangement import undivided_components
from .node_groups import machines_of, read_node_groups, warn_of_hidden
from .section import check_keys, check_profiling, read_num_nodes, section_of
from .work import batches, environments, models, sizes

Machines = Cluster | DeclaredNodes | None


def read(document: Document, machines: Machines, level: str = DEFAULT_LEVEL) -> Reading:
    """See `Dialect.read`."""
    document = document if document.release is not None else replace(document, release=release_of(document))
    reading, hints = read_with(document, machines, level), document.root.get(HINTS)
    if not is_profiled(document.root, hints):
        return reading

    from .planning.opening import RlinfOpening

    read_open = partial(read_with, machines=machines, level=level, anew=True)
    opening = RlinfOpening(read_open, document, reading.problem, may_leave_degrees(hints))
    return replace(reading, session=FileSession(opening=opening, times_follow_ranks=True), opens=True)


def read_with(document: Document, machines: Machines, level: str, hints: bool = True, anew: bool = False) -> Reading:
    """Read as `read` does; `anew` leaves the ranks of components with times open."""
    return RlinfReader(document, machines, level, hints, anew).read()


_SIZED = ("actor", "critic", "inference", "rollout")
"""Sections with parallel sizes."""


class RlinfReader(Skeleton):
    """Reader of an RLinf configuration.

    Attributes
    ----------
    planned : components without hints; those with times have open ranks in a file read anew.
    own : ranks in the file of the planned components and their followers.
    block : hints that RLinf's job has a use for.
    """

    NAME, FRAMEWORK, ENVIRONMENT, UNREAD = "rlinf", "RLinf", ENVIRONMENT, NAMES
    SETS_VISIBLE = True

    def __init__(self, document: Document, machines: Machines, level: str, with_hints: bool, anew: bool) -> None:
        super().__init__(document, machines, level, with_hints)
        self.is_anew = anew
        self.hinted = document.root.get(HINTS)
        self.is_profiled = is_profiled(document.root, self.hinted if with_hints else None)
        self.planned = HintedJob(())
        self.own: Mapping[str, Sequence[Run]] = {}
        self.block: Value | None = None

    def problem(self) -> Problem | None:
        """See `Reader.problem`."""
        root = self.document.root
        section = section_of(self.notes, self.interpolator, root)
        if section is None:
            return None
        placements = component_placement(self.notes, section, self._value(section, "component_placement"), self.hinted is not None)
        cluster = self._read_placed(section, placements)
        if cluster is None:
            return None
        draft = self._merge_hints(cluster, placements is not None)
        mode = Mode(
            self.notes, self.settings, cluster, names_in(placements), (placements or section).span, draft, frozenset(self.own),
            self.is_profiled,
        )  # fmt: skip
        apply_mode(mode)
        self._work(mode)
        self.resolves_all, self.added_keys = resolves_all(mode), names("key")
        check_keys(self.notes, self.settings, root, missing_keys(mode), is_whole(mode))
        self._note_missing(root, bool(mode.task) or self.settings.at("runner.task_type") is not None)
        return Problem(cluster, self._job(mode, draft))

    def _note_missing(self, root: MapNode, has_task: bool) -> None:
        """Note an unread configuration, and degrees that count by an unknown task."""
        program = self.document.program
        if program is not None and program.name and not program.found:
            why, add = f"the configuration that `{program.name}` begins with is not found", "Name its folder with `--config-root DIR`"
            if program.missing[0]:
                why, add = f"`{program.name}` {program.missing[0]}", program.missing[1][0].upper() + program.missing[1][1:]
            self.notes.unsure("PW013", "", why, True, add)
        entries = [entry for entry in root if entry.key.text in _SIZED] if not has_task else []
        if path := next((path for entry in entries for path, _ in counting_keys(entry, entry.key.text)), ""):
            why = f"`{path}` counts only in some tasks, and there is no `runner.task_type`"
            self.notes.unsure("PW208", path, why, True, "Add `runner: {task_type: reasoning}`, or the task that it is")

    def _value(self, section: MapNode, key: str) -> Value | None:
        value = section.get(key)
        return value if value is None else self.interpolator.tree(value, ("cluster", key))

    def _read_placed(self, section: MapNode, placements: MapNode | None) -> Cluster | None:
        notes, num_nodes = self.notes, self._value(section, "num_nodes")
        count = read_num_nodes(notes, section, num_nodes)
        groups = read_node_groups(notes, self._value(section, "node_groups"), count)
        check_profiling(notes, self._value(section, "profiling"))
        self.block = self.hints()
        anchor = num_nodes or section
        cluster = None if count is None else machines_of(notes, count, anchor, groups.groups, self.machines)
        if cluster is not None and cluster.counted:
            warn_of_hidden(notes, cluster)
        context = Context(notes, cluster, groups, lacks_nodes=isinstance(self.machines, Cluster))
        components = read_components(context, placements) if placements is not None else ()
        if cluster is None or count is None:
            return None
        if context.asked:
            ones = machines_of(Notes(self.document, self.FRAMEWORK), count, anchor, groups.groups, DeclaredNodes(1))
            derivation = accelerators_per_node(ones, Figure("cluster.num_nodes", count, anchor.span), components, context.asked)
            self.derivations += [derivation] if derivation else []
        self.planned = HintedJob(components)
        if self.is_anew and cluster.counted:
            from .planning.opening import open_ranks

            self.planned, self.own = open_ranks(notes, self.settings, cluster, components, self.block)
        return cluster

    def _merge_hints(self, cluster: Cluster, is_placed: bool) -> HintedJob:
        """Return the components with hints, without hints about components that never start."""
        notes, settings, root, components = self.notes, self.settings, self.document.root, self.planned.components
        if self.block is not None and is_profiled(root, self.block):
            from .planning.opening import hints_of_started

            self.block = hints_of_started(settings, root, self.block, components, self.own)
        if is_placed and (self.block is not None or root.get(KEY) is not None):
            from .planning.opening import misspelt_times

            task = settings.at("runner.task_type")
            names = [component.name for component in components]
            self.block = misspelt_times(notes, root.get(KEY), self.block, names, task.text if isinstance(task, Scalar) else "")
        draft = self.planned
        if self.block is not None:
            from ...hints.block import add_block

            without_division = undivided_components(settings, root, self.hinted)
            draft = add_block(self.block, cluster, components, notes.findings, self.planned.relations, without_division)
        return draft

    def _work(self, mode: Mode) -> None:
        """Apply the job's demands on sizes, environments, models and, by level, batches."""
        check_settings(mode)
        sizes(mode)
        environments(mode)
        models(mode, self.is_training)
        if self.is_training:
            batches(mode)
        elif self.own:  # a plan must also hold at `training`
            quiet = copy(mode)
            quiet.notes, quiet.derivations = Notes(self.document, self.FRAMEWORK), []
            quiet.settings = Settings(quiet.notes, self.interpolator)
            batches(quiet)
        self.derivations += mode.derivations

    def _job(self, mode: Mode, draft: HintedJob) -> Job:
        components, fixed_names, planning = tuple(mode.components.values()), mode.shaped, PlanningSpec(workload=draft.workload)
        # Explicit ranks have the degrees of the file, with which RLinf starts them.
        if self.is_profiled and not self.is_anew:
            fixed_names |= {component.name for component in components if component.runs is not None or "placement" in component.spans}
        if self.own:
            from ...hints.plan import read_plan
            from .planning.times import with_rlinf_defaults

            workload = draft.workload or read_plan(None, draft.components, [])
            with_times = [component for component in draft.components if component.timed]
            workload = workload and with_rlinf_defaults(self.settings, mode.task, workload, with_times, self.block)
            planning = PlanningSpec(workload=workload, ways=tuple(mode.ways), own=self.own, shapes=mode.shapes)
        notices = {**CAPABILITIES.notices, **AT_PLACEMENT} if mode.packs else CAPABILITIES.notices
        return Job(
            components, tuple(mode.relations), replace(CAPABILITIES, packs=mode.packs, notices=notices),
            {name: degrees for name, degrees in draft.choices.items() if name not in fixed_names}, tuple(mode.shares),
            models=mode.models, links=draft.links, preference=draft.preference, planning=planning,
        )  # fmt: skip
