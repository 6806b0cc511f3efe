"""Groups that are not where they were before: each one loads its weights anew, and its caches are lost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Callable, ClassVar, Iterator

from ....models.placements.assignment import Assignment
from ....models.problem import Problem
from .forced_moves import forced_moves
from .kept_groups import Holdings, kept_in
from .pieces import Members, by_node, movable, piece_size, pieces, survivors

if TYPE_CHECKING:
    from ...layout.bundle import Bundle
    from ...layout.cell import Cell
    from ...layout.layout import Layout
    from ...layout.pool import Pool
    from ...layout.ranges.places import Place
    from ...model.amount import Amount
    from ...model.variables import Variables


class Moves:
    """Groups that could have stayed on their accelerators and did not, beyond those that must end because fewer are asked for.

    A group is what is placed as one piece (see `pieces.py`); components on the same accelerators count once. What lies
    within a component that is itself searched goes with that one and is not counted.
    """

    name: ClassVar[str] = "groups moved"

    def encode(self, problem: Problem, variables: Variables) -> Amount:
        if problem.previous is None:
            return 0
        could = sum(len(survivors(problem, members).at) - _must_end(problem, members) for members in movable(problem))
        kept = [amount for pool, cell, its in holdings(variables.layout) for _, amount in kept_in(variables, pool, cell, its)]
        ranged = [bundle for bundle in variables.layout.ranged if bundle.components in movable(problem)]
        kept += [variables.of_place(bundle, kept_by_place(variables.layout, bundle)) for bundle in ranged]
        return could - variables.total(kept)

    def value(self, problem: Problem, assignment: Assignment) -> int:
        if problem.previous is None:
            return 0
        return sum(self._moved(problem, members, assignment) for members in movable(problem))

    def _moved(self, problem: Problem, members: Members, assignment: Assignment) -> int:
        old, now = survivors(problem, members).at, pieces(problem, members, assignment).at
        return sum(piece not in now for piece in old) - _must_end(problem, members)

    def bound(self, layout: Layout) -> int:
        return 0 if layout.problem.previous is None else forced_moves(layout)

    def most(self, problem: Problem) -> int:
        """All that was there, in the smallest pieces that any choice of degrees could make of it."""
        if problem.previous is None:
            return 0
        previous = problem.previous
        return sum(max(previous.amount(component.name) for component in members) for members in movable(problem))


def _must_end(problem: Problem, members: Members) -> int:
    """How many of the survivors cannot run on, whatever is done: no more groups are asked for."""
    most = min(component.most for component in members) // piece_size(problem, members)
    return max(0, len(survivors(problem, members).at) - most)


def kept_by_place(layout: Layout, bundle: Bundle) -> Callable[[Place], int]:
    """What a contiguous bundle keeps, wherever it is: a piece stays where the range cuts it out again."""
    numbering, unit, starts = layout.numbering(bundle), bundle.unit, set[int]()
    for node, mask in survivors(layout.problem, bundle.components).at:
        first = (mask & -mask).bit_length() - 1
        if node in numbering.first and mask == ((1 << unit) - 1) << first:
            starts.add(numbering.first[node] + first)
    before = [0] * (numbering.size + 1)  # pieces kept by a range that ends here, counted back in steps of its unit
    for rank in range(unit, numbering.size + 1):
        before[rank] = before[rank - unit] + (rank - unit in starts)
    return lambda place: before[place[0] + place[1] * unit] - before[place[0]]


def holdings(layout: Layout) -> Iterator[tuple[Pool, Cell, Holdings]]:
    """Every pool and cell in which counted bundles could keep something, with the pieces."""
    problem = layout.problem
    those = set(map(id, (component for members in movable(problem) for component in members)))
    for pool in layout.pools:
        found: dict[int, Holdings] = {}
        for bundle in pool.counted if pool.host is None else ():
            if id(bundle.components[0]) not in those:
                continue
            for node, its in by_node(survivors(problem, bundle.components)):
                free = [piece for piece in its if not piece[1] & ~pool.free.get(node, 0)]
                if free and node in layout.eligible[bundle]:
                    found.setdefault(layout.cell_of[node].index, {}).setdefault(bundle, {})[node] = free
        for index in sorted(found):
            yield pool, layout.cells[index], found[index]
