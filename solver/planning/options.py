"""The ways to run each component of a problem: every count, with every choice of degrees, that nothing rules out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Iterator, Mapping, Sequence

from ...models.component import UNBOUNDED, Component, Parallel
from ...models.machines.node import Node
from ...models.machines.node_group import ACCELERATOR
from ...models.planning.question import NO_KIND, Kind, Option
from ...models.planning.workload import Timed
from ...models.problem import Problem
from .interpolation import time_of
from .memory.need import Need, need


@dataclass(frozen=True)
class Room:
    """The kinds of accelerators of a problem, and on which nodes of each a component may be.

    `free` is what each node still has: neither other jobs nor components that are not planned hold it.
    """

    kinds: tuple[Kind, ...]
    nodes: tuple[tuple[Node, ...], ...]
    free: Mapping[int, int]

    def most(self, problem: Problem, component: Component, kind: int) -> int:
        """How many accelerators of a kind a component may use, in whole groups on each node."""
        allowed = problem.cluster.members(component.node_groups) - set(component.excluded)
        if component.accelerator_model not in ("", self.kinds[kind].model):
            return 0
        size = 1 if problem.job.capabilities.groups_may_cross else component.group_size
        return sum(self.free[node.rank] // size * size for node in self.nodes[kind] if node.rank in allowed)


def room(problem: Problem, given: Sequence[Component]) -> Room:
    """The kinds of accelerators, without what the components of `given` hold."""
    held: dict[int, int] = {}
    for component in given:
        if problem.kind(component) == ACCELERATOR:
            for (rank, _), mask in problem.given().masks(component.name).items():
                held[rank] = held.get(rank, 0) | mask
    free = {node.rank: (node.free(ACCELERATOR) & ~held.get(node.rank, 0)).bit_count() for node in problem.cluster.nodes}
    its: dict[tuple[str, int | None], list[Node]] = {}
    for node in problem.cluster.nodes:
        if free[node.rank]:
            its.setdefault((node.accelerator_model, node.accelerator_memory), []).append(node)
    kinds = tuple(Kind(model, sum(free[node.rank] for node in nodes), memory) for (model, memory), nodes in its.items())
    return Room(kinds, tuple(tuple(nodes) for nodes in its.values()), free)


def options(problem: Problem, component: Component, timed: Timed | None, room: Room, batches: int) -> tuple[Option, ...]:
    """Every way to run a component that nothing else beats at the same count.

    `timed` is None for a component whose time nobody says: it takes accelerators and no time. Times are rounded up to whole
    multiples of `batches`.
    """
    choices = problem.job.choices.get(component.name, (component.parallel,))
    found: list[Option] = []
    if problem.kind(component) != ACCELERATOR:
        most = len(problem.cluster.numbering(component.node_groups).stretches) if component.most >= UNBOUNDED else component.most
        for amount in range(component.least, max(component.least, most) + 1):
            found += _timed(timed, NO_KIND, amount, component.parallel, "", batches, Need(component.memory, component.offloaded))
        return tuple(found)
    for parallel in choices:
        if not _divides(problem, component, parallel):
            continue
        one = replace(component, parallel=parallel)
        for kind in range(len(room.kinds)):
            most = min(one.most, room.most(problem, one, kind))
            for amount in range(-(-one.least // one.step) * one.step, most + 1, one.step):
                if _shares(problem, one, amount) and not (timed and timed.samples and timed.samples % (amount // parallel.replica)):
                    takes = need(problem, one, parallel, amount, room.kinds[kind].memory)
                    found += _timed(timed, kind, amount, parallel, room.kinds[kind].model, batches, takes)
    return tuple(_undominated(found))


def _timed(timed: Timed | None, kind: int, amount: int, parallel: Parallel, model: str, batches: int, takes: Need) -> Iterator[Option]:
    times = [time_of(timed, phase, amount, parallel, model) for phase in timed.phases] if timed else []
    known = [time for time in times if time is not None]
    if len(known) == len(times):
        rounded = tuple(-(-time.nanoseconds // batches) * batches for time in known)
        outside = any(time.extrapolated for time in known)
        yield Option(kind, amount, parallel, rounded, takes.memory, takes.kept, outside, takes.estimated)


def _shares(problem: Problem, component: Component, amount: int) -> bool:
    """Does all work that is dealt out divide among as many processes?"""
    processes = amount // component.per_process
    return all(share.divides(processes) for share in problem.shares if share.component == component.name)


def _divides(problem: Problem, component: Component, parallel: Parallel) -> bool:
    """Does its model divide by these degrees, as far as it is known?"""
    use = problem.job.models.get(component.name)
    if use is None or use.card is None:
        return True
    return all(not (amount := getattr(use.card, split.what)) or split.fits(amount, split.of(parallel)) for split in use.splits)


def _undominated(found: Sequence[Option]) -> Iterator[Option]:
    """Of those with the same kind and count, those that no other equals in everything and beats or precedes in something."""
    groups: dict[tuple[int, int], list[Option]] = {}
    for option in found:
        groups.setdefault((option.kind, option.amount), []).append(option)
    for its in groups.values():
        for place, option in enumerate(its):
            mine = _figures(option)
            others = ((_figures(other), number) for number, other in enumerate(its) if number != place)
            if not any(all(a <= b for a, b in zip(theirs, mine)) and (theirs != mine or number < place) for theirs, number in others):
                yield option


def _figures(option: Option) -> tuple[int, ...]:
    return (*option.nanoseconds, option.memory, option.kept)
