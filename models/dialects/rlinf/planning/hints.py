"""Hints of a file with times: components that RLinf starts, and accelerators behind costs.

RLinf's tool takes the ranks of the file for those of the measured run
(toolkits/auto_placement/util.py); writing a plan into the file changes them.
"""

from __future__ import annotations

from dataclasses import field, replace
from typing import Collection, Mapping, Sequence

from ....component import Component, Relation
from ....configuration.notes import Notes
from ....configuration.settings import Settings
from ....findings.finding import UnusableInput
from ....hints.block import BlockForm, FileForm, hinted_entries, timed_names, without
from ....hints.forms import HintForm
from ....machines.cluster import Cluster
from ....placements.run import Run
from ....record import dataclass
from ....text.form import Form, fill, form_of, key, map_of
from ....text.tree import MapNode, Value, with_value
from ....text.values import count_key
from ..known import COST, CRITICS_INFERENCE, INFERENCE, INFERRING, KEY, PLANS, find_placed, report
from ..modes.state import masks

MEASURED_ON = "measured_on"


class MeasuredOnForm(Form):
    """The key about a cost of a component."""

    measured_on = count_key(16, "on how many accelerators its cost in `profile_data` was measured, if not on those of its ranks")


class RLinfHintForm(HintForm, MeasuredOnForm):
    """Hints about one component of an RLinf job."""


class RLinfBlockForm(BlockForm):
    """Hints about the components of the file, which RLinf ignores."""

    components = key(map_of(form_of(RLinfHintForm)), default={}, description=BlockForm.keys["components"].description)


class RLinfFileForm(FileForm):
    """A file of RLinf; all of its keys but one are RLinf's own."""

    placewright = key(form_of(RLinfBlockForm), default=RLinfBlockForm(), description=FileForm.keys["placewright"].description)


def file_form() -> type[Form]:
    """See `Dialect.file_form`."""
    return RLinfFileForm


@dataclass(frozen=True)
class PlannedPart:
    """Planned part of a file.

    Attributes
    ----------
    components : all of the file; planned ones without ranks and with times, and `inference` if it
        is a component.
    own : ranks in the file of the planned components and their followers.
    relations : colocations of followers with their leaders.
    """

    components: tuple[Component, ...]
    own: Mapping[str, Sequence[Run]] = field(default_factory=dict)
    relations: tuple[Relation, ...] = ()


def split_measured_on(notes: Notes, root: MapNode, block: Value | None) -> tuple[Value | None, Mapping[str, int]]:
    """Return the block without `measured_on`, and component -> that count.

    The block is None if nothing else is in it. A value that is not a count, or without a cost in the
    file, is an error.
    """
    counts, costs = dict[str, int](), root.get(KEY)
    for name, entry in hinted_entries(block).items():
        if not isinstance(block, MapNode) or not isinstance(entry.value, MapNode) or not (count_entry := entry.value.entry(MEASURED_ON)):
            continue
        try:
            count = fill(MeasuredOnForm, MapNode((count_entry,), entry.value.span), name, f"the hints of `{name}`").measured_on
            if not isinstance(costs, MapNode) or costs.get(f"{name}{COST}") is None:
                report(notes, "measured_on without cost", name, count_entry.value.span)
            elif count is not None:
                counts[name] = count
        except UnusableInput as problem:
            notes.findings += problem.findings
        block = without(block, [name]) if len(entry.value.entries) == 1 else with_value(block, f"components.{name}.{MEASURED_ON}", None)
    return block, counts


def hints_of_started(
    settings: Settings, root: MapNode, block: Value, components: tuple[Component, ...], planned_part: PlannedPart
) -> Value | None:
    """Return the hints of a file with times, without components that RLinf does not start.

    None if nothing remains. Where actor and rollout share accelerators, inference without ranks is
    not started; elsewhere it is left to solve. Explicit ranks use no `plan`.
    """
    names = planned_part.own.keys() | find_placed(root)
    idle = [name for name in INFERENCE if name not in names]
    if planned_part.own:
        return without(block, idle)
    actor, rollout = (next((masks(component) for component in components if component.name == name), {}) for name in ("actor", "rollout"))
    shares = actor and actor == rollout
    hints = without(block, idle if shares else unstarted_inference(settings, names, timed_names(block)))
    result = with_value(hints, "plan", None) if isinstance(hints, MapNode) else None
    return result if result and result.entries else None


def with_phases_of_idle(
    settings: Settings, cluster: Cluster, whole: Value | None, rest: Value | None, names: Collection[str], members: tuple[Component, ...]
) -> tuple[Component, ...]:
    """Return components with the phases of idle components added to their stand-ins.

    An idle component has hints in `whole`, not in `rest`; its stand-in does its work. `names` are
    the components of the file, `members` the same with their hints.
    """
    idle = [entry for name, entry in hinted_entries(whole).items() if name in INFERENCE and name not in hinted_entries(rest)]
    if not idle:
        return members
    from ....hints.add import add_hints

    components, started_names = {component.name: component for component in members}, set(names)
    for idle_component in add_hints(MapNode(tuple(idle), idle[0].key.span), cluster, members, []).components:
        worker = components.get(INFERENCE.get(idle_component.name, "")) if idle_component.name not in components else None
        # Without phases the trained component has its memory all the time.
        if worker and worker.phases and idle_component.phases and is_separate(settings, idle_component.name, started_names, ()):
            started_names.add(idle_component.name)
            components[worker.name] = replace(worker, phases=tuple(dict.fromkeys((*worker.phases, *idle_component.phases))))
    return tuple(components.values())


def is_started(settings: Settings, name: str, names: Collection[str]) -> bool:
    """Return True if programs start an inference component with actor and rollout apart."""
    if name == CRITICS_INFERENCE:
        return "critic" in names and bool(settings.flag("critic.use_critic_model", PLANS))
    return name in INFERRING and infers(settings)


def is_separate(settings: Settings, name: str, names: Collection[str], with_times: Collection[str]) -> bool:
    """Return True if inference is a component although unplaced: actor and rollout are apart."""
    return is_started(settings, name, names) and (name == CRITICS_INFERENCE or not set(INFERRING) & {*names, *with_times})


def unstarted_inference(settings: Settings, names: Collection[str], candidates: Collection[str]) -> list[str]:
    """Return inference components with hinted seconds that no program starts."""
    return [name for name in INFERENCE if name in candidates and name not in names and not is_started(settings, name, names)]


def infers(settings: Settings) -> bool:
    """Return True if probabilities are recomputed, by a separate component if apart."""
    return bool(settings.flag("algorithm.recompute_logprobs", PLANS) or settings.flag("algorithm.importance_sampling_fix", PLANS))
