"""Modes and strategies that go together, and with the program: what verl demands of them before it starts a worker, or with it.

Source: verl, verl/trainer/main_ppo.py (TaskRunner), verl/trainer/ppo/ray_trainer.py (RayPPOTrainer.__init__, init_workers),
verl/trainer/ppo/v1/trainer_*.py, verl/experimental/*/ (create_role_worker_mapping), verl/workers/config/actor.py and critic.py.
"""

from __future__ import annotations

from ....releases.release import ALWAYS, Range
from ...checks import Equals, Number, OneOf, Requires
from ..entries import Kind
from ..pools.served import engine_key
from ..releases import NEW_WORKERS, TRAINER_MODES, has_new_workers, is_apart, is_v1, reward_key, since, until
from .engines import when_served
from .notices import AT_START, BEFORE_WORKERS, IN_WORKERS, WITH_CRITIC, WITH_TRAINER
from .work import MODE, NUMBERS, Work, given

HYBRID = "actor_rollout_ref.hybrid_engine"
ACTOR, CRITIC, REWARD = "actor_rollout_ref.actor.strategy", "critic.strategy", "reward_model.strategy"
FSDP, KNOWN = ("fsdp", "fsdp2"), ("fsdp", "fsdp2", "megatron")
LATER = (
    ("veomni", Range("0.7.1")), ("torchtitan", Range("0.7.1")), ("mindspeed", Range("0.8.0", "1dda039b")), ("automodel", Range("0.8.0")),
    ("fsdp_turbo", Range("1dda039b")), ("mindspeed_megatron", Range("0.8.0", "1dda039b")),
)  # fmt: skip
"""Strategies of later releases. Source: verl, verl/workers/engine/*/ (EngineRegistry.register)."""
DYNAMIC = "actor_rollout_ref.actor.use_dynamic_bsz"
INFERRED = "actor_rollout_ref.rollout.log_prob_use_dynamic_bsz"
PADDING = {"actor": "actor_rollout_ref.model.use_remove_padding", "critic": "critic.model.use_remove_padding"}
TRAINERS = (Kind.HYBRID, Kind.SEPARATE, Kind.SPLIT, Kind.SIMULATION)
V1 = "trainer.v1.trainer_mode"
STEPS, BACKEND = "trainer.v1.separate_async.parameter_sync_step", "actor_rollout_ref.rollout.checkpoint_engine.backend"


def judge_modes(work: Work) -> None:
    """Of the programs that train with roles."""
    kind = work.setup.entry.kind
    if kind in (Kind.HYBRID, Kind.SEPARATE, Kind.SPLIT, Kind.SERVER):
        _engines(work)
    if kind not in TRAINERS:
        return
    _hybrid(work)
    _strategies(work)
    _configuration(work)
    _new_workers(work)
    _padding(work)
    _v1(work)


def _hybrid(work: Work) -> None:
    """Rollout in the processes of the actor, or apart from them. The V1 trainer and servers apart do not ask."""
    settings, entry = work.settings, work.setup.entry
    wanted = entry.kind is not Kind.SEPARATE
    if is_v1(settings, entry) is not False or not _is_said(work, HYBRID):
        return
    flag = settings.flag(HYBRID, MODE)
    where = "in the processes of the actor" if wanted else "in a pool of its own"
    said = "" if settings.at(HYBRID) is not None else ", its default"
    message = f"`{HYBRID}` is {flag}{said}, but `{entry.name}` generates {where}: verl asserts that it is {wanted}"
    source = "verl, verl/trainer/ppo/ray_trainer.py (RayPPOTrainer.__init__)"
    work.check("rollout", Requires(code=MODE, source=source, key=HYBRID, value=wanted, message=message, when=BEFORE_WORKERS))


def _is_said(work: Work, key: str) -> bool:
    """True if a value is written, or a default that nothing else can change any more."""
    return work.settings.at(key) is not None or work.is_whole


def _strategies(work: Work) -> None:
    """Each is known, and in some releases that of the critic goes with that of the actor, be there a critic or not."""
    settings, kind = work.settings, work.setup.entry.kind
    choice = work.notes.choice
    later = tuple(name for name, releases in LATER if choice is None or choice.has(releases))
    known = FSDP if kind is Kind.SIMULATION else (*KNOWN, *later)
    new = kind is Kind.HYBRID and has_new_workers(settings, work.setup.entry) and until(settings, "0.8.0")
    asked = [] if new else [("actor", ACTOR)]
    asked += [("critic", CRITIC)] if kind is Kind.HYBRID and (until(settings, "0.8.0") or work.setup.component("critic")) else []
    asked += [("reward_model", REWARD)] if work.setup.component("reward_model") and until(settings, "0.7.1") else []
    how = "it raises a NotImplementedError" if until(settings, "0.8.0") else "no engine of that name is registered"
    message = f"{{left}} is `{{right}}`, for which `{work.setup.entry.name}` has no workers: {how}"
    when = BEFORE_WORKERS if until(settings, "0.8.0") else IN_WORKERS
    source = "verl, verl/trainer/main_ppo.py (TaskRunner), verl/workers/engine/base.py (EngineRegistry)"
    for name, key in asked:
        work.check(name, OneOf(code=MODE, source=source, key=key, values=known, message=message, when=when))
    _alike(work, known)


def _alike(work: Work, known: tuple[str, ...]) -> None:
    """Critic and actor of one strategy: main_ppo until 0.6.0, trainers with two pools until 0.7.1, split placement in every release."""
    settings, kind = work.settings, work.setup.entry.kind
    refused = {Kind.HYBRID: Range(until="0.6.0"), Kind.SEPARATE: Range(until="0.7.1")}.get(kind, ALWAYS)
    actor, critic = settings.word(ACTOR, MODE), settings.word(CRITIC, MODE)
    if not actor or actor not in known or not critic:
        return
    alike = FSDP if kind in (Kind.SPLIT, Kind.HYBRID) and actor in FSDP else (actor,)
    if critic not in alike and (_is_said(work, CRITIC) or _is_said(work, ACTOR)):
        said = "" if settings.at(CRITIC) is not None else " (its default)"
        message = f"`{CRITIC}` is {critic}{said} and `{ACTOR}` is {actor}: verl asserts that they are the same, be there a critic or not"
        help_, at = f"set {settings.assigned(CRITIC, actor)}", settings.place(CRITIC if settings.at(CRITIC) else ACTOR)
        work.tell(MODE, "critic", message, at, help_, settings.becomes(CRITIC, str(actor)), "differs", BEFORE_WORKERS, releases=refused)


def _configuration(work: Work) -> None:
    """A configuration has the sections of one strategy: those of FSDP or those of Megatron."""
    table = work.settings.table
    for name, key in (("actor", ACTOR), ("critic", CRITIC)):
        word, stated = work.settings.word(key, MODE), table.defaults.get(key) if table else None
        if not work.is_whole or not word or word not in KNOWN or stated is None or work.setup.component(name) is None:
            continue
        owner = key.removesuffix(".strategy")
        section = f"{owner}.megatron" if word == "megatron" else f"{owner}.fsdp_config"
        if (word == "megatron") is not (stated.value == "megatron") and work.settings.at(section) is None:
            first = word == "megatron" and name == "actor" and work.is_checked_at_start and work.settings.flag(DYNAMIC, MODE) is False
            message = (
                f"`{key}` is {word}, but the configuration `{table.name if table else ''}` is for {stated.value}: it has no `{section}`"
            )
            edit, help_ = work.settings.becomes(key, str(stated.value)), f"start with a configuration for {word}, or set "
            help_ += work.settings.assigned(key, stated.value)
            work.tell(MODE, name, message, work.settings.place(key), help_, edit, "", AT_START if first else IN_WORKERS)


def _new_workers(work: Work) -> None:
    """Workers of the model engine: the only ones since 0.8.0, and for trainers with two pools since 0.7.1."""
    settings, kind = work.settings, work.setup.entry.kind
    old = until(settings, "0.8.0") and since(settings, "0.6.0")
    chosen = settings.word(NEW_WORKERS, MODE) if old and kind is Kind.HYBRID else ""
    message = "{left} is `{right}`, which verl does not know: it raises a ValueError"
    source = "verl, verl/trainer/main_ppo.py (add_actor_rollout_worker)"
    if old and kind is Kind.HYBRID:
        work.check("critic", OneOf(code=MODE, source=source, key=NEW_WORKERS, values=("auto", "enable", "disable"), message=message,
                                   when=BEFORE_WORKERS))  # fmt: skip
    if old and kind is Kind.SEPARATE and not work.setup.entry.own_trainer:
        message = "{left} is `{right}`, but this program has the new workers alone: it raises a NotImplementedError"
        work.check("actor", OneOf(code=MODE, source="verl, experimental/separation/utils.py", key=NEW_WORKERS, values=("disable",),
                                  releases=Range("0.7.1", "0.8.0"), message=message, when=BEFORE_WORKERS))  # fmt: skip
    if chosen == "disable" or (since(settings, "0.8.0") and kind in (Kind.HYBRID, Kind.SEPARATE)):
        _sizes_of_new_workers(work, chosen or "")
    critic = settings.word(CRITIC, MODE)
    if (
        chosen == "disable"
        and work.setup.component("critic")
        and critic
        and critic != "fsdp"
        and critic in KNOWN
        and until(settings, "0.7.1")
    ):
        message = f"with `{NEW_WORKERS}` disable a critic is trained with fsdp alone, but `{CRITIC}` is {critic}: verl raises a NotImplementedError"
        edit = settings.becomes(CRITIC, "fsdp") if critic in FSDP else None
        help_ = f"set {settings.assigned(CRITIC, 'fsdp')}" if critic in FSDP else f"set {settings.assigned(NEW_WORKERS, 'auto')}"
        work.tell(MODE, "critic", message, settings.place(CRITIC), help_, edit, "", WITH_CRITIC)


def _sizes_of_new_workers(work: Work, chosen: str) -> None:
    """They take the sizes of micro batches on one rank alone."""
    dynamic = work.settings.flag(DYNAMIC, MODE)
    if dynamic is None or not work.is_whole:
        return
    how = f"with `{NEW_WORKERS}` disable" if chosen else "with the workers of this release"
    source = "verl, verl/workers/engine_workers.py (ActorRolloutRefWorker.init_model)"
    keys = ("actor_rollout_ref.rollout.log_prob_micro_batch_size_per_gpu", "actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu")
    for key in () if dynamic else keys:
        if work.is_checked_at_start and not work.settings.said(key.removesuffix("_per_gpu"), MODE):
            continue  # that neither size is set is said by the first check
        message, help_ = f"{how} `{key}` must be set; verl asserts it", f"set {work.settings.assigned(key, 1)}, or more"
        work.check("actor", Requires(code=MODE, source=source, key=key, message=message, help=help_, when=IN_WORKERS))
    if work.settings.flag(INFERRED, MODE) is not None:
        message = f"{how} `{INFERRED}` must be what `use_dynamic_bsz` of the actor is, {dynamic}; verl asserts it"
        work.check("actor", Requires(code=MODE, source=source, key=INFERRED, value=dynamic, message=message, when=IN_WORKERS))


def _padding(work: Work) -> None:
    """Sequence parallel ranks need inputs without padding."""
    for name, owner in (("actor", "actor_rollout_ref.actor"), ("critic", "critic")):
        checked = work.is_checked_at_start
        if work.setup.component(name) is None or work.is_trained_by(owner) != "fsdp" or (name == "actor" and not checked):
            continue
        sequence = work.sequence(owner, MODE)
        if sequence and sequence.value > 1 and _is_said(work, PADDING[name]):
            message = f"{work.said(sequence)} needs inputs without padding, but `{PADDING[name]}` is not set"
            source, when = "verl, verl/workers/config/actor.py (FSDPActorConfig.validate)", AT_START if checked else WITH_CRITIC
            work.check(name, Requires(code=MODE, source=source, key=PADDING[name], value=True, message=message, when=when))


def _v1(work: Work) -> None:
    """The V1 trainer, and its mode with servers in pools of their own. Source: verl, verl/trainer/ppo/v1/trainer_separate_async.py."""
    settings, entry = work.settings, work.setup.entry
    if not is_v1(settings, entry):
        return
    source = "verl, verl/trainer/ppo/v1/trainer_base.py (get_trainer_cls)"
    message = "{left} is `{right}`, which no trainer is registered for: verl raises a ValueError"
    work.check("actor", OneOf(code=MODE, source=source, key=V1, values=TRAINER_MODES, message=message, when=WITH_TRAINER))
    if not is_apart(settings, entry):
        return
    source = "verl, verl/trainer/ppo/v1/trainer_separate_async.py (__init__)"
    steps, mini = work.amount(STEPS, NUMBERS), work.amount("actor_rollout_ref.actor.ppo_mini_batch_size", NUMBERS)
    if steps and mini:
        total = steps.value * mini.value
        product = Number(total, f"{work.said(steps)} x {work.said(mini)} = {total}")
        work.check("actor", Equals(code=NUMBERS, source=source, left="data.train_batch_size", right=given(product), when=WITH_TRAINER))
    message = "{left} is `{right}`, which cannot send weights to servers apart: verl asserts another one"
    work.check(
        "standalone_rollout",
        OneOf(code=MODE, source=source, key=BACKEND, values=("nccl", "nixl", "hccl", "mooncake"), message=message, when=WITH_TRAINER,
              only_if=lambda facts: facts.settings.word(BACKEND, MODE) in ("naive", "")),
    )  # fmt: skip
    if work.setup.component("reward_model") or settings.flag(reward_key(settings, "enable"), MODE):
        own = reward_key(settings, "enable_resource_pool")
        message = "servers apart never pause, so a reward model needs a pool of its own: verl asserts it"
        work.check("reward_model", Requires(code=MODE, source=source, key=own, value=True, message=message, when=WITH_TRAINER))


def _engines(work: Work) -> None:
    """The inference engines are named by nobody but the user."""
    when = BEFORE_WORKERS if work.setup.entry.kind is Kind.SERVER else IN_WORKERS
    for name in ("rollout", "reward_model"):
        if name == "rollout" or (work.setup.component(name) and work.is_engine(name)):
            key = engine_key(work.settings, work.setup.entry, name)("name")
            if work.is_whole and not work.settings.is_open(key, MODE) and work.settings.word(key, MODE) in ("", "???"):
                message = f"`{key}` is not set, and has no default: verl does not know which engine generates"
                help_ = f"set {work.settings.assigned(key, 'vllm')}"
                work.tell(MODE, name, message, None, help_, None, "", when if name == "rollout" else when_served(work, name))
