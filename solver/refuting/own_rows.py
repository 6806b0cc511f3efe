"""Sums that show a single bundle impossible, whatever else is asked for."""

from __future__ import annotations

from math import lcm
from typing import Sequence

from ...models.component import Component
from ...models.machines.node_group import ACCELERATOR
from ...models.placements.assignment import Assignment
from ...models.quantity import write_memory
from ...models.share import Share
from ..layout.amounts import allowed, even
from ..layout.layout import Bundle, Layout
from ..layout.places import longest_free
from ..layout.reach import in_reach
from ..rules.all_placed import amount_of
from ..rules.fits_memory import peak
from ..wording import listed, plural
from .row import Row


def amount_row(layout: Layout, bundle: Bundle) -> Row | None:
    """No amount satisfies all members of the bundle, whatever the cluster is."""
    members = bundle.components
    step = lcm(bundle.unit, *(component.step for component in members))
    least = max(component.least for component in members)
    most = min(component.most for component in members)
    names = listed([component.name for component in members])
    shared = f"{names} share their accelerators: " if len(members) > 1 else f"{names}: "
    if bundle.fixed and (row := _apart(layout, bundle)):
        return row
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
    return _share_row(layout, bundle)


def _apart(layout: Layout, bundle: Bundle) -> Row | None:
    """Members of the bundle are given, and not the same resources."""
    for member in (component for component in bundle.components if component.runs is not None):
        held = Assignment({member.name: member.runs or ()}).masks(member.name)
        differ = {node: mask ^ held.get((node, bundle.kind), 0) for node, mask in layout.fixed[bundle].items()}
        differ |= {node: mask for (node, kind), mask in held.items() if kind == bundle.kind and node not in differ}
        if bundle.fixed and (count := sum(mask.bit_count() for mask in differ.values())):
            names = listed([component.name for component in bundle.components])
            sentence = f"{names} share their accelerators: {bundle.fixed.name} and {member.name} are given, and differ in {count}"
            return Row(bundle.components, count, 0, sentence)
    return None


def _share_row(layout: Layout, bundle: Bundle) -> Row | None:
    """No amount that the cluster has lets all shares of the bundle come out even."""
    room = layout.problem.cluster.total(bundle.kind) // bundle.unit
    if bundle.fixed:
        least = most = sum(mask.bit_count() for mask in layout.fixed[bundle].values())
        uneven = [c for c in bundle.components if c.runs is None and not even(layout.problem, c, least)]
    else:
        least, most = bundle.least * bundle.unit, min(bundle.most, room) * bundle.unit
        uneven = list(bundle.components) if least <= most and not allowed(layout, bundle, room) else []
    names = [component.name for component in uneven]
    shares = [share for share in layout.problem.shares if share.component in names]
    if not shares:
        return None
    names = [name for name in names if any(share.component == name for share in shares)]
    amounts = str(least) if least == most else f"{least} to {most}"
    return Row(bundle.components, least, 0, _uneven(names, amounts, "accelerator", shares))


def node_row(layout: Layout, component: Component) -> Row | None:
    """No number of processes on nodes lets all shares of a component come out even."""
    shares = [share for share in layout.problem.shares if share.component == component.name]
    processes = max((run.ranks.stop for run in layout.on_nodes[component.name]), default=0)
    if component.runs is not None or all(share.divides(processes) for share in shares):
        return None
    return Row((component,), component.least, 0, _uneven((component.name,), amount_of(component), "process", shares))


def _uneven(names: Sequence[str], amounts: str, unit: str, shares: Sequence[Share]) -> str:
    dealt = [f"{share.amount} {share.what}{f' in multiples of {share.multiple}' if share.multiple > 1 else ''}" for share in shares]
    return f"{listed(list(names))}: with {amounts} {plural(unit, 2)} {listed(dealt)} cannot be dealt out evenly"


def memory_row(layout: Layout, bundle: Bundle) -> Row | None:
    """No accelerator that the bundle may use, or one that it is given, has the memory that its members need together."""
    need, names = peak(bundle.components), listed([component.name for component in bundle.components])
    if not need or bundle.kind != ACCELERATOR:
        return None
    cells = (
        [cell for cell in layout.cells if any(node.rank in layout.fixed[bundle] for node in cell.nodes)]
        if bundle.fixed
        else in_reach(layout, bundle)
    )
    known = [memory for cell in cells if (memory := cell.nodes[0].accelerator_memory) is not None]
    verb = "needs" if len(bundle.components) == 1 else "together need"
    if bundle.fixed and known and min(known) < need:
        given = f"an accelerator that {bundle.fixed.name} is given has {write_memory(min(known))}"
        return Row(bundle.components, need, min(known), f"{names} {verb} {write_memory(need)}, {given}")
    if known and len(known) == len(cells) and max(known) < need:
        sentence = f"{names} {verb} {write_memory(need)} on one accelerator, the largest that may be used has {write_memory(max(known))}"
        return Row(bundle.components, need, max(known), sentence)
    return None


def range_row(layout: Layout, bundle: Bundle) -> Row | None:
    """No free range is long enough, even if the bundle were alone."""
    longest = longest_free(layout, bundle)
    if longest >= bundle.least:
        return None
    need, have = bundle.least * bundle.unit, longest * bundle.unit
    pieces = f" in whole groups of {bundle.unit}" if bundle.unit > 1 else ""
    names = listed([component.name for component in bundle.components])
    verb = "needs" if len(bundle.components) == 1 else "need"
    return Row(bundle.components, need, have, f"{names} {verb} one free range of {need} accelerators{pieces}, the longest has {have}")
