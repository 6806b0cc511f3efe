"""The process groups of what is trained: sequence parallel ranks and shards of FSDP, expert parallel ranks of Megatron.

Source: verl, verl/workers/fsdp_workers.py (create_device_mesh, ActorRolloutRefWorker.__init__, CriticWorker); Megatron-LM,
core/parallel_state.py, initialize_model_parallel (expert tensor x expert x pipeline parallel sizes divide the world).
"""

from __future__ import annotations

from typing import Iterable

from ....configuration.settings import Amount
from .degrees import TRAINED, is_engine
from .notices import IN_WORKERS
from .work import DEGREES, Work, divisors, next_to

SHARDS = {
    "actor": "actor_rollout_ref.actor.fsdp_config.fsdp_size", "critic": "critic.model.fsdp_config.fsdp_size",
    "reward_model": "reward_model.model.fsdp_config.fsdp_size",
}  # fmt: skip
"""The reference policy takes the mesh of the actor."""


def judge_meshes(work: Work) -> None:
    """Every size divides the world of its component."""
    for name, owner in TRAINED.items():
        ranks = work.setup.world_size(name)
        if ranks is None or name not in SHARDS or is_engine(work, name):
            continue
        strategy = work.is_trained_by(owner)
        if strategy == "fsdp":
            _sequence(work, name, ranks, work.amount(f"{owner}.ulysses_sequence_parallel_size", DEGREES))
            _shards(work, name, ranks, work.amount(SHARDS[name], DEGREES, least=-(10**9)))
        elif strategy == "megatron":
            _experts(work, name, owner, ranks)


def _sequence(work: Work, name: str, ranks: int, amount: Amount | None) -> None:
    if amount and ranks % amount.value:
        _refused(work, name, ranks, amount, f"{amount.value} sequence parallel ranks", divisors(ranks))


def _shards(work: Work, name: str, ranks: int, amount: Amount | None) -> None:
    """A negative size, or one that is not below the world, means all ranks."""
    if amount and 0 <= amount.value < ranks and (amount.value == 0 or ranks % amount.value):
        _refused(work, name, ranks, amount, f"shards over {amount.value}", divisors(ranks))


def _refused(work: Work, name: str, ranks: int, amount: Amount, what: str, values: Iterable[int]) -> None:
    left = f": {ranks % amount.value} would be left" if amount.value else ""
    message = f"the {ranks} ranks of {name} cannot be divided into {what}{left}"
    better = next_to(amount.value, values)
    close = min(better, key=lambda value: abs(value - amount.value))
    work.tell(
        DEGREES, name, message, amount.span, work.set(amount, *better), amount.becomes(close), f"{ranks} ranks", IN_WORKERS
    )  # fmt: skip


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
    message = f"the {ranks} ranks of {name} cannot be divided by expert tp x ep x pp = "
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
    work.tell(DEGREES, name, message, at, help_, edit, f"{product} ranks together", note, IN_WORKERS)
