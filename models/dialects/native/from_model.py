"""Native file of a job that is known by its model, cluster and algorithm alone."""

from __future__ import annotations

from dataclasses import replace
from math import lcm

import yaml

from ...component import Component
from ...estimate import DISTRIBUTED, FSDP, MemoryInput
from ...findings.finding import UnusableInput, error
from ...machines.cluster import Cluster
from ...machines.cluster_file import cluster_to_short_data
from ...machines.node import Nodes, numbered_nodes
from ...machines.node_group import ACCELERATOR
from ...memory_estimate import estimated
from ...memory_work import shape_of
from ...model_cards.card import ModelCard
from ...model_cards.known import KNOWN, known_model
from ...parallel import Parallel
from ...performance.component_times import phase_seconds, speeds_of
from ...performance.model_run import ModelRun
from ...planning.workload import IterationBatch
from ...record import dataclass
from ...text.nearest import nearest

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
_UTILIZATION, _FREE = 70, 90
"""Percent of an accelerator for an engine, and for what trains beside what others keep."""
_MOST_COUNTS, _MOST_DOUBLED, _UNKNOWN = 56, 10, 80 * 1024


@dataclass(frozen=True)
class JobRequest:
    """Model, algorithm and batch of a job.

    Attributes
    ----------
    prompts, samples : prompts of an iteration, and answers to each.
    prompt, response : tokens of a prompt, and of the longest answer.
    mean_response : mean tokens of an answer; 0 if unknown.
    """

    model: str
    prompts: int
    response: int
    algorithm: str = "grpo"
    samples: int = 8
    prompt: int = 512
    mean_response: int = 0


def native_file(request: JobRequest, cluster: Cluster, together: bool = False) -> str:
    """Return the text of the file. Raises UnusableInput for an unknown model or no accelerators.

    `together`: True if all components share all their accelerators, as a framework may demand.
    """
    card = known_model(request.model)
    if card is None:
        meant = nearest(request.model, KNOWN)
        advice = (
            f"name `{meant}`, if that is meant; or " if meant else ""
        ) + "write a native file with the numbers of its `config.json` in `estimate`"
        raise UnusableInput([error("PW121", "", f"the model `{request.model}` is not known", help=advice)])
    total, near = cluster.total(ACCELERATOR), max((len(alike.node.accelerators) for alike in cluster.alike), default=0)
    if not total:
        raise UnusableInput([error("PW101", "", "the cluster has no accelerators", help="name it like `--cluster 2x8xH100`")])
    run, sequence = _trained(request, card, total), request.prompt + request.response
    by_megatron = run.sharding == DISTRIBUTED
    components = {"rollout": _engine(request, card, cluster, near)}
    for name in (*ALGORITHMS[request.algorithm], "actor"):
        parallel = _quickest("actor" if together else name, run, card, cluster, near, request)
        degrees = f"parallel: {{tp: {parallel.tp}, pp: {parallel.pp}, ep: {parallel.ep}}}, " if by_megatron else ""
        reading = f"model: {run.model}, sequence: {sequence}, sharding: {run.sharding}, micro_batch: {run.micro_batch}"
        counts = _counts(total, near, max(parallel.replica, parallel.ep))
        sequences = request.prompts * request.samples
        counts = [count for count in counts if sequences % (count // parallel.replica * run.micro_batch) == 0] or counts
        optimizer = "" if name == "reference" else "optimizer: adam, "
        components[name] = (
            f"accelerators: {counts}, {degrees}estimate: {{{reading}, {optimizer}offload: true}}{', colocate_with: rollout' if together else ''}"
        )
    chain = " => ".join(name for name in components if name != "critic")
    chains = f"[{chain}, rollout => critic]" if "critic" in components else chain
    mean = f", mean_response: {request.mean_response}" if request.mean_response else ""
    return "\n".join(
        [
            f"# {request.algorithm.upper()} of {request.model}. Times and memory are estimates; `seconds` and `memory` that you write count",
            "# before them. Each component may have any of the counts and parallel sizes; who shares is open.",
            f"cluster: {yaml.safe_dump(cluster_to_short_data(cluster), default_flow_style=True, sort_keys=False).removesuffix('...' + chr(10)).strip()}",
            "components:",
            *(f"  {name}: {{{text}}}" for name, text in components.items()),
            "plan:",
            f"  workflow: {chains}",
            f"  batch: {{prompts: {request.prompts}, samples: {request.samples}, prompt: {request.prompt}, response: {request.response}{mean}}}",
            "",
        ]
    )  # fmt: skip


def least_nodes(request: JobRequest, cluster: Cluster) -> int | None:
    """Return how many nodes like the first suffice by the estimates; None if none do."""
    card, first = known_model(request.model), next((alike.node for alike in cluster.alike if alike.node.accelerators), None)
    if card is None or first is None or first.accelerator_memory is None:
        return None
    node = replace(first, rank=0)

    def fits(nodes: int) -> bool:
        return _fits(request, card, Cluster(Nodes([numbered_nodes(node, nodes)])), len(node.accelerators))

    most = next((nodes for nodes in (1 << power for power in range(_MOST_DOUBLED)) if fits(nodes)), None)
    return next((nodes for nodes in range(most // 2 + 1, most) if fits(nodes)), most) if most else None


def _fits(request: JobRequest, card: ModelCard, cluster: Cluster, near: int) -> bool:
    """Return True if each component fits on all accelerators, beside what the others keep."""
    total = cluster.total(ACCELERATOR)
    run = _trained(request, card, total)
    for name in (*ALGORITHMS[request.algorithm], "actor"):
        found = estimated(
            Component(name, estimate=run), card, _quickest(name, run, card, cluster, near, request), _even_total(request, total, near)
        )
        if found is None or found.high > _memory(cluster) * _FREE // 100:
            return False
    return bool(_engine_sizes(request, card, cluster, near))


def _trained(request: JobRequest, card: ModelCard, total: int) -> MemoryInput:
    """Return how what trains and reads is run: by Megatron if large or with experts, else by FSDP.

    Micro batches divide the sequences of each of `total` ranks, where these divide the batch.
    """
    by_megatron, sequence = bool(card.experts) or card.parameters > _LARGE, request.prompt + request.response
    sequences = request.prompts * request.samples
    divided = sequences if sequences % total else sequences // total
    micro_batch = max(size for size in range(1, max(1, _TOKENS // sequence) + 1) if divided % size == 0)
    return MemoryInput(
        request.model, sharding=DISTRIBUTED if by_megatron else FSDP, sequence=sequence, micro_batch=micro_batch, offload=True
    )


def _counts(total: int, near: int, unit: int) -> list[int]:
    """Return at most 64 counts of whole units: parts of a node, whole nodes, and all that there is.

    Batches seldom divide among nodes of 6 or 72: of these every 2 or 8 count too.
    """
    part = lcm(near & -near, unit)
    step = part * -(-total // (part * _MOST_COUNTS))
    counts = [
        count for count in range(unit, total + 1, unit) if count % step == 0 or count + unit > total or (count < near and near % count == 0)
    ]
    return counts or [total]


def _even_total(request: JobRequest, total: int, near: int) -> int:
    """Return the most accelerators that divide the batch; all if under half."""
    sequences = request.prompts * request.samples
    return next((count for count in range(total, total // 2, -(near & -near)) if sequences % count == 0), total)


def _divisors(number: int, most: int) -> list[int]:
    """Return the powers of two up to `most` that divide a number."""
    return [1 << power for power in range(most.bit_length()) if 1 << power <= most and number % (1 << power) == 0]


def _memory(cluster: Cluster) -> int:
    """Return the MiB of the smallest accelerators; 80 GiB if unknown."""
    return min((alike.node.accelerator_memory or _UNKNOWN for alike in cluster.alike if alike.node.accelerators), default=_UNKNOWN)


def _engine_sizes(request: JobRequest, card: ModelCard, cluster: Cluster, near: int) -> list[tuple[int, int]]:
    """Return tensor and data parallel sizes of an engine whose part of the weights fits."""
    estimate = MemoryInput(request.model, sequence=request.prompt + request.response)
    sizes = _divisors(card.heads, near)
    ranks = [1 << power for power in range(6) if near << power <= cluster.total(ACCELERATOR)] if card.experts else [1]
    room = _memory(cluster) * _UTILIZATION // 100
    return [
        (tp, dp)
        for dp in ranks
        for tp in sizes
        if (found := estimated(Component("rollout", estimate=estimate), card, Parallel(tp=tp, dp=dp), tp * dp)) and found.mebibytes <= room
    ]


def _engine(request: JobRequest, card: ModelCard, cluster: Cluster, near: int) -> str:
    """Return the hints of the rollout."""
    fitting, sequence = _engine_sizes(request, card, cluster, near), request.prompt + request.response
    least = min((dp for _, dp in fitting), default=1)
    tps = [tp for tp, dp in fitting if dp == least] or _divisors(card.heads, near)[-1:]
    parallel = f"{{tp: {tps}{f', dp: {least}' if least > 1 else ''}}}"
    counts = _counts(cluster.total(ACCELERATOR), near, tps[-1] * least)
    return f"accelerators: {counts}, parallel: {parallel}, estimate: {{model: {request.model}, sequence: {sequence}, utilization: {_UTILIZATION}, offload: true}}"


def _quickest(name: str, run: MemoryInput, card: ModelCard, cluster: Cluster, near: int, request: JobRequest) -> Parallel:
    """Return the quickest parallel sizes of Megatron that fit, on accelerators that divide the batch.

    Of those within a tenth of the quickest the one with fewest stages, then ranks: stages are never
    quite even. Where none fits, those that need least.
    """
    if run.sharding != DISTRIBUTED:
        return Parallel()
    total, component = _even_total(request, cluster.total(ACCELERATOR), near), Component(name, estimate=run)
    batch = IterationBatch(request.prompts, request.samples, request.prompt, request.response, request.mean_response)
    speed, joined = next(iter(speeds_of(cluster).values()))
    shape, candidates = shape_of(run, card), []
    for tp in _divisors(card.heads, near):
        for pp in (size for size in (1, 2, 4, 8, 16) if card.layers % size == 0):
            for ep in (size for size in (1, 4, 8, 16, 32, 64) if size == 1 or (card.experts and card.experts % size == 0)):
                parallel = Parallel(tp=tp, pp=pp, ep=ep)
                if total % (tp * pp * ep) or (found := estimated(component, card, parallel, total)) is None:
                    continue
                seconds = phase_seconds(component, ModelRun(shape, parallel, total, speed, joined), batch, True).likely if speed else 0.0
                too_much = max(0, found.high - _memory(cluster) * _FREE // 100)
                candidates.append((too_much, seconds, parallel))
    least = min(candidates, key=lambda candidate: candidate[:2], default=(0, 0.0, Parallel()))
    near_best = [parallel for too_much, seconds, parallel in candidates if too_much == least[0] and seconds <= 1.1 * least[1]]
    return min(near_best, key=lambda parallel: (parallel.pp, parallel.tp, parallel.ep), default=least[2])
