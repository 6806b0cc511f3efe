"""Sharing of accelerators: colocated, enclosed, overlapping or disjoint components."""

from __future__ import annotations

from collections import Counter

from ...models.component import Relation
from ...models.problem import Problem
from ...models.record import dataclass
from ..stretches import components_by_accelerators

WITHIN, PARTLY = "within", "partly"
MOST = 64
"""Largest number of accelerator sets compared pairwise."""


@dataclass(frozen=True, slots=True)
class ColocatedSet:
    """Maximal set of components on exactly the same accelerators; may be a single component."""

    components: tuple[str, ...]
    accelerators: int


@dataclass(frozen=True, slots=True)
class Overlap:
    """Two sets of components with `shared` accelerators in common.

    Kind ``within``: the second contains the first.
    """

    kind: str
    first: ColocatedSet
    second: ColocatedSet
    shared: int


@dataclass(frozen=True, slots=True)
class SharedAccelerators:
    """Colocated sets of components, and all overlapping pairs of sets.

    Nesting is listed without transitive pairs. `compared` is the number of sets examined for
    overlaps. `asked` are the required relations of hinted components.
    """

    together: tuple[ColocatedSet, ...]
    overlaps: tuple[Overlap, ...]
    compared: int
    asked: tuple[Relation, ...] = ()

    def alone(self, together: ColocatedSet) -> bool:
        """Return True if the set overlaps with no other set."""
        return all(together not in (overlap.first, overlap.second) for overlap in self.overlaps)


def sharing_of(problem: Problem) -> SharedAccelerators:
    """Return the sharing of placed components. The cost grows with node stretches and pairs."""
    nodes, alike = components_by_accelerators(problem, problem.given())
    order = {component.name: position for position, component in enumerate(problem.components)}
    alike = dict(sorted(alike.items(), key=lambda entry: order[entry[1][0]]))
    amounts = {places: sum(mask.bit_count() * len(nodes[number]) for number, mask in places) for places in alike}
    sets = [ColocatedSet(tuple(names), amounts[places]) for places, names in alike.items()]
    occupied: dict[int, list[tuple[int, int]]] = {}
    shared_amounts: Counter[tuple[int, int]] = Counter()
    for position, places in enumerate(list(alike)[:MOST]):
        for number, mask in places:
            for earlier, earlier_mask in occupied.get(number, ()):
                if common := mask & earlier_mask:
                    shared_amounts[earlier, position] += common.bit_count() * len(nodes[number])
            occupied.setdefault(number, []).append((position, mask))
    overlaps = [_overlap(sets[first], sets[second], shared) for (first, second), shared in shared_amounts.items()]
    inner = {(overlap.first, overlap.second) for overlap in overlaps if overlap.kind == WITHIN}
    direct = [
        overlap
        for overlap in overlaps
        if overlap.kind != WITHIN
        or not any((overlap.first, middle) in inner and (middle, overlap.second) in inner for middle in sets[:MOST])
    ]
    pending = {component.name for component in problem.hinted if "placement" not in component.spans}
    relations = tuple(dict.fromkeys(relation for relation in problem.job.relations if pending.intersection(relation.components)))
    return SharedAccelerators(tuple(sets), tuple(direct), min(len(sets), MOST), relations)


def _overlap(first: ColocatedSet, second: ColocatedSet, shared: int) -> Overlap:
    if shared == second.accelerators:
        first, second = second, first
    return Overlap(WITHIN if shared == first.accelerators else PARTLY, first, second, shared)
