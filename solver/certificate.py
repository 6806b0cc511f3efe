"""Why something is impossible, as one sum that a person can check: so much is needed, so much is there."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import lcm

from ..models.component import Component
from ..models.node_group import ACCELERATOR
from ..models.problem import Problem
from .layout import Bundle, Layout
from .rules.fits_memory import peak
from .wording import listed, plural

MAX_KINDS = 8


@dataclass(frozen=True)
class Row:
    """These components need `need` pieces of `size` resources, and where they may go there are `have`."""

    components: tuple[Component, ...]
    kind: str
    size: int
    need: int
    have: int
    place: str

    def __str__(self) -> str:
        what = "accelerator" if self.kind == ACCELERATOR else self.kind
        unit = plural(what, self.need) if self.size == 1 else f"whole groups of {self.size} {plural(what, 2)}"
        names = listed([component.name for component in self.components])
        return f"{names} {'needs' if len(self.components) == 1 else 'need'} {self.need} {unit}, {self.place} {self.have}"


def counting_row(problem: Problem) -> Row | None:
    """A sum that proves the problem impossible, or None if no such sum does.

    For every set of bundles and every size: what they need, against what the nodes that any of them may use have
    (Hall's condition over the distinct sets of nodes).
    """
    layout = Layout(problem)
    for bundle in layout.bundles:
        if row := _own_amount(layout, bundle):
            return row
    may = {bundle: _eligible(layout, bundle) for bundle in layout.searched}
    for kind in dict.fromkeys(bundle.kind for bundle in layout.searched):
        bundles = [bundle for bundle in layout.searched if bundle.kind == kind]
        kinds = list(dict.fromkeys(may[bundle] for bundle in bundles))[:MAX_KINDS]
        for size in range(1, len(kinds) + 1):
            for chosen in combinations(kinds, size):
                if row := _shortage(layout, kind, [b for b in bundles if may[b] <= frozenset().union(*chosen)], frozenset().union(*chosen)):
                    return row
    return None


def _own_amount(layout: Layout, bundle: Bundle) -> Row | None:
    """No amount between what the members ask for at least and at most is a multiple of what they come in."""
    step = lcm(bundle.unit, *(component.step for component in bundle.components))
    least = max(component.least for component in bundle.components)
    most = min(component.most for component in bundle.components)
    held = sum(mask.bit_count() for mask in layout.fixed.get(bundle, {}).values())
    if bundle.fixed and not least <= held <= most:
        return Row(bundle.components, bundle.kind, 1, least if held < least else most, held, f"the ranks given to {bundle.fixed.name} are")
    rounded = -(-least // step) * step
    if not bundle.fixed and rounded > most:
        return Row(bundle.components, bundle.kind, 1, rounded, most, f"in multiples of {step}; they ask for at most")
    return None


def _eligible(layout: Layout, bundle: Bundle) -> frozenset[int]:
    """The ranks of the nodes that every member of the bundle may use."""
    problem, need = layout.problem, peak(bundle.components)
    ranks = set(range(len(problem.cluster.nodes)))
    for component in bundle.components:
        ranks &= problem.cluster.members(component.node_groups)
    models = {component.accelerator_model for component in bundle.components if component.accelerator_model}
    if bundle.kind != ACCELERATOR:
        return frozenset(ranks)
    nodes = (problem.cluster.nodes[rank] for rank in ranks)
    return frozenset(
        node.rank
        for node in nodes
        if (node.accelerator_memory is None or node.accelerator_memory >= need) and models <= {node.accelerator_model}
    )


def _shortage(layout: Layout, kind: str, bundles: list[Bundle], nodes: frozenset[int]) -> Row | None:
    for size in sorted({bundle.unit for bundle in bundles} | {1}):
        # Only pieces that this size divides can be counted in it.
        large = [bundle for bundle in bundles if bundle.unit % size == 0]
        need = sum(bundle.unit // size * bundle.least for bundle in large)
        have = sum(layout.free[node, kind].bit_count() // size for node in nodes)
        if large and need > have:
            everywhere = len(nodes) == len(layout.problem.cluster.nodes)
            place = "the cluster has" if everywhere else f"the {len(nodes)} {plural('node', len(nodes))} that may be used {'has' if len(nodes) == 1 else 'have'}"
            members = tuple(component for bundle in large for component in bundle.components)
            return Row(members, kind, size, need, have, place)
    return None
