"""How far a plan holds where a hint is wrong, for a program: JSON data, factors as `1.08`."""

from __future__ import annotations

from ...models.planning.measured import SECOND
from ...models.planning.question import Question
from ...solver.planning.after.flips.flip import HUNDRED, Flip, Sensitivity
from .design_data import Data, priced_data


def sensitivity_data(question: Question, found: Sensitivity) -> Data:
    """Where the plan flips, what was not searched of that, and what is known of plans that nobody asked for."""
    return {
        "searches": found.searches,
        "not_searched": [{"component": name, "up_to": end / HUNDRED} for name, end in found.left],
        "flips": [_flip(question, each) for each in found.flips],
        **({"traffic_left_out": True, "least_traffic_counted": question.crossing is not None} if found.traffic_left_out else {}),
    }


def _flip(question: Question, flip: Flip) -> Data:
    found: Data = {"component": flip.component, "holds": flip.holds / HUNDRED, "proved": flip.sure}
    if flip.flips is not None:
        to = {**priced_data(flip.question or question, flip.to), "placed": flip.placed} if flip.to else None
        found |= {"flips": flip.flips / HUNDRED, "takes": flip.takes / SECOND, "to": to}
    return found
