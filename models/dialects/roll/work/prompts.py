"""A batch of prompts is dealt out: to the data parallel ranks, and on each rank in whole updates.

Source: ROLL, roll/utils/config_utils.py (validate_megatron_batch_size); roll/pipeline/base_worker.py (ActorWorker.train_step,
CriticWorker.train_step); roll/distributed/scheduler/protocol.py (DataProto.make_iterator); roll/utils/functionals.py (batch_balance).
"""

from __future__ import annotations

from math import gcd, lcm

from ....configuration.settings import Amount
from ....findings.wording import with_noun
from ....share import Share
from ..modes.degrees import MEGATRON, degrees
from ..modes.notices import AFTER_ROLLOUT, AT_LOAD
from ..roles.parts import ACTOR_TRAIN, CRITICS
from ..roles.role import Role
from ..roles.setup import Setup
from .figures import ACCUMULATED, PER_DEVICE, Batches, amount, batches_of, either, nearest, of_role

SHARES, DEMANDS = "PW401", "PW403"
PROMPTS, ANSWERS = "rollout_batch_size", "num_return_sequences_in_group"
_ANY = -(10**9)


def prompts_of(setup: Setup) -> Amount | None:
    """How many prompts, or trajectories, a step has; negative for as many as there are."""
    return amount(setup.settings, PROMPTS, 128, "ROLL, roll/configs/base_config.py", _ANY)


def answers_of(setup: Setup) -> Amount | None:
    """How many answers each prompt gets; in agentic pipelines each trajectory is one."""
    if setup.pipeline.agentic:
        return Amount(1, ANSWERS)
    return amount(setup.settings, ANSWERS, 1, "ROLL, roll/pipeline/rlvr/rlvr_config.py")


def prompts(setup: Setup, training: bool) -> None:
    """The shares of every step, and with `training` what each update takes."""
    batch = prompts_of(setup)
    if batch is None:
        return
    step = _step(setup, training)
    for role in setup.declared(ACTOR_TRAIN):
        if not _unmapped(setup, role) and role.strategy in MEGATRON:
            _dealt_out(setup, role, batch, step)
    if training and setup.pipeline.ppo and not setup.pipeline.agentic:
        _updates(setup, batch, step)


def _unmapped(setup: Setup, role: Role) -> bool:
    """Is it the block `actor_train` of a pure distillation, where the student takes its place?"""
    return setup.pipeline.pure_opd and not role.created


def _step(setup: Setup, training: bool) -> int:
    """What the number of prompts must be a multiple of for all that is judged."""
    found = 1
    for role in setup.declared(ACTOR_TRAIN):
        its = batches_of(setup, role)
        found = lcm(found, its.ranks if its and role.strategy in MEGATRON else 1)
    answers = answers_of(setup)
    if setup.pipeline.agentic:
        group = setup.settings.at("train_env_manager.group_size")
        size = amount(setup.settings, "train_env_manager.group_size", 1, "") if group is not None else None
        return lcm(found, size.value) if size else found
    if training and answers and setup.pipeline.ppo:
        for its in _trained(setup):
            found = lcm(found, its.of_all // gcd(its.of_all, answers.value))
    return found


def _dealt_out(setup: Setup, role: Role, batch: Amount, step: int) -> None:
    """Megatron's data parallel ranks get the same number of prompts each; one rank alone gets all, whatever they are."""
    its = degrees(setup, role)
    if its is None:
        why = f"the degrees of its strategy are not all known here, so over how many ranks `{batch.name}` is dealt out is not"
        setup.notes.unsure(SHARES, role.key, why)
        return
    replica = its.parallel.replica
    component = setup.components.get(role.key)
    if role.ids is None:
        if component is not None and component.runs is None:
            _shared(setup, role, batch, f"prompts{_counted(replica)}", replica, AT_LOAD)
        return
    ranks = role.ids.count // replica
    if role.ids.count % replica or ranks < 2 or batch.value % ranks == 0:
        return
    over = (
        f"{with_noun(ranks, 'data parallel rank')} ({with_noun(role.ids.count, 'GPU')} // tp x pp x cp {replica})"
        if replica > 1
        else with_noun(ranks, "rank")
    )
    left = f"leave {batch.value % ranks} over" if batch.value > 0 else f"are no multiple of {ranks}"
    message = f"{batch.said} {_default(batch)}over the {over} of {role.key} {left}"
    values = nearest(batch.value, step)
    setup.notes.error(
        SHARES, role.key, message, batch.span or role.place, f"no multiple of {ranks}", f"set `{batch.name}` to {either(values)}",
        batch.becomes(min(values, key=lambda value: abs(value - batch.value))), AT_LOAD,
    )  # fmt: skip


def _shared(setup: Setup, role: Role, batch: Amount, what: str, factor: int, notice: str, multiple: int = 1, name: str = "") -> None:
    """A role that is left to solve gets as many GPUs as divide them; the ranks of a replica have the same ones, so they count for each."""
    if batch.value > 0:
        share = Share(role.key, batch.value * factor, multiple, what, batch.name, name, batch.span, notice, True, factor)
        setup.shares.append(share)


def _updates(setup: Setup, batch: Amount, step: int) -> None:
    """The samples of each rank are whole updates: otherwise the first training step fails, after a whole rollout."""
    answers = answers_of(setup)
    if answers is None or batch.value <= 0 or not setup.pipeline.updates_models:
        return
    samples = batch.value * answers.value
    for role in _open(setup):
        parallel, device, accumulated = degrees(setup, role), of_role(setup, role, PER_DEVICE), of_role(setup, role, ACCUMULATED)
        if parallel and device and accumulated:
            replica, size = parallel.parallel.replica, device.value * accumulated.value
            name = f"{device.name} x {accumulated.name}" if size > 1 else ""
            _shared(setup, role, batch, f"samples{_counted(replica)}", answers.value * replica, AFTER_ROLLOUT, size, name)
    for its in _trained(setup):
        if samples % its.of_all == 0:
            continue
        chain = f"{with_noun(batch.value, 'prompt')}{_default(batch, ' by default')} x {with_noun(answers.value, 'answer')} = {with_noun(samples, 'sample')}"
        each, left = divmod(samples, its.ranks)
        per_rank = f"{each} per rank, no multiple of" if not left else f"{samples / its.ranks:.1f} per rank, no multiple of"
        message = f"{chain} over the {with_noun(its.ranks, 'data parallel rank')} of {its.role.key} are {per_rank} {its.said}"
        values = nearest(batch.value, step)
        setup.notes.error(
            DEMANDS, its.role.key, message, batch.span or its.each.span or its.role.place, f"{samples} % {its.of_all} = {samples % its.of_all}",
            f"set `{batch.name}` to {either(values)}", batch.becomes(min(values, key=lambda value: abs(value - batch.value))), AFTER_ROLLOUT,
        )  # fmt: skip


def _open(setup: Setup) -> list[Role]:
    """The roles that train in whole updates and are left to solve."""
    roles = [role for part in (ACTOR_TRAIN, CRITICS) if (role := setup.role(part)) and role.ids is None and not _is_dynamic(setup, role)]
    return [role for role in roles if (component := setup.components.get(role.key)) and component.runs is None]


def _is_dynamic(setup: Setup, role: Role) -> bool:
    """Are its batches cut by tokens, or is that not known? A critic's never are."""
    return role.part == ACTOR_TRAIN and setup.settings.flag(role.path("use_dynamic_batching_in_train"), DEMANDS) is not False


def _trained(setup: Setup) -> list[Batches]:
    """The roles that train in whole updates; with dynamic batches the actor does not."""
    found = []
    for part in (ACTOR_TRAIN, CRITICS):
        role = setup.role(part)
        its = batches_of(setup, role) if role is not None else None
        if role is not None and its is not None and not _is_dynamic(setup, role):
            found.append(its)
    return found


def _counted(replica: int) -> str:
    return f" counted on each of {replica} ranks" if replica > 1 else ""


def _default(batch: Amount, said: str = "(the default) ") -> str:
    return "" if batch.scalar else said
