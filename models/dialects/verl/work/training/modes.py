"""Modes and strategies that go together, and with the program: what verl demands of them before it starts a worker, or with it.

Source: verl, verl/trainer/main_ppo.py (TaskRunner), verl/trainer/ppo/ray_trainer.py (RayPPOTrainer.__init__, init_workers),
verl/experimental/*/ (create_role_worker_mapping, the trainers), verl/workers/config/actor.py and critic.py.
"""

from __future__ import annotations

from ...entries import Kind
from ..degrees import is_engine, when_served
from ..notices import AT_START, BEFORE_WORKERS, IN_WORKERS, WITH_CRITIC
from ..work import MODE, NEW_WORKERS, Work

HYBRID = "actor_rollout_ref.hybrid_engine"
ACTOR, CRITIC, REWARD = "actor_rollout_ref.actor.strategy", "critic.strategy", "reward_model.strategy"
FSDP, KNOWN = ("fsdp", "fsdp2"), ("fsdp", "fsdp2", "megatron")
INFERRED = "actor_rollout_ref.rollout.log_prob_use_dynamic_bsz"
PADDING = {"actor": "actor_rollout_ref.model.use_remove_padding", "critic": "critic.model.use_remove_padding"}
TRAINERS = (Kind.HYBRID, Kind.SEPARATE, Kind.SPLIT, Kind.SIMULATION)


def judge_modes(work: Work) -> None:
    """Of the programs that train with roles."""
    if work.setup.entry.kind in (Kind.HYBRID, Kind.SEPARATE, Kind.SPLIT, Kind.SERVER):
        _engine(work)
    if work.setup.entry.kind not in TRAINERS:
        return
    _hybrid(work)
    _strategies(work)
    _configuration(work)
    _new_workers(work)
    _padding(work)


def _hybrid(work: Work) -> None:
    """Rollout in the processes of the actor, or apart from them."""
    wanted = work.setup.entry.kind is not Kind.SEPARATE
    flag = work.settings.flag(HYBRID, MODE)
    if flag is None or flag is wanted or not _is_said(work, HYBRID):
        return
    where = "in the processes of the actor" if wanted else "in a pool of its own"
    said = "" if work.settings.at(HYBRID) is not None else ", its default"
    message = f"`{HYBRID}` is {flag}{said}, but `{work.setup.entry.name}` generates {where}: verl asserts that it is {wanted}"
    at, help_ = work.settings.place(HYBRID), f"set {work.settings.assigned(HYBRID, wanted)}"
    work.tell(MODE, "rollout", message, at, help_, work.settings.becomes(HYBRID, str(wanted)), "", BEFORE_WORKERS)


def _is_said(work: Work, key: str) -> bool:
    """Is a value written, or is it a default that nothing else can change any more?"""
    return work.settings.at(key) is not None or work.is_whole


def _strategies(work: Work) -> None:
    """Each is known, and that of the critic goes with that of the actor, be there a critic or not."""
    kind, actor, critic = work.setup.entry.kind, work.settings.word(ACTOR, MODE), work.settings.word(CRITIC, MODE)
    new = kind is Kind.HYBRID and work.settings.word(NEW_WORKERS, MODE) == "disable"
    known = FSDP if kind is Kind.SIMULATION else KNOWN
    for name, key, word in (("actor", ACTOR, "" if new else actor), ("critic", CRITIC, critic if kind is Kind.HYBRID else "")):
        if word and word not in known:
            _unknown(work, name, key, word, known)
    reward = work.settings.word(REWARD, MODE) if work.setup.component("reward_model") else ""
    if reward and reward not in KNOWN:
        _unknown(work, "reward_model", REWARD, reward, KNOWN)
    if kind is Kind.HYBRID or actor not in known or not critic:
        return
    alike = FSDP if kind is Kind.SPLIT and actor in FSDP else (actor,)
    if critic not in alike and (_is_said(work, CRITIC) or _is_said(work, ACTOR)):
        said = "" if work.settings.at(CRITIC) is not None else " (its default)"
        message = f"`{CRITIC}` is {critic}{said} and `{ACTOR}` is {actor}: verl asserts that they are the same, be there a critic or not"
        help_, at = f"set {work.settings.assigned(CRITIC, actor)}", work.settings.place(CRITIC if work.settings.at(CRITIC) else ACTOR)
        work.tell(MODE, "critic", message, at, help_, work.settings.becomes(CRITIC, str(actor)), "differs", BEFORE_WORKERS)


def _unknown(work: Work, name: str, key: str, word: str, known: tuple[str, ...]) -> None:
    message = f"`{key}` is `{word}`, for which `{work.setup.entry.name}` has no workers: it raises a NotImplementedError"
    work.tell(MODE, name, message, work.settings.place(key), f"write one of {', '.join(known)}", None, "not known", BEFORE_WORKERS)


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
            first = word == "megatron" and name == "actor" and work.is_checked_at_start
            first = first and work.settings.flag("actor_rollout_ref.actor.use_dynamic_bsz", MODE) is False
            message = (
                f"`{key}` is {word}, but the configuration `{table.name if table else ''}` is for {stated.value}: it has no `{section}`"
            )
            edit, help_ = work.settings.becomes(key, str(stated.value)), f"start with a configuration for {word}, or set "
            help_ += work.settings.assigned(key, stated.value)
            work.tell(MODE, name, message, work.settings.place(key), help_, edit, "", AT_START if first else IN_WORKERS)


def _new_workers(work: Work) -> None:
    """The workers of the model engine train a critic with FSDP alone."""
    chosen = work.settings.word(NEW_WORKERS, MODE) if work.setup.entry.kind is Kind.HYBRID else ""
    if chosen and chosen not in ("auto", "enable", "disable"):
        message = f"`{NEW_WORKERS}` is `{chosen}`, which verl does not know: it raises a ValueError"
        help_ = f"set {work.settings.assigned(NEW_WORKERS, 'auto')}"
        edit = work.settings.becomes(NEW_WORKERS, "auto")
        work.tell(MODE, "critic", message, work.settings.place(NEW_WORKERS), help_, edit, "not known", BEFORE_WORKERS)
    if chosen == "disable":
        _sizes_of_new_workers(work)
    critic = work.settings.word(CRITIC, MODE)
    if chosen == "disable" and work.setup.component("critic") and critic and critic != "fsdp" and critic in KNOWN:
        message = f"with `{NEW_WORKERS}` disable a critic is trained with fsdp alone, but `{CRITIC}` is {critic}: verl raises a NotImplementedError"
        edit = work.settings.becomes(CRITIC, "fsdp") if critic in FSDP else None
        help_ = f"set {work.settings.assigned(CRITIC, 'fsdp')}" if critic in FSDP else f"set {work.settings.assigned(NEW_WORKERS, 'auto')}"
        work.tell(MODE, "critic", message, work.settings.place(CRITIC), help_, edit, "", WITH_CRITIC)


def _sizes_of_new_workers(work: Work) -> None:
    """They take the sizes of micro batches on one rank alone."""
    dynamic = work.settings.flag("actor_rollout_ref.actor.use_dynamic_bsz", MODE)
    if dynamic is None or not work.is_whole:
        return
    keys = ("actor_rollout_ref.rollout.log_prob_micro_batch_size_per_gpu", "actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu")
    for key in () if dynamic else keys:
        if not work.settings.is_open(key, MODE) and not work.settings.said(key, MODE):
            message = f"with `{NEW_WORKERS}` disable `{key}` must be set; verl asserts it"
            work.tell(MODE, "actor", message, None, f"set {work.settings.assigned(key, 1)}, or more", None, "", IN_WORKERS)
    inferred = work.settings.flag(INFERRED, MODE)
    if inferred is not None and inferred is not dynamic:
        message = f"with `{NEW_WORKERS}` disable `{INFERRED}` must be what `use_dynamic_bsz` of the actor is, {dynamic}; verl asserts it"
        help_, edit = f"set {work.settings.assigned(INFERRED, dynamic)}", work.settings.becomes(INFERRED, str(dynamic))
        work.tell(MODE, "actor", message, work.settings.place(INFERRED), help_, edit, "differs", IN_WORKERS)


def _padding(work: Work) -> None:
    """Sequence parallel ranks need inputs without padding."""
    for name, owner in (("actor", "actor_rollout_ref.actor"), ("critic", "critic")):
        checked = work.is_checked_at_start
        if work.setup.component(name) is None or work.is_trained_by(owner) != "fsdp" or (name == "actor" and not checked):
            continue
        sequence = work.amount(f"{owner}.ulysses_sequence_parallel_size", MODE)
        if sequence and sequence.value > 1 and _is_said(work, PADDING[name]) and work.settings.flag(PADDING[name], MODE) is False:
            message = f"{work.said(sequence)} needs inputs without padding, but `{PADDING[name]}` is not set"
            help_, edit = f"set {work.settings.assigned(PADDING[name], True)}", work.settings.becomes(PADDING[name], "True")
            when = AT_START if checked else WITH_CRITIC
            work.tell(MODE, name, message, work.settings.place(PADDING[name]), help_, edit, "", when)


def _engine(work: Work) -> None:
    """The inference engines are named by nobody but the user."""
    when = BEFORE_WORKERS if work.setup.entry.kind is Kind.SERVER else IN_WORKERS
    _named(work, "rollout", "actor_rollout_ref.rollout.name", when)
    if work.setup.component("reward_model") and is_engine(work, "reward_model"):
        _named(work, "reward_model", "reward_model.rollout.name", when_served(work, "reward_model"))


def _named(work: Work, name: str, key: str, when: str) -> None:
    if work.is_whole and not work.settings.is_open(key, MODE) and work.settings.word(key, MODE) in ("", "???"):
        message = f"`{key}` is not set, and has no default: verl does not know which engine generates"
        work.tell(MODE, name, message, None, f"set {work.settings.assigned(key, 'vllm')}", None, "", when)
