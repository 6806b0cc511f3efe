"""Runs as placement text: the inverse of mapping, where the text has words for it."""

from __future__ import annotations

from itertools import groupby
from typing import Iterator, Sequence

from ..findings.finding import UnusableInput, error
from ..findings.wording import with_noun
from ..machines.cluster import Cluster
from ..machines.node_group import NODE
from ..placements.assignment import Run, repeats_of
from ..record import dataclass
from .neighbours import joined


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
