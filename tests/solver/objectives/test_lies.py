"""A lie in either face of a term, in its bound or in its rows is caught by parity."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Callable

import pytest
from placewright.solver.layout.capacities import DomainCapacities
from placewright.solver.objectives import domains, traffic
from placewright.solver.objectives.traffic import Collectives, LinkCost, Streams, UncoveredCost, UnservedCost, WeightSync

from .. import parity
from .traffic_cases import TRAFFIC_CASES


def less(original: Any) -> Any:
    """One less than it is."""
    return lambda *arguments: original(*arguments) - 1


def more(original: Any) -> Any:
    """One more than it is."""
    return lambda *arguments: original(*arguments) + 1


def zero(original: Any) -> Any:
    """Nothing, whatever it is."""
    return lambda *arguments: 0


LIES: dict[str, tuple[object, str, Callable[[Any], Any], str]] = {
    "collectives cross to the first rack too": (traffic, "component_count", more, "collectives"),
    "an answer exchanges less": (Collectives, "value", less, "collectives"),
    "one rack more is needed": (domains, "fewest_of", more, "collectives"),
    "a rack holds one less": (DomainCapacities, "most", less, "collectives of a colocated set"),
    "the source is everywhere": (UncoveredCost, "is_uncovered_in", zero, "weights"),
    "the source is nowhere": (traffic, "touches", lambda f: lambda v, c, *a: 0 if c.name == "a" else f(v, c, *a), "weights"),
    "an answer sends nothing": (WeightSync, "value", zero, "weights from given"),
    "everything is at home": (LinkCost, "is_local", lambda f: lambda *a: True, "weights"),
    "more must be sent than can be": (WeightSync, "bound", lambda f: lambda *a: 99, "weights"),
    "one accelerator serves all": (UnservedCost, "count_left", zero, "streams"),
    "any source serves one only": (
        UnservedCost,
        "count_left",
        lambda f: lambda self, *a: f(replace(self, ratio=1), *a),
        "streams of a ratio",
    ),
    "an answer streams more": (Streams, "value", more, "streams"),
    "both fill less than they do": (DomainCapacities, "together", less, "all of it"),
}


@pytest.mark.slow
@pytest.mark.parametrize("lie", LIES)
def test_parity_catches(lie: str, monkeypatch: pytest.MonkeyPatch) -> None:
    home, name, told, case = LIES[lie]
    monkeypatch.setattr(home, name, told(getattr(home, name)))
    with pytest.raises(AssertionError):
        parity.compare(TRAFFIC_CASES[case])
