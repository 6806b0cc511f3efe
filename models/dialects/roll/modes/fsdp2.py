"""What FSDP2 demands of the number of its ranks: meshes of fsdp_size, Ulysses groups, expert groups.

Source: ROLL, roll/distributed/strategy/fsdp2_strategy.py (FSDP2StrategyBase.setup_fsdp2_configuration, create_device_mesh_with_ep).
"""

from __future__ import annotations

from dataclasses import replace
from math import lcm

from ....component import Component, Parallel
from ....configuration.settings import Amount
from ....findings.wording import do, with_noun
from ..roles.role import Role
from ..roles.setup import Setup
from .degrees import Degrees
from .notices import IN_WORKERS

DIVIDES, MATCHES = "PW208", "PW403"


def fsdp2(setup: Setup, role: Role, its: Degrees) -> None:
    """The sizes go together, and the ranks divide into each of them."""
    ranks = role.ids.count if role.ids else 0
    fsdp, experts = _sizes(setup, role)
    whole = fsdp is not None and _holds_ulysses(setup, role, its, fsdp, ranks)
    if fsdp and 1 < fsdp.value < ranks and ranks % fsdp.value and (whole or ranks % its.cp.value):
        _divides(setup, role, ranks, fsdp.value, fsdp, f"groups of {fsdp.said}")
    if experts and ranks % (size := experts[0].value * experts[1].value):
        ep, each = experts
        _divides(setup, role, ranks, size, ep, f"expert groups of {ep.said} x efsdp_size {each.value} = {size}")


def searched_ranks(setup: Setup, role: Role, its: Degrees, component: Component) -> Component:
    """A role that is left to solve, with what its ranks divide into; an error where the sizes do not go together, however many they are.

    One mesh holds all ranks where there are no more than fsdp_size; of more, these are whole meshes.
    """
    fsdp, experts = _sizes(setup, role)
    size = lcm(its.cp.value, experts[0].value * experts[1].value) if experts else its.cp.value
    found = replace(component, parallel=Parallel(cp=its.cp.value, dp=size // its.cp.value))
    if fsdp is None:
        return found
    _holds_ulysses(setup, role, its, fsdp, 0)
    most = min(component.most, setup.cluster.total()) if setup.cluster.counted else component.most
    if not 1 < fsdp.value < most:
        return found
    spans = {**component.spans, "shards": fsdp.span} if fsdp.span else component.spans
    return replace(found, shards=fsdp.value, spans=spans)


def in_meshes(component: Component) -> Component:
    """The same with whole meshes as its replicas, where it has more ranks than one holds."""
    if not 0 < component.shards < component.least:
        return component
    parallel = component.parallel
    size = lcm(parallel.replica, component.shards)
    return replace(component, parallel=replace(parallel, dp=parallel.dp * size // parallel.replica))


def _sizes(setup: Setup, role: Role) -> tuple[Amount | None, tuple[Amount, Amount] | None]:
    """`fsdp_size`; and where there are experts, `ep_size` and `efsdp_size`."""
    fsdp = setup.settings.whole(role.config("fsdp_size"), DIVIDES, 1, least=0, exact=True)
    ep, each = (setup.settings.whole(role.config(name), DIVIDES, 1, exact=True) for name in ("ep_size", "efsdp_size"))
    return fsdp, (ep, each) if ep and each and ep.value > 1 else None


def _holds_ulysses(setup: Setup, role: Role, its: Degrees, fsdp: Amount, ranks: int) -> bool:
    """Is fsdp_size no less than the ulysses size? Where it is, an error."""
    if fsdp.value >= its.cp.value:
        return True
    written = "" if fsdp.scalar else ", its default"
    message = f"{its.cp.said} is more than `{fsdp.name}`, which is {fsdp.value}{written}"
    whole = ranks % its.cp.value == 0
    help = f"set `{fsdp.name}: {its.cp.value}`, or `{its.cp.name}: 1`" if whole else f"set `{its.cp.name}: 1`"
    at = (fsdp.span if whole else None) or its.cp.span or role.place
    edit = fsdp.becomes(its.cp.value) if whole else its.cp.becomes(1)
    setup.notes.error(MATCHES, role.key, message, at, "", help, edit, IN_WORKERS)
    return False


def _divides(setup: Setup, role: Role, ranks: int, size: int, at: Amount, what: str) -> None:
    message = f"the {with_noun(ranks, 'rank')} of {role.key} {do(ranks)} not divide into {what}: {ranks % size} would be left"
    help, edit = f"give {role.key} a multiple of {size} GPUs", None
    if at.value == size:
        better = next(each for each in range(min(size, ranks), 0, -1) if ranks % each == 0)
        help, edit = f"{help}, or set `{at.name}: {better}`", at.becomes(better)
    setup.notes.error(DIVIDES, role.key, message, at.span or role.place, f"no divisor of {ranks}", help, edit, IN_WORKERS)
