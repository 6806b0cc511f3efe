"""A verl file with degrees that are chosen: what it would be once they are written, in its hints and in verl's own keys."""

from __future__ import annotations

import re
from typing import Mapping as MappingType

from ....component import Parallel
from ....configuration.settings import Amount
from ....job import Job
from ....text.changed import with_value
from ....text.tree import Mapping, Scalar, find, leaves
from ...following import with_hint
from .degrees import changed

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
