"""Micro batches and parallel sizes that fit, for a job without a file."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import cached_property
from math import gcd, lcm
from typing import Iterator

from ...component import Component
from ...estimate import DISTRIBUTED, FSDP, MemoryInput
from ...machines.cluster import Cluster
from ...machines.node_group import ACCELERATOR
from ...memory.estimate import estimate_memory
from ...memory.work import shape_of
from ...model_cards.card import ModelCard
from ...parallel import Parallel
from ...performance.component_times import phase_seconds, speeds_of
from ...performance.model_run import ModelRun
from ...planning.workload import IterationBatch
from ...record import dataclass
from ...roles import CRITIC
from ...training_job import ANY_FILE, UTILIZATION, FileLimits

ALGORITHMS = {
    "grpo": ("reference",), "ppo": ("reference", "critic"), "dapo": (), "rloo": ("reference",), "reinforce++": ("reference",),
}  # fmt: skip
"""Algorithm -> components beside `rollout` and `actor`.

GRPO, arXiv 2402.03300, section 4.1; PPO with a critic, arXiv 2203.02155, section 3.5; DAPO without
a reference, arXiv 2503.14476, section 2.3; RLOO, arXiv 2402.14740; REINFORCE++, arXiv 2501.03262.
"""
_LARGE = 40_000_000_000
"""Parameters above which, as with experts, training is taken to be Megatron's."""
_TOKENS = 8192
"""Tokens of a micro batch, as long as one sequence has fewer."""
_FULL = 85
"""Percent of an accelerator for an engine that hardly fits."""
_MOST_COUNTS, _UNKNOWN = 56, 80 * 1024
_MUCH = 2
"""Times as long as by Megatron, from which FSDP is left."""
_SPLIT = (1, 2, 4, 8)
"""Ranks among which a sequence may be divided."""


@dataclass(frozen=True)
class JobRequest:
    """Model, algorithm and batch of a job.

    Attributes
    ----------
    prompts, samples : prompts of an iteration, and answers to each.
    prompt, response : tokens of a prompt, and of the longest answer.
    mean_response : mean tokens of an answer; 0 if unknown.
    card : numbers of a model that is not known by its id.
    """

    model: str
    prompts: int
    response: int
    algorithm: str = "grpo"
    samples: int = 8
    prompt: int = 512
    mean_response: int = 0
    card: ModelCard | None = None

    @property
    def sequences(self) -> int:
        """Answers of an iteration."""
        return self.prompts * self.samples

    @property
    def sequence(self) -> int:
        """Tokens of a prompt and its longest answer."""
        return self.prompt + self.response

    @property
    def beside_rollout(self) -> tuple[str, ...]:
        """Components beside the rollout."""
        return (*ALGORITHMS[self.algorithm], "actor")


@dataclass(frozen=True)
class JobSizes:
    """Sizes of a job on a cluster; `limits` are those of its file."""

    request: JobRequest
    card: ModelCard
    cluster: Cluster
    limits: FileLimits = ANY_FILE

    @cached_property
    def total(self) -> int:
        """Accelerators of the cluster."""
        return self.cluster.total(ACCELERATOR)

    @cached_property
    def near(self) -> int:
        """Accelerators of the largest node."""
        return max((len(stretch.node.accelerators) for stretch in self.cluster.alike), default=0)

    @cached_property
    def trainer(self) -> tuple[str, int]:
        """Accelerator model that trains, with most operations a second, and its number."""
        counts, speeds = Counter[str](), speeds_of(self.cluster)
        for node_kind in self.cluster.alike:
            counts[node_kind.node.accelerator_model] += node_kind.count * len(node_kind.node.accelerators)

        def power(model: str) -> float:
            speed, _ = speeds.get(model, (None, 0))
            return counts[model] * (speed.bf16 if speed else 1.0)

        model = max(counts, key=power)
        return model, counts[model]

    @property
    def even_prompts(self) -> int:
        """Nearest number of prompts that all accelerators to train on divide."""
        unit = self.trainer[1] // gcd(self.trainer[1], self.request.samples)
        return max(1, round(self.request.prompts / unit)) * unit

    @cached_property
    def memory(self) -> int:
        """MiB of the smallest accelerators of the model that trains; 80 GiB if unknown."""
        nodes = (
            stretch.node
            for stretch in self.cluster.alike
            if stretch.node.accelerators and stretch.node.accelerator_model == self.trainer[0]
        )
        return min((node.accelerator_memory or _UNKNOWN for node in nodes), default=_UNKNOWN)

    @cached_property
    def even_total(self) -> int:
        """Most accelerators to train on that divide the batch; all if under half."""
        total = self.trainer[1]
        counts = range(total, (total - 1) // 2, -(self.near & -self.near))
        return next((count for count in counts if self.request.sequences % count == 0), total)

    def counts(self, unit: int) -> list[int]:
        """Return at most 64 counts of whole units: parts of a node, whole nodes, and all that there is.

        Batches seldom divide among nodes of 6 or 72: of these every 2 or 8 count too.
        """
        total, near = self.total, self.near
        unit_size = lcm(near & -near, unit)
        step = unit_size * -(-total // (unit_size * _MOST_COUNTS))
        units = range(unit, total + 1, unit)
        counts = [count for count in units if count % step == 0 or count + unit > total or (count < near and near % count == 0)]
        return counts or [total]

    # -- what trains and reads

    @cached_property
    def trained(self) -> tuple[MemoryInput, int]:
        """How what trains and reads is run, and the ranks that divide a sequence: the first that fits.

        By Megatron if large or with experts, or if FSDP takes over twice as long, as over slow networks;
        else by FSDP. Micro batches divide the sequences of each rank, and have one where ranks do not
        divide the batch. If none fits, the one that needs least.
        """
        runs = list(self._runs())
        first = next((run for run in runs if self.excess(*run) == 0), None)
        if first is None:
            return min(runs, key=lambda run: self.excess(*run))
        last = runs[-1]
        if first[0].sharding == FSDP and self.excess(*last) == 0 and self._actor_seconds(first) > _MUCH * self._actor_seconds(last):
            return last
        return first

    def _actor_seconds(self, run: tuple[MemoryInput, int]) -> float:
        return self._seconds(Component("actor", estimate=run[0]), self.parallel("actor", *run))

    def _runs(self) -> Iterator[tuple[MemoryInput, int]]:
        is_asked = self.limits.megatron_critic and CRITIC in self.request.beside_rollout
        by_megatron, sequence = is_asked or bool(self.card.experts) or self.card.parameters > _LARGE, self.request.sequence
        run = MemoryInput(
            "" if self.request.card else self.request.model, sharding=DISTRIBUTED if by_megatron else FSDP, sequence=sequence, offload=True,
            expert_tp=1 if self.card.experts else 0,
        )  # fmt: skip
        sequences, total = self.request.sequences, self.trainer[1]
        share = 1 if sequences % self.even_total else sequences // self.even_total
        sizes = (size for size in range(max(1, _TOKENS // sequence), 0, -1) if share % size == 0)
        yield from ((replace(run, micro_batch=size), 1) for size in sizes)
        if self.card.experts:
            yield replace(run, expert_tp=0), 1
        if by_megatron or self.limits.splits_sequences:
            splits = (size for size in _SPLIT[1:] if total % size == 0 and self.near % size == 0 and self.card.heads % size == 0)
            yield from ((run, size) for size in splits)
        if not by_megatron:
            yield replace(run, sharding=DISTRIBUTED), 1

    def excess(self, run: MemoryInput, split: int) -> int:
        """Return the MiB by which the high of the fullest component does not fit."""
        needs, residents = [], list[int]()
        for name in self.request.beside_rollout:
            estimate = estimate_memory(Component(name, estimate=run), self.card, self.parallel(name, run, split), self.even_total)
            if estimate is None:
                return self.memory
            needs.append(estimate.high - estimate.kept_high)
            residents.append(estimate.kept_high)
        return max(0, max(needs) + sum(residents) + self._engine_kept - self.memory)

    @cached_property
    def _engine_kept(self) -> int:
        """MiB that an engine keeps while others work."""
        engine = Component("rollout", estimate=MemoryInput(self._id, sequence=self.request.sequence, offload=True))
        estimate = estimate_memory(engine, self.card, Parallel(tp=2), 2)
        return estimate.kept_high if estimate else 0

    @property
    def _id(self) -> str:
        return "" if self.request.card else self.request.model

    def parallel(self, name: str, run: MemoryInput, split: int) -> Parallel:
        """Return the quickest parallel sizes of Megatron that fit, on accelerators that divide the batch.

        Of those within a tenth of the quickest the one with fewest stages, then ranks: stages are never
        quite even. Where none fits, those that need least. FSDP divides nothing but sequences.
        """
        if run.sharding != DISTRIBUTED:
            return Parallel(cp=split)
        component, candidates = Component(name, estimate=run), []
        engines, _ = self.engines
        least_tp = engines[0].tp if self.limits.actor_leads and name == "actor" and engines else 1
        for parallel in self._megatron(split, least_tp, run.expert_tp):
            if (estimate := estimate_memory(component, self.card, parallel, self.even_total)) is None:
                continue
            resident = (len(self.request.beside_rollout) - 1) * estimate.kept_high + self._engine_kept
            candidates.append((max(0, estimate.high + resident - self.memory), self._seconds(component, parallel), parallel))
        best = min(candidates, key=lambda candidate: candidate[:2], default=(0, 0.0, Parallel(cp=split)))
        near_best = [parallel for too_much, seconds, parallel in candidates if too_much == best[0] and seconds <= 1.1 * best[1]]
        return min(near_best, key=lambda parallel: (parallel.pp, parallel.tp, parallel.ep), default=best[2])

    def _seconds(self, component: Component, parallel: Parallel) -> float:
        """Return the likely seconds of an iteration; 0 if no speed is known."""
        request, (speed, network) = self.request, speeds_of(self.cluster)[self.trainer[0]]
        if speed is None or component.estimate is None:
            return 0.0
        batch = IterationBatch(request.prompts, request.samples, request.prompt, request.response, request.mean_response)
        shape, expert_tp = shape_of(component.estimate, self.card), component.estimate.expert_tp
        run = ModelRun(shape, parallel, self.even_total, speed, network, expert_tp=expert_tp)
        return phase_seconds(component, run, batch, True).likely

    def _megatron(self, split: int, least_tp: int, expert_tp: int) -> Iterator[Parallel]:
        """Yield parallel sizes that divide the model and the accelerators."""
        card, total = self.card, self.even_total
        for tp in (size for size in divisors(card.heads, self.near) if size >= least_tp):
            for pp in (size for size in (1, 2, 4, 8, 16) if card.layers % size == 0):
                for ep in (size for size in (1, 4, 8, 16, 32, 64) if size == 1 or (card.experts and card.experts % size == 0)):
                    if total % (tp * pp * split) == 0 and total % (pp * ep * (expert_tp or tp)) == 0:
                        yield Parallel(tp=tp, pp=pp, cp=split, ep=ep)

    # -- the engine

    @cached_property
    def engines(self) -> tuple[list[Parallel], int]:
        """Parallel sizes of an engine that fit, and its percent of an accelerator.

        On as few nodes as do; what keeps a larger percent off several nodes is preferred, unless these
        are data parallel ranks. Ranks hold a latent cache whole, so twice as many data parallel ranks
        are a choice too. Empty if none fits.
        """
        by_ranks = self.limits.over_nodes == "dp"
        nodes = [1 << power for power in range(6) if self.near << power <= self.total]
        nodes = nodes if self.card.experts or self.limits.over_nodes == "pp" else [1]
        nodes = nodes if self.limits.over_nodes else [1]
        options = [(count, percent) for count in nodes for percent in (UTILIZATION, _FULL)]
        options = sorted(options, key=lambda pair: pair[1]) if by_ranks else options
        for count, percent in options:
            if fitting := self._fitting(count, percent):
                more = self._fitting(2 * count, percent) if self.card.latent and by_ranks and 2 * count in nodes else []
                return fitting + more, percent
        return [], UTILIZATION

    def _fitting(self, count: int, percent: int) -> list[Parallel]:
        """Return the parallel sizes over so many nodes that fit in a percent.

        On one solid range a tp that divides a node leaves no gaps.
        """
        estimate, sizes = MemoryInput(self._id, sequence=self.request.sequence), list[Parallel]()
        for tp in divisors(self.card.heads, self.near):
            size = Parallel(tp=tp, **({self.limits.over_nodes: count} if count > 1 else {}))
            need = estimate_memory(Component("rollout", estimate=estimate), self.card, size, size.replica)
            if need is not None and need.mebibytes <= self.memory * percent // 100:
                sizes.append(size)
        even = [size for size in sizes if self.near % size.tp == 0]
        return sizes if not self.limits.solid or (not even and not self.limits.over_nodes) else even

    @property
    def nearly_fits(self) -> bool:
        """True if each component fits beside what the others keep, within a twentieth."""
        return self.excess(*self.trained) <= self.memory // 20 and bool(self.engines[0])


def divisors(number: int, most: int) -> list[int]:
    """Return the powers of two up to `most` that divide a number."""
    return [1 << power for power in range(most.bit_length()) if 1 << power <= most and number % (1 << power) == 0]
