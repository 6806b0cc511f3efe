"""The changes that would help, the smallest first."""

from __future__ import annotations

from itertools import chain
from typing import Iterator, Sequence

from ....models.demand import Demand
from ....models.problem import AMOUNT
from ..conflict import DROPPED, Change
from ..droppable import can_be_dropped, dropped
from ..rows.row import Row
from .amounts import amounts, other_work
from .degrees import other_degrees
from .machines import more_nodes
from .memory import less_memory, less_of_node
from .sharing import shared_room
from .topology import looser
from .trial import Trial

MAX_FIXES = 5
"""So many changes are shown at most."""


def ranked(trial: Trial, demands: Sequence[Demand], row: Row | None) -> tuple[Change, ...]:
    """Single changes of these demands after which the question was solved, the smallest first."""
    found: list[Change] = []
    for demand in demands:
        softer = list(_softer(trial, demand, row))
        found += softer
        if not softer and can_be_dropped(trial.problem, demand) and trial.works(lambda its, gone=demand: its.without(gone)):  # type: ignore[misc]
            found.append(Change(dropped(demand), (DROPPED, 1.0), lambda its, gone=demand: its.without(gone)))  # type: ignore[misc]
    found += chain(shared_room(trial, row), more_nodes(trial, row)) if row else ()
    proved: list[Change] = []
    for change in sorted(found, key=lambda its: its.effort):
        if len(proved) < MAX_FIXES and change.text not in {its.text for its in proved} and trial.solved(change.apply):
            proved.append(change)
    return tuple(proved)


def _softer(trial: Trial, demand: Demand, row: Row | None) -> Iterator[Change]:
    """Changes of a demand that do not give it up."""
    if demand.field == AMOUNT:
        yield from amounts(trial, demand, row)
    elif demand.field == "memory":
        yield from less_memory(trial, demand)
    elif demand.field in ("cpus", "host_memory"):
        yield from less_of_node(trial, demand)
    elif demand.field == "parallel":
        yield from other_degrees(trial, demand)
    else:
        yield from looser(trial, demand)
        yield from other_work(trial, demand)
