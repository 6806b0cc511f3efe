"""Runs written as placement text, or node by node."""

from __future__ import annotations

from itertools import groupby
from typing import Callable, Iterable, Iterator, Sequence, TypeVar

from ..findings.finding import UnusableInput, error
from ..findings.wording import with_noun
from ..machines.cluster import Cluster
from ..machines.node_group import ACCELERATOR, NODE
from ..placements.run import Run, repeats_of
from ..ranks import write_ranks
from ..record import dataclass

P = TypeVar("P")


Data = dict[str, object]
Piece = tuple[range, range, Run, list[int]]
"""Process ranks, node ranks, one of the runs, and what the ranks hold on each node, in order."""


def joined(pieces: Iterable[P], both: Callable[[P, P], P | None]) -> Iterator[P]:
    """The pieces, where `both` makes one of a piece and the next as long as it can; None where it cannot."""
    current: P | None = None
    for piece in pieces:
        together = None if current is None else both(current, piece)
        if current is not None and together is None:
            yield current
        current = piece if together is None else together
    if current is not None:
        yield current


@dataclass(frozen=True, slots=True)
class _Block:
    """Processes `rank` to `rank + count - 1`: resources from `first` on, `each` for one process, or shared by `share`."""

    first: int
    rank: int
    count: int
    each: int
    share: int

    @property
    def resources(self) -> int:
        return self.count * self.each if self.share == 1 else self.count // self.share

    @property
    def stop(self) -> int:
        return self.first + self.resources


def labels_used(runs: Sequence[Run], named: tuple[str, ...]) -> tuple[str, ...]:
    """The groups that are used, in the order of `named`; as the ranks meet them where these name others."""
    used = tuple(dict.fromkeys(run.node_group for repeat in repeats_of(runs) for run in repeat.runs))
    ordered = tuple(label for label in named if label in used)
    return ordered if set(ordered) == set(used) else used


def best_text(name: str, runs: Sequence[Run], cluster: Cluster, named: tuple[str, ...]) -> tuple[tuple[str, ...], str]:
    """(labels to write, placement text): the groups that are used, in the order of `named` if that will do, else as the ranks meet them.

    Raises UnusableInput as `placement_text` does.
    """
    used = labels_used(runs, ())
    refused: UnusableInput | None = None
    for labels in dict.fromkeys((labels_used(runs, named), used)):
        try:
            return labels, placement_text(name, runs, cluster, labels, says_all=True)
        except UnusableInput as problem:
            refused = problem
    if len(used) > 1:
        groups = ", ".join(f"`{label}`" for label in used)
        raise _unsayable(
            name,
            f"in no order of the groups {groups} its processes go up from resource to resource",
            "declare one node group over their nodes, or name one of them",
        )
    raise refused or _unsayable(name, "it has no processes")


def placement_text(name: str, runs: Sequence[Run], cluster: Cluster, labels: tuple[str, ...], says_all: bool = False) -> str:
    """Such as `0-7,16-23`, `0-7:0-3` or `0-3:0-31`: the shortest text for these runs; with `says_all`, `all` for all there is.

    Raises UnusableInput (PW603) where the text cannot say it: a stride, holes or a disorder inside one process, resources
    that do not ascend from process to process, several resources of one process that another one shares.
    """
    if not runs:
        raise _unsayable(name, "it has no processes")
    strange = [label for label in labels if label not in cluster.groups]
    if strange:
        raise _unsayable(name, f"the file has no node group `{strange[0]}`")
    blocks = list(joined(_blocks(name, runs, cluster, labels), _both))
    size = cluster.numbering(labels).size
    alike = (
        says_all and len({cluster.groups[label].kind for label in labels}) == 1
    )  # else RLinf counts otherwise, and `all` is more than there is
    texts, last = [], 0
    for block in blocks:
        if block.first < last:
            raise _unsayable(name, f"process {block.rank} is on a lower resource than the processes before it")
        last = block.stop
        everything = alike and size > 1 and (block.first, block.stop) == (0, size)
        text = "all" if everything else _range(block.first, block.stop)
        if block.resources != block.count:
            text += ":" + _range(block.rank, block.rank + block.count)
        texts.append(text)
    return ",".join(texts)


def _blocks(name: str, runs: Sequence[Run], cluster: Cluster, labels: tuple[str, ...]) -> Iterator[_Block]:
    """The processes, those that share one resource together."""
    rank = 0
    for (first, each), sharers in groupby(_processes(name, runs, cluster, labels)):
        count = sum(1 for _ in sharers)
        if count > 1 and each > 1:
            raise _unsayable(name, f"the processes from {rank} on share {with_noun(each, 'resource')} each")
        yield _Block(first, rank, count, each, count)
        rank += count


def _processes(name: str, runs: Sequence[Run], cluster: Cluster, labels: tuple[str, ...]) -> Iterator[tuple[int, int]]:
    """(first resource rank, how many) of every process, in rank order."""
    starts: dict[tuple[int, str], int] = {}
    total = 0
    for stretch in cluster.numbering(labels).stretches:
        starts.setdefault((stretch.node_rank, stretch.label), total)
        total += stretch.count
    expected = 0
    for run in runs:
        start = starts.get((run.node, run.node_group))
        if start is None or run.ranks.start != expected:
            raise _unsayable(name, f"process {run.ranks.start} is not on one node of {', '.join(labels)}, in the order of the ranks")
        expected = run.ranks.stop
        if run.each > 1 and run.step != 1:
            raise _unsayable(name, f"the resources of process {run.ranks.start} are not one solid range (step {run.step})")
        for i in range(len(run.ranks)):
            yield (start, 1) if run.kind == NODE else (start + run.first + i * run.pitch, run.each)


def _both(one: _Block, other: _Block) -> _Block | None:
    """Neighbours of the same pattern as one block."""
    if (other.first, other.each, other.share) != (one.stop, one.each, one.share):
        return None
    return _Block(one.first, one.rank, one.count + other.count, other.each, other.share)


def _range(start: int, stop: int) -> str:
    return str(start) if stop == start + 1 else f"{start}-{stop - 1}"


def _unsayable(name: str, why: str, otherwise: str = "launch from the plan itself") -> UnusableInput:
    message = f"a placement text cannot say where `{name}` is: {why}"
    return UnusableInput([error("PW603", name, message, help=otherwise)])


def placement_list(runs: Sequence[Run], grouped: bool) -> list[Data]:
    """The entries, as data: which ranks hold which resources of which node; equal nodes are one entry. `grouped`: node groups are named."""
    return [_entry(ranks, nodes, run, held, grouped) for ranks, nodes, run, held in joined(_pieces(runs), _both_on_node)]


def _pieces(runs: Sequence[Run]) -> Iterator[Piece]:
    for repeat in repeats_of(runs):
        held = [index for run in repeat.runs for index in _held(run)]
        shapes = {(run.each, 0 if run.pitch else len(run.ranks)) for run in repeat.runs}
        if repeat.nodes > 1 and len(shapes) == 1 and all(map(_equal_shares, repeat.runs)) and len(set(held)) == len(held):
            yield repeat.ranks, repeat.node_ranks, repeat.runs[0], held
            continue
        for run in repeat:
            for ranks in [run.ranks] if _equal_shares(run) else [range(rank, rank + 1) for rank in run.ranks]:
                held = _held(run) if len(ranks) > 1 else list(run.held_by(ranks.start))
                yield ranks, range(run.node, run.node + 1), run, held


def _equal_shares(run: Run) -> bool:
    """Do its processes divide what they hold, or share one resource? Processes that share several need an entry each."""
    held = _held(run)
    return len(set(held)) == len(held) and bool(run.pitch or run.each <= 1 or len(run.ranks) == 1)


def _held(run: Run) -> list[int]:
    """What its processes hold, in their order; what they share once."""
    return [index for rank in (run.ranks if run.pitch else run.ranks[:1]) for index in run.held_by(rank)]


def _both_on_node(one: Piece, other: Piece) -> Piece | None:
    """Neighbours on one node that go on with equal shares, as one."""
    return (range(one[0].start, other[0].stop), one[1], one[2], one[3] + other[3]) if _goes_on(one, other) else None


def _goes_on(one: Piece, other: Piece) -> bool:
    same = one[0].stop == other[0].start and one[1] == other[1] and len(one[1]) == 1
    alike = (one[2].kind, one[2].node_group) == (other[2].kind, other[2].node_group)
    if not same or not alike or set(one[3]) & set(other[3]):
        return False
    return bool(one[3]) and len(one[3]) * len(other[0]) == len(other[3]) * len(one[0])


def _entry(ranks: range, nodes: range, run: Run, held: list[int], grouped: bool) -> Data:
    entry: Data = {"ranks": _plain(ranks), "node": _plain(nodes)}
    if run.kind != NODE:
        entry["accelerators" if run.kind == ACCELERATOR else "hardware"] = _plain(held)
    return entry | ({"node_group": run.node_group} if grouped else {})


def _plain(numbers: Sequence[int]) -> object:
    """One number, `0-7` for numbers that go up by one, else the list."""
    if len(numbers) == 1:
        return numbers[0]
    solid = all(second == first + 1 for first, second in zip(numbers, numbers[1:]))
    return write_ranks((range(numbers[0], numbers[-1] + 1),)) if solid else list(numbers)
