"""Process groups of trained components: FSDP meshes, expert parallel ranks, pipeline stages.

Source: verl, verl/workers/fsdp_workers.py (create_device_mesh, ActorRolloutRefWorker.__init__,
CriticWorker); Megatron-LM, core/parallel_state.py, initialize_model_parallel (expert tensor x
expert x pipeline parallel sizes divide the world), and core/transformer/transformer_config.py
(TransformerConfig.__post_init__).
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from math import prod

from ....component import Parallel
from ....configuration.settings import Amount
from ....findings.finding import Severity
from ....findings.wording import with_noun
from ....model_cards.stages import EMBEDDING, FIRST, LAST, LAYOUT, LOSS, PipelineStages, layout_of
from ...checks import Equals, Excludes, Number, divisors, near
from ..configuration import SEQUENCE
from ..degrees import OWNERS, TUNERS, TUNES, is_counted, tuner_of
from ..programs import PROCESSES, ProgramKind
from .work import ACTOR, DEGREES, DIVIDES, IN_WORKERS, MODE, NEVER, REPLACED, WITH_MODEL, VerlWork

GROUPS = (
    "tensor_model_parallel_size", "pipeline_model_parallel_size", "context_parallel_size", "expert_model_parallel_size",
    "expert_tensor_parallel_size",
)  # fmt: skip
ULYSSES = "engine.ulysses_parallel_size"
CONFIG = "override_transformer_config"
SOURCE = "Megatron-LM, core/transformer/transformer_config.py (TransformerConfig.__post_init__)"
MESH = "verl, verl/workers/fsdp_workers.py (create_device_mesh)"


def judge_meshes(work: VerlWork) -> None:
    """Check that every group size divides the component's world."""
    if work.entry.kind in TUNES:
        _tuned(work)
        return
    for name, owner in OWNERS.items():
        ranks = work.setup.world_size(name)
        if ranks is None or work.is_engine(name):
            continue
        strategy, shards = work.is_trained_by(owner), work.settings.shards_key(name)
        if strategy == "megatron":
            _groups(work, name, owner, ranks)
        elif strategy == "fsdp" and shards:
            _mesh(work, name, owner, ranks, shards)
        elif strategy == "veomni":
            _ranks_divide(work, name, ranks, work.amount(f"{owner}.veomni.ulysses_parallel_size", DEGREES))
        elif strategy == "torchtitan":
            _titan(work, name, f"{owner}.torchtitan", ranks)
        elif strategy not in ("fsdp", "mindspeed", "", None):
            why = f"the degrees of {strategy} are not read: data parallel ranks and batches of {name} are unknown"
            work.notes.unsure(DEGREES, name, why)
    # Until 0.7.1 workers that only generate make the mesh of the actor too, of their own ranks.
    apart = work.entry.kind is ProgramKind.SEPARATE and not work.entry.own_trainer and work.settings.until("0.7.1")
    ranks = work.setup.world_size("rollout") if apart else None
    if ranks and work.is_trained_by(ACTOR) == "fsdp":
        _mesh(work, "rollout", ACTOR, ranks, work.settings.shards_key("actor"))


def _tuned(work: VerlWork) -> None:
    """Check a fine-tuned component, of FSDP or of the engine in section `engine`."""
    ranks, engine = work.setup.world_size("actor"), tuner_of(work.settings)
    if ranks is None or not is_counted(work.settings):
        return
    if work.entry.program == PROCESSES:
        _ranks_divide(work, "actor", ranks, work.amount(SEQUENCE, DEGREES))
    elif engine == "fsdp":
        _mesh(work, "actor", "", ranks, "engine.fsdp_size")
    elif engine == "veomni":
        _ranks_divide(work, "actor", ranks, work.amount(ULYSSES, DEGREES))
        experts = work.amount("engine.expert_parallel_size", DEGREES)
        if experts and ranks % experts.value:
            why = f"whether VeOmni takes {work.text(experts)} for {with_noun(ranks, 'rank')} is not known"
            work.notes.unsure(DEGREES, "actor", why, True, f"Set `{experts.name}` to a divisor of {ranks}")
    elif engine == "megatron":
        _stages(work, "actor", "engine")
        _experts(work, "actor", "engine", ranks)
    elif engine == "torchtitan":
        _titan(work, "actor", "engine", ranks)
    elif engine == "":
        add = f"Check yourself that its degrees divide the {ranks} ranks; those of {', '.join(TUNERS)} are read"
        work.notes.unsure(DEGREES, "actor", "the degrees of this engine are not read", True, add)


def tuned_ranks(work: VerlWork) -> int | None:
    """Return the data parallel ranks of a fine-tuned component; None if unknown or uneven."""
    ranks, component, engine = work.setup.world_size("actor"), work.setup.component("actor"), tuner_of(work.settings)
    if ranks is None or component is None or engine == "" or not is_counted(work.settings):
        return None
    if engine == "megatron" and work.settings.flag("engine.dynamic_context_parallel", DEGREES):
        return None
    size = component.parallel.replica
    if engine in (None, "fsdp", "veomni"):
        sequence = work.amount(ULYSSES, DEGREES) if engine == "veomni" else work.sequence("", DEGREES)
        size = sequence.value if sequence else 1
    return ranks // size if ranks % size == 0 else None


def _mesh(work: VerlWork, name: str, owner: str, ranks: int, shards: str) -> None:
    """Check that sequence parallel ranks, and shards if they are not all, divide the ranks."""
    sequence, size = work.sequence(owner, DEGREES), work.amount(shards, DEGREES, least=-(10**9))
    _ranks_divide(work, name, ranks, sequence)
    if size and 0 < size.value < ranks:
        _ranks_divide(work, name, ranks, size, f"shards over {size.value}")


def _ranks_divide(work: VerlWork, name: str, ranks: int, amount: Amount | None, text: str = "") -> None:
    if amount:
        world = Number(ranks, f"the {with_noun(ranks, 'rank')} of {name}")
        parts = Number(amount.value, text or f"{amount.value} sequence parallel ranks", amount)
        work.divides(name, DEGREES, world, parts, IN_WORKERS, (), "{left} cannot be divided into {right}", change="right", source=MESH)


def _titan(work: VerlWork, name: str, section: str, ranks: int) -> None:
    """Check that TorchTitan's degrees fill the world.

    Source: torchtitan/distributed/parallel_dims.py, ParallelDims, which asserts it.
    """
    keys = ("data_parallel_shard", "tensor_parallel", "data_parallel_replicate", "context_parallel", "pipeline_parallel")
    amounts = [amount for key in keys if (amount := work.settings.whole(f"{section}.{key}_size", DEGREES, 1, least=-1))]
    sizes = [amount.value for amount in amounts]
    if len(sizes) < len(keys) or sizes[0] < 1 or prod(sizes) == ranks:
        return  # shards of -1 take all remaining ranks
    shards, tensor, rest = amounts[0], amounts[1], prod(sizes[2:])
    fitting = [size for size in divisors(ranks) if size <= tensor.value and ranks % (rest * size) == 0]
    best = max(fitting, default=0)
    help_, edit = f"choose sizes whose product is {ranks}", None
    if best:
        parts = [work.assigned(tensor.name, best)] if best != tensor.value else []
        parts += [work.assigned(shards.name, ranks // (rest * best))] if ranks // (rest * best) != shards.value else []
        help_ = f"set {' and '.join(parts)}"
        edit = shards.becomes(ranks // (rest * best)) if best == tensor.value else None
    at = next((amount.span for amount in (*amounts[1:], shards) if amount.span and amount.value > 1), shards.span)
    message = f"dp shards x tp x dp replicas x cp x pp = {' x '.join(map(str, sizes))} = {prod(sizes)} "
    message += f"must be the {with_noun(ranks, 'rank')} of {name}"
    work.tell(DEGREES, name, message, at, help_, edit, f"not {ranks}", IN_WORKERS)
    component = work.setup.component(name)
    if component is not None and ranks % component.parallel.replica:  # the product is reported here
        work.setup.change(component, replace(component, parallel=Parallel(), fixes={}))


def _groups(work: VerlWork, name: str, owner: str, ranks: int) -> None:
    """Check Megatron's groups, made by the first role of a process for all roles."""
    section = work.setup.section(name)
    if section == owner:
        _stages(work, name, f"{owner}.megatron")
        _experts(work, name, f"{owner}.megatron", ranks)
        return
    for key in GROUPS:
        amount, holds = work.amount(f"{owner}.megatron.{key}", DEGREES), work.amount(f"{section}.megatron.{key}", DEGREES)
        if amount and amount.span and holds:
            message = f"{{left}} makes no groups: {name} runs in processes of {section.rpartition('.')[2]}, whose {{right}} holds"
            severity = Severity.WARNING
            work.check(name, Equals(code=REPLACED, source=MESH, left=amount, right=holds, message=message, severity=severity, when=NEVER))


def _stages(work: VerlWork, name: str, degrees: str) -> None:
    """Check virtual pipeline stages, and that layers have a single assignment to stages."""
    config = f"{degrees}.{CONFIG}"
    virtual = work.amount(f"{degrees}.virtual_pipeline_model_parallel_size", DEGREES)
    stages = work.amount(f"{degrees}.pipeline_model_parallel_size", DEGREES)
    if virtual and stages and stages.value == 1:
        message = f"{work.text(virtual)} needs more than one pipeline stage, but {work.text(stages)}: Megatron raises a RuntimeError"
        work.demand(MODE, name, message, virtual.name, "null", IN_WORKERS, "one stage", at=virtual.span)
    for pair in (*product((FIRST, LAST), (EMBEDDING, LOSS)), *((LAYOUT, key) for key in (FIRST, LAST, EMBEDDING, LOSS))):
        work.check(name, Excludes(code=MODE, source=SOURCE, keys=[f"{config}.{key}" for key in pair], when=WITH_MODEL))
    for key in (f"{config}.{end}" for end in (FIRST, LAST) if virtual and virtual.value > 1):
        if work.settings.at(key) is not None:
            work.divides(name, DIVIDES, key, virtual, WITH_MODEL, source=SOURCE)
    read = layout_of(work.settings.word(f"{config}.{LAYOUT}", DIVIDES) or "") if stages else None
    if read is not None and read[0]:
        count, message = Number(read[0], f"the {read[0]} stages of `{LAYOUT}`"), "{left} are no multiple of {right}"
        work.divides(name, DIVIDES, count, stages, WITH_MODEL, (), message, change="right", source=SOURCE)


def stages_of(work: VerlWork, section: str, owner: str) -> PipelineStages | int | None:
    """Return the layers of stages, for a layout the decoder layers; None if even.

    The reference policy takes the actor's settings by default (ref/megatron_ref.yaml).
    """
    for place in dict.fromkeys((owner, section)):
        config = f"{place}.megatron.{CONFIG}"
        layout = work.settings.word(f"{config}.{LAYOUT}", DIVIDES) or ""
        if layout:
            read = layout_of(layout)
            return read[1] if read else PipelineStages()
        ends = [f"{config}.{end}" for end in (FIRST, LAST)]
        first, last = (work.settings.whole(end, DIVIDES) if work.settings.has(end) else None for end in ends)
        extra = sum(bool(work.settings.flag(f"{config}.{key}", DIVIDES)) for key in (EMBEDDING, LOSS))
        if first or last or extra:
            return PipelineStages(first, last, extra)
    return None


def _experts(work: VerlWork, name: str, degrees: str, ranks: int) -> None:
    """Check that expert groups divide the ranks."""
    tensor, stages, _, experts, own = (work.amount(f"{degrees}.{key}", DEGREES) for key in GROUPS)
    if not tensor or not experts or not stages:
        return
    inner = own or tensor
    total = inner.value * experts.value * stages.value
    if (experts.value == 1 and own is None) or ranks % total == 0:
        return  # without experts, tp x pp demand the same
    message = f"the {with_noun(ranks, 'rank')} of {name} cannot be divided by expert tp x ep x pp = "
    message += f"{inner.value} x {experts.value} x {stages.value} = {total}"
    key = f"{degrees}.expert_tensor_parallel_size"
    note = "" if own else f"`{key}` is null, and so takes the tensor parallel size {tensor.value}"
    fitting = [size for size in divisors(ranks) if size <= inner.value and ranks % (size * experts.value * stages.value) == 0]
    if fitting:
        help_, edit = f"set {work.assigned(key, max(fitting))}", own.becomes(max(fitting)) if own else None
    else:
        better = near(experts.value, [size for size in divisors(ranks) if ranks % (inner.value * size * stages.value) == 0])
        help_ = work.set(experts, *better) if better else f"make expert tp x ep x pp a divisor of {ranks}"
        edit = experts.becomes(min(better, key=lambda value: abs(value - experts.value))) if better else None
    work.tell(DEGREES, name, message, experts.span or stages.span, help_, edit, f"{with_noun(total, 'rank')} together", note, IN_WORKERS)
