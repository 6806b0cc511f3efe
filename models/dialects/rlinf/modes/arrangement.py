"""Arrangement of actor and rollout (shared, apart or in turns) and RLinf's demands on it.

Sources in RLinf:

- rlinf/utils/placement.py, ModelParallelComponentPlacement (_is_auto, _is_collocated, _is_disaggregated).
- examples/reasoning (main_grpo.py), rlinf/config.py (validate_reasoning_cfg, validate_coding_online_rl_cfg).
- rlinf/workers/actor/fsdp_actor_worker.py, rlinf/workers/megatron_worker.py and
  rlinf/workers/inference/megatron_inference_worker.py (_build_inference_cfg).
"""

from __future__ import annotations

from enum import Enum

from ....component import COLOCATED, COLOCATED_OR_DISJOINT, DISJOINT, SUBSET, Component
from ....configuration.settings import Amount
from ....machines.node_group import ACCELERATOR
from ....text.tree import MapNode
from ..known import FSDP, LATE, MEGATRON, SETTING
from .packing import fitting_tp
from .parts import CRITICS_INFERENCE, INFERRING, ModeState, ParallelSettings, masks

RECOMPUTE, CORRECT = "algorithm.recompute_logprobs", "algorithm.importance_sampling_fix"
_READ = (
    "group_name",
    "load_from_actor",
    "model.tensor_model_parallel_size",
    "model.pipeline_model_parallel_size",
    "model.sequence_parallel",
)
"""Keys of an inference section that RLinf's programs read; for fsdp only the first."""
_REFUSED_APART = ("runner.enable_dynamic_batch_size", "{}.enable_dp_load_balance")


class Arrangement(str, Enum):
    """Arrangement of actor and rollout on accelerators.

    `EITHER`: left to solve, without a difference. `NONE`: they overlap in part, or their ranks are
    unknown.
    """

    COLLOCATED = "collocated"
    DISAGGREGATED = "disaggregated"
    AUTO = "auto"
    EITHER = "collocated or disaggregated"
    NONE = "neither"


APART = (Arrangement.DISAGGREGATED, Arrangement.AUTO)


def arrangement(parts: ModeState, actor: ParallelSettings, rollout: ParallelSettings) -> Arrangement:
    """Return the arrangement by explicit ranks; for open components by hints and settings."""
    if parts.settings.flag("cluster.auto_scheduler", SETTING) and not parts.has("critic"):
        return Arrangement.AUTO
    actor_masks, rollout_masks = (masks(parts.placed(name)) for name in ("actor", "rollout"))
    if actor_masks and rollout_masks:
        if actor_masks == rollout_masks:
            return Arrangement.COLLOCATED
        overlap = any(mask & rollout_masks.get(key, 0) for key, mask in actor_masks.items())
        return Arrangement.NONE if overlap else Arrangement.DISAGGREGATED
    if parts.plans_both:
        # For each component alone; their joint arrangement is a planning choice.
        return Arrangement.DISAGGREGATED
    if not (actor_masks or parts.is_open("actor")) or not (rollout_masks or parts.is_open("rollout")):
        return Arrangement.NONE
    return _arrangement_by_hints(parts, actor, rollout)


def _arrangement_by_hints(parts: ModeState, actor: ParallelSettings, rollout: ParallelSettings) -> Arrangement:
    """Return the arrangement allowed by hints, task, components and sizes; by default apart."""
    with_actor, with_rollout = _colocated(parts, "actor"), _colocated(parts, "rollout")
    if "rollout" in with_actor or "critic" in with_actor | with_rollout:
        return Arrangement.COLLOCATED
    hinted = {relation.implies for relation in parts.hinted if set(relation.components) == {"actor", "rollout"}}
    if DISJOINT in hinted or parts.task == "coding_online_rl" or parts.first_of(*INFERRING, CRITICS_INFERENCE):
        return Arrangement.DISAGGREGATED
    if SUBSET not in hinted and not _can_be_equal(parts, actor, rollout):
        return Arrangement.DISAGGREGATED
    if SUBSET in hinted or inference_needed(parts) or refused_apart(parts) or not _has_room_apart(parts, actor, rollout):
        return Arrangement.COLLOCATED
    is_same = actor.tp and rollout.tp and rollout.pp and actor.tp.value <= rollout.tp.value and rollout.pp.value == 1
    return Arrangement.EITHER if is_same and not parts.has("critic") else Arrangement.DISAGGREGATED


def _colocated(parts: ModeState, name: str) -> set[str]:
    """Return the components that the hints colocate with `name`, directly or through others."""
    group, before = {name}, 0
    while len(group) > before:
        before = len(group)
        group |= {
            member
            for relation in parts.hinted
            if relation.implies == COLOCATED and group & set(relation.components)
            for member in relation.components
        }
    return group


def _amounts(parts: ModeState, name: str, degrees: ParallelSettings, apart: bool) -> tuple[int, int]:
    """Return the fewest and the most accelerators of actor or rollout, in whole replicas."""
    component = parts.on_accelerators(name) or Component(name)
    if component.runs is not None:
        amount = parts.count(name) or 0
        return amount, amount
    tp, step, least, most = (degrees.tp.value if degrees.tp else 1), 1, component.least, component.most
    if name == "actor" and parts.backend("actor") == MEGATRON and degrees.parallel:
        step = degrees.parallel.replica
    elif name == "rollout":
        step = tp * (degrees.pp.value if degrees.pp and apart else 1)
        if "processes" in component.spans and "accelerators" not in component.spans:
            least, most = (count // component.per_process * step for count in (least, most))
    return max(-(-least // step) * step, tp), most


def _can_be_equal(parts: ModeState, actor: ParallelSettings, rollout: ParallelSettings) -> bool:
    """Return True if actor and rollout may have equally many accelerators."""
    ranges = [_amounts(parts, name, degrees, False) for name, degrees in (("actor", actor), ("rollout", rollout))]
    return max(least for least, _ in ranges) <= min(most for _, most in ranges)


def _has_room_apart(parts: ModeState, actor: ParallelSettings, rollout: ParallelSettings) -> bool:
    """Return True if the cluster has enough accelerators for all components apart.

    Only counts are compared.
    """
    degrees, inner = {"actor": actor, "rollout": rollout}, {relation.components[0] for relation in parts.hinted if relation.kind == SUBSET}
    needs: dict[frozenset[str], int] = {}
    for name, component in parts.components.items():
        if parts.on_accelerators(name):
            least = _amounts(parts, name, degrees[name], True)[0] if name in degrees else parts.count(name) or component.least
            group = frozenset(_colocated(parts, name))
            needs[group] = max(needs.get(group, 0), least if not group & inner else 0)
    return sum(needs.values()) <= sum(node.free(ACCELERATOR).bit_count() for node in parts.cluster.nodes)


def relate(parts: ModeState, found: Arrangement) -> None:
    """Add the relations that the arrangement demands."""
    if parts.plans_both:
        return  # the candidate arrangements (ways) have the relations
    inference, critics, critic = parts.first_of(*INFERRING), parts.first_of(CRITICS_INFERENCE), parts.first_of("critic")
    is_given = parts.placed("actor") and parts.placed("rollout")
    if not is_given and found in (Arrangement.COLLOCATED, Arrangement.DISAGGREGATED):
        parts.relate(COLOCATED if found is Arrangement.COLLOCATED else DISJOINT, "actor", "rollout")
    elif found is not Arrangement.AUTO:
        apart = parts.task == "coding_online_rl" or inference or critics
        choice = DISJOINT if apart else COLOCATED if inference_needed(parts) or refused_apart(parts) else ""
        parts.relate(COLOCATED_OR_DISJOINT, "actor", "rollout", choice=choice)
    if found in APART:
        pairs = [("actor", inference), ("rollout", inference), ("actor", critic), ("rollout", critic)]
        for first, second in [*pairs, (critic, critics), ("rollout", critics)]:
            if first and second and (found is not Arrangement.AUTO or second == critics):
                parts.relate(DISJOINT, first, second)


def inference_needed(parts: ModeState, auto: bool = False) -> str:
    """Return why a missing inference component is needed, as a sentence end; else ""."""
    recomputes, corrects = parts.flag(RECOMPUTE), parts.flag(CORRECT)
    if recomputes is None or corrects is None or parts.settings.at(RECOMPUTE) is None:
        return ""
    if parts.first_of(*INFERRING) or parts.notes.partial or not parts.has("actor") or not parts.has("rollout"):
        return ""
    is_fsdp, choice = parts.backend("actor", SETTING) == FSDP, parts.settings.choice
    if is_fsdp and choice is not None and choice.until("0.2"):
        return ""  # the fsdp actor of 0.1 has no such feature
    if not auto and is_fsdp:
        return "an fsdp actor that is apart from rollout needs it"
    return f"`{RECOMPUTE}` needs it where actor and rollout are apart" if recomputes or corrects else ""


def unset_of_inference(parts: ModeState) -> list[str]:
    """Return sections and keys that RLinf reads for inference components but the file lacks.

    Empty for an incomplete job: without `rollout.group_name` no program starts anything.
    """
    settings = parts.settings
    if parts.notes.partial or not settings.has("rollout.group_name") or not parts.flag(RECOMPUTE):
        return []
    unset: list[str] = []
    for names, role in ((INFERRING, "actor"), ((CRITICS_INFERENCE,), "critic")):
        if parts.first_of(*names) is None:
            continue
        section = next((name for name in reversed(names) if settings.has(name)), names[0])
        if settings.at(section) is None:
            unset.append(section)
        elif isinstance(settings.at(section), MapNode):
            keys = _READ if parts.backend(role, SETTING) == MEGATRON else _READ[:1]
            unset += [f"{section}.{key}" for key in keys if not settings.has(f"{section}.{key}")]
    return unset


def refused_apart(parts: ModeState, auto: bool = False) -> list[str]:
    """Return the active settings that RLinf refuses if actor and rollout are apart."""
    choice = parts.settings.choice
    roles = ["actor"] if parts.has("actor") else []
    roles += ["critic"] if parts.has("critic") and parts.flag("critic.use_critic_model") else []
    refused: list[str] = []
    for role in roles:
        backend = parts.backend(role, SETTING)
        refuses = backend == FSDP and role == "actor" and not auto and (choice is None or choice.since("0.2"))
        paths = [path.format(role) for path in _REFUSED_APART] if refuses or backend == MEGATRON else []
        refused += [path for path in paths if path not in refused and parts.flag(path)]
    return refused


def check_arrangement(parts: ModeState, found: Arrangement, actor: ParallelSettings, rollout: ParallelSettings) -> None:
    """Note findings about needs and refusals of the arrangement."""
    check_inference(parts, found)
    _check_critic(parts, found)
    if found in APART and not parts.plans_both:
        _check_apart(parts, found)
    check_engine_tp(parts, found is Arrangement.COLLOCATED, actor.tp, rollout.tp)


def check_inference(parts: ModeState, found: Arrangement) -> None:
    """Check that inference components exist exactly if rollout and actor are apart."""
    inference, critics = parts.first_of(*INFERRING), parts.first_of(CRITICS_INFERENCE)
    if found is Arrangement.COLLOCATED:
        for name in filter(None, (inference, critics)):
            message = f"`{name}` is placed, but `actor` and `rollout` share their accelerators, and then it must not be"
            parts.error(SETTING, name, message, f"drop `{name}`, or give `actor` and `rollout` accelerators of their own")
        if parts.task == "coding_online_rl":
            message = "online coding needs `actor` and `rollout` on accelerators of their own, but they share them"
            parts.error(SETTING, "rollout", message, "give them different ranks", "the same as `actor`")
    if found not in APART:
        return
    recomputes, corrects = parts.flag(RECOMPUTE), parts.flag(CORRECT)
    is_off = recomputes is False and corrects is False and parts.settings.at(RECOMPUTE) is not None
    if inference and is_off and found is Arrangement.DISAGGREGATED:
        message = f"`{inference}` is placed, but `{RECOMPUTE}` is false, which turns it off"
        parts.error(SETTING, inference, message, f"drop `{inference}`, or set `{RECOMPUTE}: true`", "turned off")
    why = inference_needed(parts, found is Arrangement.AUTO)
    if why and not parts.plans_both:  # without inference, a plan keeps actor and rollout together
        report = parts.error if found is Arrangement.DISAGGREGATED else parts.warn
        message = f"`inference` is not placed, but {why}; {LATE}"
        help = "place `inference` on accelerators of its own, or give `actor` and `rollout` the same ranks"
        report(SETTING, "inference", message, help, "no `inference`", parts.owner)


def _check_critic(parts: ModeState, current_arrangement: Arrangement) -> None:
    """Check that an active critic model is placed, with an inference component if apart."""
    key, names = "critic.use_critic_model", ("critic", CRITICS_INFERENCE)
    is_on = parts.flag(key)
    for name in names if is_on and not parts.notes.partial else ():
        if not parts.has(name) and (name == "critic" or (current_arrangement in APART and "actor" not in parts.planned)):
            message = f"`{name}` is not placed, but `{key}` is true; {LATE}"
            parts.warn(SETTING, name, message, f"place `{name}`, or set `{key}: false`", f"no `{name}`", parts.owner)


def _check_apart(parts: ModeState, current_arrangement: Arrangement) -> None:
    """Check batch settings and inference sections of actor and rollout that are apart."""
    for path in refused_apart(parts, current_arrangement is Arrangement.AUTO):
        section, value = path.split(".", 1)[0], parts.settings.at(path)
        message = f"`{path}` is true, but what trains refuses it where actor and rollout are apart; {LATE}"
        help, edit = f"write `{path}: false`, or give `actor` and `rollout` the same ranks", parts.settings.becomes(path, "false")
        parts.notes.error(SETTING, "actor" if section == "runner" else section, message, value or parts.owner, "", help, edit)
    if missing := unset_of_inference(parts):
        listed = " and ".join(f"`{name}`" for name in missing)
        name = parts.first_of(*INFERRING, CRITICS_INFERENCE) or INFERRING[0]
        message = f"the file has no {listed}, which RLinf's programs read where `{name}` is started by itself; {LATE}"
        parts.error("PW101", name, message, f"add {listed}, or give `actor` and `rollout` the same ranks and drop `{name}`")


def check_engine_tp(parts: ModeState, shares: bool, actor: Amount | None, rollout: Amount | None, partly: bool = False) -> None:
    """Check that rollout's tp is at most the actor's, for weight transfer.

    An fsdp actor demands it only if it `shares` accelerators and has a tp above 1 or rollout
    `partly` on them. If a plan chooses degrees, the candidate arrangements state the valid
    combinations.
    """
    if parts.plans_both and {"actor", "rollout"} & parts.choices.keys():
        return
    if not actor or not rollout or rollout.value <= actor.value or not parts.has("actor") or not parts.has("rollout"):
        return
    backend = parts.backend("actor", SETTING)
    if backend == MEGATRON or (backend == FSDP and shares and (actor.value > 1 or partly)):
        message = f"the tp of rollout is {rollout.value}, but a {backend} actor of tp {actor.value} takes at most its own; {LATE}"
        better = fitting_tp(parts, actor, rollout.value, parts.count("rollout") or actor.value)
        help = f"set `{rollout.name}: {better}`, or `{actor.name}: {rollout.value}`"
        parts.error(SETTING, "rollout", message, help, at=rollout.span or parts.owner, edit=rollout.becomes(better))
