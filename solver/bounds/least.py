"""The least of a sum over a block: a solution that has less than is asked for, or the proof that there is none."""

from __future__ import annotations

from math import floor
from typing import Mapping

from .blocks import Block
from .emptiness import Emptiness
from .exact import proved_bound
from .glop import Box, Point, Relaxation
from .linear_rows import LinearModel, Row

Solution = tuple[int, ...]
Boxes = Mapping[int, Box]
WHOLE = 1e-6


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
