"""Who sits where: orders of ranks of several components on the same resources, whose ranks must match resource by resource."""

from __future__ import annotations

from collections import Counter
from dataclasses import field
from typing import Callable, Iterator, Mapping, Sequence

from ....models.record import dataclass

Color = Callable[[int], int]
"""Position in an order of ranks -> a number that another order must show on the same resource."""
Colors = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Line:
    """Components that have one order of ranks.

    Attributes
    ----------
    names : the components.
    order : position in the order of ranks -> resource, where that is decided.
    cuts : where it is not, the borders between which ranks and resources are the same ones, in any order; all of them, ascending.
    colors : number of a demand -> what this line shows for it. Two lines with the same demand must show the same on every resource.
    """

    names: tuple[str, ...]
    order: tuple[int, ...] | None
    cuts: tuple[int, ...]
    colors: dict[int, Color] = field(default_factory=dict)

    def shown(self, position: int) -> Colors:
        """What it shows at a position of its order, by demand."""
        return tuple(color(position) for color in self.colors.values())


def seat_lines(lines: Sequence[Line], count: int) -> dict[tuple[str, ...], tuple[int, ...]] | None:
    """The order of every line over `count` resources, the lowest ranks on the lowest resources as far as that can be; None if there is none."""
    found = {line.names: line.order if line.order is not None else tuple(range(count)) for line in lines}
    open_lines = [line for line in lines if line.colors and line.order is None]
    decided = _decided([line for line in lines if line.colors and line.order is not None], count)
    if decided is None:
        return None
    if not any(line.colors for line in lines):
        return found
    borders = sorted(set.intersection(*(set(line.cuts) for line in open_lines))) if open_lines else []
    held: dict[tuple[str, ...], list[int]] = {line.names: [0] * count for line in open_lines}
    for part in map(range, borders, borders[1:]):
        seats = _Part(open_lines, decided, part).seats()
        if seats is None:
            return None
        for line, positions in zip(open_lines, seats):
            for resource, position in zip(part, positions):
                held[line.names][position] = resource
    found.update({names: tuple(order) for names, order in held.items()})
    return found


def _decided(lines: Sequence[Line], count: int) -> list[dict[int, int]] | None:
    """What lines whose order is decided show on every resource, by demand; None if two show different numbers."""
    shown: list[dict[int, int]] = [{} for _ in range(count)]
    for line in lines:
        for position, resource in enumerate(line.order or ()):
            for demand, color in line.colors.items():
                if shown[resource].setdefault(demand, color(position)) != color(position):
                    return None
    return shown


class _Part:
    """Resources that no open line crosses the border of."""

    def __init__(self, lines: Sequence[Line], decided: Sequence[Mapping[int, int]], part: range) -> None:
        self.lines, self.decided, self.part = lines, decided, part
        self._failed: set[tuple[object, ...]] = set()
        # line -> for each of its pieces: what is shown -> the positions that show it and are not taken, the lowest last
        self._left = [self._pieces(line) for line in lines]
        self._taken: list[list[int]] = [[] for _ in lines]

    def _pieces(self, line: Line) -> list[tuple[range, dict[Colors, list[int]]]]:
        cuts = [cut for cut in line.cuts if self.part.start <= cut <= self.part.stop]
        pieces = []
        for piece in map(range, cuts, cuts[1:]):
            bins: dict[Colors, list[int]] = {}
            for position in reversed(piece):
                bins.setdefault(line.shown(position), []).append(position)
            pieces.append((piece, bins))
        return pieces

    def seats(self) -> list[list[int]] | None:
        """For every line the position of each resource of the part."""
        return self._taken if self._as_many() and self._fill(self.part.start) else None

    def _as_many(self) -> bool:
        """Does every demand find each number as often on one side as on the other? Then little is tried in vain."""
        shown_here = [self.decided[resource] for resource in self.part]
        everywhere = [demand for demand in shown_here[0] if all(demand in its for its in shown_here)]
        counted = {demand: Counter(its[demand] for its in shown_here) for demand in everywhere}
        for line in self.lines:
            for demand, color in line.colors.items():
                shown = Counter(color(position) for position in self.part)
                if counted.setdefault(demand, shown) != shown:
                    return False
        return True

    def _fill(self, resource: int) -> bool:
        """Seat all from this resource on."""
        if resource == self.part.stop:
            return True
        state = (resource, *self._state())
        if state in self._failed:
            return False
        for choice in self._choices(resource, 0, dict(self.decided[resource])):
            self._take(resource, choice)
            if self._fill(resource + 1):
                return True
            self._give_back(resource, choice)
        self._failed.add(state)
        return False

    def _state(self) -> Iterator[object]:
        for pieces in self._left:
            yield tuple(tuple(sorted((colors, len(its)) for colors, its in bins.items())) for _, bins in pieces)

    def _choices(self, resource: int, number: int, shown: dict[int, int]) -> Iterator[list[Colors]]:
        """What each line from this one on may show here, the lowest positions first."""
        if number == len(self.lines):
            yield []
            return
        line, bins = self.lines[number], self._bins(number, resource)
        for colors in sorted((its for its, left in bins.items() if left), key=lambda its: bins[its][-1]):
            mine = dict(zip(line.colors, colors))
            if all(shown.get(demand, color) == color for demand, color in mine.items()):
                yield from ([colors, *rest] for rest in self._choices(resource, number + 1, {**shown, **mine}))

    def _bins(self, number: int, resource: int) -> dict[Colors, list[int]]:
        return next(bins for piece, bins in self._left[number] if resource in piece)

    def _take(self, resource: int, choice: Sequence[Colors]) -> None:
        for number, colors in enumerate(choice):
            self._taken[number].append(self._bins(number, resource)[colors].pop())

    def _give_back(self, resource: int, choice: Sequence[Colors]) -> None:
        for number, colors in enumerate(choice):
            self._bins(number, resource)[colors].append(self._taken[number].pop())
