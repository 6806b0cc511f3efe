"""The process groups of what is trained: sequence parallel ranks and shards of FSDP, expert parallel ranks of Megatron.

Source: verl, verl/workers/fsdp_workers.py (create_device_mesh, ActorRolloutRefWorker.__init__, CriticWorker); Megatron-LM,
core/parallel_state.py, initialize_model_parallel (expert tensor x expert x pipeline parallel sizes divide the world).
"""

from __future__ import annotations

from typing import Iterable

from ....configuration.settings import Amount
from ....findings.wording import with_noun
from ..components.parallel import OWNERS
from ..entries import Kind
from .degrees import is_engine
from .notices import IN_WORKERS, NEVER
from .work import DEGREES, MODE, REPLACED, Work, divisors, next_to

SHARDS = {
    "actor": "actor_rollout_ref.actor.fsdp_config.fsdp_size", "critic": "critic.model.fsdp_config.fsdp_size",
    "reward_model": "reward_model.model.fsdp_config.fsdp_size",
}  # fmt: skip
"""The reference policy takes the mesh of the actor."""
GROUPS = (
    "tensor_model_parallel_size", "pipeline_model_parallel_size", "context_parallel_size", "expert_model_parallel_size",
    "expert_tensor_parallel_size",
)  # fmt: skip
VIRTUAL = "virtual_pipeline_model_parallel_size"
SEQUENCE = "ulysses_sequence_parallel_size"


def judge_meshes(work: Work) -> None:
    """Every size divides the world of its component."""
    for name, owner in OWNERS.items():
        ranks = work.setup.world_size(name)
        if ranks is None or is_engine(work, name):
            continue
        strategy = work.is_trained_by(owner)
        if strategy == "megatron":
            _groups(work, name, owner, ranks)
        elif strategy == "fsdp" and name in SHARDS:
            _mesh(work, name, owner, ranks, SHARDS[name])
    apart = work.setup.world_size("rollout") if work.setup.entry.kind is Kind.SEPARATE and not work.setup.entry.own_trainer else None
    if apart and work.is_trained_by(OWNERS["actor"]) == "fsdp":
        _mesh(work, "rollout", OWNERS["actor"], apart, SHARDS["actor"])


def _mesh(work: Work, name: str, owner: str, ranks: int, shards: str) -> None:
    """Those of FSDP. The workers that only generate make the mesh of the actor too, of their own ranks."""
    sequence, size = work.amount(f"{owner}.{SEQUENCE}", DEGREES), work.amount(shards, DEGREES, least=-(10**9))
    if sequence and ranks % sequence.value:
        _refused(work, name, ranks, sequence, f"{sequence.value} sequence parallel ranks", divisors(ranks))
    # A negative size, or one that is not below the world, means all ranks.
    if size and 0 <= size.value < ranks and (size.value == 0 or ranks % size.value):
        _refused(work, name, ranks, size, f"shards over {size.value}", divisors(ranks))


def _refused(work: Work, name: str, ranks: int, amount: Amount, what: str, values: Iterable[int]) -> None:
    left = f": {ranks % amount.value} would be left" if amount.value else ""
    message = f"the {with_noun(ranks, 'rank')} of {name} cannot be divided into {what}{left}"
    better = next_to(amount.value, values)
    close = min(better, key=lambda value: abs(value - amount.value))
    work.tell(
        DEGREES, name, message, amount.span, work.set(amount, *better), amount.becomes(close), with_noun(ranks, "rank"), IN_WORKERS
    )  # fmt: skip


def _groups(work: Work, name: str, owner: str, ranks: int) -> None:
    """Those of Megatron: the first role of a process makes them for all others."""
    section = work.setup.section(name)
    if section == owner:
        _stages(work, name, owner)
        _experts(work, name, owner, ranks)
        return
    for key in GROUPS:
        amount, holds = work.amount(f"{owner}.megatron.{key}", DEGREES), work.amount(f"{section}.megatron.{key}", DEGREES)
        if amount and amount.span and holds and amount.value != holds.value:
            message = (
                f"`{amount.name}` {amount.value} makes no groups: {name} runs in the processes of {section.rpartition('.')[2]}, whose "
            )
            message += f"{work.said(holds)} holds for both"
            help_, edit = work.set(amount, holds.value), amount.becomes(holds.value)
            work.tell(REPLACED, name, message, amount.span, help_, edit, f"{holds.value} holds", NEVER, proved=False)


def _stages(work: Work, name: str, owner: str) -> None:
    """Only pipeline stages can be split into virtual ones."""
    virtual = work.amount(f"{owner}.megatron.{VIRTUAL}", DEGREES)
    stages = work.amount(f"{owner}.megatron.pipeline_model_parallel_size", DEGREES)
    if virtual and stages and stages.value == 1:
        message = f"{work.said(virtual)} needs more than one pipeline stage, but {work.said(stages)}: Megatron raises a RuntimeError"
        help_, edit = f"set {work.settings.assigned(virtual.name, 'null')}", None
        if virtual.scalar and virtual.scalar.origin is None:
            edit = work.settings.becomes(virtual.name, "null")
        work.tell(MODE, name, message, virtual.span, help_, edit, "one stage", IN_WORKERS)


def _experts(work: Work, name: str, owner: str, ranks: int) -> None:
    """The expert tensor parallel size is the tensor parallel size where it is not said."""
    degrees = f"{owner}.megatron"
    tensor, experts, stages, own = (
        work.amount(f"{degrees}.{key}", DEGREES)
        for key in (
            "tensor_model_parallel_size", "expert_model_parallel_size", "pipeline_model_parallel_size", "expert_tensor_parallel_size",
        )
    )  # fmt: skip
    if not tensor or not experts or not stages:
        return
    inner = own or tensor
    product = inner.value * experts.value * stages.value
    if (experts.value == 1 and own is None) or ranks % product == 0:
        return  # without experts this is what tp x pp demand
    message = f"the {with_noun(ranks, 'rank')} of {name} cannot be divided by expert tp x ep x pp = "
    message += f"{inner.value} x {experts.value} x {stages.value} = {product}"
    note = "" if own else f"`{degrees}.expert_tensor_parallel_size` is null, and so takes the tensor parallel size {tensor.value}"
    fitting = [size for size in divisors(ranks) if size <= inner.value and ranks % (size * experts.value * stages.value) == 0]
    if fitting:
        key = f"{degrees}.expert_tensor_parallel_size"
        close = max(fitting)
        help_, edit = f"set {work.settings.assigned(key, close)}", own.becomes(close) if own else None
    else:
        fitting = [size for size in divisors(ranks) if ranks % (inner.value * size * stages.value) == 0]
        better = next_to(experts.value, fitting)
        help_ = work.set(experts, *better) if better else f"make expert tp x ep x pp a divisor of {ranks}"
        edit = experts.becomes(min(better, key=lambda value: abs(value - experts.value))) if better else None
    at = experts.span or stages.span
    work.tell(DEGREES, name, message, at, help_, edit, f"{with_noun(product, 'rank')} together", note, IN_WORKERS)
