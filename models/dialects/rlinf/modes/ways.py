"""Weights between components, arrangements and degrees that are left to a plan, and what FSDP makes of degrees.

FSDP divides nothing by its tp: RLinf looks whether an actor has as many accelerators, and goes by it where weights are handed to
rollout. In the hybrid placement of embodied tasks it reads no tp of what FSDP trains.

Sources in RLinf:

- rlinf/utils/placement.py, ModelParallelComponentPlacement (_is_collocated, _is_disaggregated, _generate_placements).
- rlinf/workers/actor/fsdp_actor_worker.py (_setup_rollout_weight_dst_ranks) and rlinf/workers/rollout/utils.py
  (CollocateRankMapper, DisaggRankMapper); rlinf/hybrid_engines/{sglang/common/sgl_scheduler.py,vllm} (who looks for weights).
- rlinf/utils/resharding/reshard_config.py; rlinf/workers/megatron_worker.py (sync_model_to_inference) and
  rlinf/workers/inference/megatron_inference_worker.py (sync_model_from_actor).
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
from ....planning.way import Multiple, Paired, Shape, Way
from ....text.tree import MapNode, Value
from ..known import COST, DEGREE, FSDP, INFERENCE, KEY, LATE, MEGATRON, PLANS, is_profiled, saying
from .arrangement import AGAIN, FIXED, inference_needed, refused_apart, unset_of_inference
from .packing import interleaved
from .parts import (
    CRITICS_INFERENCE,
    INFERRING,
    Degrees,
    Parts,
    Placer,
    generated_otherwise,
    inferred,
    inferred_otherwise,
    inferring,
    megatron_inference,
    placer_of,
    sections_of_inference,
    trained,
)

ENGINES = ("sglang", "vllm")


def has_weight_exchange(parts: Parts) -> bool:
    """True if engines are known to look for who sends them weights; unknown for files that are no whole job."""
    settings = parts.settings
    if parts.notes.partial or not settings.has("rollout.group_name"):
        return False
    return settings.word("rollout.rollout_backend", DEGREE) in ENGINES


def engine_mismatch(parts: Parts, actor: Degrees, rollout: Degrees) -> str:
    """Why no numbers of accelerators help; "" where some do. Each rank of the actor has the parts of whole ranks of rollout."""
    if not has_weight_exchange(parts) or not actor.tp or not rollout.tp or actor.tp.value % rollout.tp.value == 0:
        return ""
    return f"the tp of actor, {actor.tp.value}, is no multiple of the tp of rollout, {rollout.tp.value}"


def check_engine_weights(parts: Parts, actor: Degrees, rollout: Degrees) -> None:
    """An error if the given accelerators of rollout and actor, or their degrees, leave engines without weights."""
    mine, others = parts.count("rollout") or 0, parts.count("actor") or 0
    if not actor.tp or not rollout.tp or mine < rollout.tp.value or others < actor.tp.value:
        return
    step, is_megatron = actor.tp.value, parts.backend("actor") == MEGATRON
    if why := engine_mismatch(parts, actor, rollout):
        if step < rollout.tp.value and is_megatron:
            return  # told by check_engine_tp
        message, help = f"{why}, and they are apart", f"set `{rollout.tp.name}` to a divisor of {step}"
    elif not has_weight_exchange(parts) or not rollout.pp or rollout.pp.value > 1:
        return  # of an engine in pipeline stages fewer ranks look for weights
    elif is_megatron and actor.parallel and others % actor.parallel.replica:
        return  # such an actor never starts, which is told elsewhere
    elif Multiple("rollout", "actor", step).holds(mine, others):
        return
    else:
        message = f"the weights of `actor` (tp {step}, {others} accelerators) do not come to all of the {mine} of `rollout`"
        help = f"give `rollout` a multiple of {step} accelerators, at most {others} or whole times as many"
    parts.error(DEGREE, "rollout", f"{message}; {LATE}", help)
    parts.notes.findings[-1] = replace(parts.notes.findings[-1], premises=("actor", "rollout"))  # judged by the ranks of both


def inference_mismatch(parts: Parts) -> tuple[str, str, Amount, int] | None:
    """(component, why it gets no weights, its tp, a tp that fits) of the first one; None if all get theirs, or it is unknown."""
    for name, role in megatron_inference(parts):
        mine, own = trained(parts.settings, role).tp, inferred(parts.settings, role).tp
        if mine and own and mine.value % own.value:
            why = f"the tp of {role}, {mine.value}, is no multiple of the tp of {name}, {own.value}"
            return name, why, own, gcd(mine.value, own.value)
    return None


def check_inference_weights(parts: Parts) -> None:
    """An error where an inference component apart from what trains would stop it, or wait for weights."""
    if found := inference_mismatch(parts):
        name, why, tp, better = found
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


def least_for_inference(parts: Parts) -> dict[str, int]:
    """Trained component -> least accelerators, so that inference apart from it receives its weights."""
    every = {role: inferred(parts.settings, role) for _, role in megatron_inference(parts)}
    return {role: degrees.tp.value * degrees.pp.value for role, degrees in every.items() if degrees.tp and degrees.pp}


ROLES_OF_FSDP = {"actor": "actor", "critic": "critic", **INFERENCE}
"""Component -> the role of which FSDP computes the gradients, or the probabilities."""


def trained_whole(settings: Settings, root: MapNode, hints: Value | None) -> frozenset[str]:
    """Components that FSDP trains, or with which it infers: hints of their tp ask for no multiple.

    Of a file with times only what trains; without ranks none that has times.
    """
    placer = placer_of(settings, settings.word("runner.task_type", DEGREE) or "")
    if placer not in (Placer.HYBRID, Placer.MODEL_PARALLEL):
        return frozenset()
    profiled = is_profiled(root, hints)
    roles = {"actor": "actor"} if placer is Placer.HYBRID or profiled else ROLES_OF_FSDP
    found = frozenset(name for name, role in roles.items() if settings.word(f"{role}.training_backend", DEGREE) == FSDP)
    return found if profiled else found - timed_names(hints)


def undivide(parts: Parts, *names: str) -> None:
    """Components that FSDP trains, or with which it infers, have no degrees, whatever their hints say of tp."""
    for name in names:
        component = parts.on_accelerators(name)
        if component is None or (component.timed is not None and (not parts.profiled or parts.is_open(name))):
            continue
        if component.parallel != UNDIVIDED and parts.backend(ROLES_OF_FSDP[name]) == FSDP:
            parts.components[name] = replace(component, parallel=UNDIVIDED)


def whole_engines(parallel: Parallel) -> Shape:
    """Rollout on accelerators of its own, with these degrees: whole engines."""
    return Shape(parallel.tp * parallel.pp, 1, parallel)


def shapes_of_choices(parts: Parts) -> dict[str, dict[Parallel, Shape]]:
    """Processes of planned components by themselves with each choice of their degrees.

    What FSDP trains has as many accelerators as its tp at the least where RLinf reads that, and any number elsewhere.
    """
    found: dict[str, dict[Parallel, Shape]] = {}
    if parts.ways and "rollout" in parts.planned and "rollout" in parts.choices:
        found["rollout"] = {parallel: whole_engines(parallel) for parallel in parts.choices["rollout"]}
    actor = parts.components.get("actor")
    if actor and "actor" in parts.planned and "parallel" in actor.spans and parts.backend("actor") == FSDP:
        reads_tp = parts.placer is not Placer.HYBRID
        every = parts.choices.get("actor") or (actor.parallel,)
        found["actor"] = {each: Shape(actor.per_process, actor.stride, least=each.tp if reads_tp else 1) for each in every}
        if reads_tp:
            found["actor"] = {each: Shape(least=each.tp) for each in every}
    return found


def _choices(parts: Parts, name: str, own: Degrees) -> list[tuple[Parallel | None, Parallel]]:
    """(choice, degrees) of a component; its own degrees, with no choice, where hints leave none open."""
    choices = parts.choices.get(name, ())
    return [(each, each) for each in choices] or ([(None, own.parallel)] if own.parallel else [])


def _paired(parts: Parts, actor: Degrees, rollout: Degrees, together: bool) -> tuple[Paired, ...]:
    """Shape of rollout with every choice of degrees; nothing where neither component has one.

    A megatron actor takes rollout of at most its own tp. Stages of rollout do nothing where it shares the actor's accelerators.
    """
    found: dict[tuple[Parallel | None, Parallel | None], Shape] = {}
    engines, workers = _choices(parts, "rollout", rollout), _choices(parts, "actor", actor)
    if not {"actor", "rollout"} & parts.choices.keys() or not engines or not workers:
        return ()
    backend, plain = parts.backend("actor"), {engine.tp for _, engine in engines if engine.pp == 1}
    for (one, engine), (other, worker) in product(engines, workers):
        if (backend == MEGATRON and engine.tp > worker.tp) or (together and engine.pp > 1 and engine.tp in plain):
            continue
        if together:
            shape = interleaved(worker.tp, engine.tp, backend == FSDP)
        else:
            shape = whole_engines(engine) if not has_weight_exchange(parts) or worker.tp % engine.tp == 0 else None
        if shape is not None:
            found[one, other] = shape
    return (Paired("rollout", "actor", found),)


def _inference_pairs(parts: Parts) -> tuple[Paired, ...]:
    """Choices of degrees of the trained component whose tp is a multiple of the tp of inference."""
    found = []
    for name, role in megatron_inference(parts):
        mine, own, choices = trained(parts.settings, role).tp, inferred(parts.settings, role).tp, parts.choices.get(role, ())
        if choices and mine and own and mine.value != own.value:  # equal ones may follow from each other
            found.append(Paired(role, name, {(each, None): Shape(parallel=each) for each in choices if each.tp % own.value == 0}))
    return tuple(found)


def _multiples(parts: Parts, actor: Degrees, rollout: Degrees) -> tuple[Multiple, ...]:
    """Numbers of accelerators that go together apart, with each choice of degrees; of pipeline stages nothing is known."""
    if not has_weight_exchange(parts):
        return ()
    pairs = product(_choices(parts, "rollout", rollout), _choices(parts, "actor", actor))
    return tuple(Multiple("rollout", "actor", worker.tp, one, other) for (one, engine), (other, worker) in pairs if engine.pp == 1)


def _multiples_together(parts: Parts, actor: Degrees) -> tuple[Multiple, ...]:
    """Rollout that shares accelerators with an fsdp actor interleaves in whole groups of its tp; megatron has whole replicas."""
    steps = _choices(parts, "actor", actor) if parts.backend("actor") == FSDP else []
    return tuple(Multiple("rollout", "actor", worker.tp, None, choice, equal=True) for choice, worker in steps if worker.tp > 1)


def arrangements(parts: Parts, actor: Degrees, rollout: Degrees) -> Iterator[Way]:
    """Arrangements that RLinf would start, of components whose ranks are all to be found."""
    inference, critics = parts.first_of(*INFERRING), parts.first_of(CRITICS_INFERENCE)
    critic = parts.first_of("critic")
    idle = [name for name in (inference, critics) if name]
    paired = _paired(parts, actor, rollout, together=True)
    shape = None
    if actor.tp and rollout.tp:
        shape = interleaved(actor.tp.value, rollout.tp.value, parts.backend("actor", PLANS) == FSDP)
    shares = parts.task != "coding_online_rl" and (any(each.shapes for each in paired) if paired else shape is not None)
    if shares:
        pairs = [("actor", "rollout"), ("actor", inference), (critic or "actor", critics)]
        shapes = {**({"rollout": shape} if shape else {}), **_shapes(parts, idle, together=True)}
        together = frozenset((one, other) for one, other in pairs if other)
        multiples = _multiples_together(parts, actor)
        yield Way("collocated", together, shapes=shapes, without=frozenset(idle), multiples=multiples, paired=paired)
    why, help = _not_apart(parts, actor, rollout)
    if why and not shares:
        message = f"impossible: actor and rollout can neither share their accelerators nor be apart: {why}"
        parts.error("PW601", "rollout", message, help, at=parts.owner)
    elif why:
        message = f"{why}: only plans are looked at in which actor and rollout share their accelerators"
        parts.notes.info(PLANS, "rollout", message, parts.owner, "", help)
    else:
        every = [
            *product(("actor", "rollout"), (inference, critic)),
            ("actor", "rollout"),
            (critic or "rollout", critics),
            ("rollout", critics),
        ]
        apart = frozenset((one, other) for one, other in every if other and one != other)
        shapes = _shapes(parts, idle, together=False)
        if "rollout" not in parts.choices and (staged := generated_otherwise(rollout)):
            shapes["rollout"] = whole_engines(staged[0])
        least = {**least_for_inference(parts), **(_least_of_inference(parts, idle) if shares else {})}
        paired = (*_paired(parts, actor, rollout, together=False), *_inference_pairs(parts))
        multiples = _multiples(parts, actor, rollout)
        yield Way("disaggregated", apart=apart, shapes=shapes, multiples=multiples, least=least, paired=paired)


def _not_apart(parts: Parts, actor: Degrees, rollout: Degrees) -> tuple[str, str]:
    """(why a plan in which they are apart would not be started, what helps); empty if it would."""
    needed = inference_needed(parts)
    adds = {name: saying(name, f"{name}{COST}", parts.settings.has(KEY)) for name in ("inference", CRITICS_INFERENCE)}
    if needed and not (parts.flag(AGAIN) or parts.flag(FIXED)):
        why = f"{needed.removesuffix(' it')} `inference`, which RLinf starts only with `{AGAIN}: true`"
        return why, f"set `{AGAIN}: true`, and {adds['inference']}"
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
    if not any(each.shapes for each in _paired(parts, actor, rollout, together=False)) and (why := engine_mismatch(parts, actor, rollout)):
        return f"{why}, so that its engines would get no weights", "choose degrees of which one divides the other"
    if (mismatch := inference_mismatch(parts)) and not any(each.shapes for each in _inference_pairs(parts)):
        name, why, tp, better = mismatch
        return f"{why}, so that `{name}` would get no weights", f"set `{tp.name}: {better}`"
    return "", ""


def _shapes(parts: Parts, names: list[str], together: bool) -> dict[str, Shape]:
    """Components that infer with Megatron in other degrees than what trains, which does their work if `together`."""
    every = {name: inferred_otherwise(parts.settings, INFERENCE[name]) for name in names}
    return {name: Shape(parallel=degrees[together]) for name, degrees in every.items() if degrees}


def _least_of_inference(parts: Parts, names: list[str]) -> dict[str, int]:
    """Components that infer -> accelerators that they need at least: their tp, if their degrees do not say so."""
    found: dict[str, int] = {}
    for name in names:
        role = INFERENCE[name]
        tp, is_divided = inferring(parts.settings, role), parts.backend(role, PLANS) == MEGATRON
        own = inferred(parts.settings, role).parallel if is_divided else None
        if tp and parts.has(role) and not (own and own.replica >= tp.value):
            least = min((each.tp for each in parts.choices.get(name, ())), default=tp.value)
            found |= {name: least} if least > 1 else {}
    return found
