"""Placement text, `0-1:0-3,3-5`, read as runs.

R resources and P processes of one pair: with R >= P process i holds resources ``i*R/P`` to
``(i+1)*R/P - 1``, else P/R consecutive processes share each resource. Source: RLinf,
rlinf/scheduler/placement/placement.py, ComponentPlacement.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import Callable, Iterable, Iterator, TypeVar

from ..findings.wording import with_noun
from ..machines.cluster import Cluster
from ..machines.node_group import ACCELERATOR, NODE, Numbering, Stretch
from ..ranks import CODES_BY_REASON, RankError, parse_ranks, parse_segments, write_range
from ..record import dataclass
from .run import Repeat, Run, Runs

P = TypeVar("P")
_PLAIN = re.compile(r"\s*(\d{1,18})(?:-(\d{1,18}))?(?::(\d{1,18})(?:-(\d{1,18}))?)?\s*", re.ASCII)
"""Pattern of usual segments; the slow path reads the rest and finds all faults."""
MAX_FAULTS = 1_000
"""Number of faults after which reading stops."""


def is_counted(cluster: Cluster, labels: tuple[str, ...]) -> bool:
    """Return True if the number of resources of the groups is known."""
    return cluster.counted or all(cluster.groups[label].kind != ACCELERATOR for label in labels)


def number_groups(cluster: Cluster, labels: tuple[str, ...], most: int | None = None) -> NumberedResources:
    """Return the joint numbering of groups, cut at `most`."""
    kind = cluster.kind(labels)
    unit = {ACCELERATOR: "accelerator", NODE: "node"}.get(kind, kind)
    if not is_counted(cluster, labels):
        return NumberedResources(None, unit, labels)
    numbering = cluster.numbering(labels)
    return NumberedResources(numbering.size if most is None else min(numbering.size, most), unit, labels, numbering)


def runs_of(pairs: Iterable[RankRange], cluster: Cluster, labels: tuple[str, ...]) -> Runs:
    """Return the runs of a component over its groups. A process on two nodes has two runs."""
    numbering = cluster.numbering(labels)
    return runs_over(pairs, numbering, {label: NODE if numbering.kind == NODE else cluster.groups[label].kind for label in labels})


def runs_over(pairs: Iterable[RankRange], numbering: Numbering, kinds: dict[str, str]) -> Runs:
    """Return the runs over any numbering; `kinds` maps a label to the kind of resource."""
    repeats: list[Repeat] = []
    rank = 0
    for pair in join(pairs, unite):
        if pair.processes > pair.resources:
            repeats += _repeat_shared(pair, rank, numbering, kinds)
        else:
            repeats += _repeat_divided(pair, rank, numbering, kinds)
        rank += pair.processes
    return Runs(repeats)


def join(pieces: Iterable[P], both: Callable[[P, P], P | None]) -> Iterator[P]:
    """Yield the pieces, merging neighbours while `both` returns a piece instead of None."""
    current: P | None = None
    for piece in pieces:
        union = None if current is None else both(current, piece)
        if current is not None and union is None:
            yield current
        current = piece if union is None else union
    if current is not None:
        yield current


def unite(first: RankRange, second: RankRange) -> RankRange | None:
    """Return two pairs merged if the second continues with the same share, else None."""
    if second.start != first.stop or second.resources * first.processes != first.resources * second.processes:
        return None
    return RankRange(first.start, second.stop, first.processes + second.processes)


def _repeat_shared(pair: RankRange, rank: int, numbering: Numbering, kinds: dict[str, str]) -> Iterator[Repeat]:
    share = pair.processes // pair.resources
    for stretch, first, count in numbering.wide_pieces(pair.start, pair.stop):
        kind = kinds[stretch.label]
        runs = []
        for index in range(first, first + count):
            local, count_held = (0, 0) if kind == NODE else (index, 1)
            start = rank + (index - first) * share
            runs.append(Run(range(start, start + share), stretch.node_rank, kind, local, count_held, 1, 0, stretch.label))
        yield Repeat(tuple(runs), stretch.nodes)
        rank += share * count * stretch.nodes


def _repeat_divided(pair: RankRange, rank: int, numbering: Numbering, kinds: dict[str, str]) -> Iterator[Repeat]:
    per_process, offset = pair.resources // pair.processes, 0
    for wide, first, count in numbering.wide_pieces(pair.start, pair.stop):
        kind = kinds[wide.label]
        if not offset and count % per_process == 0:
            yield Repeat((_solid(range(rank, rank + count // per_process), wide, kind, first, per_process),), wide.nodes)
            rank += count // per_process * wide.nodes
            continue
        for stretch in map(wide.on, range(wide.nodes)):
            start, remaining = first, count
            while remaining:
                is_part = offset or remaining < per_process
                processes = 1 if is_part else remaining // per_process
                size = min(per_process - offset, remaining) if is_part else processes * per_process
                yield Repeat((_solid(range(rank, rank + processes), stretch, kind, start, size // processes),))
                offset = (offset + size) % per_process
                rank += processes if not offset and processes > 1 else int(not offset)
                start, remaining = start + size, remaining - size


def _solid(ranks: range, stretch: Stretch, kind: str, first: int, per_process: int) -> Run:
    """Return a run of processes with `per_process` consecutive resources, or with the node itself."""
    if kind == NODE:
        return Run(ranks, stretch.node_rank, NODE, 0, 0, 1, 0, stretch.label)
    return Run(ranks, stretch.node_rank, kind, first, per_process, 1, per_process, stretch.label)


@dataclass(frozen=True, slots=True)
class NumberedResources:
    """Resources that a placement numbers.

    Attributes
    ----------
    note : end of the text of the size.
    excess : further ranks that RLinf includes in `all`, if it counts accelerators but places on
        nodes.
    """

    size: int | None
    unit: str
    labels: tuple[str, ...] = ()
    numbering: Numbering | None = None
    note: str = ""
    excess: int = 0

    @property
    def where(self) -> str:
        """Node groups, for messages."""
        return ", ".join(f"`{label}`" for label in self.labels)

    @property
    def shape(self) -> str:
        """Text of the size, such as `2 nodes x 8 accelerators, ranks 0-15 exist`."""
        if not self.size or self.numbering is None:
            return f"there is no {self.unit}{self.note}"
        exist = "only rank 0 exists" if self.size == 1 else f"ranks 0-{self.size - 1} exist"
        counts = {stretch.count for stretch in self.numbering.wide}
        amount = with_noun(self.numbering.nodes, "node")
        if self.numbering.kind != NODE:
            amount += f" x {self.plural(*counts)}" if len(counts) == 1 else f", {self.size} {self.unit}s"
        return f"{amount}, {exist}"

    def plural(self, count: int) -> str:
        """Return text like `1 node` or `8 accelerators`."""
        return with_noun(count, self.unit)


@dataclass(frozen=True, slots=True)
class RankRange:
    """Resources `start` to `stop` (exclusive), shared or divided by `processes` processes."""

    start: int
    stop: int
    processes: int

    @property
    def resources(self) -> int:
        """Number of resources."""
        return self.stop - self.start


@dataclass(frozen=True, slots=True)
class PlacementFault:
    """Fault at some characters of the text. `last` is the highest rank if it is too high."""

    code: str
    message: str
    start: int
    end: int
    label: str
    last: int | None = None


@dataclass
class PlacementText:
    """Pairs and faults of a placement. `open`: some resources are `all` of an unknown number."""

    pairs: list[RankRange]
    faults: list[PlacementFault]
    open: bool = False

    @property
    def processes(self) -> int:
        """Number of placed processes."""
        return sum(pair.processes for pair in self.pairs)


def write_placement(pairs: Iterable[RankRange], size: int = 0) -> str:
    """Return the text of pairs; processes are written only where they share or divide resources.

    A pair of all `size` resources is `all`; 0: never.
    """
    texts, rank = [], 0
    for pair in pairs:
        text = "all" if size > 1 and (pair.start, pair.stop) == (0, size) else write_range(range(pair.start, pair.stop))
        texts.append(text if pair.processes == pair.resources else f"{text}:{write_range(range(rank, rank + pair.processes))}")
        rank += pair.processes
    return ",".join(texts)


def read_placement(text: str, resources: NumberedResources) -> PlacementText:
    """Return the pairs and up to MAX_FAULTS faults of the text."""
    return _TextReader(text, resources).read()


class _TextReader:
    """Segment reader; `piece` and `position` are the current segment and offset."""

    def __init__(self, text: str, resources: NumberedResources) -> None:
        self.text, self.numbered = text, resources
        self.found = PlacementText([], [])
        self.held: list[tuple[int, int]] = []  # ascending and disjoint
        self.last = (0, 0)
        self.following: int | None = 0
        self.first = True
        self.piece, self.position = "", 0

    def read(self) -> PlacementText:
        size = self.numbered.size
        for piece in self.text.split(","):
            self.piece = piece
            match = _PLAIN.fullmatch(piece)
            start, stop = (int(match[1]), int(match[2] or match[1]) + 1) if match else (0, 0)
            if match and start < stop and (size is None or stop <= size):
                low, high = (int(match[3]), int(match[4] or match[3])) if match[3] else (0, -1)
                if match[3] is None or low <= high:
                    self._segment(start, stop, range(low, high + 1) if match[3] else None)
                else:
                    self._read_unusual()
            elif piece.strip():
                self._read_unusual()
            self.position += len(piece) + 1
            if len(self.found.faults) >= MAX_FAULTS:
                break
        if self.first:
            self._fault("PW112", "the placement names nothing", (0, len(self.text)), "empty")
        return self.found

    def _fault(self, code: str, message: str, place: tuple[int, int], label: str, last: int | None = None) -> None:
        self.found.faults.append(PlacementFault(code, message, *place, label, last))

    def _place(self, part: str | None = None) -> tuple[int, int]:
        """Return the span of the resources, the processes, or the segment, without blanks."""
        left, _, right = self.piece.partition(":")
        texts = {None: self.piece, "resources": left, "processes": right}[part]
        start = self.position + (len(left) + 1 if part == "processes" else 0) + len(texts) - len(texts.lstrip())
        return start, start + len(texts.strip())

    def _read_unusual(self) -> None:
        size, excess = self.numbered.size, self.numbered.excess
        left, colon, right = self.piece.partition(":")
        everything = left.strip().lower() == "all"
        try:
            if size is None and everything:
                self.found.open = True
                if colon:
                    parse_ranks(right, None, "process", len(left) + 1)
                self.following = None
            elif size is not None and excess and everything:
                exist = self.numbered.plural(size)
                message = f"RLinf takes `all` for {size + excess} ranks, but there are {exist}: IndexError at launch"
                self._fault("PW102", message, self._place("resources"), "more than there are", size + excess - 1)
            else:
                segment = parse_segments(self.piece, size, self.numbered.unit)[0]
                resources, processes = segment.resources, segment.processes
                self._segment(
                    resources.first, resources.last + 1, range(processes.first, processes.last + 1) if processes is not None else None
                )
        except RankError as problem:
            self._rank_error(problem)
            self.following = None
        self.first = False

    def _rank_error(self, problem: RankError) -> None:
        start, end = problem.start + self.position, problem.end + self.position
        message, label = str(problem), problem.label
        if problem.reason == "range":
            message = f"`{self.text[start:end]}` is outside {self.numbered.where}: {self.numbered.shape}"
            if (problem.last or 0) < (self.numbered.size or 0) + self.numbered.excess:
                message += ", which RLinf notices only at launch"
        elif problem.reason == "empty" and not label:
            label = "names nothing"
        self._fault(CODES_BY_REASON[problem.reason], message, (start, end), label, problem.last)

    def _segment(self, start: int, stop: int, ranks: range | None) -> None:
        """Add a pair for resources `start` to `stop` (exclusive) and written process ranks."""
        duplicate = self._record_range(start, stop)
        if duplicate is not None:
            self._fault(
                "PW108", f"{self.numbered.unit} {duplicate} is named twice in one placement", self._place("resources"), "again here"
            )
        elif start < self.last[0]:
            message = f"{self.numbered.unit} {start} comes after {self.last[1] - 1}, but ranks must ascend"
            self._fault("PW109", message, self._place("resources"), "goes back")
        self.last = (start, stop)
        resources = stop - start
        count = resources if ranks is None else len(ranks)
        if ranks is None:
            # RLinf numbers processes that are not written from the last one on.
            self.following = None if self.following is None else self.following + resources
        else:
            if not self.first and self.following is not None and ranks.start != self.following:
                message = f"process ranks go on at {ranks.start}, but {self.following} comes next"
                self._fault("PW110", message, self._place("processes"), f"{self.following} comes next")
            self.following = ranks.stop
            if count % resources and resources % count:
                amount, processes = self.numbered.plural(resources), with_noun(count, "process")
                message = f"{processes} cannot be divided evenly over {amount}, nor {amount} over {processes}"
                self._fault("PW111", message, self._place(), f"{count} over {resources}")
        self.first = False
        self.found.pairs.append(RankRange(start, stop, count))

    def _record_range(self, start: int, stop: int) -> int | None:
        """Return the first resource that was named before; else record all and return None."""
        if not self.held or start >= self.held[-1][1]:
            self.held.append((start, stop))
            return None
        position = bisect_left(self.held, (start, start))
        for first, end in self.held[max(position - 1, 0) : position + 1]:
            if start < end and first < stop:
                return max(start, first)
        self.held.insert(position, (start, stop))
        return None
