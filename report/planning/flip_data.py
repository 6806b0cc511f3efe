"""Sensitivity of a plan to the times of a component, as JSON data."""

from __future__ import annotations

from ...models.account import HUNDRED, Flip, Sensitivity
from ...models.planning.problem import PlanningProblem
from ...models.planning.workload import SECOND
from .design_data import Data, priced_data


def sensitivity_data(question: PlanningProblem, found: Sensitivity) -> Data:
    """Convert factors such as `1.25`; `not_searched` is the first undecided one."""
    return {
        "searches": found.searches,
        "flips": [_flip(question, flip) for flip in found.flips],
        "not_searched": [{"component": name, "from": percent / HUNDRED} for name, percent in found.left],
    }


def _flip(question: PlanningProblem, flip: Flip) -> Data:
    to = flip.to and {**priced_data(flip.question or question, flip.to), "placed": flip.placed}
    return {
        "component": flip.component,
        "holds": flip.holds / HUNDRED,
        "flips": flip.flips / HUNDRED,
        "takes": flip.takes / SECOND,
        "to": to,
    }
