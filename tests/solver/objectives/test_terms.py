"""What crosses a level of the topology: both faces of every term agree, its bound is below and its most above every value."""

from __future__ import annotations

import pytest
from placewright.models.placements.assignment import Assignment
from placewright.models.placements.run import Run
from placewright.models.problem import Cap
from placewright.solver.objectives.traffic import Collectives, DomainsTouched, Streams, WeightSync
from placewright.solver.rules.answers import AtMost

from .. import parity
from ..cases import cluster, component, problem
from .traffic_cases import RACKS, TRAFFIC_CASES, linked, sends


@pytest.mark.parametrize("name", TRAFFIC_CASES)
def test_both_faces_of_every_term_agree(name: str) -> None:
    assert parity.compare(TRAFFIC_CASES[name])["accepted"]


def placed(**nodes: tuple[int, ...]) -> Assignment:
    """Components with one process on accelerator 0 or 1 of each of these nodes."""
    return Assignment(
        {
            name: tuple(Run(range(rank, rank + 1), node, first=its[:rank].count(node)) for rank, node in enumerate(its))
            for name, its in nodes.items()
        }
    )


def test_collectives_cost_their_traffic_for_every_further_rack() -> None:
    question = problem(RACKS, component("a", 3, traffic=5), component("b", 1, traffic=7))
    assert Collectives("rack").value(question, placed(a=(0, 0, 1), b=(1,))) == 5
    assert Collectives("rack").value(question, placed(a=(0, 1, 2), b=(1,))) == 10
    assert Collectives("rack").most(question) == 24
    assert Collectives("rack").name == "MiB of collectives across racks"


def test_weights_cost_where_the_target_is_and_the_source_is_not() -> None:
    question = linked(problem(RACKS, component("a", 1), component("b", 2)), sends("a", "b", weights=6))
    assert WeightSync("rack").value(question, placed(a=(0,), b=(0, 1))) == 6
    assert WeightSync("rack").value(question, placed(a=(0,), b=(1, 2))) == 12
    assert WeightSync("rack").value(question, placed(a=(0,), b=(0, 0))) == 0


def test_streams_cost_what_no_source_nearby_serves() -> None:
    question = linked(problem(RACKS, component("a", 1), component("b", 3)), sends("a", "b", stream=2, ratio=2))
    assert Streams("rack").value(question, placed(a=(0,), b=(0, 1, 1))) == 4
    assert Streams("rack").value(question, placed(a=(1,), b=(0, 1, 1))) == 2


def test_nothing_crosses_a_level_of_one_domain() -> None:
    question = linked(problem(RACKS, component("a", 1, traffic=3), component("b", 3)), sends("a", "b", 1, 1))
    for term in (Collectives("zone"), WeightSync("zone"), Streams("zone"), DomainsTouched("zone")):
        assert term.most(question) == 0


def test_racks_are_counted_where_nobody_said_what_crosses() -> None:
    question = linked(problem(RACKS, component("a", 2, traffic=3), component("b", 2), component("c", 2)), sends("a", "b", weights=1))
    assert DomainsTouched("rack").value(question, placed(a=(0, 1), b=(0, 1), c=(0, 2))) == 1


def test_what_the_topology_alone_demands_is_the_bound_of_counting() -> None:
    from placewright.solver.layout.layout import Layout

    wide = linked(problem(RACKS, component("a", 3, traffic=5), component("b", 2)), sends("a", "b", weights=6, stream=1))
    layout = Layout(wide)
    assert Collectives("rack").bound(layout) == 5
    assert WeightSync("rack").bound(layout) == 0


def test_a_term_above_its_limit_says_by_how_much() -> None:
    job = problem(cluster(*({"count": 1, "rack": rack} for rack in "abc")), component("a", 3))
    spread = Assignment({"a": tuple(Run(range(node, node + 1), node) for node in range(3))})
    (finding,) = AtMost().check(job, Cap((("extra racks", 1),), 1), spread)
    assert (finding.message, finding.amount) == ("extra racks: 2, where at most 1 may be", 1)
