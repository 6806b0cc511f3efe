"""Batch arithmetic: shares of ranks and updates, DPO pairs, environments, and derivations."""

from __future__ import annotations

from math import gcd, lcm

from ...configuration.notes import is_unknown
from ...configuration.settings import Amount
from ...derivation import DATA_PARALLEL_SIZE, REPLICA_SIZE
from ...findings.wording import with_noun
from ...job import Share
from ...record import dataclass
from ...releases.release import Range
from ...text.tree import ListNode, MapNode, Scalar
from ..checks import AtLeast, Divides, Facts, Number, multiples_near, near_text
from . import names
from .findings import report
from .job import Role, RoleFacts, RollChecks, RollSetup, number
from .names import ACTOR_TRAIN, AFTER_ROLLOUT, AT_LOAD, AT_TRAINING, CRITICS, NEVER, REFERENCES, TRAIN_ENV, VAL_ENV
from .profile import fact_file
from .strategies import data_parallel, degrees

UNEVEN_SHARES, BATCH_NUMBERS, MODES = "PW401", "PW403", "PW123"
PROMPTS, ANSWERS = "rollout_batch_size", "num_return_sequences_in_group"
PER_DEVICE, ACCUMULATED, INFERRED = (
    "training_args.per_device_train_batch_size", "training_args.gradient_accumulation_steps", "infer_batch_size",
)  # fmt: skip
ANY = -(10**9)
"""Least value of numbers that may be negative."""


@dataclass(frozen=True, slots=True)
class Batches:
    """Training batch of a role: `per_device` samples on a device, `accumulated` steps, `ranks` ranks."""

    role: Role
    per_device: Amount
    accumulated: Amount
    ranks: int

    @property
    def of_rank(self) -> int:
        """Samples of one rank in one update."""
        return self.per_device.value * self.accumulated.value

    @property
    def of_all(self) -> int:
        """Samples of all ranks in one update."""
        return self.of_rank * self.ranks

    @property
    def product(self) -> str:
        """Product: ``per_device_train_batch_size 1 x gradient_accumulation_steps 16 on 8 ranks = 128``."""
        factors = [f"{amount.name.rpartition('.')[2]} {amount.value}" for amount in (self.per_device, self.accumulated)]
        return f"{' x '.join(factors)} on {with_noun(self.ranks, 'rank')} = {self.of_all}"


_ON_RANKS = (ACTOR_TRAIN, CRITICS, REFERENCES, names.STUDENTS, names.TEACHERS, names.SFT_TRAIN)
DIVIDE = {TRAIN_ENV: Range(since="0.2.0"), VAL_ENV: Range(since="0.1.3")}
"""Releases that assert whole groups per batch, and whole rounds per validation batch."""
_CONFIG = "ROLL, roll/pipeline/agentic/agentic_config.py"


class BatchChecks(RollChecks):
    """Checks and derivations of the batches of a job; with `training`, also of every update.

    `batch` is the number of prompts, or trajectories, of a step: negative for all available ones.
    """

    def __init__(self, setup: RollSetup, training: bool) -> None:
        super().__init__(setup)
        self.training = training
        self.batch = self.amount(PROMPTS, "BaseConfig", ANY)

    def amount(self, path: str, owner: str, minimum: int = 1) -> Amount | None:
        """Return a whole number, by default that of the class `owner`; None if unknown."""
        profile = self.setup.profile
        default, source = profile.keys(owner)[path.rpartition(".")[2]][1], profile.source(owner)
        setting = self.settings.whole(path, BATCH_NUMBERS, default, minimum=minimum, exact=True)
        return Amount(setting.value, setting.name, None, source) if setting and setting.scalar is None and not setting.default else setting

    def of_role(self, role: Role, name: str) -> Amount | None:
        """Return a batch size of a role."""
        return self.amount(role.path(name), "WorkerConfig" if name == INFERRED else "TrainingArguments")

    def batches_of(self, role: Role | None) -> Batches | None:
        """Return the batch sizes of a trained role; None if any is unknown."""
        if role is None:
            return None
        per_device, accumulation, ranks = self.of_role(role, PER_DEVICE), self.of_role(role, ACCUMULATED), data_parallel(self.setup, role)
        return Batches(role, per_device, accumulation, ranks) if per_device and accumulation and ranks else None

    def check(self) -> None:
        """Check and derive the batches of all roles."""
        if self.batch is not None:
            self._check_prompts(self.batch)
        if self.pipeline.agentic:
            self._check_trajectories()
        if not self.pipeline.ppo:
            self._check_preferences()
        if self.training:
            self._check_teacher_batches()
        self._derive_all()

    # Prompts are divided among data parallel ranks, and on each rank into whole updates.
    #
    # Source: ROLL, roll/utils/config_utils.py (validate_megatron_batch_size); roll/pipeline/base_worker.py
    # (ActorWorker.train_step, CriticWorker.train_step); roll/distributed/scheduler/protocol.py (DataProto.make_iterator);
    # roll/utils/functionals.py (batch_balance).

    def answers_of(self) -> Amount | None:
        """Return the answers per prompt; 1 in agentic pipelines (a trajectory is an answer)."""
        if self.pipeline.agentic:
            return Amount(1, ANSWERS)
        return self.amount(ANSWERS, names.RLVR)

    def _check_prompts(self, batch: Amount) -> None:
        step = self._step()
        for role in self.setup.list_declared(ACTOR_TRAIN):
            if role.by_megatron and (role.created or not self.pipeline.pure_opd):  # else the student replaces it
                self._dealt_out(role, batch, step)
        answers = self.answers_of() if self.training and self.pipeline.ppo and not self.pipeline.agentic else None
        if answers is not None and batch.value > 0 and self.pipeline.updates_models:
            self._share_updates(batch, answers)
            # The help of a finding about uneven shares fixes both.
            if not any(finding.code == UNEVEN_SHARES and finding.span == batch.span for finding in self.notes.findings):
                self._check_updates(batch, answers, step)

    def _step(self) -> int:
        multiple = 1
        for role in self.setup.list_declared(ACTOR_TRAIN):
            batches = self.batches_of(role)
            multiple = lcm(multiple, batches.ranks if batches and role.by_megatron else 1)
        if self.pipeline.agentic:
            size = self._size(TRAIN_ENV, "group_size", 1) if self.settings.at(f"{TRAIN_ENV}.group_size") is not None else None
            return lcm(multiple, size.value) if size else multiple
        answers = self.answers_of()
        if self.training and answers and self.pipeline.ppo:
            for batches in self._find_trained():
                multiple = lcm(multiple, batches.of_all // gcd(batches.of_all, answers.value))
        return multiple

    def _dealt_out(self, role: Role, batch: Amount, step: int) -> None:
        """Check that prompts divide among Megatron's data parallel ranks; one rank takes any number."""
        role_degrees = degrees(self.setup, role)
        if role_degrees is None:
            why = f"the degrees of its strategy are not all known here, so over how many ranks `{batch.name}` is dealt out is not"
            self.notes.unsure(UNEVEN_SHARES, role.key, why)
            return
        component, replica = self.setup.components.get(role.key), role_degrees.parallel.replica
        if role.ids is None:
            if component is not None and component.runs is None:
                self._share(role, batch, "prompts", replica, AT_LOAD)
            return
        facts, ranks = RoleFacts(self.setup, role), len(role.ids) // replica
        if len(role.ids) % replica == 0 and ranks > 1:
            over = Number(ranks, f"the {with_noun(ranks, 'data parallel rank')} of {role.key}")
            Divides(
                code=UNEVEN_SHARES, source="ROLL, roll/utils/config_utils.py", when=AT_LOAD, left=batch, right=over,
                suggest=multiples_near(batch.value, step), message="{left} over {right} leaves {rest} over",
            ).run(facts)  # fmt: skip

    def _share(
        self, role: Role, batch: Amount, noun: str, replica: int, notice: str, answers: int = 1, multiple: int = 1, name: str = ""
    ) -> None:
        """Demand that the GPUs of an open role divide the batch. A replica counts on each rank."""
        label = f"{noun} counted on each of {replica} ranks" if replica > 1 else noun
        factor = replica * answers
        if batch.value > 0:
            share = Share(role.key, batch.value * factor, multiple, label, batch.name, name, batch.span, notice, factor=factor)
            self.setup.shares.append(share)

    def _share_updates(self, batch: Amount, answers: Amount) -> None:
        for role in (self.setup.role(ACTOR_TRAIN), self.setup.role(CRITICS)):
            component = self.setup.components.get(role.key) if role and role.ids is None and not self._is_dynamic(role) else None
            if role is None or component is None or component.runs is not None:
                continue
            parallel, device, accumulation = degrees(self.setup, role), self.of_role(role, PER_DEVICE), self.of_role(role, ACCUMULATED)
            if parallel and device and accumulation:
                size = device.value * accumulation.value
                name = f"{device.name} x {accumulation.name}" if size > 1 else ""
                self._share(role, batch, "samples", parallel.parallel.replica, AFTER_ROLLOUT, answers.value, size, name)

    def _check_updates(self, batch: Amount, answers: Amount, step: int) -> None:
        samples = batch.value * answers.value
        prompts = f"{with_noun(batch.value, 'prompt')}{'' if batch.scalar else ' by default'}"
        left = Number(samples, with_noun(samples, "sample"), batch, f"{prompts} x {with_noun(answers.value, 'answer')}")
        for batches in self._find_trained():
            if batches.role.key not in self.setup.short:
                Divides(
                    code=BATCH_NUMBERS, source="ROLL, roll/pipeline/base_worker.py", when=AFTER_ROLLOUT, left=left,
                    right=Number(batches.of_all, f"updates of {batches.role.key} ({batches.of_all} each)", batches.per_device, batches.product),
                    suggest=multiples_near(batch.value, step), message="{left} {are} not whole {right}",
                ).run(RoleFacts(self.setup, batches.role))  # fmt: skip

    def _is_dynamic(self, role: Role) -> bool:
        """Return True if batches are cut by tokens, or if unknown; never for a critic."""
        if role.part != ACTOR_TRAIN or not self.settings.since("0.1.3"):
            return False
        return self.settings.flag(role.path("use_dynamic_batching_in_train"), BATCH_NUMBERS) is not False

    def _find_trained(self) -> list[Batches]:
        """Return the roles that train in whole updates; an actor with dynamic batches does not."""
        candidates = [self.batches_of(self.setup.role(part)) for part in (ACTOR_TRAIN, CRITICS)]
        return [batches for batches in candidates if batches is not None and not self._is_dynamic(batches.role)]

    # Pairs of answers in DPO, and batches of distillation.
    #
    # Source: ROLL, roll/pipeline/dpo/dpo_config.py (DPOConfig.__post_init__), roll/pipeline/dpo/dpo_pipeline.py
    # (DPOPipeline.__init__); roll/pipeline/distill/distill_pipeline.py.

    def _check_preferences(self) -> None:
        train, reference = self.setup.role(ACTOR_TRAIN), self.setup.role(REFERENCES)
        if train is None or reference is None or {train.key, reference.key} & self.setup.short:
            return
        batches, infer_batch, ranks = self.batches_of(train), self.of_role(reference, INFERRED), data_parallel(self.setup, reference)
        if batches is None or infer_batch is None or ranks is None or infer_batch.value * ranks <= batches.of_all:
            return
        takes, better = infer_batch.value * ranks, batches.of_all // ranks
        help = f"set `{infer_batch.name}: {better}`"
        if not better:
            help = f"give {reference.key} {with_noun(batches.of_all, 'data parallel rank')} or fewer"
        at, edit = infer_batch.span or reference.place, infer_batch.becomes(better) if better else None
        values = {"reference": reference, "train": train, "batches": batches, "size": infer_batch.value, "takes": takes, "help": help}
        values |= {"pairs": with_noun(takes, "pair"), "ranks": with_noun(ranks, "rank")}
        report(self.notes, "more_pairs_than_a_step", reference.key, at, edit, **values)

    def _check_teacher_batches(self) -> None:
        teacher, batches = self.setup.role(names.TEACHERS), self.batches_of(self.setup.role(names.STUDENTS))
        ranks = data_parallel(self.setup, teacher) if teacher is not None else None
        if teacher is not None and batches is not None and ranks and not self.setup.short:
            help = f"set `{batches.accumulated.name}: {-(-ranks // (batches.per_device.value * batches.ranks))}`"
            AtLeast(
                code=BATCH_NUMBERS, source="ROLL, roll/pipeline/distill/distill_pipeline.py", when=AT_TRAINING, edits=False, help=help,
                left=Number(batches.of_all, f"a step of {batches.role.key} has {with_noun(batches.of_all, 'sample')},", batches.per_device, batches.product),
                right=Number(ranks, f"the {with_noun(ranks, 'data parallel rank')} of {teacher.key}"), message="{left} fewer than {right}",
            ).run(RoleFacts(self.setup, batches.role))  # fmt: skip

    # Derivations: data parallel ranks, samples per step, per rank, and per update.
    #
    # Source: ROLL, roll/utils/config_utils.py, roll/pipeline/base_worker.py, roll/pipeline/dpo/dpo_config.py and
    # dpo_pipeline.py, roll/pipeline/sft/sft_pipeline.py, roll/pipeline/distill/distill_pipeline.py.

    def _derive_all(self) -> None:
        for role in self.setup.all(*_ON_RANKS):
            self._derive_ranks(role)
        if self.pipeline.ppo:
            for part in (ACTOR_TRAIN, CRITICS):
                if batches := self.batches_of(self.setup.role(part)):
                    self._derive_prompts(batches)
        elif batches := self.batches_of(next(self.setup.all(names.SFT_TRAIN, names.STUDENTS, ACTOR_TRAIN), None)):
            self._derive_data(batches)

    def _derive_ranks(self, role: Role) -> None:
        role_degrees, ranks = degrees(self.setup, role), data_parallel(self.setup, role)
        if role_degrees is None or ranks is None:
            return
        pairs = (("tp", role_degrees.tp), ("pp", role_degrees.pp), ("cp", role_degrees.cp))
        factors = [(name, amount) for name, amount in pairs if amount.value > 1 or amount.scalar]
        amounts, formula = [amount for _, amount in factors], with_noun(len(role.devices), "rank")
        if factors:
            product = " x ".join(f"{name} {amount.value}" for name, amount in factors)
            size = self.setup.derive(role.key, REPLICA_SIZE, role_degrees.parallel.replica, product, *amounts)
            formula += f" // {size} a replica"
        else:
            formula += ", each with samples of its own"
        self.setup.derive(role.key, DATA_PARALLEL_SIZE, ranks, formula, *amounts)

    def _derive_prompts(self, batches: Batches) -> None:
        batch, answers, role, key = self.batch, self.answers_of(), batches.role, batches.role.key
        if answers is None or batch is None or batch.value <= 0:
            return
        samples, amounts = batch.value, [batch]
        if not self.pipeline.agentic:
            formula, amounts = f"{with_noun(batch.value, 'prompt')} x {with_noun(answers.value, 'answer')}", []
            samples = self.setup.derive(key, "samples per step", batch.value * answers.value, formula, batch, answers)
        formula = f"{with_noun(samples, 'sample')} // {with_noun(batches.ranks, 'rank')}"
        share = self.setup.derive(key, "samples per rank", samples // batches.ranks, formula, *amounts)
        samples_text = with_noun(share, "sample")
        if not self._is_dynamic(role):
            formula = f"{batches.per_device.value} a micro batch x {batches.accumulated.value} accumulated"
            size = self.setup.derive(key, "samples per rank and update", batches.of_rank, formula, batches.per_device, batches.accumulated)
            if share % size == 0:
                self.setup.derive(key, "updates per step", share // size, f"{samples_text} // {size}")
        value = self.settings.at(role.path(INFERRED))
        infer_batch = self.of_role(role, INFERRED) if value is None or not is_unknown(value) else None
        if infer_batch is not None and share:
            formula = f"{samples_text} // {infer_batch.value} a micro batch"
            self.setup.derive(key, "micro batches of log probabilities", max(share // infer_batch.value, 1), formula, infer_batch)

    def _derive_data(self, batches: Batches) -> None:
        key, micro, is_paired = batches.role.key, batches.per_device, batches.role.part == ACTOR_TRAIN
        formula = f"{micro.value} a micro batch x {batches.accumulated.value} accumulated x {with_noun(batches.ranks, 'rank')}"
        self.setup.derive(key, f"{'pairs' if is_paired else 'samples'} per step", batches.of_all, formula, micro, batches.accumulated)
        if is_paired:
            formula = f"{with_noun(micro.value, 'pair')} x 2 answers: ROLL doubles {micro.name}"
            self.setup.derive(key, "sequences per micro batch", micro.value * 2, formula, micro)

    # Environments of agentic pipelines: groups, trajectories per batch, and adjusted batches.
    #
    # Source: ROLL, roll/pipeline/agentic/agentic_config.py (AgenticConfig.__post_init__, make_env_configs);
    # roll/pipeline/agentic/agentic_pipeline.py (adjust_batch).

    def _check_trajectories(self) -> None:
        """Add ROLL's checks at load; with `training`, also silent adjustments."""
        batch = self.batch
        val_batch = self.amount("val_batch_size", "BaseConfig", ANY)
        for env, total in ((TRAIN_ENV, batch), (VAL_ENV, val_batch)):
            groups = self._size(env, "num_env_groups")
            is_settled = groups is None or self._check_partition(env, groups, total)
            group = self._size(env, "group_size")
            if total is not None and group is not None and groups is not None and group.value and groups.value:
                self._check_groups(env, total, group, groups, is_settled)
                self._check_rounds(env, total, group.value * groups.value)
        if self.training and batch is not None and batch.value > 0 and self.pipeline.updates_models:
            self._check_adjusted(batch)

    def _size(self, env: str, name: str, minimum: int = 0) -> Amount | None:
        return self.amount(f"{env}.{name}", "agentic.EnvManagerConfig", minimum)

    def _check_groups(self, env: str, total: Amount, group: Amount, groups: Amount, is_settled: bool) -> None:
        step, text = group.value, f"the {with_noun(group.value, 'environment')} of a group"
        note = f"environments of a group: `{group.name}`"
        if env == VAL_ENV:
            step = group.value * groups.value
            text = f"the {with_noun(step, 'environment')} of {env}"
            note = f"{with_noun(groups.value, 'group')} x {group.value} = {with_noun(step, 'environment')}"
        # The help of a finding about uneven shares fixes both.
        is_reported = any(finding.code == UNEVEN_SHARES and finding.span == total.span for finding in self.notes.findings)
        if not is_reported and (total.value > 0 or (env == VAL_ENV and total.value == 0)):
            facts = Facts(self.notes, self.settings, env)
            Divides(
                code=BATCH_NUMBERS, source=_CONFIG, when=AT_LOAD, releases=DIVIDE[env], left=total, right=Number(step, text, group, note),
                suggest=multiples_near(total.value, step), edits=is_settled,
            ).run(facts)  # fmt: skip

    def _check_rounds(self, env: str, total: Amount, environments: int) -> None:
        most = self._size(env, "max_traj_per_env", ANY)
        async_ratio = number(self.settings, "async_generation_ratio", BATCH_NUMBERS, 0)
        if most is None or async_ratio is None or most.value < 0:
            return
        if (async_ratio > 0) if env == TRAIN_ENV else (total.value < 0):
            return
        facts, rounds = Facts(self.notes, self.settings, env), -(-total.value // environments)
        right = Number(rounds, f"{rounds}: {with_noun(environments, 'environment')} run a batch of {total.value}")
        AtLeast(code=BATCH_NUMBERS, source=_CONFIG, when=AT_LOAD, left=most, right=right).run(facts)

    def _check_partition(self, env: str, groups: Amount, total: Amount | None) -> bool:
        """Return True if the groups of all tags add up, or are unknown. Else add an error."""
        settings = self.settings
        tags, split = settings.at(f"{env}.tags"), settings.at(f"{env}.num_groups_partition")
        if not isinstance(tags, (ListNode, type(None))) or not (isinstance(split, ListNode) or (split is None and not self.notes.partial)):
            return True
        values = [item.value if isinstance(item, Scalar) else None for item in split.items] if isinstance(split, ListNode) else [128]
        numbers = [value for value in values if type(value) is int]
        tag_count = len(tags.items) if isinstance(tags, ListNode) else 1
        count = sum(numbers[:tag_count])  # one number per tag
        if len(numbers) < len(values) or count == groups.value:
            return True
        partition = [groups.value // tag_count + (place < groups.value % tag_count) for place in range(tag_count)]
        help, edit = f"write `{env}.num_groups_partition: {partition}`", None
        group = self._size(VAL_ENV, "group_size")
        round_ = count * group.value if group is not None else 0
        fits = total is not None and (total.value < 0 or (round_ > 0 and total.value % round_ == 0))
        if split and count > 0 and (env != VAL_ENV or fits):
            help, edit = f"set `{groups.name}: {count}`", groups.becomes(count)
        at = split or groups.scalar or settings.top
        default, text = "" if split else ", by default,", with_noun(count, "group")
        report(self.notes, "groups_do_not_add_up", env, at, edit, env=env, default=default, count=text, groups=groups, help=help)
        return False

    def _check_adjusted(self, batch: Amount) -> None:
        sizes = self._list_samples() if not self.setup.short else None
        mode = self.settings.word("batch_adjust_mode", BATCH_NUMBERS)
        changes: dict[str, str] = fact_file("findings")["batch_adjusted"]["changes"]
        if sizes is None or mode is None or (mode or "copy") not in changes or not self._one_sample_each():
            return
        size = lcm(*(count for _, count in sizes))
        remaining = batch.value % size
        if remaining:
            change = changes[mode or "copy"].format(missing=size - remaining, left=remaining, size=size)
            takers, at = [name for name, count in sizes if count > 1], batch.span or self.settings.top
            values = {"batch": batch, "samples": with_noun(size, "sample"), "size": size, "change": change}
            near = near_text(batch.value, size)
            notes = [*takers, f"where every trajectory is one sample; {NEVER}"]
            report(self.notes, "batch_adjusted", ACTOR_TRAIN, at, None, "warning", notes, near=near, **values)

    def _list_samples(self) -> list[tuple[str, int]] | None:
        """Return (text, samples taken at once) per role; None if any is unknown."""
        sizes: list[tuple[str, int]] = []
        for role in self.setup.all(ACTOR_TRAIN, REFERENCES, CRITICS):
            ranks, infer_batch = data_parallel(self.setup, role), self.of_role(role, INFERRED)
            batches = self.batches_of(role) if role.part != REFERENCES else None
            if ranks is None or infer_batch is None or (batches is None and role.part != REFERENCES):
                return None
            if batches is not None:
                sizes.append((f"{role.key} trains on {batches.product}", batches.of_all))
            size = infer_batch.value * ranks
            sizes.append((f"{role.key} infers {INFERRED} {infer_batch.value} on {with_noun(ranks, 'rank')} = {size}", size))
        return sizes or None

    def _one_sample_each(self) -> bool:
        """Return True if all environments make a single sample per trajectory, as ROLL's default manager."""
        environments = self.settings.at("custom_envs")
        if not isinstance(environments, MapNode):
            return False
        managers = [self.settings.at(f"custom_envs.{entry.key.text}.env_manager_cls") for entry in environments]
        values = [manager for manager in managers if manager is not None]
        return all(isinstance(manager, Scalar) and str(manager.value).endswith(".TrajEnvManager") for manager in values)
