"""Blocks of a linear model: what is decided in one domain, its least sums and its facets.

Which rows make the relaxation of a domain as tight as its whole-numbered solutions allow depends on its room and on the terms of the
objective; they are found instead of written down. A row is what parts the point from the solutions that are known. Then it is proved
that no solution of the block is beyond it, or another solution is met, to be parted from too.
"""

from __future__ import annotations

from collections import Counter
from math import floor
from typing import Iterator, Mapping, Sequence

from ortools.linear_solver import pywraplp

from ...models.record import dataclass
from .relaxation import PARAMETERS, Box, Emptiness, LinearModel, Point, Relaxation, Row, proved_bound

MOST = 40
"""Of more variables together the hull is too much to describe."""


Solution = tuple[int, ...]
Boxes = Mapping[int, Box]
WHOLE = 1e-6
SIGNS = (1, -1)
STEEPEST = 1000.0
"""No coefficient of a row is larger, in variables from 0 to 1."""
STEEP = 1e-4
"""What coefficients cost. Where all solutions lie in a plane many rows say the same, and the one with small coefficients is wanted."""
CALLS, NODES, ALL_NODES = 60, 2000, 1600
"""So many solutions are looked for at most for one row, and so many relaxations solved for each, and for all."""
SCALE = 1 << 16
"""Coefficients are multiples of 1 / SCALE, if not of something simpler."""
DIVISORS = range(1, 13)
"""Of the smallest coefficient: all others are mostly multiples of one of these parts."""
NONE = 1e-7
"""A coefficient that is 0."""
NEAR = 1e-3
"""What is not more than that, of the largest coefficient, may be rounding: a row that a point misses by less is not worth having."""


@dataclass(frozen=True)
class Block:
    """Variables of a model, and the rows over these alone.

    Attributes
    ----------
    variables : their numbers in the model, in the order of the block.
    rows, boxes : what holds for them, with their places in the block as numbers. Every solution of the model satisfies it.
    """

    variables: tuple[int, ...]
    rows: tuple[Row, ...]
    boxes: tuple[tuple[int, int], ...]


def blocks(linear: LinearModel, apart: Sequence[Sequence[int]]) -> list[Block]:
    """The blocks of a model that are not too large, in the order of their first variables.

    Parameters
    ----------
    apart : variables that are in different blocks: of each count its indicators, one for each domain.
    """
    joined = _Joined(len(linear.boxes), apart)
    indicators = {variable for its in apart for variable in its}
    order = sorted(
        range(len(linear.rows)), key=lambda row: (indicators.isdisjoint(linear.rows[row].variables), len(linear.rows[row].variables))
    )
    for number in order:  # what has an indicator belongs to its domain, before anything else is said of it
        joined.join(linear.rows[number].variables)
    found: dict[int, list[int]] = {}
    for variable in range(len(linear.boxes)):
        found.setdefault(joined.first(variable), []).append(variable)
    held: dict[int, list[Row]] = {}
    for row in linear.rows:
        firsts = [joined.first(variable) for variable in row.variables]
        for first, count in Counter(firsts).items():
            if count < len(firsts) - 1:
                continue
            its = _inside(row, [each == first for each in firsts], linear.boxes)
            if its is not None:
                held.setdefault(first, []).append(its)
    return [_block(linear, its, held.get(first, ())) for first, its in found.items() if len(its) <= MOST and not indicators.isdisjoint(its)]


class _Joined:
    """Sets of variables that rows join, none with two that are apart."""

    def __init__(self, count: int, apart: Sequence[Sequence[int]]) -> None:
        self._parent = list(range(count))
        self._counts: dict[int, set[int]] = {}
        for number, its in enumerate(apart):
            for variable in its:
                self._counts.setdefault(variable, set()).add(number)

    def first(self, variable: int) -> int:
        """The first variable of its set."""
        parent = self._parent
        while parent[variable] != variable:
            parent[variable] = parent[parent[variable]]
            variable = parent[variable]
        return variable

    def join(self, variables: Sequence[int]) -> None:
        """All of them are in one set, unless some are apart."""
        firsts = sorted(set(map(self.first, variables)))
        counts = [self._counts[first] for first in firsts if first in self._counts]
        if sum(map(len, counts)) > len(set[int]().union(*counts)):
            return
        for first in firsts[1:]:
            self._parent[first] = firsts[0]
        if counts:
            self._counts[firsts[0]] = set[int]().union(*counts)


def _inside(row: Row, inside: Sequence[bool], boxes: Sequence[tuple[int, int]]) -> Row | None:
    """The row as it holds whatever one variable is that is not inside; None if more are not, or only that one is."""
    if inside.count(False) > 1 or not any(inside):
        return None
    low, high, variables, coefficients = row.low, row.high, [], []
    for variable, coefficient, its in zip(row.variables, row.coefficients, inside):
        if its:
            variables.append(variable)
            coefficients.append(coefficient)
        else:
            least, most = sorted(coefficient * end for end in boxes[variable])
            low, high = None if low is None else low - most, None if high is None else high - least
    return Row(low, high, tuple(variables), tuple(coefficients))


def _block(linear: LinearModel, variables: Sequence[int], rows: Sequence[Row]) -> Block:
    place = {variable: position for position, variable in enumerate(variables)}
    its = (Row(row.low, row.high, tuple(place[variable] for variable in row.variables), row.coefficients) for row in rows)
    return Block(tuple(variables), tuple(its), tuple(linear.boxes[variable] for variable in variables))


def free(block: Block) -> Iterator[int]:
    """The variables of a block that are not fixed, and do not follow from others by an equation."""
    follow: set[int] = set()
    for row in block.rows:
        if row.low is not None and row.low == row.high:
            follow.update([variable for variable in row.variables if variable not in follow][-1:])
    yield from (each for each, (low, high) in enumerate(block.boxes) if low < high and each not in follow)


class Least:
    """Depth first branch and bound over one block, the indicators first, the better half of each part first.

    Attributes
    ----------
    nodes, work : how many relaxations were solved, and with how many steps: both the same every time.
    """

    def __init__(self, block: Block) -> None:
        self._relaxation = Relaxation(LinearModel(block.boxes, {}, 0, block.rows))
        self._emptiness: Emptiness | None = None
        self._order = sorted(range(len(block.boxes)), key=lambda each: block.boxes[each][1] - block.boxes[each][0] > 1)
        self.nodes, self.work = 0, 0

    def add(self, row: Row) -> None:
        """Every solution is known to satisfy this row."""
        self._relaxation.add([row])
        self._emptiness = None

    def below(self, costs: Mapping[int, int], upper: int | None, nodes: int) -> tuple[bool, Solution | None]:
        """(whether it is proved that no solution has less than `upper`, else one that has less, if one was found).

        Parameters
        ----------
        upper : None asks for any solution where there is little of the sum.
        nodes : so many relaxations at most.
        """
        self._relaxation.aim(costs)
        until, stack = self.nodes + nodes, list[tuple[Boxes, Point]]()
        if not self._put(stack, [{}], upper):
            return False, None
        while stack and self.nodes < until:
            boxes, point = stack.pop()
            variable = self._fractional(point, costs)
            likely = point if variable is None else self._rounded_up(boxes, point)
            if likely is not None:
                solution = tuple(round(value) for value in likely.values)
                if upper is None or sum(cost * solution[each] for each, cost in costs.items()) < upper:
                    return False, solution
            if variable is None:
                return False, None
            low, high = boxes.get(variable) or self._relaxation.linear.boxes[variable]
            middle = floor(point.values[variable])
            halves = [{**boxes, variable: box} for box in ((low, middle), (middle + 1, high)) if box[0] <= box[1]]
            if not self._put(stack, halves, upper):
                return False, None
        return not stack, None

    def _put(self, stack: list[tuple[Boxes, Point]], parts: list[dict[int, Box]], upper: int | None) -> bool:
        """Solve parts and keep those that may hold something, the best on top. False where one is neither solved nor proved empty."""
        kept = []
        for boxes in parts:
            point = self._relaxation.solve(boxes)
            self.nodes += 1
            if point is None:
                if not self._is_empty(boxes):
                    return False
                continue
            self.work += self._relaxation.iterations
            if upper is None or proved_bound(self._relaxation.linear, boxes, point.duals) < upper:
                kept.append((boxes, point))
        stack += sorted(kept, key=lambda part: -part[1].value)
        return True

    def _rounded_up(self, boxes: Boxes, point: Point) -> Point | None:
        """The best with all indicators that are not 0 at 1, if it is whole: an indicator is mostly there to let something be."""
        up = {}
        for variable in self._order:
            low, high = boxes.get(variable) or self._relaxation.linear.boxes[variable]
            if (low, high) == (0, 1):
                up[variable] = (0, 0) if point.values[variable] < WHOLE else (1, 1)
        likely = self._relaxation.solve({**boxes, **up})
        self.nodes += 1
        return likely if likely is not None and all(abs(value - round(value)) < WHOLE for value in likely.values) else None

    def _is_empty(self, boxes: Boxes) -> bool:
        if self._emptiness is None:
            self._emptiness = Emptiness(self._relaxation.linear, self._order)
        self.nodes += 1
        return self._emptiness.is_proved(boxes)

    def _fractional(self, point: Point, costs: Mapping[int, int]) -> int | None:
        """The indicator that is least whole, for what it costs; else any other variable that is not whole."""
        best, found = 0.0, None
        for variable in self._order:
            low, high = self._relaxation.linear.boxes[variable]
            if found is not None and high - low > 1:
                break
            value = point.values[variable]
            away = abs(value - round(value)) * (1 + abs(costs.get(variable, 0)))
            if abs(value - round(value)) > WHOLE and away > best:
                best, found = away, variable
        return found


class Facets:
    """The whole-numbered solutions of a block, as far as they were met, and rows that all of them satisfy."""

    def __init__(self, block: Block) -> None:
        self.block = block
        self._free = list(free(block))
        self._width = {each: block.boxes[each][1] - block.boxes[each][0] for each in self._free}
        self._least = Least(block)
        self._known: dict[Solution, None] = {}
        for each in self._free:
            for sign in SIGNS:
                solution = self._least.below({each: sign}, None, NODES)[1] if self.nodes < ALL_NODES else None
                if solution is not None:
                    self._known[solution] = None
        self._middle = {each: sum(its[each] for its in self._known) / max(1, len(self._known)) for each in self._free}
        self._parting = pywraplp.Solver.CreateSolver("GLOP")
        self._parting.SetSolverSpecificParametersAsString(PARAMETERS)
        self._coefficients = {each: [self._parting.NumVar(0.0, STEEPEST, "") for _ in SIGNS] for each in self._free}
        for solution in self._known:
            self._keep(solution)

    @property
    def nodes(self) -> int:
        """Relaxations of the block that were solved so far; the same every time."""
        return self._least.nodes

    def row(self, values: Sequence[float]) -> Row | None:
        """A row in whole numbers that a point of the block misses; None if none is found. Proved, whatever the point is."""
        found = self._parted(values) if self._known else None
        if found is None:
            return None
        its = _simple(found)
        least = min(_cost(its, each) for each in self._known)
        missed = least - sum(coefficient * values[each] for each, coefficient in its.items())
        if missed <= NEAR * max(map(abs, its.values())) or not self._least.below(its, least, NODES)[0]:
            return None
        row = Row(least, None, tuple(its), tuple(its.values()))
        self._least.add(row)
        return row

    def _keep(self, solution: Solution) -> None:
        """The row that is looked for holds for the solution."""
        kept = self._parting.Constraint(-self._parting.infinity(), 1.0)
        for each, both in self._coefficients.items():
            for sign, coefficient in zip(SIGNS, both):
                kept.SetCoefficient(coefficient, sign * (solution[each] - self._middle[each]) / self._width[each])

    def _parted(self, values: Sequence[float]) -> dict[int, float] | None:
        """Coefficients with which the sum is less for the point than for any solution; None if none are found."""
        objective = self._parting.Objective()
        away = {each: (values[each] - self._middle[each]) / self._width[each] for each in self._free}
        for each, both in self._coefficients.items():
            for sign, coefficient in zip(SIGNS, both):
                objective.SetCoefficient(coefficient, sign * away[each] - STEEP)
        objective.SetMaximization()
        until = self.nodes + ALL_NODES
        for _ in range(CALLS):
            if self.nodes > until or self._parting.Solve() != pywraplp.Solver.OPTIMAL:
                return None
            steep = {each: more.solution_value() - less.solution_value() for each, (more, less) in self._coefficients.items()}
            if sum(coefficient * away[each] for each, coefficient in steep.items()) <= 1 + NEAR:
                return None
            found = {each: -coefficient / self._width[each] for each, coefficient in steep.items()}
            costs = {each: round(SCALE * value) for each, value in found.items()}
            known = min(_cost(costs, solution) for solution in self._known)
            proved, solution = self._least.below(costs, known - round(NEAR * SCALE), NODES)
            if proved:
                return found
            if solution is None or solution in self._known:
                return None
            self._known[solution] = None
            self._keep(solution)
        return None


def _cost(coefficients: Mapping[int, int], solution: Solution) -> int:
    return sum(coefficient * solution[each] for each, coefficient in coefficients.items())


def _simple(found: Mapping[int, float]) -> dict[int, int]:
    """The same coefficients in whole numbers that are as small as can be."""
    its = {each: value for each, value in found.items() if abs(value) > NONE}
    smallest = min(map(abs, its.values()), default=1.0)
    for divisor in DIVISORS:
        exact = {each: value * divisor / smallest for each, value in its.items()}
        if all(abs(value - round(value)) < NEAR for value in exact.values()):
            return {each: round(value) for each, value in exact.items()}
    return {each: round(value * SCALE) for each, value in its.items() if round(value * SCALE)}
