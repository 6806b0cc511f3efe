"""How actor and rollout lie to each other: on the same accelerators, on different ones, or taking turns by themselves.

Source: RLinf, rlinf/utils/placement.py, ModelParallelComponentPlacement (_is_auto, _is_collocated, _is_disaggregated).
"""

from __future__ import annotations

from enum import Enum

from ....component import COLOCATED, COLOCATED_OR_DISJOINT, DISJOINT, SUBSET
from ....placements.assignment import Assignment
from .degrees import Degrees
from .inference import lacking
from .parts import Parts
from .pipeline import refused
from .room import can_be_equal, room_apart, sizes, together


class Arrangement(str, Enum):
    """`EITHER`: both are left to solve, and it makes no difference to them. `NONE`: they overlap in part, or are not known."""

    COLLOCATED = "collocated"
    DISAGGREGATED = "disaggregated"
    AUTO = "auto"
    EITHER = "collocated or disaggregated"
    NONE = "neither"


def arrangement(parts: Parts, actor_degrees: Degrees, rollout_degrees: Degrees) -> Arrangement:
    """Which it is; where one of them is left to solve, the hints say it, else what there is room for."""
    if parts.settings.flag("cluster.auto_scheduler", "PW123") and not parts.has("critic"):
        return Arrangement.AUTO
    actor, rollout = parts.placed("actor"), parts.placed("rollout")
    if actor and rollout:
        held = Assignment({"actor": actor.runs or (), "rollout": rollout.runs or ()})
        mine, theirs = held.masks("actor"), held.masks("rollout")
        if mine == theirs:
            return Arrangement.COLLOCATED
        apart = all(not mask & theirs.get(key, 0) for key, mask in mine.items())
        return Arrangement.DISAGGREGATED if apart else Arrangement.NONE
    if {"actor", "rollout"} <= parts.planned:
        return Arrangement.DISAGGREGATED  # by themselves; what they are together is one of the ways
    if not (actor or parts.is_open("actor")) or not (rollout or parts.is_open("rollout")):
        return Arrangement.NONE
    return _wished(parts, actor_degrees, rollout_degrees)


def _wished(parts: Parts, actor: Degrees, rollout: Degrees) -> Arrangement:
    """What the hints, the task, the other components and the room leave; apart where nothing speaks against it."""
    with_actor = together(parts)
    if "rollout" in with_actor or "critic" in with_actor or {"rollout", "critic"} <= together(parts, "rollout"):
        return Arrangement.COLLOCATED
    said = {relation.implies for relation in parts.hinted if set(relation.components) == {"actor", "rollout"}}
    if DISJOINT in said or parts.task == "coding_online_rl" or parts.first_of("inference", "actor_inference", "critic_inference"):
        return Arrangement.DISAGGREGATED
    whole = parts.settings.word("actor.training_backend", "PW208") == "megatron"
    if SUBSET not in said and not can_be_equal(parts, sizes(actor, rollout, whole, apart=False)):
        return Arrangement.DISAGGREGATED
    if SUBSET in said or lacking(parts) or refused(parts) or not room_apart(parts, sizes(actor, rollout, whole, apart=True)):
        return Arrangement.COLLOCATED
    return Arrangement.EITHER if _indifferent(actor, rollout) and not parts.has("critic") else Arrangement.DISAGGREGATED


def _indifferent(actor: Degrees, rollout: Degrees) -> bool:
    """Is rollout of the same shape whether or not it shares the actor's accelerators?"""
    return bool(actor.tp and rollout.tp and rollout.pp) and actor.tp.value <= rollout.tp.value and rollout.pp.value == 1  # type: ignore[union-attr]


def relate(parts: Parts, found: Arrangement) -> None:
    """What the arrangement demands of the components, in general words."""
    inference, critic_inference = parts.first_of("inference", "actor_inference"), parts.first_of("critic_inference")
    critic = parts.first_of("critic")
    given = parts.placed("actor") and parts.placed("rollout")
    if {"actor", "rollout"} <= parts.planned:
        return  # see ways.py
    if found is Arrangement.COLLOCATED and not given:
        parts.relate(COLOCATED, "actor", "rollout")
    elif found is Arrangement.DISAGGREGATED and not given:
        parts.relate(DISJOINT, "actor", "rollout")
    elif found is not Arrangement.AUTO:
        apart = parts.task == "coding_online_rl" or inference or critic_inference
        choice = DISJOINT if apart else COLOCATED if lacking(parts) or refused(parts) else ""
        parts.relate(COLOCATED_OR_DISJOINT, "actor", "rollout", choice=choice)
    if found not in (Arrangement.DISAGGREGATED, Arrangement.AUTO):
        return
    pairs: list[tuple[str | None, str | None]] = [("actor", inference), ("rollout", inference), ("actor", critic), ("rollout", critic)]
    pairs += [(critic, critic_inference), ("rollout", critic_inference)]
    for one, other in pairs:
        if one and other and not (found is Arrangement.AUTO and critic_inference != other):
            parts.relate(DISJOINT, one, other)
