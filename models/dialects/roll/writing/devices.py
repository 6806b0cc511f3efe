"""Where a component is, as ROLL says it: device ids in the order of the ranks, so many for each worker."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Sequence

from ....component import Component
from ....conversion.losses import refusal
from ....findings.finding import Finding
from ....findings.wording import with_noun
from ....machines.node_group import ACCELERATOR
from ....placements.assignment import Run, seats
from ....problem import Problem
from ..mapping.ids import Ids


@dataclass(frozen=True, slots=True)
class Numbering:
    """Nodes from rank 0 on with so many accelerators each: id g is accelerator g % per_node of node g // per_node."""

    per_node: int
    nodes: int


def numbering(problem: Problem, reasons: list[Finding]) -> Numbering:
    """How ROLL numbers what is used. `reasons` (PW606) gets every node in between that has not as many accelerators as the others."""
    cluster = problem.cluster
    used = [run.node for component in problem.components for run in component.runs or () if run.kind == ACCELERATOR]
    open_ = any(component.runs is None for component in problem.components)
    counts = [len(node.accelerators) for node in cluster.nodes[: len(cluster.nodes) if open_ else max(used, default=0) + 1]]
    while counts and not counts[-1] and open_:
        counts.pop()
    per_node = max(counts, default=0)
    for rank, count in enumerate(counts):
        if count != per_node:
            message = f"ROLL numbers nodes of {with_noun(per_node, 'accelerator')} each, but node {rank} has {count}"
            reasons.append(refusal("", message, "use nodes that are alike, before all others"))
            break
    return Numbering(per_node, max(len(counts), 1))


def device_ids(component: Component, runs: Sequence[Run], numbered: Numbering, reasons: list[Finding]) -> tuple[Ids, int]:
    """(the ids in rank order, how many each process holds). `reasons` (PW606) gets what ROLL cannot say."""
    held = [[node * numbered.per_node + index for (node, index), _, _ in its] for _, its in seats(runs)]
    if {run.kind for run in runs} != {ACCELERATOR}:
        kinds = " and ".join(sorted({run.kind for run in runs} - {ACCELERATOR}))
        reasons.append(
            refusal(component.name, f"`{component.name}` is on {kinds}s; ROLL places on accelerators and CPUs only", "leave it out")
        )
        return Ids(), 1
    sizes = sorted({len(its) for its in held})
    if len(sizes) > 1:
        message = f"the processes of `{component.name}` hold {' or '.join(map(str, sizes))} accelerators; in ROLL all hold as many"
        reasons.append(refusal(component.name, message, "give all the same number"))
    return Ids.of(range(each, each + 1) for its in held for each in its), sizes[0]
