"""GPUs that roles share: asynchronous generation, `partial_gpu_mode`, and transfers between GPUs."""

from __future__ import annotations

from dataclasses import replace
from itertools import product, takewhile
from typing import Iterator, Sequence

from ...component import COLOCATED, COLOCATED_OR_DISJOINT, DISJOINT, SUBSET, Relation
from ...findings.finding import Fix, Severity
from ...findings.span import Edit
from ...findings.wording import are, with_noun
from ...ranks import merge, without, write_ranks
from ...record import dataclass
from ..checks import Divides, Number
from . import names
from .device_mapping import ids_edit
from .ids import Ids, common, differing, positions, range_text
from .job import Role, RoleFacts, RollChecks, number
from .names import ACTOR_INFER, ACTOR_TRAIN, AFTER_MODELS, AGENTIC_REWARD, AT_LOAD, CRITICS, NEVER, REFERENCES, SGLANG, VLLM
from .strategies import data_parallel, degrees, group_ranks

# Generation during training: demands of `async_generation_ratio`.
#
# Source: ROLL, roll/configs/base_config.py (PPOConfig.__post_init__), roll/pipeline/rlvr/rlvr_config.py.

MODES, BATCH_NUMBERS = "PW123", "PW403"
RATIO = "async_generation_ratio"
MODE = "partial_gpu_mode"
REASON = "ROLL's `partial_gpu_mode`"
OFF = f"`{MODE}: false` turns this check off"


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
        settings, async_ratio = self.settings, self.ratio if self.pipeline.ppo and self.setup.since("0.1.3") else None
        if async_ratio is None or async_ratio <= 0 or self.pipeline.agentic:
            return
        if async_ratio < 1:
            message = f"`{RATIO}: {async_ratio:g}` is neither 0 nor at least 1, which the rlvr pipelines demand"
            at, help = settings.at(RATIO) or settings.top, "write `1`, or `0` to generate and train in turn"
            self.notes.error(MODES, ACTOR_INFER, message, at, "below 1", help, settings.becomes(RATIO, "1"), AT_LOAD)
        infer = self.setup.role(ACTOR_INFER)
        for role in self.setup.all(ACTOR_TRAIN, CRITICS, names.REWARDS, REFERENCES):
            if infer is not None and (overlap := common(infer.devices, role.devices)):
                message = f"{infer.key} and {role.key} share {with_noun(sum(map(len, overlap)), 'GPU')}, but `{RATIO}` is {async_ratio:g}"
                help = f"give {role.key} other GPUs, or write `{RATIO}: 0`"
                why = (f"{infer.key} generates while {role.key} works", "ROLL warns of it as it reads the configuration")
                self.notes.warn(MODES, infer.key, message, role.place, f"shared with {infer.key}", help, None, *why)

    # The agentic pipeline's `partial_gpu_mode`: a part of `actor_infer` generates while its other GPUs
    # train.
    #
    # Source: ROLL, roll/pipeline/agentic/agentic_pipeline.py (_validate_partial_gpu_config,
    # _validate_minimum_active_ranks, run); roll/distributed/scheduler/router.py (shrink_workers: every
    # worker that holds a freed GPU; expand_workers: workers all of whose GPUs are freed).

    def check_partial_gpu(self) -> None:
        """Check the mode for explicit ids, or add relations for roles left to solve."""
        has_mode = self.pipeline.agentic and self.pipeline.updates_models and self.setup.since("0.2.0")
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
            message = f"the {len(teacher_ids)} teachers hold {write_ranks(union.ranges)}, but {train.key} {write_ranks(train.ids.ranges)}"
            help, why = f"give the teachers together the GPUs of {train.key}", "ROLL warns of it after all models are loaded"
            self.notes.warn(MODES, references[0].key, f"{message}: they do not take turns", references[0].place, "", help, None, why)
        adapters = train.path("model_args.lora_target")
        if references or not settings.has(adapters):
            return
        is_on = any(settings.flag(key, MODES) for key in ("enable_reference", "use_kl_loss", "use_opd")) or self.pipeline.pure_opd
        if is_on or (number(settings, "init_kl_coef", MODES, 0.2) or 0) > 0:
            message = f"with `{adapters}` ROLL starts no reference, which `{MODE}` demands"
            why = f"`{MODE}` demands a reference on the GPUs of {train.key}"
            help, edit = f"write `{MODE}: false`, or turn the reference off", settings.becomes(MODE, "false")
            self.notes.error(MODES, REFERENCES, message, settings.at(adapters) or train.span, "no reference", help, edit, why, AFTER_MODELS)

    def _relate(self, first: Role | None, *relations: tuple[str, Role]) -> None:
        component = self.setup.components.get(first.key) if first is not None else None
        for kind, second in relations if component is not None else ():
            if component is not None and second.key in self.setup.components:
                self.setup.relations.append(Relation(kind, (component.name, second.key), component.spans.get("placement"), REASON))

    def _check_part(self, train: Role, infer: Role) -> None:
        relation = f"{train.key} ({write_ranks(train.devices.ranges)}) is within {infer.key} ({write_ranks(infer.devices.ranges)})"
        going_on = f"part of {infer.key} goes on generating"
        workers, async_ratio = infer.world_size, self.ratio
        if workers is not None and workers < 2:
            message = f"{relation}, which needs at least 2 workers, not {workers}"
            help, edit = self._smaller_workers(train, infer)
            too_few = f"infer_dp {workers} < 2"
            self.notes.error(MODES, infer.key, message, infer.place, f"{workers} worker", help, edit, going_on, AFTER_MODELS, too_few, OFF)
        if async_ratio is not None and async_ratio <= 0:
            message = f"{relation}, but `{RATIO}` is {async_ratio:g}"
            at, help = self.settings.at(RATIO) or infer.place, f"write `{RATIO}: 1`, give both the same GPUs, or write `{MODE}: false`"
            why = (going_on, AFTER_MODELS, OFF)
            self.notes.error(MODES, infer.key, message, at, "not above 0", help, self.settings.becomes(RATIO, "1"), *why)
        self._relate(self.setup.role(CRITICS), (SUBSET, infer), (DISJOINT, train))
        if workers is None or workers > 1:
            self._check_freed_workers(train, self.setup.role(CRITICS), infer)

    def _smaller_workers(self, train: Role, infer: Role) -> tuple[str, Edit | None]:
        """Return help and edit: a tp with which training takes whole workers and leaves one."""
        trains, infers, alternative = train.devices, infer.devices, f"give both the same GPUs, or write `{MODE}: false`"
        edges = (trains.lowest - infers.lowest, trains.highest - infers.highest, len(trains), len(infers))
        fits = next((size for size in range(len(infers) // 2, 0, -1) if not any(edge % size for edge in edges)), None)
        key = infer.config("tensor_parallel_size")
        if fits is None or infer.strategy != VLLM or self.settings.at(infer.config("pipeline_parallel_size")) is not None:
            return alternative, None
        return f"set `{key}: {fits}`, {alternative}", self.settings.becomes(key, str(fits))

    def _check_freed_workers(self, train: Role, critic: Role | None, infer: Role) -> None:
        tp, pp = (self.settings.whole(infer.config(f"{name}_parallel_size"), MODES, 1, exact=True) for name in ("tensor", "pipeline"))
        # The mode takes an unset degree for 1.
        if infer.world_size is None or not infer.num_gpus_per_worker or not infer.is_engine or not tp or not pp:
            return
        infers, per_worker = infer.devices, tp.value * pp.value
        if per_worker * infer.world_size != infers.distinct:
            message = f"`{MODE}` counts tp x pp x workers = {per_worker} x {infer.world_size} GPUs of {infer.key},"
            message += f" which has {infers.distinct}"
            help = f"set `{infer.config('tensor_parallel_size')}`: where it is not written the mode takes 1"
            self.notes.error(BATCH_NUMBERS, infer.key, message, infer.place, with_noun(infers.distinct, "GPU"), help, None, AFTER_MODELS)
            return
        for role in (train, critic):
            if role is not None and len(role.devices) > role.devices.distinct:
                message = f"{role.key} names GPUs more than once, so {infer.key} is refused to give way for it"
                why = "ROLL notices this only at the first training step (`target_gpus has duplicates`)"
                self.notes.error("PW108", role.key, message, role.place, "an id appears twice", "write every id once", None, why)
        train_ids = Ids.join(train.devices, critic.devices if critic else ())
        # ROLL's check sorts the ids.
        free, free_of_sorted = _count_free(infers, per_worker, train_ids), _count_free(Ids.join(*infers.ranges), per_worker, train_ids)
        if not free or not free_of_sorted:
            message = f"every worker of {infer.key} holds a GPU that training needs, so none is left to generate meanwhile"
            help = f"leave a worker of {infer.key} without GPUs of training and critic, or write `{MODE}: false`"
            at_training = "ROLL notices this only at the first training step (`Cannot shrink to zero active ranks`)"
            why = at_training if free_of_sorted else AFTER_MODELS
            self.notes.error(MODES, infer.key, message, infer.place, "", help, None, why)
            return
        overlaps = positions(infers, train_ids.ranges)
        partial_workers = sorted({edge // per_worker for span in overlaps for edge in (span.start, span.stop) if edge % per_worker})
        if partial_workers:
            more = f" ({len(partial_workers)} workers do)" if len(partial_workers) > 1 else ""
            message = f"worker {partial_workers[0]} of {infer.key} shares only some of its GPUs with training{more}"
            why = "the worker gives way at the first step, and gets no request again"
            help = f"let {critic.key if critic else 'training'} take whole workers of {infer.key}"
            self.notes.warn(MODES, infer.key, message, (critic or infer).place, "part of a worker", help, None, why, NEVER)

    def _check_colocated(self, train: Role, infer: Role, shared_count: int) -> None:
        reward, async_ratio = self.setup.role(AGENTIC_REWARD), self.ratio
        trains, infers, rewards = train.devices.distinct, infer.devices.distinct, reward.devices.distinct if reward else 0
        overlap = f"{train.key} and {infer.key} share {with_noun(shared_count, 'GPU')}"
        if trains != infers + rewards:
            message = f"{overlap}, but {train.key} has {with_noun(trains, 'GPU')}, not {infers} + {rewards}"
            demand = f"unless {train.key} is within {infer.key}, it must have as many GPUs as {infer.key} and the reward together"
            help = f"give {train.key} and {infer.key} the same GPUs, or none in common, or write `{MODE}: false`"
            why = (demand, AFTER_MODELS, 'ROLL says no more than "colocating mode"', OFF)
            self.notes.error(MODES, train.key, message, train.place, with_noun(trains, "GPU"), help, None, *why)
        if async_ratio:
            message = f"{overlap}, so `{RATIO}` must be 0, but it is {async_ratio:g}"
            at, edit = self.settings.at(RATIO) or train.place, self.settings.becomes(RATIO, "0")
            help = f"write `{RATIO}: 0`, or give {infer.key} at least one more worker's GPUs than {train.key} has"
            none_left = "no GPU is left to generate meanwhile"
            self.notes.error(MODES, infer.key, message, at, "not 0", help, edit, none_left, AFTER_MODELS, OFF)

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
            why, help, edit = f"there is a {AGENTIC_REWARD}", "drop the hint", None
            if async_ratio:
                why = f"`{RATIO}` is {async_ratio:g}"
                help, edit = f"drop the hint, or write `{RATIO}: 0`", self.settings.becomes(RATIO, "0")
            message, at = f"the hints give {train.key} and {infer.key} the same GPUs, but {why}", hints[COLOCATED].span or train.span
            self.notes.error(MODES, train.key, message, at, "the same GPUs", help, edit, f"{REASON} refuses that")
            return
        self.setup.relations.append(Relation(DISJOINT if is_disjoint else COLOCATED_OR_DISJOINT, (train.key, infer.key), None, REASON))

    def _reserve_worker(self, train: Role, infer: Role) -> None:
        """Bound the amounts of training and critic to leave a worker of inference."""
        inner, outer, critic = self.setup.components[train.key], self.setup.components[infer.key], self.setup.role(CRITICS)
        critic_size = self.setup.components[critic.key].least if critic is not None and critic.key in self.setup.components else 0
        per_worker = infer.num_gpus_per_worker or outer.per_process
        most, demand = outer.most - per_worker - critic_size, inner.least + critic_size + per_worker
        if most < inner.least:
            message = f"{train.key} and {CRITICS} take {inner.least + critic_size} of at most {with_noun(outer.most, 'GPU')} of {infer.key}"
            at, help = outer.spans.get("amount") or inner.spans.get("amount") or train.span, f"ask for {demand} GPUs of {infer.key}"
            why = f"{REASON} demands that a worker of {with_noun(per_worker, 'GPU')} is left"
            self.notes.error(MODES, infer.key, message, at, "too few", help, None, why)
            return
        if inner.runs is None:
            self.setup.components[train.key] = inner.narrow_counts(inner.least, min(inner.most, most))
        if outer.runs is None:
            minimum = max(outer.least, demand, 2 * per_worker)
            self.setup.components[infer.key] = outer.narrow_counts(-(-minimum // outer.step) * outer.step, outer.most)


# Weights go from `actor_train` to `actor_infer`.

PAIRS, SOLID = "PW217", "PW205"
MOST_TRIED = 24
"""Limit on the candidate starts of a role: edges of occupied ranges."""


def _adds_no_sharing(role: Role, ids: Ids, neighbors: Sequence[Role]) -> bool:
    return not any(common(neighbor.devices, ids) and not common(neighbor.devices, role.devices) for neighbor in neighbors)


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
        if not self.pipeline.updates_models or not self.setup.since("0.2.0"):
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
        if train.on_devices and infer.on_devices:
            self._add_range_fixes([role for role in (train, infer) if not role.devices.solid])
            is_shared = common(train.devices, infer.devices) and per_worker and len(infer.devices) % per_worker == 0
            if is_shared and self._are_in_step(train, infer):
                self._check_pairs(train, infer)
                self._check_reached(train, infer)

    def _are_in_step(self, train: Role, infer: Role) -> bool:
        """Return True if training fills whole workers of inference; else add an error."""
        trains, infers, per_worker = train.devices, infer.devices, infer.num_gpus_per_worker
        edges = (("begins", trains.lowest - infers.lowest), ("ends", trains.highest - infers.highest))
        off = [f"{edge} {with_noun(abs(by), 'id')} {'later' if by > 0 else 'earlier'}" for edge, by in edges if by % per_worker]
        if not off and not len(trains) % per_worker:
            return True
        message = f"{train.key} ({write_ranks(trains.ranges)}) does not fill whole workers of {infer.key} ({write_ranks(infers.ranges)})"
        ranks = f"the {with_noun(len(trains), 'rank')} of {train.key} {are(len(trains))} no whole groups of {per_worker}"
        why = (f"{train.key} {' and '.join(off)} than {infer.key}" if off else ranks, AFTER_MODELS)
        help = f"let {train.key} share whole workers of {infer.key}, each GPU written once, or no GPU"
        self.notes.error(PAIRS, train.key, message, train.place, f"not in step with workers of {per_worker}", help, None, *why)
        self.notes.findings[-1] = replace(self.notes.findings[-1], premises=(train.key, infer.key))  # judged by the ranks of both
        return False

    def _check_pairs(self, train: Role, infer: Role) -> None:
        trains, infers, per_worker = train.devices, infer.devices, infer.num_gpus_per_worker
        shift = train.devices.lowest - infer.devices.lowest
        mismatches = differing(train.devices, infer.devices, shift)
        if not mismatches:
            return
        rank, at = mismatches[0], mismatches[0] + shift
        places = (divmod(id_, self.setup.per_node) for id_ in (trains[rank], infers[at]))
        source, target = (f"GPU {gpu} of node {node}" for node, gpu in places)
        message = f"rank {rank} of {train.key} ({source}) sends weights to worker {at // per_worker} of {infer.key} ({target})"
        why = [f"{len(mismatches)} ranks send to another GPU"] if len(mismatches) > 1 else []
        # A worker of sglang sees all GPUs of the worker.
        workers = [set(infers[first : first + per_worker]) for first in range(0, len(infers), per_worker)]
        pairs = [(position, id_) for position, id_ in enumerate(trains, shift) if 0 <= position < len(infers)]
        fails = infer.strategy != SGLANG or any(id_ not in workers[position // per_worker] for position, id_ in pairs)
        wrong = [role for role in (train, infer) if not role.devices.ascending]
        help, edit = f"write the ids of {train.key} and {infer.key} in ascending order, each once", None
        if len(wrong) == 1 and wrong[0].devices.solid and len(wrong[0].devices) == wrong[0].devices.distinct:
            better = wrong[0].devices.ranges[0]
            help, edit = f"give {wrong[0].key} `{range_text(better)}`", ids_edit(self.notes, wrong[0], Ids.join(better))[1]
        report, moment = (self.notes.error, names.AT_UPDATE) if fails else (self.notes.warn, NEVER)
        why += [] if fails else ["this is slow, but not refused"]
        report(PAIRS, train.key, message, train.place, f"rank {rank} is on id {trains[rank]}", help, edit, *why, moment)
        self.notes.findings[-1] = replace(self.notes.findings[-1], premises=(train.key, infer.key))

    def _check_reached(self, train: Role, infer: Role) -> None:
        trains, infers, per_worker = train.devices, infer.devices, infer.num_gpus_per_worker
        first, last = (trains.lowest - infers.lowest) // per_worker, (trains.highest - infers.highest) // per_worker
        workers = len(infers) // per_worker
        inner, before, after = range(first, first + len(trains) // per_worker), range(max(first, 0)), range(workers + min(last, 0), workers)
        gaps = without([range(workers)], merge([inner, before, after]))
        if gaps:
            count = sum(map(len, gaps))
            more = f" ({count} workers do not)" if count > 1 else ""
            message = f"worker {gaps[0][0]} of {infer.key} never gets new weights{more}"
            why = "the worker goes on with the weights that it started with"
            self.notes.error(PAIRS, infer.key, message, infer.place, "is not reached", "write every id once", None, why, NEVER)

    # Solid ranges for roles with holes; disjoint roles stay disjoint.

    def _add_range_fixes(self, with_holes: Sequence[Role]) -> None:
        """Add a fix to roles with holes: a range, and a new range for the partner if needed."""
        new_ranges = next(self._move_ranges(with_holes), None) if with_holes else None
        for position, role in enumerate(with_holes):
            lowest, distinct = role.devices.lowest, role.devices.distinct
            fix = Fix(f"write one range such as `{range_text(range(lowest, lowest + distinct))}`, and move what is in its way")
            if new_ranges is not None:
                text = " and ".join(f"{member.key} `{range_text(new_range)}`" for member, new_range in zip(with_holes, new_ranges))
                partners = [partner for partner in with_holes if partner is not role]
                # Users may apply the edit alone.
                is_independent = _adds_no_sharing(role, Ids.join(new_ranges[position]), partners)
                fix = Fix(f"give {text}", ids_edit(self.notes, role, Ids.join(new_ranges[position]))[1] if is_independent else None)
            component = self.setup.components[role.key]
            self.setup.components[role.key] = replace(component, fixes={**component.fixes, SOLID: fix})

    def _move_ranges(self, with_holes: Sequence[Role]) -> Iterator[tuple[range, ...]]:
        """Yield ranges of the same sizes within the used ids, without new sharing."""
        with_devices = [role for role in self.setup.roles if role.created and role.on_devices]
        other_roles = [role for role in with_devices if role not in with_holes]
        end = max(role.devices.highest for role in with_devices) + 1
        used_ranges = [ids_range for role in with_devices for ids_range in role.devices.ranges[:MOST_TRIED]]
        starts = sorted({0, *(ids_range.start for ids_range in used_ranges), *(ids_range.stop for ids_range in used_ranges)})[:MOST_TRIED]
        sizes = [role.devices.distinct for role in with_holes]
        is_joint = len(with_holes) == 2 and with_holes[0].devices.ranges == with_holes[1].devices.ranges
        for ranges in product(*([range(at, at + size) for at in starts if at + size <= end] for size in sizes)):
            new = [Ids.join(new_range) for new_range in ranges]
            if len(new) == 2 and (ranges[0] != ranges[1] if is_joint else common(new[0], new[1])):
                continue
            if all(_adds_no_sharing(role, new_ids, other_roles) for role, new_ids in zip(with_holes, new)):
                yield ranges

    # Logits: data parallel ranks of the teacher send to those of the student, GPU to GPU.
    #
    # Source: ROLL, roll/pipeline/distill/logits_transfer_group.py (LogitsTransferGroup.__init__, make_comm_plan).

    def check_logits_transfer(self) -> None:
        """Check the backend, the data parallel sizes, and that NCCL never sends to itself."""
        student, teacher = self.setup.role(names.STUDENTS), self.setup.role(names.TEACHERS)
        if student is None or teacher is None or not self.setup.since("0.1.3"):
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
                message, why = f"teacher and student meet on id {id_}, but `{BACKEND}` is `{NCCL}`", "NCCL cannot send from a GPU to itself"
                at, edit = self.settings.at(BACKEND) or student.place, self.settings.becomes(BACKEND, USUAL)
                self.notes.error(MODES, student.key, message, at, "", f"write `{BACKEND}: {USUAL}`", edit, why, AFTER_MODELS)

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
