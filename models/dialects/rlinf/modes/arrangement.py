"""Arrangement of actor and rollout (shared, apart or in turns) and RLinf's demands on it.

Sources in RLinf:

- rlinf/utils/placement.py, ModelParallelComponentPlacement (_is_auto, _is_collocated, _is_disaggregated).
- examples/reasoning (main_grpo.py), rlinf/config.py (validate_reasoning_cfg, validate_coding_online_rl_cfg).
- rlinf/workers/actor/fsdp_actor_worker.py, rlinf/workers/megatron_worker.py and
  rlinf/workers/inference/megatron_inference_worker.py (_build_inference_cfg).
"""

from __future__ import annotations

from enum import Enum
from typing import Any

from ....component import COLOCATED, COLOCATED_OR_DISJOINT, DISJOINT, SUBSET, Component
from ....findings.finding import Severity
from ....machines.node_group import ACCELERATOR
from ....text.tree import MapNode
from ..known import CRITICS_INFERENCE, FSDP, INFERRING, MEGATRON, SETTING
from .packing import fitting_tp
from .state import Mode, masks

RECOMPUTE, CORRECT = "algorithm.recompute_logprobs", "algorithm.importance_sampling_fix"
CRITIC = "critic.use_critic_model"
_READ = (
    "group_name", "load_from_actor", "model.tensor_model_parallel_size", "model.pipeline_model_parallel_size",
    "model.sequence_parallel",
)  # fmt: skip
"""Keys of an inference section that RLinf's programs read; for fsdp only the first."""


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


def arrangement(mode: Mode) -> Arrangement:
    """Return the arrangement by explicit ranks; for open components by hints and settings."""
    if mode.settings.flag("cluster.auto_scheduler", SETTING) and not mode.has("critic"):
        return Arrangement.AUTO
    actor, rollout = (masks(mode.find_placed(name)) for name in ("actor", "rollout"))
    if actor and rollout:
        if actor == rollout:
            return Arrangement.COLLOCATED
        overlap = any(mask & rollout.get(key, 0) for key, mask in actor.items())
        return Arrangement.NONE if overlap else Arrangement.DISAGGREGATED
    if mode.plans_both:
        # For each component alone; their joint arrangement is a planning choice.
        return Arrangement.DISAGGREGATED
    if not (actor or mode.is_open("actor")) or not (rollout or mode.is_open("rollout")):
        return Arrangement.NONE
    return _arrangement_by_hints(mode)


def _arrangement_by_hints(mode: Mode) -> Arrangement:
    """Return the arrangement allowed by hints, task, components and sizes; by default apart."""
    if any(len({"actor", "rollout", "critic"} & group) > 1 for group in _list_colocated(mode)):
        return Arrangement.COLLOCATED
    kinds = {relation.implies for relation in mode.merged.relations if set(relation.components) == {"actor", "rollout"}}
    if DISJOINT in kinds or mode.task == "coding_online_rl" or mode.first_of(*INFERRING, CRITICS_INFERENCE):
        return Arrangement.DISAGGREGATED
    actor, rollout = (_amounts(mode, name) for name in ("actor", "rollout"))
    if SUBSET not in kinds and max(actor[0], rollout[0]) > min(actor[1], rollout[1]):
        return Arrangement.DISAGGREGATED
    if SUBSET in kinds or inference_needed(mode) or find_refused_apart(mode) or not _has_room_apart(mode):
        return Arrangement.COLLOCATED
    workers, engines = mode.degrees("actor"), mode.degrees("rollout")
    is_same = workers.tp and engines.tp and engines.pp and workers.tp.value <= engines.tp.value and engines.pp.value == 1
    return Arrangement.EITHER if is_same and not mode.has("critic") else Arrangement.DISAGGREGATED


def _list_colocated(mode: Mode) -> list[set[str]]:
    """Return the sets of components that hints colocate, directly or through others."""
    groups: list[set[str]] = [{name} for name in mode.components]
    for names in (set(relation.components) for relation in mode.merged.relations if relation.implies == COLOCATED):
        groups = [*(group for group in groups if not group & names), names.union(*(group for group in groups if group & names))]
    return groups


def _amounts(mode: Mode, name: str, is_separate: bool = False) -> tuple[int, int]:
    """Return the fewest and the most accelerators of actor or rollout, in whole replicas."""
    component, degrees = mode.find_on_accelerators(name) or Component(name), mode.degrees(name)
    if component.runs is not None:
        return (mode.count(name) or 0,) * 2
    tp, pp = (size.value if size else 1 for size in (degrees.tp, degrees.pp))
    step, minimum, maximum = 1, component.least, component.most
    if name == "actor" and mode.backend("actor") == MEGATRON and degrees.parallel:
        step = degrees.parallel.replica
    elif name == "rollout":
        step = tp * pp if is_separate else tp
        if "processes" in component.spans and "accelerators" not in component.spans:
            minimum, maximum = (count // component.per_process * step for count in (minimum, maximum))
    return max(-(-minimum // step) * step, tp), maximum


def _has_room_apart(mode: Mode) -> bool:
    """Return True if the accelerators suffice for all components apart, by count alone."""
    guests = {relation.components[0] for relation in mode.merged.relations if relation.kind == SUBSET}
    needs = {name: mode.count(name) or component.least for name, component in mode.components.items() if mode.find_on_accelerators(name)}
    needs |= {name: _amounts(mode, name, is_separate=True)[0] for name in ("actor", "rollout") if name in needs}
    groups = [group for group in _list_colocated(mode) if not group & guests]
    demand = sum(max((needs.get(name, 0) for name in group), default=0) for group in groups)
    return demand <= sum(node.free(ACCELERATOR).bit_count() for node in mode.cluster.nodes)


def relate(mode: Mode, current: Arrangement) -> None:
    """Add the relations that the arrangement demands; with a plan, the arrangements have them."""
    if mode.plans_both:
        return
    inference, critics, critic = mode.first_of(*INFERRING), mode.first_of(CRITICS_INFERENCE), mode.first_of("critic")
    is_given = mode.find_placed("actor") and mode.find_placed("rollout")
    if not is_given and current in (Arrangement.COLLOCATED, Arrangement.DISAGGREGATED):
        mode.relate(COLOCATED if current is Arrangement.COLLOCATED else DISJOINT, "actor", "rollout")
    elif current is not Arrangement.AUTO:
        is_separate = mode.task == "coding_online_rl" or inference or critics
        choice = DISJOINT if is_separate else COLOCATED if inference_needed(mode) or find_refused_apart(mode) else ""
        mode.relate(COLOCATED_OR_DISJOINT, "actor", "rollout", choice=choice)
    if current in APART:
        pairs = [("actor", inference), ("rollout", inference), ("actor", critic), ("rollout", critic)]
        for first, second in [*pairs, (critic, critics), ("rollout", critics)]:
            if first and second and (current is not Arrangement.AUTO or second == critics):
                mode.relate(DISJOINT, first, second)


def inference_needed(mode: Mode, auto: bool = False) -> str:
    """Return why a missing inference component is needed, as a sentence end; else ""."""
    recomputes, corrects = mode.flag(RECOMPUTE), mode.flag(CORRECT)
    if recomputes is None or corrects is None or mode.settings.at(RECOMPUTE) is None:
        return ""
    if mode.first_of(*INFERRING) or mode.notes.partial or not mode.has("actor") or not mode.has("rollout"):
        return ""
    is_fsdp, choice = mode.backend("actor", SETTING) == FSDP, mode.settings.choice
    if is_fsdp and choice is not None and choice.is_older_than("0.2"):
        return ""  # the fsdp actor of 0.1 has no such feature
    if not auto and is_fsdp:
        return "an fsdp actor that is apart from rollout needs it"
    return f"`{RECOMPUTE}` needs it with actor and rollout apart" if recomputes or corrects else ""


def unset_of_inference(mode: Mode) -> list[str]:
    """Return sections and keys that RLinf reads for inference but a complete job's file lacks."""
    settings, unset = mode.settings, list[str]()
    if mode.notes.partial or not settings.has("rollout.group_name") or not mode.flag(RECOMPUTE):
        return []
    for names, role in ((INFERRING, "actor"), ((CRITICS_INFERENCE,), "critic")):
        section = next((name for name in reversed(names) if settings.has(name)), names[0])
        if mode.first_of(*names) is None:
            continue
        if settings.at(section) is None:
            unset.append(section)
        elif isinstance(settings.at(section), MapNode):
            keys = _READ if mode.backend(role, SETTING) == MEGATRON else _READ[:1]
            unset += [f"{section}.{key}" for key in keys if not settings.has(f"{section}.{key}")]
    return unset


def find_refused_apart(mode: Mode, auto: bool = False) -> list[str]:
    """Return the active settings that RLinf refuses if actor and rollout are apart."""
    choice, refusals = mode.settings.choice, list[str]()
    roles = ["actor"] * mode.has("actor") + ["critic"] * bool(mode.has("critic") and mode.flag(CRITIC))
    for role in roles:
        backend = mode.backend(role, SETTING)
        refuses = backend == FSDP and role == "actor" and not auto and (choice is None or choice.since("0.2"))
        paths = ("runner.enable_dynamic_batch_size", f"{role}.enable_dp_load_balance") if refuses or backend == MEGATRON else ()
        refusals += [path for path in paths if mode.flag(path)]
    return list(dict.fromkeys(refusals))


def check_arrangement(mode: Mode, current: Arrangement) -> None:
    """Note findings about needs and refusals of the arrangement."""
    check_inference(mode, current)
    is_on, names = mode.flag(CRITIC), ("critic", CRITICS_INFERENCE)
    for name in names if is_on and not mode.notes.partial else ():
        if not mode.has(name) and (name == "critic" or (current in APART and "actor" not in mode.planned)):
            mode.report("critic not placed", name, mode.owner)
    if current in APART and not mode.plans_both:
        _check_apart(mode, current)
    check_engine_tp(mode, current is Arrangement.COLLOCATED)


def check_inference(mode: Mode, current: Arrangement) -> None:
    """Check that inference components exist exactly if rollout and actor are apart."""
    inference, critics = mode.first_of(*INFERRING), mode.first_of(CRITICS_INFERENCE)
    if current is Arrangement.COLLOCATED:
        for name in filter(None, (inference, critics)):
            mode.report("inference beside shared", name)
        if mode.task == "coding_online_rl":
            mode.report("coding shares", "rollout")
    if current not in APART:
        return
    is_off = mode.flag(RECOMPUTE) is False and mode.flag(CORRECT) is False and mode.settings.at(RECOMPUTE) is not None
    if inference and is_off and current is Arrangement.DISAGGREGATED:
        mode.report("inference turned off", inference)
    why = inference_needed(mode, current is Arrangement.AUTO)
    if why and not mode.plans_both:  # without inference, a plan keeps actor and rollout together
        severity = Severity.ERROR if current is Arrangement.DISAGGREGATED else Severity.WARNING
        mode.report("inference not placed", "inference", mode.owner, severity=severity, why=why)


def _check_apart(mode: Mode, current: Arrangement) -> None:
    for path in find_refused_apart(mode, current is Arrangement.AUTO):
        section, value = path.split(".", 1)[0], mode.settings.at(path)
        subject, edit = "actor" if section == "runner" else section, mode.settings.becomes(path, "false")
        mode.report("refused apart", subject, value or mode.owner, edit, path=path)
    if missing := unset_of_inference(mode):
        names = " and ".join(f"`{name}`" for name in missing)
        name = mode.first_of(*INFERRING, CRITICS_INFERENCE) or INFERRING[0]
        mode.report("inference lacks keys", name, names=names)


def check_engine_tp(mode: Mode, shares: bool, partly: bool = False) -> None:
    """Check that rollout's tp is at most the actor's, for weight transfer.

    An fsdp actor demands it only if it `shares` accelerators and has a tp above 1 or rollout
    `partly` on them. If a plan chooses degrees, the candidate arrangements state the valid
    combinations.
    """
    actor, rollout = mode.degrees("actor").tp, mode.degrees("rollout").tp
    if mode.plans_both and {"actor", "rollout"} & mode.choices.keys():
        return
    if not actor or not rollout or rollout.value <= actor.value or not mode.has("actor") or not mode.has("rollout"):
        return
    if (mode.count("rollout") or rollout.value) < rollout.value:
        return  # such an engine never starts; reported elsewhere
    backend = mode.backend("actor", SETTING)
    if backend == MEGATRON or (backend == FSDP and shares and (actor.value > 1 or partly)):
        better = fitting_tp(mode, actor, rollout.value, mode.count("rollout") or actor.value)
        values: dict[str, Any] = {"path": rollout.name, "rollout": rollout.value, "actor": actor.value, "backend": backend}
        mode.report("engine larger than actor", "rollout", rollout.span or mode.owner, rollout.becomes(better), better=better, **values)
