"""Check that processes can start as their runs say.

Each process needs one node and one kind of hardware.
"""

from __future__ import annotations

from typing import Sequence

from ..placements.run import Run, repeats_of


def why_not(runs: Sequence[Run], in_order: bool) -> str:
    """Return the code of the rule that a component's runs break; else "".

    The cost grows with repeats. PW203: a process on several nodes. PW302: a process with two kinds
    of hardware. PW210: with `in_order`, a node after a higher one. PW108: a resource numbered in
    two node groups, and held through both.
    """
    before: Run | None = None
    for repeat in repeats_of(runs):
        for run in repeat.runs:
            if before is not None:
                if run.ranks.start < before.ranks.stop:
                    if run.node != before.node:
                        return "PW203"
                    if run.kind != before.kind:
                        return "PW302"
                if in_order and run.node < before.node:
                    return "PW210"
            before = run
        before = repeat.on(repeat.nodes - 1)[-1]
    return "PW108" if twice(runs) else ""


def twice(runs: Sequence[Run]) -> tuple[Run, str, int] | None:
    """Return (run, second group's label, lowest resource held through both groups); else None."""
    if len({run.node_group for repeat in repeats_of(runs) for run in repeat.runs}) < 2:
        return None
    masks_by_node: dict[tuple[int, str], dict[str, int]] = {}
    for run in runs:
        groups = masks_by_node.setdefault((run.node, run.kind), {})
        for label, mask in groups.items():
            both = mask & run.mask
            if label != run.node_group and both:
                return run, label, (both & -both).bit_length() - 1
        groups[run.node_group] = groups.get(run.node_group, 0) | run.mask
    return None
