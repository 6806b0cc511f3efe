"""Batch arithmetic: shares of ranks and updates, DPO pairs, environments, and derivations."""

from __future__ import annotations

from math import gcd, lcm

from ...configuration.settings import Amount, Settings
from ...derivation import DATA_PARALLEL_SIZE, REPLICA_SIZE, Derivation
from ...findings.wording import with_noun
from ...job import Share
from ...record import dataclass
from ...releases.release import Range
from ...text.tree import ListNode, MapNode, Scalar
from ..checks import AtLeast, Divides, Facts, Number, multiples_near
from .job import Role, RoleFacts, RollSetup, amount_of, number
from .names import (
    ACTOR_TRAIN,
    AFTER_MODELS,
    AFTER_ROLLOUT,
    AT_LOAD,
    AT_TRAINING,
    CRITICS,
    NEVER,
    REFERENCES,
    SFT_TRAIN,
    STUDENTS,
    TEACHERS,
    TRAIN_ENV,
    VAL_ENV,
)
from .strategies import MEGATRON, data_parallel, degrees

UNEVEN_SHARES, BATCH_NUMBERS = "PW401", "PW403"
PROMPTS, ANSWERS = "rollout_batch_size", "num_return_sequences_in_group"
PER_DEVICE, ACCUMULATED, INFERRED = (
    "training_args.per_device_train_batch_size", "training_args.gradient_accumulation_steps", "infer_batch_size",
)  # fmt: skip
_ARGUMENTS, _BASE = "ROLL, roll/configs/training_args.py", "ROLL, roll/configs/base_config.py"
_DEFAULTS = {PER_DEVICE: (8, _ARGUMENTS), ACCUMULATED: (1, _ARGUMENTS), INFERRED: (16, "ROLL, roll/configs/worker_config.py")}
_WORKER = "ROLL, roll/pipeline/base_worker.py"
ANY = -(10**9)
"""Least value of numbers that may be negative."""


def amount(settings: Settings, path: str, default: int, source: str, least: int = 1) -> Amount | None:
    """Return a whole number, with the ROLL file of the default; None if unknown."""
    setting = settings.whole(path, BATCH_NUMBERS, default, least=least, exact=True)
    return Amount(setting.value, setting.name, None, source) if setting and setting.scalar is None and not setting.default else setting


@dataclass(frozen=True, slots=True)
class Batches:
    """Training batch of a role: `each` samples on a device, `accumulated` steps, `ranks` ranks."""

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
        """Product as text.

        ``per_device_train_batch_size 1 x gradient_accumulation_steps 16 on 8 ranks = 128``, say.
        """
        names = [f"{amount.name.rpartition('.')[2]} {amount.value}" for amount in (self.each, self.accumulated)]
        return f"{' x '.join(names)} on {with_noun(self.ranks, 'rank')} = {self.of_all}"


def of_role(setup: RollSetup, role: Role, name: str) -> Amount | None:
    """Return a batch size of a role."""
    return amount(setup.settings, role.path(name), *_DEFAULTS[name])


def batches_of(setup: RollSetup, role: Role | None) -> Batches | None:
    """Return the batch sizes of a trained role; None if any is unknown."""
    if role is None:
        return None
    per_device, accumulated, ranks = of_role(setup, role, PER_DEVICE), of_role(setup, role, ACCUMULATED), data_parallel(setup, role)
    return Batches(role, per_device, accumulated, ranks) if per_device and accumulated and ranks else None


def nearest(value: int, step: int) -> list[int]:
    """Return the positive multiples of a step below and above a number."""
    return multiples_near(max(value, 0), step)


# Prompts are divided among data parallel ranks, and on each rank into whole updates.
#
# Source: ROLL, roll/utils/config_utils.py (validate_megatron_batch_size); roll/pipeline/base_worker.py
# (ActorWorker.train_step, CriticWorker.train_step); roll/distributed/scheduler/protocol.py (DataProto.make_iterator);
# roll/utils/functionals.py (batch_balance).


def prompts_of(setup: RollSetup) -> Amount | None:
    """Return the prompts, or trajectories, of a step; negative for all available ones."""
    return amount(setup.settings, PROMPTS, 128, _BASE, ANY)


def answers_of(setup: RollSetup) -> Amount | None:
    """Return the answers per prompt; 1 in agentic pipelines (a trajectory is an answer)."""
    if setup.pipeline.agentic:
        return Amount(1, ANSWERS)
    return amount(setup.settings, ANSWERS, 1, "ROLL, roll/pipeline/rlvr/rlvr_config.py")


def check_prompts(setup: RollSetup, training: bool) -> None:
    """Check and share the prompts of a step; with `training`, check every update too."""
    batch = prompts_of(setup)
    if batch is None:
        return
    step = _step(setup, training)
    for role in setup.declared(ACTOR_TRAIN):
        is_replaced = setup.pipeline.pure_opd and not role.created  # the student replaces it
        if role.strategy in MEGATRON and not is_replaced:
            _dealt_out(setup, role, batch, step)
    if training and setup.pipeline.ppo and not setup.pipeline.agentic:
        _updates(setup, batch, step)


def _step(setup: RollSetup, training: bool) -> int:
    """Return the step of prompt counts for all checks together."""
    multiple = 1
    for role in setup.declared(ACTOR_TRAIN):
        batches = batches_of(setup, role)
        multiple = lcm(multiple, batches.ranks if batches and role.strategy in MEGATRON else 1)
    if setup.pipeline.agentic:
        group = setup.settings.at("train_env_manager.group_size")
        size = amount(setup.settings, "train_env_manager.group_size", 1, "") if group is not None else None
        return lcm(multiple, size.value) if size else multiple
    answers = answers_of(setup)
    if training and answers and setup.pipeline.ppo:
        for batches in _trained(setup):
            multiple = lcm(multiple, batches.of_all // gcd(batches.of_all, answers.value))
    return multiple


def _dealt_out(setup: RollSetup, role: Role, batch: Amount, step: int) -> None:
    """Check that prompts divide among Megatron's data parallel ranks; one rank takes any number."""
    role_degrees = degrees(setup, role)
    if role_degrees is None:
        why = f"the degrees of its strategy are not all known here, so over how many ranks `{batch.name}` is dealt out is not"
        setup.notes.unsure(UNEVEN_SHARES, role.key, why)
        return
    component, replica = setup.components.get(role.key), role_degrees.parallel.replica
    if role.ids is None:
        if component is not None and component.runs is None:
            _shared(setup, role, batch, "prompts", replica, 1, AT_LOAD)
        return
    facts, ranks = RoleFacts(setup, role), role.ids.count // replica
    if role.ids.count % replica == 0 and ranks > 1:
        over = Number(ranks, f"the {with_noun(ranks, 'data parallel rank')} of {role.key}")
        Divides(
            code=UNEVEN_SHARES, source="ROLL, roll/utils/config_utils.py", when=AT_LOAD, left=amount_of(facts, batch), right=over,
            suggest=nearest(batch.value, step), message="{left} over {right} leaves {rest} over",
        ).run(facts)  # fmt: skip


def _shared(
    setup: RollSetup, role: Role, batch: Amount, noun: str, replica: int, answers: int, notice: str, multiple: int = 1, name: str = ""
) -> None:
    """Add a share: the GPUs of an open role must divide the batch.

    The ranks of a replica get the same prompts, so each of them counts.
    """
    counted = f" counted on each of {replica} ranks" if replica > 1 else ""
    factor = replica * answers
    if batch.value > 0:
        share = (role.key, batch.value * factor, multiple, f"{noun}{counted}", batch.name, name, batch.span, notice, True, factor)
        setup.shares.append(Share(*share))


def _updates(setup: RollSetup, batch: Amount, step: int) -> None:
    """Check that the samples of every rank form whole updates.

    Otherwise the first training step fails, after a whole rollout.
    """
    answers = answers_of(setup)
    if answers is None or batch.value <= 0 or not setup.pipeline.updates_models:
        return
    for role in (setup.role(ACTOR_TRAIN), setup.role(CRITICS)):
        component = setup.components.get(role.key) if role and role.ids is None and not _is_dynamic(setup, role) else None
        if role is None or component is None or component.runs is not None:
            continue
        parallel, device, accumulated = degrees(setup, role), of_role(setup, role, PER_DEVICE), of_role(setup, role, ACCUMULATED)
        if parallel and device and accumulated:
            size = device.value * accumulated.value
            name = f"{device.name} x {accumulated.name}" if size > 1 else ""
            _shared(setup, role, batch, "samples", parallel.parallel.replica, answers.value, AFTER_ROLLOUT, size, name)
    # The help of that finding fixes both.
    is_told = any(finding.code == UNEVEN_SHARES and finding.span == batch.span for finding in setup.notes.findings)
    for batches in _trained(setup) if not is_told else ():
        if batches.role.key not in setup.short:
            samples, facts = batch.value * answers.value, RoleFacts(setup, batches.role)
            prompt_text = f"{with_noun(batch.value, 'prompt')}{'' if batch.scalar else ' by default'}"
            chain = f"{prompt_text} x {with_noun(answers.value, 'answer')} = {with_noun(samples, 'sample')}"
            Divides(
                code=BATCH_NUMBERS, source=_WORKER, when=AFTER_ROLLOUT, left=Number(samples, chain, batch),
                right=Number(batches.of_all, f"updates of {batches.role.key} ({batches.said})", batches.each), suggest=nearest(batch.value, step),
                message="{left} are no whole {right}: {rest} left over",
            ).run(facts)  # fmt: skip


def _is_dynamic(setup: RollSetup, role: Role) -> bool:
    """Return True if batches are cut by tokens, or if unknown; never for a critic."""
    if role.part != ACTOR_TRAIN or not setup.since("0.1.3"):
        return False
    return setup.settings.flag(role.path("use_dynamic_batching_in_train"), BATCH_NUMBERS) is not False


def _trained(setup: RollSetup) -> list[Batches]:
    """Return the roles that train in whole updates; an actor with dynamic batches does not."""
    candidates = [batches_of(setup, setup.role(part)) for part in (ACTOR_TRAIN, CRITICS)]
    return [batches for batches in candidates if batches is not None and not _is_dynamic(setup, batches.role)]


# Pairs of answers in DPO, and batches of distillation.
#
# Source: ROLL, roll/pipeline/dpo/dpo_config.py (DPOConfig.__post_init__), roll/pipeline/dpo/dpo_pipeline.py
# (DPOPipeline.__init__); roll/pipeline/distill/distill_pipeline.py.


def check_preferences(setup: RollSetup) -> None:
    """Check that the reference takes at most the pairs of a training step at once."""
    train, reference = setup.role(ACTOR_TRAIN), setup.role(REFERENCES)
    if setup.pipeline.ppo or train is None or reference is None or {train.key, reference.key} & setup.short:
        return
    batches, inferred, ranks = batches_of(setup, train), of_role(setup, reference, INFERRED), data_parallel(setup, reference)
    if batches is None or inferred is None or ranks is None or inferred.value * ranks <= batches.of_all:
        return
    takes, better = inferred.value * ranks, batches.of_all // ranks
    message = f"{reference.key} takes {INFERRED} {inferred.value} x {with_noun(ranks, 'rank')} = {with_noun(takes, 'pair')} at once"
    message += f", more than a step of {train.key}: {batches.said}"
    help = (
        f"set `{inferred.name}: {better}`" if better else f"give {reference.key} {with_noun(batches.of_all, 'data parallel rank')} or fewer"
    )
    edit = inferred.becomes(better) if better else None
    at = inferred.span or reference.place
    setup.notes.error(BATCH_NUMBERS, reference.key, message, at, f"more than {batches.of_all}", help, edit, AFTER_MODELS)


def check_teacher_batches(setup: RollSetup) -> None:
    """Check that every data parallel rank of the teacher gets samples of the student's step."""
    teacher, batches = setup.role(TEACHERS), batches_of(setup, setup.role(STUDENTS))
    ranks = data_parallel(setup, teacher) if teacher is not None else None
    if teacher is not None and batches is not None and ranks and not setup.short:
        help = f"set `{batches.accumulated.name}: {-(-ranks // (batches.each.value * batches.ranks))}`"
        AtLeast(
            code=BATCH_NUMBERS, source="ROLL, roll/pipeline/distill/distill_pipeline.py", when=AT_TRAINING, edits=False, help=help,
            left=Number(batches.of_all, f"a step of {batches.role.key} ({batches.said})", batches.each),
            right=Number(ranks, f"the {with_noun(ranks, 'data parallel rank')} of {teacher.key}"), message="{left} is fewer than {right}",
        ).run(RoleFacts(setup, batches.role))  # fmt: skip


# Derivations: data parallel ranks, samples per step, per rank, and per update.
#
# Source: ROLL, roll/utils/config_utils.py, roll/pipeline/base_worker.py, roll/pipeline/dpo/dpo_config.py and
# dpo_pipeline.py, roll/pipeline/sft/sft_pipeline.py, roll/pipeline/distill/distill_pipeline.py.

_ON_RANKS = (ACTOR_TRAIN, CRITICS, REFERENCES, STUDENTS, TEACHERS, SFT_TRAIN)


def chains(setup: RollSetup) -> None:
    """Add the derivations of all roles with data parallel ranks."""
    for role in (role for part in _ON_RANKS for role in setup.all(part)):
        _ranks(setup, role)
    for batches in (batches_of(setup, setup.role(part)) for part in (ACTOR_TRAIN, CRITICS)):
        if batches is not None and setup.pipeline.ppo:
            _derive_prompts(setup, batches)
    if not setup.pipeline.ppo:
        trained = filter(None, map(setup.role, (SFT_TRAIN, STUDENTS, ACTOR_TRAIN)))
        if batches := batches_of(setup, next(trained, None)):
            _derive_data(setup, batches)


def _derive(setup: RollSetup, role: Role, name: str, value: int, formula: str, *amounts: Amount) -> int:
    """Add a derivation and return the value."""
    setup.derivations.append(Derivation(role.key, name, value, formula, tuple(amount.figure for amount in amounts)))
    return value


def _ranks(setup: RollSetup, role: Role) -> None:
    role_degrees, ranks = degrees(setup, role), data_parallel(setup, role)
    if role_degrees is None or ranks is None or role.ids is None:
        return
    named = (("tp", role_degrees.tp), ("pp", role_degrees.pp), ("cp", role_degrees.cp))
    parts = [(name, amount) for name, amount in named if amount.value > 1 or amount.scalar]
    amounts, formula = [amount for _, amount in parts], with_noun(role.ids.count, "rank")
    if parts:
        product = " x ".join(f"{name} {amount.value}" for name, amount in parts)
        size = _derive(setup, role, REPLICA_SIZE, role_degrees.parallel.replica, product, *amounts)
        formula += f" // {size} a replica"
    else:
        formula += ", each with samples of its own"
    _derive(setup, role, DATA_PARALLEL_SIZE, ranks, formula, *amounts)


def _derive_prompts(setup: RollSetup, batches: Batches) -> None:
    """Derive samples, samples per rank, updates and micro batches from prompts."""
    batch, answers, role = prompts_of(setup), answers_of(setup), batches.role
    if batch is None or answers is None or batch.value <= 0:
        return
    samples, amounts = batch.value, [batch]
    if not setup.pipeline.agentic:
        formula, amounts = f"{with_noun(batch.value, 'prompt')} x {with_noun(answers.value, 'answer')}", []
        samples = _derive(setup, role, "samples per step", batch.value * answers.value, formula, batch, answers)
    formula = f"{with_noun(samples, 'sample')} // {with_noun(batches.ranks, 'rank')}"
    share = _derive(setup, role, "samples per rank", samples // batches.ranks, formula, *amounts)
    samples_text = with_noun(share, "sample")
    if not _is_dynamic(setup, role):
        formula = f"{batches.each.value} a micro batch x {batches.accumulated.value} accumulated"
        size = _derive(setup, role, "samples per rank and update", batches.of_rank, formula, batches.each, batches.accumulated)
        if share % size == 0:
            _derive(setup, role, "updates per step", share // size, f"{samples_text} // {size}")
    inferred = of_role(setup, role, INFERRED)
    if inferred is not None and share:
        formula = f"{samples_text} // {inferred.value} a micro batch"
        _derive(setup, role, "micro batches of log probabilities", max(share // inferred.value, 1), formula, inferred)


def _derive_data(setup: RollSetup, batches: Batches) -> None:
    """Derive the samples of a step in pipelines without generation."""
    is_paired = batches.role.part == ACTOR_TRAIN
    formula = f"{batches.each.value} a micro batch x {batches.accumulated.value} accumulated x {with_noun(batches.ranks, 'rank')}"
    _derive(
        setup,
        batches.role,
        "pairs per step" if is_paired else "samples per step",
        batches.of_all,
        formula,
        batches.each,
        batches.accumulated,
    )
    if is_paired:
        formula = f"{with_noun(batches.each.value, 'pair')} x 2 answers: ROLL doubles {batches.each.name}"
        _derive(setup, batches.role, "sequences per micro batch", batches.each.value * 2, formula, batches.each)


# Environments of agentic pipelines: groups, trajectories per batch, and adjusted batches.
#
# Source: ROLL, roll/pipeline/agentic/agentic_config.py (AgenticConfig.__post_init__, make_env_configs);
# roll/pipeline/agentic/agentic_pipeline.py (adjust_batch).

DIVIDE = {TRAIN_ENV: Range(since="0.2.0"), VAL_ENV: Range(since="0.1.3")}
"""Releases that assert whole groups per batch, and whole rounds per validation batch."""
_CONFIG = "ROLL, roll/pipeline/agentic/agentic_config.py"
WAYS = {
    "copy": "copies {missing} of them at random to fill it",
    "delete": "drops {left} of them at random",
    "auto": "copies or drops some of them at random",
    "random_sample": "keeps {size} of them at random, or copies some",
}
"""`batch_adjust_mode` -> ROLL's change to an uneven batch, as part of a sentence."""


def check_trajectories(setup: RollSetup, training: bool) -> None:
    """Add ROLL's checks at load; with `training`, also silent adjustments."""
    if not setup.pipeline.agentic:
        return
    batch, validated = prompts_of(setup), amount(setup.settings, "val_batch_size", 128, "ROLL, roll/configs/base_config.py", ANY)
    for env, total in ((TRAIN_ENV, batch), (VAL_ENV, validated)):
        is_settled = _check_partition(setup, env, total)
        group, groups = _size(setup, env, "group_size", 1), _size(setup, env, "num_env_groups", 128)
        if total is not None and group is not None and groups is not None and group.value and groups.value:
            _check_groups(setup, env, total, group, groups, is_settled)
            _check_rounds(setup, env, total, group.value * groups.value)
    if training and batch is not None and batch.value > 0 and setup.pipeline.updates_models:
        _adjusted(setup, batch)


def _size(setup: RollSetup, env: str, name: str, default: int) -> Amount | None:
    return amount(setup.settings, f"{env}.{name}", default, _CONFIG, 0)


def _check_groups(setup: RollSetup, env: str, total: Amount, group: Amount, groups: Amount, is_settled: bool) -> None:
    """Check that a batch has whole groups, and a validation batch whole rounds of environments.

    `is_settled`: no other finding changes the number of environments.
    """
    step, text = group.value, f"{group.value}, the environments of a group ({group.name})"
    if env == VAL_ENV:
        step = group.value * groups.value
        text = f"{with_noun(groups.value, 'group')} x {group.value} = {with_noun(step, 'environment')} of {env}"
    if total.value > 0 or (env == VAL_ENV and total.value == 0):
        facts = Facts(setup.notes, setup.settings, env)
        Divides(
            code=BATCH_NUMBERS, source=_CONFIG, when=AT_LOAD, releases=DIVIDE[env], left=amount_of(facts, total), right=Number(step, text, group),
            suggest=nearest(total.value, step), edits=is_settled,
        ).run(facts)  # fmt: skip


def _check_rounds(setup: RollSetup, env: str, total: Amount, environments: int) -> None:
    """Check that the trajectories per environment suffice for a batch.

    ROLL computes negative ones itself, and those of asynchronous training.
    """
    most = amount(setup.settings, f"{env}.max_traj_per_env", -1, _CONFIG, ANY)
    async_ratio = number(setup.settings, "async_generation_ratio", BATCH_NUMBERS, 0)
    needed = -(-total.value // environments)
    if (
        most is None
        or async_ratio is None
        or most.value < 0
        or (env == TRAIN_ENV and async_ratio > 0)
        or (env == VAL_ENV and total.value < 0)
    ):
        return
    facts = Facts(setup.notes, setup.settings, env)
    right = Number(needed, f"{needed}: {with_noun(environments, 'environment')} run a batch of {total.value}")
    AtLeast(code=BATCH_NUMBERS, source=_CONFIG, when=AT_LOAD, left=amount_of(facts, most), right=right).run(facts)


def _check_partition(setup: RollSetup, env: str, total: Amount | None) -> bool:
    """Return True if the groups of all tags add up, or are unknown.

    Adds an error otherwise.
    """
    settings = setup.settings
    tags, parts = settings.at(f"{env}.tags"), settings.at(f"{env}.num_groups_partition")
    groups = _size(setup, env, "num_env_groups", 128)
    is_known = isinstance(tags, (ListNode, type(None))) and (isinstance(parts, ListNode) or (parts is None and not setup.notes.partial))
    if groups is None or not is_known:
        return True
    values = [item.value if isinstance(item, Scalar) else None for item in parts.items] if isinstance(parts, ListNode) else [128]
    numbers = [value for value in values if type(value) is int]
    names = len(tags.items) if isinstance(tags, ListNode) else 1
    used = sum(numbers[:names])  # one number per tag
    if len(numbers) < len(values) or used == groups.value:
        return True
    message = f"`{env}.num_groups_partition`{'' if parts else ', by default,'} gives {with_noun(used, 'group')}, but {groups.said}"
    meant = [groups.value // names + (place < groups.value % names) for place in range(names)]
    help, edit = f"write `{env}.num_groups_partition: {meant}`", None
    group = _size(setup, VAL_ENV, "group_size", 1)
    round_ = used * group.value if group is not None else 0
    fits = total is not None and (total.value < 0 or (round_ > 0 and total.value % round_ == 0))
    if parts and used > 0 and (env != VAL_ENV or fits):
        help, edit = f"set `{groups.name}: {used}`", groups.becomes(used)
    at = parts or groups.scalar or settings.top
    setup.notes.error(BATCH_NUMBERS, env, message, at, with_noun(used, "group"), help, edit, AT_LOAD)
    return False


def _adjusted(setup: RollSetup, batch: Amount) -> None:
    """Warn if ROLL copies or drops trajectories to make a batch even.

    Every batch becomes a multiple of the samples that all roles take at once.
    """
    sizes = _taken(setup) if not setup.short else None
    mode = setup.settings.word("batch_adjust_mode", BATCH_NUMBERS)
    if sizes is None or mode is None or (mode or "copy") not in WAYS or not _one_sample_each(setup):
        return
    size = lcm(*(taken for _, taken in sizes))
    left = batch.value % size
    if left:
        does = WAYS[mode or "copy"].format(missing=size - left, left=left, size=size)
        message = f"{batch.said} is no multiple of {size}, what the roles take at once, so in every step ROLL {does}"
        help = f"set `{batch.name}` to {' or '.join(map(str, nearest(batch.value, size)))}"
        why = (*(name for name, taken in sizes if taken > 1), f"where every trajectory is one sample; {NEVER}")
        setup.notes.warn(BATCH_NUMBERS, ACTOR_TRAIN, message, batch.span or setup.top, f"no multiple of {size}", help, None, *why)


def _taken(setup: RollSetup) -> list[tuple[str, int]] | None:
    """Return (text, samples taken at once) per role; None if any is unknown.

    Every batch becomes a multiple of their least common multiple.
    """
    sizes: list[tuple[str, int]] = []
    for role in (role for part in (ACTOR_TRAIN, REFERENCES, CRITICS) for role in setup.all(part)):
        ranks, inferred = data_parallel(setup, role), of_role(setup, role, INFERRED)
        batches = batches_of(setup, role) if role.part != REFERENCES else None
        if ranks is None or inferred is None or (batches is None and role.part != REFERENCES):
            return None
        if batches is not None:
            sizes.append((f"{role.key} trains on {batches.said}", batches.of_all))
        size = inferred.value * ranks
        sizes.append((f"{role.key} infers {INFERRED} {inferred.value} on {with_noun(ranks, 'rank')} = {size}", size))
    return sizes or None


def _one_sample_each(setup: RollSetup) -> bool:
    """Return True if all environments make a single sample per trajectory.

    ROLL's default manager does.
    """
    environments = setup.settings.at("custom_envs")
    if not isinstance(environments, MapNode):
        return False
    managers = [setup.settings.at(f"custom_envs.{entry.key.text}.env_manager_cls") for entry in environments]
    return all(manager is None or (isinstance(manager, Scalar) and str(manager.value).endswith(".TrajEnvManager")) for manager in managers)
