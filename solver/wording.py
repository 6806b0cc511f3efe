"""Small words that several rules need."""

from __future__ import annotations

from ..models.component import Relation


def plural(noun: str, count: int) -> str:
    """The noun as it stands after a number."""
    if count == 1:
        return noun
    return noun + ("es" if noun.endswith("s") else "s")


def listed(names: list[str] | tuple[str, ...]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else "".join(names)


def lowest(mask: int) -> int:
    """The index of the lowest bit of a mask that is not 0."""
    return (mask & -mask).bit_length() - 1


def demanded(relation: Relation) -> str:
    """The end of a message: who demands a relation, if the file does not say it itself."""
    return f"; {relation.reason} demands it" if relation.reason else ""


def level_name(level: str) -> str:
    """A level of the topology as it stands in a sentence."""
    return _LEVEL_NAMES.get(level, level)


def domain_name(level: str, name: str) -> str:
    """A domain of the topology as it stands in a sentence; nodes that name none share one without a name."""
    return f"{level_name(level)} {name}" if name else f"the {level_name(level)} without a name"


_LEVEL_NAMES = {"nvlink_domain": "NVLink domain", "numa": "NUMA domain"}
