"""Demands of verl on single settings, from facts/demands.json.

Conditions beside those of every dialect: `programs` (kinds, names or modules; by default those that
train an actor), `recipes` (recipes are asked too), `v1` (the V1 trainer runs, or does not),
`validates` (the job validates), `part` (a component of the job), `owners` and `engine` (a demand on
each trained component or inference engine: {owner} is its section), `are_set` and `without` (keys
with and without a value), `written`, `holds` (a part of a text), `at_most` and `more_than`
(numbers). Where `own_code` is true and the job loads code of its own (`modules`: modules of verl's), a violation is a warning.
`values` may name a table of facts/settings.json. Those of `placement` are judged at every level.
"""

from __future__ import annotations

from functools import cache
from math import nan
from typing import Any

from ....findings.finding import Severity
from ...demands import Demand, check_of, is_for, releases_of
from ..degrees import OWNERS, engine_key
from ..keys import refused_keys
from ..programs import TRAINERS, ProgramKind, facts
from .engines import when_served
from .work import MODE, VerlWork

_TRAINERS = frozenset(kind.name for kind in TRAINERS)
_SERVED = _TRAINERS | {ProgramKind.SERVER.name, ProgramKind.GENERATION.name}
_OF_VALUES = ("OneOf", "Within")
"""Checks of written values; with `defaults` a demand refuses defaults too."""


def judge_demands(work: VerlWork, placement: bool = False) -> None:
    """Check the single settings of the program, of placement or all others."""
    names = {work.entry.kind.name, work.entry.name, work.entry.program}
    engines = {engine_key(work.settings, name)("").rstrip("."): name for name in reversed(work.served)}
    for demand in _demands(placement, tuple(engines.items())):
        programs = demand.get("programs", _SERVED if "engine" in demand else _TRAINERS)
        if names.isdisjoint(programs) or (work.entry.own_trainer and not demand.get("recipes", placement)):
            continue
        is_written = demand["check"] not in _OF_VALUES or "defaults" in demand or work.settings.at(demand["key"]) is not None
        if is_written and _is_for(work, demand):
            _judge(work, demand)


@cache
def _demands(placement: bool, engines: tuple[tuple[str, str], ...]) -> tuple[Demand, ...]:
    """Return the demands of placement or all others, for each owner or engine (section, component)."""
    demands: list[Demand] = []
    for demand in facts("demands"):
        owners = {OWNERS[name]: {"part": name} if name != "actor" else {} for name in demand.get("owners", ())}
        if engine_name := demand.get("engine"):
            owners = {section: {"subject": name} for section, name in engines if engine_name == "any" or name.startswith(engine_name)}
        if demand.get("placement", False) is placement:
            demands += [{**_with_owner(demand, owner), **more} for owner, more in owners.items()] or [demand]
    return tuple(demands)


def _with_owner(value: Any, owner: str) -> Any:
    if isinstance(value, dict):
        return {key.replace("{owner}", owner): _with_owner(item, owner) for key, item in value.items()}
    if isinstance(value, list):
        return [_with_owner(item, owner) for item in value]
    return value.replace("{owner}", owner) if isinstance(value, str) else value


def _is_for(work: VerlWork, demand: Demand) -> bool:
    """Return True if a demand is for the release, the job and its settings."""
    settings, part = work.settings, demand.get("part", "")
    if not settings.choice.possible_in(releases_of(demand)) or (part and work.setup.component(part) is None):
        return False
    keys = (demand.get("key") or demand["left"], *demand.get("flags", ()), *demand.get("words", ()), *demand.get("are_set", ()))
    if any(map(settings.is_elsewhere, keys)):
        return False
    if ("v1" in demand and demand["v1"] != settings.is_v1) or ("validates" in demand and not work.validates):
        return False
    if any(text not in (settings.word(key, MODE) or "") for key, text in demand.get("holds", {}).items()):
        return False
    are_set = all(settings.is_set(key, MODE) for key in demand.get("are_set", ())) and not any(map(settings.has, demand.get("without", ())))
    if not are_set or any(settings.at(key) is None for key in demand.get("written", ())):
        return False
    small = all(_number(work, key) <= most for key, most in demand.get("at_most", {}).items())
    large = all(_number(work, key) > minimum for key, minimum in demand.get("more_than", {}).items())
    return small and large and is_for(settings, demand, MODE)


def _number(work: VerlWork, key: str) -> float:
    """Return the number at a key; 0 if unset, NaN if it is none."""
    number = work.settings.plain(key, 0) or 0
    return number if isinstance(number, (int, float)) else nan


def _judge(work: VerlWork, demand: Demand) -> None:
    """Run the check of a demand; a replaceable default is unchecked."""
    subject, key = demand.get("subject") or demand.get("part") or "actor", demand.get("key") or demand["left"]
    document = work.notes.document
    source = demand["source"] if demand["source"].startswith("Megatron") else f"verl, {demand['source']}"
    overrides: dict[str, Any] = {"code": demand.get("code", MODE), "source": source}
    if isinstance(demand.get("values"), str):
        overrides["values"] = work.settings.words(demand["values"])
    own_keys = ["actor_rollout_ref.model.external_lib", *(facts("settings")["own_code"]["keys"] if demand.get("own_code") is True else ())]
    if demand.get("own_code") and ("VERL_USE_EXTERNAL_MODULES" in document.source.text or any(map(work.settings.has, own_keys))):
        overrides["severity"] = Severity.WARNING  # modules of the user: verl/__init__.py
    when = when_served(work, subject, demand["when"]) if "engine" in demand else demand["when"]
    overrides["when"] = "IN_WORKERS" if when == "AT_START" and not work.is_checked_at_start else when
    findings, value = work.notes.findings, work.settings.at(work.settings.resolve_key(key))
    before = len(findings)
    work.check(subject, check_of(demand, **overrides))
    is_own = value is not None and (document.program is not None or value.span.file == document.source.name)
    if len(findings) > before and key in refused_keys(work.notes, work.settings):
        del findings[before:]  # reported as a key
    elif len(findings) > before and not is_own and not work.is_whole:
        del findings[before:]
        work.notes.unsure(MODE, subject, f"`{key}` is not in this file; the command line may set it")
