"""What one domain can hold, which uses of it are kept, and how an answer over uses lies on the cells."""

from __future__ import annotations

from itertools import product

import pytest
from placewright.models.component import REPLICA, Keep, Spread
from placewright.models.problem import Problem
from placewright.solver.layout.layout import Count, Layout
from placewright.solver.objectives.tiers import tiers
from placewright.solver.patterns.applies import alike, obstacles
from placewright.solver.patterns.contents import Domain, TooMany, contents, options
from placewright.solver.patterns.master import expanded
from placewright.solver.patterns.uses import Uses

from ..cases import cluster, component, problem

IN_RACK = (Keep(REPLICA, "rack"),)


def question() -> Problem:
    """Three racks of 2 x 4 and one of 4 + 2; replicas of 4 in one rack, groups of 2."""
    nodes = [{"count": 4, "rack": f"r{rank // 2}"} for rank in range(6)]
    machines = cluster(*nodes, {"count": 4, "rack": "s"}, {"count": 2, "rack": "s"})
    return problem(machines, component("a", 8, tp=2, pp=2, keep=IN_RACK), component("b", 6, tp=2), component("c", 3))


def test_racks_with_the_same_room_are_alike_whatever_their_names() -> None:
    kinds = alike(Layout(question()), "rack")
    assert [[cells[0].domain("rack") for cells in kind.domains] for kind in kinds] == [["r0", "r1", "r2"], ["s"]]


def test_given_parts_and_memberships_tell_racks_apart() -> None:
    machines = cluster(*({"count": 2, "rack": f"r{rank}", "taken": int(rank == 2)} for rank in range(4)), g=(0, 2, 3))
    kinds = alike(Layout(problem(machines, component("a", 2), component("b", 1, node_groups=("g",)))), "rack")
    assert [[cells[0].domain("rack") for cells in kind.domains] for kind in kinds] == [["r0", "r3"], ["r1"], ["r2"]]


def test_contents_are_all_that_groups_can_be_put_on_nodes() -> None:
    layout = Layout(question())
    for kind, rooms in zip(alike(layout, "rack"), ((4, 4), (4, 2))):
        domain = Domain(layout, ("rack",), kind)
        found = contents(domain, 10_000)
        units = [bundle.unit for bundle in layout.counted]
        amounts = [range(0, bundle.most + 1) for bundle in layout.counted]
        expected = {vector for vector in product(*amounts) if not vector[0] % 2 and _packs(vector, units, rooms)}
        assert set(found) == expected
        for vector, cells in found.items():
            assert tuple(map(sum, zip(*cells))) == vector


def _packs(vector: tuple[int, ...], units: list[int], rooms: tuple[int, ...]) -> bool:
    """Can so many groups of these sizes be put on nodes with this room? Everything is tried."""
    number = next((number for number, amount in enumerate(vector) if amount), None)
    if number is None:
        return True
    less = (*vector[:number], vector[number] - 1, *vector[number + 1 :])
    return any(
        room >= units[number] and _packs(less, units, (*rooms[:node], room - units[number], *rooms[node + 1 :]))
        for node, room in enumerate(rooms)
    )


def test_what_is_too_much_to_write_out_is_not() -> None:
    layout = Layout(question())
    with pytest.raises(TooMany):
        contents(Domain(layout, ("rack",), alike(layout, "rack")[0]), 10)


def test_every_content_is_part_of_a_use_that_costs_the_same() -> None:
    layout = Layout(question())
    domain = Domain(layout, ("rack",), alike(layout, "rack")[0])
    every = contents(domain, 10_000)
    for exact in (frozenset[int](), frozenset({1}), frozenset({0, 1, 2})):
        uses = list(options(0, domain, every, exact))
        for vector in every:
            its = [use for use in uses if all(low <= amount <= high for low, amount, high in zip(use.least, vector, use.most))]
            assert any(all(bool(amount) == use.has(number) for number, amount in enumerate(vector)) for use in its)
        for use in uses:
            assert use.most in every
            assert all(use.least[number] == use.most[number] for number in exact)
    assert len(list(options(0, domain, every, frozenset()))) < len(every) == len(list(options(0, domain, every, frozenset({0, 1, 2}))))


def test_what_uses_hold_beyond_what_there_is_is_left_out() -> None:
    layout = Layout(question())
    uses = Uses(layout, ("rack",), [])
    whole = next(number for number, use in enumerate(uses.options) if use.kind == 0 and use.most == (4, 0, 0))
    mixed = next(number for number, use in enumerate(uses.options) if use.kind == 0 and use.most == (2, 2, 0))
    empty = next(number for number, use in enumerate(uses.options) if use.kind == 1 and not any(use.most))
    times = [2 * (number == whole) + (number == mixed) + (number == empty) for number in range(len(uses.options))]
    values = expanded(uses, times, [6, 1, 0], {})
    held = {bundle.name: [values[Count(bundle, cell)] for cell in layout.cells] for bundle in layout.counted}
    assert (sorted(held["a"]), sum(held["b"]), sum(held["c"])) == ([0, 2, 2, 2], 1, 0)
    assert list(values) == list(layout.counts)


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"contiguous": True}, "some of it is contiguous"),
        ({"spread": (Spread("node", 2),)}, "a is spread over nodes"),
        ({"keep": (Keep(REPLICA, "rack", required=False),)}, "preferred groups cut is no sum over domains"),
        ({"most": 8, "spread": (Spread("rack", percent=50),)}, "how much of a one domain may hold depends on how much there is of it"),
    ],
)
def test_problems_that_are_no_sum_over_domains_say_why(more: dict[str, object], why: str) -> None:
    asked = problem(cluster(*({"count": 4, "rack": f"r{rank}"} for rank in range(3))), component("a", 4, tp=2, **more), component("b", 1))
    assert why in list(obstacles(Layout(asked), tiers(asked)))
