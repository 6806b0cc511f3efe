"""Words that several rules need: lists and times."""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import Iterable, Sequence

from ..models.component import Relation
from ..models.findings.wording import plural
from ..models.machines.cluster import Cluster
from ..models.planning.measured import SECOND
from ..models.ranks import merge, write_ranks

MAX_NAMES = 6
"""So many nodes, or numbers, are named in one sentence."""


_LEVEL_NAMES = {"nvlink_domain": "NVLink domain", "numa": "NUMA domain"}
MILLISECOND = SECOND // 1000
DIGITS = 4


def listed(names: list[str] | tuple[str, ...]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else "".join(names)


def some_of(names: Sequence[str]) -> str:
    """The names as a list; of very many the first ones, and how many more there are."""
    return listed(list(names) if len(names) <= MAX_NAMES else [*names[: MAX_NAMES - 1], f"{len(names) - MAX_NAMES + 1} more"])


def few(counts: Sequence[int]) -> str:
    """Of many counts, in order, the first and the last; `1-8` where none between them is missing."""
    if len(counts) <= MAX_NAMES:
        return ", ".join(map(str, counts))
    if counts[-1] - counts[0] < len(counts):
        return f"{counts[0]}-{counts[-1]}"
    return f"{', '.join(map(str, counts[: MAX_NAMES - 1]))}, ... {counts[-1]}"


def lowest(mask: int) -> int:
    """The index of the lowest bit of a mask that is not 0."""
    return (mask & -mask).bit_length() - 1


def demanded(relation: Relation) -> str:
    """The end of a message: who demands a relation, if the file does not say it itself."""
    return f"; {relation.reason} demands it" if relation.reason else ""


def open_choice(relation: Relation) -> str:
    """What a relation that leaves a choice open demands; "" for any other."""
    one, other = relation.components[0], relation.components[-1]
    return f"{one} and {other} use the same accelerators, or none in common{demanded(relation)}" if relation.demanded else ""


def level_name(level: str) -> str:
    """A level of the topology as it stands in a sentence."""
    return _LEVEL_NAMES.get(level, level)


def domain_name(level: str, name: str) -> str:
    """A domain of the topology as it stands in a sentence; nodes that name none share one without a name."""
    return f"{level_name(level)} {name}" if name else f"the {level_name(level)} without a name"


def nodes_called(cluster: Cluster, ranks: Iterable[int]) -> str:
    """`node 3`, `nodes 3-5`; by their names where these are not those of their ranks, as where nodes were lost: `node-4 and gpu-7`."""
    its = sorted(set(ranks))
    names = [cluster.name(rank) for rank in its if rank < len(cluster.nodes)]
    if all(name == f"node-{rank}" for name, rank in zip(names, its)):
        return f"{plural('node', len(its))} {write_ranks(merge([range(rank, rank + 1) for rank in its]))}"
    return some_of(names)


def figure(value: float, digits: int = DIGITS) -> str:
    """A number with so many digits that count, without an exponent: `20.18`, `0.0000004`, `1234`."""
    return format(Decimal(f"{value:.{digits}g}"), "f")


def in_seconds(nanoseconds: int) -> str:
    """Seconds that are no less than they are: whole milliseconds from a second on, below it four digits that count."""
    return exactly_in_seconds(_rounded(nanoseconds))


def least_in_seconds(nanoseconds: int) -> str:
    """Seconds that are no more than they are, as where it is said what is needed at least: with the digits of `in_seconds`."""
    return exactly_in_seconds(_rounded(nanoseconds, ROUND_FLOOR))


def exactly_in_seconds(nanoseconds: int) -> str:
    """Seconds to the last nanosecond, as where it is said what is allowed."""
    return format((Decimal(nanoseconds) / SECOND).normalize(), "f")


def with_unit(seconds: str) -> str:
    """A number of seconds with its unit: `1 second`, `20.18 seconds`."""
    return f"{seconds} {plural('second', 1 if seconds == '1' else 2)}"


def in_time(nanoseconds: int) -> str:
    """The same as `in_seconds` with its unit: `100.04 s`, and `31.25 ms` below a second."""
    return exactly_in_time(_rounded(nanoseconds))


def exactly_in_time(nanoseconds: int) -> str:
    """The same as `exactly_in_seconds` with its unit, milliseconds below a second."""
    return f"{exactly_in_seconds(nanoseconds)} s" if nanoseconds >= SECOND else f"{exactly_in_seconds(1000 * nanoseconds)} ms"


def _rounded(nanoseconds: int, way: str = ROUND_CEILING) -> int:
    grain = MILLISECOND if nanoseconds >= SECOND else 10 ** max(len(str(nanoseconds)) - DIGITS, 0)
    return int((Decimal(nanoseconds) / grain).to_integral_value(way)) * grain
