"""How far a plan holds where a hint is wrong, for a program: JSON data, factors as `1.08`."""

from __future__ import annotations

from ...models.planning.measured import SECOND
from ...models.planning.question import Question
from ...solver.planning.after.flips.flip import HUNDRED, Flip, Sensitivity, Wider
from .design_data import Data, priced_data


def sensitivity_data(question: Question, found: Sensitivity) -> Data:
    """Where the plan flips, what was not searched of that, and what is known of plans that nobody asked for."""
    return {
        "searches": found.searches,
        "not_searched": [{"component": name, "up_to": end / HUNDRED} for name, end in found.left],
        "flips": [_flip(question, each) for each in found.flips],
        **({"wider": _wider(question, found.wider)} if found.wider is not None else {}),
        **({"on_other_models": {"holds": _holds(found.on_models)}} if found.on_models is not None else {}),
        **({"traffic_left_out": True, "least_traffic_counted": question.crossing is not None} if found.traffic_left_out else {}),
    }


def _wider(question: Question, its: Wider) -> Data:
    """Plans that nobody asked for and that may be better sooner, and how far it is known that they are not; null where not even as it is.

    `flips` are those nested ones that are known to be better.
    """
    sorts = [name for name in ("over_nodes", "over_kinds", "nested") if getattr(its, name)]
    return {"plans": sorts, "holds": _holds(its), "flips": [_flip(question, each) for each in its.flips]}


def _holds(its: Wider) -> list[Data] | None:
    if not its.as_it_is:
        return None
    return [{"component": each.component, "slower": each.slower, "up_to": each.percent / HUNDRED} for each in its.holds]


def _flip(question: Question, flip: Flip) -> Data:
    found: Data = {"component": flip.component, "holds": flip.holds / HUNDRED, "proved": flip.sure}
    if flip.flips is not None:
        to = {**priced_data(flip.question or question, flip.to), "placed": flip.placed} if flip.to else None
        found |= {"flips": flip.flips / HUNDRED, "takes": flip.takes / SECOND, "to": to}
    return found
