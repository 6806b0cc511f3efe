"""Reader of verl configurations: pools of the program on nodes, and their components.

Every edit of a number is tried. An edit that does not fix its finding, or breaks something else, is
dropped.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import cached_property
from typing import Callable, Iterable, Mapping

from ...configuration.settings import Amount
from ...findings.finding import Finding, Severity
from ...findings.span import Edit
from ...job import Capabilities, HintedJob, Job
from ...level import TRAINING
from ...machines.cluster import Cluster
from ...machines.shorthand import AsDeclared
from ...parallel import Parallel
from ...planning.spec import PlanningSpec
from ...problem import Problem
from ...text.document import Document
from ...text.tree import Scalar, find, with_value
from ..following import interpolates
from ..skeleton import Reader
from .configuration import Configuration
from .defaults import table_for
from .degrees import is_engine, own_amounts
from .job import VerlSetup, components_of, derived, is_open, opened, relations_of, with_hints
from .keys import judge_keys
from .pools import Declared, pools_of
from .programs import ProgramKind, entry_of
from .room import ROOM, lay_out_pools
from .sizes import Known, Numbers, SizeReader, accepted_sizes, following_keys, laying_of, plan_pools
from .work import judge

CAPABILITIES = Capabilities(
    groups_may_cross=True,
    whole_replicas=True,
    notices={"PW214": "verl never notices this: the server is started with the accelerators of other nodes"},
)
"""Capabilities of verl placements.

All roles of a pool are one process per accelerator, so only colocated components overlap. Groups
that cross nodes are slow, but accepted. Source: verl, verl/single_controller/ray/base.py;
verl/workers/rollout/replica.py.
"""
Numbered = Mapping[str, int]
ROUNDED = "PW804"
MOST_TRIED = 12
"""Limit on tried edits; further edits are dropped."""
PLANNED = (ProgramKind.HYBRID, ProgramKind.SEPARATE, ProgramKind.GENERATION)
"""Programs with a size in two keys for every pool."""


class VerlReader(Reader):
    """Reader of a verl configuration.

    Attributes
    ----------
    instead : numbers that replace written ones; then no further edits are tried.
    open : True if pools of components with times have no size, whatever the file says.
    known : what verl refuses of sizes on these machines, extended while reading; None: no size is
        judged.
    """

    NAME = "verl"
    FRAMEWORK = "verl"
    ENVIRONMENT = ("NNODES", "NUM_NODES", "SLURM_NNODES", "SLURM_JOB_NUM_NODES", "N_GPUS_PER_NODE")
    settings: Configuration

    def __init__(
        self, document: Document, machines: Cluster | AsDeclared | None, level: str, with_hints: bool = True,
        instead: Numbered | None = None, open_: bool = False, known: Known | None = None,
    ) -> None:  # fmt: skip
        self.instead, self.open, self.known = instead, open_, known
        super().__init__(document, machines, level, with_hints)
        self.level = level
        self.takes_hints = with_hints

    def make_settings(self) -> Configuration:
        """See `Reader.make_settings`."""
        entry = entry_of(self.notes, self.document.root, self.document.program)
        table = table_for(self.document, entry)
        return Configuration(self.notes, self.interpolator, entry, table, self.instead, self.open and entry.kind in PLANNED)

    @cached_property
    def declared(self) -> Declared:
        """Pools of the program, pools left to hints included."""
        return pools_of(self.settings)

    @cached_property
    def is_tied(self) -> bool:
        """True if interpolations may make numbers depend on others."""
        return interpolates(self.document.root)

    def own(self, name: str) -> Mapping[str, Amount]:
        """Return the degrees that a component owns, with their settings."""
        return own_amounts(self.settings, self.declared.pools, name)

    def problem(self) -> Problem:
        """See `Reader.problem`."""
        setup, draft, cluster = self.setup()
        self.derivations = setup.derivations
        job = Job(setup.components, draft.relations, CAPABILITIES, draft.choices, pools=setup.pools, models=setup.models, links=draft.links,
                  preference=draft.preference, planning=PlanningSpec(workload=draft.workload))  # fmt: skip
        if draft.workload is None and any(component.runs is None for component in job.components):
            job = replace(job, planning=replace(job.planning, laying=laying_of(job, self.settings, self.declared.pools)))
        if self.settings.anew and self.known is not None:
            job = plan_pools(job, self.settings, cluster, self.declared.pools, self._refused(setup, self.known))
        # Two roles with one key: only the first is reported.
        once = {(finding.code, finding.message, finding.span): finding for finding in reversed(self.notes.findings)}
        self.notes.findings = list(reversed(once.values()))
        return Problem(cluster, job)

    def with_accepted_sizes(self) -> Job | None:
        """Return the job with the counts that verl accepts for open pools, if known."""
        if (problem := self.read().problem) is None:
            return None
        setup, _, cluster = self.setup()
        refused, own = self._refused(setup, {}), {component.name: component.parallel for component in setup.components}
        accepted: dict[str, frozenset[tuple[int, Parallel]]] = {}
        for pool in self.declared.pools:
            sizes = accepted_sizes(pool, cluster, own, {}, refused, lambda count: True) if pool not in setup.pools else None
            accepted |= sizes.pairs if sizes and not (sizes.always or sizes.unread) else {}
        return replace(problem.job, planning=replace(problem.job.planning, accepted=accepted))

    def setup(self) -> tuple[VerlSetup, HintedJob, Cluster]:
        """Return the job, the components with hints, and the cluster.

        Without hints it is the job as verl has it, read only for refusals.
        """
        settings, declared, machines = self.settings, self.declared, self.machines
        sized = replace(declared, pools=tuple(pool for pool in declared.pools if not is_open(settings, pool)))
        unplaced = components_of(settings, declared, sized.pools)
        cluster, runs = lay_out_pools(settings, sized, machines, self.suits)
        components = tuple(replace(item, runs=runs[item.name]) if item.name in runs else opened(item) for item in unplaced)
        # The finding about capacity covers the CPUs too.
        if isinstance(machines, Cluster) and cluster is not machines:
            components = tuple(replace(component, cpus=0) for component in components)
        draft, places = HintedJob(components, relations_of(declared)), settings.entry.kind is not ProgramKind.NOTHING
        if self.takes_hints:
            draft = with_hints(settings, cluster, components, draft.relations, declared.pools, self.is_tied)
        setup = VerlSetup(settings, sized, draft.components)
        if self.takes_hints:
            setup.derivations += derived(setup)
        if places or not self.takes_hints:
            judge(setup, self.level, models=self.takes_hints)
        if places and self.takes_hints:
            judge_keys(self.notes, settings)
        if self.takes_hints and self.instead is None:
            drop_failing_edits(setup, self.again)
        return setup, draft, cluster

    def _refused(self, setup: VerlSetup, known: Known) -> SizeReader:
        """Return verl's refusals of other sizes and degrees."""
        open_ = [pool for pool in self.declared.pools if pool not in setup.pools]
        sizes = [key for pool in open_ for key in (pool.nodes_key, pool.accelerators_key)]
        trains = [component.name for component in setup.components if not is_engine(self.settings, component.name)]
        dealt = frozenset(amount.name for name in trains for amount in self.own(name).values())
        before = frozenset((finding.code, finding.subject) for finding in self.notes.findings)
        following = following_keys(self.document.root, sizes) if self.is_tied else frozenset()
        return SizeReader(known, self.bare, self.degrees, following, dealt, before)

    def changed(self, changes: Numbered, level: str, with_hints: bool = True) -> VerlReader:
        """Return a reader of the file with changed numbers and references."""
        root = self.document.root
        for key, number in changes.items() if self.instead is None and self.is_tied else ():
            root = with_value(root, key, number) if isinstance(find(root, key), Scalar) else root
        return VerlReader(replace(self.document, root=root), self.machines, level, with_hints, changes, self.open)

    def again(self, changes: Numbered) -> VerlSetup:
        """Return the job with changed numbers."""
        return self.changed(changes, self.level).setup()[0]

    def bare(self, changes: Numbered) -> VerlSetup:
        """Return the job with changed numbers, without hints."""
        return self.changed(changes, TRAINING, with_hints=False).setup()[0]

    def degrees(self, changes: Numbered) -> Numbers:
        """Return all degrees with changed numbers."""
        reader = self.changed(changes, self.level)
        names = [name for pool in reader.declared.pools for name in pool.components]
        return tuple((amount.name, amount.value) for name in names for amount in reader.own(name).values())

    def suits(self, changes: Numbered) -> bool:
        """Return True if changed numbers cause no error, incomplete replica or rest."""
        if self.instead is not None:
            return False
        tried, before = self.again(changes), {finding.message for finding in self.notes.findings}
        after = tried.settings.notes.findings
        errors = [finding for finding in after if finding.severity is Severity.ERROR or finding.code == ROUNDED]
        return all(finding.message in before for finding in errors) and all(map(tried.is_whole, tried.components))


def drop_failing_edits(setup: VerlSetup, again: Callable[[Numbered], VerlSetup]) -> None:
    """Drop edits without the promised effect from findings and components.

    The numbers of a job depend on each other: a batch that divides among agents may be too small
    for an update. So every edit is tried alone and with the edits accepted before, and the job is
    judged `again`. If the sizes of pools must change, only that edit is offered, tried before:
    everything else is right for these sizes alone.
    """
    notes, accepted = setup.settings.notes, dict[str, int]()
    sizes = {finding.edit for finding in notes.findings if finding.edit and finding.code in ROOM}
    mended, refused = list[Finding](), set[Edit]()
    for edit, (path, value) in _numbers(setup).items():
        if sizes:
            refused |= {edit} - sizes
            continue
        promised = [finding for finding in notes.findings if finding.edit == edit]
        tries = [({path: value}, promised)] + [({**accepted, path: value}, [*mended, *promised])] * bool(accepted)
        may_try = len(accepted) + len(refused) < MOST_TRIED and path not in accepted
        if may_try and all(_works(setup, again(changes), expected, edit) for changes, expected in tries):
            accepted[path] = value
            mended += promised
        elif accepted.get(path) != value:
            refused.add(edit)
    notes.findings = [replace(finding, edit=None) if finding.edit in refused else finding for finding in notes.findings]
    for component in setup.components:
        fixes = {code: replace(fix, edit=None) if fix.edit in refused else fix for code, fix in component.fixes.items()}
        setup.change(component, replace(component, fixes=fixes))


def _numbers(setup: VerlSetup) -> dict[Edit, tuple[str, int]]:
    """Map every edit that replaces a number to the key and the new number."""
    edits = [finding.edit for finding in setup.settings.notes.findings]
    edits += [fix.edit for component in setup.components for fix in component.fixes.values()]
    numbers = {edit: setup.settings.key_at(edit.span) for edit in edits if edit is not None and edit.text.isdecimal()}
    return {edit: (path, int(edit.text)) for edit, path in numbers.items() if path is not None}


def _works(setup: VerlSetup, tried: VerlSetup, promised: Iterable[Finding], edit: Edit) -> bool:
    """Return True if the promised findings disappear, without new errors or incomplete replicas."""
    compared = {finding.code for finding in promised}
    for severities in ((Severity.ERROR,), (Severity.ERROR, Severity.WARNING, Severity.NOTE)):
        before, gone, after = (
            Counter(finding.code for finding in findings if finding.severity in severities)
            for findings in (setup.settings.notes.findings, promised, tried.settings.notes.findings)
        )
        codes = compared if len(severities) > 1 else after.keys()
        if any(after[code] > before[code] - gone[code] for code in codes if code in after):
            return False
    fixed = {(component.name, code) for component in setup.components for code, fix in component.fixes.items() if fix.edit == edit}
    old, new = ({(component.name, code) for component in job.components for code in component.fixes} for job in (setup, tried))
    return not new & fixed and new <= old
