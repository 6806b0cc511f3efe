"""Weights on their way from what trains to the engines and to inference.

Each of the first ranks of the actor sends to some ranks of rollout, as many to each: where rollout has more ranks than the actor, and not
whole times as many, the last of them have nobody, and their engines fail when they look for it.

Each of the first tp x pp ranks of what trains has the part of one rank of inference, which waits for it.

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
from ....findings.wording import are, with_noun
from ....planning.way import Multiple, Paired, Shape
from ..known import DEGREE, INFERENCE, LATE, MEGATRON
from .parts import Degrees, Parts, inferred, trained

ENGINES = ("sglang", "vllm")


def matching_counts(parts: Parts, actor: Degrees, rollout: Degrees) -> Multiple | None:
    """What must hold of both; None where nothing is known of that. Of an engine in pipeline stages fewer ranks look for weights."""
    if not has_weight_exchange(parts) or not actor.tp or not rollout.tp or not rollout.pp or rollout.pp.value > 1:
        return None
    return Multiple("rollout", "actor", actor.tp.value)


def engine_mismatch(parts: Parts, actor: Degrees, rollout: Degrees) -> str:
    """Why no numbers of accelerators help; "" where some do. Each rank of the actor has the parts of whole ranks of rollout."""
    if not has_weight_exchange(parts) or not actor.tp or not rollout.tp or actor.tp.value % rollout.tp.value == 0:
        return ""
    return f"the tp of actor, {actor.tp.value}, is no multiple of the tp of rollout, {rollout.tp.value}"


def has_weight_exchange(parts: Parts) -> bool:
    """Is it known that engines look for who sends them weights? Of files that are no whole job it is not (see inference.py)."""
    settings = parts.settings
    if parts.notes.partial or not settings.has("rollout.group_name"):
        return False
    return settings.word("rollout.rollout_backend", DEGREE) in ENGINES


def check_engine_weights(parts: Parts, actor: Degrees, rollout: Degrees, counts: tuple[int, int]) -> None:
    """An error if so many accelerators of rollout and of the actor, or their degrees, leave engines without weights."""
    mine, theirs = counts
    if not actor.tp or not rollout.tp or mine < rollout.tp.value or theirs < actor.tp.value:
        return
    step, smaller = actor.tp.value, actor.tp.value < rollout.tp.value
    megatron = parts.settings.word("actor.training_backend", DEGREE) == MEGATRON
    if why := engine_mismatch(parts, actor, rollout):
        if not (smaller and megatron):  # that is told elsewhere
            _tell(parts, f"{why}, and they are apart", f"set `{rollout.tp.name}` to a divisor of {step}")
        return
    if matching_counts(parts, actor, rollout) is None or (megatron and actor.parallel and theirs % actor.parallel.replica):
        return  # such a megatron actor never starts, which is told elsewhere
    help = _fitting_count(parts, mine, theirs, step)
    if mine > theirs and theirs % step:
        told = f"the weights of `actor` do not come to all of the {mine} accelerators of `rollout`: its own {theirs} are no multiple of its tp, {step}"
        fit = " or ".join(str(each) for each in (theirs // step * step, -(-theirs // step) * step) if each and mine % each == 0)
        _tell(parts, told, f"give `actor` {fit} accelerators" if fit else help)
    elif mine % step:
        told = (
            f"the {with_noun(mine, 'accelerator')} of `rollout` {are(mine)} no multiple of the tp of actor, {step}, from which it is apart"
        )
        _tell(parts, told, help)
    elif mine > theirs and mine % theirs:
        reached = mine // theirs * theirs
        _tell(parts, f"the weights of `actor` come to {reached} of the {mine} accelerators of `rollout`: whole times its {theirs}", help)


def _fitting_count(parts: Parts, mine: int, theirs: int, step: int) -> str:
    """Numbers of accelerators of rollout that get all weights, next to its own."""
    total = parts.cluster.total()

    def fits(count: int) -> bool:
        return count % step == 0 and (count <= theirs or (count % theirs == 0 and theirs % step == 0))

    lower = next((count for count in range(mine - 1, 0, -1) if fits(count)), 0)
    upper = next((count for count in range(mine + 1, total + 1) if fits(count)), 0)
    return f"give it {' or '.join(str(count) for count in (lower, upper) if count)} accelerators"


def _tell(parts: Parts, message: str, help: str) -> None:
    parts.notes.error(DEGREE, "rollout", f"{message}; RLinf notices this only after workers have started", parts.place("rollout"), "", help)
    parts.notes.findings[-1] = replace(parts.notes.findings[-1], premises=("actor", "rollout"))  # judged by the ranks of both


def inference_mismatch(parts: Parts) -> tuple[str, str, Amount] | None:
    """(component, why it gets no weights, its tp) of the first whose degrees do not go with those of what trains; None: all do, or it is not known."""
    for name, role in _apart(parts):
        mine, its = trained(parts.settings, role).tp, inferred(parts.settings, role).tp
        if mine and its and mine.value % its.value:
            return name, f"the tp of {role}, {mine.value}, is no multiple of the tp of {name}, {its.value}", its
    return None


def inference_pairs(parts: Parts) -> tuple[Paired, ...]:
    """What trains with each choice of its degrees beside inference, which keeps its own: only those of which its tp is a divisor.

    Nothing where it has no choice, and where inference has the tp that the file gives to what trains: that may follow from it.
    """
    found = []
    for name, role in _apart(parts):
        mine, its, choices = trained(parts.settings, role).tp, inferred(parts.settings, role).tp, parts.choices.get(role, ())
        if choices and mine and its and mine.value != its.value:
            found.append(Paired(role, name, {(each, None): Shape(parallel=each) for each in choices if each.tp % its.value == 0}))
    return tuple(found)


def check_inference_weights(parts: Parts) -> None:
    """An error where an inference component apart from what trains would stop it, or wait for weights."""
    if found := inference_mismatch(parts):
        name, why, tp = found
        most = trained(parts.settings, INFERENCE[name]).tp
        better = gcd(most.value if most else 1, tp.value)
        parts.notes.error(
            DEGREE, name, f"{why}, to which it hands its weights; {LATE}", tp.span or parts.place(name), "",
            f"set `{tp.name}: {better}`", tp.becomes(better),
        )  # fmt: skip
        return
    for name, role in _apart(parts):
        its, count = inferred(parts.settings, role), _count(parts, role)
        needs = its.tp.value * its.pp.value if its.tp and its.pp else 0
        if count and count < needs:
            message = (
                f"the first {needs} ranks of `{name}` (its tp x pp) get their weights from as many of `{role}`, which has {count}; {LATE}"
            )
            help = f"give `{role}` at least {with_noun(needs, 'accelerator')}, or lower the degrees of `{name}`"
            parts.notes.error(DEGREE, name, message, parts.place(name), f"{needs} needed", help)


def least_for_inference(parts: Parts) -> dict[str, int]:
    """What trains -> how many accelerators it has at least, so that inference apart from it gets its weights."""
    found: dict[str, int] = {}
    for _, role in _apart(parts):
        its = inferred(parts.settings, role)
        if its.tp and its.pp:
            found[role] = its.tp.value * its.pp.value
    return found


def _apart(parts: Parts) -> list[tuple[str, str]]:
    """(inference component, what trains) for those that there are, with Megatron."""
    found = [(name, role) for name, role in INFERENCE.items() if parts.has(name) and parts.has(role)]
    return [(name, role) for name, role in found if parts.settings.word(f"{role}.training_backend", DEGREE) == "megatron"]


def _count(parts: Parts, name: str) -> int | None:
    component = parts.placed(name)
    return max((run.ranks.stop for run in component.runs or ()), default=0) if component else None
