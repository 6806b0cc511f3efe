"""The mode of the embodied tasks and of fine-tuning: anything anywhere, as long as what their programs start is placed.

Source: RLinf, rlinf/config.py (validate_embodied_cfg, validate_offline_cfg, validate_cfg); the programs in
examples/embodiment, examples/sft, examples/reward, examples/offline_rl and evaluations.
"""

from __future__ import annotations

from dataclasses import replace

from ....component import Component, Parallel
from ....configuration.settings import Settings
from ....findings.finding import Severity
from ....said import Said
from .degrees import own_of
from .parts import Parts
from .presence import CODE
from .task import Placer, placer_of
from .undivided import unread

STARTED = {"embodied": ("env",), "embodied_eval": ("env", "rollout"), "sft": ("actor",), "offline": ("actor",)}
"""The components that every program of a task asks the placement for."""

TRAINED = ("actor", "rollout")
"""Those that the embodied programs ask for besides, but for the ones that collect data or evaluate."""


def with_own_degrees(settings: Settings, said: Said, planned: bool) -> Said:
    """Where hints leave degrees open a component has those that the file itself says, whether or not the hints offer them.

    RLinf starts its ranks with these, not with what is preferred; of those that are open they are the first. Where ranks are `planned`
    and hints say no degrees, a component all of whose times are of those of the file has these too. The other modes read the degrees
    themselves, and make them those of the components.
    """
    if placer_of(settings, settings.word("runner.task_type", CODE) or "") is not Placer.HYBRID:
        return said
    own = {name: own_of(settings, name, its) or its[0] for name, its in said.choices.items()}
    own |= {each.name: its for each in said.components if planned and (its := _measured(settings, each)) is not None}
    choices = {name: tuple(sorted(its, key=lambda each: each != own[name])) for name, its in said.choices.items()}
    components = tuple(replace(each, parallel=own.get(each.name, each.parallel)) for each in said.components)
    return replace(said, components=components, choices=choices)


def _measured(settings: Settings, component: Component) -> Parallel | None:
    """The degrees of the file, of a component that has times with these, and none with those that the hints say of it, which are none."""
    its = own_of(settings, component.name, (component.parallel,))
    if its is None or component.timed is None or "parallel" in component.spans:
        return None
    said, own = (any(each.holds_with(degrees) for each in component.timed.measured) for degrees in (component.parallel, its))
    return its if own and not said else None


def apply(parts: Parts) -> None:
    """An error for each component that every program starts and that is not placed, a warning for those that training starts."""
    notes, task = parts.notes, parts.task
    unread(parts)
    if notes.partial or (not parts.written and any(finding.severity is Severity.ERROR for finding in notes.findings)):
        return  # more may be placed than could be read
    names = STARTED.get(task, ())
    if task == "offline" and _evaluates(parts):
        names += ("env", "rollout")
    for name in names:
        if not parts.has(name):
            message = f"`{name}` is not placed, but every program of task `{task}` asks for its place"
            notes.error(CODE, name, message, parts.owner, f"no `{name}`", f"add a line for `{name}`, such as `{name}: all`")
    trains = task == "embodied" and parts.settings.has("actor.training_backend") and not parts.settings.flag("runner.only_eval", CODE)
    for name in TRAINED if trains else ():
        if not parts.has(name):
            message = f"`{name}` is not placed, but the programs that train ask for its place"
            notes.warn(CODE, name, message, parts.owner, f"no `{name}`", f"add a line for `{name}`, such as `{name}: all`")


def _evaluates(parts: Parts) -> bool:
    interval = parts.settings.whole("runner.val_check_interval", CODE, -1, least=-(10**9))
    return bool(interval and interval.value > 0) or bool(parts.settings.flag("runner.only_eval", CODE))
