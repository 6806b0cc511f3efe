"""Which numbers of accelerators let every rollout engine get its weights, where actor and rollout are apart.

Each of the first ranks of the actor sends to some ranks of rollout, as many to each: where rollout has more ranks than the actor, and not
whole times as many, the last of them have nobody, and their engines fail when they look for it.

Source: RLinf, rlinf/workers/rollout/utils.py (DisaggRankMapper); rlinf/hybrid_engines/sglang/common/sgl_scheduler.py and
rlinf/hybrid_engines/vllm (who looks for it).
"""

from __future__ import annotations

from dataclasses import replace

from ....findings.wording import are, with_noun
from ....planning.way import Multiple
from .degrees import Degrees
from .parts import Parts

CODE = "PW208"
ENGINES = ("sglang", "vllm")


def matched(parts: Parts, actor: Degrees, rollout: Degrees) -> Multiple | None:
    """What must hold of both; None where nothing is known of that. Of an engine in pipeline stages fewer ranks look for weights."""
    if not looks(parts) or not actor.tp or not rollout.tp or not rollout.pp or rollout.pp.value > 1:
        return None
    return Multiple("rollout", "actor", actor.tp.value)


def unlike(parts: Parts, actor: Degrees, rollout: Degrees) -> str:
    """Why no numbers of accelerators help; "" where some do. Each rank of the actor has the parts of whole ranks of rollout."""
    if not looks(parts) or not actor.tp or not rollout.tp or actor.tp.value % rollout.tp.value == 0:
        return ""
    return f"the tp of actor, {actor.tp.value}, is no multiple of the tp of rollout, {rollout.tp.value}"


def looks(parts: Parts) -> bool:
    """Is it known that engines look for who sends them weights? Of files that are no whole job it is not (see inference.py)."""
    settings = parts.settings
    if parts.notes.partial or not settings.has("rollout.group_name"):
        return False
    return settings.word("rollout.rollout_backend", CODE) in ENGINES


def weights(parts: Parts, actor: Degrees, rollout: Degrees, counts: tuple[int, int]) -> None:
    """An error if so many accelerators of rollout and of the actor, or their degrees, leave engines without weights."""
    mine, theirs = counts
    if not actor.tp or not rollout.tp or mine < rollout.tp.value or theirs < actor.tp.value:
        return
    step, smaller = actor.tp.value, actor.tp.value < rollout.tp.value
    if why := unlike(parts, actor, rollout):
        if not (smaller and parts.settings.word("actor.training_backend", CODE) == "megatron"):  # that is told elsewhere
            _tell(parts, f"{why}, and they are apart", f"set `{rollout.tp.name}` to a divisor of {step}")
    elif matched(parts, actor, rollout) is None:
        return
    elif mine > theirs and theirs % step and parts.settings.word("actor.training_backend", CODE) == "fsdp":  # megatron never starts so
        told = f"the weights of `actor` do not come to all of the {mine} accelerators of `rollout`: its own {theirs} are no multiple of its tp, {step}"
        fit = " or ".join(str(each) for each in (theirs // step * step, -(-theirs // step) * step) if each and mine % each == 0)
        most = theirs // step * step
        _tell(
            parts,
            told,
            f"give `actor` {fit} accelerators" if fit else f"give `rollout` {most} accelerators, or another multiple of {step} up to that",
        )
    elif mine % step:
        least = mine // step * step
        help = f"give it {f'{least} or ' if least else ''}{least + step} accelerators"
        _tell(
            parts,
            f"the {with_noun(mine, 'accelerator')} of `rollout` {are(mine)} no multiple of the tp of actor, {step}, from which it is apart",
            help,
        )
    elif mine > theirs and mine % theirs:
        reached = mine // theirs * theirs
        told = f"the weights of `actor` come to {reached} of the {mine} accelerators of `rollout`: whole times its {theirs}"
        _tell(
            parts,
            told,
            f"give `rollout` no more than {with_noun(theirs, 'accelerator')}, or {f'{reached} or ' if reached > theirs else ''}{reached + theirs}",
        )


def _tell(parts: Parts, message: str, help: str) -> None:
    parts.notes.error(CODE, "rollout", f"{message}; RLinf notices this only after workers have started", parts.place("rollout"), "", help)
    parts.notes.findings[-1] = replace(parts.notes.findings[-1], premises=("actor", "rollout"))  # judged by the ranks of both
