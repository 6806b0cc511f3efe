"""Texts shared by rules: lists, names and times."""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import Iterable, Sequence

from ..models.component import Relation
from ..models.findings.wording import plural
from ..models.machines.cluster import Cluster
from ..models.planning.workload import SECOND
from ..models.ranks import list_ranks

MAX_NAMES = 6
"""Largest number of nodes or numbers in a sentence."""
_LEVEL_NAMES = {"nvlink_domain": "NVLink domain", "numa": "NUMA domain"}
MILLISECOND = SECOND // 1000
DIGITS = 4


def join_names(names: list[str] | tuple[str, ...]) -> str:
    """Return `a`, `a and b`, or `a, b and c`."""
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else "".join(names)


def some_of(names: Sequence[str]) -> str:
    """Return the names as a listing; long lists end with the remaining number."""
    return join_names(list(names) if len(names) <= MAX_NAMES else [*names[: MAX_NAMES - 1], f"{len(names) - MAX_NAMES + 1} more"])


def few(counts: Sequence[int]) -> str:
    """Return ascending counts as text; `1-8` without gaps, long lists cut."""
    if len(counts) <= MAX_NAMES:
        return ", ".join(map(str, counts))
    if counts[-1] - counts[0] < len(counts):
        return f"{counts[0]}-{counts[-1]}"
    return f"{', '.join(map(str, counts[: MAX_NAMES - 1]))}, ... {counts[-1]}"


def lowest(mask: int) -> int:
    """Return the index of the lowest set bit of a nonzero mask."""
    return (mask & -mask).bit_length() - 1


def name_framework(relation: Relation) -> str:
    """Return the end of a message that names the framework behind a relation; else ""."""
    return f"; {relation.reason} demands it" if relation.reason else ""


def demanding(relation: Relation) -> tuple[str, ...]:
    """Return the note that names the framework behind a relation; () without a framework."""
    return (f"demanded by {relation.reason}",) if relation.reason else ()


def open_choice(relation: Relation) -> str:
    """Return the demand of a relation with an open choice; "" for other relations."""
    first, second = relation.components[0], relation.components[-1]
    return f"{first} and {second} use the same accelerators, or none in common" if relation.demanded else ""


def level_name(level: str) -> str:
    """Return a topology level as named in sentences."""
    return _LEVEL_NAMES.get(level, level)


def domain_name(level: str, name: str) -> str:
    """Return a domain as named in sentences; nodes without a domain name share one."""
    return f"{level_name(level)} {name}" if name else f"the {level_name(level)} without a name"


def nodes_called(cluster: Cluster, ranks: Iterable[int]) -> str:
    """Return `node 3` or `nodes 3-5`; by name if names differ from ranks: `node-4 and gpu-7`.

    Names differ from ranks after nodes were lost, for instance.
    """
    sorted_ranks = sorted(set(ranks))
    names = [cluster.name(rank) for rank in sorted_ranks if rank < len(cluster.nodes)]
    if all(name == f"node-{rank}" for name, rank in zip(names, sorted_ranks)):
        return f"{plural('node', len(sorted_ranks))} {list_ranks(sorted_ranks)}"
    return some_of(names)


def figure(value: float, digits: int = DIGITS) -> str:
    """Return a number with significant digits, without exponent: `20.18`, `0.0000004`, `1234`."""
    return format(Decimal(f"{value:.{digits}g}"), "f")


def round_seconds(nanoseconds: int) -> str:
    """Return seconds, rounded up to milliseconds; below 1 s to four significant digits."""
    return exactly_in_seconds(_round(nanoseconds))


def least_in_seconds(nanoseconds: int) -> str:
    """Return seconds, rounded down with the digits of `in_seconds`, as for minimum needs."""
    return exactly_in_seconds(_round(nanoseconds, ROUND_FLOOR))


def exactly_in_seconds(nanoseconds: int) -> str:
    """Return exact seconds to the nanosecond, as for limits."""
    return format((Decimal(nanoseconds) / SECOND).normalize(), "f")


def with_unit(seconds: str) -> str:
    """Return seconds with unit: `1 second`, `20.18 seconds`."""
    return f"{seconds} {plural('second', 1 if seconds == '1' else 2)}"


def format_time(nanoseconds: int) -> str:
    """Return `in_seconds` with unit: `100.04 s`, or `31.25 ms` below a second."""
    return exactly_in_time(_round(nanoseconds))


def exactly_in_time(nanoseconds: int) -> str:
    """Return `exactly_in_seconds` with unit, in milliseconds below a second."""
    return f"{exactly_in_seconds(nanoseconds)} s" if nanoseconds >= SECOND else f"{exactly_in_seconds(1000 * nanoseconds)} ms"


def _round(nanoseconds: int, rounding: str = ROUND_CEILING) -> int:
    grain = MILLISECOND if nanoseconds >= SECOND else 10 ** max(len(str(nanoseconds)) - DIGITS, 0)
    return int((Decimal(nanoseconds) / grain).to_integral_value(rounding)) * grain
