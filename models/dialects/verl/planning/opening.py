"""A job with open pools: how verl lays them out, which counts and degrees it takes, and what its workload is.

Counts and degrees are found by reading the job with these numbers in the place of those that are written. Degrees that nobody opened and
that follow from the size of a pool are those that come out on each size, of all components together.
"""

from __future__ import annotations

from dataclasses import field, replace
from functools import partial
from itertools import combinations
from typing import Callable, Collection, Iterator, Mapping, Sequence, Union
from typing import Mapping as MappingType

from ....component import DISJOINT, Component, Relation
from ....configuration.settings import Amount
from ....hints.said import said_of_plan
from ....job import Job
from ....machines.cluster import Cluster
from ....parallel import Parallel
from ....planning.followed import Changed, Followed
from ....planning.workload import Workload
from ....pools.laying import Laying
from ....pools.pool import Pool
from ....record import dataclass
from ....times.usual import as_it_runs, usual_order
from ...all_refused import Chosen
from ...following import MOST_READ
from ..job import Setup
from .degrees import asynchronous, changed
from .refused import Changes, Found, Refused, Size, Undealt, sizes_of

MOST_TRIED = 3072
"""Readings of sizes of a pool with degrees; of what needs more it is not known whether verl takes it."""
Accepted = frozenset[tuple[int, Parallel]]
Together = tuple[tuple[str, Parallel], ...]
"""The degrees of components of a pool, as they come out on one size."""
Choices = Mapping[str, Mapping[Parallel, Changes]]
"""Component with open degrees -> each of them, with the numbers that say them."""
_Variant = tuple[str, Union[Parallel, None], Changes]
"""A component, the degrees that are tried of it, None for those that come out, and what says them."""


@dataclass
class Taken:
    """What verl takes of a pool.

    Attributes
    ----------
    pairs : component -> counts and degrees. Where an error is told of each, those of the same kinds as of the file's own size are taken:
        another size that has as few may have one that the file has not, such as samples that do not divide.
    always : component -> one of its errors, where there is one on each size.
    together : degrees that come out on sizes, where they follow from these -> the counts that go with them.
    unread : sizes of which nobody knows.
    """

    pairs: dict[str, Accepted] = field(default_factory=dict)
    always: dict[str, str] = field(default_factory=dict)
    together: dict[Together, set[int]] = field(default_factory=dict)
    unread: set[Size] = field(default_factory=set)


def accepted(
    pool: Pool, cluster: Cluster, own: Mapping[str, Parallel], choices: Choices, refused: Refused, may_have: Callable[[int], bool]
) -> Taken:  # fmt: skip
    """What is taken on each size that has room, several parts on one node too.

    `own` are the degrees of all components in the file; those without `choices` have what comes out on a size. Whole nodes that are too many
    to be read are taken, and judged once they are planned; what else is not read is not proposed, unless nobody `may_have` so many.
    """
    first, others = sizes_of(pool, cluster)
    variants: list[_Variant] = [
        (name, parallel, said) for name in pool.components for parallel, said in choices.get(name, {None: {}}).items()
    ]
    fixed = [name for name in pool.components if name not in choices]
    most = max((nodes * each for nodes, each in (*first, *others)), default=0)
    undealt = Undealt(most) if refused.is_of_degrees else None
    read = list(_read(pool, [*first, *others], variants, fixed, refused, undealt))
    if undealt is not None and not all(_can_be(read, name) for name in pool.components):
        read = list(_read(pool, [*first, *others], variants, fixed, refused, None))
    taken, whole = Taken(), set(first)
    faults: dict[str, dict[tuple[int, Parallel], list[tuple[str, str]]]] = {name: {} for name in pool.components}
    later: dict[str, set[tuple[int, Parallel]]] = {name: set() for name in pool.components}
    sizes: list[tuple[int, Found]] = []
    for (nodes, each), (name, parallel, _), its in read:
        if its is None and (refused.following or (nodes, each) not in whole):
            taken.unread |= {(nodes, each)} if may_have(nodes * each) else set()
        elif its is None:
            later[name].add((nodes * each, parallel or own[name]))
        else:
            pair = nodes * each, parallel or (its[1] if refused.following else own)[name]
            faults[name][pair] = min(faults[name].get(pair, its[0][name]), its[0][name], key=len)
            sizes += [(nodes * each, its)] if refused.following and fixed and name == fixed[0] else []
            if any(its[1].get(other, here) != here for other, here in own.items() if other not in pool.components):
                taken.unread.add((nodes, each))  # what runs elsewhere has other degrees then
    counts = {parts.count * parts.size for parts in pool.parts}
    for name, its_faults in faults.items():
        best = _best(its_faults, counts)
        largest = sorted(best.items(), key=lambda its: its[0][0])
        taken.pairs[name] = frozenset({*best, *later[name]})
        if always := next((errors[0][1] for _, errors in reversed(largest) if errors), ""):
            taken.always[name] = always
    common = set.intersection(*({count for count, _ in its} for its in taken.pairs.values())) if taken.pairs else set()
    if common:  # all of them hold the same accelerators
        taken.pairs = {name: frozenset(its for its in pairs if its[0] in common) for name, pairs in taken.pairs.items()}
    for count, (told, has) in sizes:
        if all((count, has[name]) in taken.pairs[name] and len(told[name]) == len(faults[name][count, has[name]]) for name in fixed):
            taken.together.setdefault(tuple((name, has[name]) for name in fixed), set()).add(count)
    return taken


def _read(
    pool: Pool, sizes: Sequence[Size], variants: Sequence[_Variant], fixed: Sequence[str], refused: Refused, undealt: Undealt | None
) -> Iterator[tuple[Size, _Variant, Union[Found, None]]]:
    """Each size with each variant, but for those that `undealt` tells to be refused; None for what is not read, as it is too much."""
    left = MOST_TRIED
    for nodes, each in sizes:
        count, size = nodes * each, {pool.nodes_key: nodes, pool.accelerators_key: each}
        for name, parallel, said in variants:
            trained = {}
            if undealt is not None:
                trained = {id(its[2]): refused.trained(pool, {**size, **its[2]}) or () for its in variants}
                every = (  # each variant of one is refused, so that there is no such count for any
                    all(undealt.refuses(count, trained[id(its[2])], {one, *fixed}) for its in variants if its[0] == one)
                    for one in pool.components
                )
                if undealt.refuses(count, trained[id(said)], {name, *fixed}) or any(every):
                    continue
            before = len(refused.known)
            found = refused.read(pool, {**size, **said}) if left > 0 else None
            left -= len(refused.known) > before
            if undealt is not None and found is not None:
                undealt.add(count, trained[id(said)], found[0])
            yield (nodes, each), (name, parallel, said), found


def _can_be(read: Sequence[tuple[Size, _Variant, Union[Found, None]]], name: str) -> bool:
    """Is nothing told of a component on some size?"""
    return any(its[0] == name and (found is None or not found[0][name]) for _, its, found in read)


def _best(told: Mapping[tuple[int, Parallel], list[tuple[str, str]]], own: set[int]) -> dict[tuple[int, Parallel], list[tuple[str, str]]]:
    """The counts and degrees of which the fewest kinds of errors are told; of those with some, the kinds of the file's `own` counts."""
    least = min(map(len, told.values()), default=0)
    best = {pair: errors for pair, errors in told.items() if len(errors) == least}
    known = {_kinds(errors) for (count, _), errors in best.items() if count in own} if least else set()
    return {pair: errors for pair, errors in best.items() if not known or _kinds(errors) in known}


def _kinds(told: Sequence[tuple[str, str]]) -> frozenset[str]:
    return frozenset(code for code, _ in told)


def follow(setup: Setup, pools: Sequence[dict[Together, set[int]]]) -> None:
    """Adds to a job what comes out on the sizes of each of its `pools`, with the counts of these.

    Of one component, its degrees are open. Of several, as few of them are as tell those of all. What is not planned is counted: of more than
    `MOST_READ`, of a second pool with several, and where components without times differ by more than those with times tell.
    """
    own = {each.name: each.parallel for each in setup.components}
    for together in pools:
        every = [dict(its) for its in together]
        varies = [name for name in (every[0] if every else ()) if {its[name] for its in every} != {own[name]}]
        setup.by_size |= {*varies}
        timed = [each.name for each in setup.components if each.timed and each.name in varies]
        leading = _leading(timed, every)
        if varies and varies == timed[:1]:
            setup.choices = {**setup.choices, varies[0]: _choices(own[varies[0]], [its[varies[0]] for its in every])}
        elif varies and (setup.followed or not timed):
            setup.sizes_not_read += sum(map(len, together.values()))
        elif varies:
            _several(setup, together, varies, leading or timed[:1], own)


def with_sizes(job: Job, read: Job, each: Sequence[tuple[Chosen, Job]]) -> Job:
    """A job with what follows from choices of degrees, and with what follows from sizes: of the file as it is `read`, and of it with each choice.

    Where several components follow from sizes, what follows from a choice is planned with what comes out on each size with it.
    """
    before = job.choices
    job = replace(job, sizes_not_read=max([read.sizes_not_read, *(its.sizes_not_read for _, its in each)]))
    job = replace(job, by_size=read.by_size.union(*(its.by_size for _, its in each)))
    trees = [(chosen, next(its for degrees, its in each if degrees == chosen.degrees)) for chosen in job.followed]
    if not any(its.followed for _, its in trees):
        found = [pair for one in (read, *(its for _, its in each)) for pair in one.choices.items() if pair[0] not in before]
        choices = {name: tuple(dict.fromkeys(its for other, degrees in found if other == name for its in degrees)) for name, _ in found}
        return replace(job, choices={**before, **choices}, followed=job.followed or read.followed)
    on_sizes = [(chosen, its, one) for chosen, its in trees for one in _on_sizes(its, before)]
    names = tuple(dict.fromkeys(name for _, _, one in on_sizes for name in one.degrees))
    every = tuple(
        Followed(
            {**chosen.degrees, **{name: _degrees(its, one, name) for name in names}},
            {
                **chosen.changes,
                **{name: replace(chosen.changes.get(name, now), parallel=now.parallel) for name, now in one.changes.items()},
            },
            chosen.ways,
            one.accepted,
        )
        for chosen, its, one in on_sizes
    )
    own = {its.name: its.parallel for its in job.components}
    choices = {name: _choices(own[name], [its.degrees[name] for its in every]) for name in names}
    tied = {name: leader for its in (*(tree.tied for _, tree in trees), job.tied) for name, leader in its.items() if name not in names}
    return replace(job, choices={**before, **choices}, tied=tied, followed=every)


def _on_sizes(job: Job, before: Collection[str]) -> tuple[Followed, ...]:
    """What follows from sizes in a job with one choice, whose open degrees without those were of the components `before`."""
    if job.followed:
        return job.followed
    varies = next((name for name in job.choices if name not in before), None)
    if varies is None:
        return (Followed({}, accepted=job.accepted),)
    return tuple(Followed({varies: its}, {varies: Changed(parallel=its)}, accepted=job.accepted) for its in job.choices[varies])


def _degrees(job: Job, on_size: Followed, name: str) -> Parallel:
    """Those of a component in a job with one choice, on sizes from which that follows."""
    follows = on_size.changes[name].parallel if name in on_size.changes else None
    return on_size.degrees.get(name) or follows or next(each.parallel for each in job.components if each.name == name)


def _several(
    setup: Setup, together: dict[Together, set[int]], varies: Sequence[str], leading: Sequence[str], own: dict[str, Parallel]
) -> None:
    found = list[Followed]()
    for its, counts in sorted(together.items(), key=lambda its: -len(its[1])):
        degrees = {name: parallel for name, parallel in its if name in leading}
        if len(found) == MOST_READ or any(each.degrees == degrees for each in found):
            setup.sizes_not_read += len(counts)
            continue
        pairs = {name: frozenset((count, parallel) for count in counts) for name, parallel in its}
        changes = {name: Changed(parallel=parallel) for name, parallel in its if parallel != own[name]}
        found.append(Followed(degrees, changes, accepted={**setup.accepted, **pairs}))
    setup.choices = {**setup.choices, **{name: _choices(own[name], [each.degrees[name] for each in found]) for name in leading}}
    setup.tied = {**setup.tied, **{name: leading[0] for name in varies if name not in leading}}
    setup.followed = tuple(found)


def _leading(names: Sequence[str], every: Sequence[dict[str, Parallel]]) -> list[str]:
    """As few of some components as tell the degrees of all, as far as any do."""
    found, told = list[str](), 1
    for name in names:
        more = len({tuple(its[each] for each in (*found, name)) for its in every})
        if more > told:
            found, told = [*found, name], more
    return found


def _choices(own: Parallel, degrees: Sequence[Parallel]) -> tuple[Parallel, ...]:
    """Each once, those of the file first if they are among them."""
    return tuple(sorted(dict.fromkeys(degrees), key=lambda each: each != own))


HINTS, PLANNED = "placewright", "PW604"
MEND = "mend this and plan again: until then, of the counts that verl refuses, those are planned that have fewest such reasons"
APART = "no two pools of verl have an accelerator in common"
Own = Callable[[str], MappingType[str, Amount]]
"""Component -> the numbers that say its own degrees."""
Leader = Callable[[str], "str | None"]
"""Component -> the one whose degrees it has; None where these are its own."""


def plan_pools(setup: Setup, cluster: Cluster, pools: tuple[Pool, ...], own: Own, leader: Leader, refused: Refused) -> None:
    """Adds all that to the job. Degrees that nobody opened, and that follow from the size of a pool, are those that come out on each."""
    open_ = [pool for pool in pools if pool not in setup.pools]
    if not open_ or setup.workload is None:
        return
    setup.laying = Laying(tuple(pool if pool in setup.pools else replace(pool, parts=()) for pool in pools), setup.entry.reserves)
    firsts = [(pool, pool.components[0]) for pool in pools if pool.components]
    for (one, name), (other, beside) in combinations(firsts, 2):
        if one in open_ or other in open_:
            setup.relations.append(Relation(DISJOINT, (name, beside), None, APART))
    setup.workload = _workload(setup, setup.workload)
    # In parts of which some have other degrees than those that are planned no plan can be written, also where verl takes none of these.
    names = [name for pool in pools for name in pool.components]
    setup.by_size |= {name for name in names if any(its.name in refused.following for its in own(name).values())}
    came_out = list[dict[Together, set[int]]]()
    for pool in open_:
        tied = {name: first for name in pool.components if (first := leader(name)) is not None and setup.choices.get(first)}
        whose = {name: tied.get(name, name) for name in pool.components}
        choices = {
            name: {each: _otherwise(own(its), each) for each in setup.choices[its]} for name, its in whose.items() if setup.choices.get(its)
        }
        setup.tied = {**setup.tied, **tied}
        inside = [each for each in setup.components if each.name in pool.components]
        degrees = {each.name: each.parallel for each in setup.components}
        taken = accepted(pool, cluster, degrees, choices, refused, partial(_may_have, inside))
        setup.accepted = {**setup.accepted, **taken.pairs}
        came_out.append(taken.together)
        _tell(setup, pool, taken)
    before = setup.sizes_not_read
    follow(setup, came_out)
    if (left := setup.sizes_not_read - before) and setup.workload is not None:
        said = (
            f"degrees that follow from sizes: {left:,} counts on which several differ in another way than the planned ones are not planned"
        )
        setup.workload = replace(setup.workload, assumed=(*setup.workload.assumed, said))


def _may_have(components: Sequence[Component], count: int) -> bool:
    return all(each.may_have(count) for each in components)


def _tell(setup: Setup, pool: Pool, taken: Taken) -> None:
    """What is refused on every size, and what nobody read."""
    for name, always in taken.always.items():
        if always not in {finding.message for finding in setup.notes.findings}:
            message = f"verl refuses every size of `{pool.name}`, such as the largest: {always}"
            setup.notes.warn(PLANNED, name, message, pool.span("name") or setup.settings.top, "", MEND)
    if taken.unread and setup.workload is not None:
        setup.sizes_not_read += len(taken.unread)
        nodes, each = min(taken.unread, key=lambda size: (size[0] * size[1], size))
        said = f"sizes of `{pool.name}`: {len(taken.unread):,} of those that have room, such as {nodes} x {each}, are not planned"
        setup.workload = replace(setup.workload, assumed=(*setup.workload.assumed, said))


def _otherwise(amounts: MappingType[str, Amount], parallel: Parallel) -> dict[str, int]:
    """Key -> its number, of those that are not written already: so that what is the same for several components is read once."""
    return {amounts[degree].name: number for degree, number in changed(amounts, parallel).items()}


def _workload(setup: Setup, workload: Workload) -> Workload:
    """The workload of the file; what its block does not say is as verl does it.

    Pools that train and generate at the same time are steady: each works on what the other made before. In one pool all take turns.
    """
    said = said_of_plan(setup.settings.tree(HINTS))
    workload = as_it_runs(workload, said, asynchronous(setup))
    return workload if "workflow" in said else replace(workload, after=tuple(usual_order(setup.components)))
