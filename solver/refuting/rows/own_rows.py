"""Sums that show a single bundle impossible, whatever else is asked for."""

from __future__ import annotations

from math import lcm
from typing import Sequence

from ....models.component import Component
from ....models.counts import nearest, write_counts
from ....models.findings.wording import plural
from ....models.machines.node_group import ACCELERATOR
from ....models.placements.assignment import Assignment
from ....models.quantity import write_memory
from ....models.share import Share
from ...layout.amounts import allowed, even, in_groups
from ...layout.bundle import Bundle
from ...layout.ranges.places import longest_free
from ...memory import peak
from ...rules.amounts.all_placed import amount_of
from ...wording import listed
from .question import Question
from .row import Row


def amount_row(question: Question, bundle: Bundle) -> Row | None:
    """No amount satisfies all members of the bundle, whatever the cluster is."""
    members = bundle.components
    step = lcm(bundle.unit, *(component.step for component in members))
    least = max(component.least for component in members)
    most = min(component.most for component in members)
    names = listed([component.name for component in members])
    shared = f"{names} share their accelerators: " if len(members) > 1 else f"{names}: "
    if bundle.fixed and (row := _apart(question, bundle)):
        return row
    if bundle.fixed:
        # What given members asked for themselves is judged with their ranks, of which several may share an accelerator.
        held, others = sum(mask.bit_count() for mask in question.masks(bundle).values()), [c for c in members if c.runs is None]
        least, most = max((c.least for c in others), default=held), min((c.most for c in others), default=held)
        if not least <= held <= most:
            asked = f"at least {least}" if held < least else f"at most {most}"
            sentence = f"{shared}{bundle.fixed.name} is given {held}, {asked} are asked for"
            return Row(members, least if held < least else held, held if held < least else most, sentence)
        if other := next((each for each in others if not each.may_have(held)), None):
            sentence = f"{shared}{bundle.fixed.name} is given {held}, {amount_of(other)} are asked for"
            return Row(members, nearest(other.counts, held), 0, sentence)
    elif least > most:
        return Row(members, least, most, f"{shared}together at least {least}, at most {most}")
    elif -(-least // step) * step > most:
        amounts = str(least) if least == most else f"{least} to {most}"
        return Row(members, -(-least // step) * step, most, f"{shared}{amounts} holds no multiple of {step}")
    elif row := _count_row(bundle, step):
        return row
    return _share_row(question, bundle)


def _count_row(bundle: Bundle, step: int) -> Row | None:
    """None of the counts that the members ask for is one of all of them, and a multiple of what they need."""
    listed_ = [component.counts for component in bundle.components if component.counts and component.least < component.most]
    most = min(component.most for component in bundle.components)
    tried = range(-(-bundle.least * bundle.unit // step) * step, most + 1, step)
    if not listed_ or any(all(component.may_have(count) for component in bundle.components) for count in tried):
        return None
    asked = [f"{component.name} {amount_of(component)}" for component in bundle.components]
    multiple = f", in multiples of {step}" if step > 1 else ""
    together = "no count is one of all of them" if len(asked) > 1 else "none of these is one"
    return Row(bundle.components, tried.start, 0, f"{listed(asked)}{multiple}: {together}")


def _apart(question: Question, bundle: Bundle) -> Row | None:
    """Members of the bundle are given, and not the same resources."""
    for member in (component for component in bundle.components if component.runs is not None):
        held = Assignment({member.name: member.runs or ()}).masks(member.name)
        differ = {node: mask ^ held.get((node, bundle.kind), 0) for node, mask in question.masks(bundle).items()}
        differ |= {node: mask for (node, kind), mask in held.items() if kind == bundle.kind and node not in differ}
        if bundle.fixed and (count := sum(mask.bit_count() for mask in differ.values())):
            names = listed([component.name for component in bundle.components])
            sentence = f"{names} share their accelerators: {bundle.fixed.name} and {member.name} are given, and differ in {count}"
            return Row(bundle.components, count, 0, sentence)
    return None


def _share_row(question: Question, bundle: Bundle) -> Row | None:
    """No amount that the cluster has lets all shares of the bundle come out even."""
    if not any(share.component in {component.name for component in bundle.components} for share in question.problem.shares):
        return None
    if any(map(in_groups, bundle.components)):  # then it may be these that leave no amount
        return None
    room = question.problem.cluster.total(bundle.kind) // bundle.unit
    if bundle.fixed:
        least = most = sum(mask.bit_count() for mask in question.masks(bundle).values())
        uneven = [c for c in bundle.components if c.runs is None and not even(question.problem, c, least)]
    else:
        least, most = bundle.least * bundle.unit, min(bundle.most, room) * bundle.unit
        uneven = list(bundle.components) if least <= most and not allowed(question.layout, bundle, room) else []
    names = [component.name for component in uneven]
    shares = [share for share in question.problem.shares if share.component in names]
    if not shares:
        return None
    names = [name for name in names if any(share.component == name for share in shares)]
    amounts = str(least) if least == most else f"{least} to {most}"
    if said := [write_counts(component.counts) for component in bundle.components if component.counts and not bundle.fixed]:
        amounts = said[0]
    return Row(bundle.components, least, 0, _uneven(names, amounts, "accelerator", shares))


def node_row(question: Question, component: Component) -> Row | None:
    """No number of processes on nodes lets all shares of a component come out even."""
    shares = [share for share in question.problem.shares if share.component == component.name]
    if not shares:
        return None
    dealt = question.layout.dealt.get(component.name)
    processes = dealt.processes if dealt else max((run.ranks.stop for run in question.layout.on_nodes[component.name]), default=0)
    if component.runs is not None or all(share.divides(processes) for share in shares):
        return None
    return Row((component,), component.least, 0, _uneven((component.name,), amount_of(component), "process", shares))


def _uneven(names: Sequence[str], amounts: str, unit: str, shares: Sequence[Share]) -> str:
    dealt = [f"{share.said}{f' in multiples of {share.multiple}' if share.multiple > 1 else ''}" for share in shares]
    return f"{listed(list(names))}: with {amounts} {plural(unit, 2)} {listed(dealt)} cannot be dealt out evenly"


def memory_row(question: Question, bundle: Bundle) -> Row | None:
    """No accelerator that the bundle may use, or one that it is given, has the memory that its members need together."""
    need = peak(bundle.components)
    if bundle.kind != ACCELERATOR or need <= (0 if bundle.fixed else question.census.least_memory):
        return None
    names = listed([component.name for component in bundle.components])
    verb = "needs" if len(bundle.components) == 1 else "together need"
    if bundle.fixed:
        its = [memory for node in question.masks(bundle) if (memory := question.problem.cluster.nodes[node].accelerator_memory) is not None]
        if not its or min(its) >= need:
            return None
        given = f"an accelerator that {bundle.fixed.name} is given has {write_memory(min(its))}"
        return Row(bundle.components, need, min(its), f"{names} {verb} {write_memory(need)}, {given}")
    mask = question.census.may(question.company(bundle), memory=False)
    has = [kind.memory for index, kind in enumerate(question.census.kinds) if mask >> index & 1]
    largest = max((memory for memory in has if memory is not None), default=0)
    if not has or None in has or largest >= need:
        return None
    sentence = f"{names} {verb} {write_memory(need)} on one accelerator, the largest that may be used has {write_memory(largest)}"
    return Row(bundle.components, need, largest, sentence)


def range_row(question: Question, bundle: Bundle) -> Row | None:
    """No free range is long enough, even if the bundle were alone."""
    layout = question.layout
    longest = longest_free(layout, layout.bundle_of[bundle.components[0].name])
    if longest >= bundle.least:
        return None
    need, have = bundle.least * bundle.unit, longest * bundle.unit
    pieces = f" in whole groups of {bundle.unit}" if bundle.unit > 1 else ""
    names = listed([component.name for component in bundle.components])
    verb = "needs" if len(bundle.components) == 1 else "need"
    return Row(
        bundle.components,
        need,
        have,
        f"{names} {verb} one free range of {need} {plural('accelerator', need)}{pieces}, the longest has {have}",
    )
