"""Do the weights of what trains with Megatron come to the inference component that computes with them?

Each of the first tp x pp ranks of what trains has the part of one rank of inference, which waits for it.

Source: RLinf, rlinf/utils/resharding/reshard_config.py (ReshardConfig.__post_init__); rlinf/workers/megatron_worker.py
(sync_model_to_inference) and rlinf/workers/inference/megatron_inference_worker.py (sync_model_from_actor).
"""

from __future__ import annotations

from math import gcd

from ....configuration.settings import Amount
from ....findings.wording import with_noun
from ....planning.way import Paired, Shape
from .degrees import INFERENCE, inferred, trained
from .parts import Parts
from .presence import LATE

CODE = "PW208"


def unlike(parts: Parts) -> tuple[str, str, Amount] | None:
    """(component, why it gets no weights, its tp) of the first whose degrees do not go with those of what trains; None: all do, or it is not known."""
    for name, role in _apart(parts):
        mine, its = trained(parts.settings, role).tp, inferred(parts.settings, role).tp
        if mine and its and mine.value % its.value:
            return name, f"the tp of {role}, {mine.value}, is no multiple of the tp of {name}, {its.value}", its
    return None


def paired(parts: Parts) -> tuple[Paired, ...]:
    """What trains with each choice of its degrees beside inference, which keeps its own: only those of which its tp is a divisor.

    Nothing where it has no choice, and where inference has the tp that the file gives to what trains: that may follow from it.
    """
    found = []
    for name, role in _apart(parts):
        mine, its, choices = trained(parts.settings, role).tp, inferred(parts.settings, role).tp, parts.choices.get(role, ())
        if choices and mine and its and mine.value != its.value:
            found.append(Paired(role, name, {(each, None): Shape(parallel=each) for each in choices if each.tp % its.value == 0}))
    return tuple(found)


def handing_on(parts: Parts) -> None:
    """An error where an inference component apart from what trains would stop it, or wait for weights."""
    if found := unlike(parts):
        name, why, tp = found
        most = trained(parts.settings, INFERENCE[name]).tp
        better = gcd(most.value if most else 1, tp.value)
        parts.notes.error(
            CODE, name, f"{why}, to which it hands its weights; {LATE}", tp.span or parts.place(name), "",
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
            parts.notes.error(CODE, name, message, parts.place(name), f"{needs} needed", help)


def least(parts: Parts) -> dict[str, int]:
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
    return [(name, role) for name, role in found if parts.settings.word(f"{role}.training_backend", CODE) == "megatron"]


def _count(parts: Parts, name: str) -> int | None:
    component = parts.placed(name)
    return max((run.ranks.stop for run in component.runs or ()), default=0) if component else None
