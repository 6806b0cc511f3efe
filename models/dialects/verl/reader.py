"""A verl configuration as a Problem: the pools of its program, on nodes, with what runs on them."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property, partial
from typing import Mapping as MappingType
from typing import Union

from ...configuration.settings import Amount
from ...findings.finding import Severity
from ...hints.said import may_leave_degrees, timed_names
from ...job import Capabilities, Job
from ...machines.cluster import Cluster
from ...machines.shorthand import AsDeclared
from ...problem import Problem
from ...reading import Reading
from ...said import Said
from ...text.document import Document
from ...text.tree import Mapping
from ..dialect import DEFAULT_LEVEL, TRAINING
from ..following import interpolates
from ..skeleton import Reader
from .configuration import Configuration
from .defaults import table_for
from .entries import Kind, entry_of
from .hinted import HINTS, is_open, opened, with_hints
from .job import Setup, components_of, derived, relations_of, whole_replicas
from .misspelt import judge_keys
from .planning.anew import anew, choices_refused
from .planning.degrees import amounts_of, is_planned, leader_of, with_numbers
from .planning.opening import plan_pools
from .planning.refused import Known, Numbers, Refused, following_keys
from .pools import Declared, pools_of
from .pools.room import placed
from .pools.served import is_engine
from .recognise import NAME
from .tried import keep_what_works
from .work import judge

CAPABILITIES = Capabilities(
    groups_may_cross=True,
    whole_replicas=True,
    notices={"PW214": "verl never notices this: the server is started with the accelerators of other nodes"},
)
"""All roles of a pool are one process on each accelerator, so nothing overlaps that is not colocated; groups that cross nodes
are slow, but nothing refuses them. Source: verl, verl/single_controller/ray/base.py; verl/workers/rollout/replica.py."""
Machines = Union[Cluster, AsDeclared, None]
Numbered = MappingType[str, int]


def read(document: Document, machines: Machines, level: str = DEFAULT_LEVEL) -> Reading:
    """The problem that the file states, and everything that is wrong with it. See `Dialect.read`."""
    found = VerlReader(document, machines, level).read()
    hints = document.root.get(HINTS)
    if not timed_names(hints):
        return found

    def again(machines: Machines, open_: bool, root: Mapping | None, known: Known | None) -> Reading:
        return VerlReader(document if root is None else replace(document, root=root), machines, level, open_=open_, known=known).read()

    def own(name: str) -> MappingType[str, Amount]:
        reader = VerlReader(document, machines, level, open_=True)
        return amounts_of(reader.settings, reader.entry, reader.declared, name)

    return replace(
        found,
        anew=lambda: anew(again, document.root, machines, own),
        choices_refused=(lambda: choices_refused(again, document.root, machines, own)) if may_leave_degrees(hints) else None,
    )


class VerlReader(Reader):
    """One configuration of verl while it is read.

    Attributes
    ----------
    instead : numbers in the place of those that are written; then nothing else is tried any more.
    open : the pools of components with times have no size, whatever the file says.
    known : what is known of what verl refuses on these machines, of this file with any degrees; it is added to. None: no size is judged.
    entry, declared : the program and its pools, those too whose size is left to hints.
    """

    NAME = NAME
    FRAMEWORK = "verl"
    ENVIRONMENT = ("NNODES", "NUM_NODES", "SLURM_NNODES", "SLURM_JOB_NUM_NODES", "N_GPUS_PER_NODE")
    settings: Configuration

    def __init__(
        self, document: Document, machines: Machines, level: str, with_hints: bool = True, instead: Numbered | None = None,
        open_: bool = False, known: Known | None = None,
    ) -> None:  # fmt: skip
        self.instead, self.open, self.known = instead, open_, known
        super().__init__(document, machines, level, with_hints)
        self.level = level
        self.takes_hints = with_hints

    def make_settings(self) -> Configuration:
        """See `Reader.make_settings`."""
        self.entry = entry_of(self.notes, self.document.root, self.document.program)
        table = table_for(self.document, self.entry)
        return Configuration(self.notes, self.interpolator, table, self.instead, self.open and is_planned(self.entry))

    @cached_property
    def declared(self) -> Declared:
        """Pools of the program."""
        return pools_of(self.settings, self.entry)

    @cached_property
    def is_tied(self) -> bool:
        """True if other numbers may follow from one that is changed, through interpolations."""
        return self.instead is None and interpolates(self.document.root)

    def problem(self) -> Problem:
        """See `Reader.problem`."""
        setup, cluster = self.setup()
        once = {(finding.code, finding.message, finding.span): finding for finding in reversed(self.notes.findings)}
        self.notes.findings = list(reversed(once.values()))  # what two roles take from one key is said of the first
        self.derivations = setup.derivations
        overlap = bool(setup.parts)  # what runs on a part of its pool may share with what runs on all of it
        capabilities = replace(CAPABILITIES, shares_accelerators=overlap) if overlap else CAPABILITIES
        job = Job(
            setup.components, tuple(setup.relations), capabilities, shares=tuple(setup.shares), pools=setup.pools, models=setup.models,
            links=setup.links, preference=setup.preference, workload=setup.workload, choices=setup.choices, laying=setup.laying,
            accepted=setup.accepted, tied=setup.tied, followed=setup.followed, sizes_not_read=setup.sizes_not_read, by_size=setup.by_size,
        )  # fmt: skip
        return Problem(cluster, job)

    def setup(self) -> tuple[Setup, Cluster]:
        """The job and its cluster. Without hints it is what verl has, of which only what is refused is asked."""
        settings, entry, declared, machines = self.settings, self.entry, self.declared, self.machines
        sized = replace(declared, pools=tuple(pool for pool in declared.pools if not is_open(settings, pool)))
        components = components_of(settings, entry, declared, sized.pools)
        cluster, runs = placed(settings, entry, sized, machines, self.suits)
        there = tuple(replace(each, runs=runs[each.name]) if each.name in runs else opened(each) for each in components)
        if isinstance(machines, Cluster) and cluster is not machines:  # what was said of its room holds for its CPUs too
            there = tuple(replace(component, cpus=0) for component in there)
        own, relations = partial(amounts_of, settings, entry, declared), tuple(relations_of(declared))
        refers = interpolates(self.document.root)
        said = with_hints(settings, cluster, there, relations, own, refers) if self.takes_hints else Said(there, relations)
        setup = Setup(
            self.notes, settings, entry, sized.pools, said.components, list(said.relations), parts=declared.ranges, links=said.links,
            preference=said.preference, workload=said.workload, choices=said.choices,
        )  # fmt: skip
        if not self.takes_hints:
            judge(setup, self.level, models=False)
            return setup, cluster
        setup.derivations += derived(setup)
        if entry.kind is not Kind.NOTHING:
            judge(setup, self.level)
            judge_keys(self.notes, settings)
        if self.instead is None:
            keep_what_works(setup, self.again)
        if settings.anew and self.instead is None and self.known is not None:
            sizes = [key for pool in declared.pools if pool not in sized.pools for key in (pool.nodes_key, pool.accelerators_key)]
            trains = [each.name for each in components if not is_engine(settings, entry, each.name)]
            dealt = frozenset(its.name for name in trains for its in own(name).values())
            before = frozenset((each.code, each.subject) for each in self.notes.findings)
            following = following_keys(self.document.root, sizes) if self.is_tied else frozenset()
            refused = Refused(self.known, self.bare, self.degrees, following, dealt, before)
            plan_pools(setup, cluster, declared.pools, own, partial(leader_of, settings, entry, declared), refused)
        return setup, cluster

    def changed(self, changes: Numbered, level: str, with_hints: bool = True) -> VerlReader:
        """Reader of the same file with other numbers."""
        root = with_numbers(self.document.root, changes) if self.is_tied else self.document.root
        return VerlReader(replace(self.document, root=root), self.machines, level, with_hints, changes, self.open)

    def again(self, changes: Numbered) -> Setup:
        """The job with other numbers."""
        return self.changed(changes, self.level).setup()[0]

    def bare(self, changes: Numbered) -> Setup:
        """The job with other numbers, as verl has it: without what hints say of it."""
        return self.changed(changes, TRAINING, with_hints=False).setup()[0]

    def degrees(self, changes: Numbered) -> Numbers:
        """All degrees with other numbers, as they come out."""
        its = self.changed(changes, self.level)
        names = [name for pool in its.declared.pools for name in pool.components]
        return tuple((one.name, one.value) for name in names for one in amounts_of(its.settings, its.entry, its.declared, name).values())

    def suits(self, changes: Numbered) -> bool:
        """True if other numbers are right in all respects."""
        if self.instead is not None:
            return False
        tried, before = self.again(changes), {finding.message for finding in self.notes.findings}
        worse = any(finding.severity is Severity.ERROR and finding.message not in before for finding in tried.notes.findings)
        return not worse and whole_replicas(tried)
