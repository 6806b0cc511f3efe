"""Runs written as placement text, or node by node."""

from __future__ import annotations

from itertools import groupby
from typing import Iterator, Sequence

from ..findings.finding import UnusableInput, error
from ..findings.wording import with_noun
from ..machines.cluster import Cluster
from ..machines.node_group import ACCELERATOR, NODE
from ..ranks import write_ranks
from .placement_text import RankRange, join, unite, write_placement
from .run import Run, repeats_of

Data = dict[str, object]
Piece = tuple[range, range, Run, list[int]]
"""(process ranks, node ranks, a run, ordered resources per node)."""


def labels_used(runs: Sequence[Run], preferred_labels: tuple[str, ...]) -> tuple[str, ...]:
    """Return the used groups in the order of `preferred_labels`, else of the ranks."""
    labels = tuple(dict.fromkeys(run.node_group for repeat in repeats_of(runs) for run in repeat.runs))
    in_order = tuple(label for label in preferred_labels if label in labels)
    return in_order if set(in_order) == set(labels) else labels


def best_text(name: str, runs: Sequence[Run], cluster: Cluster, preferred_labels: tuple[str, ...]) -> tuple[tuple[str, ...], str]:
    """Return (labels to write, placement text).

    Labels are the used groups, in the order of `preferred_labels` if possible, else as the ranks meet them.
    Raises UnusableInput as `placement_text` does.
    """
    labels_met = labels_used(runs, ())
    refusal: UnusableInput | None = None
    for labels in dict.fromkeys((labels_used(runs, preferred_labels), labels_met)):
        try:
            return labels, placement_text(name, runs, cluster, labels, says_all=True)
        except UnusableInput as problem:
            refusal = problem
    if len(labels_met) > 1:
        groups = ", ".join(f"`{label}`" for label in labels_met)
        why = f"in no order of the groups {groups} its processes go up from resource to resource"
        raise _inexpressible(name, why, "declare one node group over their nodes, or name one of them")
    raise refusal or _inexpressible(name, "it has no processes")


def placement_text(name: str, runs: Sequence[Run], cluster: Cluster, labels: tuple[str, ...], says_all: bool = False) -> str:
    """Return the shortest text of the runs: `0-7,16-23`, `0-7:0-3` or `0-3:0-31`.

    With `says_all`, `all` stands for all resources. Raises UnusableInput (PW603) if text cannot
    express the runs: a stride, holes or a disorder inside one process, resources that do not ascend
    from process to process, several resources of one process that another process shares.
    """
    if not runs:
        raise _inexpressible(name, "it has no processes")
    strange = [label for label in labels if label not in cluster.groups]
    if strange:
        raise _inexpressible(name, f"the file has no node group `{strange[0]}`")
    pairs, rank = list[RankRange](), 0
    for (first, per_process), sharers in groupby(_processes(name, runs, cluster, labels)):
        count = sum(1 for _ in sharers)
        if count > 1 and per_process > 1:
            raise _inexpressible(name, f"the processes from {rank} on share {with_noun(per_process, 'resource')} each")
        pairs.append(RankRange(first, first + per_process, count))
        rank += count
    pairs, rank = list(join(pairs, unite)), 0
    for before, after in zip(pairs, pairs[1:]):
        rank += before.processes
        if after.start < before.stop:
            raise _inexpressible(name, f"process {rank} is on a lower resource than the processes before it")
    # With mixed kinds RLinf counts differently, and `all` exceeds the resources.
    is_one_kind = says_all and len({cluster.groups[label].kind for label in labels}) == 1
    return write_placement(pairs, cluster.numbering(labels).size if is_one_kind else 0)


def _processes(name: str, runs: Sequence[Run], cluster: Cluster, labels: tuple[str, ...]) -> Iterator[tuple[int, int]]:
    """Yield (first resource rank, number of resources) of every process, in rank order."""
    starts, next_rank = cluster.numbering(labels).first_in, 0
    for run in runs:
        start = starts.get((run.node, run.node_group))
        if start is None or run.ranks.start != next_rank:
            raise _inexpressible(name, f"process {run.ranks.start} is not on one node of {', '.join(labels)}, in the order of the ranks")
        next_rank = run.ranks.stop
        if run.each > 1 and run.step != 1:
            raise _inexpressible(name, f"the resources of process {run.ranks.start} are not one solid range (step {run.step})")
        for i in range(len(run.ranks)):
            yield (start, 1) if run.kind == NODE else (start + run.first + i * run.pitch, run.each)


def _inexpressible(name: str, why: str, otherwise: str = "launch from the plan itself") -> UnusableInput:
    message = f"no placement text can hold `{name}`: {why}"
    return UnusableInput([error("PW603", name, message, help=otherwise)])


def placement_list(runs: Sequence[Run], names_group: bool) -> list[Data]:
    """Return list entries as data, one for equal nodes; with `names_group`, entries name their group."""
    pieces = join(join(_pieces(runs), _merge_on_node), _merge_nodes)
    return [_entry(ranks, nodes, run, resources, names_group) for ranks, nodes, run, resources in pieces]


def _pieces(runs: Sequence[Run]) -> Iterator[Piece]:
    for repeat in repeats_of(runs):
        resources = [index for run in repeat.runs for index in _list_held(run)]
        shapes = {(run.each, 0 if run.pitch else len(run.ranks)) for run in repeat.runs}
        if repeat.nodes > 1 and len(shapes) == 1 and all(map(_equal_shares, repeat.runs)) and len(set(resources)) == len(resources):
            yield repeat.ranks, repeat.node_ranks, repeat.runs[0], resources
            continue
        for run in repeat:
            for ranks in [run.ranks] if _equal_shares(run) else [range(rank, rank + 1) for rank in run.ranks]:
                resources = _list_held(run) if len(ranks) > 1 else list(run.list_held(ranks.start))
                yield ranks, range(run.node, run.node + 1), run, resources


def _equal_shares(run: Run) -> bool:
    """Return True if the processes divide resources, or share a single one."""
    resources = _list_held(run)
    return len(set(resources)) == len(resources) and bool(run.pitch or run.each <= 1 or len(run.ranks) == 1)


def _list_held(run: Run) -> list[int]:
    """Return the resources of a run in process order; shared ones once."""
    return [index for rank in (run.ranks if run.pitch else run.ranks[:1]) for index in run.list_held(rank)]


def _merge_on_node(first: Piece, second: Piece) -> Piece | None:
    """Return neighbours on a node with equal shares as a single piece, else None."""
    (ranks, nodes, run, resources), (next_ranks, next_nodes, next_run, next_resources) = first, second
    same = ranks.stop == next_ranks.start and nodes == next_nodes and len(nodes) == 1
    is_same_kind = (run.kind, run.node_group) == (next_run.kind, next_run.node_group)
    even = bool(resources) and len(resources) * len(next_ranks) == len(next_resources) * len(ranks)
    goes_on = same and is_same_kind and even and not set(resources) & set(next_resources)
    return (range(ranks.start, next_ranks.stop), nodes, run, resources + next_resources) if goes_on else None


def _merge_nodes(first: Piece, second: Piece) -> Piece | None:
    """Return equal neighbours on consecutive nodes as a single piece, else None."""
    (ranks, nodes, run, resources), (next_ranks, next_nodes, next_run, next_resources) = first, second
    is_same_kind = (run.kind, run.node_group, resources) == (next_run.kind, next_run.node_group, next_resources)
    goes_on = is_same_kind and (ranks.stop, nodes.stop) == (next_ranks.start, next_nodes.start)
    even = len(ranks) * len(next_nodes) == len(next_ranks) * len(nodes)
    return (range(ranks.start, next_ranks.stop), range(nodes.start, next_nodes.stop), run, resources) if goes_on and even else None


def _entry(ranks: range, nodes: range, run: Run, resources: list[int], names_group: bool) -> Data:
    entry: Data = {"ranks": _plain(ranks), "node": _plain(nodes)}
    if run.kind != NODE:
        entry["accelerators" if run.kind == ACCELERATOR else "hardware"] = _plain(resources)
    return entry | ({"node_group": run.node_group} if names_group else {})


def _plain(numbers: Sequence[int]) -> object:
    """Return a single number, `0-7` for consecutive numbers, else the list."""
    if len(numbers) == 1:
        return numbers[0]
    solid = all(second == first + 1 for first, second in zip(numbers, numbers[1:]))
    return write_ranks((range(numbers[0], numbers[-1] + 1),)) if solid else list(numbers)
