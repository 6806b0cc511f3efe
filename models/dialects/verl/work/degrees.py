"""What mends degrees that do not divide the ranks, which of them are verl's defaults, and when verl would notice.

Source: verl, verl/utils/config.py (validate_config); verl/workers/fsdp_workers.py, megatron_workers.py (_build_rollout).
"""

from __future__ import annotations

from dataclasses import replace
from math import gcd, prod
from typing import Mapping

from ....component import Component
from ....configuration.settings import Amount
from ....findings.fix import Fix
from ....pools.pool import Pool
from ..components.parallel import OWNERS, engine, is_served, trained
from ..entries import Kind
from .notices import AFTER_WEIGHTS, AT_START, IN_WORKERS, UNCHECKED_AT_START, WITH_REWARD
from .work import DEGREES, Work

TRIED = ("tp", "pp", "cp", "dp")


def mend_degrees(work: Work) -> None:
    """Gives every component that does not divide what would mend it."""
    work.setup.components = tuple(_with_advice(work, _with_fix(work, component)) for component in work.setup.components)


def _with_fix(work: Work, component: Component) -> Component:
    pool, amounts = work.setup.pool(component.name), _amounts(work, component)
    if pool is None or component.parallel.replica == 1 or not amounts:
        return component
    whole = is_engine(work, component.name)
    if _fits(pool, whole, component.parallel.replica):
        return component
    degrees = {name: amount.value for name, amount in amounts.items() if name in TRIED}
    help_, edit = f"give {component.name} a number of accelerators that {component.parallel.replica} divides", None
    for name in (name for name in TRIED if name in degrees and degrees[name] > 1):
        rest = prod(value for other, value in degrees.items() if other != name)
        fitting = [value for value in range(1, pool.size + 1) if _fits(pool, whole, value * rest)]
        if fitting:
            best = min(fitting, key=lambda value: (abs(value - degrees[name]), value))
            help_, edit = work.set(amounts[name], best), amounts[name].becomes(best)
            break
    silent = _defaults(amounts)
    fixes = {DEGREES: Fix(help_, edit, (*silent, _when(work, component.name))), "PW214": Fix(help_, edit, silent)}
    return replace(component, fixes={**component.fixes, **fixes})


def _with_advice(work: Work, component: Component) -> Component:
    """What keeps tensor parallel groups inside a node: their size divides every part of the pool."""
    pool, amounts = work.setup.pool(component.name), _amounts(work, component)
    if pool is None or "tp" not in amounts or not pool.size:
        return component
    best = gcd(amounts["tp"].value, *(parts.size for parts in pool.parts))
    if best == amounts["tp"].value:
        return component
    fix = Fix(f"{work.set(amounts['tp'], best)} if the model fits into that", None, _defaults(amounts))
    return replace(component, fixes={**component.fixes, "PW202": fix})


def is_engine(work: Work, name: str) -> bool:
    """Is the component served by an inference engine?"""
    return name == "rollout" or (name == "reward_model" and bool(is_served(work.settings, work.setup.entry)))


def when_served(work: Work, name: str, otherwise: str = AFTER_WEIGHTS) -> str:
    """When verl starts the servers of a component: those of a reward model in the pool of the trainer come first of all."""
    own = work.settings.flag("reward_model.enable_resource_pool", DEGREES)
    return WITH_REWARD if name == "reward_model" and own is False else otherwise


def _amounts(work: Work, component: Component) -> Mapping[str, Amount]:
    """The degrees of a component, by the names that a Parallel has for them."""
    if component.name == "rollout":
        found = engine(work.settings, "rollout" if work.setup.entry.kind is Kind.GENERATION else "actor_rollout_ref.rollout")
    elif is_engine(work, component.name):
        found = engine(work.settings, "reward_model.rollout")
    else:
        known = component.name in OWNERS
        found = trained(work.settings, OWNERS[component.name], work.setup.section(component.name)) if known else None
    return found[1] if found else {}


def _fits(pool: Pool, whole: bool, size: int) -> bool:
    """Does a replica of this size divide a pool, and lie inside one of its parts or on whole ones where it must?"""
    return pool.size % size == 0 and not (whole and any(parts.size % size and size % parts.size for parts in pool.parts))


def _defaults(amounts: Mapping[str, Amount]) -> tuple[str, ...]:
    """Which of the numbers nobody wrote."""
    silent = [amount for amount in amounts.values() if amount.span is None and amount.value > 1 and amount.default]
    return tuple(f"nobody wrote `{amount.name}`; {amount.value} is the default ({amount.default})" for amount in silent)


def _when(work: Work, name: str) -> str:
    if is_engine(work, name):
        return when_served(work, name)
    if name != "actor" or not work.is_checked_at_start:
        return IN_WORKERS
    dynamic = work.settings.flag("actor_rollout_ref.actor.use_dynamic_bsz", DEGREES)
    return UNCHECKED_AT_START if dynamic else AT_START
