"""What must be kept together and is not searched so, and what would help."""

from __future__ import annotations

from itertools import combinations
from typing import Iterator

from ...models.component import ZERO_COPY, Component
from ...models.locality import TP, WHOLE
from ...models.machines.topology import NUMA
from ..layout.bundle import Bundle
from ..layout.grain import whole_in
from ..layout.layout import Layout
from ..layout.ranks.seating import can_be_seated
from ..wording import level_name
from .demands import Reason


def unsearched_keeps(layout: Layout) -> Iterator[Reason]:
    """Groups inside domains that cross each other, inside NUMA domains of what is itself searched, and the like."""
    for bundle in layout.searched:
        yield from _levels(layout, bundle)
        yield from _numa_orders(layout, bundle)
        host = layout.pool_of[bundle].host
        for component in bundle.components:
            if host is not None and bundle.piece > 1:
                why = f"groups of {component.name} must lie inside NUMA domains, and {host.name} around it has no place yet"
                yield component.name, why, f"give {host.name} ranks"
            yield from _whole(component)
            yield from _any_order(component)
    for relation in layout.problem.related(ZERO_COPY):
        for component in (layout.problem[name] for name in relation.components):
            its = layout.bundle_of.get(component.name)
            if its and not its.fixed and its.unit % component.parallel.tp:
                why = f"tp groups of {component.name} may lie on several nodes, and where each part of the weights is then is not searched"
                yield component.name, why, f"keep its tp groups in one node, or drop `{ZERO_COPY.replace(' ', '_')}_with`"


def _numa_orders(layout: Layout, bundle: Bundle) -> Iterator[Reason]:
    """Orders of ranks that could be kept only where a NUMA domain holds more than one piece."""
    if bundle.piece > 1 and not can_be_seated(layout, bundle) and can_be_seated(layout, bundle, numa=False):
        name = next(component.name for component in bundle.components if whole_in(layout.problem, component, NUMA) > 1)
        why = f"groups of {name} must lie inside NUMA domains, in an order of ranks that others on its accelerators demand"
        yield name, why, f"take `numa` out of `keep` of {name}"


def _levels(layout: Layout, bundle: Bundle) -> Iterator[Reason]:
    """Levels whose domains cross, so that ranks cannot go through both domain by domain."""
    for (wide, _), (narrow, _) in combinations(bundle.wholes, 2):
        if not layout.neighbours.nests(wide, narrow):
            name = bundle.components[0].name
            why = f"groups of {bundle.name} must lie inside one {level_name(wide)} and inside one {level_name(narrow)}, and these cross"
            yield name, why, f"put every {level_name(narrow)} into one {level_name(wide)}, or keep groups together in one of the two only"


def _whole(component: Component) -> Iterator[Reason]:
    for keep in component.keep:
        if keep.required and keep.what == WHOLE and keep.level == NUMA and not (keep.domains == 1 and component.least == component.most):
            why = f"{component.name} must lie in {keep.domains} NUMA domains, which is searched for one domain and one amount alone"
            yield component.name, why, f"keep {component.name} in one node, or its tp groups in NUMA domains"


def _any_order(component: Component) -> Iterator[Reason]:
    kept = [keep for keep in component.keep if keep.required and keep.what != WHOLE]
    if kept and component.contiguous and component.any_order:
        why = f"the processes of {component.name} may lie in its range in any order, and which groups that keeps together is not searched"
        what = "tp groups" if kept[0].what == TP else "groups"
        yield component.name, why, f"give {component.name} ranks, or do not keep its {what} together"
