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
    """These components need `need` of something of which there are `have`; the sentence says of what."""

    components: tuple[Component, ...]
    need: int
    have: int
    sentence: str

    def __str__(self) -> str:
        return self.sentence


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
    """No amount satisfies all members of the bundle, whatever the cluster is."""
    members = bundle.components
    step = lcm(bundle.unit, *(component.step for component in members))
    least = max(component.least for component in members)
    most = min(component.most for component in members)
    names = listed([component.name for component in members])
    shared = f"{names} share their accelerators: " if len(members) > 1 else f"{names}: "
    if bundle.fixed:
        held = sum(mask.bit_count() for mask in layout.fixed[bundle].values())
        if not least <= held <= most:
            asked = f"at least {least}" if held < least else f"at most {most}"
            sentence = f"{shared}{bundle.fixed.name} is given {held}, {asked} are asked for"
            return Row(members, least if held < least else held, held if held < least else most, sentence)
    elif least > most:
        return Row(members, least, most, f"{shared}together at least {least}, at most {most}")
    elif -(-least // step) * step > most:
        amounts = str(least) if least == most else f"{least} to {most}"
        return Row(members, -(-least // step) * step, most, f"{shared}{amounts} holds no multiple of {step}")
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
            members = tuple(component for bundle in large for component in bundle.components)
            return Row(members, need, have, _sentence(layout, members, kind, size, need, have, len(nodes)))
    return None


def _sentence(layout: Layout, members: tuple[Component, ...], kind: str, size: int, need: int, have: int, nodes: int) -> str:
    what = "accelerator" if kind == ACCELERATOR else kind
    unit = plural(what, need) if size == 1 else f"whole groups of {size} {plural(what, size)}"
    verb = "needs" if len(members) == 1 else "need"
    place = "the cluster" if nodes == len(layout.problem.cluster.nodes) else f"the {nodes} {plural('node', nodes)} that may be used"
    own = "has" if place == "the cluster" or nodes == 1 else "have"
    return f"{listed([component.name for component in members])} {verb} {need} {unit}, {place} {own} {have}"
