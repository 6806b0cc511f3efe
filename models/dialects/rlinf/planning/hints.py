"""Hints of a file with times: what RLinf starts of them, and what its costs were measured on.

RLinf's tool takes the ranks of the file for those of the run that was measured (toolkits/auto_placement/util.py); a plan that is written
into the file changes them.
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
from ....planning.measured import Measured
from ....planning.workload import Timed
from ....record import dataclass
from ....text.tree import Entry, MapNode, Value
from ..known import COST, INFERENCE, KEY, placed_in
from ..modes.parts import masks


@dataclass(frozen=True)
class Opened:
    """What of a file is planned.

    Attributes
    ----------
    components : all of the file, the planned ones without ranks and with times, and `inference` where it is a component of its own.
    own : ranks that the file itself gives to those without.
    relations : who goes along with whom.
    """

    components: tuple[Component, ...]
    own: Mapping[str, Sequence[Run]] = field(default_factory=dict)
    relations: tuple[Relation, ...] = ()

    @property
    def names(self) -> frozenset[str]:
        """Components that are planned, and those that go along."""
        return frozenset(self.own)


MEASURED_ON = "measured_on"


def measured_on_of(notes: Notes, root: MapNode, block: Value | None) -> tuple[Value | None, Mapping[str, int]]:
    """The block without these keys, and component -> the count; None where nothing else is in it.

    One that is no count, or that is about no cost of the file, is an error.
    """
    saying = [each for each in _hints(block) if isinstance(each.value, MapNode) and each.value.get(MEASURED_ON) is not None]
    if not isinstance(block, MapNode) or not saying:
        return block, {}
    from ....text.form import fill
    from .form import MeasuredOnForm

    costs, found, left = root.get(KEY), dict[str, int](), list[Entry]()
    for each in saying:
        name, hints = each.key.text, each.value
        own = [entry for entry in hints if entry.key.text == MEASURED_ON] if isinstance(hints, MapNode) else []
        others = [entry for entry in hints if entry not in own] if isinstance(hints, MapNode) else []
        left += [replace(each, value=MapNode(tuple(others), hints.span))] if others else []
        try:
            count = fill(MeasuredOnForm, MapNode(tuple(own), hints.span), name, f"the hints of `{name}`").measured_on
        except UnusableInput as problem:
            notes.findings += problem.findings
            continue
        if isinstance(costs, MapNode) and costs.get(f"{name}{COST}") is not None:
            found |= {name: count} if count is not None else {}
        else:
            message = f"`{MEASURED_ON}` of `{name}` is about a cost of it in RLinf's `{KEY}`, and this file has none"
            notes.error("PW121", name, message, own[0].value.span, "of what?", "write `seconds` by count, such as `{8: 120}`")
    kept, inner = {each.key.text: each for each in left}, block.get("components")
    changed = tuple(kept.get(each.key.text, each) for each in _hints(block))
    whole = tuple(replace(each, value=MapNode(changed, inner.span)) if inner and each.value is inner else each for each in block)
    return without(replace(block, entries=whole), [each for each in saying if each.key.text not in kept]), found


def _hints(block: Value | None) -> Sequence[Entry]:
    """Entries of the components of a block."""
    inner = block.get("components") if isinstance(block, MapNode) else None
    return inner.entries if isinstance(inner, MapNode) else ()


def _without(block: Value | None, names: Collection[str]) -> Value | None:
    """The block without the hints of these components; None where nothing else is in it."""
    entries = [each for each in _hints(block) if each.key.text in names]
    return without(block, entries) if entries else block


def of_what_runs(
    notes: Notes, settings: Settings, root: MapNode, block: Value, components: tuple[Component, ...], planned: Opened
) -> Value | None:
    """Hints of a file with times without those of what RLinf does not start; None where nothing else is in them.

    Where actor and rollout share their accelerators, inference without ranks is not started; elsewhere it is left to solve.
    """
    known = planned.names | placed_in(root)
    idle = [name for name in INFERENCE if name not in known]
    if planned.own:
        return _without(block, idle)
    from .times import unstarted

    held = {each.name: masks(each) for each in components}
    shares = held.get("actor") and held.get("actor") == held.get("rollout")
    left = _without(block, idle if shares else unstarted(settings, known, timed_names(block)))
    return _judged_plan(left, components, notes.findings)


def with_phases_of_idle(
    settings: Settings, cluster: Cluster, whole: Value | None, left: Value | None, names: Collection[str], judged: tuple[Component, ...]
) -> tuple[Component, ...]:
    """Adds the phases of a component to the one that does its work; its hints are in `whole`, not in `left`.

    The planner counts it so too (see Question.turns_beside). `names` are the components of the file, `judged` the same with their hints.
    """
    kept = dict(hinted_entries(left))
    idle = [entry for name, entry in hinted_entries(whole) if name in INFERENCE and name not in kept]
    if not idle:
        return judged
    from ....hints.add import add_hints
    from .times import is_besides

    found, started = {each.name: each for each in judged}, set(names)
    for hinted in add_hints(MapNode(tuple(idle), idle[0].key.span), cluster, judged, []).components:
        worker = found.get(INFERENCE.get(hinted.name, "")) if hinted.name not in found else None
        # Without phases what trains has its memory all the time.
        if worker and worker.phases and hinted.phases and is_besides(settings, hinted.name, started, ()):
            started.add(hinted.name)
            found[worker.name] = replace(worker, phases=tuple(dict.fromkeys((*worker.phases, *hinted.phases))))
    return tuple(found.values())


def _judged_plan(block: Value | None, components: Sequence[Component], findings: list[Finding]) -> Value | None:
    """The block without its `plan`, which is judged here as if all components had times; None if nothing else is in the block."""
    plan = block.get("plan") if isinstance(block, MapNode) else None
    if plan is None or not isinstance(block, MapNode):
        return block
    from ....hints.plan import read_plan
    from ....hints.times import stages_of

    some = Timed((Measured(1, 1, next(iter(stages_of(plan)), "")),))
    known = {"inference": Component("inference"), **{each.name: each for each in components}}
    read_plan(plan, [replace(each, timed=each.timed or some) for each in known.values()], findings, "placewright.plan")
    others = tuple(entry for entry in block if entry.key.text != "plan")
    return MapNode(others, block.span, block.flow) if others else None


def hinted_entries(block: Value | None) -> Iterator[tuple[str, Entry]]:
    """(component, its entry) of the hints in a block."""
    yield from ((each.key.text, each) for each in _hints(block))
