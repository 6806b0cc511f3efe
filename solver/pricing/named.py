"""Demands by the names that a user gives them: the keys of the file."""

from __future__ import annotations

from typing import Iterator

from ...models.demand import Demand
from ...models.findings.finding import Finding, error
from ...models.machines.node_group import NODE
from ...models.problem import AMOUNT, Problem
from ...models.text.nearest import nearest
from ..refuting.droppable import key_of
from ..wording import listed

MAX_LISTED = 8


def names(problem: Problem) -> dict[str, Demand]:
    """Every demand by its one full name, such as ``actor.memory`` or ``actor.keep.replica.rack``, in the written order."""
    found: dict[str, Demand] = {}
    for demand in problem.demands:
        found.setdefault(_full(problem, demand), demand)
    return found


def called(problem: Problem, text: str) -> tuple[Demand, ...] | Finding:
    """The demands that a text names: by their full name, by a shorter one that says as much, or by words such as ``keep replica in rack``.

    What names demands of several components names them all. A Finding where it names none.
    """
    wanted = " ".join(text.strip().split())
    found = tuple(demand for name, demand in names(problem).items() if wanted in _ways(name, demand))
    if found:
        return found
    known = list(names(problem))
    close = nearest(wanted, known)
    advice = f"name `{close}`" if close else "name one of " + listed([f"`{name}`" for name in known[:MAX_LISTED]])
    return error("PW612", "", f"`{text[:80]}` is no demand of this file", help=advice if known else "there is nothing to drop in this file")


def _full(problem: Problem, demand: Demand) -> str:
    one, _, other = demand.component.partition("+")
    first, *rest = demand.field.split()
    if demand.field == AMOUNT:
        return f"{one}.{'processes' if problem.kind(problem[one]) == NODE else 'accelerators'}"
    if first in ("keep", "spread", "pins"):
        # keep tp in rack, spread over rack, pins 0-7
        return ".".join([one, "pin" if first == "pins" else first, *(word for word in rest if word not in ("in", "over"))])
    key = key_of(demand).replace(" ", "_")
    return f"{one}.{key}.{other.replace('+', '.')}" if other else f"{one}.{key}"


def _ways(name: str, demand: Demand) -> Iterator[str]:
    """All that a demand may be called."""
    parts = name.split(".")
    for stop in range(2, len(parts) + 1):
        yield ".".join(parts[:stop])
    one = demand.component.partition("+")[0]
    yield from (f"{one}.{demand.field}", demand.field, ".".join(parts[1:]), parts[1])
