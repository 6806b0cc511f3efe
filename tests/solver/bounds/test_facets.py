"""What is found of a block holds for every one of its solutions, and in the end says all there is to say."""

from __future__ import annotations

import random
from itertools import product

import pytest
from placewright.solver.bounds.blocks import BlockSearch, Facets, RackBlock, blocks
from placewright.solver.bounds.branching import Tree
from placewright.solver.bounds.relaxation import LinearModel, LinearRelaxation, LinearRow
from placewright.solver.bounds.stage import Tightening
from sampling import examples


def domain(source: random.Random) -> RackBlock:
    """Room for three sorts of pieces, each with an indicator that it is there; and what of the last no piece of the second serves."""
    room, large = source.randint(4, 9), source.randint(1, 2)
    rows = [LinearRow(None, room, (0, 1, 2), (4, 2, 1)), LinearRow(None, large, (0,), (1,))]
    for piece, most in ((0, large), (1, room // 2), (2, room)):
        rows += [LinearRow(None, 0, (piece, 3 + piece), (1, -most)), LinearRow(0, None, (piece, 3 + piece), (1, -1))]
    rows.append(LinearRow(None, 0, (2, 1, 6), (1, -2, -1)))
    return RackBlock(tuple(range(7)), tuple(rows), ((0, large), (0, room // 2), (0, room), (0, 1), (0, 1), (0, 1), (0, room)))


def solutions(block: RackBlock) -> list[tuple[int, ...]]:
    """All of them, each tried."""
    return [
        point for point in product(*(range(low, high + 1) for low, high in block.boxes)) if all(holds(row, point) for row in block.rows)
    ]


def holds(row: LinearRow, point: tuple[int, ...]) -> bool:
    its = sum(point[variable] * coefficient for variable, coefficient in zip(row.variables, row.coefficients))
    return (row.low is None or row.low <= its) and (row.high is None or its <= row.high)


def cost(costs: dict[int, int], point: tuple[int, ...]) -> int:
    return sum(value * point[variable] for variable, value in costs.items())


@pytest.mark.parametrize("seed", range(4))
def test_every_solution_satisfies_the_rows_and_together_they_are_as_tight_as_can_be(seed: int) -> None:
    source, found = random.Random(seed), 0
    block = domain(source)
    every, facets = solutions(block), Facets(block)
    relaxation = LinearRelaxation(LinearModel(block.boxes, {}, 0, block.rows))
    for _ in range(12):
        costs = {variable: source.randint(-6, 9) for variable in range(7)}
        relaxation.aim(costs)
        for _ in range(30):
            point = relaxation.solve({})
            assert point is not None
            row = facets.row(point.values)
            if row is None:
                break
            assert all(holds(row, each) for each in every)
            assert row.low is not None
            assert sum(point.values[variable] * coefficient for variable, coefficient in zip(row.variables, row.coefficients)) < row.low
            relaxation.add([row])
            found += 1
        assert point.value == pytest.approx(min(cost(costs, each) for each in every), abs=0.02)
    assert found


@pytest.mark.parametrize("seed", range(4))
def test_the_least_is_met_and_nothing_below_it(seed: int) -> None:
    source = random.Random(seed)
    block = domain(source)
    every, least = solutions(block), BlockSearch(block)
    for _ in range(20):
        costs = {variable: source.randint(-9, 9) for variable in range(7)}
        best = min(cost(costs, each) for each in every)
        assert least.bound_below(costs, best, 1000) == (True, None)
        proved, solution = least.bound_below(costs, best + 1, 1000)
        assert not proved and solution in every and cost(costs, solution) == best


def test_what_is_not_decided_in_so_many_relaxations_is_not_proved() -> None:
    block = domain(random.Random(1))
    costs = {1: -2, 2: -3, 3: 2, 4: 3, 5: 5, 6: 2}
    best = min(cost(costs, each) for each in solutions(block))
    assert BlockSearch(block).bound_below(costs, best, 0) == (False, None)
    assert BlockSearch(block).bound_below(costs, best, 100) == (True, None)


def test_without_any_solution_there_is_no_row() -> None:
    block = RackBlock((0, 1), (LinearRow(1, 1, (0, 1), (2, 2)),), ((0, 1), (0, 1)))
    assert Facets(block).row([0.25, 0.25]) is None


def many_domains(seed: int, count: int) -> LinearModel:
    """So many domains, a row over all of them that asks for pieces, and an amount that all share."""
    source = random.Random(seed)
    boxes: list[tuple[int, int]] = [(3, 5)]
    rows, costs = list[LinearRow](), dict[int, int]()
    for _ in range(count):
        first, its = len(boxes), domain(source)
        boxes += its.boxes
        rows += [LinearRow(row.low, row.high, tuple(first + variable for variable in row.variables), row.coefficients) for row in its.rows]
        rows.append(LinearRow(None, 0, (first + 2, 0), (1, -1)))  # no more of the last piece than the amount
        costs.update({first + 3: 5, first + 4: 2, first + 5: 3, first + 6: 2})
    for piece, share in enumerate((0.4, 0.8, 1.5)):
        rows.append(LinearRow(int(share * count), None, tuple(range(1 + piece, len(boxes), 7)), (1,) * count))
    return LinearModel(boxes, costs, 0, rows)


def test_blocks_are_what_few_rows_join_and_hold_whatever_is_shared() -> None:
    first, *others = blocks(many_domains(1, 80), apart(80))
    assert first.variables == tuple(range(8))  # what is shared must be somewhere
    assert [block.variables for block in others] == [tuple(range(1 + 7 * number, 8 + 7 * number)) for number in range(1, 80)]
    assert all(LinearRow(None, 5, (2,), (1,)) in block.rows for block in others)


def apart(count: int) -> list[range]:
    """The indicators of each piece: one for each domain."""
    return [range(1 + indicator, 1 + 7 * count, 7) for indicator in (3, 4, 5)]


def test_few_domains_are_blocks_too() -> None:
    assert [len(block.variables) for block in blocks(many_domains(1, 3), apart(3))] == [8, 7, 7]


def test_where_nothing_is_known_to_be_apart_there_are_no_blocks() -> None:
    assert blocks(many_domains(1, 8), ()) == []


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(examples(1)))
def test_the_bound_of_the_whole_grows_by_what_is_found_in_the_blocks_and_not_beyond_the_optimum(seed: int) -> None:
    linear = many_domains(seed, 80)
    tightening, relaxation = Tightening(linear, apart(80)), LinearRelaxation(linear)
    plain = relaxation.solve({})
    tree = Tree(relaxation, (dict.fromkeys(linear.costs, 1),), tightening.rows)
    assert plain is not None and tree.root is not None and tree.root.value > plain.value + 1
    assert len(relaxation.linear.rows) > len(linear.rows) and tightening.nodes
    assert tree.bound is not None and tree.bound <= best(linear)


def best(linear: LinearModel) -> int:
    """What the solver finds soon: the optimum or more."""
    from ortools.sat.python import cp_model

    model = cp_model.CpModel()
    variables = [model.new_int_var(low, high, "") for low, high in linear.boxes]
    for row in linear.rows:
        its = sum(coefficient * variables[variable] for variable, coefficient in zip(row.variables, row.coefficients))
        model.add_linear_constraint(its, -(1 << 40) if row.low is None else row.low, 1 << 40 if row.high is None else row.high)
    model.minimize(sum(value * variables[variable] for variable, value in linear.costs.items()))
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.max_deterministic_time = 1.0
    solver.solve(model)
    return round(solver.objective_value)
