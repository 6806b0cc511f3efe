"""Generation that goes on while the model trains: what `async_generation_ratio` demands.

Source: ROLL, roll/configs/base_config.py (PPOConfig.__post_init__), roll/pipeline/rlvr/rlvr_config.py (RLVRConfig.__post_init__).
"""

from __future__ import annotations

from ....findings.wording import with_noun
from ....text.tree import Scalar
from ..roles.parts import ACTOR_INFER, ACTOR_TRAIN, CRITICS, REFERENCES, REWARDS
from ..roles.setup import Setup
from .notices import AT_LOAD
from .numbers import number, shown
from .pairing import common

CODE = "PW123"
RATIO, LEVEL = "async_generation_ratio", "generate_opt_level"


def ratio(setup: Setup) -> float | None:
    """`async_generation_ratio`; None where it is not known."""
    return number(setup.settings, RATIO, CODE, 0.0)


def asynchronous(setup: Setup) -> None:
    """The ratio and the way of generating go together; what generates meanwhile has its GPUs for itself."""
    its = ratio(setup) if setup.pipeline.ppo else None
    if not its:
        return
    settings = setup.settings
    at = settings.at(RATIO) or settings.top
    level = settings.whole(LEVEL, CODE, 1, least=-(10**9))
    if level and level.value != 1:
        message = f"`{RATIO}: {shown(its)}` needs `{LEVEL}: 1`, but it is {level.value}"
        setup.notes.error(CODE, ACTOR_INFER, message, level.span or settings.top, "", f"write `{LEVEL}: 1`", level.becomes(1), AT_LOAD)
    if setup.pipeline.agentic or its < 0:
        return
    if its < 1:
        edit = settings.becomes(RATIO, "1")
        message = f"`{RATIO}: {shown(its)}` is neither 0 nor at least 1, which the rlvr pipelines demand"
        setup.notes.error(CODE, ACTOR_INFER, message, at, "below 1", "write `1`, or `0` to generate and train in turn", edit, AT_LOAD)
    _shared(setup, its, isinstance(at, Scalar))


def _shared(setup: Setup, its: float, said: bool) -> None:
    infer = setup.role(ACTOR_INFER)
    if infer is None or infer.ids is None or not said:
        return
    for part in (ACTOR_TRAIN, CRITICS, REWARDS, REFERENCES):
        for role in setup.all(part):
            both = common(infer.ids, role.ids) if role.ids is not None else ()
            if both:
                count = sum(map(len, both))
                message = f"{infer.key} and {role.key} share {with_noun(count, 'GPU')}, but with `{RATIO}: {shown(its)}`"
                message += f" {infer.key} generates while {role.key} works"
                help = f"give {role.key} other GPUs, or write `{RATIO}: 0`"
                why = "ROLL warns of it as it reads the configuration, without naming the roles"
                setup.notes.warn(CODE, infer.key, message, role.place, f"shared with {infer.key}", help, None, why)
