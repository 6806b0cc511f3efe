"""Arrangement of actor and rollout: the same accelerators, different ones, or taking turns.

Sources in RLinf:

- examples/reasoning (main_grpo.py), rlinf/workers/actor/fsdp_actor_worker.py and
  rlinf/workers/inference/megatron_inference_worker.py (_build_inference_cfg).
- rlinf/workers/megatron_worker.py (MegatronWorker.__init__) and rlinf/workers/actor/fsdp_actor_worker.py
  (FSDPActor.__init__).
- rlinf/utils/placement.py, ModelParallelComponentPlacement (_is_auto, _is_collocated, _is_disaggregated).
"""

from __future__ import annotations

from enum import Enum
from typing import Mapping as MappingType

from ....component import COLOCATED, COLOCATED_OR_DISJOINT, DISJOINT, SUBSET, UNBOUNDED, Component
from ....machines.node_group import ACCELERATOR
from ....placements.assignment import Assignment
from ....record import dataclass
from ....text.tree import Mapping
from ..known import SETTING
from .parts import Degrees, Parts

NAMES = ("inference", "actor_inference")
_READ = (
    "group_name",
    "load_from_actor",
    *(f"model.{key}" for key in ("tensor_model_parallel_size", "pipeline_model_parallel_size", "sequence_parallel")),
)


def inference_needed(parts: Parts, auto: bool = False) -> str:
    """Who needs it, as the end of a sentence; "" if nobody does, it is placed, or this is not known. `auto`: in the auto mode."""
    settings = parts.settings
    again, fixed = settings.flag("algorithm.recompute_logprobs", SETTING), settings.flag("algorithm.importance_sampling_fix", SETTING)
    if again is None or fixed is None or settings.at("algorithm.recompute_logprobs") is None:
        return ""
    placed = parts.first_of(*NAMES)
    if placed or parts.notes.partial or not parts.has("actor") or not parts.has("rollout"):
        return ""
    fsdp = settings.word("actor.training_backend", SETTING) == "fsdp"
    if fsdp and settings.choice is not None and settings.choice.until("0.2"):
        return ""  # its actor of 0.1 knows nothing of this
    if not auto and fsdp:
        return "an fsdp actor that is apart from rollout needs it"
    return "`algorithm.recompute_logprobs` needs it where actor and rollout are apart" if again or fixed else ""


def unset_of_inference(parts: Parts) -> list[str]:
    """What RLinf's programs read of the inference components that are placed and the file does not have: whole sections, or keys of them.

    Nothing where that is not known, or where the file is no whole job: without `rollout.group_name` no program starts anything.
    """
    settings = parts.settings
    if parts.notes.partial or not settings.has("rollout.group_name") or not settings.flag("algorithm.recompute_logprobs", SETTING):
        return []
    found: list[str] = []
    for names, role in ((NAMES, "actor"), (("critic_inference",), "critic")):
        if parts.first_of(*names) is None:
            continue
        section = next((name for name in reversed(names) if settings.has(name)), names[0])
        keys = _READ if settings.word(f"{role}.training_backend", SETTING) == "megatron" else _READ[:1]
        found += _unset(parts, section, keys)
        if section not in (names[0], *found):  # the programs name the group by this one all the same
            found += _unset(parts, names[0], _READ[:1])
    return found


def _unset(parts: Parts, section: str, keys: tuple[str, ...]) -> list[str]:
    """The section, if there is none; else its keys that are not there. What is no map is told elsewhere."""
    there = parts.settings.at(section)
    if there is None:
        return [section]
    if not isinstance(there, Mapping):
        return []
    return [f"{section}.{key}" for key in keys if not parts.settings.has(f"{section}.{key}")]


DYNAMIC, BALANCE = "runner.enable_dynamic_batch_size", "enable_dp_load_balance"


def refused_apart(parts: Parts, auto: bool = False) -> list[str]:
    """The settings that are on and must not be. `auto`: in the auto mode, which for fsdp is none of this."""
    settings = parts.settings
    roles = ["actor"] if parts.has("actor") else []
    roles += ["critic"] if parts.has("critic") and settings.flag("critic.use_critic_model", SETTING) else []
    found: list[str] = []
    for role in roles:
        backend = settings.word(f"{role}.training_backend", SETTING)
        known = settings.choice is None or settings.choice.since("0.2")
        if backend == "megatron" or (backend == "fsdp" and known and role == "actor" and not auto):
            found += [path for path in (DYNAMIC, f"{role}.{BALANCE}") if path not in found and settings.flag(path, SETTING)]
    return found


@dataclass(frozen=True, slots=True)
class Size:
    """`each` accelerators a process, as many of them as are a multiple of `multiple`, and no fewer than `least`."""

    each: int = 1
    multiple: int = 1
    least: int = 1


Sizes = MappingType[str, Size]
"""Of actor and rollout, as far as the settings say it."""


def demanded_sizes(actor: Degrees, rollout: Degrees, replicates: bool, apart: bool) -> Sizes:
    """Those that the degrees demand; only where they are `apart` an engine of rollout has its pp. `replicates`: the actor is whole replicas."""
    found = {}
    if actor.tp and actor.parallel:
        found["actor"] = Size(1, actor.parallel.replica if replicates else 1, actor.tp.value)
    if rollout.tp and rollout.pp:
        each = rollout.tp.value * (rollout.pp.value if apart else 1)
        found["rollout"] = Size(each, each, each)
    return found


def can_be_equal(parts: Parts, demanded: Sizes) -> bool:
    """May actor and rollout have as many accelerators as each other?"""
    ranges = [_amounts(component, demanded) for name in ("actor", "rollout") if (component := parts.on_accelerators(name))]
    return max(least for least, _ in ranges) <= min(most for _, most in ranges)


def room_apart(parts: Parts, demanded: Sizes) -> bool:
    """Do all that must have accelerators of their own find as many as they ask for at least, on the nodes that they may use?

    A count over every set of nodes that one or two of them may use: if it fails, they do not; if not, they may still not.
    """
    free = _free(parts)
    needs = _needs(parts, demanded)
    areas = {one | other for one, _ in needs for other, _ in needs}
    return all(sum(need for nodes, need in needs if nodes <= area) <= sum(free.get(node, 0) for node in area) for area in areas)


def colocated_with(parts: Parts, name: str = "actor") -> set[str]:
    """The components that the hints colocate with one, through others too."""
    found, before = {name}, 0
    while len(found) > before:
        before = len(found)
        found |= {other for r in parts.hinted if r.implies == COLOCATED and found & set(r.components) for other in r.components}
    return found


def _amounts(component: Component, demanded: Sizes) -> tuple[int, int]:
    """The fewest and the most accelerators that it has."""
    if component.runs is not None:
        held = Assignment({component.name: component.runs}).held(component.name)
        return held, held
    size, least, most = demanded.get(component.name, Size()), component.least, component.most
    if "processes" in component.spans and "accelerators" not in component.spans:
        least = least // component.per_process * size.each
        most = most if most >= UNBOUNDED else most // component.per_process * size.each
    return max(-(-least // size.multiple) * size.multiple, size.least), most


def _free(parts: Parts) -> dict[int, int]:
    """node rank -> how many accelerators are held neither by given components nor by other jobs."""
    given: dict[int, int] = {}
    for component in parts.components.values():
        for (node, kind), mask in Assignment({component.name: component.runs or ()}).masks(component.name).items():
            if kind == ACCELERATOR:
                given[node] = given.get(node, 0) | mask
    return {node.rank: (node.free(ACCELERATOR) & ~given.get(node.rank, 0)).bit_count() for node in parts.cluster.nodes}


def _needs(parts: Parts, demanded: Sizes) -> list[tuple[frozenset[int], int]]:
    """(nodes, least) of all that are placed together and share with nobody else."""
    seen: set[str] = set()
    found = []
    inner = {relation.components[0] for relation in parts.hinted if relation.kind == SUBSET}
    for name in parts.components:
        names = colocated_with(parts, name)
        if name in seen or not parts.is_open(name):
            continue
        seen |= names
        members = [member for each in names if (member := parts.on_accelerators(each))]
        if not names & inner and all(member.runs is None for member in members):
            nodes = frozenset.intersection(*(parts.cluster.members(member.node_groups) for member in members))
            found.append((nodes, max(_amounts(member, demanded)[0] for member in members)))
    return found


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
    with_actor = colocated_with(parts)
    if "rollout" in with_actor or "critic" in with_actor or {"rollout", "critic"} <= colocated_with(parts, "rollout"):
        return Arrangement.COLLOCATED
    said = {relation.implies for relation in parts.hinted if set(relation.components) == {"actor", "rollout"}}
    if DISJOINT in said or parts.task == "coding_online_rl" or parts.first_of("inference", "actor_inference", "critic_inference"):
        return Arrangement.DISAGGREGATED
    whole = parts.settings.word("actor.training_backend", "PW208") == "megatron"
    if SUBSET not in said and not can_be_equal(parts, demanded_sizes(actor, rollout, whole, apart=False)):
        return Arrangement.DISAGGREGATED
    if (
        SUBSET in said
        or inference_needed(parts)
        or refused_apart(parts)
        or not room_apart(parts, demanded_sizes(actor, rollout, whole, apart=True))
    ):
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
        choice = DISJOINT if apart else COLOCATED if inference_needed(parts) or refused_apart(parts) else ""
        parts.relate(COLOCATED_OR_DISJOINT, "actor", "rollout", choice=choice)
    if found not in (Arrangement.DISAGGREGATED, Arrangement.AUTO):
        return
    pairs: list[tuple[str | None, str | None]] = [("actor", inference), ("rollout", inference), ("actor", critic), ("rollout", critic)]
    pairs += [(critic, critic_inference), ("rollout", critic_inference)]
    for one, other in pairs:
        if one and other and not (found is Arrangement.AUTO and critic_inference != other):
            parts.relate(DISJOINT, one, other)
