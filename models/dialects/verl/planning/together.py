"""Degrees that nobody opened and that follow from the size of a pool: each size has those that come out on it, of all components together."""

from __future__ import annotations

from dataclasses import replace
from typing import Collection, Sequence

from ....job import Job
from ....parallel import Parallel
from ....planning.followed import Changed, Followed
from ...all_refused import Chosen
from ...following import MOST_READ
from ..job import Setup
from .accepted import Together


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
