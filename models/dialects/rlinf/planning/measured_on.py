"""The key `measured_on` of hints: on how many accelerators a cost of `profile_data` was measured, where the file's ranks do not say it.

RLinf's tool takes the ranks of the file for those of the run that was measured (toolkits/auto_placement/util.py); a plan that is written
into the file changes them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Mapping as MappingType

from ....hints.without import without
from ....text.tree import Mapping, Scalar, Value
from .profiled import COST, KEY

MEASURED_ON = "measured_on"


def measured_on_of(root: Mapping, block: Value | None) -> tuple[Value | None, MappingType[str, int]]:
    """The block without these keys, and component -> the count; None where nothing else is in it.

    One that is no count, or that is about no cost of the file, stays where it is: the form of hints says what is wrong with it.
    """
    inner = block.get("components") if isinstance(block, Mapping) else None
    if not isinstance(block, Mapping) or not isinstance(inner, Mapping):
        return block, {}
    costs = root.get(KEY)
    found: dict[str, int] = {}
    for each in inner:
        its = each.value.get(MEASURED_ON) if isinstance(each.value, Mapping) else None
        name, value = each.key.text, its.value if isinstance(its, Scalar) else None
        known = isinstance(costs, Mapping) and costs.get(f"{name}{COST}") is not None
        if known and isinstance(value, int) and not isinstance(value, bool) and value > 0:
            found[name] = value
    if not found:
        return block, {}
    left = tuple(
        replace(each, value=replace(each.value, entries=tuple(key for key in each.value if key.key.text != MEASURED_ON)))
        if each.key.text in found and isinstance(each.value, Mapping)
        else each
        for each in inner
    )
    kept = tuple(replace(each, value=replace(inner, entries=left)) if each.value is inner else each for each in block)
    empty = [each for each in left if each.key.text in found and isinstance(each.value, Mapping) and not each.value.entries]
    return without(replace(block, entries=kept), empty), found
