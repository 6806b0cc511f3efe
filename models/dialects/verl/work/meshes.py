"""Process groups of components, their models, and what both must divide.

How a model runs is for memory estimates on demand. Source: verl, verl/workers/fsdp_workers.py
(create_device_mesh, ActorRolloutRefWorker.__init__, CriticWorker), verl/trainer/config/,
verl/models/transformers/monkey_patch.py (Ulysses), verl/workers/megatron_workers.py; Megatron-LM,
core/parallel_state.py, initialize_model_parallel (expert tensor x expert x pipeline parallel sizes
divide the world), and core/transformer/transformer_config.py (TransformerConfig.__post_init__).
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from math import prod

from ....component import Parallel
from ....configuration.settings import Amount, percent, whole_number
from ....estimate import ADAM_16, CHUNKED, DISTRIBUTED, FSDP, FULL, MEGATRON, NONE, SELECTIVE, MemoryInput
from ....findings.finding import Severity
from ....findings.wording import with_noun
from ....model_cards import ModelUse, Split, engine_splits, megatron_splits, sequence_split, ulysses_splits, with_sizes
from ....model_cards.stages import EMBEDDING, FIRST, LAST, LAYOUT, LOSS, PipelineStages, layout_of, places_of, stage_splits, stages_in
from ....text.tree import Scalar
from ...checks import Equals, Excludes, Number, divisors, find_near, set_to
from ...lengths import lengths_of
from ..degrees import OWNERS, STRATEGIES, TUNERS, TUNES, engine_key, engine_of, is_counted, is_engine, is_teacher, section_of, tuner_of
from ..programs import MOMENTS, PROCESSES, ProgramKind, facts
from .work import ACTOR, DEGREES, DIVIDES, MODE, REPLACED, ROLLOUT, VerlWork

HINTS = "placewright.components"
POLICY = "actor_rollout_ref.model.path"
GROUPS = (
    "tensor_model_parallel_size", "pipeline_model_parallel_size", "context_parallel_size", "expert_model_parallel_size",
    "expert_tensor_parallel_size",
)  # fmt: skip
CONFIG = "override_transformer_config"
SOURCE = "Megatron-LM, core/transformer/transformer_config.py (TransformerConfig.__post_init__)"
MESH = "verl, verl/workers/fsdp_workers.py (create_device_mesh)"
_PRECISIONS = {"bfloat16": "bf16", "float16": "fp16", "float32": "fp32"}


def judge_meshes(work: VerlWork) -> None:
    """Check that every group size divides the component's world."""
    if work.entry.kind in TUNES:
        _check_tuned(work)
        return
    for name, owner in OWNERS.items():
        ranks = work.setup.world_size(name)
        if ranks is None or is_engine(work.settings, name):
            continue
        strategy = work.is_trained_by(owner)
        # Until 0.8.0 the reference has the actor's mesh: verl, engine_workers.py (ActorRolloutRefWorker.init_model).
        shards = "" if name == "ref" and work.settings.is_older_than("0.8.0") else f"{work.settings.fsdp_section(owner)}.fsdp_size"
        _divide(work, name, owner, strategy, f"{owner}.{strategy}", ranks, shards)
        if strategy not in (*STRATEGIES, "fsdp", "veomni", "", None):
            why = f"the degrees of {strategy} are not read: data parallel ranks and batches of {name} are unknown"
            work.notes.unsure(DEGREES, name, why)
    # Until 0.7.1 workers that only generate make the mesh of the actor too, of their own ranks.
    is_separate = work.entry.kind is ProgramKind.SEPARATE and not work.entry.own_trainer and work.settings.is_older_than("0.7.1")
    ranks = work.setup.world_size("rollout") if is_separate else None
    if ranks and work.is_trained_by(ACTOR) == "fsdp":
        _mesh(work, "rollout", ACTOR, ranks, f"{work.settings.fsdp_section(ACTOR)}.fsdp_size")


def _divide(work: VerlWork, name: str, owner: str, strategy: str | None, section: str, ranks: int, shards: str) -> None:
    """Check that a strategy, whose degrees are in a section, divides the ranks."""
    if strategy == "megatron":
        _dynamic(work, name, section, ranks)
        _groups(work, name, owner, section, ranks)
    elif strategy == "fsdp" and shards:
        _mesh(work, name, owner, ranks, shards)
    elif strategy == "veomni":
        _veomni(work, name, section, ranks)
    elif strategy == "torchtitan":
        _titan(work, name, section, ranks)


def _dynamic(work: VerlWork, name: str, section: str, ranks: int) -> None:
    """Check that dynamic context parallel ranks get an even number.

    Source: verl, verl/workers/engine/megatron/transformer_impl.py (_validate_dcp_world_size).
    """
    if work.settings.is_older_than("0.9.0") or not work.settings.flag(f"{section}.dynamic_context_parallel", MODE):
        return
    shares = [work.amount(f"{section}.{key}_model_parallel_size", DEGREES) for key in ("tensor", "pipeline")]
    shards = prod(share.value for share in shares if share)
    if all(shares) and ranks % shards == 0 and ranks // shards % 2:
        rest, at = with_noun(ranks // shards, "rank"), work.settings.place(f"{section}.dynamic_context_parallel")
        message = f"{rest} of {name} {'is' if ranks == shards else 'are'} left for data and context: dynamic context needs an even number"
        work.report(DEGREES, name, message, at, "change tp or pp", None, rest, "IN_WORKERS")


def _check_tuned(work: VerlWork) -> None:
    ranks, engine = work.setup.world_size("actor"), tuner_of(work.settings)
    if ranks is None or not is_counted(work.settings):
        return
    if work.entry.program == PROCESSES:
        _ranks_divide(work, "actor", ranks, work.sequence("", DEGREES))
    elif engine != "":
        _divide(work, "actor", "", engine, "engine", ranks, "engine.fsdp_size")
    else:
        add = f"Check yourself that its degrees divide the {ranks} ranks; those of {', '.join(TUNERS)} are read"
        work.notes.unsure(DEGREES, "actor", "the degrees of this engine are not read", True, add)


def _mesh(work: VerlWork, name: str, owner: str, ranks: int, shards: str) -> None:
    """Check that sequence parallel ranks, and shards if they are not all, divide the ranks."""
    _ranks_divide(work, name, ranks, work.sequence(owner, DEGREES))
    _shards_divide(work, name, ranks, shards)


def _veomni(work: VerlWork, name: str, section: str, ranks: int) -> None:
    """Check VeOmni's sequence parallel ranks, its shards of the rest, and its experts.

    Source: verl, verl/workers/engine/veomni/transformer_impl.py (__init__), since 0.7.1.
    """
    sequence, experts = (work.amount(f"{section}.{key}_parallel_size", DEGREES) for key in ("ulysses", "expert"))
    _ranks_divide(work, name, ranks, sequence)
    if ranks % (slices := sequence.value if sequence else 1) == 0:
        _shards_divide(work, name, ranks // slices, f"{section}.fsdp_size")
    if experts and ranks % experts.value:
        why = f"whether VeOmni takes {work.text(experts)} for {with_noun(ranks, 'rank')} is not known"
        work.notes.unsure(DEGREES, name, why, True, f"Set `{experts.name}` to a divisor of {ranks}")


def _shards_divide(work: VerlWork, name: str, ranks: int, shards: str) -> None:
    size = work.amount(shards, DEGREES, minimum=-(10**9))
    if size and size.value == 0:
        message = f"{work.text(size)} shards the weights of {name} over no rank: verl divides by it"
        work.demand(DEGREES, name, message, shards, -1, "IN_WORKERS")
    elif size and 0 < size.value < ranks:
        _ranks_divide(work, name, ranks, size, f"shards over {size.value}")


def _ranks_divide(work: VerlWork, name: str, ranks: int, amount: Amount | None, text: str = "") -> None:
    if amount:
        world = Number(ranks, f"the {with_noun(ranks, 'rank')} of {name}")
        divisor = Number(amount.value, text or f"{amount.value} sequence parallel ranks", amount)
        work.divides(name, DEGREES, world, divisor, "IN_WORKERS", (), "{left} cannot be divided into {right}", change="right", source=MESH)


def _titan(work: VerlWork, name: str, section: str, ranks: int) -> None:
    """Check that TorchTitan's degrees fill the world.

    Source: torchtitan/distributed/parallel_dims.py, ParallelDims, which asserts it.
    """
    if work.missing_group(section.rpartition(".")[0]):
        return
    keys = ("data_parallel_shard", "tensor_parallel", "data_parallel_replicate", "context_parallel", "pipeline_parallel")
    amounts = [amount for key in keys if (amount := work.settings.whole(f"{section}.{key}_size", DEGREES, 1, minimum=-1))]
    sizes = [amount.value for amount in amounts]
    if len(sizes) < len(keys) or sizes[0] < 1 or prod(sizes) == ranks:
        return  # shards of -1 take all remaining ranks
    shards, rest, edit = amounts[0], prod(sizes[1:]), None
    help_ = f"choose sizes whose product is {ranks}"
    if ranks % rest == 0:
        help_, edit = f"set {work.spell(shards.name, ranks // rest)}", shards.becomes(ranks // rest)
    at = next((amount.span for amount in (*amounts[1:], shards) if amount.span and amount.value > 1), shards.span)
    message = f"dp shards x tp x dp replicas x cp x pp = {' x '.join(map(str, sizes))} = {prod(sizes)} "
    message += f"must be the {with_noun(ranks, 'rank')} of {name}"
    work.report(DEGREES, name, message, at, help_, edit, f"not {ranks}", "IN_WORKERS")
    component = work.setup.component(name)
    if component is not None and ranks % component.parallel.replica:  # the product is reported here
        work.setup.change(component, replace(component, parallel=Parallel(), fixes={}))


def _groups(work: VerlWork, name: str, owner: str, section: str, ranks: int) -> None:
    """Check Megatron's groups, made by the first role of a process for all roles."""
    first = section_of(work.setup.pool(name), name) if owner else ""
    if first == owner:
        _stages(work, name, section)
        _experts(work, name, section, ranks)
        return
    for key in GROUPS:
        amount, value = work.amount(f"{section}.{key}", DEGREES), work.amount(f"{first}.megatron.{key}", DEGREES)
        if amount and amount.span and value:
            message = f"{{left}} makes no groups: {name} runs in processes of {first.rpartition('.')[2]}, whose {{right}} holds"
            severity = Severity.WARNING
            work.check(name, Equals(code=REPLACED, source=MESH, left=amount, right=value, message=message, severity=severity, when="NEVER"))


def _stages(work: VerlWork, name: str, degrees: str) -> None:
    """Check virtual pipeline stages, and that layers have a single assignment to stages."""
    config = f"{degrees}.{CONFIG}"
    virtual = work.amount(f"{degrees}.virtual_pipeline_model_parallel_size", DEGREES)
    stages = work.amount(f"{degrees}.pipeline_model_parallel_size", DEGREES)
    if virtual and stages and stages.value == 1:
        message = f"{work.text(virtual)} needs more than one pipeline stage, but {work.text(stages)}: Megatron raises a RuntimeError"
        work.demand(MODE, name, message, virtual.name, "null", "IN_WORKERS", "one stage", at=virtual.span)
    for pair in (*product((FIRST, LAST), (EMBEDDING, LOSS)), *((LAYOUT, key) for key in (FIRST, LAST, EMBEDDING, LOSS))):
        work.check(name, Excludes(code=MODE, source=SOURCE, keys=[f"{config}.{key}" for key in pair], when="WITH_MODEL"))
    for key in (f"{config}.{end}" for end in (FIRST, LAST) if virtual and virtual.value > 1):
        if work.settings.at(key) is not None:
            work.divides(name, DIVIDES, key, virtual, "WITH_MODEL", source=SOURCE)
    read = layout_of(work.settings.word(f"{config}.{LAYOUT}", DIVIDES) or "") if stages else None
    if read is not None and read[0]:
        count, message = Number(read[0], f"the {read[0]} stages of `{LAYOUT}`"), "{left} are not a multiple of {right}"
        work.divides(name, DIVIDES, count, stages, "WITH_MODEL", (), message, change="right", source=SOURCE)


def stages_of(work: VerlWork, section: str, owner: str) -> PipelineStages | int | None:
    """Return the layers of stages, for a layout the decoder layers; None if even.

    The reference policy takes the actor's settings by default (ref/megatron_ref.yaml). Without a
    section it is the engine that fine-tunes.
    """
    configs = (f"{place}.megatron.{CONFIG}" for place in dict.fromkeys((owner, section))) if section else (f"engine.{CONFIG}",)
    return next((layers for config in configs if (layers := stages_in(work.settings, config, DIVIDES)) is not None), None)


def _experts(work: VerlWork, name: str, degrees: str, ranks: int) -> None:
    tensor, stages, _, experts, expert_tensor = (work.amount(f"{degrees}.{key}", DEGREES) for key in GROUPS)
    if not tensor or not experts or not stages:
        return
    inner = expert_tensor or tensor
    total = inner.value * experts.value * stages.value
    if (experts.value == 1 and expert_tensor is None) or ranks % total == 0:
        return  # without experts, tp x pp demand the same
    message = f"the {with_noun(ranks, 'rank')} of {name} cannot be divided by expert tp x ep x pp = "
    message += f"{inner.value} x {experts.value} x {stages.value} = {total}"
    key = f"{degrees}.expert_tensor_parallel_size"
    note = "" if expert_tensor else f"`{key}` is null, and so takes the tensor parallel size {tensor.value}"
    fitting = [size for size in divisors(ranks) if size <= inner.value and ranks % (size * experts.value * stages.value) == 0]
    if fitting:
        help_, edit = f"set {work.spell(key, max(fitting))}", expert_tensor.becomes(max(fitting)) if expert_tensor else None
    else:
        better = find_near(experts.value, [size for size in divisors(ranks) if ranks % (inner.value * size * stages.value) == 0])
        help_, edit = set_to(work, experts, better)
        help_ = help_ or f"make expert tp x ep x pp a divisor of {ranks}"
    at, label = experts.span or stages.span, f"{with_noun(total, 'rank')} together"
    work.report(DEGREES, name, message, at, help_, edit, label, note, "IN_WORKERS")


# -- models


def read_models(work: VerlWork) -> None:
    """Add the models of the job to the setup."""
    for name in [component.name for component in work.setup.components]:
        key = "model.path" if work.entry.kind is ProgramKind.GENERATION else _path(work, name)
        if splits := _splits(work, name):
            # A default model is not what the user means.
            is_written = work.settings.has(key) and not work.settings.is_open(key, DIVIDES)
            path = work.settings.word(key, DIVIDES) if is_written else ""
            at = work.settings.place(key) if is_written else None
            work.setup.models[name] = ModelUse(path or "", key, splits, at, run=run_of(work, name))


def read_lengths(work: VerlWork) -> None:
    """Add the lengths that engines must take, unless settings change the positions."""
    settings = work.settings
    if any(map(settings.has, facts("settings")["positions"]["keys"])):
        return
    sync = settings.is_older_than("0.7.0") and settings.word(f"{ROLLOUT}.mode", MODE) in ("", "sync")
    mode, program = "sync" if sync else "async", work.notes.document.program
    for name, use in work.setup.models.items():
        if not is_engine(settings, name):
            continue
        key = engine_key(settings, name)
        keys = [key(f"{part}_length") for part in ("prompt", "response")] if name == "rollout" else []
        lengths = lengths_of("verl", work, settings.word(key("name"), MODE), key("max_model_len"), keys, mode)
        default_keys = [path for path in keys if not settings.has(settings.resolve_key(path))]
        if work.entry.own_trainer or (default_keys and program is not None and not program.complete):
            lengths = tuple(replace(length, proved=False) for length in lengths)
        work.setup.models[name] = replace(use, lengths=lengths)


def _path(work: VerlWork, name: str) -> str:
    if work.entry.kind in TUNES:
        return "model.partial_pretrain" if work.entry.program == PROCESSES else "model.path"
    if is_teacher(name):
        return engine_key(work.settings, name)("").replace(".inference.", ".model_path")
    if name == "reward_model":
        old = work.settings.reward_key("model.path")
        return old if work.settings.is_older_than("0.7.1") or work.settings.has(old) else work.settings.reward_key("model_path")
    return "critic.model.path" if name == "critic" else POLICY


def _splits(work: VerlWork, name: str) -> tuple[Split, ...]:
    if is_engine(work.settings, name):
        engine_degrees, program = engine_of(work.settings, name), work.settings.word(engine_key(work.settings, name)("name"), DIVIDES)
        if name == "rollout" and (tps := dict.fromkeys(filter(None, work.parts[:2]))):
            parts = [with_sizes(engine_splits(places_of(tp=tp), MOMENTS["AFTER_WEIGHTS"]), Parallel(tp.value), Parallel()) for tp in tps]
            return tuple(split for splits in parts for split in splits)
        wants_experts = work.settings.since("0.9.0") if program == "vllm" and work.settings.since("0.6.1") else None
        return engine_splits(places_of(**engine_degrees[1]), MOMENTS["AFTER_WEIGHTS"], wants_experts) if engine_degrees else ()
    owner, is_tuned = OWNERS.get(name, ""), work.entry.kind in TUNES
    strategy = (tuner_of(work.settings) or "fsdp" if is_tuned else work.is_trained_by(owner)) if owner else None
    if strategy == "fsdp" and tuner_of(work.settings) != "":
        sequence = work.sequence(owner, DIVIDES)
        return ulysses_splits(sequence.value, places_of(sp=sequence), MOMENTS["WITH_MODEL"]) if sequence else ()
    trains = work.setup.degrees(name) if strategy == "megatron" else None
    if trains is None:
        return ()
    section = "" if is_tuned else section_of(work.setup.pool(name), name)
    virtual = work.amount(f"{f'{section}.megatron' if section else 'engine'}.virtual_pipeline_model_parallel_size", DIVIDES)
    times, layers = virtual.value if virtual else 1, stages_of(work, section, owner)
    places, degrees = places_of(**trains[1], vpp=virtual), trains[0]
    copies = work.settings.since("0.9.0") or (None if work.settings.since("b178a3cd") else False)
    splits = megatron_splits(places, degrees.pp, times, layers is None, MOMENTS["WITH_MODEL"], copies)
    ends = stage_splits(layers, degrees.pp, times, MOMENTS["WITH_MODEL"])
    return (*splits, *ends, *_sequence_splits(work, f"{section}.megatron" if section else "engine", name))


def _sequence_splits(work: VerlWork, section: str, name: str) -> tuple[Split, ...]:
    """Return the refusal of experts where Megatron-Bridge gets `sequence_parallel` as it is.

    Source: verl, verl/workers/engine/megatron/transformer_impl.py (_build_tf_config), since 0.8.0;
    mbridge and older workers turn it on with tp.
    """
    keys = [f"{section}.{key}" for key in ("sequence_parallel", "vanilla_mbridge", f"{CONFIG}.sequence_parallel")]
    is_trained = name in ("actor", "critic") and work.settings.since("0.8.0")
    if not is_trained or any(work.settings.flag(key, DIVIDES) is not False for key in keys):
        return ()
    value = work.settings.at(keys[0])
    return (sequence_split(keys[0], value.span if isinstance(value, Scalar) and value.origin is None else None, MOMENTS["FIRST_UPDATE"]),)


def run_of(work: VerlWork, name: str) -> MemoryInput | None:
    """Return the settings of a component's run, for a memory estimate; None if not demanded."""
    settings, plain = work.settings, work.settings.plain
    if settings.at(f"{HINTS}.{name}.estimate") is None:
        return None
    lengths = [whole_number(plain(f"data.max_{field}_length", 512)) for field in ("prompt", "response")]
    tokens = sum(lengths) if all(lengths) else 0
    if name == "rollout":
        # An engine takes its share of each accelerator, and frees it while others work, unless
        # disabled.
        return MemoryInput(
            precision=_PRECISIONS.get(str(plain(f"{ROLLOUT}.dtype", "bfloat16")), "bf16"),
            utilization=percent(plain(f"{ROLLOUT}.gpu_memory_utilization", 0.5)),
            sequence=tokens, offload=plain(f"{ROLLOUT}.free_cache_engine", True) is True,
        )  # fmt: skip
    owner, updates = OWNERS.get(name, ""), name in ("actor", "critic")
    strategy = work.is_trained_by(owner) if owner else None
    if strategy not in ("fsdp", "megatron"):
        return None
    kind, prefix = ("ppo", "") if updates else ("log_prob", "log_prob_")
    sequences = whole_number(plain(f"{owner}.{kind}_micro_batch_size_per_gpu")) or 1
    if plain(f"{owner}.{prefix}use_dynamic_bsz", False) is True:
        sequence, sequences = whole_number(plain(f"{owner}.{kind}_max_token_len_per_gpu", 16_384)), 1
    else:
        # With FSDP, Ulysses divides every sequence. Source: verl, verl/workers/actor/dp_actor.py
        # (ulysses_pad_and_slice_inputs).
        slices = work.sequence(owner, DIVIDES) if strategy == "fsdp" else None
        sequence = -(-tokens // (slices.value if slices else 1))

    def is_offloaded(engine: str, *update_parts: str) -> bool:
        return all(plain(f"{engine}.{field}", False) is True for field in ("param_offload", *(update_parts if updates else ())))

    if strategy == "megatron":
        engine = f"{owner}.megatron"
        return MemoryInput(
            sharding=DISTRIBUTED if plain(f"{engine}.use_distributed_optimizer", True) else MEGATRON,
            recompute={"full": FULL, "selective": SELECTIVE}.get(str(plain(f"{engine}.{CONFIG}.recompute_granularity")), NONE),
            offload=is_offloaded(engine, "grad_offload", "optimizer_offload"), sequence=sequence, micro_batch=sequences,
        )  # fmt: skip
    engine = settings.fsdp_section(owner)
    model = "critic.model" if name == "critic" else "actor_rollout_ref.model"
    on_host = plain(f"{engine}.offload_policy", False) is True  # the optimizer steps on the host
    in_16 = updates and not on_host and str(plain(f"{engine}.model_dtype", "fp32")) in ("bf16", "bfloat16")
    return MemoryInput(
        logits=CHUNKED if plain(f"{model}.use_fused_kernels", False) is True else "", optimizer=ADAM_16 if in_16 else "",
        lora_rank=whole_number(plain(f"{model}.lora_rank", 0)) if updates else 0,
        sharding=FSDP, shards=whole_number(plain(f"{engine}.fsdp_size", -1)),
        recompute=NONE if plain(f"{model}.enable_gradient_checkpointing", True) is False else FULL,
        offload=is_offloaded(engine, "optimizer_offload"), sequence=sequence, micro_batch=sequences,
    )  # fmt: skip
