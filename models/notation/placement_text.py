"""The placement of one component, `0-1:0-3,3-5,7-10:7-14`, as pairs of resource ranks and process ranks.

Source of the rules: RLinf, rlinf/scheduler/placement/placement.py, ComponentPlacement.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass

from ..ranks import CODES_BY_REASON, RankError, Ranks, Segment, parse_ranks, parse_segments


@dataclass(frozen=True, slots=True)
class Numbered:
    """What a placement numbers: `size` resources (None: not known), each a `what`, in `where`; `shape` spells the size.

    `excess`: how many ranks more RLinf takes `all` for, where it counts accelerators but places on nodes.
    """

    size: int | None
    what: str
    where: str
    shape: str
    excess: int = 0

    def plural(self, count: int) -> str:
        """`1 node`, `8 accelerators`."""
        return f"{count} {self.what}{'s' * (count != 1)}"


@dataclass(frozen=True, slots=True)
class Pair:
    """Resources `start` to `stop` (exclusive) that `processes` processes share or divide."""

    start: int
    stop: int
    processes: int

    @property
    def resources(self) -> int:
        """How many resources they are."""
        return self.stop - self.start


@dataclass(frozen=True, slots=True)
class Fault:
    """Something wrong at the characters `start` to `end` of the text."""

    code: str
    message: str
    start: int
    end: int
    label: str


@dataclass
class PlacementText:
    """The pairs of a placement, and everything that is wrong with it. `open`: some resources are `all` of an unknown number."""

    pairs: list[Pair]
    faults: list[Fault]
    open: bool = False

    @property
    def resources(self) -> int:
        """How many resources are named."""
        return sum(pair.resources for pair in self.pairs)

    @property
    def processes(self) -> int:
        """How many processes are placed."""
        return sum(pair.processes for pair in self.pairs)


def read_placement(text: str, numbered: Numbered) -> PlacementText:
    """What the text says; all its faults at once."""
    return _Reader(text, numbered).read()


class _Reader:
    def __init__(self, text: str, numbered: Numbered) -> None:
        self.text, self.numbered = text, numbered
        self.found = PlacementText([], [])
        self.held: list[tuple[int, int]] = []  # ascending and disjoint
        self.last = (0, 0)
        self.following: int | None = 0
        self.first = True

    def read(self) -> PlacementText:
        position = 0
        for piece in self.text.split(","):
            if piece.strip():
                self._piece(piece, position)
            position += len(piece) + 1
        if self.first:
            self._fault("PW112", "the placement names nothing", 0, len(self.text), "empty")
        return self.found

    def _fault(self, code: str, message: str, start: int, end: int, label: str) -> None:
        self.found.faults.append(Fault(code, message, start, end, label))

    def _piece(self, piece: str, position: int) -> None:
        left, colon, right = piece.partition(":")
        try:
            if self.numbered.size is None and left.strip().lower() == "all":
                self.found.open = True
                if colon:
                    parse_ranks(right, None, "process", len(left) + 1)
                self.following = None
            elif self.numbered.excess and left.strip().lower() == "all":
                size = (self.numbered.size or 0) + self.numbered.excess
                message = f"RLinf takes `all` for {size} ranks, but there are {self.numbered.plural(size - self.numbered.excess)}: IndexError at launch"
                self._fault("PW102", message, position, position + len(left), "more than there are")
            else:
                self._segment(parse_segments(piece, self.numbered.size, self.numbered.what)[0], position)
        except RankError as problem:
            self._rank_error(problem, position)
            self.following = None
        self.first = False

    def _rank_error(self, problem: RankError, position: int) -> None:
        start, end = problem.start + position, problem.end + position
        message, label = str(problem), problem.label
        if problem.reason == "range":
            message = f"`{self.text[start:end]}` is outside {self.numbered.where}: {self.numbered.shape}"
        elif problem.reason == "empty" and not label:
            label = "names nothing"
        self._fault(CODES_BY_REASON[problem.reason], message, start, end, label)

    def _segment(self, segment: Segment, position: int) -> None:
        start, stop = segment.resources.first, segment.resources.last + 1
        left, right = segment.resources.start + position, segment.resources.end + position
        twice = self._held(start, stop)
        if twice is not None:
            self._fault("PW108", f"{self.numbered.what} {twice} is named twice in one placement", left, right, "again here")
        elif start < self.last[0]:
            message = f"{self.numbered.what} {start} comes after {self.last[1] - 1}, but ranks must ascend"
            self._fault("PW109", message, left, right, "goes back")
        self.last = (start, stop)
        count = self._processes(segment.processes, stop - start, position)
        if count % (stop - start) and (stop - start) % count:
            resources, processes = self.numbered.plural(stop - start), f"{count} process{'es' * (count != 1)}"
            message = f"{processes} cannot be divided evenly over {resources}, nor these over them"
            self._fault("PW111", message, segment.start + position, segment.end + position, f"{count} over {stop - start}")
        self.found.pairs.append(Pair(start, stop, count))

    def _held(self, start: int, stop: int) -> int | None:
        """The first of these resources that was named before; if none was, they are noted."""
        position = bisect_left(self.held, (start, start))
        for first, end in self.held[max(position - 1, 0) : position + 1]:
            if start < end and first < stop:
                return max(start, first)
        self.held.insert(position, (start, stop))
        return None

    def _processes(self, ranks: Ranks | None, resources: int, position: int) -> int:
        """How many processes there are; RLinf numbers those that are not written from the last one on."""
        if ranks is None:
            self.following = None if self.following is None else self.following + resources
            return resources
        if not self.first and self.following is not None and ranks.first != self.following:
            message = f"process ranks go on at {ranks.first}, but {self.following} comes next"
            self._fault("PW110", message, ranks.start + position, ranks.end + position, f"{self.following} comes next")
        self.following = ranks.last + 1
        return len(ranks)
