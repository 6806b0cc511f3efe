"""Blocks of a linear model: the decisions of one domain, with minimum sums and facets.

The rows that make the relaxation of a domain as tight as its integer solutions allow depend on the
domain's capacity and on the objective terms, so they are separated at run time. A candidate row
separates the point from the known solutions. Then either the row is proved valid for all solutions
of the block, or a new solution is met and the separation is repeated.
"""

from __future__ import annotations

from collections import Counter
from math import floor
from typing import Iterator, Mapping, Sequence

from ortools.linear_solver import pywraplp

from ...models.record import dataclass
from .relaxation import PARAMETERS, Box, Emptiness, LinearModel, LinearRelaxation, LinearRow, Point, proved_bound

MOST = 40
"""Largest number of variables of a block; a larger hull is too expensive."""


Solution = tuple[int, ...]
Boxes = Mapping[int, Box]
WHOLE = 1e-6
SIGNS = (1, -1)
STEEPEST = 1000.0
"""Largest coefficient of a row, for variables scaled to 0..1."""
STEEP = 1e-4
"""Penalty on coefficients in the separation problem.

If all solutions lie in a plane, many rows are equivalent; the penalty prefers small coefficients.
"""
CALLS, NODES, ALL_NODES = 60, 2000, 1600
"""Limits of separations per row, of relaxations per separation, and of relaxations per row."""
SCALE = 1 << 16
"""Denominator of coefficients without a simpler common multiple."""
DIVISORS = range(1, 13)
"""Candidate denominators: most coefficients are multiples of smallest coefficient / divisor."""
NONE = 1e-7
"""Threshold below which a coefficient counts as 0."""
NEAR = 1e-3
"""Smallest useful violation of a row, relative to its largest coefficient.

A smaller violation may be a rounding error.
"""


@dataclass(frozen=True)
class RackBlock:
    """Variables of a model and the rows over these variables alone.

    Attributes
    ----------
    variables : indices in the model, in the order of the block.
    rows, boxes : constraints over positions in the block. Every solution of the model satisfies
        them.
    """

    variables: tuple[int, ...]
    rows: tuple[LinearRow, ...]
    boxes: tuple[tuple[int, int], ...]


def blocks(linear: LinearModel, indicator_sets: Sequence[Sequence[int]]) -> list[RackBlock]:
    """Return the blocks of at most `MOST` variables, ordered by first variable.

    Parameters
    ----------
    indicator_sets : sets of variables that must be in different blocks: the indicators of one count, one
        for each domain.
    """
    partition = _DisjointSets(len(linear.boxes), indicator_sets)
    indicators = {variable for group in indicator_sets for variable in group}
    order = sorted(
        range(len(linear.rows)), key=lambda row: (indicators.isdisjoint(linear.rows[row].variables), len(linear.rows[row].variables))
    )
    for number in order:  # first the rows with an indicator: they decide domains
        partition.join(linear.rows[number].variables)
    members: dict[int, list[int]] = {}
    for variable in range(len(linear.boxes)):
        members.setdefault(partition.first(variable), []).append(variable)
    inner_rows: dict[int, list[LinearRow]] = {}
    for row in linear.rows:
        firsts = [partition.first(variable) for variable in row.variables]
        for first, count in Counter(firsts).items():
            if count < len(firsts) - 1:
                continue
            inner = _restrict_row(row, [root == first for root in firsts], linear.boxes)
            if inner is not None:
                inner_rows.setdefault(first, []).append(inner)
    return [
        _block(linear, variables, inner_rows.get(first, ()))
        for first, variables in members.items()
        if len(variables) <= MOST and not indicators.isdisjoint(variables)
    ]


class _DisjointSets:
    """Disjoint sets of variables joined by rows; no set contains two variables that are apart."""

    def __init__(self, count: int, indicator_sets: Sequence[Sequence[int]]) -> None:
        self._parent = list(range(count))
        self._counts: dict[int, set[int]] = {}
        for number, group in enumerate(indicator_sets):
            for variable in group:
                self._counts.setdefault(variable, set()).add(number)

    def first(self, variable: int) -> int:
        """Return the representative of the set of `variable`."""
        parent = self._parent
        while parent[variable] != variable:
            parent[variable] = parent[parent[variable]]
            variable = parent[variable]
        return variable

    def join(self, variables: Sequence[int]) -> None:
        """Merge the sets of all variables, unless two of them are apart."""
        firsts = sorted(set(map(self.first, variables)))
        counts = [self._counts[first] for first in firsts if first in self._counts]
        if sum(map(len, counts)) > len(set[int]().union(*counts)):
            return
        for first in firsts[1:]:
            self._parent[first] = firsts[0]
        if counts:
            self._counts[firsts[0]] = set[int]().union(*counts)


def _restrict_row(row: LinearRow, membership: Sequence[bool], boxes: Sequence[tuple[int, int]]) -> LinearRow | None:
    """Return the row restricted to the inside variables, relaxed by one outside variable.

    None if two or more variables are outside, or none is inside.
    """
    if membership.count(False) > 1 or not any(membership):
        return None
    low, high, variables, coefficients = row.low, row.high, [], []
    for variable, coefficient, is_inside in zip(row.variables, row.coefficients, membership):
        if is_inside:
            variables.append(variable)
            coefficients.append(coefficient)
        else:
            lower, upper = sorted(coefficient * end for end in boxes[variable])
            low, high = None if low is None else low - upper, None if high is None else high - lower
    return LinearRow(low, high, tuple(variables), tuple(coefficients))


def _block(linear: LinearModel, variables: Sequence[int], rows: Sequence[LinearRow]) -> RackBlock:
    place = {variable: position for position, variable in enumerate(variables)}
    own_rows = (LinearRow(row.low, row.high, tuple(place[variable] for variable in row.variables), row.coefficients) for row in rows)
    return RackBlock(tuple(variables), tuple(own_rows), tuple(linear.boxes[variable] for variable in variables))


def free(block: RackBlock) -> Iterator[int]:
    """Yield the variables of a block that are neither fixed nor determined by an equation."""
    follow: set[int] = set()
    for row in block.rows:
        if row.low is not None and row.low == row.high:
            follow.update([variable for variable in row.variables if variable not in follow][-1:])
    yield from (variable for variable, (low, high) in enumerate(block.boxes) if low < high and variable not in follow)


class BlockSearch:
    """Depth-first branch and bound over one block: indicators first, the better half first.

    Attributes
    ----------
    nodes : relaxations solved; deterministic.
    """

    def __init__(self, block: RackBlock) -> None:
        self._relaxation = LinearRelaxation(LinearModel(block.boxes, {}, 0, block.rows))
        self._emptiness: Emptiness | None = None
        self._order = sorted(range(len(block.boxes)), key=lambda variable: block.boxes[variable][1] - block.boxes[variable][0] > 1)
        self.nodes = 0

    def add(self, row: LinearRow) -> None:
        """Add a row that is known to hold for every solution."""
        self._relaxation.add([row])
        self._emptiness = None

    def bound_below(self, costs: Mapping[int, int], upper: int | None, nodes: int) -> tuple[bool, Solution | None]:
        """Return (True if `upper` is a proved lower bound, a solution below `upper` or None).

        Parameters
        ----------
        upper : None accepts any solution, preferably with a small sum.
        nodes : limit of relaxations.
        """
        self._relaxation.aim(costs)
        until, stack = self.nodes + nodes, list[tuple[Boxes, Point]]()
        if not self._put(stack, [{}], upper):
            return False, None
        while stack and self.nodes < until:
            boxes, point = stack.pop()
            variable = self._fractional(point, costs)
            candidate = point if variable is None else self._round_up(boxes, point)
            if candidate is not None:
                solution = tuple(round(value) for value in candidate.values)
                if upper is None or sum(cost * solution[index] for index, cost in costs.items()) < upper:
                    return False, solution
            if variable is None:
                return False, None
            low, high = boxes.get(variable) or self._relaxation.linear.boxes[variable]
            middle = floor(point.values[variable])
            halves = [{**boxes, variable: box} for box in ((low, middle), (middle + 1, high)) if box[0] <= box[1]]
            if not self._put(stack, halves, upper):
                return False, None
        return not stack, None

    def _put(self, stack: list[tuple[Boxes, Point]], branches: list[dict[int, Box]], upper: int | None) -> bool:
        """Solve the branches and push the nonempty ones, the best on top.

        False if a branch is neither solved nor proved empty.
        """
        children = []
        for boxes in branches:
            point = self._relaxation.solve(boxes)
            self.nodes += 1
            if point is None:
                if not self._is_empty(boxes):
                    return False
                continue
            if upper is None or proved_bound(self._relaxation.linear, boxes, point.duals) < upper:
                children.append((boxes, point))
        stack += sorted(children, key=lambda child: -child[1].value)
        return True

    def _round_up(self, boxes: Boxes, point: Point) -> Point | None:
        """Return the optimum with all nonzero indicators at 1, if it is integral.

        An indicator usually exists to permit something, so rounding up tends to stay feasible.
        """
        up = {}
        for variable in self._order:
            low, high = boxes.get(variable) or self._relaxation.linear.boxes[variable]
            if (low, high) == (0, 1):
                up[variable] = (0, 0) if point.values[variable] < WHOLE else (1, 1)
        optimum = self._relaxation.solve({**boxes, **up})
        self.nodes += 1
        return optimum if optimum is not None and all(abs(value - round(value)) < WHOLE for value in optimum.values) else None

    def _is_empty(self, boxes: Boxes) -> bool:
        if self._emptiness is None:
            self._emptiness = Emptiness(self._relaxation.linear, self._order)
        self.nodes += 1
        return self._emptiness.is_proved(boxes)

    def _fractional(self, point: Point, costs: Mapping[int, int]) -> int | None:
        """Return the fractional indicator of largest weighted distance, else another variable."""
        best, fractional = 0.0, None
        for variable in self._order:
            low, high = self._relaxation.linear.boxes[variable]
            if fractional is not None and high - low > 1:
                break
            value = point.values[variable]
            away = abs(value - round(value)) * (1 + abs(costs.get(variable, 0)))
            if abs(value - round(value)) > WHOLE and away > best:
                best, fractional = away, variable
        return fractional


class Facets:
    """Known integer solutions of a block, and its valid rows."""

    def __init__(self, block: RackBlock) -> None:
        self.block = block
        self._free = list(free(block))
        self._width = {variable: block.boxes[variable][1] - block.boxes[variable][0] for variable in self._free}
        self._least = BlockSearch(block)
        self._known: dict[Solution, None] = {}
        for variable in self._free:
            for sign in SIGNS:
                solution = self._least.bound_below({variable: sign}, None, NODES)[1] if self.nodes < ALL_NODES else None
                if solution is not None:
                    self._known[solution] = None
        self._middle = {variable: sum(solution[variable] for solution in self._known) / max(1, len(self._known)) for variable in self._free}
        self._parting = pywraplp.Solver.CreateSolver("GLOP")
        self._parting.SetSolverSpecificParametersAsString(PARAMETERS)
        self._coefficients = {variable: [self._parting.NumVar(0.0, STEEPEST, "") for _ in SIGNS] for variable in self._free}
        for solution in self._known:
            self._keep(solution)

    @property
    def nodes(self) -> int:
        """Relaxations of the block solved so far; deterministic."""
        return self._least.nodes

    def row(self, values: Sequence[float]) -> LinearRow | None:
        """Return a valid integer row violated by the point, or None.

        The row is proved valid for the block, whatever the point is.
        """
        separating = self._separate(values) if self._known else None
        if separating is None:
            return None
        integral = _simple(separating)
        lower_bound = min(_cost(integral, solution) for solution in self._known)
        violation = lower_bound - sum(coefficient * values[variable] for variable, coefficient in integral.items())
        if violation <= NEAR * max(map(abs, integral.values())) or not self._least.bound_below(integral, lower_bound, NODES)[0]:
            return None
        row = LinearRow(lower_bound, None, tuple(integral), tuple(integral.values()))
        self._least.add(row)
        return row

    def _keep(self, solution: Solution) -> None:
        """Require that the separating row holds for the solution."""
        constraint = self._parting.Constraint(-self._parting.infinity(), 1.0)
        for variable, both in self._coefficients.items():
            for sign, coefficient in zip(SIGNS, both):
                constraint.SetCoefficient(coefficient, sign * (solution[variable] - self._middle[variable]) / self._width[variable])

    def _separate(self, values: Sequence[float]) -> dict[int, float] | None:
        """Return coefficients of a row that separates the point from all solutions; else None."""
        objective = self._parting.Objective()
        away = {variable: (values[variable] - self._middle[variable]) / self._width[variable] for variable in self._free}
        for variable, both in self._coefficients.items():
            for sign, coefficient in zip(SIGNS, both):
                objective.SetCoefficient(coefficient, sign * away[variable] - STEEP)
        objective.SetMaximization()
        until = self.nodes + ALL_NODES
        for _ in range(CALLS):
            if self.nodes > until or self._parting.Solve() != pywraplp.Solver.OPTIMAL:
                return None
            steep = {variable: more.solution_value() - less.solution_value() for variable, (more, less) in self._coefficients.items()}
            if sum(coefficient * away[variable] for variable, coefficient in steep.items()) <= 1 + NEAR:
                return None
            separating = {variable: -coefficient / self._width[variable] for variable, coefficient in steep.items()}
            costs = {variable: round(SCALE * value) for variable, value in separating.items()}
            minimum = min(_cost(costs, solution) for solution in self._known)
            is_proved, solution = self._least.bound_below(costs, minimum - round(NEAR * SCALE), NODES)
            if is_proved:
                return separating
            if solution is None or solution in self._known:
                return None
            self._known[solution] = None
            self._keep(solution)
        return None


def _cost(coefficients: Mapping[int, int], solution: Solution) -> int:
    return sum(coefficient * solution[variable] for variable, coefficient in coefficients.items())


def _simple(coefficients: Mapping[int, float]) -> dict[int, int]:
    """Return the coefficients scaled to the smallest possible integers."""
    nonzero = {variable: value for variable, value in coefficients.items() if abs(value) > NONE}
    smallest = min(map(abs, nonzero.values()), default=1.0)
    for divisor in DIVISORS:
        exact = {variable: value * divisor / smallest for variable, value in nonzero.items()}
        if all(abs(value - round(value)) < NEAR for value in exact.values()):
            return {variable: round(value) for variable, value in exact.items()}
    return {variable: round(value * SCALE) for variable, value in nonzero.items() if round(value * SCALE)}
