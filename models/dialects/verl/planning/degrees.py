"""The keys in which the degrees of a component stand that may choose its own."""

from __future__ import annotations

from typing import Mapping

from ....component import Parallel
from ....configuration.settings import Amount
from ..components.parallel import OWNERS, section_of, trained
from ..configuration import Configuration
from ..entries import Entry
from ..pools.declared import Declared
from ..pools.served import engine_of, is_engine


def amounts_of(settings: Configuration, entry: Entry, declared: Declared, name: str) -> Mapping[str, Amount]:
    """Degree -> its number, with its key; none for a component whose degrees are not its own, or that has none."""
    if is_engine(settings, entry, name):
        found = engine_of(settings, entry, name)
    elif name in OWNERS:
        pool = next((each for each in declared.pools if name in each.components), None)
        section = section_of(pool.components if pool else (), declared.ranges, name)
        found = trained(settings, OWNERS[name], section) if section == OWNERS[name] else None
    else:
        found = None
    return found[1] if found else {}


def leader_of(settings: Configuration, entry: Entry, declared: Declared, name: str) -> str | None:
    """The component whose degrees another one of its processes has, as Megatron's process groups are theirs together; None for its own."""
    if name not in OWNERS or is_engine(settings, entry, name):
        return None
    pool = next((each for each in declared.pools if name in each.components), None)
    section = section_of(pool.components if pool else (), declared.ranges, name)
    leader = next((each for each, owner in OWNERS.items() if owner == section), name)
    found = trained(settings, OWNERS[name], section)
    return leader if leader != name and found is not None and found[1] else None


def can_say(amounts: Mapping[str, Amount], parallel: Parallel) -> bool:
    """Is there a key for each of these degrees that is not 1?"""
    return all(degree in amounts or getattr(parallel, degree) == 1 for degree in ("tp", "pp", "cp", "ep", "dp"))


def numbers(amounts: Mapping[str, Amount], parallel: Parallel) -> dict[str, int]:
    """Key -> its number, of these degrees."""
    return {amount.name: int(getattr(parallel, degree)) for degree, amount in amounts.items()}


def changed(amounts: Mapping[str, Amount], parallel: Parallel) -> dict[str, int]:
    """Degree -> its number, of those that are not what the file says already."""
    return {degree: number for degree, amount in amounts.items() if (number := int(getattr(parallel, degree))) != amount.value}
