"""`partial_gpu_mode` where training or inference is left to solve: relations and amounts that it accepts.

Source: ROLL, roll/pipeline/agentic/agentic_pipeline.py (AgenticPipeline._validate_partial_gpu_config).
"""

from __future__ import annotations

from ....component import COLOCATED, COLOCATED_OR_DISJOINT, DISJOINT, SUBSET, Relation
from ....findings.wording import with_noun
from ..roles.parts import AGENTIC_REWARD, CRITICS
from ..roles.role import Role
from ..roles.setup import Setup
from .asynchronous import RATIO, ratio
from .numbers import shown

CODE, MODE = "PW123", "partial_gpu_mode"
REASON = "ROLL's `partial_gpu_mode`"


def opened(setup: Setup, train: Role, infer: Role) -> None:
    """One of both is left to solve: within each other only where that goes with the ratio, else the same GPUs or none in common."""
    if train.key not in setup.components or infer.key not in setup.components:
        return
    its, reward = ratio(setup), setup.role(AGENTIC_REWARD)
    hinted = {relation.implies: relation for relation in setup.hinted if set(relation.components) == {train.key, infer.key}}
    if SUBSET in hinted and hinted[SUBSET].components[0] == train.key and its is not None and its > 0:
        critics(setup, train, infer)
        _room(setup, train, infer)
        return
    alone = (its is not None and its != 0) or reward is not None
    if alone and COLOCATED in hinted:
        why = f"`{RATIO}` is {shown(its)}" if its else f"there is a {AGENTIC_REWARD}"
        message = f"the hints give {train.key} and {infer.key} the same GPUs, but {why}: {REASON} refuses that"
        at = hinted[COLOCATED].span or train.span
        help = f"drop the hint, or write `{RATIO}: 0`" if its else "drop the hint"
        setup.notes.error(CODE, train.key, message, at, "the same GPUs", help, setup.settings.becomes(RATIO, "0") if its else None)
        return
    setup.relations.append(Relation(DISJOINT if alone else COLOCATED_OR_DISJOINT, (train.key, infer.key), None, REASON))


def critics(setup: Setup, train: Role, infer: Role) -> None:
    """Where training lies within inference the critic does too, beside it."""
    critic = setup.role(CRITICS)
    if critic is not None and critic.key in setup.components:
        for kind, other in ((SUBSET, infer), (DISJOINT, train)):
            if other.key in setup.components:
                span = setup.components[critic.key].spans.get("placement")
                setup.relations.append(Relation(kind, (critic.key, other.key), span, REASON))


def _room(setup: Setup, train: Role, infer: Role) -> None:
    """Training and critic leave a worker of inference."""
    inner, outer, critic = setup.components[train.key], setup.components[infer.key], setup.role(CRITICS)
    taken = setup.components[critic.key].least if critic is not None and critic.key in setup.components else 0
    each = infer.num_gpus_per_worker or outer.per_process
    room = outer.most - each - taken
    if room < inner.least:
        others = f" and {taken} of {CRITICS}" if taken else ""
        message = f"{train.key} takes {inner.least}{others} of at most {with_noun(outer.most, 'GPU')} of {infer.key}: {REASON} wants a worker of {each} to be left"
        at = outer.spans.get("amount") or inner.spans.get("amount") or train.span
        help = f"ask for {inner.least + taken + each} GPUs of {infer.key}, or fewer of {train.key}"
        setup.notes.error(CODE, infer.key, message, at, "too few", help)
        return
    if inner.runs is None:
        setup.components[train.key] = inner.between(inner.least, min(inner.most, room))
    if outer.runs is None:
        least = max(outer.least, inner.least + taken + each, 2 * each)
        setup.components[infer.key] = outer.between(-(-least // outer.step) * outer.step, outer.most)
