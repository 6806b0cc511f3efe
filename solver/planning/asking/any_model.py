"""How long a component takes at least, whichever of several models of accelerators it is on, or on several of them at once."""

from __future__ import annotations

from dataclasses import replace
from typing import Collection

from ....models.planning.workload import Timed


def on_any_model(timed: Timed, models: Collection[str]) -> Timed:
    """The times of a component with the names of models left out: of its times on each of `models` the shortest.

    What is assumed of other counts is assumed of each model by itself: what the measurements of several models say together may be
    longer than what those of each say.
    """
    if not any(row.model for row in timed.measured):
        return timed
    every = tuple(replace(row, model="") for row in timed.measured)
    each = dict.fromkeys(tuple(row for row in timed.measured if row.model in ("", model)) for model in ("", *sorted(models)))
    return replace(timed, measured=every, shortest_of=tuple(each))
