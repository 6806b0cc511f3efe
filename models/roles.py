"""What a component does in the job, whatever a framework calls it: by its role it is known again in another dialect."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .component import Component

ACTOR = "actor"
"""Trains the policy. RLinf `actor`, ROLL `actor_train`, verl `actor`."""
ROLLOUT = "rollout"
"""Generates with the policy. RLinf `rollout`, ROLL `actor_infer`, verl `rollout`."""
INFERENCE = "inference"
"""Recomputes log probabilities with the policy. RLinf `inference`; elsewhere the actor does it."""
REFERENCE = "reference"
"""The frozen policy. ROLL `reference`, verl `ref`."""
CRITIC = "critic"
"""Trains the value model."""
REWARD = "reward"
"""Scores what was generated, by a model or by rules. RLinf `reward`, ROLL `reward` and `rewards.*`, verl `reward_model`."""
ENVIRONMENT = "env"
"""Environments or simulators. RLinf `env`, ROLL `train_env` and `val_env`, verl `env`."""
AGENT = "agent"
"""Agent loops and tools, on CPUs."""
STUDENT = "student"
"""Is distilled into. ROLL `student`."""
TEACHER = "teacher"
"""Is distilled from. ROLL `teacher`."""

SERVED = (ROLLOUT, REWARD)
"""What inference engines do: their replicas are servers, each started for the accelerators of its nodes."""

ROLES = (ACTOR, ROLLOUT, INFERENCE, REFERENCE, CRITIC, REWARD, ENVIRONMENT, AGENT, STUDENT, TEACHER)


def role_of(component: Component) -> str:
    """What it does; "" if neither its dialect nor its name says it."""
    return component.role or (component.name if component.name in ROLES else "")
