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
from typing import Iterator

from ....component import Parallel
from ....configuration.settings import Amount, Settings
from ....findings.wording import with_noun
from ....hints.block import timed_names
from ....parallel import UNDIVIDED
from ....planning.way import CountConstraint, FrameworkArrangement, PairedShapes, ProcessShape
from ....text.tree import MapNode, Value
from ..known import COST, DEGREE, FSDP, INFERENCE, KEY, LATE, MEGATRON, PLANS, is_profiled, time_advice
from .arrangement import CORRECT, RECOMPUTE, inference_needed, refused_apart, unset_of_inference
from .packing import interleaved
from .parts import (
    CRITICS_INFERENCE,
    INFERRING,
    ModeState,
    ParallelSettings,
    Placer,
    inference_degrees,
    inference_degrees_by_arrangement,
    inferring,
    megatron_inference,
    placer_of,
    rollout_degrees_by_arrangement,
    sections_of_inference,
    trained_degrees,
)

ENGINES = ("sglang", "vllm")


def has_weight_exchange(parts: ModeState) -> bool:
    """Return True if engines are known to receive weights; False for an incomplete job."""
    settings = parts.settings
    if parts.notes.partial or not settings.has("rollout.group_name"):
        return False
    return settings.word("rollout.rollout_backend", DEGREE) in ENGINES


def engine_mismatch(parts: ModeState, actor: ParallelSettings, rollout: ParallelSettings) -> str:
    """Return why rollout gets no weights with any accelerator count; "" if some counts work.

    Each rank of the actor has the weights of whole ranks of rollout.
    """
    if not has_weight_exchange(parts) or not actor.tp or not rollout.tp or actor.tp.value % rollout.tp.value == 0:
        return ""
    return f"the tp of actor, {actor.tp.value}, is no multiple of the tp of rollout, {rollout.tp.value}"


def check_engine_weights(parts: ModeState, actor: ParallelSettings, rollout: ParallelSettings) -> None:
    """Note an error if counts or degrees of actor and rollout leave engines without weights."""
    rollout_count, actor_count = parts.count("rollout") or 0, parts.count("actor") or 0
    if not actor.tp or not rollout.tp or rollout_count < rollout.tp.value or actor_count < actor.tp.value:
        return
    step, is_megatron = actor.tp.value, parts.backend("actor") == MEGATRON
    if why := engine_mismatch(parts, actor, rollout):
        if step < rollout.tp.value and is_megatron:
            return  # reported by check_engine_tp
        message, help = f"{why}, and they are apart", f"set `{rollout.tp.name}` to a divisor of {step}"
    elif not has_weight_exchange(parts) or not rollout.pp or rollout.pp.value > 1:
        return  # in an engine with pipeline stages fewer ranks receive weights
    elif is_megatron and actor.parallel and actor_count % actor.parallel.replica:
        return  # such an actor never starts; reported elsewhere
    elif CountConstraint("rollout", "actor", step).holds(rollout_count, actor_count):
        return
    else:
        message = f"the weights of `actor` (tp {step}, {actor_count} accelerators) do not come to all of the {rollout_count} of `rollout`"
        help = f"give `rollout` a multiple of {step} accelerators, at most {actor_count} or whole times as many"
    parts.error(DEGREE, "rollout", f"{message}; {LATE}", help)
    parts.notes.findings[-1] = replace(parts.notes.findings[-1], premises=("actor", "rollout"))  # judged by the ranks of both


def inference_mismatch(parts: ModeState) -> tuple[str, str, Amount, int] | None:
    """Return the first inference component without weights; None if all get weights, or unknown.

    The tuple is (component, reason, its tp, a tp that fits).
    """
    for name, role in megatron_inference(parts):
        worker_tp, own_tp = trained_degrees(parts.settings, role).tp, inference_degrees(parts.settings, role).tp
        if worker_tp and own_tp and worker_tp.value % own_tp.value:
            why = f"the tp of {role}, {worker_tp.value}, is no multiple of the tp of {name}, {own_tp.value}"
            return name, why, own_tp, gcd(worker_tp.value, own_tp.value)
    return None


def check_inference_weights(parts: ModeState) -> None:
    """Note an error if a separate inference component would stop training or wait for weights."""
    if mismatch := inference_mismatch(parts):
        name, why, tp, better = mismatch
        message, help = f"{why}, to which it hands its weights; {LATE}", f"set `{tp.name}: {better}`"
        parts.error(DEGREE, name, message, help, at=tp.span, edit=tp.becomes(better))
        return
    for name, role in megatron_inference(parts):
        needs, worker = least_for_inference(parts).get(role, 0), parts.placed(role)
        count = max(run.ranks.stop for run in worker.runs) if worker and worker.runs else needs
        if count < needs:
            message = f"the first {needs} ranks of `{name}` (its tp x pp) get weights from as many of `{role}`, which has {count}; {LATE}"
            help = f"give `{role}` at least {with_noun(needs, 'accelerator')}, or lower the degrees of `{name}`"
            parts.error(DEGREE, name, message, help, f"{needs} needed")


def least_for_inference(parts: ModeState) -> dict[str, int]:
    """Return trained role -> minimum accelerators to send weights to separate inference."""
    degrees_by_role = {role: inference_degrees(parts.settings, role) for _, role in megatron_inference(parts)}
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
    profiled = is_profiled(root, hints)
    roles = {"actor": "actor"} if placer is Placer.HYBRID or profiled else ROLES_OF_FSDP
    components = frozenset(name for name, role in roles.items() if settings.word(f"{role}.training_backend", DEGREE) == FSDP)
    return components if profiled else components - timed_names(hints)


def clear_degrees(parts: ModeState, *names: str) -> None:
    """Clear the degrees of components that FSDP trains or infers with, hinted tp included."""
    for name in names:
        component = parts.on_accelerators(name)
        if component is None or (component.timed is not None and (not parts.profiled or parts.is_open(name))):
            continue
        if component.parallel != UNDIVIDED and parts.backend(ROLES_OF_FSDP[name]) == FSDP:
            parts.components[name] = replace(component, parallel=UNDIVIDED)


def whole_engines(parallel: Parallel) -> ProcessShape:
    """Return the shape of rollout on separate accelerators: whole engines."""
    return ProcessShape(parallel.tp * parallel.pp, 1, parallel)


def shapes_of_choices(parts: ModeState) -> dict[str, dict[Parallel, ProcessShape]]:
    """Return the shape per planned component and choice of degrees, each component alone.

    A component that FSDP trains has at least tp accelerators where RLinf reads tp, and any number
    elsewhere.
    """
    shapes: dict[str, dict[Parallel, ProcessShape]] = {}
    if parts.ways and "rollout" in parts.planned and "rollout" in parts.choices:
        shapes["rollout"] = {parallel: whole_engines(parallel) for parallel in parts.choices["rollout"]}
    actor = parts.components.get("actor")
    if actor and "actor" in parts.planned and "parallel" in actor.spans and parts.backend("actor") == FSDP:
        reads_tp = parts.placer is not Placer.HYBRID
        candidates = parts.choices.get("actor") or (actor.parallel,)
        shapes["actor"] = {
            parallel: ProcessShape(actor.per_process, actor.stride, least=parallel.tp if reads_tp else 1) for parallel in candidates
        }
        if reads_tp:
            shapes["actor"] = {parallel: ProcessShape(least=parallel.tp) for parallel in candidates}
    return shapes


def _choices(parts: ModeState, name: str, file_degrees: ParallelSettings) -> list[tuple[Parallel | None, Parallel]]:
    """Return (choice, degrees) of a component; without open degrees its own, with choice None."""
    choices = parts.choices.get(name, ())
    return [(choice, choice) for choice in choices] or ([(None, file_degrees.parallel)] if file_degrees.parallel else [])


def _paired(parts: ModeState, actor: ParallelSettings, rollout: ParallelSettings, together: bool) -> tuple[PairedShapes, ...]:
    """Return the shape of rollout per joint choice of degrees; empty without open degrees.

    A megatron actor accepts a rollout tp up to its own. Stages of rollout have no effect on the
    actor's accelerators.
    """
    shape_by_choice: dict[tuple[Parallel | None, Parallel | None], ProcessShape] = {}
    engines, workers = _choices(parts, "rollout", rollout), _choices(parts, "actor", actor)
    if not {"actor", "rollout"} & parts.choices.keys() or not engines or not workers:
        return ()
    backend, plain = parts.backend("actor"), {engine.tp for _, engine in engines if engine.pp == 1}
    for (engine_choice, engine), (worker_choice, worker) in product(engines, workers):
        if (backend == MEGATRON and engine.tp > worker.tp) or (together and engine.pp > 1 and engine.tp in plain):
            continue
        if together:
            shape = interleaved(worker.tp, engine.tp, backend == FSDP)
        else:
            shape = whole_engines(engine) if not has_weight_exchange(parts) or worker.tp % engine.tp == 0 else None
        if shape is not None:
            shape_by_choice[engine_choice, worker_choice] = shape
    return (PairedShapes("rollout", "actor", shape_by_choice),)


def _inference_pairs(parts: ModeState) -> tuple[PairedShapes, ...]:
    """Return choices of a trained component whose tp is a multiple of the inference tp."""
    pairs = []
    for name, role in megatron_inference(parts):
        worker_tp, inference_tp, choices = (
            trained_degrees(parts.settings, role).tp,
            inference_degrees(parts.settings, role).tp,
            parts.choices.get(role, ()),
        )
        # Equal degrees may depend on each other.
        if choices and worker_tp and inference_tp and worker_tp.value != inference_tp.value:
            pairs.append(
                PairedShapes(
                    role, name, {(choice, None): ProcessShape(parallel=choice) for choice in choices if choice.tp % inference_tp.value == 0}
                )
            )
    return tuple(pairs)


def _multiples(parts: ModeState, actor: ParallelSettings, rollout: ParallelSettings) -> tuple[CountConstraint, ...]:
    """Return accelerator counts that fit for separate components, per choice of degrees.

    Nothing is known about pipeline stages.
    """
    if not has_weight_exchange(parts):
        return ()
    pairs = product(_choices(parts, "rollout", rollout), _choices(parts, "actor", actor))
    return tuple(
        CountConstraint("rollout", "actor", worker.tp, engine_choice, worker_choice)
        for (engine_choice, engine), (worker_choice, worker) in pairs
        if engine.pp == 1
    )


def _multiples_together(parts: ModeState, actor: ParallelSettings) -> tuple[CountConstraint, ...]:
    """Return multiples for rollout that shares accelerators with an fsdp actor.

    Engines interleave in whole groups of the actor's tp; megatron has whole replicas.
    """
    steps = _choices(parts, "actor", actor) if parts.backend("actor") == FSDP else []
    return tuple(CountConstraint("rollout", "actor", worker.tp, None, choice, equal=True) for choice, worker in steps if worker.tp > 1)


def arrangements(parts: ModeState, actor: ParallelSettings, rollout: ParallelSettings) -> Iterator[FrameworkArrangement]:
    """Yield the arrangements that RLinf would start, for components without explicit ranks."""
    inference, critics = parts.first_of(*INFERRING), parts.first_of(CRITICS_INFERENCE)
    critic = parts.first_of("critic")
    idle = [name for name in (inference, critics) if name]
    paired = _paired(parts, actor, rollout, together=True)
    shape = None
    if actor.tp and rollout.tp:
        shape = interleaved(actor.tp.value, rollout.tp.value, parts.backend("actor", PLANS) == FSDP)
    shares = parts.task != "coding_online_rl" and (any(pair.shapes for pair in paired) if paired else shape is not None)
    if shares:
        pairs = [("actor", "rollout"), ("actor", inference), (critic or "actor", critics)]
        shapes = {**({"rollout": shape} if shape else {}), **_shapes(parts, idle, together=True)}
        together = frozenset((first, second) for first, second in pairs if second)
        multiples = _multiples_together(parts, actor)
        yield FrameworkArrangement("collocated", together, shapes=shapes, without=frozenset(idle), multiples=multiples, paired=paired)
    why, help = _not_apart(parts, actor, rollout)
    if why and not shares:
        message = f"impossible: actor and rollout can neither share their accelerators nor be apart: {why}"
        parts.error("PW601", "rollout", message, help, at=parts.owner)
    elif why:
        message = f"{why}: only plans are looked at in which actor and rollout share their accelerators"
        parts.notes.info(PLANS, "rollout", message, parts.owner, "", help)
    else:
        apart_pairs = [
            *product(("actor", "rollout"), (inference, critic)),
            ("actor", "rollout"),
            (critic or "rollout", critics),
            ("rollout", critics),
        ]
        apart = frozenset((first, second) for first, second in apart_pairs if second and first != second)
        shapes = _shapes(parts, idle, together=False)
        if "rollout" not in parts.choices and (staged := rollout_degrees_by_arrangement(rollout)):
            shapes["rollout"] = whole_engines(staged[0])
        least = {**least_for_inference(parts), **(_least_of_inference(parts, idle) if shares else {})}
        paired = (*_paired(parts, actor, rollout, together=False), *_inference_pairs(parts))
        multiples = _multiples(parts, actor, rollout)
        yield FrameworkArrangement("disaggregated", apart=apart, shapes=shapes, multiples=multiples, least=least, paired=paired)


def _not_apart(parts: ModeState, actor: ParallelSettings, rollout: ParallelSettings) -> tuple[str, str]:
    """Return why RLinf would not start a separate plan, and help; empty if it would."""
    needed = inference_needed(parts)
    adds = {name: time_advice(name, f"{name}{COST}", parts.settings.has(KEY)) for name in ("inference", CRITICS_INFERENCE)}
    if needed and not (parts.flag(RECOMPUTE) or parts.flag(CORRECT)):
        why = f"{needed.removesuffix(' it')} `inference`, which RLinf starts only with `{RECOMPUTE}: true`"
        return why, f"set `{RECOMPUTE}: true`, and {adds['inference']}"
    if needed:
        return "nobody says how long `inference` takes", adds["inference"]
    if parts.has("critic") and not parts.has(CRITICS_INFERENCE) and parts.flag("critic.use_critic_model"):
        return f"nobody says how long `{CRITICS_INFERENCE}` takes", adds[CRITICS_INFERENCE]
    if unset := unset_of_inference(parts) or [path for path in sections_of_inference(parts) if parts.settings.at(path) is None]:
        listed = " and ".join(f"`{path}`" for path in unset)
        return f"the file has no {listed}, which RLinf reads where rollout is apart", f"add {listed} with the settings of the job"
    if refused := refused_apart(parts):
        listed = " and ".join(f"`{path}: true`" for path in refused)
        return f"what trains refuses {listed} where rollout is apart", f"drop {listed}"
    if not any(pair.shapes for pair in _paired(parts, actor, rollout, together=False)) and (why := engine_mismatch(parts, actor, rollout)):
        return f"{why}, so that its engines would get no weights", "choose degrees of which one divides the other"
    if (mismatch := inference_mismatch(parts)) and not any(pair.shapes for pair in _inference_pairs(parts)):
        name, why, tp, better = mismatch
        return f"{why}, so that `{name}` would get no weights", f"set `{tp.name}: {better}`"
    return "", ""


def _shapes(parts: ModeState, names: list[str], together: bool) -> dict[str, ProcessShape]:
    """Return shapes of Megatron inference components with other degrees than their trained role.

    With `together`, the role does the inference work.
    """
    degrees_by_name = {name: inference_degrees_by_arrangement(parts.settings, INFERENCE[name]) for name in names}
    return {name: ProcessShape(parallel=degrees[together]) for name, degrees in degrees_by_name.items() if degrees}


def _least_of_inference(parts: ModeState, names: list[str]) -> dict[str, int]:
    """Return inference component -> minimum accelerators: the tp, unless degrees imply the tp."""
    least_by_name: dict[str, int] = {}
    for name in names:
        role = INFERENCE[name]
        tp, is_divided = inferring(parts.settings, role), parts.backend(role, PLANS) == MEGATRON
        own_degrees = inference_degrees(parts.settings, role).parallel if is_divided else None
        if tp and parts.has(role) and not (own_degrees and own_degrees.replica >= tp.value):
            least = min((parallel.tp for parallel in parts.choices.get(name, ())), default=tp.value)
            least_by_name |= {name: least} if least > 1 else {}
    return least_by_name
