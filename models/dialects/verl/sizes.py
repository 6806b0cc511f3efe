"""Sizes of open pools and degrees that verl takes: each is read once, for all trees of a file that differ in these.

Sizes are as many equal parts as there is room for. A multiple of a count on which work does not divide among ranks is refused
too, so most sizes of a large cluster need not be read. Degrees of one component that refer to the size of its pool are those that
come out on each; where several do, only the sizes of the file's own degrees are planned.
"""

from __future__ import annotations

import re
from dataclasses import field, replace
from functools import cached_property
from itertools import combinations
from typing import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from ...component import DISJOINT, Component, Relation
from ...configuration.settings import Amount
from ...findings.finding import Severity
from ...hints.block import said_of_plan
from ...job import Job
from ...machines.cluster import Cluster
from ...machines.node_group import ACCELERATOR
from ...parallel import Parallel
from ...planning.workload import Workload
from ...pools.laying import Laying, fitting
from ...pools.pool import Pool
from ...record import dataclass
from ...text.interpolation_text import holds_interpolation
from ...text.tree import ListNode, MapNode, Scalar, Value
from ...times import as_it_runs, usual_order
from ..skeleton import HINTS
from .configuration import Configuration
from .degrees import leader_of, own_amounts
from .job import Setup
from .programs import FULLY_ASYNC, Kind
from .work.work import SHARES

PLANNED = "PW604"
MEND = "mend this and plan again: until then, of the counts that verl refuses, those are planned that have fewest such reasons"
APART = "no two pools of verl have an accelerator in common"
STALE, STEPS = "async_training.staleness_threshold", "async_training.trigger_parameter_sync_step"
MOST_READ = 8192
"""Readings of one file that are made on the same machines."""
MOST_TRIED = 3072
"""Readings of sizes of a pool with degrees; of what needs more it is not known whether verl takes it."""
_REFERENCES = re.compile(r"[\w.]+")
Size = tuple[int, int]
"""(parts, accelerators of each)."""
Changes = Mapping[str, int]
"""Key -> number in the place of the one that is written."""
Numbers = tuple[tuple[str, int], ...]
"""Key -> number, of all degrees of the components, as they come out through interpolations."""
Errors = list[tuple[str, str]]
"""(code, message); the code is "" for replicas that would be torn."""
Found = tuple[Mapping[str, Errors], Mapping[str, Parallel]]
"""Component of a pool -> an error of each kind; component of all pools -> the degrees that come out."""
Known = dict[tuple[str, int, int, Numbers], Found]
"""(pool, its nodes, accelerators of each, all degrees) -> what is found."""
Pair = tuple[int, Parallel]
"""(accelerators, degrees) of a component."""
_Variant = tuple[str, "Parallel | None", Changes]
"""A component, the degrees that are tried of it, None for those that come out, and the numbers that state them."""


def following_keys(root: Value, keys: Iterable[str]) -> frozenset[str]:
    """Keys of all scalars that may refer to one of these, or to one that does."""
    leaves = [(path, scalar.text) for path, scalar in _leaves(root, "") if holds_interpolation(scalar.text)]
    changed, found = [key for key in keys if key], set[str]()
    while new := [path for path, text in leaves if path not in found and _refers(text, changed)]:
        found.update(new)
        changed += new
    return frozenset(found)


def _refers(text: str, keys: Iterable[str]) -> bool:
    """True if a text may refer to one of some keys, or to what holds one; a reference within a reference may lead anywhere."""
    words = [word.strip(".") for word in _REFERENCES.findall(text)]
    names = {word.rpartition(".")[2] for word in words}
    return "${${" in text or any(key.rpartition(".")[2] in names or any(key.startswith(f"{word}.") for word in words) for key in keys)


def _leaves(value: Value, path: str) -> Iterator[tuple[str, Scalar]]:
    if isinstance(value, Scalar):
        yield path, value
    elif isinstance(value, MapNode):
        for entry in value:
            yield from _leaves(entry.value, f"{path}.{entry.key.text}".lstrip("."))
    elif isinstance(value, ListNode):
        for position, item in enumerate(value.items):
            yield from _leaves(item, f"{path}.{position}")


def sizes_of(pool: Pool, cluster: Cluster) -> tuple[list[Size], list[Size]]:
    """Sizes that are read first, and all others, each with the fewest accelerators first.

    The first are the size of the pool as the file has it, parts of one node, and whole nodes.
    """
    counts = (node.free(ACCELERATOR).bit_count() for node in cluster.nodes)
    free = sorted((count for count in counts if count), reverse=True)

    def most(each: int) -> int:
        return fitting([(count, 1) for count in free], each)

    largest = max(free, default=0)
    first = {(parts.count, parts.size) for parts in pool.parts if parts.size and parts.count <= most(parts.size)}
    first |= {(1, each) for each in range(1, largest + 1)}
    first |= {(nodes, largest) for nodes in range(2, len(free) + 1) if free[nodes - 1] == largest}
    every = {(parts, each) for each in range(1, largest + 1) for parts in range(1, most(each) + 1)}

    def by_count(size: Size) -> tuple[int, int]:
        return size[0] * size[1], size[0]

    return sorted(first, key=by_count), sorted(every - first, key=by_count)


@dataclass(frozen=True)
class Refused:
    """What is found of a pool with other numbers, among which is its size.

    Attributes
    ----------
    known : what was read; it is added to.
    again : the job with other numbers, as verl has it: without what hints say of it.
    degrees : all degrees with other numbers.
    following : keys of what may follow from sizes of pools.
    dealt : keys of the degrees by which work is dealt out.
    before : (code, subject) of what is wrong with the file itself.
    """

    known: Known
    again: Callable[[Changes], Setup]
    degrees: Callable[[Changes], Numbers]
    following: frozenset[str] = frozenset()
    dealt: frozenset[str] = frozenset()
    before: frozenset[tuple[str, str]] = frozenset()
    _numbers: dict[tuple[tuple[str, int], ...], Numbers] = field(default_factory=dict, repr=False)

    def read(self, pool: Pool, changes: Changes) -> Found | None:
        """What is found; None where so much was read before that this is not any more."""
        key = (pool.name, changes[pool.nodes_key], changes[pool.accelerators_key], self._with(pool, changes))
        if key not in self.known and len(self.known) < MOST_READ:
            setup = self.again(changes)
            self.known[key] = faults(setup, pool, self.before), {each.name: each.parallel for each in setup.components}
        return self.known.get(key)

    def trained(self, pool: Pool, changes: Changes) -> Numbers:
        """Degrees by which work is dealt out."""
        return tuple(pair for pair in self._with(pool, changes) if pair[0] in self.dealt)

    @cached_property
    def is_of_degrees(self) -> bool:
        """True if nothing but degrees follows from sizes."""
        return {key for key in self.following if not key.startswith(f"{HINTS}.")} <= {key for key, _ in self.degrees({})}

    def _with(self, pool: Pool, changes: Changes) -> Numbers:
        sizes = (pool.nodes_key, pool.accelerators_key)
        asked = {key: number for key, number in changes.items() if self.following or key not in sizes}
        key = tuple(sorted(asked.items()))
        if key not in self._numbers:
            self._numbers[key] = self.degrees(asked)
        return self._numbers[key]


def faults(setup: Setup, pool: Pool, before: Collection[tuple[str, str]] = ()) -> dict[str, Errors]:
    """Component of a pool -> an error of each kind; one more of a component whose replicas are torn.

    What is told of a key, and is not wrong with the file `before`, is told of all: the number comes out on this size.
    """
    findings = (*setup.settings.notes.findings, *setup.settings.unresolved)
    errors = {(each.code, each.subject): each.message for each in findings if each.severity is Severity.ERROR}
    others = {each.name for each in setup.pools} | {each.name for each in setup.components} | {subject for _, subject in before}
    found: dict[str, Errors] = {}
    for name in pool.components:
        of = ("", pool.name, name)
        found[name] = [(code, message) for (code, subject), message in errors.items() if subject in of or subject not in others]
        component = setup.component(name)
        if component is not None and not setup.is_whole(component):
            found[name].append(("", f"its replicas of {component.parallel} would be torn"))
    return found


@dataclass
class Taken:
    """What verl takes of a pool.

    Attributes
    ----------
    pairs : component -> counts and degrees. Where an error is told of each, those of the same kinds as of the file's own size are
        taken: another size that has as few may have one that the file has not, such as samples that do not divide.
    always : component -> one of its errors, where there is one on each size.
    unread : sizes of which nothing is known.
    """

    pairs: dict[str, frozenset[Pair]] = field(default_factory=dict)
    always: dict[str, str] = field(default_factory=dict)
    unread: set[Size] = field(default_factory=set)


def accepted(
    pool: Pool, cluster: Cluster, own: Mapping[str, Parallel], choices: Mapping[str, Mapping[Parallel, Changes]], refused: Refused,
    may_have: Callable[[int], bool],
) -> Taken:  # fmt: skip
    """What is taken on each size that has room, several parts on one node too.

    `own` are the degrees of all components in the file; those without `choices` have what comes out on a size. Whole nodes that
    are too many to be read are taken, and judged once they are planned; what else is not read is not proposed, unless nobody
    `may_have` so many.
    """
    first, others = sizes_of(pool, cluster)
    variants: list[_Variant] = [
        (name, parallel, said) for name in pool.components for parallel, said in choices.get(name, {None: {}}).items()
    ]
    read = list(_read(pool, [*first, *others], variants, refused, refused.is_of_degrees))
    if refused.is_of_degrees and not all(
        any(its[0] == name and not (found and found[0][name]) for _, its, found in read) for name in pool.components
    ):
        read = list(_read(pool, [*first, *others], variants, refused, False))
    taken, whole = Taken(), set(first)
    errors: dict[str, dict[Pair, Errors]] = {name: {} for name in pool.components}
    later: dict[str, set[Pair]] = {name: set() for name in pool.components}
    for (nodes, each), (name, parallel, _), found in read:
        if found is None and (refused.following or (nodes, each) not in whole):
            taken.unread |= {(nodes, each)} if may_have(nodes * each) else set()
        elif found is None:
            later[name].add((nodes * each, parallel or own[name]))
        else:
            pair = nodes * each, parallel or (found[1] if refused.following else own)[name]
            errors[name][pair] = min(errors[name].get(pair, found[0][name]), found[0][name], key=len)
            if any(found[1].get(other, here) != here for other, here in own.items() if other not in pool.components):
                taken.unread.add((nodes, each))  # what runs elsewhere has other degrees then
    counts = {parts.count * parts.size for parts in pool.parts}
    for name, pairs in errors.items():
        best = _best(pairs, counts)
        taken.pairs[name] = frozenset({*best, *later[name]})
        if always := next((best[pair][0][1] for pair in sorted(best, key=lambda pair: -pair[0]) if best[pair]), ""):
            taken.always[name] = always
    common = set.intersection(*({count for count, _ in pairs} for pairs in taken.pairs.values())) if taken.pairs else set()
    if common:  # all of them hold the same accelerators
        taken.pairs = {name: frozenset(pair for pair in pairs if pair[0] in common) for name, pairs in taken.pairs.items()}
    return taken


def _read(
    pool: Pool, sizes: Sequence[Size], variants: Sequence[_Variant], refused: Refused, skips: bool
) -> Iterator[tuple[Size, _Variant, Found | None]]:
    """Each size with each variant; None for what is too much to read.

    `skips`: multiples of counts on which work does not divide among ranks of these degrees are left out.
    """
    left = MOST_TRIED
    undealt: dict[tuple[Numbers, str], set[int]] = {}
    fixed = [name for name, parallel, _ in variants if parallel is None]
    for nodes, each in sizes:
        count, size = nodes * each, {pool.nodes_key: nodes, pool.accelerators_key: each}
        trained = [refused.trained(pool, {**size, **said}) if skips else () for _, _, said in variants]

        def is_refused(numbers: Numbers, name: str, count: int = count) -> bool:
            return any(count % known == 0 for other in (name, *fixed) for known in undealt.get((numbers, other), ()))

        out = [skips and is_refused(numbers, name) for (name, _, _), numbers in zip(variants, trained)]
        names = {name for name, _, _ in variants}
        if any(all(gone for (name, _, _), gone in zip(variants, out) if name == one) for one in names):
            continue  # each variant of one is refused, so that there is no such count for any
        for variant, numbers in zip(variants, trained):
            if skips and is_refused(numbers, variant[0]):
                continue
            before = len(refused.known)
            found = refused.read(pool, {**size, **variant[2]}) if left > 0 else None
            left -= len(refused.known) > before
            for name, errors in found[0].items() if skips and found else ():
                if any(code == SHARES for code, _ in errors):
                    undealt.setdefault((numbers, name), set()).add(count)
            yield (nodes, each), variant, found


def _best(errors: Mapping[Pair, Errors], own: set[int]) -> dict[Pair, Errors]:
    """Counts and degrees with the fewest kinds of errors; of those with some, the kinds of the file's `own` counts."""
    least = min(map(len, errors.values()), default=0)
    best = {pair: those for pair, those in errors.items() if len(those) == least}

    def kinds(those: Errors) -> frozenset[str]:
        return frozenset(code for code, _ in those)

    known = {kinds(those) for (count, _), those in best.items() if count in own} if least else set()
    return {pair: those for pair, those in best.items() if not known or kinds(those) in known}


def plan_pools(job: Job, settings: Configuration, cluster: Cluster, pools: tuple[Pool, ...], refused: Refused) -> Job:
    """The job with its open pools: how verl lays them out, and which counts and degrees it takes of each.

    `pools` are all of the file. Degrees that nobody opened, and that follow from the size of a pool, are those that come out on each.
    """
    open_ = [pool for pool in pools if pool not in job.pools]
    if not open_ or job.planning.workload is None:
        return job
    laying = Laying(tuple(pool if pool in job.pools else replace(pool, parts=()) for pool in pools), settings.entry.reserves)
    pairs = combinations([pool for pool in pools if pool.components], 2)
    names = [(one.components[0], other.components[0]) for one, other in pairs if one in open_ or other in open_]
    relations = (*job.relations, *(Relation(DISJOINT, pair, None, APART) for pair in names))
    # In parts of which some have other degrees than those that are planned no plan can be written, also where verl takes none.
    inside = {name: own_amounts(settings, pools, name) for pool in pools for name in pool.components}
    by_size = {name for name, amounts in inside.items() if any(amount.name in refused.following for amount in amounts.values())}
    workload = _workload(settings, job, job.planning.workload)
    job = replace(
        job,
        relations=relations,
        planning=replace(job.planning, laying=laying, workload=workload, by_size=frozenset({*job.planning.by_size, *by_size})),
    )
    for pool in open_:
        job = _with_pool(job, settings, cluster, pool, pools, refused)
    return job


def _with_pool(job: Job, settings: Configuration, cluster: Cluster, pool: Pool, pools: Sequence[Pool], refused: Refused) -> Job:
    tied = {name: first for name in pool.components if (first := leader_of(settings, pools, name)) is not None and job.choices.get(first)}
    choices: dict[str, Mapping[Parallel, Changes]] = {}
    for name in pool.components:
        leader = tied.get(name, name)
        amounts = own_amounts(settings, pools, leader)
        if job.choices.get(leader):
            choices[name] = {
                each: {amounts[degree].name: number for degree, number in changed(amounts, each).items()} for each in job.choices[leader]
            }
    own = {each.name: each.parallel for each in job.components}
    components = [each for each in job.components if each.name in pool.components]
    taken = accepted(pool, cluster, own, choices, refused, lambda count: all(each.may_have(count) for each in components))
    for name, always in taken.always.items():
        if always not in {finding.message for finding in settings.notes.findings}:
            message = f"verl refuses every size of `{pool.name}`, such as the largest: {always}"
            settings.notes.warn(PLANNED, name, message, pool.span("name") or settings.top, "", MEND)
    job = replace(
        job, planning=replace(job.planning, tied={**job.planning.tied, **tied}, accepted={**job.planning.accepted, **taken.pairs})
    )
    if taken.unread:
        nodes, each = min(taken.unread, key=lambda size: (size[0] * size[1], size))
        why = f"sizes of `{pool.name}`: {len(taken.unread):,} of those that have room, such as {nodes} x {each}, are not planned"
        job = _unplanned(job, len(taken.unread), why)
    return _follow(job, components, {name: pairs for name, pairs in taken.pairs.items() if name not in choices}, own)


def _follow(job: Job, components: Sequence[Component], fixed: Mapping[str, frozenset[Pair]], own: Mapping[str, Parallel]) -> Job:
    """Degrees of one component that come out on the sizes are its choices; where several differ, those counts are not planned."""
    varies = [name for name, pairs in fixed.items() if {parallel for _, parallel in pairs} - {own[name]}]
    if not varies:
        return job
    job = replace(job, planning=replace(job.planning, by_size=job.planning.by_size.union(varies)))
    degrees = {parallel: None for _, parallel in sorted(fixed[varies[0]], key=lambda pair: (pair[0], str(pair[1])))}
    if len(varies) == 1 and any(each.timed and each.name == varies[0] for each in components):
        return replace(job, choices={**job.choices, varies[0]: tuple(sorted(degrees, key=lambda each: each != own[varies[0]]))})
    count = sum(parallel != own[name] for name in varies for _, parallel in fixed[name])
    why = f"degrees that follow from sizes: {count:,} counts on which several differ are not planned"
    return _unplanned(job, count, why)


def _unplanned(job: Job, count: int, why: str) -> Job:
    workload = job.planning.workload and replace(job.planning.workload, assumed=(*job.planning.workload.assumed, why))
    return replace(job, planning=replace(job.planning, sizes_not_read=job.planning.sizes_not_read + count, workload=workload))


def changed(amounts: Mapping[str, Amount], parallel: Parallel) -> dict[str, int]:
    """Degree -> its number, of those that are not what the file says already."""
    return {degree: number for degree, amount in amounts.items() if (number := int(getattr(parallel, degree))) != amount.value}


def _workload(settings: Configuration, job: Job, workload: Workload) -> Workload:
    """Workload of the file; what its block does not say is as verl does it.

    Pools that train and generate at the same time are steady: each works on what the other made before. In one pool all take turns.
    """
    said = said_of_plan(settings.tree(HINTS))
    workload = as_it_runs(workload, said, _asynchronous(settings))
    return workload if "workflow" in said else replace(workload, after=tuple(usual_order(job.components)))


def _asynchronous(settings: Configuration) -> str:
    """What tells that a job trains while it generates, in words; "" where each waits for the other.

    Source: verl, verl/experimental/one_step_off_policy, and verl/experimental/fully_async_policy/README.md, whose first mode waits.
    """
    if settings.entry.kind is not Kind.SEPARATE:
        return ""
    stale = settings.at(STALE)
    if settings.entry.program == FULLY_ASYNC and isinstance(stale, Scalar) and stale.value == 0:
        steps = settings.whole(STEPS, PLANNED)
        if steps is not None and steps.value == 1:
            return ""
    return f"`{settings.entry.program}`"
