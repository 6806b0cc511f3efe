"""How the time of a search is divided among its tiers."""

from __future__ import annotations

from placewright.models.problem import Problem
from placewright.solver.layout.layout import Layout
from placewright.solver.searching.progress import silent
from placewright.solver.searching.state import ChoiceState, Search
from placewright.solver.searching.tiers import RESERVED_SHARE, TIE_SHARE, share_of

from ..cases import cluster, component, problem

RACKS = cluster(*({"count": 4, "rack": rack} for rack in "aabb"))


def shares(question: Problem) -> list[tuple[str, float]]:
    """(first term of a tier, its seconds of ten where nothing is proved yet)."""
    standing = ChoiceState(Layout(question), Search(question, 1, silent))
    tiers = standing.tiers
    return [(tier.members[0][0].name, share_of(standing, number, 10.0, 10.0)) for number, tier in enumerate(tiers)]


def test_extra_racks_below_bytes_get_little_of_the_time() -> None:
    question = problem(RACKS, component("a", 6, traffic=5), component("b", 6), component("c", 2))
    assert shares(question) == [
        ("MiB of collectives across racks", 10 * (1 - RESERVED_SHARE)),
        ("extra racks", 10 * TIE_SHARE),
    ]


def test_extra_racks_alone_get_all_of_it() -> None:
    question = problem(RACKS, component("a", 6), component("b", 6))
    assert shares(question) == [("extra racks", 10.0)]
