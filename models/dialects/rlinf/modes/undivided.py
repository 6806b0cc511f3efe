"""What FSDP trains: its tp divides nothing. RLinf looks whether it has as many accelerators, and goes by it where it hands weights to rollout.

Where anything may be placed anywhere (HybridComponentPlacement, of the embodied tasks) it reads no tp at all.

Source: RLinf, rlinf/utils/placement.py (ModelParallelComponentPlacement.__init__), rlinf/workers/actor/fsdp_actor_worker.py
(_setup_rollout_weight_dst_ranks) and rlinf/workers/rollout/utils.py (CollocateRankMapper, DisaggRankMapper).
"""

from __future__ import annotations

from dataclasses import replace

from ....component import Parallel
from ....configuration.settings import Settings
from ....hints.said import timed_names
from ....parallel import UNDIVIDED
from ....planning.way import Shape
from ....text.tree import Mapping, Value
from ..profiled import is_profiled
from .degrees import INFERENCE
from .pack import other_degrees, pack
from .parts import Parts
from .shape import Shape as Packed
from .task import Placer, placer_of

FSDP = "fsdp"
CODE = "PW208"
TRAINS = "actor"
ROLES = {TRAINS: TRAINS, "critic": "critic", **INFERENCE}
"""Component -> the role of which FSDP computes the gradients, or the probabilities."""


def trained_whole(settings: Settings, root: Mapping, hints: Value | None) -> frozenset[str]:
    """The components that FSDP trains, or with which it infers: hints of their tp ask for no multiple.

    Of a file with times, of which ranks are planned by these, only what trains; without ranks none that has times.
    """
    placer = placer_of(settings, settings.word("runner.task_type", CODE) or "")
    if placer not in (Placer.HYBRID, Placer.MODEL_PARALLEL):
        return frozenset()
    profiled = is_profiled(root, hints)
    roles = {TRAINS: TRAINS} if placer is Placer.HYBRID or profiled else ROLES
    found = frozenset(name for name, role in roles.items() if settings.word(f"{role}.training_backend", CODE) == FSDP)
    return found if profiled else found - timed_names(hints)


def undivided(parts: Parts, name: str, its: Parallel) -> None:
    """It is packed on whatever count it has; where that is planned, it keeps the name of the tp of its hints, among which a choice may be."""
    component = parts.components.get(name)
    if component is None:
        return pack(parts, name, Packed())
    said = parts.offered.get(name) or (component.parallel,)
    if "parallel" in component.spans and all(each.tp != its.tp for each in said):
        other_degrees(parts, component, (its,))
    parts.components[name] = replace(component, parallel=UNDIVIDED)
    pack(parts, name, Packed())
    if component.timed and parts.is_open(name):
        parts.components[name] = replace(parts.components[name], parallel=its if name in parts.choices else component.parallel)


def without_times(parts: Parts, *names: str) -> None:
    """Those of a file without times that FSDP trains, or with which it infers, have no degrees: whatever their hints say of tp divides nothing."""
    for name in names:
        component = parts.on_accelerators(name)
        if component is None or component.parallel == UNDIVIDED or component.timed is not None or parts.profiled:
            continue
        if parts.settings.word(f"{ROLES[name]}.training_backend", CODE) == FSDP:
            parts.components[name] = replace(component, parallel=UNDIVIDED)


def unread(parts: Parts) -> None:
    """Where RLinf reads no tp of what FSDP trains, that of its hints divides nothing; where it is planned it keeps the name of that."""
    without_times(parts, TRAINS)
    component = parts.on_accelerators(TRAINS)
    if component is None or not parts.profiled or not _is_fsdp(parts):
        return
    if not (component.timed and parts.is_open(TRAINS)):
        parts.components[TRAINS] = replace(component, parallel=UNDIVIDED)


def of_undivided(parts: Parts) -> dict[str, dict[Parallel, Shape]]:
    """The processes of what FSDP trains with each tp of its hints, where its ranks are planned.

    It has as many accelerators as its tp at the least where RLinf reads that, and any number elsewhere.
    """
    component = parts.components.get(TRAINS)
    if component is None or TRAINS not in parts.planned or not _is_fsdp(parts) or "parallel" not in component.spans:
        return {}
    choices = parts.choices.get(TRAINS) or (component.parallel,)
    if parts.placer is not Placer.HYBRID:
        return {TRAINS: {each: Shape(least=each.tp) for each in choices}}
    return {TRAINS: {each: Shape(component.per_process, component.stride, least=1) for each in choices}}


def _is_fsdp(parts: Parts) -> bool:
    return parts.settings.word(f"{TRAINS}.training_backend", CODE) == FSDP
