"""Reader of verl configurations: pools of the program on nodes, and their components.

With times, pools are open, and written places are the baseline.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache, cached_property, partial
from typing import Iterable, Mapping, Union

from ...configuration.settings import Amount
from ...findings.finding import Finding, Severity, Unchecked, warning
from ...hints.block import may_leave_degrees, timed_names
from ...job import Capabilities, HintedJob, Job
from ...level import DEFAULT_LEVEL, TRAINING
from ...machines.cluster import Cluster
from ...machines.shorthand import DeclaredNodes
from ...parallel import Parallel
from ...planning.spec import PlanningSpec
from ...pools import DeclaredPools, Pool
from ...problem import Problem
from ...reading import FileSession, Reading
from ...record import dataclass
from ...text.document import Document
from ...text.tree import MapNode, Scalar, find, leaves, with_value
from ..following import ChosenDegrees, JobWith, interpolates, report_all_refused, with_dependent_degrees, with_hint
from ..pool_capacity import PoolCapacity
from ..pool_sizes import MOST_READ, Changes, Found, Known, Numbers, SizeReader, find_changes, following_keys
from ..skeleton import HINTS, Reader
from .configuration import Configuration
from .degrees import own_amounts
from .job import PLANNED as UNPLANNED
from .job import VerlSetup, add_hints, components_of, derive_sizes, is_open, judge_size, laying_of, open_component, plan_pools, relations_of
from .keys import judge_keys
from .pools import FIT, LEFT, POOLS, split_servers
from .programs import MOMENTS, TRAINERS, ProgramKind, entry_of, release_of, table_for
from .work import judge
from .work.work import SHARES

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
Amounts = Mapping[str, Mapping[str, Amount]]
"""Component -> degrees that it owns, with their settings."""
Machines = Union[Cluster, DeclaredNodes, None]
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
        self, document: Document, machines: Machines, level: str, with_hints: bool = True,
        instead: Changes | None = None, open_: bool = False, results: Known | None = None,
    ) -> None:  # fmt: skip
        self.instead, self.open, self.known = instead, open_, results
        super().__init__(document, machines, level, with_hints)
        self.level = level
        self.takes_hints = with_hints

    def make_settings(self) -> Configuration:
        """See `Reader.make_settings`."""
        entry = entry_of(self.notes, self.document.root, self.document.program)
        table, anew = table_for(self.document, entry), self.open and entry.kind in PLANNED
        resolving = (*TRAINERS, ProgramKind.SIMULATION, ProgramKind.SERVER, ProgramKind.GENERATION)
        self.resolves_all = entry.kind in resolving and not entry.own_trainer and table is not None
        self.interpolator.partial |= table is None
        self.interpolator.default_of = partial(table.value_of, self.document.root.span, self.instead or {}) if table else None
        return Configuration(self.notes, self.interpolator, entry, table, self.instead, anew, self.decisive)

    @cached_property
    def declared(self) -> DeclaredPools:
        """Pools of the program, pools left to hints included."""
        return POOLS[self.settings.entry.kind](self.settings)

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
        if self.known is not None and (self.settings.anew or draft.workload is None):
            job = plan_pools(job, self.settings, cluster, self.declared.pools, self._build_size_reader(setup, self.known))
        # Two roles with one key: only the first is reported.
        unique = {(finding.code, finding.message, finding.span): finding for finding in reversed(self.notes.findings)}
        self.notes.findings = list(reversed(unique.values()))
        return Problem(cluster, job)

    def setup(self) -> tuple[VerlSetup, HintedJob, Cluster]:
        """Return the job, the components with hints, and the cluster.

        Without hints it is the job as verl has it, read only for refusals.
        """
        settings, declaration, machines = self.settings, self.declared, self.machines
        sized_pools = replace(declaration, pools=tuple(pool for pool in declaration.pools if not is_open(settings, pool)))
        without_ranks = components_of(settings, declaration, sized_pools.pools)
        cluster, runs = self.capacity().lay_out(sized_pools, machines, partial(split_servers, settings))
        components = tuple(replace(item, runs=runs[item.name]) if item.name in runs else open_component(item) for item in without_ranks)
        # The finding about capacity covers the CPUs too.
        if isinstance(machines, Cluster) and cluster is not machines:
            components = tuple(replace(component, cpus=0) for component in components)
        draft, places = HintedJob(components, relations_of(declaration)), settings.entry.kind is not ProgramKind.NOTHING
        if self.takes_hints:
            draft = add_hints(settings, cluster, components, draft.relations, declaration.pools, self.is_tied)
        setup = VerlSetup(settings, sized_pools, draft.components)
        if self.takes_hints:
            setup.derivations += derive_sizes(setup)
        if places or not self.takes_hints:
            judge(setup, self.level, models=self.takes_hints)
        if places and self.takes_hints:
            judge_keys(self.notes, settings)
        return setup, draft, cluster

    def capacity(self) -> PoolCapacity:
        """Return the judge of capacity for pools.

        Source: verl, verl/single_controller/ray/base.py: the sum of all accelerators is checked at
        once (_check_resource_available), and nothing else since 0.6.0 (get_placement_groups).
        """
        entry, without = self.settings.entry, "PER_NODE" if self.settings.is_older_than("0.6.0") else "NO_ROOM"
        of_sum, of_part = MOMENTS.get(entry.name, MOMENTS["AT_ONCE"]), MOMENTS[without]
        if entry.kind is ProgramKind.PROCESSES:
            of_sum = of_part = MOMENTS["TORCHRUN"]
        return PoolCapacity(self.notes, self.settings, self.settings.reserves, self.suits, of_sum, of_part, MOMENTS["NO_ROOM"])

    def _build_size_reader(self, setup: VerlSetup, results: Known) -> SizeReader:
        open_ = [pool for pool in self.declared.pools if pool not in setup.pools]
        sizes = [key for pool in open_ for key in (pool.nodes_key, pool.accelerators_key)]
        before = frozenset((finding.code, finding.subject) for finding in self.notes.findings)
        following = following_keys(self.document.root, sizes) if self.is_tied else frozenset()

        def again(changes: Changes, pool: Pool) -> Found:
            return judge_size(self.change(changes, TRAINING, with_hints=False).setup()[0], pool, before)

        return SizeReader(results, again, cache(self.degrees), following, SHARES)

    def change(self, changes: Changes, level: str, with_hints: bool = True) -> VerlReader:
        """Return a reader of the file with changed numbers and references."""
        root = self.document.root
        for key, number in changes.items() if self.instead is None and self.is_tied else ():
            root = with_value(root, key, number) if isinstance(find(root, key), Scalar) else root
        return VerlReader(replace(self.document, root=root), self.machines, level, with_hints, changes, self.open)

    def degrees(self, changes: Numbers) -> Numbers:
        """Return all degrees with changed numbers."""
        reader = self.change(dict(changes), self.level)
        names = [name for pool in reader.declared.pools for name in pool.components]
        return frozenset((amount.name, amount.value) for name in names for amount in reader.own(name).values())

    def suits(self, changes: Changes) -> bool:
        """Return True if changed numbers cause no error, incomplete replica or rest."""
        if self.instead is not None:
            return False
        trial, before = self.change(changes, self.level).setup()[0], {finding.message for finding in self.notes.findings}
        errors = [finding for finding in trial.settings.notes.findings if finding.severity is Severity.ERROR or finding.code == LEFT]
        return all(finding.message in before for finding in errors) and all(map(trial.is_whole, trial.components))


def read(document: Document, machines: Machines, level: str = DEFAULT_LEVEL) -> Reading:
    """Read a document into a problem and findings. See `Dialect.read`."""
    if document.release is None:
        document = replace(document, release=release_of(document))
    reading = VerlReader(document, machines, level).read()
    hints = document.root.get(HINTS)
    opening = VerlOpening(document, machines, level, may_leave_degrees(hints))
    if not timed_names(hints):
        is_open = reading.problem is not None and reading.problem.job.planning.laying is not None
        return replace(reading, session=FileSession(elsewhere=opening)) if is_open else reading
    return replace(reading, session=FileSession(opening=opening, elsewhere=opening), opens=True)


@dataclass(frozen=True)
class VerlOpening:
    """File with open sizes; implements `Opening`, for a file with times, and `Elsewhere`."""

    document: Document
    machines: Machines
    level: str
    leaves_degrees: bool

    def open_ranks(self) -> Reading:
        """See `Opening.open_ranks`."""
        results: Known = {}
        before = self._read(self.machines, results, open_=False)
        if before.problem is None:
            return before
        machines = self.machines if isinstance(self.machines, Cluster) else before.problem.cluster
        if refusals := self._find_refusals_on(machines):
            return replace(before, findings=(*before.findings, *refusals))
        reading = self._read(machines, results)
        if reading.problem is None:
            return reading
        job, cluster = reading.problem.job, reading.problem.cluster
        if job.planning.laying is None and job.planning.workload is None and reading.failed:
            return reading  # the unreadable part has a finding of its own
        if job.planning.laying is None:
            without_workload = replace(reading.problem, job=replace(job, planning=replace(job.planning, workload=None)))
            block, why = self.document.root.get(HINTS), "no pool of this program has a size of its own that could be chosen"
            message = "the times of the file choose no ranks"
            help_ = "drop the times, or plan a program with one pool, or with one to train in and one to generate in"
            nothing = warning(UNPLANNED, HINTS, message, block.span if block else None, help=help_, notes=(why,))
            return replace(reading, problem=without_workload, findings=(*reading.findings, nothing))
        # A pool of a given size moves while the pools before it are open.
        same = {component.name: component for component in before.problem.components if before.problem.cluster == cluster}
        baseline = {
            component.name: runs
            for component in job.components
            if component.name in same and (runs := same[component.name].runs) is not None and component.runs != runs
        }
        assumptions = [note for note in before.unchecked if note.rule == FIT and not note.subject and note not in reading.unchecked]
        job, refusals = self._with_followers(reading, reading.problem, results)
        if len(results) >= MOST_READ:
            why = f"{MOST_READ:,} sizes with degrees were read; which of the others verl takes is judged once they are planned"
            assumptions.append(Unchecked(UNPLANNED, "", why))
        servers = {name: server for name in same if name in baseline and (server := same[name].server)}
        problem = replace(reading.problem, job=replace(job, planning=replace(job.planning, own=baseline, own_servers=servers)))
        findings = (*reading.findings, *(refusals if not reading.failed else ()))
        return replace(reading, problem=problem, findings=findings, unchecked=(*reading.unchecked, *assumptions))

    def find_refusals(self) -> tuple[Finding, ...]:
        """See `Opening.find_refusals`."""
        return self._find_refusals_on(self.machines) if self.leaves_degrees else ()

    def job_on(self, cluster: Cluster) -> Job | None:
        """See `Elsewhere.job_on`."""
        results: Known = {}
        reading = self._read(cluster, results)
        return self._with_followers(reading, reading.problem, results)[0] if reading.problem is not None else None

    def _read(self, machines: Machines, results: Known | None = None, root: MapNode | None = None, open_: bool = True) -> Reading:
        """Read the file, or another tree of it; `open_`: pools with times have no size."""
        document = self.document if root is None else replace(self.document, root=root)
        return VerlReader(document, machines, self.level, open_=open_, results=results).read()

    def _find_refusals_on(self, machines: Machines) -> tuple[Finding, ...]:
        """Return an error if verl refuses every open choice of degrees, on any size."""
        if not isinstance(machines, Cluster):
            problem = self._read(machines, open_=False).problem
            machines = problem.cluster if problem is not None else machines
        reading = self._read(machines)
        if reading.problem is None or reading.failed or not reading.problem.job.choices:
            return ()
        job_with = self._job_with(reading, reading.problem, self._own(reading.problem.job.choices), None, [])
        return report_all_refused(reading.problem.job, job_with)

    def _with_followers(self, reading: Reading, problem: Problem, results: Known) -> tuple[Job, tuple[Finding, ...]]:
        """Add degrees that follow from open ones; refuse if no choice is accepted."""
        root, choices = self.document.root, problem.job.choices
        hint_choices = {name: choices[name] for name in choices if find(root, f"{HINTS}.components.{name}.parallel") is not None}
        amounts, jobs = self._own(hint_choices), [problem.job]
        job_with = self._job_with(reading, problem, amounts, results, jobs)
        job, refusals = with_dependent_degrees(replace(problem.job, choices=hint_choices), self._leaders(amounts), job_with)
        # Degrees that follow from sizes: of the file itself, and of the file with each choice.
        on_sizes = dict[str, tuple[Parallel, ...]]()
        for name, degrees in (pair for variant in jobs for pair in variant.choices.items() if pair[0] not in hint_choices):
            on_sizes[name] = tuple(dict.fromkeys((*on_sizes.get(name, ()), *degrees)))
        planning = replace(job.planning, sizes_not_read=max(variant.planning.sizes_not_read for variant in jobs))
        return replace(job, choices={**job.choices, **on_sizes}, planning=planning), refusals

    def _own(self, names: Iterable[str]) -> Amounts:
        reader = VerlReader(self.document, self.machines, self.level, open_=True)
        return {name: reader.own(name) for name in names}

    def _job_with(self, reading: Reading, problem: Problem, amounts: Amounts, results: Known | None, jobs: list[Job]) -> JobWith:
        """Return a function from degrees to the job or a new refusal.

        It appends every job to `jobs`.
        """
        before = _refusals(reading)

        def job_with(degrees: ChosenDegrees) -> Job | str:
            root = self.document.root
            for name, parallel in degrees.items():
                root = with_hint(root, name, parallel)
                for degree, number in find_changes(amounts[name], parallel).items():
                    root = with_value(root, amounts[name][degree].name, number)
            candidate = self._read(problem.cluster, results, root)
            worse = next((message for key, message in _refusals(candidate).items() if key not in before), "")
            if worse or candidate.problem is None:
                return worse or "the file cannot be read"
            jobs.append(candidate.problem.job)
            return candidate.problem.job

        return job_with

    def _leaders(self, amounts: Amounts) -> list[str]:
        """Return the components whose open degrees an interpolation may refer to."""
        texts = (text for leaf in leaves(self.document.root) for _, marker, text in (leaf.text.partition("${"),) if marker)
        references = {key.rpartition(".")[2] for text in texts for key in re.findall(r"[\w.]+", text)}
        return [name for name in amounts if any(not references.isdisjoint(amount.name.split(".")) for amount in amounts[name].values())]


def _refusals(reading: Reading) -> dict[tuple[str, str], str]:
    """Map (code, subject) to verl's refusals of a file or of all pool sizes."""
    findings = (finding for finding in reading.findings if finding.severity is Severity.ERROR or finding.code == UNPLANNED)
    return {(finding.code, finding.subject): finding.message for finding in findings}
