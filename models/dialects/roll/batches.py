"""Batches dealt out to data parallel ranks and updates, pairs of DPO, and how these numbers come about."""

from __future__ import annotations

from math import gcd, lcm

from ...configuration.settings import Amount, Settings
from ...derivation import DATA_PARALLEL_SIZE, REPLICA_SIZE, Derivation
from ...findings.wording import with_noun
from ...record import dataclass
from ...share import Share
from .job import Role, Setup
from .names import ACTOR_TRAIN, CRITICS, REFERENCES, SFT_TRAIN, STUDENTS, TEACHERS
from .names import AFTER_MODELS, AFTER_ROLLOUT, AT_LOAD, AT_TRAINING
from .strategies import MEGATRON, Degrees, data_parallel, degrees

# The batch sizes of one role as its workers read them, and how many data parallel ranks share the work.

RULE = "PW403"
_ARGUMENTS, _WORKER = "ROLL, roll/configs/training_args.py", "ROLL, roll/configs/worker_config.py"
PER_DEVICE, ACCUMULATED, INFERRED = (
    "training_args.per_device_train_batch_size", "training_args.gradient_accumulation_steps", "infer_batch_size",
)  # fmt: skip
_DEFAULTS = {PER_DEVICE: (8, _ARGUMENTS), ACCUMULATED: (1, _ARGUMENTS), INFERRED: (16, _WORKER)}


def amount(settings: Settings, path: str, default: int, source: str, least: int = 1) -> Amount | None:
    """A whole number, with the file of ROLL that its default stands in; None where it is not known or no number."""
    found = settings.whole(path, RULE, default, least=least, exact=True)
    return Amount(found.value, found.name, None, source) if found and found.scalar is None and not found.default else found


@dataclass(frozen=True, slots=True)
class Batches:
    """What one role trains on at once: `each` samples on a device, `accumulated` times before an update, on `ranks` data parallel ranks."""

    role: Role
    each: Amount
    accumulated: Amount
    ranks: int

    @property
    def of_rank(self) -> int:
        """Samples of one rank in one update."""
        return self.each.value * self.accumulated.value

    @property
    def of_all(self) -> int:
        """Samples of all ranks in one update."""
        return self.of_rank * self.ranks

    @property
    def said(self) -> str:
        """Such as ``per_device_train_batch_size 1 x gradient_accumulation_steps 16 = 16``."""
        names = [f"{amount.name.rpartition('.')[2]} {amount.value}" for amount in (self.each, self.accumulated)]
        return f"{' x '.join(names)} = {self.of_rank}"


def of_role(setup: Setup, role: Role, name: str) -> Amount | None:
    """One of the sizes of a role."""
    default, source = _DEFAULTS[name]
    return amount(setup.settings, role.path(name), default, source)


def batches_of(setup: Setup, role: Role) -> Batches | None:
    """The sizes of a role that trains; None where one is not known."""
    each, accumulated, ranks = of_role(setup, role, PER_DEVICE), of_role(setup, role, ACCUMULATED), data_parallel(setup, role)
    return Batches(role, each, accumulated, ranks) if each and accumulated and ranks else None


def derive(setup: Setup, component: str, name: str, value: int, formula: str, *amounts: Amount) -> int:
    """Tell how a number comes about; the number."""
    setup.derivations.append(Derivation(component, name, value, formula, tuple(amount.figure for amount in amounts)))
    return value


def nearest(value: int, step: int) -> list[int]:
    """The multiples of a step below and above a number."""
    lower = value // step * step
    return [lower, lower + step] if lower > 0 else [max(lower, 0) + step]


def either(values: list[int]) -> str:
    """`56 or 64`."""
    return " or ".join(map(str, values))


# A batch of prompts is dealt out: to the data parallel ranks, and on each rank in whole updates.
#
# Source: ROLL, roll/utils/config_utils.py (validate_megatron_batch_size); roll/pipeline/base_worker.py (ActorWorker.train_step,
# CriticWorker.train_step); roll/distributed/scheduler/protocol.py (DataProto.make_iterator); roll/utils/functionals.py (batch_balance).

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
        if samples % its.of_all == 0 or its.role.key in setup.short:
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
    if role.part != ACTOR_TRAIN or not setup.since("0.1.3"):
        return False
    return setup.settings.flag(role.path("use_dynamic_batching_in_train"), DEMANDS) is not False


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


# Pairs of answers in DPO, and the batches of distillation.
#
# Source: ROLL, roll/pipeline/dpo/dpo_config.py (DPOConfig.__post_init__), roll/pipeline/dpo/dpo_pipeline.py (DPOPipeline.__init__);
# roll/pipeline/distill/distill_pipeline.py.


def preferences(setup: Setup) -> None:
    """The reference takes no more pairs at once than a step of training has."""
    train, reference = setup.role(ACTOR_TRAIN), setup.role(REFERENCES)
    if setup.pipeline.ppo or train is None or reference is None or {train.key, reference.key} & setup.short:
        return
    its, inferred, ranks = batches_of(setup, train), of_role(setup, reference, INFERRED), data_parallel(setup, reference)
    if its is None or inferred is None or ranks is None:
        return
    takes = inferred.value * ranks
    if takes > its.of_all:
        message = f"{reference.key} takes {INFERRED} {inferred.value} x {with_noun(ranks, 'data parallel rank')} = {with_noun(takes, 'pair')} at once, more than the"
        message += f" {its.of_all} of a step of {train.key} ({its.said} on {with_noun(its.ranks, 'rank')})"
        better = its.of_all // ranks
        help = (
            f"set `{inferred.name}: {better}`" if better else f"give {reference.key} {with_noun(its.of_all, 'data parallel rank')} or fewer"
        )
        setup.notes.error(
            DEMANDS, reference.key, message, inferred.span or reference.place, f"more than {its.of_all}", help,
            inferred.becomes(better) if better else None, AFTER_MODELS,
        )  # fmt: skip


def taught(setup: Setup) -> None:
    """Every data parallel rank of the teacher gets samples of a batch, which is as large as the student's step."""
    student, teacher = setup.role(STUDENTS), setup.role(TEACHERS)
    its = batches_of(setup, student) if student is not None else None
    ranks = data_parallel(setup, teacher) if teacher is not None else None
    if student is None or teacher is None or its is None or not ranks or its.of_all >= ranks or setup.short:
        return
    message = f"a step of {student.key} has {with_noun(its.of_all, 'sample')} ({its.said} on {with_noun(its.ranks, 'rank')}), fewer than the {with_noun(ranks, 'data parallel rank')}"
    message += f" of {teacher.key}"
    help = f"set `{its.accumulated.name}: {-(-ranks // (its.each.value * its.ranks))}`"
    setup.notes.error(DEMANDS, student.key, message, its.each.span or student.place, "", help, None, AT_TRAINING)


# How the numbers of the work come about: data parallel ranks, samples of a step, of a rank, of an update.
#
# Source: ROLL, roll/utils/config_utils.py, roll/pipeline/base_worker.py, roll/pipeline/dpo/dpo_config.py and dpo_pipeline.py,
# roll/pipeline/sft/sft_pipeline.py, roll/pipeline/distill/distill_pipeline.py.

ON_RANKS = (ACTOR_TRAIN, CRITICS, REFERENCES, STUDENTS, TEACHERS, SFT_TRAIN)


def chains(setup: Setup) -> None:
    """The derivations of every role that trains or infers by ranks."""
    for part in ON_RANKS:
        for role in setup.all(part):
            _ranks(setup, role)
    for trained in (setup.role(ACTOR_TRAIN), setup.role(CRITICS)):
        its = batches_of(setup, trained) if trained is not None else None
        if trained is not None and its is not None and setup.pipeline.ppo:
            _of_prompts(setup, trained, its)
    _of_data(setup)


def _ranks(setup: Setup, role: Role) -> None:
    its, ranks = degrees(setup, role), data_parallel(setup, role)
    if its is None or ranks is None or role.ids is None:
        return
    parts = _parts(its)
    if parts:
        formula = " x ".join(f"{name} {amount.value}" for name, amount in parts)
        size = derive(setup, role.key, REPLICA_SIZE, its.parallel.replica, formula, *(amount for _, amount in parts))
        derive(
            setup,
            role.key,
            DATA_PARALLEL_SIZE,
            ranks,
            f"{with_noun(role.ids.count, 'rank')} // {size} a replica",
            *(amount for _, amount in parts),
        )
    else:
        derive(setup, role.key, DATA_PARALLEL_SIZE, ranks, f"{with_noun(role.ids.count, 'rank')}, each with samples of its own")


def _parts(its: Degrees) -> list[tuple[str, Amount]]:
    return [(name, amount) for name, amount in (("tp", its.tp), ("pp", its.pp), ("cp", its.cp)) if amount.value > 1 or amount.scalar]


def _of_prompts(setup: Setup, role: Role, its: Batches) -> None:
    """Prompts -> samples -> those of a rank -> updates -> micro batches."""
    batch, answers = prompts_of(setup), answers_of(setup)
    if batch is None or answers is None or batch.value <= 0:
        return
    samples = batch.value
    if not setup.pipeline.agentic:
        formula = f"{with_noun(batch.value, 'prompt')} x {with_noun(answers.value, 'answer')}"
        samples = derive(setup, role.key, "samples per step", batch.value * answers.value, formula, batch, answers)
    amounts = (batch,) if setup.pipeline.agentic else ()
    each = derive(
        setup,
        role.key,
        "samples per rank",
        samples // its.ranks,
        f"{with_noun(samples, 'sample')} // {with_noun(its.ranks, 'rank')}",
        *amounts,
    )
    _updates_of(setup, role, its, each)
    inferred = of_role(setup, role, INFERRED)
    if inferred is not None and each:
        count = max(each // inferred.value, 1)
        derive(
            setup,
            role.key,
            "micro batches of log probabilities",
            count,
            f"{with_noun(each, 'sample')} // {inferred.value} a micro batch",
            inferred,
        )


def _updates_of(setup: Setup, role: Role, its: Batches, each: int) -> None:
    if _is_dynamic(setup, role):
        return
    formula = f"{its.each.value} a micro batch x {its.accumulated.value} accumulated"
    size = derive(setup, role.key, "samples per rank and update", its.of_rank, formula, its.each, its.accumulated)
    if each % size == 0:
        derive(setup, role.key, "updates per step", each // size, f"{with_noun(each, 'sample')} // {size}")


def _of_data(setup: Setup) -> None:
    """Pipelines that read their samples: what a step takes of them."""
    train = next((role for part in (SFT_TRAIN, STUDENTS, ACTOR_TRAIN) if (role := setup.role(part))), None)
    its = batches_of(setup, train) if train is not None and not setup.pipeline.ppo else None
    if train is None or its is None:
        return
    what = "pairs per step" if train.part == ACTOR_TRAIN else "samples per step"
    formula = f"{its.each.value} a micro batch x {its.accumulated.value} accumulated x {with_noun(its.ranks, 'rank')}"
    derive(setup, train.key, what, its.of_all, formula, its.each, its.accumulated)
    if train.part == ACTOR_TRAIN:
        formula = f"{with_noun(its.each.value, 'pair')} x 2 answers: ROLL doubles {its.each.name}"
        derive(setup, train.key, "sequences per micro batch", its.each.value * 2, formula, its.each)
