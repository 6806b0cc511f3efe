"""Comparison of a placement with the hints of a component."""

from __future__ import annotations

from dataclasses import replace
from typing import Collection, Sequence

from ...component import Component
from ...findings.finding import Finding, error
from ...findings.wording import are, plural, with_noun
from ...machines.node_group import ACCELERATOR, NODE
from ...placements.assignment import Assignment
from ...placements.run import Run
from ...quantity import Counts, add, holds, nearest, write_counts

CODE = "PW209"


def with_placement_amounts(
    component: Component, runs: Sequence[Run], kind: str, sizes: Collection[int], findings: list[Finding]
) -> Component:
    """Return the component with the amounts of its placement; differing hints become findings.

    `sizes` is the set of resource counts of the processes. A process that shares a resource with
    other processes counts as if it had the resource alone, as in the rule on placed components
    (solver/rules/amounts/all_placed.py).
    """
    assignment = Assignment({component.name: runs})
    processes, occupied = assignment.world_size(component.name), assignment.held(component.name, kind)
    per_process = 1 if kind == NODE or len(sizes) != 1 else max(1, *sizes)
    if kind == NODE and "amount" in component.spans:
        return component  # the rule reports it
    if kind != NODE and (fault := _fault(component, kind, processes, (occupied, assignment.amount(component.name)), sizes)):
        findings.append(fault)
    amount, has_amount = processes * per_process, "amount" in component.spans
    least, most = (min(component.least, amount), max(component.most, amount)) if has_amount else (amount, amount)
    return replace(component, per_process=per_process, least=least, most=most, counts=add(component.counts, amount) if has_amount else ())


def _fault(component: Component, kind: str, processes: int, occupied: tuple[int, int], sizes: Collection[int]) -> Finding | None:
    """Return an error if the placement does not match the hints, else None.

    `occupied` is the number of resources, with a shared resource counted once and counted per
    process.
    """
    name, spans, per_process = component.name, component.spans, component.per_process
    noun = "accelerator" if kind == ACCELERATOR else kind
    requested = component.counts or ((component.least, component.most),)
    if "accelerators" in spans and not any(map(component.may_have, occupied)):
        return _mismatch(component, "accelerators", requested, noun, occupied[0])
    if "accelerators_per_process" in spans and set(sizes) != {per_process}:
        gives = " or ".join(map(str, sorted(sizes)))
        message = f"{name} asks for {with_noun(per_process, noun)} a process, its placement gives {gives}"
        advice = f"place {per_process} a process, or {f'ask for {gives}' if len(sizes) == 1 else 'drop `accelerators_per_process`'}"
        return error(CODE, name, message, spans["accelerators_per_process"], help=advice)
    requested = tuple((-(-low // per_process), high // per_process) for low, high in requested)
    if "processes" in spans and not holds(requested, processes):
        return _mismatch(component, "processes", requested, "process", processes)
    return None


def _mismatch(component: Component, key: str, requested: Counts, noun: str, placed: int) -> Finding:
    wanted = nearest(requested, placed)
    message = f"{component.name} asks for {write_counts(requested)} {plural(noun, requested[-1][1])}, {placed} {are(placed)} placed"
    advice = f"place {wanted}, or ask for {placed}"
    return error(CODE, component.name, message, component.spans[key], help=advice, witnesses=(placed,), amount=abs(wanted - placed))
