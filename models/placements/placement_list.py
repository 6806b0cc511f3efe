"""Placement node by node: `[{ranks: 0-3, node: 0, accelerators: [3, 2, 1, 0]}]`.

It can express any placement. The ranks of an entry hold equal consecutive shares of its resources,
in the written order; with more ranks than resources, consecutive ranks share one. Several nodes
hold the same each, and the ranks go on from node to node. A rank in several entries holds the
resources of all of them, in the order of the entries.
"""

from __future__ import annotations

from itertools import groupby
from typing import Callable, Iterable, Iterator, Sequence

from ..findings.wording import with_noun
from ..machines.cluster import Cluster
from ..machines.node_group import ACCELERATOR, NODE
from ..ranks import CODES_BY_REASON, RankError, parse_ranks
from ..record import dataclass
from .assignment import Seat, compress, seats
from .run import Repeat, Run, Runs

MAX_PROCESSES = 1 << 20
HELPS = {
    "node": "write the rank of a node such as `0`, several such as `0-3`, or a node's name",
    "ranks": "write process ranks such as `0-7`",
    "accelerators": "write local indices that the node has, such as `0-3` or `[3, 2, 1, 0]`",
    "hardware": "write local indices that the node has, such as `0-1`",
}
"""Key -> fix of the value."""


@dataclass(frozen=True, slots=True)
class ListedPlacement:
    """Entry as written; `indices` are rank expressions in order, None for the node itself."""

    ranks: str
    node: str
    label: str
    kind: str = NODE
    indices: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class ListFault:
    """Fault in the value `key` of an entry, "" for all of it. `better` is the correction."""

    code: str
    message: str
    entry: int
    key: str = ""
    label: str = ""
    help: str = ""
    better: str = ""


def read_list(entries: Sequence[ListedPlacement], cluster: Cluster, faults: list[ListFault]) -> Runs:
    """Return the runs of a list; collect faults in `faults`."""
    repeats, ranks_of_entries, total = list[Repeat](), list[tuple[range, int]](), 0
    for position, entry in enumerate(entries):
        entry_repeats = list(_ListReader(cluster, entry, position, faults).repeats(MAX_PROCESSES - total))
        total += sum(len(repeat.ranks) for repeat in entry_repeats)
        ranks_of_entries += [(repeat.ranks, position) for repeat in entry_repeats]
        repeats += entry_repeats
    if not faults:
        faults += _holes(ranks_of_entries)
    return Runs(_sort_repeats(repeats)) if not faults else Runs(())


class _ListReader:
    """Reader of an entry; a faulty entry has no runs."""

    def __init__(self, cluster: Cluster, entry: ListedPlacement, position: int, faults: list[ListFault]) -> None:
        self.cluster, self.entry, self.position, self.faults = cluster, entry, position, faults

    def repeats(self, most: int) -> Iterator[Repeat]:
        """Yield the runs node by node, at most `most` processes."""
        entry = self.entry
        nodes = self._numbers("node", (entry.node,), lambda: self._node_ranks(entry.node))
        ranks = self._numbers("ranks", (entry.ranks,), lambda: list(parse_ranks(entry.ranks, None, "process").ranges))
        if not nodes or not ranks:
            return
        if sum(map(len, ranks)) > most:
            self._fault("PW102", f"more than {MAX_PROCESSES:,} processes are not read", "ranks", "too many")
            return
        indices = self._read_indices(min(stretch.node.count(entry.kind) for span in nodes for stretch, _ in self.cluster.alike_among(span)))
        if indices is None:
            return
        all_ranks = [rank for span in ranks for rank in span] if len(ranks) > 1 else ranks[0]
        all_nodes = [rank for span in nodes for rank in span]
        share, remainder = divmod(len(all_ranks), len(all_nodes))
        if remainder or not share:
            self._fault(
                "PW111", f"{with_noun(len(all_ranks), 'rank')} cannot be dealt out evenly to {len(all_nodes)} nodes", "ranks", "uneven"
            )
            return
        if indices and share % len(indices) and len(indices) % share:
            subject = f"{with_noun(share, 'rank')} on a node"
            self._fault("PW111", f"{subject} cannot be divided evenly over {len(indices)} resources, nor the resources over the ranks", "")
            return
        yield from self._dealt(nodes, all_ranks, share, indices)

    def _dealt(self, nodes: list[range], all_ranks: Sequence[int], share: int, indices: list[int]) -> Iterator[Repeat]:
        first = list(self._list_runs(nodes[0].start, all_ranks[:share], indices))
        crossing = len({run.ranks for run in first}) < len(first)
        if len(nodes) == 1 and isinstance(all_ranks, range) and not crossing:
            yield Repeat(tuple(first), len(nodes[0]))
            return
        for position, node in enumerate(node for span in nodes for node in span):
            yield from (Repeat((run,)) for run in self._list_runs(node, all_ranks[position * share : (position + 1) * share], indices))

    def _list_runs(self, node: int, ranks: Sequence[int], indices: list[int]) -> Iterator[Run]:
        """Yield the runs of ranks on a node."""
        entry = self.entry
        for _, group in groupby(enumerate(ranks), lambda pair: pair[1] - pair[0]):
            pairs = list(group)
            block = range(pairs[0][1], pairs[-1][1] + 1)
            if not indices:
                yield Run(block, node, entry.kind, 0, 0, 1, 0, entry.label)
            elif len(ranks) > len(indices):
                yield from _build_shared_runs(pairs, node, len(ranks) // len(indices), indices, entry)
            else:
                per_process = len(indices) // len(ranks)
                seats_of_ranks = (
                    (rank, [(node, index) for index in indices[place * per_process : (place + 1) * per_process]]) for place, rank in pairs
                )
                yield from compress(seats_of_ranks, entry.kind, entry.label)

    def _read_indices(self, count: int) -> list[int] | None:
        """Return the local indices in order; [] for the node itself; None if faulty."""
        entry = self.entry
        if entry.indices is None:
            return []
        key = "accelerators" if entry.kind == ACCELERATOR else "hardware"
        noun = "accelerator" if entry.kind == ACCELERATOR else entry.kind
        if not count:
            self._fault("PW102", f"node {entry.node} has no {noun}", key, "has none", help=f"name another node, or leave `{key}` out")
            return None
        items = [item for text in entry.indices for item in text.split(",")]
        ranges = self._numbers(key, entry.indices, lambda: [span for item in items for span in parse_ranks(item, count, noun).ranges])
        indices = [index for span in ranges or () for index in span]
        if len(set(indices)) < len(indices):
            duplicate = next(index for index in indices if indices.count(index) > 1)
            self._fault("PW108", f"{noun} {duplicate} is named twice in one entry", key, "named twice")
            return None
        return indices if ranges else None

    def _node_ranks(self, text: str) -> list[range]:
        nodes = range(len(self.cluster.nodes))
        if set(text) <= set("0123456789-, ") or text.lower() == "all":
            return list(parse_ranks(text, len(nodes), "node").ranges)
        rank_of_name = next((rank for rank in nodes if self.cluster.name(rank) == text), None)
        if rank_of_name is None:
            raise RankError("form", "this is neither the rank nor the name of a node", 0, len(text), "not a node")
        return [range(rank_of_name, rank_of_name + 1)]

    def _numbers(self, key: str, texts: tuple[str, ...], read: Callable[[], list[range]]) -> list[range] | None:
        """Return the ranges that `read` gives; None with a fault if impossible or empty."""
        try:
            if ranges := read():
                return ranges
            self._fault("PW112", f"`{key}` names nothing", key, "names nothing")
        except RankError as problem:
            joined_texts = ", ".join(texts)[:60]
            better = problem.replacement if problem.replacement and len(texts) == 1 and "," not in texts[0] else ""
            reason = str(problem)
            if problem.reason == "range" and key in ("accelerators", "hardware"):
                reason = f"{reason.partition(' is outside ')[0]} is not there: on node {self.entry.node}, {problem.label}"
            self._fault(CODES_BY_REASON[problem.reason], f"`{joined_texts}`: {reason}", key, problem.label, better, HELPS.get(key, ""))
        return None

    def _fault(self, code: str, message: str, key: str, label: str = "", better: str = "", help: str = "") -> None:
        self.faults.append(ListFault(code, message, self.position, key, label, help, better))


def _build_shared_runs(pairs: list[tuple[int, int]], node: int, share: int, indices: list[int], entry: ListedPlacement) -> Iterator[Run]:
    """Yield runs of ranks; every `share` consecutive ranks hold the same resource."""
    for index, sharers in groupby(pairs, lambda pair: indices[pair[0] // share]):
        ranks = [rank for _, rank in sharers]
        yield Run(range(ranks[0], ranks[-1] + 1), node, entry.kind, index, 1, 1, 0, entry.label)


def _holes(ranks_of_entries: Sequence[tuple[range, int]]) -> Iterator[ListFault]:
    """Yield a fault at the entry after a hole in the ranks 0, 1, ... to the last."""
    following = 0
    for ranks, entry in sorted(ranks_of_entries, key=lambda pair: pair[0].start):
        if ranks.start > following:
            message = f"no entry says where process {following} is, but this one says where process {ranks.start} is"
            yield ListFault("PW110", message, entry, "ranks", f"{following} comes next", f"write where process {following} is")
            return
        following = max(following, ranks.stop)


def _sort_repeats(repeats: list[Repeat]) -> Iterable[Repeat]:
    """Return the repeats by rank; a process in several repeats gets runs of its own."""
    by_rank = sorted(repeats, key=lambda repeat: repeat.ranks.start)
    if all(before.ranks.stop <= after.ranks.start for before, after in zip(by_rank, by_rank[1:])):
        return by_rank
    result: list[Repeat] = []
    processes = ((rank, pieces) for rank, pieces in seats(run for repeat in repeats for run in repeat))
    for _, members in groupby(processes, lambda process: {entry[1:] for entry in process[1]}):
        processes_alike: list[tuple[int, list[Seat]]] = []
        for rank, entries in members:
            kinds = [(kind, label) for _, kind, label in entries]
            if len(set(kinds)) == 1 and kinds[0][0] != NODE:
                processes_alike.append((rank, [seat for seat, _, _ in entries]))
                kind, label = kinds[0]
                continue
            for (kind, label), pieces in groupby(entries, lambda piece: (piece[1], piece[2])):
                resources = [seat for seat, _, _ in pieces]
                bare = [Run(range(rank, rank + 1), node, kind, 0, 0, 1, 0, label) for node, index in resources if index < 0]
                result += [Repeat((run,)) for run in bare or compress([(rank, resources)], kind, label)]
        if processes_alike:
            result += [Repeat((run,)) for run in compress(processes_alike, kind, label)]
    return result
