"""Kinds of accelerators and the nodes of each that a component may use."""

from __future__ import annotations

from dataclasses import field, replace
from math import inf
from typing import Collection, Iterable, Iterator, Mapping, Sequence, Union

from ..models.component import IN_ORDER, SUBSET, Component
from ..models.locality import WHOLE
from ..models.machines.node import Node
from ..models.machines.node_group import ACCELERATOR
from ..models.machines.topology import LEVELS, NODE_LEVEL, domain
from ..models.planning.limits import Area
from ..models.planning.option import AND, AcceleratorKind, Option
from ..models.problem import Problem
from ..models.record import dataclass
from ..models.scope import let_over_nodes
from ..solver.layout import bundle as grain
from .related import related
from .times import model_of, untimed_on

MOST_AREAS = 32
Place = Union[int, tuple[int, int]]
"""All that is free of a node but what is overlaid, by its rank; or one accelerator that is, by (node rank, local index)."""


Its = tuple[AcceleratorKind, tuple[Node, ...]]


@dataclass(frozen=True)
class AcceleratorCapacity:
    """The kinds of accelerators of a problem, and on which nodes of each a component may be.

    `free` is what each node still has: neither other jobs nor components that are not planned hold it, but for those that let others
    use it too; `masks` says which. `overlaid` is what those hold of it on each node, and `kept_off` what of that a component must not use.
    `over_nodes`: may tensor parallel groups lie over nodes of which nothing else is said? `owned`: the last of the kinds, each of which
    belongs to components with given ranks on several others.
    """

    kinds: tuple[AcceleratorKind, ...]
    nodes: tuple[tuple[Node, ...], ...]
    free: Mapping[int, int]
    overlaid: Mapping[int, int] = field(default_factory=dict)
    kept_off: Mapping[str, Mapping[int, int]] = field(default_factory=dict)
    masks: Mapping[int, int] = field(default_factory=dict)
    over_nodes: bool = False
    owned: tuple[OwnKind, ...] = ()

    def own(self, kind: int) -> OwnKind | None:
        """Whose a kind is alone, if it is anybody's."""
        place = kind - (len(self.kinds) - len(self.owned))
        return self.owned[place] if place >= 0 else None

    def sizes(self, kind: int) -> frozenset[int | None]:
        """MiB of an accelerator of a kind: of each size where a plan may have components on several at once; None where nobody says it."""
        its = self.kinds[kind]
        return frozenset(node.accelerator_memory for node in self.nodes[kind]) if its.mixed else frozenset((its.memory,))

    def model(self, problem: Problem, component: Component, kind: int) -> str:
        """The model whose times a component has on a kind; "" where that may be several."""
        if len(self.kinds[kind].models) > 1:
            return model_of(problem, component) or "" if self.kinds[kind].mixed else self.kinds[kind].model
        return self.kinds[kind].model if self.own(kind) is None else model_on(problem, component)

    def allowed(self, problem: Problem, component: Component, kind: int) -> frozenset[int]:
        """The ranks of the nodes of a kind that a component may use; where its ranks are given, those that it has."""
        if component.runs is not None:
            there = frozenset(node for node, _ in problem.given().masks(component.name))
        else:
            there = frozenset(problem.cluster.members(component.node_groups)) - frozenset(component.excluded)
        own, holders = self.own(kind), {name for each in self.kinds for name in each.holders}
        if own is None and component.name in holders:
            return frozenset()
        if self.kinds[kind].mixed:
            return there & self._nodes_for(problem, component, kind)
        if own is None and component.accelerator_model not in ("", self.kinds[kind].model):
            return frozenset()
        if own is not None and component.name not in own.kind.holders:
            return frozenset()
        return there & frozenset(node.rank for node in self.nodes[kind])

    def _nodes_for(self, problem: Problem, component: Component, kind: int) -> frozenset[int]:
        """The ranks of those of its nodes that have the model and the memory that a component needs by itself."""
        model, need = model_of(problem, component), max(component.memory, component.offloaded)
        if any(component.name in way.without for way in problem.job.planning.ways):
            need = 0  # where it is not started it needs none
        if component.runs is not None:
            return frozenset(node.rank for node in self.nodes[kind])
        its = [node for node in self.nodes[kind] if not model or node.accelerator_model == model]
        large = [node for node in its if node.accelerator_memory is None or node.accelerator_memory >= need]
        return frozenset(node.rank for node in large or its)  # where none is large enough, the memory is told as the reason

    def places(self, problem: Problem, component: Component, kind: int) -> frozenset[Place]:
        """What of these nodes it may use."""
        nodes, kept = self.allowed(problem, component, kind), self.kept_off.get(component.name, {})
        masks = ((rank, self.overlaid.get(rank, 0) & ~kept.get(rank, 0)) for rank in nodes)
        return nodes | {(rank, index) for rank, mask in masks for index in range(mask.bit_length()) if mask >> index & 1}

    def most(self, problem: Problem, component: Component, kind: int) -> int:
        """How many accelerators of a kind a component may use, in whole groups on each node; in one range if it is to be one."""
        if (own := self.own(kind)) is not None:
            return own.most(component)
        places, size = self.places(problem, component, kind), self.group(problem, component)
        most = self.in_groups(places, size)
        searched = component.runs is None and problem.job.planning.laying is None
        if searched and component.least <= (kept := min(self._kept(problem, component, places, size), default=most)):
            most = min(most, kept)  # where nothing is left, a placement says why
        return min(most, self._longest(problem, component, kind)) if component.contiguous and searched and most else most

    def _kept(self, problem: Problem, component: Component, places: Iterable[Place], size: int) -> Iterator[int]:
        """For each way in which all of a component is kept together, how many accelerators of these places it may use, around given ranks.

        Elsewhere a placement of more says with its reason that there is none, and that of all such counts at once.
        """
        around = any(
            each.components[-1] == component.name and problem[each.components[0]].runs is not None for each in problem.related(SUBSET)
        )
        for keep in component.keep if around else ():
            if keep.what == WHOLE and keep.required and keep.level in (*LEVELS, NODE_LEVEL):
                domains: dict[str, list[Place]] = {}
                for place in places:
                    node = problem.cluster.nodes[place if isinstance(place, int) else place[0]]
                    domains.setdefault(domain(node, keep.level), []).append(place)
                yield sum(sorted((self.in_groups(its, size) for its in domains.values()), reverse=True)[: keep.domains])

    def group(self, problem: Problem, component: Component) -> int:
        """How many accelerators of a component one node holds together, whatever its count is; 1 where nobody searches for its ranks."""
        if component.runs is not None or problem.job.planning.laying is not None:
            return 1
        if self.over_nodes:
            component = replace(
                let_over_nodes(component), per_process=1 if problem.job.capabilities.processes_may_cross else component.per_process
            )
        return grain.unit(problem, (replace(component, least=1, most=component.most if component.most > 1 else 2),))

    def _longest(self, problem: Problem, component: Component, kind: int) -> int:
        """The most accelerators one after the other that a component may use."""
        nodes, kept = self.allowed(problem, component, kind), self.kept_off.get(component.name, {})
        longest = current = 0
        for stretch in problem.cluster.numbering(component.node_groups).stretches:
            rank = stretch.node_rank
            mask = self.masks.get(rank, 0) & ~kept.get(rank, 0) if rank in nodes else 0
            for index in range(stretch.count):
                current = current + 1 if mask >> index & 1 else 0
                longest = max(longest, current)
        return longest

    def in_groups(self, places: Iterable[Place], size: int) -> int:
        """How many accelerators of these places lie in whole groups of a size."""
        free: dict[int, int] = {}
        for place in places:
            rank, count = (place, self.free[place] - self.overlaid.get(place, 0).bit_count()) if isinstance(place, int) else (place[0], 1)
            free[rank] = free.get(rank, 0) + count
        return sum(count // size * size for count in free.values())

    def splitting(self, sizes: Iterable[int]) -> list[int]:
        """Those sizes, in order, whose groups leave something over on a node."""
        kept = ((rank, mask) for masks in self.kept_off.values() for rank, mask in masks.items())
        counts = {*self.free.values(), *(self.free[rank] - mask.bit_count() for rank, mask in kept)}
        return [size for size in sorted(set(sizes)) if any(count % size for count in counts)]


def room(problem: Problem, given: Sequence[Component], over_nodes: bool = False) -> AcceleratorCapacity:
    """The kinds of accelerators, without what the components of `given` hold and let nobody else use."""
    held = _held(problem, [each for each in given if each.name not in problem.job.overlaps])
    free = {node.rank: node.free(ACCELERATOR) & ~held.get(node.rank, 0) for node in problem.cluster.nodes}
    parts = [each for each in problem.components if each not in given]
    owned = own_kinds(problem, parts, kinds_of(problem, {rank: mask.bit_count() for rank, mask in free.items()}))
    for its in owned:
        free = {rank: mask & ~its.held.get(rank, 0) for rank, mask in free.items()}
    counts = {rank: mask.bit_count() for rank, mask in free.items()}
    kinds = [*kinds_of(problem, counts), *((its.kind, its.nodes) for its in owned)]
    over = [each for each in given if each.name in problem.job.overlaps]
    overlaid = {rank: mask & free[rank] for rank, mask in _held(problem, over).items() if mask & free[rank]}
    kept_off = {}
    for component in problem.hinted if overlaid else ():
        strange = [each for each in over if component.name not in problem.job.overlaps[each.name]]
        if kept := {rank: mask & free[rank] for rank, mask in _held(problem, strange).items() if mask & free[rank]}:
            kept_off[component.name] = kept
    return AcceleratorCapacity(
        tuple(kind for kind, _ in kinds), tuple(nodes for _, nodes in kinds), counts, overlaid, kept_off, free, over_nodes, owned
    )


def held_back(problem: Problem, given: Sequence[Component]) -> int:
    """How many accelerators the components of `given` hold and let nobody else use."""
    return sum(mask.bit_count() for mask in _held(problem, [each for each in given if each.name not in problem.job.overlaps]).values())


def _held(problem: Problem, given: Sequence[Component]) -> dict[int, int]:
    """Node rank -> the accelerators that these components hold there, as a bit mask."""
    held: dict[int, int] = {}
    for component in given:
        if problem.kind(component) == ACCELERATOR:
            for (rank, _), mask in problem.given().masks(component.name).items():
                held[rank] = held.get(rank, 0) | mask
    return held


def areas(
    problem: Problem, parts: Sequence[Component], options: Mapping[str, Sequence[Option]], room: AcceleratorCapacity
) -> tuple[Area, ...]:
    """Nodes on which components must share the room, where that says more than how many accelerators there are.

    They are those that one component may use, and those that two or more may use between them.
    """
    found: list[Area] = []
    for kind, its in enumerate(room.kinds[: len(room.kinds) - len(room.owned)]):
        allowed = {
            each.name: room.places(problem, each, kind) for each in parts if any(option.kind == kind for option in options[each.name])
        }
        sizes = sorted({option.group for name in allowed for option in options[name] if option.kind == kind})
        for nodes in _unions(dict.fromkeys(allowed.values())):
            inside = frozenset(name for name, where in allowed.items() if where <= nodes)
            whole = room.in_groups(nodes, 1)
            rooms = {1: whole} if whole < its.accelerators else {}
            rooms.update((size, most) for size in sizes if (most := room.in_groups(nodes, size)) < whole)
            if rooms:
                found.append(Area(kind, inside, rooms))
    return tuple(found)


def _unions(sets: Iterable[frozenset[Place]]) -> Iterator[frozenset[Place]]:
    """The sets and what they are together, no more than so many, each once."""
    known: dict[frozenset[Place], None] = dict.fromkeys(each for each in sets if each)
    for one in list(known):
        for other in list(known):
            if len(known) < MOST_AREAS:
                known.setdefault(one | other)
    yield from known


def kinds_of(problem: Problem, counts: Mapping[int, int]) -> list[Its]:
    """The kinds of the accelerators that are free, so many on each node rank, with the nodes of each.

    Each model is a kind where something names models, unless a plan may have components on several at once; else all of one vendor are:
    what is on accelerators of one vendor is not started on those of another.
    """
    found: dict[tuple[str, int | None], list[Node]] = {}
    for node in problem.cluster.nodes:
        if counts[node.rank]:
            found.setdefault((node.accelerator_model, node.accelerator_memory), []).append(node)
    over_kinds = problem.job.planning.workload is not None and problem.job.planning.workload.over_kinds
    of_models = not over_kinds and any(map(names_a_model, problem.components))
    kinds: dict[str, list[list[Node]]] = {}
    for (model, _), nodes in found.items():
        kinds.setdefault(model if of_models else nodes[0].accelerator_type, []).append(nodes)
    matters = _asked_memory(problem) > min((memory for _, memory in found if memory is not None), default=0)

    def is_mixed(its: Sequence[Sequence[Node]]) -> bool:
        return len(its) > 1 and (over_kinds or (matters and len({nodes[0].accelerator_memory for nodes in its}) > 1))

    return [_mixed(its, counts) if is_mixed(its) else _kind(its, counts) for its in kinds.values()]


def _mixed(its: Sequence[Sequence[Node]], counts: Mapping[int, int]) -> Its:
    """One kind of all of these, which something tells apart."""
    kind, nodes = _kind(its, counts)
    memories = [each[0].accelerator_memory for each in its]
    most = None if None in memories else max(memory for memory in memories if memory is not None)
    return replace(kind, memory=most, least=kind.memory, mixed=True), nodes


def _kind(its: Sequence[Sequence[Node]], counts: Mapping[int, int]) -> Its:
    """One kind of all of these, each of which are of a model and a memory."""
    nodes = tuple(sorted((node for each in its for node in each), key=lambda node: node.rank))
    models = tuple(dict.fromkeys(each[0].accelerator_model for each in its))
    memory = min((size for each in its if (size := each[0].accelerator_memory) is not None), default=None)
    several = models if len(its) > 1 else ()
    return AcceleratorKind(AND.join(models), sum(counts[node.rank] for node in nodes), memory, several), nodes


def _asked_memory(problem: Problem) -> float:
    """MiB that all components need at the same time, at the most; no end of them where some of it is estimated."""
    if any(each.estimate and not (each.memory or each.offloaded) for each in problem.components):
        return inf
    return sum(max(each.memory, each.offloaded) for each in problem.components)


def names_a_model(component: Component) -> bool:
    """True if a component, or a time of it, is of one model of accelerators."""
    times = component.timed.measured if component.timed else ()
    return bool(component.accelerator_model) or any(each.model for each in times)


@dataclass(frozen=True)
class OwnKind:
    """A kind, the nodes that it is on, and which of their accelerators it has, by node rank.

    `masks` : component whose ranks are given -> what it holds of each node.
    """

    kind: AcceleratorKind
    nodes: tuple[Node, ...]
    held: Mapping[int, int]
    masks: Mapping[str, Mapping[int, int]]

    def most(self, component: Component) -> int:
        """How many of them a component may use: all that it is given, those of its model where its place is open."""
        if component.name not in self.kind.holders:
            return 0
        its, model = self.masks.get(component.name, self.held), component.accelerator_model if component.runs is None else ""
        return sum(its.get(node.rank, 0).bit_count() for node in self.nodes if model in ("", node.accelerator_model))


def model_on(problem: Problem, component: Component) -> str:
    """The model that a component has of a kind that has holders, and its times with it; "" where that may be several."""
    if component.runs is None:
        return component.accelerator_model
    models = {problem.cluster.nodes[node].accelerator_model for node, _ in problem.given().masks(component.name)}
    return models.pop() if len(models) == 1 else ""


def own_kinds(problem: Problem, parts: Sequence[Component], kinds: Sequence[Its]) -> tuple[OwnKind, ...]:
    """The accelerators of given components that lie on several of these kinds, with all who share them, where their times are known.

    Who is on several models takes as long as on the slowest of them, see planner/times.py. Whose place is open shares
    them only where it must be within what is given, so that it may be nowhere else; where anybody else could share them, or traffic
    counts as time, there is no such kind.
    """
    workload = problem.job.planning.workload
    if len(kinds) < 2 or problem.job.overlaps or problem.job.planning.laying is not None or problem.related(IN_ORDER):
        return ()
    if workload is None or workload.bandwidth:
        return ()
    number = {node.rank: place for place, (_, nodes) in enumerate(kinds) for node in nodes}
    given = problem.given()
    masks = {
        each.name: {node: mask for (node, kind), mask in given.masks(each.name).items() if kind == ACCELERATOR and mask}
        for each in parts
        if each.runs is not None and problem.kind(each) == ACCELERATOR
    }
    astray = {name for name, its in masks.items() if len({number.get(node, -1) for node in its}) > 1}
    groups = _groups(problem, parts) if astray else ()
    return tuple(
        own_kind(problem, sorted(its), {name: masks[name] for name in sorted(its) if name in masks})
        for its in groups
        if astray & its and _is_known(problem, parts, its, masks)
    )


def _groups(problem: Problem, parts: Sequence[Component]) -> Iterator[frozenset[str]]:
    """The components that may share accelerators with each other, directly or through others."""
    said = related(problem, parts)
    left = [each.name for each in parts]
    while left:
        reached, before = {left[0]}, set[str]()
        while reached != before:
            before = set(reached)
            reached |= {name for pair in (*said.together, *said.within) if not reached.isdisjoint(pair) for name in pair}
        yield frozenset(reached)
        left = [name for name in left if name not in reached]


def _is_known(problem: Problem, parts: Sequence[Component], names: Collection[str], masks: Collection[str]) -> bool:
    """Is every one of them within what is given, and is its time known wherever it may be?

    A time that names a model says nothing of one that is somewhere on several.
    """
    said = related(problem, parts)
    inside = {one for one, other in (*said.within, *said.together, *((b, a) for a, b in said.together)) if other in masks}
    for component in (problem[name] for name in names):
        named = component.timed is not None and any(each.model for each in component.timed.measured)
        if component.runs is not None and untimed_on(problem, component):
            return False
        if component.runs is None and (component.name not in inside or (named and not model_on(problem, component))):
            return False
    return True


def own_kind(problem: Problem, holders: Sequence[str], masks: Mapping[str, Mapping[int, int]]) -> OwnKind:
    """The kind of what some of these components hold between them, by their masks of each node rank."""
    held: dict[int, int] = {}
    for mine in masks.values():
        for node, mask in mine.items():
            held[node] = held.get(node, 0) | mask
    nodes = tuple(node for node in problem.cluster.nodes if node.rank in held)
    models = dict.fromkeys(node.accelerator_model for node in nodes)
    memories = {node.accelerator_memory for node in nodes}
    memory = memories.pop() if len(memories) == 1 else None  # where they differ, the check of a placement looks at each node
    count = sum(mask.bit_count() for mask in held.values())
    return OwnKind(AcceleratorKind(AND.join(models), count, memory, holders=tuple(holders)), nodes, held, masks)
