"""The pools of a job, and the machines that its file speaks of."""

from __future__ import annotations

from dataclasses import field
from typing import Mapping

from ....configuration.settings import Amount
from ....findings.finding import error
from ....findings.span import Span
from ....machines.shorthand import MAX_ACCELERATORS_PER_NODE, MAX_NODES
from ....pools.pool import Parts, Pool
from ....record import dataclass
from ..configuration import Configuration

MAX_PROCESSES = 1 << 20
"""The most accelerators of one pool that are read; an own limit, no job is near it."""
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
    found = sized(settings, nodes, accelerators)
    return pool_of(name, *found, components, slots) if found else None


def sized(settings: Configuration, nodes: str, accelerators: str) -> tuple[Amount, Amount] | None:
    """(nodes, accelerators on each); None where one of them is not known, or both together are more than are read."""
    count, size = number(settings, nodes, MAX_NODES), number(settings, accelerators, MAX_ACCELERATORS_PER_NODE)
    if count is None or size is None:
        return None
    if count.value * size.value > MAX_PROCESSES:
        message = f"{settings.says(count)} and {settings.says(size)} are {count.value * size.value:,} accelerators; more than {MAX_PROCESSES:,} are not read"
        at = count.span or size.span or settings.top
        settings.notes.findings.append(error("PW002", nodes, message, at, label="too many", help="are these numbers meant?"))
        return None
    return count, size


def number(settings: Configuration, key: str, most: int, least: int = 1) -> Amount | None:
    """A number of nodes or of accelerators on one; None, with a finding, where it is not one or more than are read."""
    amount = settings.whole(key, FIT, least=least, exact=True)
    if amount is None or amount.value <= most:
        return amount
    message = f"`{key}` is {amount.value:,}; more than {most:,} are not read"
    at = amount.span or settings.top
    settings.notes.findings.append(error("PW002", key, message, at, label="too many", help="is this number meant?"))
    return None


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
