"""Demands of workers and strategies on the settings of their roles.

facts/demands.json has them in order: the check with its arguments, and the roles that it is for.
Keys are below the role. `own`: of ROLL's own workers alone (the default), not of other classes.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Iterator, Mapping

from ...findings.wording import with_noun
from ...releases.release import Range
from ...text.tree import Scalar
from ..checks import AtLeast, Check, Equals, Facts, Number, Requires, run_checks
from ..demands import check_of, is_for
from . import names
from .job import Role, RoleFacts, RollSetup, whole_of
from .names import AT_LOAD, CONFIG, DEEPSPEED, IN_WORKERS, REWARDS, VLLM
from .profile import fact_file

MATCHES, REFUSED = "PW403", "PW123"


def check_demands(setup: RollSetup) -> None:
    """Add what the pipeline, the workers and the strategies of the started roles refuse.

    Of a configuration with unread parts, only the sizes of engines are judged.
    """
    settings, rewards = setup.settings, setup.settings.at(REWARDS)
    if setup.pipeline.config == names.RLVR and isinstance(rewards, Scalar) and rewards.is_null:
        message, help = f"`{REWARDS}` is null, but ROLL asks for the devices of each reward", f"write `{REWARDS}: {{}}`"
        source = "ROLL, roll/pipeline/rlvr/rlvr_config.py"
        Requires(code="PW101", source=source, when=AT_LOAD, key=REWARDS, message=message, help=help).run(Facts(setup.notes, settings))
    for role in setup.roles:
        if role.created and role.key in setup.components:
            stated = () if setup.notes.partial else fact_file("demands")
            checks = (_check(role, demand) for demand in stated if _is_for(setup, role, demand))
            run_checks((*_of_engine(role), *checks), RoleFacts(setup, role))


def _is_for(setup: RollSetup, role: Role, demand: Mapping[str, Any]) -> bool:
    """Return True if a demand is for the role, its pipeline and its settings."""
    settings, pipeline, path = setup.settings, setup.pipeline, role.path
    if ("parts" in demand and role.part not in demand["parts"]) or ("strategies" in demand and role.strategy not in demand["strategies"]):
        return False
    if (not role.strategy and not demand.get("own", True)) or ("configs" in demand and pipeline.config not in demand["configs"]):
        return False
    if "pipeline" in demand and (pipeline.name != demand["pipeline"] or setup.notes.document.program is None):
        return False
    is_own = not settings.has(path("worker_cls")) or not demand.get("own", True)
    in_job = "job_has" not in demand or any(settings.has(key) for key in demand["job_has"])
    return is_own and in_job and is_for(settings, demand, REFUSED, path)


def _check(role: Role, demand: Mapping[str, Any]) -> Check:
    """Build the check of a demand."""
    source, left = demand["source"], demand.get("left")
    given: dict[str, Any] = {name: demand[name].replace("{role}", role.key) for name in ("message", "help") if name in demand}
    if left is not None:
        given["left"] = lambda facts: facts.of(facts.settings.whole(role.path(left), REFUSED, 1))
    if "key" in demand:
        given["key"] = role.path(demand["key"])
    source = source if source.startswith("Megatron") else f"ROLL, {source}"
    return check_of(demand, **{"code": demand.get("code", REFUSED), "source": source, "when": getattr(names, demand["when"]), **given})


def _stage(facts: Facts) -> Number | None:
    return whole_of("zero_optimization.stage", MATCHES, 0, CONFIG)(facts)


def _world(facts: Facts) -> Number | None:
    world = facts.role.world_size if isinstance(facts, RoleFacts) and facts.role.on_devices else None
    note = "each worker is one data parallel rank"
    return None if world is None else Number(world, f"{facts.subject} has {with_noun(world, 'worker')}", note=note)


def _ranks(facts: Facts) -> Number | None:
    ranks = whole_of("data_parallel_size", MATCHES, 1, CONFIG)(facts)
    return ranks if ranks is not None and ranks.value > 1 else None


def _of_engine(role: Role) -> Iterator[Check]:
    """Yield the demands on the sizes of vLLM and of DeepSpeed."""
    folder = "ROLL, roll/distributed/strategy/"
    if role.strategy == VLLM:
        yield Equals(
            code=MATCHES, source=f"{folder}vllm_strategy.py", when=IN_WORKERS, releases=Range(since="0.2.0"), left=_ranks, right=_world,
            message="{left}, but {right}",
        )  # fmt: skip
    elif role.strategy in DEEPSPEED:
        stage = partial(AtLeast, right=1) if role.strategy == DEEPSPEED[0] else partial(Equals, right=3)
        yield stage(code=MATCHES, source=f"{folder}deepspeed_strategy.py", when=IN_WORKERS, left=_stage)
