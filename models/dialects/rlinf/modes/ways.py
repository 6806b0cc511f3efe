"""The two arrangements of RLinf's model-parallel mode, of which a plan chooses one.

Source: RLinf, rlinf/utils/placement.py, ModelParallelComponentPlacement (_is_collocated, _is_disaggregated, _generate_placements).
"""

from __future__ import annotations

from itertools import product
from typing import Iterable, Iterator

from ....planning.way import Shape, Way
from ..profiled import COST, KEY, saying
from . import handing_on
from .degrees import INFERENCE, Degrees, generated_otherwise, inferred, inferred_otherwise, inferring, sections_of_inference
from .inference import CODE, lacking, unset
from .pairs import apart, collocated, equal_counts, multiples, paired_degrees
from .parts import Parts
from .pipeline import refused
from .undivided import FSDP
from .weights import unlike

COLLOCATED, DISAGGREGATED = "collocated", "disaggregated"
PLANS = "PW604"


def ways(parts: Parts, actor: Degrees, rollout: Degrees) -> Iterator[Way]:
    """Those that RLinf would start, of components whose ranks are all to be found."""
    inference, critics = parts.first_of("inference", "actor_inference"), parts.first_of("critic_inference")
    critic = parts.first_of("critic")
    shape = _collocated(parts, actor, rollout)
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
            least={**handing_on.least(parts), **(_inferring(parts, alone) if shares else {})},
            paired=(*paired_degrees(parts, actor, rollout, together=False), *handing_on.paired(parts)),
        )


def _not_apart(parts: Parts, actor: Degrees, rollout: Degrees) -> tuple[str, str]:
    """(why a plan in which they are apart would not be started, what helps); empty if it would."""
    if needed := lacking(parts):
        again, fixed = (f"algorithm.{key}" for key in ("recompute_logprobs", "importance_sampling_fix"))
        if not (parts.settings.flag(again, CODE) or parts.settings.flag(fixed, CODE)):
            return (
                f"{needed.removesuffix(' it')} `inference`, which RLinf starts only with `{again}: true`",
                f"set `{again}: true`, and {_saying(parts, 'inference')}",
            )
        return "nobody says how long `inference` takes", _saying(parts, "inference")
    if parts.has("critic") and not parts.has("critic_inference") and parts.settings.flag("critic.use_critic_model", CODE):
        return "nobody says how long `critic_inference` takes", _saying(parts, "critic_inference")
    if missing := unset(parts) or [path for path in sections_of_inference(parts) if parts.settings.at(path) is None]:
        listed = " and ".join(f"`{path}`" for path in missing)
        return f"the file has no {listed}, which RLinf reads where rollout is apart", f"add {listed} with the settings of the job"
    if wrong := refused(parts):
        listed = " and ".join(f"`{path}: true`" for path in wrong)
        return f"what trains refuses {listed} where rollout is apart", f"drop {listed}"
    paired = paired_degrees(parts, actor, rollout, together=False)
    if not any(each.shapes for each in paired) and (why := unlike(parts, actor, rollout)):
        return f"{why}, so that its engines would get no weights", "choose degrees of which one divides the other"
    if (wrong_inference := handing_on.unlike(parts)) and not any(each.shapes for each in handing_on.paired(parts)):
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
    return {"rollout": apart(by_tp if together else staged)}


def _collocated(parts: Parts, actor: Degrees, rollout: Degrees) -> Shape | None:
    """Rollout on the accelerators of the actor: engines of tp alone, which interleave; None if the degrees do not go together."""
    if not actor.tp or not rollout.tp:
        return None
    return collocated(actor.tp.value, rollout.tp.value, parts.settings.word("actor.training_backend", PLANS) == FSDP)
