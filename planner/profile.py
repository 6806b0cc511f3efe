"""Options of each component: every count and choice of degrees, with its time and memory."""

from __future__ import annotations

from dataclasses import replace
from typing import Callable, Iterator, Mapping, Sequence

from ..models.component import UNBOUNDED, Component
from ..models.machines.node_group import ACCELERATOR
from ..models.memory.work import whole_groups
from ..models.parallel import Parallel
from ..models.planning.barring import meets
from ..models.planning.limits import Barred
from ..models.planning.option import NO_KIND, Option
from ..models.planning.way import Shape
from ..models.planning.workload import Timed
from ..models.problem import Problem
from .memory import Need, least, need_on, unheeded
from .room import Room
from .times import Time, times_of

Figures = tuple[int, ...]


def options(problem: Problem, component: Component, timed: Timed | None, room: Room, batches: int) -> tuple[Option, ...]:
    """Every way to run a component, with the file's own degrees first.

    `timed` is None for a component whose time nobody says: it takes accelerators and no time. Times are rounded up to whole
    multiples of `batches`.
    """
    own, shapes = _in_ways(problem, component), problem.job.planning.shapes.get(component.name, {})
    mine = problem.own_degrees(component)
    choices = sorted(problem.job.choices.get(component.name, tuple(own)), key=lambda each: each != mine)
    found: list[Option] = []
    if problem.kind(component) != ACCELERATOR:
        most = len(problem.cluster.numbering(component.node_groups).stretches) if component.most >= UNBOUNDED else component.most
        times, takes = _times(timed, component.parallel, ""), Need(component.memory, component.offloaded)
        for amount in range(component.least, max(component.least, most) + 1):
            if component.may_have(amount):
                found += _timed(times, NO_KIND, amount, component.parallel, batches, takes, 1, component.per_process)
        return tuple(found)
    for parallel in choices:
        if not _divides(problem, component, parallel):
            continue
        one = _shaped(component, parallel, shapes.get(parallel) or own.get(parallel))
        size = room.group(problem, one)
        for kind in range(len(room.kinds)):
            most, sizes = min(one.most, room.most(problem, one, kind)), room.sizes(kind)
            amounts = [count for count in range(-(-one.least // one.step) * one.step, most + 1, one.step) if one.may_have(count)]
            times = _times(timed, parallel, room.model(problem, one, kind)) if amounts else []
            for amount in amounts:
                if _shares(problem, one, amount, parallel) and not (
                    timed and timed.samples and timed.samples % (amount // one.parallel.replica)
                ):
                    takes = need_on(problem, one, parallel, amount, sizes)
                    whole = problem.divided(component.name, parallel) != parallel
                    found += _timed(times, kind, amount, parallel, batches, takes, size, one.per_process, whole)
    if len(choices) > 1 and unheeded(problem, component):  # of degrees that are as good otherwise, those that need least are the first
        found.sort(
            key=lambda each: (each.kind, each.amount, *least(problem, component, each.parallel, each.amount, room.kinds[each.kind].memory))
        )
    return tuple(found)


def undominated(
    name: str, found: Sequence[Option], room: Room, barred: Sequence[Barred] = (), met: bool = False, bound: Sequence[Parallel] = ()
) -> tuple[Option, ...]:
    """Options of a component that no other option beats at the same count; of equal ones the first.

    What would be kept if nothing were barred is kept too: it may come first elsewhere.

    Parameters
    ----------
    met : whether others keep in step with the processes of the component, so that their size matters.
    bound : degrees with which some counts of others do not go together.
    """
    uses = [each.uses[name] for each in barred if name in each.uses]
    sizes = room.splitting(option.group for option in found if option.kind != NO_KIND)
    processes = sorted({option.each for option in found}) if met else []

    def figures(option: Option) -> Figures:
        """Times, memory, divisors of the group among the sizes that leave something over on a node, and size of a process."""
        on_sizes = (mebibytes for each in option.on_sizes for mebibytes in (each.memory, each.kept))
        shape = (*(option.group % size == 0 for size in sizes), *(option.each == size for size in processes))
        return (*option.nanoseconds, option.memory, option.kept, *on_sizes, *map(int, shape))

    def all_figures(option: Option) -> Figures:
        """These, the degrees that bind others, and what is barred."""
        return (
            *figures(option),
            *(int(option.parallel == degrees) for degrees in bound),
            *(int(meets(use, option)) for use in uses),
        )

    return tuple(_undominated(found, figures, all_figures) if bound or uses else _undominated(found, figures))


def _in_ways(problem: Problem, component: Component) -> Mapping[Parallel, Shape | None]:
    """Degrees that a component has by itself and in the ways of its framework -> its shape with them, None for its own."""
    found: dict[Parallel, Shape | None] = {component.parallel: None}
    shapes = [way.shapes[component.name] for way in problem.job.planning.ways if component.name in way.shapes]
    for shape in (
        shapes if len(shapes) == len(problem.job.planning.ways) else ()
    ):  # else they are its own, whatever becomes of them in a way
        found.setdefault(shape.parallel, shape)
    return found


def _shaped(component: Component, parallel: Parallel, shape: Shape | None) -> Component:
    """The component with these degrees, in the processes that are made of it then."""
    if shape is None:
        return replace(component, parallel=parallel)
    its = replace(component, per_process=shape.per_process, stride=shape.stride, parallel=shape.parallel)
    return replace(its, least=max(its.least, shape.least))


def _times(timed: Timed | None, parallel: Parallel, model: str) -> Sequence[Callable[[int], Time | None]]:
    """For each phase, the time on any number of accelerators."""
    return [times_of(timed, phase, parallel, model) for phase in timed.phases] if timed else []


def _timed(
    times: Sequence[Callable[[int], Time | None]], kind: int, amount: int, parallel: Parallel, batches: int, takes: Need, group: int, each: int,
    undivided: bool = False,
) -> Iterator[Option]:  # fmt: skip
    """The option with so many accelerators, if all of its times are known. `each`: accelerators of a process."""
    known = [time for its in times if (time := its(amount)) is not None]
    if len(known) == len(times):
        rounded = tuple([-(-time.nanoseconds // batches) * batches for time in known])
        outside = any(time.extrapolated for time in known)
        yield Option(
            kind,
            amount,
            parallel,
            rounded,
            takes.memory,
            takes.kept,
            outside,
            takes.estimated,
            group=group,
            processes=amount // each,
            on_sizes=takes.on_sizes,
            undivided=undivided,
        )


def _shares(problem: Problem, component: Component, amount: int, parallel: Parallel) -> bool:
    """Does all work that is dealt out, and what is sharded, divide among as many, and does the dialect take such a count with such degrees?"""
    processes, known = amount // component.per_process, problem.job.planning.accepted.get(component.name)
    if known is not None and (amount, parallel) not in known:
        return False
    if not whole_groups(component.divided_among, amount, problem.divided(component.name, parallel)):
        return False
    return all(share.divides(processes) for share in problem.shares if share.component == component.name)


def _divides(problem: Problem, component: Component, parallel: Parallel) -> bool:
    """Does its model divide by these degrees, as far as it is known and nothing else is proved to run?"""
    use = problem.job.models.get(component.name)
    if use is None or use.card is None or use.card.assumed:
        return True
    proved = (split for split in use.splits if split.proved)
    return all(not (amount := getattr(use.card, split.what)) or split.fits(amount, split.of(parallel)) for split in proved)


def _undominated(found: Sequence[Option], *figures: Callable[[Option], Figures]) -> Iterator[Option]:
    """Options that no other with the same kind and count equals in everything and beats or precedes, by any of these figures."""
    groups: dict[tuple[int, int], list[Option]] = {}
    for option in found:
        groups.setdefault((option.kind, option.amount), []).append(option)
    for its in groups.values():
        tables = [[each(option) for option in its] for each in figures]
        if all(len(set(every)) == 1 for every in tables):
            yield its[0]
            continue
        for place, option in enumerate(its):
            if any(_is_undominated(every, place, len(option.nanoseconds)) for every in tables):
                yield option


def _is_undominated(every: Sequence[Figures], place: int, times: int) -> bool:
    """True if no other equals an option in all figures, and beats it in a time or precedes it.

    One with less memory that comes later is no better: the first that has room is chosen.
    """
    mine = every[place]
    others = ((theirs, number) for number, theirs in enumerate(every) if number != place)
    return not any(
        all(a <= b for a, b in zip(theirs, mine)) and (theirs[:times] != mine[:times] or number < place) for theirs, number in others
    )
