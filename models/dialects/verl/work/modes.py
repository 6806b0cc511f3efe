"""Modes and strategies: consistency among them, and with the program.

Source: verl, verl/trainer/main_ppo.py (TaskRunner), verl/trainer/ppo/ray_trainer.py
(RayPPOTrainer.__init__, init_workers), verl/trainer/ppo/v1/trainer_*.py, verl/experimental/*/
(create_role_worker_mapping), verl/workers/config/actor.py and critic.py.
"""

from __future__ import annotations

from ....findings.finding import Severity
from ....releases.release import ALWAYS, Range
from ....text.tree import MANDATORY
from ...checks import Number, OneOf, Requires
from ..degrees import LATER, engine_key, engine_of
from ..moments import AFTER_WEIGHTS, AT_START, BEFORE_WORKERS, IN_ROLLOUTER, IN_WORKERS, WITH_CRITIC, WITH_TRAINER
from ..programs import FULLY_ASYNC, TRAINERS, ProgramKind
from .engines import when_served
from .work import ACTOR, DEGREES, MODE, REFERENCE, VerlWork

ACTORS, CRITICS, REFERENCES = f"{ACTOR}.strategy", "critic.strategy", f"{REFERENCE}.strategy"
FSDP, KNOWN = ("fsdp", "fsdp2"), ("fsdp", "fsdp2", "megatron")
DYNAMIC = f"{ACTOR}.use_dynamic_bsz"
STEPS = "trainer.v1.separate_async.parameter_sync_step"


def judge_modes(work: VerlWork) -> None:
    """Check the modes of programs with roles."""
    if work.entry.kind in (*TRAINERS, ProgramKind.SERVER):
        _engines(work)
    if work.entry.kind in (*TRAINERS, ProgramKind.SIMULATION):
        _strategies(work)
        _configuration(work)
    if work.entry.kind is ProgramKind.SEPARATE and not work.entry.own_trainer and work.settings.since("0.7.1"):
        _check_separate(work)


def _engines(work: VerlWork) -> None:
    """Check the names of inference engines: they have no default, and releases have different ones.

    Programs of other authors, and modules of the user, may register more.
    """
    settings, engines = work.settings, work.settings.words("engines")
    severity = Severity.WARNING if work.loads_code() else Severity.ERROR
    for name in work.served:
        key, when = engine_key(settings, name)("name"), when_served(work, name, IN_WORKERS)
        word, when = settings.word(key, MODE), BEFORE_WORKERS if work.entry.kind is ProgramKind.SERVER else when
        if word in ("", MANDATORY) and work.is_whole and not settings.is_open(key, MODE):
            work.report(MODE, name, f"`{key}` is not set, and has no default", None, f"set {work.spell(key, 'vllm')}", None, "", when)
        elif word != MANDATORY and not work.entry.own_trainer:
            work.check(name, OneOf(code=MODE, source="verl, verl/workers/rollout/replica.py", key=key, values=engines, severity=severity,
                                   message="{left} is `{right}`, an engine that this release of verl does not have", when=when))  # fmt: skip


def _strategies(work: VerlWork) -> None:
    """Check that strategies are known, and in some releases the same."""
    settings, kind, old = work.settings, work.entry.kind, work.settings.is_older_than("0.8.0")
    later = tuple(name for name, releases in LATER.items() if settings.choice.has(releases))
    strategies = FSDP if kind is ProgramKind.SIMULATION else (*KNOWN, *later)
    pairs = [] if kind is ProgramKind.HYBRID and settings.has_new_workers and old else [("actor", ACTORS)]
    pairs += [("critic", CRITICS)] if kind is ProgramKind.HYBRID and (old or work.setup.component("critic")) else []
    pairs += [("reward_model", "reward_model.strategy")] if work.setup.component("reward_model") and settings.is_older_than("0.7.1") else []
    consequence = "it raises a NotImplementedError" if old else "no engine of that name is registered"
    message = f"{{left}} is `{{right}}`, for which `{work.entry.name}` has no workers: {consequence}"
    source = "verl, verl/trainer/main_ppo.py (TaskRunner), verl/workers/engine/base.py (EngineRegistry)"
    for name, key in pairs:
        when, severity = BEFORE_WORKERS if old else IN_WORKERS, Severity.WARNING if work.loads_code() and not old else Severity.ERROR
        work.check(name, OneOf(code=MODE, source=source, key=key, values=strategies, message=message, when=when, severity=severity))
    # Agreement: main_ppo until 0.6.0, trainers with two pools until 0.7.1, split placement always.
    agreement = {ProgramKind.HYBRID: Range(until="0.6.0"), ProgramKind.SEPARATE: Range(until="0.7.1")}.get(kind, ALWAYS)
    actor, critic = settings.word(ACTORS, MODE), settings.word(CRITICS, MODE)
    compatible = FSDP if kind in (ProgramKind.SPLIT, ProgramKind.HYBRID) and actor in FSDP else (actor,)
    if actor and actor in strategies and critic and critic not in compatible and (work.is_said(CRITICS) or work.is_said(ACTORS)):
        suffix = "" if settings.at(CRITICS) is not None else " (its default)"
        message = f"`{CRITICS}` is {critic}{suffix} and `{ACTORS}` is {actor}: they must be the same"
        at = settings.place(CRITICS if settings.at(CRITICS) else ACTORS)
        work.demand(MODE, "critic", message, CRITICS, actor, BEFORE_WORKERS, "differs", at=at, releases=agreement)


def _configuration(work: VerlWork) -> None:
    """Check the strategy against the configuration: with sections of FSDP or of Megatron."""
    settings, table = work.settings, work.settings.table
    if table is None or not work.is_whole:
        return
    # Since 0.8.0 the reference's engine has a strategy of its own, but the configuration of FSDP.
    has_own_strategy = settings.since("0.8.0") and settings.word(REFERENCES, MODE) == "megatron" != settings.word(ACTORS, MODE)
    for name, key in (("actor", ACTORS), ("critic", CRITICS), *([("ref", REFERENCES)] if has_own_strategy else [])):
        word, default = settings.word(key, MODE), table.defaults.get(ACTORS if name == "ref" else key)
        owner, megatron = key.removesuffix(".strategy"), word == "megatron"
        if default is not None and work.setup.component(name) is not None and (choice := work.missing_group(owner)):
            message = f"`{key}` is {word}, but the configuration `{table.name}` is for {default.value}"
            work.report(MODE, name, message, settings.place(key), f"set `{choice}`, which makes `{owner}.{word}` too", None, "", IN_WORKERS)
        if not word or word not in KNOWN or default is None or work.setup.component(name) is None:
            continue
        section = f"{owner}.megatron" if megatron else f"{owner}.fsdp_config"
        if megatron is not (default.value == "megatron") and settings.at(section) is None:
            first = megatron and name == "actor" and work.is_checked_at_start and settings.flag(DYNAMIC, MODE) is False
            message = f"`{key}` is {word}, but the configuration `{table.name}` is for {default.value}"
            help_ = f"start with a configuration for {word}, or set {work.spell(key, default.value)}"
            edit = settings.becomes(key, str(default.value))
            work.report(MODE, name, message, settings.place(key), help_, edit, "", AT_START if first else IN_WORKERS)


def _check_separate(work: VerlWork) -> None:
    """Check what trainers with servers apart lack: critics, and reward models beside them.

    Source: verl, experimental/separation/ray_trainer.py (_create_critic_class) and utils.py
    (create_role_worker_mapping), one_step_off_policy/ray_trainer.py and fully_async_trainer.py
    (_init_models), fully_async_rollouter.py (__init__; trainer as rollout since `ActorRollout`).
    """
    settings, degrees = work.settings, engine_of(work.settings, "rollout")
    enable_key, pool_key = map(settings.reward_key, ("enable", "enable_resource_pool"))
    key = "critic.enable" if settings.has("critic.enable") else "algorithm.adv_estimator"
    if work.setup.component("critic") and not work.is_said(key):
        work.notes.unsure(MODE, "critic", f"`{key}` is not in this file; the command line may set it")
    elif work.setup.component("critic"):
        message = "this program has no workers that train a critic"
        help_ = f"choose an estimator without one, such as {work.spell('algorithm.adv_estimator', 'grpo')}"
        work.report(MODE, "critic", message, settings.place(key), help_, None, "a critic", WITH_CRITIC)
    if work.setup.component("reward_model"):
        if work.entry.program == FULLY_ASYNC and settings.since("0.8.0"):
            message = "servers apart never pause, so a reward model needs a pool of its own: verl asserts it"
            source = "verl, fully_async_policy/fully_async_rollouter.py (__init__)"
            work.check("reward_model", Requires(code=MODE, source=source, key=pool_key, value=True, message=message, when=IN_ROLLOUTER))
        else:
            message = "this program places no reward model in this release: verl raises a KeyError"
            work.demand(MODE, "reward_model", message, enable_key, False, WITH_TRAINER)
    keys = ("async_training.use_trainer_do_validate", "async_training.use_dynamic_resource_scheduling")
    ranks = work.setup.world_size("actor") if any(settings.has(key) and settings.flag(key, DEGREES) for key in keys) else None
    if ranks and degrees is not None:
        (parallel, amounts), message = degrees, "{left} cannot be divided into {right}"
        trainer = Number(ranks, f"the {ranks} ranks of the trainer, which generates too,")
        replica = Number(parallel.replica, f"replicas of {parallel.replica}", amounts["tp"] if parallel.replica == parallel.tp else None)
        work.divides("rollout", DEGREES, trainer, replica, AFTER_WEIGHTS, (), message, change="right",
                     source="verl, verl/workers/engine_workers.py")  # fmt: skip
