"""Counts as variables of a linear model, so that one can branch on them: over all domains, and over the larger ones alone."""

from __future__ import annotations

from dataclasses import replace
from typing import Iterable

from ...models.record import dataclass
from ..objectives.term import Aggregate
from .linear_rows import LinearModel, Row


@dataclass(frozen=True)
class Counted:
    """A linear model with its counts.

    Attributes
    ----------
    levels : what to branch on, the first as long as any of them is no whole number: counts over all domains, counts over those
        domains that hold much, single indicators. Each maps variables to what one more costs.
    indicators : the variables of 0 or 1 that are counted.
    apart : the same, those of each count together: one for each domain.
    """

    linear: LinearModel
    levels: tuple[dict[int, int], ...]
    indicators: tuple[int, ...]
    apart: tuple[tuple[int, ...], ...]


def with_counts(linear: LinearModel, aggregates: Iterable[Aggregate]) -> Counted:
    """The model with a variable for every count, and one for every part of it over domains that hold at least so much."""
    boxes, rows = list(linear.boxes), list(linear.rows)
    wholes, parts, single = dict[int, int](), dict[int, int](), dict[int, int]()
    cost: dict[object, int] = {}
    members: dict[object, list[tuple[int, int]]] = {}
    for each in aggregates:
        cost[each.key] = cost.get(each.key, 0) + each.cost
        members[each.key] = [(there.index, room) for there, room in each.members if not isinstance(there, int)]  # type: ignore[attr-defined]
    for key, its in members.items():
        its.sort(key=lambda member: -member[1])
        for position, (indicator, room) in enumerate(its, start=1):
            single[indicator] = single.get(indicator, 0) + cost[key]
            last = position == len(its)
            if last or its[position][1] < room:
                counted = len(boxes)
                boxes.append((0, position))
                rows.append(Row(0, 0, (*(index for index, _ in its[:position]), counted), (*[1] * position, -1)))
                (wholes if last else parts)[counted] = cost[key]
    apart = tuple(tuple(indicator for indicator, _ in its) for its in members.values())
    return Counted(replace(linear, boxes=boxes, rows=rows), (wholes, parts, single), tuple(single), apart)
