"""Does a file say how long its components take?"""

from __future__ import annotations

from dataclasses import replace
from typing import Iterable

from ....component import Component
from ....findings.finding import Finding
from ....planning.measured import Measured
from ....planning.workload import Timed
from ....text.tree import Mapping, Value

KEY = "profile_data"


def is_profiled(root: Mapping, hints: Value | None) -> bool:
    """Does it, so that other ranks may be chosen by that? Components without ranks are searched, whether or not they have times."""
    hinted = hinted_seconds(hints)
    if not hinted <= placed_in(root):
        return False
    return isinstance(root.get(KEY), Mapping) or bool(hinted)


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


def judged_plan(block: Value, components: Iterable[Component], findings: list[Finding]) -> Value | None:
    """The block without its `plan`, None if nothing else is in it; `plan` is judged here as if all components had times: their ranks are looked at as they are written."""
    plan = block.get("plan") if isinstance(block, Mapping) else None
    if plan is None or not isinstance(block, Mapping):
        return block
    from ....hints.plan import read_plan

    some = Timed((Measured(1, 1),))
    known = {each.name: each for each in components}
    known |= {name: Component(name) for name in ("inference",) if name not in known}
    read_plan(plan, [replace(each, timed=each.timed or some) for each in known.values()], findings, "placewright.plan")
    others = tuple(entry for entry in block if entry.key.text != "plan")
    return Mapping(others, block.span, block.flow) if others else None
