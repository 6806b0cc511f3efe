"""GPUs that roles share: asynchronous generation, `partial_gpu_mode`, and transfers between GPUs."""

from __future__ import annotations

from dataclasses import replace
from itertools import takewhile
from typing import Sequence

from ...component import COLOCATED, COLOCATED_OR_DISJOINT, DISJOINT, SUBSET, Relation
from ...findings.finding import Fix, Severity
from ...findings.span import Edit
from ...findings.wording import are, with_noun
from ...ranks import merge, without, write_ranks
from ...record import dataclass
from ..checks import Divides, Number
from . import names
from .device_mapping import ids_edit
from .findings import report
from .ids import Ids, common, differing, positions, range_text, text_of
from .job import Role, RoleFacts, RollChecks, number
from .names import ACTOR_INFER, ACTOR_TRAIN, AFTER_MODELS, AGENTIC_REWARD, CRITICS, NEVER, REFERENCES, SGLANG, VLLM
from .strategies import data_parallel, degrees, group_ranks

# Generation during training: demands of `async_generation_ratio`.
#
# Source: ROLL, roll/configs/base_config.py (PPOConfig.__post_init__), roll/pipeline/rlvr/rlvr_config.py.

MODES, BATCH_NUMBERS = "PW123", "PW403"
RATIO = "async_generation_ratio"
MODE = "partial_gpu_mode"
REASON = "ROLL's `partial_gpu_mode`"


def _count_free(infers: Ids, per_worker: int, ids: Ids) -> int:
    """Return the number of workers that hold none of the ids."""
    free = positions(infers, without(infers.ranges, ids.ranges))
    return sum(max(free_range.stop // per_worker - -(-free_range.start // per_worker), 0) for free_range in free)


class ModeChecks(RollChecks):
    """Demands of asynchronous generation and of `partial_gpu_mode` on roles that share GPUs."""

    @property
    def ratio(self) -> float | None:
        """Value of `async_generation_ratio`; None if unknown."""
        return number(self.settings, RATIO, MODES, 0.0)

    def check_asynchronous(self) -> None:
        """Check the ratio, `generate_opt_level`, and the separate GPUs of generation."""
        settings, async_ratio = self.settings, self.ratio if self.pipeline.ppo and self.settings.since("0.1.3") else None
        if async_ratio is None or async_ratio <= 0 or self.pipeline.agentic:
            return
        if async_ratio < 1:
            at = settings.at(RATIO) or settings.top
            report(self.notes, "ratio_below_1", ACTOR_INFER, at, settings.becomes(RATIO, "1"), ratio=async_ratio)
        infer = self.setup.role(ACTOR_INFER)
        for role in self.setup.all(ACTOR_TRAIN, CRITICS, names.REWARDS, REFERENCES):
            if infer is not None and (overlap := common(infer.devices, role.devices)):
                gpus = with_noun(sum(map(len, overlap)), "GPU")
                report(self.notes, "shared_while_generating", infer.key, role.place, infer=infer, role=role, gpus=gpus, ratio=async_ratio)

    # The agentic pipeline's `partial_gpu_mode`: a part of `actor_infer` generates while its other GPUs
    # train.
    #
    # Source: ROLL, roll/pipeline/agentic/agentic_pipeline.py (_validate_partial_gpu_config,
    # _validate_minimum_active_ranks, run); roll/distributed/scheduler/router.py (shrink_workers: every
    # worker that holds a freed GPU; expand_workers: workers all of whose GPUs are freed).

    def check_partial_gpu(self) -> None:
        """Check the mode for explicit ids, or add relations for roles left to solve."""
        has_mode = self.pipeline.agentic and self.pipeline.updates_models and self.settings.since("0.2.0")
        train, infer = self.setup.role(ACTOR_TRAIN), self.setup.role(ACTOR_INFER)
        if not has_mode or train is None or infer is None or not self.settings.flag(MODE, MODES, True):
            return
        self._check_references(train)
        if train.ids is None or infer.ids is None:
            self._relate_open(train, infer)
            return
        shared_count = sum(map(len, common(train.ids, infer.ids)))
        if shared_count == train.ids.distinct < infer.ids.distinct and shared_count:
            self._check_part(train, infer)
        elif shared_count:
            self._check_colocated(train, infer, shared_count)

    def _check_references(self, train: Role) -> None:
        """Demand the reference on the GPUs of training; ROLL only warns if several teachers differ."""
        references, settings = list(self.setup.all(REFERENCES)), self.settings
        if len(references) == 1:
            self._relate(references[0], (COLOCATED, train))
        teacher_ids = [role.ids for role in references if role.ids is not None]
        union = Ids.join(*teacher_ids)
        if train.ids is not None and 1 < len(references) == len(teacher_ids) and union.ranges != train.ids.ranges:
            first, ranks, count = references[0], write_ranks(union.ranges), len(teacher_ids)
            trains = write_ranks(train.ids.ranges)
            report(self.notes, "teachers_elsewhere", first.key, first.place, train=train, count=count, ranks=ranks, trains=trains)
        adapters = train.path("model_args.lora_target")
        if references or not settings.has(adapters):
            return
        is_on = any(settings.flag(key, MODES) for key in ("enable_reference", "use_kl_loss", "use_opd")) or self.pipeline.pure_opd
        if is_on or (number(settings, "init_kl_coef", MODES, 0.2) or 0) > 0:
            at, edit = settings.at(adapters) or train.span, settings.becomes(MODE, "false")
            report(self.notes, "adapters_without_reference", REFERENCES, at, edit, adapters=adapters, train=train)

    def _relate(self, first: Role | None, *relations: tuple[str, Role]) -> None:
        component = self.setup.components.get(first.key) if first is not None else None
        for kind, second in relations if component is not None else ():
            if component is not None and second.key in self.setup.components:
                self.setup.relations.append(Relation(kind, (component.name, second.key), component.spans.get("placement"), REASON))

    def _check_part(self, train: Role, infer: Role) -> None:
        relation = f"{train.key} ({write_ranks(train.devices.ranges)}) is within {infer.key} ({write_ranks(infer.devices.ranges)})"
        workers, async_ratio = infer.world_size, self.ratio
        if workers is not None and workers < 2:
            help, edit = self._smaller_workers(train, infer)
            report(self.notes, "part_of_one_worker", infer.key, infer.place, edit, relation=relation, infer=infer, help=help)
        if async_ratio is not None and async_ratio <= 0:
            at, edit = self.settings.at(RATIO) or infer.place, self.settings.becomes(RATIO, "1")
            report(self.notes, "part_in_turn", infer.key, at, edit, relation=relation, infer=infer, ratio=async_ratio)
        self._relate(self.setup.role(CRITICS), (SUBSET, infer), (DISJOINT, train))
        if workers is None or workers > 1:
            self._check_freed_workers(train, self.setup.role(CRITICS), infer)

    def _smaller_workers(self, train: Role, infer: Role) -> tuple[str, Edit | None]:
        """Return help and edit: a tp with which training takes whole workers and leaves one."""
        trains, infers, key = train.devices, infer.devices, infer.config("tensor_parallel_size")
        edges = (trains.lowest - infers.lowest, trains.highest - infers.highest, len(trains), len(infers))
        fits = next((size for size in range(len(infers) // 2, 0, -1) if not any(edge % size for edge in edges)), None)
        if fits is None or infer.strategy != VLLM or self.settings.at(infer.config("pipeline_parallel_size")) is not None:
            return "", None
        return f"set `{key}: {fits}`, ", self.settings.becomes(key, str(fits))

    def _check_freed_workers(self, train: Role, critic: Role | None, infer: Role) -> None:
        tp, pp = (self.settings.whole(infer.config(f"{name}_parallel_size"), MODES, 1, exact=True) for name in ("tensor", "pipeline"))
        # The mode takes an unset degree for 1.
        if infer.world_size is None or not infer.num_gpus_per_worker or not infer.is_engine or not tp or not pp:
            return
        infers, per_worker = infer.devices, tp.value * pp.value
        if per_worker * infer.world_size != infers.distinct:
            key, gpus = infer.config("tensor_parallel_size"), with_noun(infers.distinct, "GPU")
            report(self.notes, "part_miscounted", infer.key, infer.place, infer=infer, each=per_worker, key=key, gpus=gpus)
            return
        for role in (train, critic):
            if role is not None and len(role.devices) > role.devices.distinct:
                report(self.notes, "freed_twice", role.key, role.place, role=role, infer=infer)
        train_ids = Ids.join(train.devices, critic.devices if critic else ())
        # ROLL's check sorts the ids.
        free, free_of_sorted = _count_free(infers, per_worker, train_ids), _count_free(Ids.join(*infers.ranges), per_worker, train_ids)
        if not free or not free_of_sorted:
            moment = f"{names.AT_TRAINING} (`Cannot shrink to zero active ranks`)" if free_of_sorted else AFTER_MODELS
            report(self.notes, "no_worker_left", infer.key, infer.place, infer=infer, moment=moment)
            return
        overlaps = positions(infers, train_ids.ranges)
        partial_workers = sorted({edge // per_worker for span in overlaps for edge in (span.start, span.stop) if edge % per_worker})
        if partial_workers:
            more = f" ({len(partial_workers)} workers do)" if len(partial_workers) > 1 else ""
            at, user = (critic or infer).place, critic.key if critic else "training"
            report(self.notes, "part_of_a_worker", infer.key, at, worker=partial_workers[0], infer=infer, more=more, user=user)

    def _check_colocated(self, train: Role, infer: Role, shared_count: int) -> None:
        reward, async_ratio = self.setup.role(AGENTIC_REWARD), self.ratio
        trains, infers, rewards = train.devices.distinct, infer.devices.distinct, reward.devices.distinct if reward else 0
        overlap = f"{train.key} and {infer.key} share {with_noun(shared_count, 'GPU')}"
        if trains != infers + rewards:
            values = {"overlap": overlap, "train": train, "infer": infer, "gpus": with_noun(trains, "GPU"), "sum": f"{infers} + {rewards}"}
            report(self.notes, "colocated_unevenly", train.key, train.place, **values)
        if async_ratio:
            at, edit = self.settings.at(RATIO) or train.place, self.settings.becomes(RATIO, "0")
            report(self.notes, "colocated_in_parallel", infer.key, at, edit, overlap=overlap, train=train, infer=infer, ratio=async_ratio)

    # Relations and amounts that the mode accepts, for training or inference left to solve.

    def _relate_open(self, train: Role, infer: Role) -> None:
        """Add relations: nested only with a positive ratio, else the same GPUs or disjoint ones."""
        if train.key not in self.setup.components or infer.key not in self.setup.components:
            return
        async_ratio, reward = self.ratio, self.setup.role(AGENTIC_REWARD)
        hints = {relation.implies: relation for relation in self.setup.hinted if set(relation.components) == {train.key, infer.key}}
        if SUBSET in hints and hints[SUBSET].components[0] == train.key and async_ratio is not None and async_ratio > 0:
            self._relate(self.setup.role(CRITICS), (SUBSET, infer), (DISJOINT, train))
            self._reserve_worker(train, infer)
            return
        is_disjoint = bool(async_ratio) or reward is not None
        if is_disjoint and COLOCATED in hints:
            at, edit = hints[COLOCATED].span or train.span, self.settings.becomes(RATIO, "0") if async_ratio else None
            why = f"`{RATIO}` is {async_ratio:g}" if async_ratio else f"there is a {AGENTIC_REWARD}"
            turn = f", or write `{RATIO}: 0`" if async_ratio else ""
            report(self.notes, "hinted_together", train.key, at, edit, train=train, infer=infer, why=why, turn=turn)
            return
        self.setup.relations.append(Relation(DISJOINT if is_disjoint else COLOCATED_OR_DISJOINT, (train.key, infer.key), None, REASON))

    def _reserve_worker(self, train: Role, infer: Role) -> None:
        """Bound the amounts of training and critic to leave a worker of inference."""
        inner, outer, critic = self.setup.components[train.key], self.setup.components[infer.key], self.setup.role(CRITICS)
        critic_size = self.setup.components[critic.key].least if critic is not None and critic.key in self.setup.components else 0
        per_worker = infer.num_gpus_per_worker or outer.per_process
        most, demand = outer.most - per_worker - critic_size, inner.least + critic_size + per_worker
        if most < inner.least:
            at = outer.spans.get("amount") or inner.spans.get("amount") or train.span
            values = {"most": with_noun(outer.most, "GPU"), "left": with_noun(per_worker, "GPU"), "demand": demand}
            report(self.notes, "hints_leave_no_worker", infer.key, at, train=train, infer=infer, takes=inner.least + critic_size, **values)
            return
        if inner.runs is None:
            self.setup.components[train.key] = inner.narrow_counts(inner.least, min(inner.most, most))
        if outer.runs is None:
            minimum = max(outer.least, demand, 2 * per_worker)
            self.setup.components[infer.key] = outer.narrow_counts(-(-minimum // outer.step) * outer.step, outer.most)


# Weights go from `actor_train` to `actor_infer`.

SOLID = "PW205"


def _adds_no_sharing(role: Role, ids: Ids, neighbors: Sequence[Role]) -> bool:
    return not any(common(neighbor.devices, ids) and not common(neighbor.devices, role.devices) for neighbor in neighbors)


def _in_a_row(roles: Sequence[Role], start: int) -> list[Ids]:
    """Return a range per role, one after the other. Roles of the same ids share one."""
    row = list[Ids]()
    for role in roles:
        is_joint = role is not roles[0] and role.devices.ranges == roles[0].devices.ranges
        row.append(row[0] if is_joint else Ids.join(range(start, start + role.devices.distinct)))
        start = row[-1].highest + 1
    return row


MOST_RANKS = 512
"""Limit on ranks of either side for trials of all shifts; our own."""
BACKEND, USUAL, NCCL = "logits_transfer_backend", "ipc+nccl", "nccl-only"
_SOURCE = "ROLL, roll/pipeline/distill/logits_transfer_group.py"
Pairs = list[tuple[int, int]]
"""(teacher's data parallel rank, student's) of every transfer."""


@dataclass(frozen=True, slots=True)
class TransferSide:
    """Sending or receiving ranks: last pipeline stage, context parallel rank 0."""

    ids: Ids
    tp: int
    pp: int
    cp: int

    @property
    def dp(self) -> int:
        """Number of data parallel ranks."""
        return len(self.ids) // (self.tp * self.pp * self.cp)

    def gpu(self, dp: int, tp: int = 0) -> int:
        """Return the id of a data parallel rank's tensor parallel rank. The order is tp, cp, dp, pp."""
        return self.ids[(self.pp - 1) * (len(self.ids) // self.pp) + dp * self.cp * self.tp + tp]


class TransferChecks(RollChecks):
    """Demands of the transfers of weights and logits on the GPUs of both roles."""

    def check_model_update(self) -> None:
        """Demand solid ranges of both roles; compare explicit ones with shared GPUs.

        Source: ROLL, roll/distributed/executor/model_update_group.py;
        roll/third_party/megatron/model_update.py and roll/third_party/fsdp2/model_update.py
        (_setup_colocated_model_update).
        """
        # Older releases broadcast weights to any ranks.
        if not self.pipeline.updates_models or not self.settings.since("0.2.0"):
            return
        train, infer, components = self.setup.role(ACTOR_TRAIN), self.setup.role(ACTOR_INFER), self.setup.components
        for role in (train, infer):
            if role is not None and (component := components.get(role.key)):
                components[role.key] = replace(component, contiguous=True, any_order=True)
        if train is None or infer is None:
            return
        per_worker = infer.num_gpus_per_worker
        if {train.key, infer.key} <= components.keys() and (train.ids is None or infer.ids is None):
            self.setup.in_step.append((train.key, infer.key))
            is_subset = any(
                relation.kind == SUBSET and set(relation.components) == {train.key, infer.key} for relation in self.setup.hinted
            )
            is_open = train.ids is None and components[train.key].runs is None and infer.key not in self.setup.choices
            if is_subset and is_open and per_worker:
                group_ranks(self.setup, train, per_worker, infer.key)
        if train.devices and infer.devices:
            self._add_range_fixes([role for role in (train, infer) if not role.devices.solid])
            is_shared = common(train.devices, infer.devices) and per_worker and len(infer.devices) % per_worker == 0
            if is_shared and self._are_in_step(train, infer):
                self._check_pairs(train, infer)
                self._check_reached(train, infer)

    def _are_in_step(self, train: Role, infer: Role) -> bool:
        """Return True if training fills whole workers of inference; else add an error."""
        trains, infers, per_worker = train.devices, infer.devices, infer.num_gpus_per_worker
        edges = (("begins", trains.lowest - infers.lowest), ("ends", trains.highest - infers.highest))
        shifts = [f"{edge} {with_noun(abs(ids), 'id')} {'later' if ids > 0 else 'earlier'}" for edge, ids in edges if ids % per_worker]
        if not shifts and not len(trains) % per_worker:
            return True
        ranks = f"the {with_noun(len(trains), 'rank')} of {train.key} {are(len(trains))} not whole groups of {per_worker}"
        why = f"{train.key} {' and '.join(shifts)} than {infer.key}" if shifts else ranks
        ranges = {"trained": write_ranks(trains.ranges), "generated": write_ranks(infers.ranges)}
        self._report_pair("out_of_step", train, infer, each=per_worker, why=why, **ranges)
        return False

    def _report_pair(self, name: str, train: Role, infer: Role, edit: Edit | None = None, /, **values: object) -> None:
        """Add a finding about training that the ranks of both roles explain."""
        report(self.notes, name, train.key, train.place, edit, train=train, infer=infer, **values)
        self.notes.findings[-1] = replace(self.notes.findings[-1], premises=(train.key, infer.key))

    def _check_pairs(self, train: Role, infer: Role) -> None:
        trains, infers, per_worker = train.devices, infer.devices, infer.num_gpus_per_worker
        shift = train.devices.lowest - infer.devices.lowest
        mismatches = differing(train.devices, infer.devices, shift)
        if not mismatches:
            return
        rank, at = mismatches[0], mismatches[0] + shift
        places = (divmod(id_, self.setup.per_node) for id_ in (trains[rank], infers[at]))
        source, target = (f"GPU {gpu} of node {node}" for node, gpu in places)
        more = f"{len(mismatches)} ranks send to another GPU" if len(mismatches) > 1 else ""
        # A worker of sglang sees all GPUs of the worker.
        workers = [set(infers[first : first + per_worker]) for first in range(0, len(infers), per_worker)]
        pairs = [(position, id_) for position, id_ in enumerate(trains, shift) if 0 <= position < len(infers)]
        fails = infer.strategy != SGLANG or any(id_ not in workers[position // per_worker] for position, id_ in pairs)
        wrong = [role for role in (train, infer) if not role.devices.ascending]
        help, edit = f"write the ids of {train.key} and {infer.key} in ascending order, each once", None
        if len(wrong) == 1 and wrong[0].devices.solid and len(wrong[0].devices) == wrong[0].devices.distinct:
            better = wrong[0].devices.ranges[0]
            help, edit = f"give {wrong[0].key} `{range_text(better)}`", ids_edit(self.notes, wrong[0], Ids.join(better))[1]
        values = {"source": source, "worker": at // per_worker, "target": target, "id": trains[rank], "more": more, "help": help}
        self._report_pair("sent_elsewhere" if fails else "sent_within_engine", train, infer, edit, rank=rank, **values)

    def _check_reached(self, train: Role, infer: Role) -> None:
        trains, infers, per_worker = train.devices, infer.devices, infer.num_gpus_per_worker
        first, last = (trains.lowest - infers.lowest) // per_worker, (trains.highest - infers.highest) // per_worker
        workers = len(infers) // per_worker
        inner, before, after = range(first, first + len(trains) // per_worker), range(max(first, 0)), range(workers + min(last, 0), workers)
        gaps = without([range(workers)], merge([inner, before, after]))
        if gaps:
            count = sum(map(len, gaps))
            more = f" ({count} workers do not)" if count > 1 else ""
            report(self.notes, "not_reached", infer.key, infer.place, worker=gaps[0][0], infer=infer, more=more)

    def _add_range_fixes(self, with_holes: Sequence[Role]) -> None:
        """Add a fix to roles with holes: ranges in a row, if no new GPUs are shared."""
        with_devices = [role for role in self.setup.roles if role.created and role.devices and role not in with_holes]
        rows = [_in_a_row(with_holes, start) for start in (0, min((role.devices.lowest for role in with_holes), default=0))]
        free_rows = (row for row in rows if all(_adds_no_sharing(role, ids, with_devices) for role, ids in zip(with_holes, row)))
        row = next(free_rows, [])
        text = " and ".join(f"{role.key} `{text_of(ids)}`" for role, ids in zip(with_holes, row))
        for position, role in enumerate(with_holes):
            lowest, partners = role.devices.lowest, [partner for partner in with_holes if partner is not role]
            fix = Fix(f"write one range such as `{range_text(range(lowest, lowest + role.devices.distinct))}`, and move what is in its way")
            if row:
                # Users may apply the edit alone.
                is_independent = _adds_no_sharing(role, row[position], partners)
                fix = Fix(f"give {text}", ids_edit(self.notes, role, row[position])[1] if is_independent else None)
            component = self.setup.components[role.key]
            self.setup.components[role.key] = replace(component, fixes={**component.fixes, SOLID: fix})

    # Logits: data parallel ranks of the teacher send to those of the student, GPU to GPU.
    #
    # Source: ROLL, roll/pipeline/distill/logits_transfer_group.py (LogitsTransferGroup.__init__, make_comm_plan).

    def check_logits_transfer(self) -> None:
        """Check the backend, the data parallel sizes, and that NCCL never sends to itself."""
        student, teacher = self.setup.role(names.STUDENTS), self.setup.role(names.TEACHERS)
        if student is None or teacher is None or not self.settings.since("0.1.3"):
            return
        by_nccl = self.settings.word(BACKEND, MODES) == NCCL
        sender, receiver = self._side(teacher), self._side(student)
        if sender is None or receiver is None:
            return
        sends, receives = sender.dp, receiver.dp
        if receives > sends:  # uneven sizes give teacher ranks that do not exist
            pairs = [(rank // (receives // sends), rank) for rank in range(receives)]
        else:
            ratio = sends // receives
            pairs = [(rank * ratio + index, rank) for rank in range(receives) for index in range(ratio)]
        is_compared = by_nccl and max(sends, receives) <= MOST_RANKS
        before = list(takewhile(lambda pair: pair[0] < sends, pairs))
        is_shifted = is_compared and _shifts_apart(sender, receiver, pairs) and _same_gpu(sender, receiver, before, 0, 0) is not None
        self._check_divided(teacher, student, sends, receives, is_shifted)
        if by_nccl and not is_compared:
            self.notes.unsure(MODES, student.key, f"more than {MOST_RANKS:,} data parallel ranks are not compared GPU by GPU")
        elif by_nccl:
            existing = [pair for pair in pairs if pair[0] < sends]
            id_ = _same_gpu(sender, receiver, existing, 0, int(sender.tp > 1))
            if id_ is not None and not _shifts_apart(sender, receiver, existing):
                at, edit = self.settings.at(BACKEND) or student.place, self.settings.becomes(BACKEND, USUAL)
                report(self.notes, "nccl_to_itself", student.key, at, edit, id=id_)

    def _side(self, role: Role) -> TransferSide | None:
        if not (role.by_megatron or role.by_ulysses) or not data_parallel(self.setup, role):
            return None
        parallel = degrees(self.setup, role)
        return TransferSide(role.devices, parallel.tp.value, parallel.pp.value, parallel.cp.value) if parallel else None

    def _check_divided(self, teacher: Role, student: Role, sends: int, receives: int, is_shifted: bool) -> None:
        fails = receives > sends and not is_shifted
        more, fewer, role = (receives, sends, student) if receives > sends else (sends, receives, teacher)
        fate = "some logits go nowhere" if sends > receives else "some get logits of other samples" if is_shifted else "some get no logits"
        Divides(
            code=BATCH_NUMBERS, source=_SOURCE, when=AFTER_MODELS if fails else NEVER, severity=Severity.ERROR if fails else Severity.WARNING,
            left=Number(more, ""), right=Number(fewer, ""), help=f"give {role.key} a multiple of {fewer} data parallel ranks",
            message=f"{student.key} has {with_noun(receives, 'data parallel rank')} and {teacher.key} {sends}, {{rest}} left over: {fate}",
        ).run(RoleFacts(self.setup, role))  # fmt: skip


def _shifts_apart(sender: TransferSide, receiver: TransferSide, pairs: Pairs) -> bool:
    """Return True if some shift of the teacher's ranks lets no GPU send to itself."""
    return sender.tp == 1 and any(_same_gpu(sender, receiver, pairs, shift, 0) is None for shift in range(1, sender.dp))


def _same_gpu(sender: TransferSide, receiver: TransferSide, pairs: Pairs, offset: int, other_tp: int) -> int | None:
    """Return the first GPU that both sends, from rank `other_tp` too, and receives. None if there is none."""
    for teacher_rank, student_rank in pairs:
        gpu, source = receiver.gpu(student_rank), (teacher_rank + offset) % sender.dp
        if sender.gpu(source) == gpu and sender.gpu(source, other_tp) == gpu:
            return gpu
    return None
