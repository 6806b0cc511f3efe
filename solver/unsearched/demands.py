"""Demands on the topology that the search does not take on, and what would help."""

from __future__ import annotations

from itertools import combinations
from typing import Iterator

from ...models.locality import WHOLE
from ...models.machines.topology import LEVELS, NUMA
from ..layout.bundle import Bundle
from ..layout.cells.exactness import is_chain
from ..layout.grain import size_of, unit
from ..layout.layout import Layout
from ..layout.pinned_groups import in_blocks, line_of
from ..wording import level_name

Reason = tuple[str, str, str]
"""(name of a component, what is the case, what would help)."""


def unsearched_demands(layout: Layout) -> Iterator[Reason]:
    """Pins that leave a block of ranks several domains, and wishes that no order of ranks is known to grant."""
    for component in layout.problem.hinted:
        if component.pins and in_blocks(layout.problem, line_of(layout.problem, component)) is None:
            why = f"ranks of {component.name} that are kept together are pinned to nodes in several domains"
            yield component.name, why, "pin them to nodes of one domain"
        line = line_of(layout.problem, component)
        size, interleaved = (
            unit(layout.problem, line),
            [each for each in line if each.contiguous and each.stride > 1 and each.group_size > 1],
        )
        if component.pins and any(size % each.block for each in interleaved):
            why = f"{component.name} has pinned ranks, and groups that interleave may lie on several nodes; which rank is where is not searched then"
            yield component.name, why, f"drop `pin`, or keep the tp groups of {component.name} in one node"
    for bundle in layout.searched:
        yield from _wishes(layout, bundle)


def _wishes(layout: Layout, bundle: Bundle) -> Iterator[Reason]:
    wishes = [(component, keep) for component in bundle.components for keep in component.keep if not keep.required]
    cut = [(component, keep) for component, keep in wishes if keep.what != WHOLE]
    for component, keep in wishes:
        if keep.level == NUMA:
            why = f"what of {component.name} lies in one NUMA domain is searched only where it is required"
            yield component.name, why, f"require it, or take `{keep.what}` out of `keep` of {component.name}"
    if not cut or bundle.contiguous:
        return
    component, keep = cut[0]
    pinned = [each for each in bundle.components if each.pins]
    if component in pinned:
        why = f"{component.name} has pinned ranks and groups that are better kept together; only one of these is searched"
        yield component.name, why, f"drop `pin`, or require what `keep` says of `{keep.what}`"
    elif pinned:
        at = pinned[0].name
        why = f"{at} has pinned ranks, and {component.name} on the same accelerators groups that are better kept together"
        yield (
            component.name,
            f"{why}; only one of these is searched",
            f"drop `pin` of {at}, or require what `keep` of {component.name} says of `{keep.what}`",
        )
    elif layout.problem.job.capabilities.nodes_in_order:
        why = f"the ranks of {component.name} go through the nodes in order, and how many groups that cuts is searched for ranges alone"
        yield component.name, why, f"add `contiguous: true` to {component.name}, or require what `keep` says of `{keep.what}`"
    its_levels = {keep.level for each, keep in cut if size_of(each, keep) > bundle.unit} | {level for level, _ in bundle.wholes}
    for wide, narrow in combinations([level for level in LEVELS if level in its_levels], 2):
        if not layout.neighbours.nests(wide, narrow):
            inside = f"inside one {level_name(wide)} and inside one {level_name(narrow)}"
            why = f"groups of {component.name} are better kept together {inside}, and these cross"
            yield (
                component.name,
                why,
                f"put every {level_name(narrow)} into one {level_name(wide)}, or keep groups together in one of the two only",
            )
    sizes = {size_of(each, its) for each, its in cut} | {bundle.unit} | {size for _, size in bundle.wholes}
    if not is_chain(sizes):
        one, other = next((a, b) for a, b in combinations(sorted(sizes), 2) if b % a)
        why = f"{component.name} has groups of {one} and of {other} accelerators to keep together, and neither size divides the other"
        yield component.name, why, "prefer to keep only one of them together"
