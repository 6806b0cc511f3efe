"""Other ids for roles that must be solid ranges and are not: ranges that keep apart what was apart."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice, product
from typing import Iterator, Sequence

from ....findings.fix import Fix
from ....findings.span import Edit
from ....text.scalar_text import in_flow_map
from ....text.tree import Scalar
from ..mapping.ids import Ids
from ..mapping.written import range_text
from ..roles.role import Role
from ..roles.setup import Setup
from .pairing import common

CODE = "PW205"
MOST_TRIED = 24
"""So many places are tried for each role: where something begins or ends."""


def solid_fixes(setup: Setup, train: Role, infer: Role) -> None:
    """Say for each of the two what mends it: a range, and the other one's new range where both have holes."""
    broken = [role for role in (train, infer) if role.ids is not None and not role.ids.solid]
    if not broken:
        return
    found = next(_moved(setup, broken), None)
    for position, role in enumerate(broken):
        ids = role.ids or Ids()
        fix = Fix(f"write one range such as `{range_text(range(ids.lowest, ids.lowest + ids.distinct))}`, and move what is in its way")
        if found is not None:
            text = " and ".join(f"{each.key} `{range_text(its)}`" for each, its in zip(broken, found))
            others = [other for other in broken if other is not role]
            alone = _keeps_off(role, Ids((found[position],)), others)  # each edit is also made without the other
            fix = Fix(f"give {text}", written_edit(role, found[position]) if alone else None)
        component = setup.components[role.key]
        setup.components[role.key] = replace(component, fixes={**component.fixes, CODE: fix})


def _moved(setup: Setup, broken: Sequence[Role]) -> Iterator[tuple[range, ...]]:
    """Ranges of the same sizes within what is used, which share with no role that they did not share with before."""
    created = [role for role in setup.roles if role.created and role.on_devices and role.ids]
    last = max(role.ids.highest for role in created if role.ids)
    ends = {0} | {edge for role in created if role.ids for each in role.ids.ranges[:MOST_TRIED] for edge in (each.start, each.stop)}
    others = [role for role in created if role not in broken]
    choices = [
        [range(start, start + role.ids.distinct) for start in islice(sorted(ends), MOST_TRIED) if start + role.ids.distinct <= last + 1]
        for role in broken
        if role.ids
    ]
    together = len(broken) == 2 and _same(broken[0], broken[1])
    for ranges in product(*choices):
        new = [Ids((its,)) for its in ranges]
        if len(new) == 2 and (ranges[0] != ranges[1] if together else common(new[0], new[1])):
            continue
        if all(_keeps_off(role, its, others) for role, its in zip(broken, new)):
            yield ranges


def _same(one: Role, other: Role) -> bool:
    return bool(one.ids and other.ids and one.ids.ranges == other.ids.ranges)


def _keeps_off(role: Role, ids: Ids, others: Sequence[Role]) -> bool:
    """Do these ids meet none of the roles that it does not meet now?"""
    return not any(other.ids and role.ids and common(other.ids, ids) and not common(other.ids, role.ids) for other in others)


def written_edit(role: Role, ids: range) -> Edit | None:
    """The edit that gives a role these ids; None where its own stand elsewhere."""
    value = role.mapping
    return Edit(value.span, in_flow_map(range_text(ids))) if isinstance(value, Scalar) and value.origin is None else None
