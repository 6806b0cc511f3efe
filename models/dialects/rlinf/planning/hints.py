"""Hints of a file with times: what RLinf starts of them, and what their costs were measured on.

RLinf's tool takes the ranks of the file for those of the run that was measured (toolkits/auto_placement/util.py); a plan that is written
into the file changes them.
"""

from __future__ import annotations

from dataclasses import field, replace
from typing import Container, Iterable, Sequence
from typing import Mapping as MappingType

from ....component import Component, Relation
from ....configuration.notes import Notes, is_unknown
from ....configuration.settings import Settings
from ....findings.finding import Finding, UnusableInput
from ....hints.said import timed_names
from ....hints.without import without
from ....machines.cluster import Cluster
from ....placements.assignment import Assignment, Run
from ....planning.measured import Measured
from ....planning.workload import Timed
from ....record import dataclass
from ....text.tree import Entry, Mapping, Scalar, Value, find
from ..known import COST, INFERENCE, KEY, placed_in


@dataclass(frozen=True)
class Opened:
    """What of a file is planned.

    Attributes
    ----------
    components : all of the file, those that are planned without ranks and with times, and `inference` where it is a part of its own.
    own : the ranks that the file itself gives to those without.
    relations : who goes along with whom.
    """

    components: tuple[Component, ...]
    own: MappingType[str, Sequence[Run]] = field(default_factory=dict)
    relations: tuple[Relation, ...] = ()

    @property
    def names(self) -> frozenset[str]:
        """The components that are planned, and those that go along."""
        return frozenset(self.own)


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


def of_what_runs(
    notes: Notes, settings: Settings, root: Mapping, block: Value, components: tuple[Component, ...], planned: Opened
) -> Value | None:  # fmt: skip
    """The hints of a file with times without those of what RLinf does not start; None where nothing else is in them."""
    known = planned.names | placed_in(root)
    if planned.own:
        return _without(block, [name for name in INFERENCE if name not in known])
    from .times import unstarted

    left = _started(_without(block, unstarted(settings, known, timed_names(block))), known, components)
    return _judged_plan(left, components, notes.findings)


def with_phases_of_idle(
    settings: Settings, cluster: Cluster, block: Value | None, left: Value | None, components: tuple[Component, ...], judged: tuple[Component, ...]
) -> tuple[Component, ...]:  # fmt: skip
    """What trains also has its memory in the phases of what it does the work of, whose hints are in the `block` and not in what is `left`.

    The planner counts it so too (see Question.turns_beside). `components` are those of the file, `judged` the same with their hints.
    """
    inner = block.get("components") if isinstance(block, Mapping) else None
    hints = [each for each in inner if each.key.text in INFERENCE] if isinstance(inner, Mapping) else []
    hints = [each for each in hints if find(left, f"components.{each.key.text}") is None]
    if inner is None or not hints:
        return judged
    from ....hints.add import add_hints
    from .times import besides

    names, found = {each.name for each in components}, {each.name: each for each in judged}
    for its in add_hints(Mapping(tuple(hints), inner.span), cluster, judged, []).components:
        worker = found.get(INFERENCE.get(its.name, "")) if its.name not in found else None
        # Without phases what trains has its memory all the time.
        if worker and worker.phases and its.phases and besides(settings, its.name, names, ()):
            names.add(its.name)
            found[worker.name] = replace(worker, phases=tuple(dict.fromkeys((*worker.phases, *its.phases))))
    return tuple(found.values())


def _started(block: Value | None, names: Container[str], components: Iterable[Component]) -> Value | None:
    """The block without the hints of components that infer and are none of `names`, which start with their ranks as they are written.

    So it is where actor and rollout share their accelerators. Elsewhere those without ranks are left to solve.
    """
    held = Assignment({each.name: each.runs or () for each in components})
    if not held.masks("actor") or held.masks("actor") != held.masks("rollout"):
        return block
    return _without(block, [name for name in INFERENCE if name not in names])


def _without(block: Value | None, names: Container[str]) -> Value | None:
    """The block without the hints of these components; None where nothing else is in it."""
    inner = block.get("components") if isinstance(block, Mapping) else None
    left_out = [each for each in inner if each.key.text in names] if isinstance(inner, Mapping) else []
    return without(block, left_out) if left_out else block


def _judged_plan(block: Value | None, components: Iterable[Component], findings: list[Finding]) -> Value | None:
    """The block without its `plan`, None if nothing else is in it; `plan` is judged here as if all components had times: their ranks are looked at as they are written."""
    plan = block.get("plan") if isinstance(block, Mapping) else None
    if plan is None or not isinstance(block, Mapping):
        return block
    from ....hints.plan import read_plan
    from ....hints.times.usual_phases import stages_of

    some = Timed((Measured(1, 1, next(iter(stages_of(plan)), "")),))  # their phases are looked at as they are planned
    known = {each.name: each for each in components}
    known |= {name: Component(name) for name in ("inference",) if name not in known}
    read_plan(plan, [replace(each, timed=each.timed or some) for each in known.values()], findings, "placewright.plan")
    others = tuple(entry for entry in block if entry.key.text != "plan")
    return Mapping(others, block.span, block.flow) if others else None
