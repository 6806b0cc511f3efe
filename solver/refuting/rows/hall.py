"""Hall's condition: what some need together must be no more than all that any of them may use."""

from __future__ import annotations

from itertools import combinations
from typing import Callable, Mapping, Sequence, TypeVar

B = TypeVar("B")
MAX_UNIONS = 8
"""Up to so many different sets of nodes every union is looked at; beyond that a minimal cut finds the one that is short."""


def shortage(needs: Mapping[B, int], may: Mapping[B, int], have: Callable[[int], int]) -> list[B]:
    """The members of a smallest union that is short, none of whom could be left out; none if no union is.

    Parameters
    ----------
    needs : who needs how much.
    may : what each may use, as a bit mask.
    have : how much there is in such a mask.
    """
    distinct = list(dict.fromkeys(may[each] for each in needs))
    for size in range(1, min(len(distinct), MAX_UNIONS) + 1):
        for chosen in combinations(distinct, size) if len(distinct) <= MAX_UNIONS or size == 1 else ():
            union = 0
            for mask in chosen:
                union |= mask
            members = [each for each in needs if not may[each] & ~union]
            if sum(needs[each] for each in members) > have(union):
                return smallest(members, needs, may, have)
    everyone = 0
    for mask in distinct:
        everyone |= mask
    return smallest(list(needs), needs, may, have) if sum(needs.values()) > have(everyone) else []


def smallest(members: Sequence[B], needs: Mapping[B, int], may: Mapping[B, int], have: Callable[[int], int]) -> list[B]:
    """Those of the members without any of whom the rest would not be short: who needs least is left out first."""
    kept = list(members)
    for each in sorted(members, key=lambda its: needs[its]):
        rest = [other for other in kept if other is not each]
        union = 0
        for other in rest:
            union |= may[other]
        if rest and sum(needs[other] for other in rest) > have(union):
            kept = rest
    return kept


def cut(needs: Mapping[B, int], may: Mapping[B, int], rooms: Sequence[int]) -> list[B]:
    """Who together needs more than all that any of them may use, by a minimal cut; none if everything can flow."""
    import networkx

    alike: dict[tuple[B, ...], int] = {}
    for index, pieces in enumerate(rooms):
        users = tuple(each for each in needs if may[each] >> index & 1)
        alike[users] = alike.get(users, 0) + pieces
    graph = networkx.DiGraph()
    graph.add_nodes_from(("need", "have"))
    for each, need in needs.items():
        graph.add_edge("need", each, capacity=need)
    for users, pieces in alike.items():
        graph.add_edge(users, "have", capacity=pieces)
        for each in users:
            graph.add_edge(each, users)
    flow, (reached, _) = networkx.minimum_cut(graph, "need", "have")
    return [each for each in needs if each in reached] if flow < sum(needs.values()) else []
