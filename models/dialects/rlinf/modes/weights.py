"""Weights on their way from what trains to the engines and to inference.

Each of the first ranks of the actor sends to some ranks of rollout, as many to each: where rollout has more ranks than the actor, and not
whole times as many, the last of them have nobody, and their engines fail when they look for it. Each of the first tp x pp ranks of what
trains has the part of one rank of inference, which waits for it.

Sources in RLinf:

- rlinf/workers/rollout/utils.py (DisaggRankMapper); rlinf/hybrid_engines/sglang/common/sgl_scheduler.py and
  rlinf/hybrid_engines/vllm (who looks for it).
- rlinf/utils/resharding/reshard_config.py (ReshardConfig.__post_init__); rlinf/workers/megatron_worker.py
  (sync_model_to_inference) and rlinf/workers/inference/megatron_inference_worker.py (sync_model_from_actor).
"""

from __future__ import annotations

from dataclasses import replace
from math import gcd

from ....configuration.settings import Amount
from ....findings.wording import with_noun
from ....planning.way import Multiple
from ..known import DEGREE, LATE, MEGATRON
from .parts import Degrees, Parts, inferred, megatron_inference, trained

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
    """What trains -> accelerators that it needs at least, so that inference apart from it gets its weights."""
    every = {role: inferred(parts.settings, role) for _, role in megatron_inference(parts)}
    return {role: degrees.tp.value * degrees.pp.value for role, degrees in every.items() if degrees.tp and degrees.pp}
