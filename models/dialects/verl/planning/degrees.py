"""Degrees and programs that may be chosen: the keys in which they stand, a file with other numbers in these, and what trains beside rollout.

Source: verl, verl/experimental/one_step_off_policy, and verl/experimental/fully_async_policy/README.md, whose first mode does not.
"""

from __future__ import annotations

import re
from typing import Mapping as MappingType

from ....component import Parallel
from ....configuration.settings import Amount
from ....job import Job
from ....text.changed import with_value
from ....text.tree import Mapping, Scalar, find, leaves
from ...following import with_hint
from ..components.parallel import OWNERS, section_of, trained
from ..configuration import Configuration
from ..entries import Entry, Kind
from ..entries.programs import FULLY_ASYNC
from ..job import Setup
from ..pools.declared import Declared
from ..pools.served import engine_of, is_engine


def amounts_of(settings: Configuration, entry: Entry, declared: Declared, name: str) -> MappingType[str, Amount]:
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


def can_say(amounts: MappingType[str, Amount], parallel: Parallel) -> bool:
    """Is there a key for each of these degrees that is not 1?"""
    return all(degree in amounts or getattr(parallel, degree) == 1 for degree in ("tp", "pp", "cp", "ep", "dp"))


def numbers(amounts: MappingType[str, Amount], parallel: Parallel) -> dict[str, int]:
    """Key -> its number, of these degrees."""
    return {amount.name: int(getattr(parallel, degree)) for degree, amount in amounts.items()}


def changed(amounts: MappingType[str, Amount], parallel: Parallel) -> dict[str, int]:
    """Degree -> its number, of those that are not what the file says already."""
    return {degree: number for degree, amount in amounts.items() if (number := int(getattr(parallel, degree))) != amount.value}


_KEYS = re.compile(r"[\w.]+")
Amounts = MappingType[str, MappingType[str, Amount]]
"""Component -> degree -> its number, with its key."""


def opened(job: Job, root: Mapping) -> dict[str, tuple[Parallel, ...]]:
    """The choices of degrees that hints leave open, without those that follow from the size of a pool."""
    from ....hints.block import COMPONENTS, NAME
    from ....hints.degrees import KEY

    return {name: its for name, its in job.choices.items() if find(root, f"{NAME}.{COMPONENTS}.{name}.{KEY}") is not None}


def leaders(job: Job, root: Mapping, amounts: Amounts) -> list[str]:
    """The components with open degrees whose keys, or sections of them, are what an interpolation may take its value from."""
    taken = {
        key.rsplit(".", 1)[-1]
        for leaf in leaves(root)
        for _, found, text in (leaf.text.partition("${"),)
        if found
        for key in _KEYS.findall(text)
    }
    return [name for name in job.choices if any(not taken.isdisjoint(its.name.split(".")) for its in amounts.get(name, {}).values())]


def with_degrees(root: Mapping, degrees: MappingType[str, Parallel], amounts: Amounts) -> Mapping:
    """The tree with these degrees, where they are written into keys of verl."""
    for name, parallel in degrees.items():
        root = with_hint(root, name, parallel)
        for degree, number in changed(amounts[name], parallel).items():
            root = with_value(root, amounts[name][degree].name, number)
    return root


def with_numbers(root: Mapping, numbers: MappingType[str, int]) -> Mapping:
    """The tree with other numbers in keys that it has, so that what refers to one of these has the other number too."""
    for key, number in numbers.items():
        if isinstance(find(root, key), Scalar):
            root = with_value(root, key, number)
    return root


PLANNED = (Kind.HYBRID, Kind.SEPARATE, Kind.GENERATION)
"""Programs each of whose pools has a size of its own, in two keys."""


def is_planned(entry: Entry) -> bool:
    """Does the program make pools whose sizes can be chosen one by one?"""
    return entry.kind in PLANNED


CODE = "PW604"
STALE, STEPS = "async_training.staleness_threshold", "async_training.trigger_parameter_sync_step"


def asynchronous(setup: Setup) -> str:
    """What tells that it does, in words; "" where all that is trained was made with the newest weights, so that each waits for the other."""
    if setup.entry.kind is not Kind.SEPARATE:
        return ""
    stale = setup.settings.at(STALE)
    if setup.entry.program == FULLY_ASYNC.program and isinstance(stale, Scalar) and stale.value == 0:
        steps = setup.settings.whole(STEPS, CODE)
        if steps is not None and steps.value == 1:
            return ""
    return f"`{setup.entry.program}`"
