"""Where uses are sets of bundles: rows that hold for every content, amounts dealt out to domains, bounds that are never above an answer."""

from __future__ import annotations

from collections import Counter
from itertools import product

import pytest
from placewright.solver.layout.layout import Layout
from placewright.solver.model.engine import Status, run
from placewright.solver.patterns.applicability import group_domains, permits
from placewright.solver.patterns.master import Domain, Vector, distribute, supports, uses_of

from ..cases import cluster, component, problem
from ..weighed import weighed
from .random_racks import racks
from .test_agreement import by_patterns
from .test_uses import IN_RACK, question


def contents(domain: Domain) -> dict[Vector, tuple[Vector, ...]]:
    """All contents of a domain -> contents of its cells: everything that the capacity of the cells allows is tried."""
    empty = (0,) * len(domain.most)
    found: dict[Vector, tuple[Vector, ...]] = {empty: ()}
    for sort, rows in zip(domain.alike.sorts, domain.rows):
        amounts = [range(most + 1 if number in sort.open else 1) for number, most in enumerate(domain.most)]
        vectors = [vector for vector in product(*amounts) if all(row.holds(vector) for row in rows)]
        every = (((*cells, more), tuple(map(sum, zip(base, more)))) for base, cells in found.items() for more in vectors)
        found = {vector: cells for cells, vector in every if all(amount <= most for amount, most in zip(vector, domain.most))}
    return {vector: cells for vector, cells in found.items() if not any(amount % step for amount, step in zip(vector, domain.steps))}


def test_contents_are_all_that_groups_can_be_put_on_nodes() -> None:
    layout = Layout(question())
    for kind, rooms in zip(group_domains(layout, "rack"), ((4, 4), (4, 2))):
        units = [bundle.unit for bundle in layout.counted]
        amounts = [range(0, bundle.most + 1) for bundle in layout.counted]
        expected = {vector for vector in product(*amounts) if not vector[0] % 2 and _packs(vector, units, rooms)}
        assert set(contents(Domain(layout, ("rack",), kind))) == expected


def _packs(vector: Vector, units: list[int], rooms: tuple[int, ...]) -> bool:
    """Can so many groups of these sizes be put on nodes with this room? Everything is tried."""
    number = next((number for number, amount in enumerate(vector) if amount), None)
    if number is None:
        return True
    less = (*vector[:number], vector[number] - 1, *vector[number + 1 :])
    return any(
        room >= units[number] and _packs(less, units, (*rooms[:node], room - units[number], *rooms[node + 1 :]))
        for node, room in enumerate(rooms)
    )


def test_many_components_are_too_many_sets() -> None:
    machines = cluster(*({"count": 8, "rack": f"r{rank}"} for rank in range(6)))
    whole = component("whole", 4, tp=2, pp=2, keep=IN_RACK)
    few, many = ([component(f"c{number}", 1) for number in range(count)] for count in (3, 12))
    assert uses_of(Layout(problem(machines, whole, *few)), ()) is not None
    assert uses_of(Layout(problem(machines, whole, *many)), ()) is None


def test_rows_hold_for_every_content_of_a_domain() -> None:
    sharp = 0
    for seed in range(150):
        layout = Layout(racks(seed, most=20))
        for kind in group_domains(layout, "rack"):
            domain = Domain(layout, ("rack",), kind)
            its = {tuple(number for number, most in enumerate(use.most) if most): use for use in supports(0, domain)}
            for vector in contents(domain):
                there = tuple(number for number, amount in enumerate(vector) if amount)
                if not permits(layout, there):
                    assert there not in its
                    continue
                use = its[there]
                assert all(low <= amount <= high for low, amount, high in zip(use.least, vector, use.most))
                for row in (*domain.groups, *domain.beside(there)):
                    assert row.holds(vector), (seed, vector)
                    sharp += sum(pieces * vector[number] for number, pieces in row.taken.items()) == row.most > 0
    assert sharp > 100, "rows that nothing ever reaches say nothing"


def test_what_is_dealt_out_fits_each_domain_and_is_all_there_is() -> None:
    dealt = 0
    for seed in range(60):
        layout = Layout(racks(seed, most=20))
        uses = uses_of(layout, ())
        for option in uses.options if uses else ():
            domain = uses.domains[option.kind]
            every = contents(domain)
            same = [vector for vector in every if [amount > 0 for amount in vector] == [amount > 0 for amount in option.most]]
            for vector in same[:: max(1, len(same) // 3)]:  # the same three times: then there is a way to deal it out
                together = {(b, cell): 3 * its[b] for cell, its in enumerate(every[vector]) for b in range(len(vector)) if its[b]}
                parts = distribute(uses, option, 3, together)
                assert all(tuple(map(sum, zip(*cells))) in every for cells in parts if cells)
                lost = sum(together.values()) - sum(sum(map(sum, cells)) for cells in parts)
                dealt += not lost
                assert lost >= 0
    assert dealt > 300


@pytest.mark.slow
def test_its_bounds_are_never_above_an_answer_and_its_answers_are_answers() -> None:
    met: Counter[str] = Counter()
    for seed in range(200):
        problem = racks(seed, most=14 if seed % 2 else 36)
        standing = by_patterns(problem)
        if standing is None:
            continue
        best = run(weighed(problem), 10.0, 1)
        if best.status is Status.INFEASIBLE:
            assert standing.assignment is None
            continue
        assert standing.bound <= best.objective, seed
        assert standing.assignment is None or standing.objective >= best.objective
        met["proved" if standing.is_proved else "open"] += 1
    assert met["proved"] > 60 > 4 * met["open"], met
