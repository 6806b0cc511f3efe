"""Demands of workers and strategies on the settings of their roles.

facts/demands.json has them in order: the check with its arguments, and the roles that it is for.
Keys are below the role; with `job`, of the job itself. `own`: of ROLL's own workers alone (the
default), not of other classes; false: of roles with a strategy. `whole`: of a whole configuration,
which names its model and its run; false: of a part of one.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Callable

from ...findings.wording import with_noun
from ..checks import Check, Facts, Number, run_checks
from ..demands import Demand, check_of, is_for
from . import names
from .job import Role, RoleFacts, RollSetup
from .profile import fact_file

REFUSED = "PW123"
_OWN = "roll.pipeline.base_worker."
"""Module of ROLL's own workers, which are also the default."""
_MODELS, _RUNS = ("pretrain", "student_pretrain"), ("exp_name", "output_dir", "logging_dir", "save_steps", "track_with")
"""Keys of the model and of the run: with one of each a file is a whole configuration, else a part of one."""


def check_demands(setup: RollSetup) -> None:
    """Add what the pipeline, the workers and the strategies of the started roles refuse.

    Of a configuration with unread parts, only `partial` demands are judged.
    """
    is_whole = setup.notes.proves and all(any(map(setup.settings.has, keys)) for keys in (_MODELS, _RUNS))
    candidates = (demand for demand in fact_file("demands") if not setup.notes.partial or demand.get("partial"))
    demands = [demand for demand in candidates if demand.get("whole", is_whole) is is_whole and _is_for_pipeline(setup, demand)]
    for demand in demands:
        if _is_for(setup, None, demand):
            _check("", demand).run(Facts(setup.notes, setup.settings, demand.get("subject", "")))
    for role in setup.roles:
        if role.created and role.key in setup.components:
            run_checks((_check(role.key, demand) for demand in demands if _is_for(setup, role, demand)), RoleFacts(setup, role))


def _is_for_pipeline(setup: RollSetup, demand: Demand) -> bool:
    pipeline, is_started = setup.pipeline, setup.notes.document.program is not None
    is_named = pipeline.name in demand.get("pipelines", (pipeline.name,)) and pipeline.config in demand.get("configs", (pipeline.config,))
    return is_named and (is_started or not demand.get("started"))


def _is_for(setup: RollSetup, role: Role | None, demand: Demand) -> bool:
    settings, own_workers = setup.settings, demand.get("own", True)
    if demand.get("job", False) is not (role is None):
        return False
    if role is not None:
        if role.part not in demand.get("parts", (role.part,)) or role.strategy not in demand.get("strategies", (role.strategy,)):
            return False
        worker = settings.word(role.path("worker_cls"), REFUSED) if own_workers else None
        if (own_workers is False and not role.strategy) or (own_workers and (worker is None or not (worker or _OWN).startswith(_OWN))):
            return False
    in_job = "job_has" not in demand or any(map(settings.has, demand["job_has"]))
    no_job = "job_unset" not in demand or settings.at(demand["job_unset"]) is None
    words = all(settings.word(path, REFUSED) in values for path, values in demand.get("job_words", {}).items())
    return in_job and no_job and words and is_for(settings, demand, REFUSED, partial(_join_key, role.key if role else ""))


def _join_key(role: str, key: str) -> str:
    return f"{role}.{key}" if role else key


def _check(role: str, demand: Demand) -> Check:
    source, left, code = demand["source"], demand.get("left"), demand.get("code", REFUSED)
    fields: dict[str, Any] = {name: demand[name].replace("{role}", role) for name in ("message", "help") if name in demand}
    decisive = REFUSED if demand.get("severity") == "warning" else code  # an unknown number of a warning decides nothing
    if isinstance(left, str):
        fields["left"] = lambda facts: facts.of(
            facts.settings.whole(_join_key(role, left), decisive, demand.get("default", 1), minimum=-(10**9))
        )
    if isinstance(left, list):
        fields["left"] = [_join_key(role, path) for path in left]
    if isinstance(right := demand.get("right"), str):
        fields["right"] = _NUMBERS.get(right) or _join_key(role, right)
    for name in {"key", "paired"} & demand.keys():
        fields[name] = _join_key(role, demand[name])
    if "keys" in demand:
        fields["keys"] = [_join_key(role, key) for key in demand["keys"]]
    source = source if source.startswith("Megatron") else f"ROLL, {source}"
    return check_of(demand, **{"code": code, "source": source, "when": getattr(names, demand["when"]), **fields})


def _count_workers(facts: RoleFacts) -> Number | None:
    world = facts.role.world_size if facts.role.devices else None
    note = "each worker is one data parallel rank"
    return None if world is None else Number(world, f"{facts.subject} has {with_noun(world, 'worker')}", note=note)


def _count_tokens(facts: RoleFacts) -> Number | None:
    if facts.settings.word("sequence_length", REFUSED) != "":  # null stands for the sum
        return facts.number("sequence_length", REFUSED)
    parts = [facts.number(key, REFUSED) for key in ("prompt_length", "response_length")]
    tokens = sum(part.value for part in parts if part)
    return None if None in parts else Number(tokens, f"`prompt_length` + `response_length` = {tokens}")


_NUMBERS: dict[str, Callable[[RoleFacts], Number | None]] = {"workers": _count_workers, "tokens": _count_tokens}
"""Numbers that demands compare with settings."""
