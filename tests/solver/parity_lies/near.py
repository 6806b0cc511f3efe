"""Lies about answers near others, and unlike others: (what is changed, its name, the lie, the case that must catch it)."""

from __future__ import annotations

from typing import Any

from placewright.solver.expanding import unmoved as keep
from placewright.solver.objectives import moves
from placewright.solver.objectives.moves import MoveTerm
from placewright.solver.rules.answers import AtMost, DiversityConstraint

from .changes import Lie, instead

NEAR_LIES: dict[str, tuple[Any, str, Lie, str]] = {
    "what is ruled out passes": (DiversityConstraint, "check", instead(lambda *arguments: ()), "unlike one in a rack"),
    "what is ruled out is good": (DiversityConstraint, "encode", instead(lambda *arguments: None), "unlike one in a rack"),
    "more than a limit passes": (AtMost, "check", instead(lambda *arguments: ()), "capped: two terms together"),
    "more than a limit is good": (AtMost, "encode", instead(lambda *arguments: None), "capped: no rack more"),
    "a piece that stays is not counted": (MoveTerm, "value", lambda f: lambda *a: f(*a) + 1, "near an answer, equal nodes"),
    "everything stays": (MoveTerm, "encode", instead(lambda *arguments: 0), "near an answer that shared"),
    "what two held both keep": (moves, "overlap", instead(lambda pieces: False), "near an answer that shared"),
    "nothing stays": (keep, "holdings", instead(lambda layout: ()), "near an answer, nodes told apart"),
    "a range keeps nothing": (moves, "count_kept_by_place", instead(lambda *arguments: lambda place: 0), "near a range"),
    "more must move than do": (MoveTerm, "bound", instead(lambda *arguments: 3), "near an answer, equal nodes"),
}
