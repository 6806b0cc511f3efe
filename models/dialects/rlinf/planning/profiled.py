"""Does a file say how long its components take?"""

from __future__ import annotations

from dataclasses import replace
from typing import Container, Iterable

from ....component import Component
from ....findings.finding import Finding
from ....placements.assignment import Assignment
from ....planning.measured import Measured
from ....planning.workload import Timed
from ....text.tree import Mapping, Value
from ..capabilities import INFERENCE

KEY = "profile_data"


def is_profiled(root: Mapping, hints: Value | None) -> bool:
    """Does it, so that other ranks may be chosen by that? Components without ranks are searched, whether or not they have times.

    Those that infer need no ranks: where actor and rollout share their accelerators, RLinf does not start them.
    """
    hinted, placed = hinted_seconds(hints), placed_in(root)
    if not hinted - set(INFERENCE) <= placed:
        return False
    return isinstance(root.get(KEY), Mapping) or not hinted.isdisjoint(placed)


def placed_in(root: Mapping) -> frozenset[str]:
    """The components that have ranks."""
    cluster = root.get("cluster")
    placed = cluster.get("component_placement") if isinstance(cluster, Mapping) else None
    entries = placed if isinstance(placed, Mapping) else ()
    return frozenset(name.strip() for each in entries for name in each.key.text.split(","))


def hinted_seconds(hints: Value | None) -> frozenset[str]:
    """The components whose hints say seconds."""
    inner = hints.get("components") if isinstance(hints, Mapping) else None
    entries = inner if isinstance(inner, Mapping) else ()
    return frozenset(each.key.text for each in entries if isinstance(each.value, Mapping) and each.value.get("seconds") is not None)


def started(block: Value, names: Container[str], components: Iterable[Component]) -> Value:
    """The block without the hints of components that infer and are none of `names`, which start with their ranks as they are written.

    So it is where actor and rollout share their accelerators. Elsewhere those without ranks are left to solve.
    """
    held = Assignment({each.name: each.runs or () for each in components})
    if not held.masks("actor") or held.masks("actor") != held.masks("rollout"):
        return block
    return without(block, [name for name in INFERENCE if name not in names])


def without(block: Value, names: Container[str]) -> Value:
    """The block without the hints of these components."""
    inner = block.get("components") if isinstance(block, Mapping) else None
    if not isinstance(block, Mapping) or not isinstance(inner, Mapping) or not any(each.key.text in names for each in inner):
        return block
    left = Mapping(tuple(each for each in inner if each.key.text not in names), inner.span, inner.flow)
    return Mapping(tuple(replace(each, value=left) if each.value is inner else each for each in block), block.span, block.flow)


def judged_plan(block: Value, components: Iterable[Component], findings: list[Finding]) -> Value | None:
    """The block without its `plan`, None if nothing else is in it; `plan` is judged here as if all components had times: their ranks are looked at as they are written."""
    plan = block.get("plan") if isinstance(block, Mapping) else None
    if plan is None or not isinstance(block, Mapping):
        return block
    from ....hints.plan import read_plan
    from ....hints.usual_phases import stages_of

    some = Timed((Measured(1, 1, next(iter(stages_of(plan)), "")),))  # their phases are looked at as they are planned
    known = {each.name: each for each in components}
    known |= {name: Component(name) for name in ("inference",) if name not in known}
    read_plan(plan, [replace(each, timed=each.timed or some) for each in known.values()], findings, "placewright.plan")
    others = tuple(entry for entry in block if entry.key.text != "plan")
    return Mapping(others, block.span, block.flow) if others else None
