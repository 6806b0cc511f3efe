"""Lies about given ranks within open components: (what is changed, its name, the lie, the case that must catch it)."""

from __future__ import annotations

from typing import Any

from placewright.solver.expanding import expand
from placewright.solver.layout.layout import Layout
from placewright.solver.layout.ranges import Places
from placewright.solver.rules import no_overlap

from .changes import Lie, instead

AROUND_LIES: dict[str, tuple[Any, str, Lie, str]] = {
    "what is given within takes room": (Layout, "count_enclosed", instead(lambda *arguments: 0), "around given"),
    "ranges leave out what is given within": (Places, "holds_enclosed", instead(lambda *arguments: True), "around given, contiguous"),
    "what is around given ranks shares all given ones": (
        no_overlap, "_find_inside", instead(lambda problem, sets: {("g", "a"): ["g", "h"]}), "around given, one of two that share"
    ),
    "what is within has what is given there": (
        expand, "subtract_enclosed", instead(lambda layout, bundle, held: held[bundle]), "within searched around given"
    ),
}  # fmt: skip
