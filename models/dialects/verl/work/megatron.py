"""Process groups of what is trained: sequence parallel ranks and shards of FSDP, expert parallel ranks and pipeline stages of Megatron.

Source: verl, verl/workers/fsdp_workers.py (create_device_mesh, ActorRolloutRefWorker.__init__, CriticWorker); Megatron-LM,
core/parallel_state.py, initialize_model_parallel (expert tensor x expert x pipeline parallel sizes divide the world), and
core/transformer/transformer_config.py (TransformerConfig.__post_init__).
"""

from __future__ import annotations

from math import prod
from typing import Callable

from ....configuration.settings import Amount
from ....findings.finding import Severity
from ....findings.wording import with_noun
from ....model_cards.stages import EMBEDDING, FIRST, LAST, LAYOUT, LOSS, Stages, layout_of
from ...checks import AtLeast, Check, Divides, Equals, Excludes, Facts, Number
from ..components.parallel import OWNERS
from ..entries import Kind
from ..releases import shards_key, until
from .notices import IN_WORKERS, NEVER, WITH_MODEL
from .work import DEGREES, MODE, REPLACED, Work, divisors, given, next_to

GROUPS = (
    "tensor_model_parallel_size", "pipeline_model_parallel_size", "context_parallel_size", "expert_model_parallel_size",
    "expert_tensor_parallel_size",
)  # fmt: skip
VIRTUAL, STAGES = "virtual_pipeline_model_parallel_size", "pipeline_model_parallel_size"
CONFIG = "override_transformer_config"
SOURCE = "Megatron-LM, core/transformer/transformer_config.py (TransformerConfig.__post_init__)"
MESH = "verl, verl/workers/fsdp_workers.py (create_device_mesh)"
DIVIDES = "PW404"


def judge_meshes(work: Work) -> None:
    """Every size divides the world of its component."""
    for name, owner in OWNERS.items():
        ranks = work.setup.world_size(name)
        if ranks is None or work.is_engine(name):
            continue
        strategy, shards = work.is_trained_by(owner), shards_key(work.settings, name)
        if strategy == "megatron":
            _groups(work, name, owner, ranks)
        elif strategy == "fsdp" and shards:
            _mesh(work, name, owner, ranks, shards)
        elif strategy == "veomni":
            if sequence := work.amount(f"{owner}.veomni.ulysses_parallel_size", DEGREES):
                work.check(name, _ranks_divide(work, name, ranks, sequence, f"{sequence.value} sequence parallel ranks"))
        elif strategy == "torchtitan":
            _titan(work, name, owner, ranks)
        elif strategy not in ("fsdp", "mindspeed", "", None):
            why = f"the degrees of {strategy} are not read: data parallel ranks and batches of {name} are unknown"
            work.setup.notes.unsure(DEGREES, name, why)
    # Until 0.7.1 the workers that only generate make the mesh of the actor too, of their own ranks.
    apart = work.setup.entry.kind is Kind.SEPARATE and not work.setup.entry.own_trainer and until(work.settings, "0.7.1")
    ranks = work.setup.world_size("rollout") if apart else None
    if ranks and work.is_trained_by(OWNERS["actor"]) == "fsdp":
        _mesh(work, "rollout", OWNERS["actor"], ranks, shards_key(work.settings, "actor"))


def _mesh(work: Work, name: str, owner: str, ranks: int, shards: str) -> None:
    """Sequence parallel ranks and shards divide the ranks. A negative size, or one that is not below the world, means all ranks."""
    sequence, size = work.sequence(owner, DEGREES), work.amount(shards, DEGREES, least=-(10**9))
    if sequence:
        work.check(name, _ranks_divide(work, name, ranks, sequence, f"{sequence.value} sequence parallel ranks"))
    if size and 0 < size.value < ranks:
        work.check(name, _ranks_divide(work, name, ranks, size, f"shards over {size.value}"))
    elif size and not size.value:
        message = f"the {with_noun(ranks, 'rank')} of {name} cannot be divided into {{left}} shards over 0"
        work.check(name, AtLeast(code=DEGREES, source=MESH, left=lambda facts: work.of(size), right=1, message=message, when=IN_WORKERS))


def _titan(work: Work, name: str, owner: str, ranks: int) -> None:
    """TorchTitan asserts that its degrees fill the world (torchtitan/distributed/parallel_dims.py, ParallelDims)."""
    parts = ("data_parallel_replicate", "data_parallel_shard", "context_parallel", "tensor_parallel", "pipeline_parallel")
    found = [work.settings.whole(f"{owner}.torchtitan.{part}_size", DEGREES, 1, least=-1) for part in parts]
    sizes = [amount.value for amount in found if amount is not None]
    if len(sizes) < len(parts) or sizes[1] < 0:
        return  # the shards are what is left
    product = Number(prod(sizes), f"dp replicas x dp shards x cp x tp x pp = {' x '.join(map(str, sizes))} = {prod(sizes)}", found[1])
    world = Number(ranks, f"the {with_noun(ranks, 'rank')} of {name}")
    source = "verl, verl/workers/engine/torchtitan/transformer_impl.py"
    work.check(name, Equals(code=DEGREES, source=source, left=given(product), right=given(world), when=IN_WORKERS))


def _ranks_divide(work: Work, name: str, ranks: int, amount: Amount, what: str) -> Check:
    world = Number(ranks, f"the {with_noun(ranks, 'rank')} of {name}")
    parts = Number(amount.value, what, amount)
    message = "{left} cannot be divided into {right}"
    return Divides(
        code=DEGREES, source=MESH, left=lambda facts: world, right=lambda facts: parts, change="right", message=message, when=IN_WORKERS
    )


def _groups(work: Work, name: str, owner: str, ranks: int) -> None:
    """Those of Megatron: the first role of a process makes them for all others."""
    section = work.setup.section(name)
    if section == owner:
        _stages(work, name, owner)
        _experts(work, name, owner, ranks)
        return
    for key in GROUPS:
        amount, holds = work.amount(f"{owner}.megatron.{key}", DEGREES), work.amount(f"{section}.megatron.{key}", DEGREES)
        if amount and amount.span and holds:
            message = (
                f"{{left}} makes no groups: {name} runs in the processes of {section.rpartition('.')[2]}, whose {{right}} holds for both"
            )
            left, right = Number(amount.value, f"`{amount.name}` {amount.value}", amount), work.of(holds)
            work.check(name, Equals(code=REPLACED, source=MESH, left=given(left), right=given(right), message=message,
                                    severity=Severity.WARNING, when=NEVER))  # fmt: skip


def _stages(work: Work, name: str, owner: str) -> None:
    """Only pipeline stages can be split into virtual ones; layers are given to stages in one way."""
    degrees, config = f"{owner}.megatron", f"{owner}.megatron.{CONFIG}"
    virtual, stages = work.amount(f"{degrees}.{VIRTUAL}", DEGREES), work.amount(f"{degrees}.{STAGES}", DEGREES)
    if virtual and stages and stages.value == 1:
        message = f"{work.said(virtual)} needs more than one pipeline stage, but {work.said(stages)}: Megatron raises a RuntimeError"
        edit = work.settings.becomes(virtual.name, "null") if virtual.scalar and virtual.scalar.origin is None else None
        work.tell(MODE, name, message, virtual.span, f"set {work.settings.assigned(virtual.name, 'null')}", edit, "one stage", IN_WORKERS)
    work.check(
        name,
        *(Excludes(code=MODE, source=SOURCE, keys=(f"{config}.{end}", f"{config}.{counted}"), when=WITH_MODEL)
          for end in (FIRST, LAST) for counted in (EMBEDDING, LOSS)),
        *(Excludes(code=MODE, source=SOURCE, keys=(f"{config}.{LAYOUT}", f"{config}.{key}"), when=WITH_MODEL)
          for key in (FIRST, LAST, EMBEDDING, LOSS)),
    )  # fmt: skip
    if virtual and virtual.value > 1:
        work.check(name, *(
            Divides(code=DIVIDES, source=SOURCE, left=_stage(work, f"{config}.{end}"), right=given(work.of(virtual)), when=WITH_MODEL)
            for end in (FIRST, LAST)
        ))  # fmt: skip
    layout = work.settings.word(f"{config}.{LAYOUT}", DIVIDES) or ""
    if layout and stages and (read := layout_of(layout)) is not None:
        count = Number(read[0], f"the {read[0]} stages of `{LAYOUT}`")
        message = "{left} are no multiple of {right}"
        work.check(name, Divides(code=DIVIDES, source=SOURCE, left=given(count), right=given(work.of(stages)), change="right",
                                 message=message, when=WITH_MODEL))  # fmt: skip


def _stage(work: Work, key: str) -> Callable[[Facts], Number | None]:
    amount = work.amount(key, DIVIDES) if work.settings.at(key) is not None else None
    return given(work.of(amount) if amount else None)


def stages_of(work: Work, section: str, owner: str) -> Stages | int | None:
    """How layers are shared out among stages; the decoder layers of a layout; None where that is even.

    The reference policy takes what the actor says where it says nothing itself (ref/megatron_ref.yaml).
    """
    for place in dict.fromkeys((owner, section)):
        config = f"{place}.megatron.{CONFIG}"
        layout = work.settings.word(f"{config}.{LAYOUT}", DIVIDES) or ""
        if layout:
            read = layout_of(layout)
            return read[1] if read else Stages()
        first, last = (
            work.settings.whole(f"{config}.{end}", DIVIDES) if work.settings.has(f"{config}.{end}") else None for end in (FIRST, LAST)
        )
        extra = sum(bool(work.settings.flag(f"{config}.{key}", DIVIDES)) for key in (EMBEDDING, LOSS))
        if first or last or extra:
            return Stages(first, last, extra)
    return None


def _experts(work: Work, name: str, owner: str, ranks: int) -> None:
    """The expert tensor parallel size is the tensor parallel size where it is not said; 1 in 0.6.0 (its own default)."""
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
