"""The pools of a job, and the machines that its file speaks of."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Mapping

from ....configuration.settings import Amount
from ....pool import Parts, Pool
from ....span import Span
from ..configuration import Configuration

FIT = "PW215"
"""The code of what concerns the room of pools on nodes."""


@dataclass(frozen=True)
class Declared:
    """The pools, in the order in which verl makes them.

    `nodes` are machines that the file states; () where it states none. `ranges` are the first and the last rank of a component
    that runs on a part of its pool.
    """

    pools: tuple[Pool, ...]
    nodes: tuple[Parts, ...] = ()
    ranges: Mapping[str, tuple[int, int]] = field(default_factory=dict)

    def size(self, component: str, pool: Pool) -> int:
        """How many ranks a component of a pool has."""
        first, last = self.ranges.get(component, (0, pool.size - 1))
        return last - first + 1


def measured(settings: Configuration, name: str, nodes: str, accelerators: str, components: tuple[str, ...], slots: int) -> Pool | None:
    """The pool ``[accelerators] * nodes`` of two keys; None where one of them is not known."""
    count, size = settings.whole(nodes, FIT, exact=True), settings.whole(accelerators, FIT, exact=True)
    return None if count is None or size is None else pool_of(name, count, size, components, slots)


def pool_of(name: str, count: Amount, size: Amount, components: tuple[str, ...], slots: int) -> Pool:
    """The pool of two amounts that were read."""
    spans: dict[str, Span] = {}
    for key, amount in (("count", count), ("size", size)):
        if amount.span:
            spans[key] = amount.span
    found = spans.get("size") or spans.get("count")
    if found:
        spans["name"] = found
    return Pool(name, (Parts(size.value, count.value),), slots, components, size.name, count.name, spans)
