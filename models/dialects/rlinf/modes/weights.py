"""Which numbers of accelerators let every rollout engine get its weights, where actor and rollout are apart.

Each of the first ranks of the actor sends to some ranks of rollout, as many to each: where rollout has more ranks than the actor, and not
whole times as many, the last of them have nobody, and their engines fail when they look for it.

Source: RLinf, rlinf/workers/rollout/utils.py (DisaggRankMapper); rlinf/hybrid_engines/sglang/common/sgl_scheduler.py and
rlinf/hybrid_engines/vllm (who looks for it).
"""

from __future__ import annotations

from ....planning.way import Multiple
from .degrees import Degrees
from .parts import Parts

CODE = "PW208"
ENGINES = ("sglang", "vllm")


def matched(parts: Parts, actor: Degrees, rollout: Degrees) -> Multiple | None:
    """What must hold of both; None where that is not known, as in files that are no whole job (see inference.py).

    Of an engine in pipeline stages fewer ranks look for weights.
    """
    settings = parts.settings
    if parts.notes.partial or not settings.has("rollout.group_name") or settings.word("rollout.rollout_backend", CODE) not in ENGINES:
        return None
    if not actor.tp or not rollout.tp or not rollout.pp or rollout.pp.value > 1:
        return None
    return Multiple("rollout", "actor", actor.tp.value)


def weights(parts: Parts, actor: Degrees, rollout: Degrees, counts: tuple[int, int]) -> None:
    """An error if so many accelerators of rollout and of the actor leave engines without weights."""
    its = matched(parts, actor, rollout)
    mine, theirs = counts
    if its is None or not actor.tp or not rollout.tp or mine < rollout.tp.value or theirs < actor.tp.value:
        return
    step, place = actor.tp.value, parts.place("rollout")
    if mine % step:
        message = f"the {mine} accelerators of `rollout` are no multiple of the tp of actor, {step}, with which they are apart"
        help = f"give it {mine // step * step or step} or {(mine // step + 1) * step}"
    elif mine > theirs and mine % theirs:
        message = (
            f"the weights of `actor` come to {mine // theirs * theirs} of the {mine} accelerators of `rollout`: whole times its {theirs}"
        )
        help = f"give `rollout` no more than {theirs} accelerators, or {mine // theirs * theirs} or {(mine // theirs + 1) * theirs}"
    else:
        return
    parts.notes.error(CODE, "rollout", f"{message}; RLinf notices this only after workers have started", place, "", help)
