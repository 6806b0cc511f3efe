"""Whether a placement gives what the other hints of its component ask for: so many accelerators, so many processes, so many for each."""

from __future__ import annotations

from dataclasses import replace
from typing import Collection, Sequence

from ...component import Component
from ...counts import Counts, holds, nearest, with_one, write_counts
from ...findings.finding import Finding, error
from ...findings.wording import are, plural, with_noun
from ...machines.node_group import ACCELERATOR, NODE
from ...placements.assignment import Assignment
from ...placements.run import Run

CODE = "PW209"


def agreed(component: Component, runs: Sequence[Run], kind: str, sizes: Collection[int], findings: list[Finding]) -> Component:
    """The component with the amounts of its placement, which `findings` say where its hints ask for others.

    `sizes` are the numbers of resources that its processes have, each once. A process that shares its resource with others counts as one
    that has it, as the rule on what is placed counts (solver/rules/amounts/all_placed.py).
    """
    its = Assignment({component.name: runs})
    processes, held = its.world_size(component.name), its.held(component.name, kind)
    each = 1 if kind == NODE or len(sizes) != 1 else max(1, *sizes)
    if kind == NODE and "amount" in component.spans:
        return component  # the rule says it
    if kind != NODE and (fault := _fault(component, kind, processes, (held, its.amount(component.name)), sizes)):
        findings.append(fault)
    amount, said = processes * each, "amount" in component.spans
    least, most = (min(component.least, amount), max(component.most, amount)) if said else (amount, amount)
    return replace(component, per_process=each, least=least, most=most, counts=with_one(component.counts, amount) if said else ())


def _fault(component: Component, kind: str, processes: int, held: tuple[int, int], sizes: Collection[int]) -> Finding | None:
    """What the hints ask for and the placement has not; None if they agree. `held` counts shared resources once, and for each process."""
    name, spans, each = component.name, component.spans, component.per_process
    noun = "accelerator" if kind == ACCELERATOR else kind
    asked = component.counts or ((component.least, component.most),)
    if "accelerators" in spans and not any(map(component.may_have, held)):
        return _other(component, "accelerators", asked, noun, held[0])
    if "accelerators_per_process" in spans and set(sizes) != {each}:
        gives = " or ".join(map(str, sorted(sizes)))
        message = f"{name} asks for {with_noun(each, noun)} a process, its placement gives {gives}"
        advice = f"place {each} a process, or {f'ask for {gives}' if len(sizes) == 1 else 'drop `accelerators_per_process`'}"
        return error(CODE, name, message, spans["accelerators_per_process"], help=advice)
    asked = tuple((-(-low // each), high // each) for low, high in asked)
    if "processes" in spans and not holds(asked, processes):
        return _other(component, "processes", asked, "process", processes)
    return None


def _other(component: Component, key: str, asked: Counts, noun: str, placed: int) -> Finding:
    wanted = nearest(asked, placed)
    message = f"{component.name} asks for {write_counts(asked)} {plural(noun, asked[-1][1])}, {placed} {are(placed)} placed"
    advice = f"place {wanted}, or ask for {placed}"
    return error(CODE, component.name, message, component.spans[key], help=advice, witnesses=(placed,), amount=abs(wanted - placed))
