"""Components and sections that a task needs, forbids, or never starts.

Source: RLinf, rlinf/utils/placement.py and rlinf/config.py; get_strategy, get_hardware_ranks and
get_world_size in examples/, evaluations/ and rlinf/.
"""

from __future__ import annotations

from dataclasses import replace

from ....configuration.notes import is_unknown
from ....findings.finding import Severity
from ....findings.span import Edit
from ....problem import AMOUNT
from ....releases.release import Range
from ....text.nearest import nearest
from ....text.tree import MapNode
from ..known import CRITICS, CRITICS_INFERENCE, FOLDER, IDLE, INFERRING, SETTING, all_tasks, listed
from .state import Mode

TRAINED = ("actor", "rollout")
"""Further components that embodied programs look up for training."""


def _known_components() -> frozenset[str]:
    return frozenset(name for facts in all_tasks().values() for name in facts.starts)


def need_components(mode: Mode, *names: str) -> None:
    """Note an error per required component without a placement."""
    for name in names:
        if mode.has(name):
            continue
        strange = nearest(name, [candidate for candidate in mode.components if candidate not in mode.written])
        if mode.notes.partial:
            mode.notes.unsure(SETTING, name, f"`{name}` is not placed in this file; it may come from `defaults`", True, FOLDER)
        elif strange is not None:
            message = f"the hints name `{strange}`, which RLinf does not know, and not `{name}`, which it needs"
            span = mode.components[strange].span(AMOUNT) or mode.owner
            help = f"write `{name}` instead of `{strange}`"
            mode.error(SETTING, strange, message, help, f"of `{strange}`", span, notes=mode.placed_by)
        else:
            message = f"`{name}` is not placed, but RLinf needs {listed(names)}"
            mode.error(SETTING, name, message, _line_for(mode, name), f"no `{name}`", mode.owner, notes=mode.placed_by)


def _line_for(mode: Mode, name: str) -> str:
    """Return help for a missing component: ranks of a component to share with."""
    if name == "rollout" and mode.first_of(*INFERRING, CRITICS_INFERENCE):
        return "add a line for `rollout`, with ranks of its own"
    shared = next((mode.components[candidate] for candidate in TRAINED if candidate != name and mode.placed(candidate)), None)
    span = shared.span("placement") if shared and not shared.spans.get("node_group") else None
    return f"add a line for `{name}`, such as `{name}: {mode.notes.document.excerpt(span) if span else 'all'}`"


def need_sections(mode: Mode, *paths: str) -> None:
    """Note errors for missing sections, and for sections that are no maps."""
    sections = {path: mode.settings.at(path) for path in paths}
    missing = [] if mode.notes.partial else [path for path, value in sections.items() if value is None]
    if missing:
        names = " and ".join(f"`{path}`" for path in missing)
        message = f"the file has no {names}, from which RLinf reads degrees of parallelism"
        mode.error("PW101", "cluster", message, f"add {names} with the settings of the job", at=mode.owner, notes=mode.placed_by)
    for path, value in sections.items():
        if value is not None and not isinstance(value, MapNode) and not is_unknown(value):
            mode.notes.wrong_type(path, path, value, "a map", f"write the settings of `{path}` below it")


def need_programs(mode: Mode) -> None:
    """Note unplaced components that every program (error) or only training (warning) starts."""
    settings, task, names = mode.settings, mode.task, mode.facts.needs
    if task == "offline":
        interval = settings.whole("runner.val_check_interval", SETTING, -1, least=-(10**9))
        if (interval and interval.value > 0) or mode.flag("runner.only_eval"):
            names += ("env", "rollout")
    trains = task == "embodied" and settings.has("actor.training_backend") and not mode.flag("runner.only_eval")
    for report, needed in ((mode.error, names), (mode.warn, TRAINED if trains else ())):
        for name in needed:
            if not mode.has(name):
                message = f"`{name}` is not placed, but the programs of task `{task}` ask for its place"
                report(SETTING, name, message, f"add a line for `{name}`, such as `{name}: all`", f"no `{name}`", mode.owner)


def check_unused(mode: Mode) -> None:
    """Note placed components without a starting task (warning) or of other tasks only (info)."""
    if not mode.task or mode.notes.partial:
        return
    started, known = mode.facts.starts, _known_components()
    idle = [name for name in mode.written if name not in started and mode.settings.at(name) is None]
    for name in idle:
        if name not in known:
            span, close = mode.written[name], nearest(name, [candidate for candidate in started if not mode.has(candidate)])
            help = f"write `{close}`" if close else f"drop it; components of this task are {listed(started)}"
            message = f"no program of task `{mode.task}` starts a component `{name}`"
            edit = Edit(span, close) if close and span.length == len(name) else None
            mode.notes.warn(IDLE, name, message, span, "not used", help, edit)
    if elsewhere := [name for name in idle if name in known]:
        message = f"programs of task `{mode.task}` do not start {listed(elsewhere)}: their ranks count for nothing"
        mode.notes.info(IDLE, elsewhere[0], message, mode.written[elsewhere[0]], "not used")


def faulty_hints(mode: Mode) -> frozenset[str]:
    """Return the components that only hints name, with unreadable hints."""
    hints = mode.settings.at("placewright.components")
    named = {entry.key.text for entry in hints} if isinstance(hints, MapNode) else set()
    wrong = {finding.subject for finding in mode.notes.findings if finding.severity is Severity.ERROR}
    return frozenset((named & wrong) - mode.components.keys())


def correct_component_names(mode: Mode) -> None:
    """Replace a misspelt component name by the missing name, with one error."""
    for name in mode.facts.needs:
        strange = [candidate for candidate in mode.written if candidate not in _known_components() and mode.settings.at(candidate) is None]
        close = None if mode.has(name) else nearest(name, strange)
        if close is None:
            continue
        span = mode.written[name] = mode.written.pop(close)
        edit = Edit(span, name) if span.length == len(close) else None
        message = f"`{close}` is no component of task `{mode.task}`, and RLinf misses `{name}`"
        mode.error(SETTING, close, message, f"write `{name}`", "not a component", span, edit)
        if close in mode.components:
            mode.components[name] = replace(mode.components.pop(close), name=name)


def drop_critics(mode: Mode) -> None:
    """Note and remove critics and role inference that the release at hand never starts."""
    older, choice = Range(until=CRITICS.since), mode.settings.choice
    for name in [critic for critic in ("critic", CRITICS_INFERENCE, "actor_inference") if critic in mode.written]:
        message = f"RLinf before {older.until} starts no `{name}`: its ranks count for nothing"
        help = f"drop `{name}`, or run RLinf {older.until}"
        mode.notes.judge(older, Severity.WARNING, IDLE, name, message, mode.written[name], "not used", help)
        if choice is not None and choice.has(older):
            mode.components.pop(name, None)
            del mode.written[name]
