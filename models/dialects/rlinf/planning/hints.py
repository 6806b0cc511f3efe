"""Hints of a file with times: components that RLinf starts, and accelerators behind costs.

RLinf's tool takes the ranks of the file for those of the measured run
(toolkits/auto_placement/util.py); writing a plan into the file changes them.
"""

from __future__ import annotations

from dataclasses import field, replace
from typing import Collection, Iterator, Mapping, Sequence

from ....component import Component, Relation
from ....configuration.notes import Notes
from ....configuration.settings import Settings
from ....findings.finding import Finding, UnusableInput
from ....hints.block import timed_names, without
from ....machines.cluster import Cluster
from ....placements.run import Run
from ....planning.workload import Measured, TimedComponent
from ....record import dataclass
from ....text.tree import Entry, MapNode, Value
from ..known import COST, INFERENCE, KEY, placed_in
from ..modes.parts import masks


@dataclass(frozen=True)
class PlannedPart:
    """Planned part of a file.

    Attributes
    ----------
    components : all of the file; planned ones without ranks and with times, and `inference` if it
        is a component.
    own : ranks in the file of the planned components.
    relations : colocations of followers with their leaders.
    """

    components: tuple[Component, ...]
    own: Mapping[str, Sequence[Run]] = field(default_factory=dict)
    relations: tuple[Relation, ...] = ()

    @property
    def names(self) -> frozenset[str]:
        """Planned components and their followers."""
        return frozenset(self.own)


MEASURED_ON = "measured_on"


def measured_on_of(notes: Notes, root: MapNode, block: Value | None) -> tuple[Value | None, Mapping[str, int]]:
    """Return the block without `measured_on`, and component -> that count.

    The block is None if nothing else is in it. A value that is no count, or without a cost in the
    file, is an error.
    """
    measured_entries = [entry for entry in _hints(block) if isinstance(entry.value, MapNode) and entry.value.get(MEASURED_ON) is not None]
    if not isinstance(block, MapNode) or not measured_entries:
        return block, {}
    from ....text.form import fill
    from .form import MeasuredOnForm

    costs, counts, kept_entries = root.get(KEY), dict[str, int](), list[Entry]()
    for component_entry in measured_entries:
        name, hints = component_entry.key.text, component_entry.value
        own_entries = [entry for entry in hints if entry.key.text == MEASURED_ON] if isinstance(hints, MapNode) else []
        remaining = [entry for entry in hints if entry not in own_entries] if isinstance(hints, MapNode) else []
        kept_entries += [replace(component_entry, value=MapNode(tuple(remaining), hints.span))] if remaining else []
        try:
            count = fill(MeasuredOnForm, MapNode(tuple(own_entries), hints.span), name, f"the hints of `{name}`").measured_on
        except UnusableInput as problem:
            notes.findings += problem.findings
            continue
        if isinstance(costs, MapNode) and costs.get(f"{name}{COST}") is not None:
            counts |= {name: count} if count is not None else {}
        else:
            message = f"`{MEASURED_ON}` of `{name}` is about a cost of it in RLinf's `{KEY}`, and this file has none"
            notes.error("PW121", name, message, own_entries[0].value.span, "of what?", "write `seconds` by count, such as `{8: 120}`")
    entry_by_name, inner = {entry.key.text: entry for entry in kept_entries}, block.get("components")
    changed = tuple(entry_by_name.get(entry.key.text, entry) for entry in _hints(block))
    whole = tuple(replace(entry, value=MapNode(changed, inner.span)) if inner and entry.value is inner else entry for entry in block)
    return without(replace(block, entries=whole), [entry for entry in measured_entries if entry.key.text not in entry_by_name]), counts


def _hints(block: Value | None) -> Sequence[Entry]:
    """Return the entries of the components of a block."""
    inner = block.get("components") if isinstance(block, MapNode) else None
    return inner.entries if isinstance(inner, MapNode) else ()


def _without(block: Value | None, names: Collection[str]) -> Value | None:
    """Return the block without the hints of these components; None if nothing remains."""
    entries = [entry for entry in _hints(block) if entry.key.text in names]
    return without(block, entries) if entries else block


def hints_of_started(
    notes: Notes, settings: Settings, root: MapNode, block: Value, components: tuple[Component, ...], planned: PlannedPart
) -> Value | None:
    """Return the hints of a file with times, without components that RLinf does not start.

    None if nothing remains. Where actor and rollout share accelerators, inference without ranks is
    not started; elsewhere it is left to solve.
    """
    known = planned.names | placed_in(root)
    idle = [name for name in INFERENCE if name not in known]
    if planned.own:
        return _without(block, idle)
    from .times import unstarted_inference

    masks_by_name = {component.name: masks(component) for component in components}
    shares = masks_by_name.get("actor") and masks_by_name.get("actor") == masks_by_name.get("rollout")
    started_block = _without(block, idle if shares else unstarted_inference(settings, known, timed_names(block)))
    return _judged_plan(started_block, components, notes.findings)


def with_phases_of_idle(
    settings: Settings, cluster: Cluster, whole: Value | None, left: Value | None, names: Collection[str], judged: tuple[Component, ...]
) -> tuple[Component, ...]:
    """Return components with the phases of idle components added to their stand-ins.

    An idle component has hints in `whole`, not in `left`; its stand-in does its work. The planner
    counts phases in the same way (see Question.turns_beside). `names` are the components of the
    file, `judged` the same with their hints.
    """
    stated = dict(hinted_entries(left))
    idle = [entry for name, entry in hinted_entries(whole) if name in INFERENCE and name not in stated]
    if not idle:
        return judged
    from ....hints.add import add_hints
    from .times import is_separate

    components, started = {component.name: component for component in judged}, set(names)
    for hinted in add_hints(MapNode(tuple(idle), idle[0].key.span), cluster, judged, []).components:
        worker = components.get(INFERENCE.get(hinted.name, "")) if hinted.name not in components else None
        # Without phases the trained component has its memory all the time.
        if worker and worker.phases and hinted.phases and is_separate(settings, hinted.name, started, ()):
            started.add(hinted.name)
            components[worker.name] = replace(worker, phases=tuple(dict.fromkeys((*worker.phases, *hinted.phases))))
    return tuple(components.values())


def _judged_plan(block: Value | None, components: Sequence[Component], findings: list[Finding]) -> Value | None:
    """Return the block without `plan`; check the plan as if all components had times.

    None if nothing remains.
    """
    plan = block.get("plan") if isinstance(block, MapNode) else None
    if plan is None or not isinstance(block, MapNode):
        return block
    from ....hints.plan import read_plan
    from ....hints.times import stages_of

    placeholder = TimedComponent((Measured(1, 1, next(iter(stages_of(plan)), "")),))
    known = {"inference": Component("inference"), **{component.name: component for component in components}}
    read_plan(
        plan, [replace(component, timed=component.timed or placeholder) for component in known.values()], findings, "placewright.plan"
    )
    remaining = tuple(entry for entry in block if entry.key.text != "plan")
    return MapNode(remaining, block.span, block.flow) if remaining else None


def hinted_entries(block: Value | None) -> Iterator[tuple[str, Entry]]:
    """Yield (component, entry) of the hints in a block."""
    yield from ((entry.key.text, entry) for entry in _hints(block))
