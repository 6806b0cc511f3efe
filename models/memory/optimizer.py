"""What trains a component, where its file may leave that to its role."""

from __future__ import annotations

from ..component import Component
from ..estimate import NONE
from ..roles import ACTOR, CRITIC, STUDENT, role_of

TRAINED = (ACTOR, CRITIC, STUDENT)


def optimizer_of(component: Component) -> str:
    """What trains it: Adam where its role is to be trained and nobody says otherwise; `NONE` for anything else."""
    said = component.estimate.optimizer if component.estimate else ""
    return said or ("adam" if role_of(component) in TRAINED else NONE)
