"""Half of the accelerators for actor, rollout and reference, the other half for the critic.

Source: verl, examples/split_placement/main_ppo_split.py (main_task).
"""

from __future__ import annotations

from ....findings.span import Span
from ....findings.wording import with_noun
from ....pools.pool import Parts, Pool
from ..components.roles import ROLES, has_critic, has_reference, has_reward_model
from ..configuration import Configuration
from ..entries import Entry
from ..entries.programs import MAIN_PPO
from .declared import Declared, sized
from .main_ppo import ACCELERATORS, NODES

MODE = "PW123"


def halves(settings: Configuration, entry: Entry) -> Declared:
    """Half of each node where there is one node, half of the nodes where there are several."""
    found = sized(settings, NODES, ACCELERATORS)
    if found is None:
        return Declared(())
    count, size = found
    within = count.value // 2 == 0 and size.value // 2 > 0
    part = Parts(size.value // 2, count.value) if within else Parts(size.value, count.value // 2)
    machines = (Parts(size.value, count.value),)
    halved = size if within else count
    at = halved.span or settings.top
    if not part.count:
        message = f"one accelerator ({settings.says(count)}, {settings.says(size)}) cannot be split: both pools would be empty, and verl raises an IndexError"
        settings.notes.error(MODE, entry.trained, message, at, "", f"set `{ACCELERATORS}=2`", size.becomes(2))
        return Declared((), machines)
    if halved.value % 2:
        lost = (
            f"{with_noun(size.value, 'accelerator')} of a node"
            if halved is count
            else f"an accelerator of each of {with_noun(count.value, 'node')}"
        )
        message = f"{settings.says(halved)} is halved and rounded down: {lost} belong to no pool"
        settings.notes.warn("PW804", entry.trained, message, at, "odd", f"set `{halved.name}` to an even number")
    spans: dict[str, Span] = {key: amount.span for key, amount in (("count", count), ("size", size)) if amount.span}
    if spans:
        spans["name"] = next(iter(spans.values()))
    first = ("actor", "rollout", *(("ref",) if has_reference(settings) else ()))
    second = (*(("critic",) if has_critic(settings) is not False else ()), *(("reward_model",) if has_reward_model(settings) else ()))
    _must_have_workers(settings, entry)
    pools = tuple(
        Pool(name, (part,), entry.slots, roles, size.name, count.name, spans)
        for name, roles in ((entry.trained, first), (entry.rolled, second))
    )
    return Declared(pools, machines)


def _must_have_workers(settings: Configuration, entry: Entry) -> None:
    """The second pool is the critic's; a pool without a worker fails."""
    loop = settings.flag("reward_model.use_reward_loop", ROLES)
    if has_critic(settings) is not False or loop is None or (has_reward_model(settings) is not False and not loop):
        return
    key, value = ("critic.enable", "True") if settings.at("critic.enable") else ("algorithm.adv_estimator", "gae")
    message = (
        f"there is no critic, so `{entry.rolled}` gets no worker: verl raises an IndexError when it makes the worker group of the pool"
    )
    help_ = f"set {settings.assigned(key, value)}, or run `{MAIN_PPO.program}`, which has one pool"
    note = f"verl notices this after the workers of `{entry.trained}` were created"
    settings.notes.error(MODE, "critic", message, settings.place(key), "no critic", help_, settings.becomes(key, value), note)
