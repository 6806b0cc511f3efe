"""Weight transfer, open arrangements and open degrees, and FSDP's use of degrees.

FSDP divides nothing by its tp: RLinf only checks that an actor has as many accelerators, and uses
tp to hand weights to rollout. In the hybrid placement of embodied tasks RLinf reads no tp of
FSDP-trained components.

Sources in RLinf:

- rlinf/utils/placement.py, ModelParallelComponentPlacement (_is_collocated, _is_disaggregated,
  _generate_placements).
- rlinf/workers/actor/fsdp_actor_worker.py (_setup_rollout_weight_dst_ranks) and
  rlinf/workers/rollout/utils.py (CollocateRankMapper, DisaggRankMapper);
  rlinf/hybrid_engines/{sglang/common/sgl_scheduler.py,vllm} (receivers of weights).
- rlinf/utils/resharding/reshard_config.py; rlinf/workers/megatron_worker.py
  (sync_model_to_inference) and rlinf/workers/inference/megatron_inference_worker.py
  (sync_model_from_actor).
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from math import gcd
from typing import Any, Iterator

from ....component import Parallel
from ....configuration.settings import Amount, Settings
from ....hints.block import timed_names
from ....parallel import UNDIVIDED
from ....planning.arrangement import CountConstraint, FrameworkArrangement, ProcessShape
from ....text.tree import MapNode, Value
from ..known import CRITICS_INFERENCE, DEGREE, FSDP, INFERENCE, INFERRING, MEGATRON, PLANS, is_profiled, time_advice
from .arrangement import CORRECT, RECOMPUTE, find_refused_apart, inference_needed, unset_of_inference
from .packing import interleave
from .state import TP, Mode, Placer, degrees_by_arrangement, placer_of, placing_tp


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
