"""Arrangements and degrees that are left to a plan.

FSDP divides nothing by its tp: RLinf looks whether an actor has as many accelerators, and goes by it where weights are handed to
rollout. In the hybrid placement of embodied tasks it reads no tp of what FSDP trains.

Sources in RLinf:

- rlinf/utils/placement.py (ModelParallelComponentPlacement.__init__), rlinf/workers/actor/fsdp_actor_worker.py
  (_setup_rollout_weight_dst_ranks) and rlinf/workers/rollout/utils.py (CollocateRankMapper, DisaggRankMapper).
- rlinf/utils/placement.py, ModelParallelComponentPlacement._generate_placements.
- rlinf/utils/placement.py, ModelParallelComponentPlacement (_is_collocated, _is_disaggregated, _generate_placements).
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Iterable, Iterator

from ....component import Parallel
from ....configuration.settings import Settings
from ....hints.said import timed_names
from ....parallel import UNDIVIDED
from ....planning.way import Multiple, Paired, Shape, Way
from ....text.tree import Mapping, Value
from ..known import COST, DEGREE, FSDP, INFERENCE, KEY, PLANS, SETTING, is_profiled, saying
from .arrangement import inference_needed, refused_apart, unset_of_inference
from .packing import Packing, other_degrees, pack
from .parts import Degrees, Parts, Placer, generated_otherwise, inferred, inferred_otherwise, inferring, placer_of, sections_of_inference
from .weights import engine_mismatch, has_weight_exchange, inference_mismatch, inference_pairs, least_for_inference, matching_counts

TRAINS = "actor"
ROLES_OF_FSDP = {TRAINS: TRAINS, "critic": "critic", **INFERENCE}
"""Component -> the role of which FSDP computes the gradients, or the probabilities."""


def trained_whole(settings: Settings, root: Mapping, hints: Value | None) -> frozenset[str]:
    """The components that FSDP trains, or with which it infers: hints of their tp ask for no multiple.

    Of a file with times, of which ranks are planned by these, only what trains; without ranks none that has times.
    """
    placer = placer_of(settings, settings.word("runner.task_type", DEGREE) or "")
    if placer not in (Placer.HYBRID, Placer.MODEL_PARALLEL):
        return frozenset()
    profiled = is_profiled(root, hints)
    roles = {TRAINS: TRAINS} if placer is Placer.HYBRID or profiled else ROLES_OF_FSDP
    found = frozenset(name for name, role in roles.items() if settings.word(f"{role}.training_backend", DEGREE) == FSDP)
    return found if profiled else found - timed_names(hints)


def pack_undivided(parts: Parts, name: str, its: Parallel) -> None:
    """It is packed on whatever count it has; where that is planned, it keeps the name of the tp of its hints, among which a choice may be."""
    component = parts.components.get(name)
    if component is None:
        return pack(parts, name, Packing())
    said = parts.offered.get(name) or (component.parallel,)
    if "parallel" in component.spans and all(each.tp != its.tp for each in said):
        other_degrees(parts, component, (its,))
    parts.components[name] = replace(component, parallel=UNDIVIDED)
    pack(parts, name, Packing())
    if component.timed and parts.is_open(name):
        parts.components[name] = replace(parts.components[name], parallel=its if name in parts.choices else component.parallel)


def undivide_untimed(parts: Parts, *names: str) -> None:
    """Those of a file without times that FSDP trains, or with which it infers, have no degrees: whatever their hints say of tp divides nothing."""
    for name in names:
        component = parts.on_accelerators(name)
        if component is None or component.parallel == UNDIVIDED or component.timed is not None or parts.profiled:
            continue
        if parts.settings.word(f"{ROLES_OF_FSDP[name]}.training_backend", DEGREE) == FSDP:
            parts.components[name] = replace(component, parallel=UNDIVIDED)


def check_unread_tp(parts: Parts) -> None:
    """Where RLinf reads no tp of what FSDP trains, that of its hints divides nothing; where it is planned it keeps the name of that."""
    undivide_untimed(parts, TRAINS)
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
    return parts.settings.word(f"{TRAINS}.training_backend", DEGREE) == FSDP


def interleaved(actor: int, rollout: int, fsdp: bool) -> Shape | None:
    """Rollout on the accelerators of the actor, from the tp of both: its engines interleave; None if they do not go together.

    Of `fsdp` with a tp that is smaller than that of rollout, and not 1, no rank finds the one that it hands its weights to.
    """
    if (actor > rollout and actor % rollout) or (fsdp and 1 < actor < rollout):
        return None
    return Shape(rollout, max(actor // rollout, 1), Parallel(rollout))


def whole_engines(parallel: Parallel) -> Shape:
    """Rollout on accelerators of its own, with these degrees: whole engines."""
    return Shape(parallel.tp * parallel.pp, 1, parallel)


def paired_degrees(parts: Parts, actor: Degrees, rollout: Degrees, together: bool) -> tuple[Paired, ...]:
    """What becomes of rollout with every choice of degrees; nothing where neither it nor the actor has one, or the other's are not known.

    A megatron actor takes rollout of at most its own tp (see presence.py). Stages of rollout do nothing where it shares the actor's
    accelerators: there it is as with one alone, where that is a choice too.
    """
    found: dict[tuple[Parallel | None, Parallel | None], Shape] = {}
    mine, its = parts.choices.get("rollout", ()), parts.choices.get("actor", ())
    if not mine and not its:
        return ()
    backend = parts.settings.word("actor.training_backend", DEGREE)
    for one, other in product(mine or (None,), its or (None,)):
        engine, trained = one or rollout.parallel, other or actor.parallel
        if engine is None or trained is None:
            return ()
        if backend == "megatron" and engine.tp > trained.tp:
            continue
        if together and engine.pp > 1 and any((each.tp, each.pp) == (engine.tp, 1) for each in mine):
            continue
        if together:
            shape = interleaved(trained.tp, engine.tp, backend == FSDP)
        else:
            shape = whole_engines(engine) if not has_weight_exchange(parts) or trained.tp % engine.tp == 0 else None
        if shape is not None:
            found[one, other] = shape
    return (Paired("rollout", "actor", found),)


def multiples(parts: Parts, actor: Degrees, rollout: Degrees) -> tuple[Multiple, ...]:
    """What must hold of the numbers of accelerators apart, with each choice of degrees. Of pipeline stages of rollout nothing is known."""
    mine, its = parts.choices.get("rollout", ()), parts.choices.get("actor", ())
    if not mine and not its:
        found = matching_counts(parts, actor, rollout)
        return () if found is None else (found,)
    engines = [each for each in mine or (rollout.parallel,) if each is not None and each.pp == 1]
    whatever = not mine or len(engines) == len(mine)
    if not has_weight_exchange(parts) or not engines:
        return ()
    steps: list[tuple[Parallel | None, int]] = [(each, each.tp) for each in its]
    if not its and actor.parallel:
        steps.append((None, actor.parallel.tp))
    return tuple(
        Multiple("rollout", "actor", step, engine, trains) for engine in ([None] if whatever else engines) for trains, step in steps
    )


def equal_counts(parts: Parts, actor: Degrees) -> tuple[Multiple, ...]:
    """What must hold of the number of accelerators that rollout shares with what FSDP trains, with each choice of its tp.

    Engines interleave in whole groups of that tp. Megatron is on whole replicas anyway.
    """
    if parts.settings.word("actor.training_backend", DEGREE) != FSDP:
        return ()
    its = parts.choices.get("actor", ())
    steps: list[tuple[Parallel | None, int]] = [(each, each.tp) for each in its] or ([(None, actor.tp.value)] if actor.tp else [])
    return tuple(Multiple("rollout", "actor", step, None, trains, equal=True) for trains, step in steps if step > 1)


def of_choices(parts: Parts) -> dict[str, dict[Parallel, Shape]]:
    """The processes of rollout and of what trains by themselves, with each choice of their degrees, where their ranks are planned."""
    mine = parts.choices.get("rollout", ()) if "rollout" in parts.planned else ()
    found = {"rollout": {parallel: whole_engines(parallel) for parallel in mine}} if mine else {}
    return {**found, **of_undivided(parts)}


COLLOCATED, DISAGGREGATED = "collocated", "disaggregated"


def arrangements(parts: Parts, actor: Degrees, rollout: Degrees) -> Iterator[Way]:
    """Those that RLinf would start, of components whose ranks are all to be found."""
    inference, critics = parts.first_of("inference", "actor_inference"), parts.first_of("critic_inference")
    critic = parts.first_of("critic")
    shape = _interleaved_way(parts, actor, rollout)
    paired = paired_degrees(parts, actor, rollout, together=True)
    shares = parts.task != "coding_online_rl" and (any(each.shapes for each in paired) if paired else shape is not None)
    if shares:
        pairs = [("actor", "rollout"), ("actor", inference), (critic or "actor", critics)]
        together = frozenset((one, other) for one, other in pairs if other)
        idle = [name for name in (inference, critics) if name]
        engines = _engines(parts, rollout, together=True) if paired else {}
        shapes = {**({"rollout": shape} if shape else {}), **engines, **_shapes(parts, idle, together=True)}
        alike = equal_counts(parts, actor)
        yield Way(COLLOCATED, together, shapes=shapes, without=frozenset(idle), multiples=alike, paired=paired)
    why, help = _not_apart(parts, actor, rollout)
    if why and not shares:
        message = f"impossible: actor and rollout can neither share their accelerators nor be apart: {why}"
        parts.notes.error("PW601", "rollout", message, parts.owner, "", help)
    elif why:
        message = f"{why}: only plans are looked at in which actor and rollout share their accelerators"
        parts.notes.info(PLANS, "rollout", message, parts.owner, "", help)
    else:
        pairs = [
            *product(("actor", "rollout"), (inference, critic)),
            ("actor", "rollout"),
            (critic or "rollout", critics),
            ("rollout", critics),
        ]
        found = frozenset((one, other) for one, other in pairs if other and one != other)
        alone = [name for name in (inference, critics) if name]
        shapes = {**_engines(parts, rollout, together=False), **_shapes(parts, alone, together=False)}
        yield Way(
            DISAGGREGATED,
            apart=found,
            shapes=shapes,
            multiples=multiples(parts, actor, rollout),
            least={**least_for_inference(parts), **(_inferring(parts, alone) if shares else {})},
            paired=(*paired_degrees(parts, actor, rollout, together=False), *inference_pairs(parts)),
        )


def _not_apart(parts: Parts, actor: Degrees, rollout: Degrees) -> tuple[str, str]:
    """(why a plan in which they are apart would not be started, what helps); empty if it would."""
    if needed := inference_needed(parts):
        again, fixed = (f"algorithm.{key}" for key in ("recompute_logprobs", "importance_sampling_fix"))
        if not (parts.settings.flag(again, SETTING) or parts.settings.flag(fixed, SETTING)):
            return (
                f"{needed.removesuffix(' it')} `inference`, which RLinf starts only with `{again}: true`",
                f"set `{again}: true`, and {_saying(parts, 'inference')}",
            )
        return "nobody says how long `inference` takes", _saying(parts, "inference")
    if parts.has("critic") and not parts.has("critic_inference") and parts.settings.flag("critic.use_critic_model", SETTING):
        return "nobody says how long `critic_inference` takes", _saying(parts, "critic_inference")
    if missing := unset_of_inference(parts) or [path for path in sections_of_inference(parts) if parts.settings.at(path) is None]:
        listed = " and ".join(f"`{path}`" for path in missing)
        return f"the file has no {listed}, which RLinf reads where rollout is apart", f"add {listed} with the settings of the job"
    if wrong := refused_apart(parts):
        listed = " and ".join(f"`{path}: true`" for path in wrong)
        return f"what trains refuses {listed} where rollout is apart", f"drop {listed}"
    paired = paired_degrees(parts, actor, rollout, together=False)
    if not any(each.shapes for each in paired) and (why := engine_mismatch(parts, actor, rollout)):
        return f"{why}, so that its engines would get no weights", "choose degrees of which one divides the other"
    if (wrong_inference := inference_mismatch(parts)) and not any(each.shapes for each in inference_pairs(parts)):
        name, why, tp = wrong_inference
        return f"{why}, so that `{name}` would get no weights", f"lower `{tp.name}`"
    return "", ""


def _saying(parts: Parts, name: str) -> str:
    return saying(name, f"{name}{COST}", parts.settings.has(KEY))


def _shapes(parts: Parts, names: Iterable[str], together: bool) -> dict[str, Shape]:
    """Of components that compute with Megatron in other degrees by themselves than those of what trains, which does their work if `together`."""
    found: dict[str, Shape] = {}
    for name in names:
        if degrees := inferred_otherwise(parts.settings, INFERENCE[name]):
            own, its = degrees
            found[name] = Shape(parallel=its if together else own)
    return found


def _inferring(parts: Parts, names: Iterable[str]) -> dict[str, int]:
    """Components that infer -> how many accelerators they have at least where they are started: their tp, if their degrees do not say so."""
    found: dict[str, int] = {}
    for name in names:
        role = INFERENCE[name]
        tp, divided = inferring(parts.settings, role), parts.settings.word(f"{role}.training_backend", PLANS) == "megatron"
        own = inferred(parts.settings, role).parallel if divided else None
        if tp is None or not parts.has(role) or (own is not None and own.replica >= tp.value):
            continue
        least = min((each.tp for each in parts.choices.get(name, ())), default=tp.value)
        found |= {name: least} if least > 1 else {}
    return found


def _engines(parts: Parts, rollout: Degrees, together: bool) -> dict[str, Shape]:
    """Rollout in stages, whose degrees nobody chooses: on the accelerators of the actor its engines are of tp alone."""
    if "rollout" in parts.choices or (otherwise := generated_otherwise(rollout)) is None:
        return {}
    staged, by_tp = otherwise
    return {"rollout": whole_engines(by_tp if together else staged)}


def _interleaved_way(parts: Parts, actor: Degrees, rollout: Degrees) -> Shape | None:
    """Rollout on the accelerators of the actor: engines of tp alone, which interleave; None if the degrees do not go together."""
    if not actor.tp or not rollout.tp:
        return None
    return interleaved(actor.tp.value, rollout.tp.value, parts.settings.word("actor.training_backend", PLANS) == FSDP)
