"""Arrangements of actor and rollout (shared, apart or in turns), and RLinf's demands on them.

FSDP divides nothing by its tp: RLinf only checks that an actor has as many accelerators, and uses
tp to hand weights to rollout. In the hybrid placement of embodied tasks RLinf reads no tp of
FSDP-trained components.

Sources in RLinf:

- rlinf/utils/placement.py, ModelParallelComponentPlacement (_is_auto, _is_collocated, _is_disaggregated,
  _generate_placements).
- examples/reasoning (main_grpo.py), rlinf/config.py (validate_reasoning_cfg, validate_coding_online_rl_cfg).
- rlinf/workers/actor/fsdp_actor_worker.py (_setup_rollout_weight_dst_ranks) and
  rlinf/workers/rollout/utils.py (CollocateRankMapper, DisaggRankMapper);
  rlinf/hybrid_engines/{sglang/common/sgl_scheduler.py,vllm} (receivers of weights).
- rlinf/utils/resharding/reshard_config.py; rlinf/workers/megatron_worker.py
  (sync_model_to_inference) and rlinf/workers/inference/megatron_inference_worker.py
  (sync_model_from_actor, _build_inference_cfg).
"""

from __future__ import annotations

from dataclasses import replace
from enum import Enum
from itertools import product
from math import gcd
from typing import Any, Iterator

from ....component import COLOCATED, COLOCATED_OR_DISJOINT, DISJOINT, SUBSET, Component, Parallel
from ....configuration.settings import Amount, Settings
from ....findings.finding import Severity
from ....hints.block import timed_names
from ....machines.node_group import ACCELERATOR
from ....parallel import UNDIVIDED
from ....planning.arrangement import CountConstraint, FrameworkArrangement, ProcessShape
from ....text.tree import MapNode, Value
from ..known import CRITICS_INFERENCE, DEGREE, FSDP, INFERENCE, INFERRING, MEGATRON, PLANS, SETTING, is_profiled, time_advice
from .packing import fitting_tp, interleave
from .state import TP, Mode, Placer, degrees_by_arrangement, masks, placer_of, placing_tp

RECOMPUTE, CORRECT = "algorithm.recompute_logprobs", "algorithm.importance_sampling_fix"
CRITIC = "critic.use_critic_model"
_READ = (
    "group_name", "load_from_actor", "model.tensor_model_parallel_size", "model.pipeline_model_parallel_size",
    "model.sequence_parallel",
)  # fmt: skip
"""Keys of an inference section that RLinf's programs read; for fsdp only the first."""


class Arrangement(str, Enum):
    """Arrangement of actor and rollout on accelerators.

    `EITHER`: left to solve, without a difference. `NONE`: they overlap in part, or their ranks are unknown.
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
            if name == "critic" and not mode.settings.is_older_than("0.2"):
                mode.notes.unsure(SETTING, name, "the program is not known, and `critic` is not placed", True, "Add a line for `critic`")
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

    An fsdp actor demands it only if it `shares` accelerators and has a tp above 1 or rollout `partly` on them. If a plan
    chooses degrees, the candidate arrangements state the valid combinations.
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


def has_weight_exchange(mode: Mode) -> bool:
    """Return True if engines are known to receive weights; False for an incomplete job."""
    if mode.notes.partial or not mode.settings.has("rollout.group_name"):
        return False
    return mode.settings.word("rollout.rollout_backend", DEGREE) in ("sglang", "vllm")


def engine_mismatch(mode: Mode) -> str:
    """Return why rollout gets no weights with any accelerator count; "" if some counts work."""
    actor, rollout = mode.degrees("actor").tp, mode.degrees("rollout").tp
    if not has_weight_exchange(mode) or not actor or not rollout or actor.value % rollout.value == 0:
        return ""
    return f"the tp of actor, {actor.value}, is not a multiple of the tp of rollout, {rollout.value}"


def check_engine_weights(mode: Mode) -> None:
    """Note an error if counts or degrees of actor and rollout leave engines without weights."""
    actor, rollout = mode.degrees("actor"), mode.degrees("rollout")
    rollout_count, actor_count = mode.count("rollout") or 0, mode.count("actor") or 0
    if not actor.tp or not rollout.tp or rollout_count < rollout.tp.value or actor_count < actor.tp.value:
        return
    step, is_megatron = actor.tp.value, mode.backend("actor") == MEGATRON
    if why := engine_mismatch(mode):
        if step < rollout.tp.value and is_megatron:
            return  # reported by check_engine_tp
        finding = "no weights for engines"
    elif not has_weight_exchange(mode) or not rollout.pp or rollout.pp.value > 1:
        return  # in an engine with pipeline stages fewer ranks receive weights
    elif is_megatron and actor.parallel and actor_count % actor.parallel.replica:
        return  # such an actor never starts; reported elsewhere
    elif CountConstraint("rollout", "actor", step).holds(rollout_count, actor_count):
        return
    else:
        finding = "weights do not reach all"
    values: dict[str, Any] = {"why": why, "path": rollout.tp.name, "step": step, "actor": actor_count, "rollout": rollout_count}
    mode.report(finding, "rollout", premises=("actor", "rollout"), **values)


def _megatron_inference(mode: Mode) -> list[tuple[str, str]]:
    """Return (inference component, trained role) for existing pairs that run Megatron."""
    pairs = [(name, role) for name, role in INFERENCE.items() if mode.has(name) and mode.has(role)]
    return [(name, role) for name, role in pairs if mode.backend(role) == MEGATRON]


def sections_of_inference(mode: Mode) -> list[str]:
    """Return the sections, besides the actor's, with the tp of placed inference components."""
    section = next((name for name in INFERRING if mode.settings.at(name) is not None), None)
    sections = [f"{section}.model"] if section and mode.first_of(*INFERRING) else []
    if mode.has(CRITICS_INFERENCE) and mode.settings.at(f"{CRITICS_INFERENCE}.model.{TP}") is None:
        sections.append("critic.model")
    return sections


def inference_mismatch(mode: Mode) -> tuple[str, str, Amount, int] | None:
    """Return (inference without weights, reason, its tp, a fitting tp), else None."""
    for name, role in _megatron_inference(mode):
        worker, inference = mode.degrees(role).tp, mode.degrees(name).tp
        if worker and inference and worker.value % inference.value:
            why = f"the tp of {role}, {worker.value}, is not a multiple of the tp of {name}, {inference.value}"
            return name, why, inference, gcd(worker.value, inference.value)
    return None


def check_inference_weights(mode: Mode) -> None:
    """Note an error if a separate inference component would stop training or wait for weights."""
    if mismatch := inference_mismatch(mode):
        name, why, tp, better = mismatch
        mode.report("no weights for inference", name, tp.span, tp.becomes(better), why=why, path=tp.name, better=better)
        return
    for name, role in _megatron_inference(mode):
        needs, worker = least_for_inference(mode).get(role, 0), mode.find_placed(role)
        count = max(run.ranks.stop for run in worker.runs) if worker and worker.runs else needs
        if count < needs:
            mode.report("few ranks send weights", name, premises=(role, name), role=role, needs=needs, count=count)


def least_for_inference(mode: Mode) -> dict[str, int]:
    """Return trained role -> minimum accelerators to send weights to separate inference."""
    degrees_by_role = {role: mode.degrees(name) for name, role in _megatron_inference(mode)}
    return {role: degrees.tp.value * degrees.pp.value for role, degrees in degrees_by_role.items() if degrees.tp and degrees.pp}


ROLES_OF_FSDP = {"actor": "actor", "critic": "critic", **INFERENCE}
"""Component -> role whose gradients or probabilities FSDP computes."""


def undivided_components(settings: Settings, root: MapNode, hints: Value | None) -> frozenset[str]:
    """Return components that FSDP trains or infers with: a hinted tp needs no multiple.

    In a file with times only the trained component counts; without explicit ranks, components with
    times do not.
    """
    placer = placer_of(settings, settings.word("runner.task_type", DEGREE) or "")
    if placer not in (Placer.HYBRID, Placer.MODEL_PARALLEL):
        return frozenset()
    has_profile = is_profiled(root, hints)
    roles = {"actor": "actor"} if placer is Placer.HYBRID or has_profile else ROLES_OF_FSDP
    components = frozenset(name for name, role in roles.items() if settings.word(f"{role}.training_backend", DEGREE) == FSDP)
    return components if has_profile else components - timed_names(hints)


def clear_degrees(mode: Mode, *names: str) -> None:
    """Clear the degrees of components (default: all) that FSDP trains or infers with."""
    for name in names or ROLES_OF_FSDP:
        component = mode.find_on_accelerators(name)
        if component is None or (component.timed is not None and (not mode.profiled or mode.is_open(name))):
            continue
        if component.parallel != UNDIVIDED and mode.backend(ROLES_OF_FSDP[name]) == FSDP:
            mode.components[name] = replace(component, parallel=UNDIVIDED)


def shapes_of_choices(mode: Mode) -> dict[str, dict[Parallel, ProcessShape]]:
    """Return the shape per planned component and choice of degrees, each component alone.

    A component that FSDP trains has at least tp accelerators where RLinf reads tp, and any number
    elsewhere.
    """
    shapes: dict[str, dict[Parallel, ProcessShape]] = {}
    actor = mode.components.get("actor")
    if actor and "actor" in mode.planned and "parallel" in actor.spans and mode.backend("actor") == FSDP:
        shapes["actor"] = {
            parallel: ProcessShape(least=parallel.tp) if mode.packs else ProcessShape(actor.per_process, actor.stride, least=1)
            for parallel in mode.choices.get("actor") or (actor.parallel,)
        }
    return shapes


def _multiples(mode: Mode, is_collocated: bool) -> tuple[CountConstraint, ...]:
    """Return accelerator counts that fit.

    Together with an fsdp actor, engines interleave in whole groups of its tp; megatron has whole
    replicas. Apart, nothing is known about pipeline stages.
    """
    worker, engine = (mode.degrees(name).parallel for name in ("actor", "rollout"))
    if worker is None or engine is None:
        return ()
    is_bound = mode.backend("actor") == FSDP and worker.tp > 1 if is_collocated else has_weight_exchange(mode) and engine.pp == 1
    return (CountConstraint("rollout", "actor", worker.tp, equal=is_collocated),) if is_bound else ()


def arrangements(mode: Mode) -> Iterator[FrameworkArrangement]:
    """Yield the arrangements that RLinf would start, for components without explicit ranks."""
    inference, critics, critic = mode.first_of(*INFERRING), mode.first_of(CRITICS_INFERENCE), mode.first_of("critic")
    idle = [name for name in (inference, critics) if name]
    actor, rollout, shape = mode.degrees("actor").tp, mode.degrees("rollout").tp, None
    if actor and rollout and mode.task != "coding_online_rl":
        shape = interleave(actor.value, rollout.value, mode.backend("actor", PLANS) == FSDP)
    if shape is not None:
        pairs = [("actor", "rollout"), ("actor", inference), (critic or "actor", critics)]
        colocations = frozenset((first, second) for first, second in pairs if second)
        shapes = {"rollout": shape, **_shapes(mode, idle, is_collocated=True)}
        multiples = _multiples(mode, is_collocated=True)
        yield FrameworkArrangement("collocated", colocations, shapes=shapes, without=frozenset(idle), multiples=multiples)
    why, help = _explain_not_apart(mode)
    if why:
        if shape or not mode.choices:  # else other degrees may fit
            mode.report("only shared plans" if shape else "neither shared nor apart", "rollout", mode.owner, why=why, help=help)
        return
    all_pairs = product(("actor", "rollout"), (inference, critic))
    candidates = [*all_pairs, ("actor", "rollout"), (critic or "rollout", critics), ("rollout", critics)]
    separations = frozenset((first, second) for first, second in candidates if second and first != second)
    shapes = _shapes(mode, idle, is_collocated=False)
    if staged_degrees := degrees_by_arrangement(mode.settings, "rollout"):
        shapes["rollout"] = ProcessShape(staged_degrees[0].replica, 1, staged_degrees[0])
    minima = {**least_for_inference(mode), **(_least_of_inference(mode, idle) if shape else {})}
    multiples = _multiples(mode, is_collocated=False)
    yield FrameworkArrangement("disaggregated", apart=separations, shapes=shapes, multiples=multiples, least=minima)


def _explain_not_apart(mode: Mode) -> tuple[str, str]:
    """Return why RLinf would not start a separate plan, and help; empty if it would."""
    reason = inference_needed(mode)
    adds = {name: time_advice(mode.settings, name) for name in ("inference", CRITICS_INFERENCE)}
    if reason and not (mode.flag(RECOMPUTE) or mode.flag(CORRECT)):
        why = f"{reason.removesuffix(' it')} `inference`, which RLinf starts only with `{RECOMPUTE}: true`"
        return why, f"set `{RECOMPUTE}: true`, and {adds['inference']}"
    if reason:
        return "the time of `inference` is unknown", adds["inference"]
    if mode.has("critic") and not mode.has(CRITICS_INFERENCE) and mode.flag("critic.use_critic_model"):
        return f"the time of `{CRITICS_INFERENCE}` is unknown", adds[CRITICS_INFERENCE]
    if unset := unset_of_inference(mode) or [path for path in sections_of_inference(mode) if mode.settings.at(path) is None]:
        names = " and ".join(f"`{path}`" for path in unset)
        return f"the file has no {names}, which RLinf reads where rollout is apart", f"add {names} with the settings of the job"
    if refusals := find_refused_apart(mode):
        names = " and ".join(f"`{path}: true`" for path in refusals)
        return f"training refuses {names} where rollout is apart", f"drop {names}"
    if (why := engine_mismatch(mode)) and mode.choices.keys().isdisjoint(("actor", "rollout")):
        return f"{why}, so that its engines would get no weights", "choose degrees of which one divides the other"
    if (mismatch := inference_mismatch(mode)) and mode.choices.keys().isdisjoint((mismatch[0], INFERENCE[mismatch[0]])):
        name, why, tp, better = mismatch
        return f"{why}, so that `{name}` would get no weights", f"set `{tp.name}: {better}`"
    return "", ""


def _shapes(mode: Mode, names: list[str], is_collocated: bool) -> dict[str, ProcessShape]:
    """Return shapes of Megatron inference components with other degrees than their trained role."""
    degrees_by_name = {name: degrees_by_arrangement(mode.settings, name) for name in names}
    return {name: ProcessShape(parallel=degrees[is_collocated]) for name, degrees in degrees_by_name.items() if degrees}


def _least_of_inference(mode: Mode, names: list[str]) -> dict[str, int]:
    """Return inference component -> minimum accelerators: the tp, unless degrees imply the tp."""
    minima: dict[str, int] = {}
    for name in names:
        role = INFERENCE[name]
        tp, is_divided = placing_tp(mode.settings, name), mode.backend(role, PLANS) == MEGATRON
        own_degrees = mode.degrees(name).parallel if is_divided else None
        if tp and mode.has(role) and not (own_degrees and own_degrees.replica >= tp.value):
            minima |= {name: tp.value} if tp.value > 1 else {}
    return minima
