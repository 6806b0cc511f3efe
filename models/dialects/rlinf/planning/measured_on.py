"""The key `measured_on` of hints: on how many accelerators a cost of `profile_data` was measured, where the file's ranks do not say it.

RLinf's tool takes the ranks of the file for those of the run that was measured (toolkits/auto_placement/util.py); a plan that is written
into the file changes them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Mapping as MappingType

from ....configuration.notes import Notes, is_unknown
from ....findings.finding import UnusableInput
from ....hints.without import without
from ....text.tree import Entry, Mapping, Scalar, Value
from ..profiled import COST, KEY

MEASURED_ON = "measured_on"


def measured_on_of(notes: Notes, root: Mapping, block: Value | None) -> tuple[Value | None, MappingType[str, int]]:
    """The block without these keys, and component -> the count; None where nothing else is in it.

    One that is no count, or that is about no cost of the file, is an error.
    """
    inner = block.get("components") if isinstance(block, Mapping) else None
    if not isinstance(block, Mapping) or not isinstance(inner, Mapping):
        return block, {}
    costs, found, said = root.get(KEY), dict[str, int](), list[str]()
    for each in inner:
        name, its = each.key.text, each.value.entry(MEASURED_ON) if isinstance(each.value, Mapping) else None
        if its is None:
            continue
        said.append(name)
        if (count := _count(notes, name, its)) is None:
            continue
        if isinstance(costs, Mapping) and costs.get(f"{name}{COST}") is not None:
            found[name] = count
        else:
            message = f"`{MEASURED_ON}` of `{name}` is about a cost of it in RLinf's `{KEY}`, and this file has none"
            notes.error("PW121", name, message, its.value.span, "of what?", "write `seconds` by count, such as `{8: 120}`")
    if not said:
        return block, {}
    left = tuple(
        replace(each, value=replace(each.value, entries=tuple(key for key in each.value if key.key.text != MEASURED_ON)))
        if each.key.text in said and isinstance(each.value, Mapping)
        else each
        for each in inner
    )
    kept = tuple(replace(each, value=replace(inner, entries=left)) if each.value is inner else each for each in block)
    empty = [each for each in left if each.key.text in said and isinstance(each.value, Mapping) and not each.value.entries]
    return without(replace(block, entries=kept), empty), found


def _count(notes: Notes, name: str, entry: Entry) -> int | None:
    """The count; None, and a finding, where it is none. One that is not known here is none either."""
    from ....text.forms import fill
    from .form import MeasuredOnForm

    if isinstance(entry.value, Scalar) and is_unknown(entry.value):
        message = f"the hints of `{name}` need a value that is not known here: `{entry.value.text}`"
        notes.error("PW120", name, message, entry.value.span, "", "write the value")
        return None
    try:
        return fill(MeasuredOnForm, Mapping((entry,), entry.value.span), name, f"the hints of `{name}`").measured_on
    except UnusableInput as problem:
        notes.findings += problem.findings
        return None
