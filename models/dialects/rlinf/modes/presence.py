"""Components and settings that a mode needs, and those that it forbids.

Source: RLinf, rlinf/utils/placement.py and rlinf/config.py (validate_reasoning_cfg, validate_coding_online_rl_cfg); the main
programs under examples/reasoning and examples/agent; rlinf/workers/actor/fsdp_actor_worker.py and megatron_actor_worker.py.
"""

from __future__ import annotations

from ....configuration.notes import is_unknown
from ....configuration.settings import Amount
from ....problem import AMOUNT
from ....text.nearest import nearest
from ....text.tree import Mapping
from .arrangement import Arrangement
from .fitting_tp import fitting_tp
from .inference import lacking, unset
from .parts import Parts
from .pipeline import refused

CODE, IDLE = "PW123", "PW803"
LATE = "RLinf notices this only after workers have started"


def needed(parts: Parts, *names: str) -> None:
    """An error for each component that must be placed and is not."""
    for name in names:
        if parts.has(name):
            continue
        if parts.notes.partial:
            parts.notes.unsure(CODE, name, f"`{name}` is not placed in this file; it may come from `defaults`")
            continue
        if (meant := nearest(name, [each for each in parts.components if each not in parts.written])) is not None:
            message = f"the hints name `{meant}`, which {parts.reason} does not know, and not `{name}`, which it needs"
            span = parts.components[meant].span(AMOUNT) or parts.owner
            parts.notes.error(CODE, meant, message, span, f"of `{meant}`", f"write `{name}` instead of `{meant}`")
            continue
        message = f"`{name}` is not placed, but {parts.reason} needs {', '.join(f'`{each}`' for each in names)}"
        parts.notes.error(CODE, name, message, parts.owner, f"no `{name}`", f"add a line for `{name}`, such as `{name}: all`")


def sections(parts: Parts, *paths: str) -> None:
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


def log_probabilities(parts: Parts) -> None:
    """The probabilities of the old policy come from somewhere; online coding has settings of its own."""
    notes, settings = parts.notes, parts.settings
    again, at = settings.flag("algorithm.recompute_logprobs", CODE), settings.at("algorithm.recompute_logprobs")
    returned = settings.flag("rollout.return_logprobs", CODE)
    if again is not None and at is None:
        message = "there is no `algorithm.recompute_logprobs`, which RLinf reads before anything else of the job"
        notes.error("PW101", "algorithm", message, parts.owner, "", "say `algorithm: {recompute_logprobs: true}`, or `false`")
    if again is None or at is None:
        return
    if parts.task == "coding_online_rl":
        backend, where = settings.word("actor.training_backend", CODE), settings.at("actor.training_backend")
        if not again:
            message = "online coding needs `algorithm.recompute_logprobs: true`"
            notes.error(CODE, "algorithm", message, at, "", "write `true`", settings.becomes("algorithm.recompute_logprobs", "true"))
        if backend and where and backend != "megatron":
            message = f"online coding trains with megatron alone, but `actor.training_backend` is `{backend}`"
            notes.error(CODE, "actor", message, where, "", "write `megatron`", settings.becomes("actor.training_backend", "megatron"))
    elif not again and returned is False:
        message = (
            "neither `algorithm.recompute_logprobs` nor `rollout.return_logprobs` is true, so the old policy's probabilities are missing"
        )
        notes.error(CODE, "algorithm", message, at, "", "set one of them to `true`")


def inference(parts: Parts, found: Arrangement) -> None:
    """Inference has components of its own exactly where rollout and actor are apart."""
    notes, settings = parts.notes, parts.settings
    its, critics = parts.first_of("inference", "actor_inference"), parts.first_of("critic_inference")
    if found is Arrangement.COLLOCATED:
        for name in filter(None, (its, critics)):
            message = f"`{name}` is placed, but `actor` and `rollout` share their accelerators, and then it must not be"
            notes.error(
                CODE, name, message, parts.place(name), "", f"drop `{name}`, or give `actor` and `rollout` accelerators of their own"
            )
        if parts.task == "coding_online_rl":
            message = "online coding needs `actor` and `rollout` on accelerators of their own, but they share them"
            notes.error(CODE, "rollout", message, parts.place("rollout"), "the same as `actor`", "give them different ranks")
    if found not in (Arrangement.DISAGGREGATED, Arrangement.AUTO):
        return
    again, fixed = settings.flag("algorithm.recompute_logprobs", CODE), settings.flag("algorithm.importance_sampling_fix", CODE)
    if again is None or fixed is None or settings.at("algorithm.recompute_logprobs") is None:
        return
    if its and not again and not fixed and found is Arrangement.DISAGGREGATED:
        message = f"`{its}` is placed, but `algorithm.recompute_logprobs` is false, which turns it off"
        notes.error(CODE, its, message, parts.place(its), "turned off", f"drop `{its}`, or set `algorithm.recompute_logprobs: true`")
    why = lacking(parts, found is Arrangement.AUTO)
    if why and not {"actor", "rollout"} <= parts.planned:  # what is planned is not apart where that is so
        message = f"`inference` is not placed, but {why}; {LATE}"
        help = "place `inference` on accelerators of its own, or give `actor` and `rollout` the same ranks"
        report = notes.error if found is Arrangement.DISAGGREGATED else notes.warn
        report(CODE, "inference", message, parts.owner, "no `inference`", help)


def pipeline(parts: Parts, found: Arrangement) -> None:
    """Where actor and rollout are apart, what trains takes batches as they come, and the inference components have settings."""
    if found not in (Arrangement.DISAGGREGATED, Arrangement.AUTO) or {"actor", "rollout"} <= parts.planned:  # see ways.py
        return
    for path in refused(parts, found is Arrangement.AUTO):
        owner, edit = path.split(".", 1)[0], parts.settings.becomes(path, "false")
        message = f"`{path}` is true, but what trains refuses it where actor and rollout are apart; {LATE}"
        place = parts.settings.at(path)
        help = f"write `{path}: false`, or give `actor` and `rollout` the same ranks"
        parts.notes.error(CODE, owner if owner != "runner" else "actor", message, place or parts.owner, "", help, edit)
    if missing := unset(parts):
        listed = " and ".join(f"`{each}`" for each in missing)
        name = parts.first_of("inference", "actor_inference", "critic_inference") or "inference"
        message = f"the file has no {listed}, which RLinf's programs read where `{name}` is started by itself; {LATE}"
        help = f"add {listed} with the settings of the job, or give `actor` and `rollout` the same ranks and drop `{name}`"
        parts.notes.error("PW101", name, message, parts.place(name), "", help)


def engine_within_actor(
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
    backend = parts.settings.word("actor.training_backend", CODE)
    if backend == "megatron" or (backend == "fsdp" and found is Arrangement.COLLOCATED and (actor.value > 1 or partly)):
        where = " with rollout on some of its accelerators" if partly else " on the same accelerators"
        shares = where if backend == "fsdp" else ""
        message = f"the tp of rollout is {rollout.value}, but {'an' if backend == 'fsdp' else 'a'} {backend} actor of tp {actor.value}{shares} takes at most its own"
        message += "; RLinf notices this only after workers have started"
        better = fitting_tp(parts, found, actor, rollout.value, count) if count else actor.value
        help = f"set `{rollout.name}: {better}`, or `{actor.name}: {rollout.value}`" if better else f"set `{actor.name}: {rollout.value}`"
        edit = rollout.becomes(better) if better else None
        parts.notes.error(CODE, "rollout", message, rollout.span or parts.owner, "", help, edit)


def critic(parts: Parts, found: Arrangement) -> None:
    """A critic model that is switched on is placed, and has its own inference where that is apart; one that is not is started nowhere."""
    on = parts.settings.flag("critic.use_critic_model", CODE)
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
            parts.notes.warn(CODE, name, message, parts.owner, f"no `{name}`", f"place `{name}`, or set `critic.use_critic_model: false`")
