"""Kinds of accelerators, and the nodes of each open to a component."""

from __future__ import annotations

from dataclasses import field, replace
from itertools import chain
from math import inf
from typing import Iterable, Iterator, Mapping, Sequence, Union

from ..models.component import SUBSET, WHOLE, Component
from ..models.machines.node import Node
from ..models.machines.node_group import ACCELERATOR
from ..models.machines.topology import LEVELS, NODE_LEVEL, domain
from ..models.planning.option import AND, AcceleratorKind, Area, Option
from ..models.problem import Problem
from ..models.record import dataclass
from ..models.scope import let_over_nodes
from ..solver.layout import bundle as grain
from .memory import is_estimated
from .times import model_of

MOST_AREAS = 32
Place = Union[int, tuple[int, int]]
"""Free accelerators of a node by rank, or a shared one by (node, index)."""
KindNodes = tuple[AcceleratorKind, tuple[Node, ...]]


@dataclass(frozen=True)
class AcceleratorCapacity:
    """Kinds of accelerators, and the nodes of each kind open to each component.

    `free` : accelerators of each node beside other jobs and unplanned components; shared given
    ranks count as free, and `masks` says which. `held` : number of accelerators that unplanned
    components do not share. `overlaid` : shared given ranks on each node, and `kept_off` those of
    them closed to a component. `over_nodes` : True if tensor parallel groups may lie over nodes
    without a hint.
    """

    kinds: tuple[AcceleratorKind, ...]
    nodes: tuple[tuple[Node, ...], ...]
    free: Mapping[int, int]
    held: int = 0
    overlaid: Mapping[int, int] = field(default_factory=dict)
    kept_off: Mapping[str, Mapping[int, int]] = field(default_factory=dict)
    masks: Mapping[int, int] = field(default_factory=dict)
    over_nodes: bool = False

    def find_allowed(self, problem: Problem, component: Component, kind: int) -> frozenset[int]:
        """Return the nodes of a kind open to a component; its own with given ranks."""
        if component.runs is not None:
            nodes = frozenset(node for node, _ in problem.build_given().masks(component.name))
        else:
            nodes = frozenset(problem.cluster.members(component.node_groups)) - frozenset(component.excluded)
        if self.kinds[kind].mixed:
            return nodes & self._nodes_for(problem, component, kind)
        if component.accelerator_model not in ("", self.kinds[kind].model):
            return frozenset()
        return nodes & frozenset(node.rank for node in self.nodes[kind])

    def _nodes_for(self, problem: Problem, component: Component, kind: int) -> frozenset[int]:
        """Return the nodes with the model and the memory for a component alone."""
        model, need = model_of(problem, component), max(component.memory, component.offloaded)
        if any(component.name in arrangement.without for arrangement in problem.job.planning.ways):
            need = 0  # where it is not started it needs none
        if component.runs is not None:
            return frozenset(node.rank for node in self.nodes[kind])
        nodes = [node for node in self.nodes[kind] if not model or node.accelerator_model == model]
        large = [node for node in nodes if node.accelerator_memory is None or node.accelerator_memory >= need]
        return frozenset(node.rank for node in large or nodes)  # where none is large enough, the memory is told as the reason

    def places(self, problem: Problem, component: Component, kind: int) -> frozenset[Place]:
        """Return the places on these nodes open to a component."""
        nodes, excluded_masks = self.find_allowed(problem, component, kind), self.kept_off.get(component.name, {})
        masks = ((rank, self.overlaid.get(rank, 0) & ~excluded_masks.get(rank, 0)) for rank in nodes)
        return nodes | {(rank, index) for rank, mask in masks for index in range(mask.bit_length()) if mask >> index & 1}

    def most(self, problem: Problem, component: Component, kind: int) -> int:
        """Return the largest count on a kind, in whole groups or a range."""
        places, size = self.places(problem, component, kind), self.group(problem, component)
        most = self.count_in_groups(places, size)
        is_searched = component.runs is None and problem.job.planning.laying is None
        if is_searched and component.least <= (largest := min(self._largest_together(problem, component, places, size), default=most)):
            most = min(most, largest)  # where nothing is left, a placement says why
        return min(most, self._longest(problem, component, kind)) if component.contiguous and is_searched and most else most

    def _largest_together(self, problem: Problem, component: Component, places: Iterable[Place], size: int) -> Iterator[int]:
        """Yield the largest count for every demand to keep the component together."""
        around = any(
            relation.components[-1] == component.name and problem[relation.components[0]].runs is not None
            for relation in problem.find_relations(SUBSET)
        )
        levels = (*LEVELS, NODE_LEVEL) if around else (NODE_LEVEL,)  # of others a placement says why there are no more
        for keep in component.keep:
            if keep.unit == WHOLE and keep.required and keep.level in levels:
                domains: dict[str, list[Place]] = {}
                for place in places:
                    node = problem.cluster.nodes[place if isinstance(place, int) else place[0]]
                    domains.setdefault(domain(node, keep.level), []).append(place)
                yield sum(
                    sorted((self.count_in_groups(domain_places, size) for domain_places in domains.values()), reverse=True)[: keep.domains]
                )

    def group(self, problem: Problem, component: Component) -> int:
        """Return the accelerators kept on a node at any count. They are 1 for given ranks."""
        if component.runs is not None or problem.job.planning.laying is not None:
            return 1
        if self.over_nodes:
            component = replace(
                let_over_nodes(component), per_process=1 if problem.job.capabilities.processes_may_cross else component.per_process
            )
        return grain.unit(problem, (replace(component, least=1, most=component.most if component.most > 1 else 2),))

    def _longest(self, problem: Problem, component: Component, kind: int) -> int:
        """Return the longest range of accelerators open to a component."""
        nodes, excluded_masks = self.find_allowed(problem, component, kind), self.kept_off.get(component.name, {})
        longest = current = 0
        for stretch in problem.cluster.numbering(component.node_groups).stretches:
            rank = stretch.node_rank
            mask = self.masks.get(rank, 0) & ~excluded_masks.get(rank, 0) if rank in nodes else 0
            for index in range(stretch.count):
                current = current + 1 if mask >> index & 1 else 0
                longest = max(longest, current)
        return longest

    def count_in_groups(self, places: Iterable[Place], size: int) -> int:
        """Return the accelerators of these places in whole groups of a size."""
        free: dict[int, int] = {}
        for place in places:
            rank, count = (place, self.free[place] - self.overlaid.get(place, 0).bit_count()) if isinstance(place, int) else (place[0], 1)
            free[rank] = free.get(rank, 0) + count
        return sum(count // size * size for count in free.values())


def free_capacity(problem: Problem, holders: Sequence[Component], over_nodes: bool = False) -> AcceleratorCapacity:
    """Return the kinds, without accelerators held exclusively by `holders` components."""
    masks = _mask_held(problem, [component for component in holders if component.name not in problem.job.overlaps])
    free = {node.rank: node.free(ACCELERATOR) & ~masks.get(node.rank, 0) for node in problem.cluster.nodes}
    counts = {rank: mask.bit_count() for rank, mask in free.items()}
    kinds = kinds_of(problem, counts)
    over = [component for component in holders if component.name in problem.job.overlaps]

    def mask_usable(sharers: Sequence[Component]) -> dict[int, int]:
        return {rank: mask & free[rank] for rank, mask in _mask_held(problem, sharers).items() if mask & free[rank]}

    overlaid, kept_off = mask_usable(over), dict[str, Mapping[int, int]]()
    for component in problem.hinted if overlaid else ():
        excluded_masks = mask_usable([sharer for sharer in over if component.name not in problem.job.overlaps[sharer.name]])
        kept_off.update({component.name: excluded_masks} if excluded_masks else {})
    held_count = sum(mask.bit_count() for mask in masks.values())
    return AcceleratorCapacity(
        tuple(kind for kind, _ in kinds), tuple(nodes for _, nodes in kinds), counts, held_count, overlaid, kept_off, free, over_nodes
    )


def _mask_held(problem: Problem, holders: Sequence[Component]) -> dict[int, int]:
    """Return node rank -> bit mask of accelerators held by these components."""
    masks: dict[int, int] = {}
    for component in holders:
        if problem.kind(component) == ACCELERATOR:
            for (rank, _), mask in problem.build_given().masks(component.name).items():
                masks[rank] = masks.get(rank, 0) | mask
    return masks


def areas(
    problem: Problem, parts: Sequence[Component], options: Mapping[str, Sequence[Option]], room: AcceleratorCapacity
) -> tuple[Area, ...]:
    """Return node sets with a capacity below that of their kind."""
    areas_found: list[Area] = []
    for kind, node_kind in enumerate(room.kinds):
        places_of_part = {
            part.name: room.places(problem, part, kind) for part in parts if any(option.kind == kind for option in options[part.name])
        }
        sizes = sorted({option.group for name in places_of_part for option in options[name] if option.kind == kind})
        for nodes in _unions(dict.fromkeys(places_of_part.values())):
            members = frozenset(name for name, where in places_of_part.items() if where <= nodes)
            whole = room.count_in_groups(nodes, 1)
            rooms = {1: whole} if whole < node_kind.accelerators else {}
            rooms.update((size, most) for size in sizes if (most := room.count_in_groups(nodes, size)) < whole)
            if rooms:
                areas_found.append(Area(kind, members, rooms))
    return tuple(areas_found)


def _unions(sets: Iterable[frozenset[Place]]) -> Iterator[frozenset[Place]]:
    """Yield the sets and their unions, each once, up to a maximum number."""
    unions: dict[frozenset[Place], None] = dict.fromkeys(places for places in sets if places)
    for first in list(unions):
        for second in list(unions):
            if len(unions) < MOST_AREAS:
                unions.setdefault(first | second)
    yield from unions


def kinds_of(problem: Problem, counts: Mapping[int, int]) -> list[KindNodes]:
    """Return the kinds of free accelerators with their nodes; `counts` is by node.

    Every model is a kind if the problem names models, unless a plan may mix models; else all models
    of a vendor are a kind, as no framework starts across vendors.
    """
    by_size: dict[tuple[str, int | None], list[Node]] = {}
    for node in problem.cluster.nodes:
        if counts[node.rank]:
            by_size.setdefault((node.accelerator_model, node.accelerator_memory), []).append(node)
    over_kinds = problem.workload.over_kinds
    times = chain.from_iterable(part.timed.measured for part in problem.components if part.timed)
    named_models = chain((part.accelerator_model for part in problem.components), (row.model for row in times))
    of_models = not over_kinds and any(named_models)
    kinds: dict[str, list[list[Node]]] = {}
    for (model, _), nodes in by_size.items():
        kinds.setdefault(model if of_models else nodes[0].accelerator_type, []).append(nodes)
    needs = (inf if is_estimated(part) else max(part.memory, part.offloaded) for part in problem.components)
    matters = sum(needs) > min((memory for _, memory in by_size if memory is not None), default=0)

    def is_mixed(groups: Sequence[Sequence[Node]]) -> bool:
        return len(groups) > 1 and (over_kinds or (matters and len({nodes[0].accelerator_memory for nodes in groups}) > 1))

    return [_kind(groups, counts, is_mixed(groups)) for groups in kinds.values()]


def _kind(groups: Sequence[Sequence[Node]], counts: Mapping[int, int], is_mixed: bool) -> KindNodes:
    """Return a kind of these groups, each equal in model and memory."""
    nodes = tuple(sorted((node for group in groups for node in group), key=lambda node: node.rank))
    models = tuple(dict.fromkeys(group[0].accelerator_model for group in groups))
    sizes = [group[0].accelerator_memory for group in groups]
    known_sizes = [size for size in sizes if size is not None]
    smallest, largest = min(known_sizes, default=None), None if None in sizes else max(known_sizes)
    kind = AcceleratorKind(AND.join(models), sum(counts[node.rank] for node in nodes), smallest, models if len(groups) > 1 else ())
    return replace(kind, memory=largest, least=smallest, mixed=True) if is_mixed else kind, nodes


def timed_model(problem: Problem, component: Component, kind: AcceleratorKind | None) -> str:
    """Return the model for a component's times on a kind; "" if several or none."""
    if kind is None:
        return ""
    return model_of(problem, component) or "" if kind.mixed and len(kind.models) > 1 else kind.model
