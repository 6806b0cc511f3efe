"""What shares with what: components on the same accelerators, within others', on some of the same, or apart."""

from __future__ import annotations

from collections import Counter

from ...models.component import Relation
from ...models.problem import Problem
from ...models.record import dataclass
from ..stretches import held_alike

WITHIN, PARTLY = "within", "partly"
MOST = 64
"""So many different sets of accelerators are compared with each other."""


@dataclass(frozen=True, slots=True)
class Together:
    """Components that hold exactly the same accelerators; one component, if no other does."""

    components: tuple[str, ...]
    accelerators: int


@dataclass(frozen=True, slots=True)
class Overlap:
    """Two sets of components with `shared` accelerators in common; all of the first, where that lies ``within`` the second."""

    kind: str
    first: Together
    second: Together
    shared: int


@dataclass(frozen=True, slots=True)
class Sharing:
    """Every set of components on the same accelerators, and every two of these sets that meet.

    Those that lie within a set which lies within a third are not said to lie within the third. `compared` is how many of the
    sets were looked at for that. `asked` are the relations that components which are left to solve must have.
    """

    together: tuple[Together, ...]
    overlaps: tuple[Overlap, ...]
    compared: int
    asked: tuple[Relation, ...] = ()

    def alone(self, together: Together) -> bool:
        """Has it nothing in common with any other set?"""
        return all(together not in (overlap.first, overlap.second) for overlap in self.overlaps)


def sharing_of(problem: Problem) -> Sharing:
    """What the components whose place is known share. Cost grows with stretches of nodes and with the pairs that meet."""
    nodes, alike = held_alike(problem, problem.given())
    order = {component.name: position for position, component in enumerate(problem.components)}
    alike = dict(sorted(alike.items(), key=lambda its: order[its[1][0]]))
    amounts = {places: sum(mask.bit_count() * len(nodes[number]) for number, mask in places) for places in alike}
    sets = [Together(tuple(names), amounts[places]) for places, names in alike.items()]
    there: dict[int, list[tuple[int, int]]] = {}
    met: Counter[tuple[int, int]] = Counter()
    for position, places in enumerate(list(alike)[:MOST]):
        for number, mask in places:
            for other, its in there.get(number, ()):
                if both := mask & its:
                    met[other, position] += both.bit_count() * len(nodes[number])
            there.setdefault(number, []).append((position, mask))
    found = [_overlap(sets[one], sets[other], shared) for (one, other), shared in met.items()]
    inner = {(overlap.first, overlap.second) for overlap in found if overlap.kind == WITHIN}
    kept = [o for o in found if o.kind != WITHIN or not any((o.first, each) in inner and (each, o.second) in inner for each in sets[:MOST])]
    pending = {component.name for component in problem.hinted if "placement" not in component.spans}
    asked = tuple(dict.fromkeys(relation for relation in problem.job.relations if pending.intersection(relation.components)))
    return Sharing(tuple(sets), tuple(kept), min(len(sets), MOST), asked)


def _overlap(one: Together, other: Together, shared: int) -> Overlap:
    if shared == other.accelerators:
        one, other = other, one
    return Overlap(WITHIN if shared == one.accelerators else PARTLY, one, other, shared)
