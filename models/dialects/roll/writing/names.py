"""Which block of a ROLL configuration each component becomes, and which of ROLL's pipelines starts them all."""

from __future__ import annotations

from dataclasses import dataclass

from ....component import Component
from ....conversion.losses import refusal
from ....findings.finding import Finding
from ....problem import Problem
from ....roles import ACTOR, CRITIC, ENVIRONMENT, REFERENCE, REWARD, ROLLOUT, STUDENT, TEACHER, role_of
from ..roles.known_keys import ALL_BLOCKS
from ..roles.parts import (
    ACTOR_INFER,
    ACTOR_TRAIN,
    AGENTIC_REWARD,
    CRITICS,
    REFERENCES,
    REWARD_MODEL,
    REWARDS,
    ROLE_OF,
    SFT_TRAIN,
    STUDENTS,
    TEACHERS,
    TRAIN_ENV,
    VAL_ENV,
)  # fmt: skip
from ..roles.pipelines import BY_NAME, Pipeline

_PART_OF = {ACTOR: ACTOR_TRAIN, ROLLOUT: ACTOR_INFER, REFERENCE: REFERENCES, CRITIC: CRITICS, STUDENT: STUDENTS, TEACHER: TEACHERS}
_ALWAYS = (ACTOR_TRAIN, ACTOR_INFER, SFT_TRAIN, STUDENTS, TEACHERS)
"""Parts that a pipeline fails without; environments and the rest have defaults, or are left out."""


@dataclass(frozen=True)
class Named:
    """The pipeline, and for each component by its name: its part, and the path of its block such as ``rewards.math``."""

    pipeline: Pipeline
    parts: dict[str, str]
    keys: dict[str, str]


def named(problem: Problem, reasons: list[Finding]) -> Named | None:
    """The blocks; None, and `reasons` (PW606), where ROLL has no role for a component or no pipeline for all of them."""
    parts = {component.name: _part(component) for component in problem.components}
    for name, part in parts.items():
        if not part:
            role = role_of(problem[name])
            what = (
                f"ROLL has no role `{role}`, which `{name}` is" if role else f"nothing says what `{name}` does, so ROLL has no role for it"
            )
            reasons.append(refusal(name, what, "leave it out, or give it a `role` that ROLL has"))
    if set(parts.values()) == {ACTOR_TRAIN}:
        parts = dict.fromkeys(parts, SFT_TRAIN)
    pipeline = _pipeline(set(parts.values()))
    if pipeline.agentic:
        parts = {name: AGENTIC_REWARD if part in (REWARDS, REWARD_MODEL) else part for name, part in parts.items()}
    keys = _keys(parts)
    seen: dict[str, str] = {}
    for name, part in parts.items():
        if part and part not in pipeline.creates:
            reasons.append(refusal(name, f"`{pipeline.launcher}`, which starts the other roles, does not start `{part}`", "leave it out"))
        other = seen.setdefault(keys[name], name)
        if part and other != name:
            reasons.append(refusal(name, f"ROLL has one `{keys[name]}`, but `{other}` and `{name}` are both that", "leave one of them out"))
    for part in pipeline.creates:
        if part in _ALWAYS and part not in parts.values():
            message = f"`{pipeline.launcher}` always starts `{part}`, and there is no component of that role"
            reasons.append(refusal("", message, "add it, with its place"))
    return None if reasons else Named(pipeline, parts, keys)


def _part(component: Component) -> str:
    """What ROLL uses the component as; "" if there is no such role."""
    base, role = component.name.partition(".")[0], role_of(component)
    if base in ALL_BLOCKS and base in ROLE_OF and base != AGENTIC_REWARD and role in ("", ROLE_OF[base]):
        return base
    if role == REWARD or base == AGENTIC_REWARD:
        return REWARDS
    return TRAIN_ENV if role == ENVIRONMENT else _PART_OF.get(role, "")


def _pipeline(parts: set[str]) -> Pipeline:
    """The pipeline that starts these parts; the one nearest to it where none starts all."""
    if SFT_TRAIN in parts:
        return BY_NAME["sft"]
    if STUDENTS in parts:
        return BY_NAME["distill"]
    if parts & {TRAIN_ENV, VAL_ENV}:
        return BY_NAME["agentic" if ACTOR_TRAIN in parts or ACTOR_INFER not in parts else "agentic_rollout"]
    if parts == {ACTOR_TRAIN, REFERENCES}:
        return BY_NAME["dpo"]
    return BY_NAME["rlvr_rollout" if ACTOR_INFER in parts and ACTOR_TRAIN not in parts else "rlvr"]


def _keys(parts: dict[str, str]) -> dict[str, str]:
    keys = {}
    for name, part in parts.items():
        if part == REWARDS:
            keys[name] = name if name.startswith(f"{REWARDS}.") else f"{REWARDS}.{name.replace('.', '_')}"
        elif part == TEACHERS and name.startswith(f"{TEACHERS}."):
            keys[name] = name
        elif part == TRAIN_ENV and TRAIN_ENV in keys.values() and VAL_ENV not in parts.values():
            keys[name] = VAL_ENV
        else:
            keys[name] = part
    return keys
