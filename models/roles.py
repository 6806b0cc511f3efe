"""Roles of components, independent of a framework's names; dialects translate by role."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .component import Component

ACTOR = "actor"
"""Trains the policy. RLinf `actor`, ROLL `actor_train`, verl `actor`."""
ROLLOUT = "rollout"
"""Generates with the policy. RLinf `rollout`, ROLL `actor_infer`, verl `rollout`."""
INFERENCE = "inference"
"""Recomputes log probabilities with the policy. RLinf `inference`; elsewhere in the actor."""
REFERENCE = "reference"
"""The frozen policy. ROLL `reference`, verl `ref`."""
CRITIC = "critic"
"""Trains the value model."""
REWARD = "reward"
"""Scores samples. RLinf `reward`, ROLL `reward` and `rewards.*`, verl `reward_model`."""
ENVIRONMENT = "env"
"""Environments or simulators. RLinf `env`, ROLL `train_env` and `val_env`, verl `env`."""
AGENT = "agent"
"""Agent loops and tools, on CPUs."""
STUDENT = "student"
"""Target of a distillation. ROLL `student`."""
TEACHER = "teacher"
"""Source of a distillation. ROLL `teacher`."""

SERVED = (ROLLOUT, REWARD)
"""Roles of inference engines: each replica is a server on its nodes."""

ROLES = (ACTOR, ROLLOUT, INFERENCE, REFERENCE, CRITIC, REWARD, ENVIRONMENT, AGENT, STUDENT, TEACHER)


def role_of(component: Component) -> str:
    """Return the role; "" if neither the dialect nor the name gives it."""
    return component.role or (component.name if component.name in ROLES else "")
