"""Roles that are left to solve: their strategy fixes the degrees, whatever the hints say."""

from __future__ import annotations

from dataclasses import replace

from ....component import Component
from ..roles.role import Role
from ..roles.setup import Setup
from .degrees import SGLANG, Degrees, searched

HINTS, DIVIDES = "PW121", "PW208"
_BY = "the strategy of the role makes it"


def hinted(setup: Setup, role: Role, component: Component, its: Degrees) -> Component:
    """The component with whole replicas of its strategy; hints that say otherwise contradict it."""
    each = role.num_gpus_per_worker or component.per_process
    _workers(setup, role, component, each)
    parallel = searched(its, role.strategy, each)
    if parallel is None or (role.strategy == SGLANG and its.parallel.replica != each):
        return component
    choices = setup.choices.pop(role.key, (component.parallel,))
    demanded = its.parallel
    if "parallel" in component.spans and not any(
        (hint.tp, hint.pp, hint.cp) == (demanded.tp, demanded.pp, demanded.cp) for hint in choices
    ):
        said = " or ".join(str(hint) for hint in choices)
        message = f"`parallel` of `{role.key}` is {said}, but {_BY} {demanded}"
        help = "drop `parallel`, or change the strategy"
        setup.notes.error(HINTS, role.key, message, component.spans["parallel"], "", help)
    found = replace(component, parallel=parallel)
    if component.least == component.most and component.least % found.step:
        lower = component.least // found.step * found.step
        fit = f"{lower} or {lower + found.step}" if lower else str(found.step)
        message = f"`{role.key}` asks for {component.least} accelerators, but its strategy needs a multiple of {found.step}"
        at = component.span("amount") or role.span
        setup.notes.error(DIVIDES, role.key, message, at, f"no multiple of {found.step}", f"ask for {fit}")
    return found


def _workers(setup: Setup, role: Role, component: Component, each: int) -> None:
    spans = component.spans
    key = next((key for key in ("accelerators_per_process", "processes") if key in spans), "")
    if key and component.per_process != each and (key != "processes" or "accelerators" in spans):
        message = f"the hints give a worker of `{role.key}` {component.per_process} accelerators, but {_BY} {each}"
        setup.notes.error(HINTS, role.key, message, spans[key], "", f"drop `{key}`, or change the strategy")
