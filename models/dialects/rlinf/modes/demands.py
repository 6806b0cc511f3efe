"""Components and settings that a mode needs, forbids, or never starts.

Source: RLinf, rlinf/utils/placement.py and rlinf/config.py (validate_reasoning_cfg, validate_coding_online_rl_cfg); the main
programs under examples/reasoning and examples/agent; rlinf/workers/actor/fsdp_actor_worker.py and megatron_actor_worker.py.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Iterable

from ....component import Component
from ....configuration.notes import Notes, is_unknown
from ....configuration.settings import Amount, Settings
from ....findings.finding import Severity
from ....findings.span import Edit, Span
from ....problem import AMOUNT
from ....releases.release import Range
from ....text.nearest import nearest
from ....text.tree import Mapping
from ..known import CRITICS, IDLE, LATE, SETTING
from .arrangement import Arrangement, inference_needed, refused_apart, unset_of_inference
from .packing import fitting_tp
from .parts import Parts, Placer

FOLDER = "Pass `--config-root DIR` with the folder of its `defaults`"


def need_components(parts: Parts, *names: str) -> None:
    """An error for each component that must be placed and is not."""
    for name in names:
        if parts.has(name):
            continue
        if parts.notes.partial:
            parts.notes.unsure(SETTING, name, f"`{name}` is not placed in this file; it may come from `defaults`", True, FOLDER)
            continue
        if (meant := nearest(name, [each for each in parts.components if each not in parts.written])) is not None:
            message = f"the hints name `{meant}`, which {parts.reason} does not know, and not `{name}`, which it needs"
            span = parts.components[meant].span(AMOUNT) or parts.owner
            parts.notes.error(SETTING, meant, message, span, f"of `{meant}`", f"write `{name}` instead of `{meant}`")
            continue
        message = f"`{name}` is not placed, but {parts.reason} needs {', '.join(f'`{each}`' for each in names)}"
        parts.notes.error(SETTING, name, message, parts.owner, f"no `{name}`", _line_for(parts, name))


def _line_for(parts: Parts, name: str) -> str:
    """Help for a component that is missing: the ranks of the one whose accelerators it may share."""
    if name == "rollout" and parts.first_of("inference", "actor_inference", "critic_inference"):
        return "add a line for `rollout`, with ranks of its own"
    shared = next((each for each in ("actor", "rollout") if each != name and parts.placed(each)), None)
    span = parts.components[shared].span("placement") if shared else None
    ranks = parts.notes.document.excerpt(span) if span and not parts.components[shared or ""].spans.get("node_group") else "all"
    return f"add a line for `{name}`, such as `{name}: {ranks}`"


def need_sections(parts: Parts, *paths: str) -> None:
    """An error for the sections of settings that the class reads and that are not there, or are no maps."""
    found = {path: parts.settings.at(path) for path in paths}
    missing = [] if parts.notes.partial else [f"`{path}`" for path, value in found.items() if value is None]
    if missing:
        listed = " and ".join(missing)
        message = f"the file has no {listed}, from which {parts.reason} reads degrees of parallelism"
        parts.notes.error("PW101", "cluster", message, parts.owner, "", f"add {listed} with the settings of the job")
    for path, value in found.items():
        if value is not None and not isinstance(value, Mapping) and not is_unknown(value):
            parts.notes.wrong_type(path, path, value, "a map", f"write the settings of `{path}` below it")


def check_inference(parts: Parts, found: Arrangement) -> None:
    """Inference has components of its own exactly where rollout and actor are apart."""
    notes, settings = parts.notes, parts.settings
    its, critics = parts.first_of("inference", "actor_inference"), parts.first_of("critic_inference")
    if found is Arrangement.COLLOCATED:
        for name in filter(None, (its, critics)):
            message = f"`{name}` is placed, but `actor` and `rollout` share their accelerators, and then it must not be"
            notes.error(
                SETTING, name, message, parts.place(name), "", f"drop `{name}`, or give `actor` and `rollout` accelerators of their own"
            )
        if parts.task == "coding_online_rl":
            message = "online coding needs `actor` and `rollout` on accelerators of their own, but they share them"
            notes.error(SETTING, "rollout", message, parts.place("rollout"), "the same as `actor`", "give them different ranks")
    if found not in (Arrangement.DISAGGREGATED, Arrangement.AUTO):
        return
    again, fixed = settings.flag("algorithm.recompute_logprobs", SETTING), settings.flag("algorithm.importance_sampling_fix", SETTING)
    if again is None or fixed is None or settings.at("algorithm.recompute_logprobs") is None:
        return
    if its and not again and not fixed and found is Arrangement.DISAGGREGATED:
        message = f"`{its}` is placed, but `algorithm.recompute_logprobs` is false, which turns it off"
        notes.error(SETTING, its, message, parts.place(its), "turned off", f"drop `{its}`, or set `algorithm.recompute_logprobs: true`")
    why = inference_needed(parts, found is Arrangement.AUTO)
    if why and not {"actor", "rollout"} <= parts.planned:  # what is planned is not apart where that is so
        message = f"`inference` is not placed, but {why}; {LATE}"
        help = "place `inference` on accelerators of its own, or give `actor` and `rollout` the same ranks"
        report = notes.error if found is Arrangement.DISAGGREGATED else notes.warn
        report(SETTING, "inference", message, parts.owner, "no `inference`", help)


def check_pipeline(parts: Parts, found: Arrangement) -> None:
    """Where actor and rollout are apart, what trains takes batches as they come, and the inference components have settings."""
    if found not in (Arrangement.DISAGGREGATED, Arrangement.AUTO) or {"actor", "rollout"} <= parts.planned:  # see ways.py
        return
    for path in refused_apart(parts, found is Arrangement.AUTO):
        owner, edit = path.split(".", 1)[0], parts.settings.becomes(path, "false")
        message = f"`{path}` is true, but what trains refuses it where actor and rollout are apart; {LATE}"
        place = parts.settings.at(path)
        help = f"write `{path}: false`, or give `actor` and `rollout` the same ranks"
        parts.notes.error(SETTING, owner if owner != "runner" else "actor", message, place or parts.owner, "", help, edit)
    if missing := unset_of_inference(parts):
        listed = " and ".join(f"`{each}`" for each in missing)
        name = parts.first_of("inference", "actor_inference", "critic_inference") or "inference"
        message = f"the file has no {listed}, which RLinf's programs read where `{name}` is started by itself; {LATE}"
        help = f"add {listed} with the settings of the job, or give `actor` and `rollout` the same ranks and drop `{name}`"
        parts.notes.error("PW101", name, message, parts.place(name), "", help)


def check_engine_tp(
    parts: Parts, found: Arrangement, actor: Amount | None, rollout: Amount | None, count: int | None, partly: bool = False
) -> None:
    """An actor hands its weights to rollout engines whose tp is at most its own. `count`: accelerators of rollout, if known.

    That of FSDP looks for these by its tp only where that is more than 1 and both share accelerators; apart see weights.py.
    `partly`: rollout is on some of the actor's accelerators, where weights go as if they were apart, whatever trains.

    Where both are planned and a choice of degrees is left, the ways say which go together (see pairs.py).
    """
    if {"actor", "rollout"} <= parts.planned and {"actor", "rollout"} & parts.choices.keys():
        return
    if not actor or not rollout or rollout.value <= actor.value or not parts.has("actor") or not parts.has("rollout"):
        return
    backend = parts.settings.word("actor.training_backend", SETTING)
    if backend == "megatron" or (backend == "fsdp" and found is Arrangement.COLLOCATED and (actor.value > 1 or partly)):
        where = " with rollout on some of its accelerators" if partly else " on the same accelerators"
        shares = where if backend == "fsdp" else ""
        message = f"the tp of rollout is {rollout.value}, but {'an' if backend == 'fsdp' else 'a'} {backend} actor of tp {actor.value}{shares} takes at most its own"
        message += "; RLinf notices this only after workers have started"
        better = fitting_tp(parts, found, actor, rollout.value, count) if count else actor.value
        help = f"set `{rollout.name}: {better}`, or `{actor.name}: {rollout.value}`" if better else f"set `{actor.name}: {rollout.value}`"
        edit = rollout.becomes(better) if better else None
        parts.notes.error(SETTING, "rollout", message, rollout.span or parts.owner, "", help, edit)


def check_critic(parts: Parts, found: Arrangement) -> None:
    """A critic model that is switched on is placed, and has its own inference where that is apart; one that is not is started nowhere."""
    on = parts.settings.flag("critic.use_critic_model", SETTING)
    if on is False and parts.task == "reasoning":
        for name in ("critic", "critic_inference"):
            if name in parts.written:
                message = f"`{name}` is placed, but `critic.use_critic_model` is not true: no program starts it"
                help = f"set `critic.use_critic_model: true`, or drop `{name}`"
                parts.notes.info(IDLE, name, message, parts.written[name], "not used", help)
    if not on:
        return
    wanted = ["critic"] + ["critic_inference"] * (found in (Arrangement.DISAGGREGATED, Arrangement.AUTO) and "actor" not in parts.planned)
    for name in wanted:
        if not parts.has(name) and not parts.notes.partial:
            message = f"`{name}` is not placed, but `critic.use_critic_model` is true; RLinf notices this only after workers have started"
            parts.notes.warn(
                SETTING, name, message, parts.owner, f"no `{name}`", f"place `{name}`, or set `critic.use_critic_model: false`"
            )


STARTED_BY_TASK = {
    "embodied": ("actor", "rollout", "env", "reward", "reward_server"),
    "embodied_eval": ("rollout", "env", "reward"),
    "reasoning": ("actor", "rollout", "reward", "inference", "actor_inference", "critic", "critic_inference", "rollout_judge"),
    "reasoning_eval": ("rollout", "reward", "rollout_judge"),
    "coding_online_rl": ("actor", "rollout", "reward", "inference"),
    "sft": ("actor",),
    "offline": ("actor", "env", "rollout"),
}
"""The components that the main programs of a task ask the placement for.

Source: RLinf, get_strategy, get_hardware_ranks and get_world_size in examples/, evaluations/ and rlinf/.
"""

KNOWN = frozenset(name for names in STARTED_BY_TASK.values() for name in names)


def check_unused(parts: Parts) -> None:
    """Components that no program of the task asks for and that have no section of their own in the configuration.

    A warning for each name that RLinf knows nowhere, a remark on those that other tasks start.
    """
    if not parts.task or parts.notes.partial:
        return
    idle = [name for name in parts.written if name not in STARTED_BY_TASK[parts.task] and parts.settings.at(name) is None]
    for name in idle:
        if name in KNOWN:
            continue
        span, close = parts.written[name], nearest(name, _open(parts))
        help = f"write `{close}`" if close else f"drop it; components of this task are {_listed(STARTED_BY_TASK[parts.task])}"
        message = f"no program of task `{parts.task}` starts a component `{name}`"
        parts.notes.warn(IDLE, name, message, span, "not used", help, Edit(span, close) if close and span.length == len(name) else None)
    elsewhere = [name for name in idle if name in KNOWN]
    if elsewhere:
        message = f"programs of task `{parts.task}` do not start {_listed(elsewhere)}: their ranks count for nothing"
        parts.notes.info(IDLE, elsewhere[0], message, parts.written[elsewhere[0]], "not used")


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _open(parts: Parts) -> Iterable[str]:
    return (name for name in STARTED_BY_TASK[parts.task] if not parts.has(name))


STARTED = {"embodied": ("env",), "embodied_eval": ("env", "rollout"), "sft": ("actor",), "offline": ("actor",)}
"""The components that every program of a task asks the placement for."""

NEEDED = {
    Placer.MODEL_PARALLEL: ("actor", "rollout", "reward"),
    Placer.MODEL_PARALLEL_EVAL: ("rollout", "reward"),
    Placer.MULTI_AGENT: ("actor", "rollout", "reward"),
    Placer.MULTI_AGENT_EVAL: ("rollout", "reward"),
}
"""Components without which a class does not start. Source: RLinf, rlinf/utils/placement.py."""


def with_faults(notes: Notes, settings: Settings, parts: Parts) -> frozenset[str]:
    """Components that only hints name, which cannot be read: that is told already."""
    hints = settings.at("placewright.components")
    named = {entry.key.text for entry in hints} if isinstance(hints, Mapping) else set()
    wrong = {finding.subject for finding in notes.findings if finding.severity is Severity.ERROR}
    return frozenset((named & wrong) - parts.components.keys())


def take_as_meant(parts: Parts) -> None:
    """Takes a misspelt name for the component that is missed: one error, and what follows is judged of what was meant."""
    for name in NEEDED.get(parts.placer, STARTED.get(parts.task, ())):
        if parts.has(name):
            continue
        strange = [each for each in parts.written if each not in KNOWN and parts.settings.at(each) is None]
        close = nearest(name, strange)
        if close is None:
            continue
        span = parts.written.pop(close)
        parts.written[name] = span
        edit = Edit(span, name) if span.length == len(close) else None
        message = f"`{close}` is no component of task `{parts.task}`, and {_needing(parts)} misses `{name}`"
        parts.notes.error(SETTING, close, message, span, "not a component", f"write `{name}`", edit)
        if close in parts.components:
            parts.components[name] = replace(parts.components.pop(close), name=name)


def _needing(parts: Parts) -> str:
    return "RLinf" if parts.placer is Placer.HYBRID else parts.reason


def drop_critics(notes: Notes, settings: Settings, known: dict[str, Component], written: dict[str, Span]) -> None:
    """Takes out what the release at hand never starts: inference by role, and critics."""
    older = Range(until=CRITICS.since)
    for name in [each for each in ("critic", "critic_inference", "actor_inference") if each in written]:
        message = f"RLinf before {older.until} starts no `{name}`: its ranks count for nothing"
        notes.judge(older, Severity.WARNING, IDLE, name, message, written[name], "not used", f"drop `{name}`, or run RLinf {older.until}")
        if settings.choice is not None and settings.choice.has(older):
            known.pop(name, None)
            del written[name]
