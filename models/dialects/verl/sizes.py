"""Sizes of open pools and degrees that verl accepts, read once for all trees.

A size is a number of equal parts with enough capacity. A multiple of a count on which work does not
divide among ranks is refused too, so most sizes of a large cluster need no reading. Degrees of one
component that refer to the size of its pool take the value that results on each size; if several
components have such degrees, only sizes with the file's own degrees are planned.
"""

from __future__ import annotations

import re
from dataclasses import field, replace
from itertools import combinations
from typing import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from ...component import DISJOINT, Component, Relation
from ...configuration.settings import Amount
from ...findings.finding import Severity
from ...hints.block import find_plan_keys
from ...job import Job
from ...machines.cluster import Cluster
from ...machines.node_group import ACCELERATOR
from ...parallel import Parallel
from ...pools import Laying, Pool, fitting
from ...record import dataclass
from ...text.interpolation_text import holds_interpolation
from ...text.tree import Scalar, Value
from ...times import as_it_runs, usual_order
from ..following import scalars_by_path
from ..skeleton import HINTS
from .configuration import Configuration
from .degrees import leader_of, own_amounts
from .job import VerlSetup
from .programs import FULLY_ASYNC, ProgramKind
from .work.work import SHARES

PLANNED = "PW604"
MEND = "fix this and plan again: until then, of the counts that verl refuses, those are planned that have fewest such reasons"
APART = "no two pools of verl have an accelerator in common"
STALE, STEPS = "async_training.staleness_threshold", "async_training.trigger_parameter_sync_step"
MOST_READ = 8192
"""Limit on readings of a file on the same machines."""
MOST_TRIED = 3072
"""Limit on readings of a pool's sizes with degrees; further ones stay unknown."""
_REFERENCES = re.compile(r"[\w.]+")
Size = tuple[int, int]
"""(parts, accelerators per part)."""
Changes = Mapping[str, int]
"""Key -> number in place of the written number."""
Errors = list[tuple[str, str]]
"""(code, message); the code is "" for torn replicas."""
Found = tuple[Mapping[str, Errors], Mapping[str, Parallel]]
"""Component of a pool -> errors by kind; any component -> resulting degrees."""
Numbers = frozenset[tuple[str, int]]
"""(key, number) of all degrees of the components, after interpolation."""
Known = dict[tuple[str, Size, Numbers], Found]
"""(pool, size, all degrees) -> result of a reading."""
Pair = tuple[int, Parallel]
"""(accelerators, degrees) of a component."""
_Variant = tuple[str, "Parallel | None", Changes]
"""Component, degrees to try (None: the resulting ones), and numbers for the keys."""


def following_keys(root: Value, keys: Iterable[str]) -> frozenset[str]:
    """Return the keys of scalars that may refer to some keys, directly or indirectly."""
    leaves = [(path, scalar.text) for path, scalar in scalars_by_path(root) if holds_interpolation(scalar.text)]
    changed_keys, following = [key for key in keys if key], set[str]()
    while new := [path for path, text in leaves if path not in following and _refers(text, changed_keys)]:
        following.update(new)
        changed_keys += new
    return frozenset(following)


def _refers(text: str, keys: Iterable[str]) -> bool:
    words = [word.strip(".") for word in _REFERENCES.findall(text)]
    names = {word.rpartition(".")[2] for word in words}
    return "${${" in text or any(key.rpartition(".")[2] in names or any(key.startswith(f"{word}.") for word in words) for key in keys)


def sizes_of(pool: Pool, cluster: Cluster) -> tuple[list[Size], list[Size]]:
    """Return (sizes to read first, all other sizes), by ascending number of accelerators.

    The first are the pool's size in the file, parts of one node, and whole nodes.
    """
    counts = (node.free(ACCELERATOR).bit_count() for node in cluster.nodes)
    free = sorted((count for count in counts if count), reverse=True)

    def most(part_size: int) -> int:
        return fitting([(count, 1) for count in free], part_size)

    largest = max(free, default=0)
    first = {(parts.count, parts.size) for parts in pool.parts if parts.size and parts.count <= most(parts.size)}
    first |= {(1, part_size) for part_size in range(1, largest + 1)}
    first |= {(nodes, largest) for nodes in range(2, len(free) + 1) if free[nodes - 1] == largest}
    all_sizes = {(parts, part_size) for part_size in range(1, largest + 1) for parts in range(1, most(part_size) + 1)}

    def by_count(size: Size) -> tuple[int, int]:
        return size[0] * size[1], size[0]

    return sorted(first, key=by_count), sorted(all_sizes - first, key=by_count)


@dataclass(frozen=True)
class SizeReader:
    """Reader of a pool with changed sizes and degrees.

    Attributes
    ----------
    known : results of readings, extended by each reading.
    again : job with other numbers, as verl has it, without hints.
    degrees : all degrees with other numbers, after interpolation.
    following : keys that may follow from sizes of pools.
    before : (code, subject) of errors of the file itself.
    """

    known: Known
    again: Callable[[Changes], VerlSetup]
    degrees: Callable[[Numbers], Numbers]
    following: frozenset[str] = frozenset()
    before: frozenset[tuple[str, str]] = frozenset()

    def read(self, pool: Pool, size: Size, changes: Changes) -> Found | None:
        """Return the result of a reading; None once the limit is reached."""
        numbers = {**changes, pool.nodes_key: size[0], pool.accelerators_key: size[1]}
        key = pool.name, size, self.degrees(frozenset((numbers if self.following else changes).items()))
        if key not in self.known and len(self.known) < MOST_READ:
            setup = self.again(numbers)
            degrees = {component.name: component.parallel for component in setup.components}
            self.known[key] = (errors_by_component(setup, pool, self.before), degrees)
        return self.known.get(key)


def errors_by_component(setup: VerlSetup, pool: Pool, before: Collection[tuple[str, str]] = ()) -> dict[str, Errors]:
    """Map components of a pool to errors by kind, torn replicas included.

    An error of a key that is not in `before` counts for all components: the number results from
    this size.
    """
    findings = (*setup.settings.notes.findings, *setup.settings.unresolved)
    errors = {(finding.code, finding.subject): finding.message for finding in findings if finding.severity is Severity.ERROR}
    names = [known_pool.name for known_pool in setup.pools] + [component.name for component in setup.components]
    job_subjects = {*names, *(subject for _, subject in before)}
    by_component: dict[str, Errors] = {}
    for name in pool.components:
        subjects = ("", pool.name, name)
        own_errors = [(code, message) for (code, subject), message in errors.items() if subject in subjects or subject not in job_subjects]
        component = setup.component(name)
        if component is not None and not setup.is_whole(component):
            own_errors.append(("", f"its replicas of {component.parallel} would be torn"))
        by_component[name] = own_errors
    return by_component


@dataclass
class AcceptedSizes:
    """Accepted counts and degrees of a pool.

    Attributes
    ----------
    pairs : component -> counts and degrees. If every one has an error, those with the same kinds of
        errors as the file's own size are taken: another size with as few may have an error that the
        file does not have, such as samples that do not divide.
    always : component -> one of its errors, if every size has one.
    unread : sizes without a result.
    """

    pairs: dict[str, frozenset[Pair]] = field(default_factory=dict)
    always: dict[str, str] = field(default_factory=dict)
    unread: set[Size] = field(default_factory=set)


def accepted_sizes(
    pool: Pool, cluster: Cluster, components: Sequence[Component], choices: Mapping[str, Mapping[Parallel, Changes]], reader: SizeReader
) -> AcceptedSizes:
    """Return the accepted counts and degrees on all sizes with capacity.

    A component without `choices` has the degrees that result on a size. Whole nodes beyond the
    reading limit are accepted, and judged once they are planned; other unread sizes are not
    proposed, and reported if the components of the pool may have them.
    """
    current = {component.name: component.parallel for component in components}
    first, rest = sizes_of(pool, cluster)
    variants: list[_Variant] = [
        (name, parallel, changes) for name in pool.components for parallel, changes in choices.get(name, {None: {}}).items()
    ]
    read = list(_read(pool, [*first, *rest], variants, reader, not reader.following))
    accepted_names = {name for _, (name, _, _), result in read if result is not None and not result[0][name]}
    if not reader.following and not accepted_names.issuperset(pool.components):
        read = list(_read(pool, [*first, *rest], variants, reader, False))
    outcome, whole = AcceptedSizes(), set(first)
    errors: dict[str, dict[Pair, Errors]] = {name: {} for name in pool.components}
    later: dict[str, set[Pair]] = {name: set() for name in pool.components}
    for size, (name, parallel, _), result in read:
        count = size[0] * size[1]
        if result is not None:
            new_errors, degrees = result
            pair = count, parallel or (degrees if reader.following else current)[name]
            errors[name][pair] = min(errors[name].get(pair, new_errors[name]), new_errors[name], key=len)
            if any(
                degrees.get(component, default) != default for component, default in current.items() if component not in pool.components
            ):
                outcome.unread.add(size)  # components of other pools would have other degrees
        elif not reader.following and size in whole:
            later[name].add((count, parallel or current[name]))
        elif all(component.may_have(count) for component in components if component.name in pool.components):
            outcome.unread.add(size)
    counts = {parts.count * parts.size for parts in pool.parts}
    for name, pairs in errors.items():
        best = _best(pairs, counts)
        outcome.pairs[name] = frozenset({*best, *later[name]})
        if always := next((best[pair][0][1] for pair in sorted(best, key=lambda pair: -pair[0]) if best[pair]), ""):
            outcome.always[name] = always
    common = set.intersection(*({count for count, _ in pairs} for pairs in outcome.pairs.values())) if outcome.pairs else set()
    if common:  # components of a pool hold the same accelerators
        outcome.pairs = {name: frozenset(pair for pair in pairs if pair[0] in common) for name, pairs in outcome.pairs.items()}
    return outcome


def _read(
    pool: Pool, sizes: Sequence[Size], variants: Sequence[_Variant], reader: SizeReader, skips: bool
) -> Iterator[tuple[Size, _Variant, Found | None]]:
    """Yield sizes with variants and results, None beyond the limit; skip refused multiples."""
    remaining = MOST_TRIED
    indivisible: dict[int, set[int]] = {number: set() for number in range(len(variants))}
    """Variant -> counts on which its work does not divide among ranks."""
    for size in sizes:
        count = size[0] * size[1]
        possible = [number for number, counts in indivisible.items() if not any(count % divisor == 0 for divisor in counts)]
        if len({variants[number][0] for number in possible}) < len({name for name, _, _ in variants}):
            continue  # every variant of a component is refused, so no component can have this count
        for number in possible:
            variant, before = variants[number], len(reader.known)
            result = reader.read(pool, size, variant[2]) if remaining > 0 else None
            remaining -= len(reader.known) > before
            of_fixed = [variant[0], *(name for name, parallel, _ in variants if parallel is None)]
            if skips and result and any(code == SHARES for name in of_fixed for code, _ in result[0][name]):
                indivisible[number].add(count)
            yield size, variant, result


def _best(errors: Mapping[Pair, Errors], own_counts: set[int]) -> dict[Pair, Errors]:
    """Return the pairs with the fewest errors, preferably of the kinds of the `own_counts`."""
    minimum = min(map(len, errors.values()), default=0)
    best = {pair: those for pair, those in errors.items() if len(those) == minimum}

    def kinds(those: Errors) -> frozenset[str]:
        return frozenset(code for code, _ in those)

    own_kinds = {kinds(those) for (count, _), those in best.items() if count in own_counts} if minimum else set()
    return {pair: those for pair, those in best.items() if not own_kinds or kinds(those) in own_kinds}


def laying_of(job: Job, settings: Configuration, pools: Sequence[Pool]) -> Laying:
    """Return the layout of all pools of a file; pools outside the job are open."""
    return Laying(tuple(pool if pool in job.pools else replace(pool, parts=()) for pool in pools), settings.entry.reserves)


def plan_pools(job: Job, settings: Configuration, cluster: Cluster, pools: tuple[Pool, ...], reader: SizeReader) -> Job:
    """Add what verl accepts of open pools; with times also the layout of all `pools`."""
    open_, workload = [pool for pool in pools if pool not in job.pools], job.planning.workload
    if open_ and workload is not None:
        couples = combinations([pool for pool in pools if pool.components], 2)
        names = [(first.components[0], second.components[0]) for first, second in couples if first in open_ or second in open_]
        relations = (*job.relations, *(Relation(DISJOINT, pair, None, APART) for pair in names))
        # In one pool all take turns, separate pools are steady.
        plan_keys = find_plan_keys(settings.tree(HINTS))
        workload = as_it_runs(workload, plan_keys, _asynchronous(settings))
        workload = workload if "workflow" in plan_keys else replace(workload, after=tuple(usual_order(job.components)))
        # No plan can be written in parts with other degrees than planned, even if verl accepts none.
        by_name = ((name, own_amounts(settings, pools, name)) for pool in pools for name in pool.components)
        by_size = frozenset(name for name, current in by_name if any(amount.name in reader.following for amount in current.values()))
        planning = replace(job.planning, laying=laying_of(job, settings, pools), workload=workload, by_size=by_size)
        job = replace(job, relations=relations, planning=planning)
    current = {component.name: component.parallel for component in job.components}
    messages = {finding.message for finding in settings.notes.findings}
    for pool in open_:
        leaders = {name: leader for name in pool.components if (leader := leader_of(settings, pools, name)) and job.choices.get(leader)}
        choices: dict[str, Mapping[Parallel, Changes]] = {}
        for name in pool.components:
            amounts = own_amounts(settings, pools, leader := leaders.get(name, name))
            offers = {parallel: find_changes(amounts, parallel) for parallel in job.choices.get(leader, ())}
            if offers:
                choices[name] = {parallel: {amounts[key].name: value for key, value in new.items()} for parallel, new in offers.items()}
        outcome = accepted_sizes(pool, cluster, job.components, choices, reader)
        planning = replace(job.planning, tied={**job.planning.tied, **leaders})
        if workload is not None or not (outcome.always or outcome.unread):
            planning = replace(planning, accepted={**planning.accepted, **outcome.pairs})
        for name, always in outcome.always.items() if workload is not None else ():
            if always not in messages:
                message = f"verl refuses every size of `{pool.name}`, such as the largest: {always}"
                settings.notes.warn(PLANNED, name, message, pool.span("name") or settings.top, "", MEND)
        unread, why = len(outcome.unread), ""
        if unread:
            nodes, part_size = min(outcome.unread, key=lambda size: (size[0] * size[1], size))
            why = f"sizes of `{pool.name}`: {unread:,} of those that fit, such as {nodes} x {part_size}, are not planned"
        # Degrees of one component that follow from sizes are choices.
        pairs_of = {name: pairs for name, pairs in outcome.pairs.items() if name not in choices}
        varies = {name: pairs for name, pairs in pairs_of.items() if any(parallel != current[name] for _, parallel in pairs)}
        if len(varies) == 1 and any(component.timed for component in job.components if component.name in varies):
            (name, pairs), *_ = varies.items()
            degrees = dict.fromkeys(parallel for _, parallel in sorted(pairs, key=lambda pair: (pair[0], str(pair[1]))))
            job = replace(job, choices={**job.choices, name: tuple(sorted(degrees, key=lambda parallel: parallel != current[name]))})
        elif varies:
            unread += (count := sum(parallel != current[name] for name, pairs in varies.items() for _, parallel in pairs))
            why += "; " * bool(why) + f"degrees that follow from sizes: {count:,} counts on which several differ are not planned"
        if unread and planning.workload is not None:
            workload = replace(planning.workload, assumed=(*planning.workload.assumed, why))
            planning = replace(planning, sizes_not_read=planning.sizes_not_read + unread, workload=workload)
        job = replace(job, planning=planning)
    return job


def find_changes(amounts: Mapping[str, Amount], parallel: Parallel) -> dict[str, int]:
    """Return degree -> number, for degrees that differ from the file."""
    return {degree: number for degree, amount in amounts.items() if (number := int(getattr(parallel, degree))) != amount.value}


def _asynchronous(settings: Configuration) -> str:
    """Return the setting for training during generation; "" if they take turns.

    Source: verl, verl/experimental/one_step_off_policy, and
    verl/experimental/fully_async_policy/README.md, whose first mode waits.
    """
    if settings.entry.kind is not ProgramKind.SEPARATE:
        return ""
    stale = settings.at(STALE)
    if settings.entry.program == FULLY_ASYNC and isinstance(stale, Scalar) and stale.value == 0:
        steps = settings.whole(STEPS, PLANNED)
        if steps is not None and steps.value == 1:
            return ""
    return f"`{settings.entry.program}`"
