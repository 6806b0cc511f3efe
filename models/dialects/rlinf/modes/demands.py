"""Components and sections that a task needs, forbids, or never starts.

Source: RLinf, rlinf/utils/placement.py and rlinf/config.py; get_strategy, get_hardware_ranks and
get_world_size in examples/, evaluations/ and rlinf/.
"""

from __future__ import annotations

from dataclasses import replace

from ....component import Component
from ....configuration.notes import Notes, is_unknown
from ....configuration.settings import Settings
from ....findings.finding import Severity
from ....findings.span import Edit, Span
from ....problem import AMOUNT
from ....releases.release import Range
from ....text.nearest import nearest
from ....text.tree import MapNode
from ..known import CRITICS, FOLDER, IDLE, SETTING
from .parts import CRITICS_INFERENCE, INFERRING, ModeState, Placer, listed

STARTED_BY_TASK = {
    "embodied": ("actor", "rollout", "env", "reward", "reward_server"),
    "embodied_eval": ("rollout", "env", "reward"),
    "reasoning": ("actor", "rollout", "reward", "inference", "actor_inference", "critic", "critic_inference", "rollout_judge"),
    "reasoning_eval": ("rollout", "reward", "rollout_judge"),
    "coding_online_rl": ("actor", "rollout", "reward", "inference"),
    "sft": ("actor",),
    "offline": ("actor", "env", "rollout"),
}
"""Components that the main programs of a task look up in the placement."""
KNOWN = frozenset(name for names in STARTED_BY_TASK.values() for name in names)

STARTED = {"embodied": ("env",), "embodied_eval": ("env", "rollout"), "sft": ("actor",), "offline": ("actor",)}
"""Components that every program of a task looks up in the placement."""
TRAINED = ("actor", "rollout")
"""Further components that embodied programs look up for training."""
NEEDED = {
    Placer.MODEL_PARALLEL: ("actor", "rollout", "reward"),
    Placer.MODEL_PARALLEL_EVAL: ("rollout", "reward"),
    Placer.MULTI_AGENT: ("actor", "rollout", "reward"),
    Placer.MULTI_AGENT_EVAL: ("rollout", "reward"),
}
"""Components that a placement class requires."""


def need_components(parts: ModeState, *names: str) -> None:
    """Note an error per required component without a placement."""
    for name in names:
        if parts.has(name):
            continue
        strange = nearest(name, [candidate for candidate in parts.components if candidate not in parts.written])
        if parts.notes.partial:
            parts.notes.unsure(SETTING, name, f"`{name}` is not placed in this file; it may come from `defaults`", True, FOLDER)
        elif strange is not None:
            message = f"the hints name `{strange}`, which {parts.reason} does not know, and not `{name}`, which it needs"
            span = parts.components[strange].span(AMOUNT) or parts.owner
            parts.error(SETTING, strange, message, f"write `{name}` instead of `{strange}`", f"of `{strange}`", span)
        else:
            message = f"`{name}` is not placed, but {parts.reason} needs {listed(names)}"
            parts.error(SETTING, name, message, _line_for(parts, name), f"no `{name}`", parts.owner)


def _line_for(parts: ModeState, name: str) -> str:
    """Return help for a missing component: ranks of a component to share with."""
    if name == "rollout" and parts.first_of(*INFERRING, CRITICS_INFERENCE):
        return "add a line for `rollout`, with ranks of its own"
    shared = next((parts.components[candidate] for candidate in TRAINED if candidate != name and parts.placed(candidate)), None)
    span = shared.span("placement") if shared and not shared.spans.get("node_group") else None
    return f"add a line for `{name}`, such as `{name}: {parts.notes.document.excerpt(span) if span else 'all'}`"


def need_sections(parts: ModeState, *paths: str) -> None:
    """Note errors for missing sections, and for sections that are no maps."""
    sections = {path: parts.settings.at(path) for path in paths}
    missing = [] if parts.notes.partial else [path for path, value in sections.items() if value is None]
    if missing:
        listed = " and ".join(f"`{path}`" for path in missing)
        message = f"the file has no {listed}, from which {parts.reason} reads degrees of parallelism"
        parts.error("PW101", "cluster", message, f"add {listed} with the settings of the job", at=parts.owner)
    for path, value in sections.items():
        if value is not None and not isinstance(value, MapNode) and not is_unknown(value):
            parts.notes.wrong_type(path, path, value, "a map", f"write the settings of `{path}` below it")


def need_programs(parts: ModeState) -> None:
    """Note components that programs start but the file does not place.

    An error for components that every program starts, a warning for those that only training
    starts.
    """
    settings, task = parts.settings, parts.task
    names = STARTED.get(task, ())
    if task == "offline" and _evaluates(parts):
        names += ("env", "rollout")
    trains = task == "embodied" and settings.has("actor.training_backend") and not parts.flag("runner.only_eval")
    for report, needed in ((parts.error, names), (parts.warn, TRAINED if trains else ())):
        for name in needed:
            if not parts.has(name):
                message = f"`{name}` is not placed, but the programs of task `{task}` ask for its place"
                report(SETTING, name, message, f"add a line for `{name}`, such as `{name}: all`", f"no `{name}`", parts.owner)


def _evaluates(parts: ModeState) -> bool:
    interval = parts.settings.whole("runner.val_check_interval", SETTING, -1, least=-(10**9))
    return bool(interval and interval.value > 0) or bool(parts.flag("runner.only_eval"))


def check_unused(parts: ModeState) -> None:
    """Note placed components without a starting task (warning) or of other tasks only (info)."""
    if not parts.task or parts.notes.partial:
        return
    started = STARTED_BY_TASK[parts.task]
    idle = [name for name in parts.written if name not in started and parts.settings.at(name) is None]
    for name in idle:
        if name not in KNOWN:
            span, close = parts.written[name], nearest(name, [candidate for candidate in started if not parts.has(candidate)])
            help = f"write `{close}`" if close else f"drop it; components of this task are {listed(started)}"
            message = f"no program of task `{parts.task}` starts a component `{name}`"
            edit = Edit(span, close) if close and span.length == len(name) else None
            parts.notes.warn(IDLE, name, message, span, "not used", help, edit)
    if elsewhere := [name for name in idle if name in KNOWN]:
        message = f"programs of task `{parts.task}` do not start {listed(elsewhere)}: their ranks count for nothing"
        parts.notes.info(IDLE, elsewhere[0], message, parts.written[elsewhere[0]], "not used")


def faulty_hints(parts: ModeState) -> frozenset[str]:
    """Return the components that only hints name, with unreadable hints."""
    hints = parts.settings.at("placewright.components")
    named = {entry.key.text for entry in hints} if isinstance(hints, MapNode) else set()
    wrong = {finding.subject for finding in parts.notes.findings if finding.severity is Severity.ERROR}
    return frozenset((named & wrong) - parts.components.keys())


def correct_component_names(parts: ModeState) -> None:
    """Replace a misspelt component name by the missing name, with one error.

    All later checks see the corrected name.
    """
    for name in NEEDED.get(parts.placer, STARTED.get(parts.task, ())):
        strange = [candidate for candidate in parts.written if candidate not in KNOWN and parts.settings.at(candidate) is None]
        close = None if parts.has(name) else nearest(name, strange)
        if close is None:
            continue
        span = parts.written[name] = parts.written.pop(close)
        edit = Edit(span, name) if span.length == len(close) else None
        message = f"`{close}` is no component of task `{parts.task}`, and RLinf misses `{name}`"
        parts.error(SETTING, close, message, f"write `{name}`", "not a component", span, edit)
        if close in parts.components:
            parts.components[name] = replace(parts.components.pop(close), name=name)


def drop_critics(notes: Notes, settings: Settings, known: dict[str, Component], written: dict[str, Span]) -> None:
    """Note and remove critics and role inference that the release at hand never starts."""
    older = Range(until=CRITICS.since)
    for name in [critic for critic in ("critic", CRITICS_INFERENCE, "actor_inference") if critic in written]:
        message = f"RLinf before {older.until} starts no `{name}`: its ranks count for nothing"
        notes.judge(older, Severity.WARNING, IDLE, name, message, written[name], "not used", f"drop `{name}`, or run RLinf {older.until}")
        if settings.choice is not None and settings.choice.has(older):
            known.pop(name, None)
            del written[name]
