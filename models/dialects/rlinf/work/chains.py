"""How the batch of the actor comes about: prompts or environments -> samples -> what a rank trains on at once.

Source: RLinf, rlinf/config.py (validate_reasoning_cfg), rlinf/workers/actor/fsdp_actor_worker.py and
embodied_fsdp_actor_worker.py (total_batch_size_per_dp, gradient_accumulation), rlinf/workers/megatron_worker.py.
"""

from __future__ import annotations

from ....configuration.settings import Amount
from ....derivation import DATA_PARALLEL_SIZE
from ....findings.wording import with_noun
from ....text.tree import Scalar
from .shares import Work

MICRO_BATCHES = "micro batches per update"


def prompted(work: Work, prompts: Amount, group: Amount, parts: Amount) -> int:
    """Samples of a step and of an update; the latter."""
    samples = prompts.value * group.value
    work.derive(
        "actor",
        "samples per step",
        samples,
        f"{with_noun(prompts.value, 'prompt')} x {group.value} of a group",
        prompts,
        group,
    )
    batch = samples // parts.value
    return work.derive(
        "actor", "samples per update", batch, f"{with_noun(samples, 'sample')} // {with_noun(parts.value, 'minibatch')}", parts
    )


def on_processes(work: Work, batch: int, micro: Amount, *amounts: Amount) -> None:
    """With fsdp every process is a data parallel rank."""
    processes = work.processes("actor")
    if not processes:
        return
    work.derive("actor", DATA_PARALLEL_SIZE, processes, f"{with_noun(processes, 'process')}, each a data parallel rank of fsdp")
    each = work.derive("actor", "samples per process", batch // processes, f"{with_noun(batch, 'sample')} // {processes}", *amounts)
    _micro_batches(work, each, micro)


def on_replicas(work: Work, batch: int, micro: Amount, replicas: int) -> None:
    """With megatron the processes of a replica train on the same samples."""
    each = work.derive(
        "actor", "samples per replica", batch // replicas, f"{with_noun(batch, 'sample')} // {with_noun(replicas, 'replica')}"
    )
    _micro_batches(work, each, micro)


def _micro_batches(work: Work, each: int, micro: Amount) -> None:
    """Not told where they are made up of tokens, or where that is not known here."""
    dynamic = work.settings.at("runner.enable_dynamic_batch_size")
    if (dynamic is None and work.notes.partial) or (dynamic is not None and not (isinstance(dynamic, Scalar) and dynamic.value is False)):
        return
    work.derive("actor", MICRO_BATCHES, each // micro.value, f"{with_noun(each, 'sample')} // {micro.value} a micro batch", micro)


def acted(work: Work, total: Amount, epochs: Amount, steps: Amount, chunk: Amount, all_: Amount) -> int:
    """Samples of all rollouts of a step, and the updates made of them; the samples."""
    chunks = steps.value // chunk.value
    formula = f"{with_noun(total.value, 'environment')} x {with_noun(epochs.value, 'epoch')} x {with_noun(steps.value, 'step')} // {chunk.value} a chunk"
    samples = work.derive("actor", "samples per step", total.value * epochs.value * chunks, formula, total, epochs, steps, chunk)
    work.derive("actor", "updates per step", samples // all_.value, f"{with_noun(samples, 'sample')} // {all_.value}", all_)
    return samples
