"""A placement node by node: `[{ranks: 0-3, node: 0, accelerators: [3, 2, 1, 0]}]`. It can say where anything is.

The ranks of an entry hold equal consecutive shares of its resources, in the order in which these are written; with more ranks
than resources, consecutive ranks share one. Several nodes hold the same each, and the ranks go on from node to node. A rank in
several entries holds the resources of all of them, in the order of the entries.
"""

from __future__ import annotations

from itertools import groupby
from typing import Callable, Iterable, Iterator, Sequence

from ..findings.wording import with_noun
from ..machines.cluster import Cluster
from ..machines.node_group import ACCELERATOR, NODE
from ..placements.assignment import Seat, compress, seats
from ..placements.run import Repeat, Run, Runs
from ..ranks import CODES_BY_REASON, RankError, parse_ranks
from ..record import dataclass

MAX_PROCESSES = 1 << 20
HELPS = {
    "node": "write the rank of a node such as `0`, several such as `0-3`, or a node's name",
    "ranks": "write process ranks such as `0-7`",
    "accelerators": "write local indices that the node has, such as `0-3` or `[3, 2, 1, 0]`",
    "hardware": "write local indices that the node has, such as `0-1`",
}
"""What mends a value, by its key."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry as it is written. `indices` are numbers in order, each item a rank expression; None: the node itself."""

    ranks: str
    node: str
    label: str
    kind: str = NODE
    indices: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class ListFault:
    """Something wrong with the value `key` of entry number `entry`; the whole entry where `key` is "". `better` would mend the value."""

    code: str
    message: str
    entry: int
    key: str = ""
    label: str = ""
    help: str = ""
    better: str = ""


def read_list(entries: Sequence[Entry], cluster: Cluster, faults: list[ListFault]) -> Runs:
    """The runs that a list states; `faults` gets everything that is wrong with it."""
    repeats, stated, total = list[Repeat](), list[tuple[range, int]](), 0
    for position, entry in enumerate(entries):
        its = list(_Reader(cluster, entry, position, faults).repeats(MAX_PROCESSES - total))
        total += sum(len(repeat.ranks) for repeat in its)
        stated += [(repeat.ranks, position) for repeat in its]
        repeats += its
    if not faults:
        faults += _holes(stated)
    return Runs(_in_order(repeats)) if not faults else Runs(())


class _Reader:
    """One entry; what is wrong is noted with its place, and then it has no runs."""

    def __init__(self, cluster: Cluster, entry: Entry, position: int, faults: list[ListFault]) -> None:
        self.cluster, self.entry, self.position, self.faults = cluster, entry, position, faults

    def repeats(self, most: int) -> Iterator[Repeat]:
        """The runs on each of its nodes; at most so many processes."""
        entry = self.entry
        nodes = self._numbers("node", (entry.node,), lambda: self._node_ranks(entry.node))
        ranks = self._numbers("ranks", (entry.ranks,), lambda: list(parse_ranks(entry.ranks, None, "process").ranges))
        if not nodes or not ranks:
            return
        if sum(map(len, ranks)) > most:
            self._fault("PW102", f"more than {MAX_PROCESSES:,} processes are not read", "ranks", "too many")
            return
        held = self._held(min(its.node.count(entry.kind) for each in nodes for its, _ in self.cluster.alike_among(each)))
        if held is None:
            return
        every = [rank for each in ranks for rank in each] if len(ranks) > 1 else ranks[0]
        where = [rank for each in nodes for rank in each]
        share, left = divmod(len(every), len(where))
        if left or not share:
            self._fault("PW111", f"{with_noun(len(every), 'rank')} cannot be dealt out evenly to {len(where)} nodes", "ranks", "uneven")
            return
        if held and share % len(held) and len(held) % share:
            self._fault(
                "PW111",
                f"{with_noun(share, 'rank')} on a node cannot be divided evenly over {len(held)} resources, nor these over them",
                "",
            )
            return
        yield from self._dealt(nodes, every, share, held)

    def _dealt(self, nodes: list[range], every: Sequence[int], share: int, held: list[int]) -> Iterator[Repeat]:
        first = list(self._on(nodes[0].start, every[:share], held))
        crossing = len({run.ranks for run in first}) < len(first)
        if len(nodes) == 1 and isinstance(every, range) and not crossing:
            yield Repeat(tuple(first), len(nodes[0]))
            return
        for number, node in enumerate(node for each in nodes for node in each):
            yield from (Repeat((run,)) for run in self._on(node, every[number * share : (number + 1) * share], held))

    def _on(self, node: int, ranks: Sequence[int], held: list[int]) -> Iterator[Run]:
        """The runs of these ranks on one node."""
        entry = self.entry
        for _, together in groupby(enumerate(ranks), lambda pair: pair[1] - pair[0]):
            its = list(together)
            block = range(its[0][1], its[-1][1] + 1)
            if not held:
                yield Run(block, node, entry.kind, 0, 0, 1, 0, entry.label)
            elif len(ranks) > len(held):
                yield from _shared(its, node, len(ranks) // len(held), held, entry)
            else:
                each = len(held) // len(ranks)
                dealt = ((rank, [(node, index) for index in held[place * each : (place + 1) * each]]) for place, rank in its)
                yield from compress(dealt, entry.kind, entry.label)

    def _held(self, count: int) -> list[int] | None:
        """The local indices in order; none for the node itself; None where they cannot be."""
        entry = self.entry
        if entry.indices is None:
            return []
        key = "accelerators" if entry.kind == ACCELERATOR else "hardware"
        what = "accelerator" if entry.kind == ACCELERATOR else entry.kind
        if not count:
            self._fault("PW102", f"node {entry.node} has no {what}", key, "has none", help=f"name another node, or leave `{key}` out")
            return None
        items = [item for text in entry.indices for item in text.split(",")]
        found = self._numbers(key, entry.indices, lambda: [each for item in items for each in parse_ranks(item, count, what).ranges])
        indices = [index for each in found or () for index in each]
        if len(set(indices)) < len(indices):
            twice = next(index for index in indices if indices.count(index) > 1)
            self._fault("PW108", f"{what} {twice} is named twice in one entry", key, "named twice")
            return None
        return indices if found else None

    def _node_ranks(self, text: str) -> list[range]:
        nodes = range(len(self.cluster.nodes))
        if set(text) <= set("0123456789-, ") or text.lower() == "all":
            return list(parse_ranks(text, len(nodes), "node").ranges)
        named = next((rank for rank in nodes if self.cluster.name(rank) == text), None)
        if named is None:
            raise RankError("form", "this is neither the rank nor the name of a node", 0, len(text), "not a node")
        return [range(named, named + 1)]

    def _numbers(self, key: str, texts: tuple[str, ...], read: Callable[[], list[range]]) -> list[range] | None:
        """What is read; None, and a fault, where that cannot be or is nothing."""
        try:
            if found := read():
                return found
            self._fault("PW112", f"`{key}` names nothing", key, "names nothing")
        except RankError as problem:
            shown = ", ".join(texts)[:60]
            better = problem.replacement if problem.replacement and len(texts) == 1 and "," not in texts[0] else ""
            said = str(problem)
            if problem.reason == "range" and key in ("accelerators", "hardware"):
                said = f"{said.partition(' is outside ')[0]} is not there: on node {self.entry.node}, {problem.label}"
            self._fault(CODES_BY_REASON[problem.reason], f"`{shown}`: {said}", key, problem.label, better, HELPS.get(key, ""))
        return None

    def _fault(self, code: str, message: str, key: str, label: str = "", better: str = "", help: str = "") -> None:
        self.faults.append(ListFault(code, message, self.position, key, label, help, better))


def _shared(its: list[tuple[int, int]], node: int, share: int, held: list[int], entry: Entry) -> Iterator[Run]:
    """Ranks of which `share` consecutive ones hold the same resource."""
    for index, sharers in groupby(its, lambda pair: held[pair[0] // share]):
        ranks = [rank for _, rank in sharers]
        yield Run(range(ranks[0], ranks[-1] + 1), node, entry.kind, index, 1, 1, 0, entry.label)


def _holes(stated: Sequence[tuple[range, int]]) -> Iterator[ListFault]:
    """The ranks must be 0, 1, ... to the last; each range with the entry that states it."""
    following = 0
    for ranks, entry in sorted(stated, key=lambda its: its[0].start):
        if ranks.start > following:
            message = f"no entry says where process {following} is, but this one says where process {ranks.start} is"
            yield ListFault("PW110", message, entry, "ranks", f"{following} comes next", f"say where process {following} is")
            return
        following = max(following, ranks.stop)


def _in_order(repeats: list[Repeat]) -> Iterable[Repeat]:
    """The same in the order of the ranks; a process in several of them lies in runs of its own."""
    ordered = sorted(repeats, key=lambda repeat: repeat.ranks.start)
    if all(one.ranks.stop <= other.ranks.start for one, other in zip(ordered, ordered[1:])):
        return ordered
    found: list[Repeat] = []
    processes = ((rank, its) for rank, its in seats(run for repeat in repeats for run in repeat))
    for _, members in groupby(processes, lambda process: {each[1:] for each in process[1]}):
        together: list[tuple[int, list[Seat]]] = []
        for rank, its in members:
            kinds = [(kind, label) for _, kind, label in its]
            if len(set(kinds)) == 1 and kinds[0][0] != NODE:
                together.append((rank, [seat for seat, _, _ in its]))
                kind, label = kinds[0]
                continue
            for (kind, label), pieces in groupby(its, lambda piece: (piece[1], piece[2])):
                held = [seat for seat, _, _ in pieces]
                bare = [Run(range(rank, rank + 1), node, kind, 0, 0, 1, 0, label) for node, index in held if index < 0]
                found += [Repeat((run,)) for run in bare or compress([(rank, held)], kind, label)]
        if together:
            found += [Repeat((run,)) for run in compress(together, kind, label)]
    return found
