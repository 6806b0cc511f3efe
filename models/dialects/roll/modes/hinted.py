"""Roles that are left to solve: their strategy fixes the degrees, whatever the hints say."""

from __future__ import annotations

from dataclasses import replace
from math import lcm

from ....component import Component
from ....findings.wording import with_noun
from ..roles.role import Role
from ..roles.setup import Setup
from .degrees import FSDP2, SGLANG, VLLM, Degrees, searched
from .fsdp2 import in_meshes, searched_ranks
from .notices import IN_WORKERS

HINTS, DIVIDES, MATCHES, IGNORED = "PW121", "PW208", "PW403", "PW124"
_BY = "the strategy of the role makes it"


def hinted(setup: Setup, role: Role, component: Component, its: Degrees) -> Component:
    """The component with whole replicas of its strategy; hints that say otherwise contradict it."""
    each = role.num_gpus_per_worker or component.per_process
    _workers(setup, role, component, each)
    ranks = searched_ranks(setup, role, its, component) if role.strategy in FSDP2 else component
    parallel = ranks.parallel if role.strategy in FSDP2 else searched(its, role.strategy, each)
    if role.strategy == SGLANG and its.parallel.replica != each:
        _parts(setup, role, its, each)
        return component
    if parallel is None:
        return component
    choices = setup.choices.pop(role.key, (component.parallel,))
    demanded = its.parallel
    if component.timed and "parallel" in component.spans:
        setup.choices[role.key] = choices  # they are chosen, and written into the strategy
    elif "parallel" in component.spans and not any(
        (hint.tp, hint.pp, hint.cp) == (demanded.tp, demanded.pp, demanded.cp) for hint in choices
    ):
        said = " or ".join(str(hint) for hint in choices)
        message = f"`parallel` of `{role.key}` is {said}, but {_BY} {demanded}"
        help = "drop `parallel`, or change the strategy"
        setup.notes.error(HINTS, role.key, message, component.spans["parallel"], "", help)
    found = replace(ranks, parallel=parallel)
    whole(setup, role, in_meshes(found), "its strategy needs")
    return _engines(setup, role, found) if role.strategy == VLLM else found


def passed_over(setup: Setup, role: Role, component: Component, its: Degrees) -> None:
    """A warning where the hints of a role with a place, which no times choose, say other degrees than its strategy: that holds."""
    demanded, choices = its.parallel, setup.choices.get(role.key, (component.parallel,))
    same = any((hint.tp, hint.pp, hint.cp) == (demanded.tp, demanded.pp, demanded.cp) for hint in choices)
    if component.timed or "parallel" not in component.spans or same:
        return
    said = " or ".join(str(hint) for hint in choices)
    message = f"`parallel` of `{role.key}` is {said}, but the role has its place and {_BY} {demanded}: the hint is ignored"
    help = "drop `parallel`, or give the role `seconds`, by which its degrees are chosen"
    setup.notes.warn(IGNORED, role.key, message, component.spans["parallel"], "ignored", help)


def _parts(setup: Setup, role: Role, its: Degrees, each: int) -> None:
    """An engine of sglang on one node is as many parts as its worker has devices, and what is searched is on one node."""
    size, key = its.parallel.replica, role.path("num_gpus_per_worker")
    message = f"the engine of {role.key} has tp {its.tp.value} x pp {its.pp.value} = {with_noun(size, 'part')}, but a worker gets {with_noun(each, 'GPU')}"
    edit = setup.settings.becomes(key, str(size))
    setup.notes.error(
        MATCHES, role.key, message, its.tp.span or role.span, with_noun(size, "part"), f"set `{key}: {size}`", edit, IN_WORKERS
    )


def _engines(setup: Setup, role: Role, component: Component) -> Component:
    """Data parallel ranks of vLLM are the workers, so that their number is given."""
    dp = setup.settings.whole(role.config("data_parallel_size"), MATCHES, 1, exact=True)
    if dp is None or dp.value <= 1:
        return component
    amount = dp.value * component.per_process
    if component.may_have(amount):
        return replace(component, least=amount, most=amount)
    message = f"{dp.said} makes `{role.key}` {with_noun(amount, 'accelerator')}, which its hints do not allow"
    setup.notes.error(MATCHES, role.key, message, component.span("amount") or role.span, "", f"ask for {with_noun(amount, 'accelerator')}")
    return component


def in_groups_of(setup: Setup, role: Role, each: int, other: str) -> None:
    """A role that is left to solve, and trains on GPUs of another one: an exact number of its ranks is whole groups for the workers of that one.

    Of other numbers the search takes those that are: both are in step (`Job.in_step`).
    """
    component = in_meshes(setup.components[role.key])
    step, replica = lcm(component.step, each), component.parallel.replica
    if step > component.step and replica:
        parallel = replace(component.parallel, dp=component.parallel.dp * step // component.step)
        whole(setup, role, replace(component, parallel=parallel), f"to share GPUs with the workers of {other} it needs")


def whole(setup: Setup, role: Role, component: Component, why: str) -> None:
    """An exact amount is whole replicas."""
    least, step = component.least, component.step
    if least == component.most and least % step:
        lower = least // step * step
        fit = f"{lower} or {lower + step}" if lower else str(step)
        message = f"`{role.key}` asks for {with_noun(least, 'accelerator')}, but {why} a multiple of {step}"
        at = component.span("amount") or role.span
        setup.notes.error(DIVIDES, role.key, message, at, f"no multiple of {step}", f"ask for {fit}")


def _workers(setup: Setup, role: Role, component: Component, each: int) -> None:
    spans = component.spans
    key = next((key for key in ("accelerators_per_process", "processes") if key in spans), "")
    if key and component.per_process != each and (key != "processes" or "accelerators" in spans):
        message = f"the hints give a worker of `{role.key}` {with_noun(component.per_process, 'accelerator')}, but {_BY} {each}"
        setup.notes.error(HINTS, role.key, message, spans[key], "", f"drop `{key}`, or change the strategy")
