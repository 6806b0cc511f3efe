"""Model of each role, how it runs, and dimensions that the ranks divide."""

from __future__ import annotations

from ...configuration.settings import Plain, percent, plain_value, whole_number
from ...estimate import DISTRIBUTED, FSDP, FULL, NONE, SELECTIVE, MemoryInput
from ...estimate import MEGATRON as MEGATRON_SHARDS
from ...model_cards import Length, ModelUse, Split, engine_splits, megatron_splits, ulysses_splits, vocabulary_split, with_sizes
from ...model_cards.stages import places_of, stage_splits, stages_in
from ..lengths import lengths_of
from . import names
from .job import Role, RoleFacts, RollSetup
from .names import ACTOR_INFER, ACTOR_TRAIN, CRITICS, FSDP2, REFERENCES, STRATEGY, STUDENTS, TEACHERS, VLLM, WITH_MODEL
from .strategies import StrategyDegrees, degrees

HINTS = "placewright.components"
DIVIDES = "PW404"
WITHOUT_ULYSSES = "NPU"
"""Vendor with `ulysses_size` reset to 1. Source: ROLL, roll/platforms/npu.py, `apply_ulysses_patch`."""
MODEL = "model_args.model_name_or_path"
TOGETHER = ((ACTOR_TRAIN, ACTOR_INFER, REFERENCES), (STUDENTS, TEACHERS), (CRITICS,))
"""Parts with models from the top of the file unless all name their own. DPO has no `actor_infer`."""
AT_TOP = {STUDENTS: "student_pretrain", TEACHERS: "teacher_pretrain", CRITICS: "reward_pretrain"}
"""Part -> top-level key of the model; `pretrain` by default."""


def models(setup: RollSetup, is_training: bool = False) -> None:
    """Add the models of the roles to the setup; their lengths if `is_training`.

    Megatron's embedding has the size in the checkpoint: ROLL's adapter pads no vocabulary. Source:
    ROLL, roll/distributed/strategy/fsdp2_strategy.py (FSDP2StrategyBase._validate_ulysses_compat);
    mcore_adapter, models/model_config.py (McaModelConfig.__post_init__) and models/model_factory.py
    (PretrainedModel.from_pretrained); for the paths roll/configs/base_config.py
    (PPOConfig.__post_init__) and the configurations of the other pipelines.
    """
    for role in setup.roles:
        component = setup.components.get(role.key)
        role_degrees = degrees(setup, role) if role.created and component is not None else None
        if role_degrees is None or component is None:
            continue
        splits, key = _splits(setup, role, role_degrees), _key(setup, role)
        is_asked = setup.settings.at(f"{HINTS}.{role.key}.estimate") is not None
        path = setup.settings.word(key, DIVIDES) if splits or is_asked else None
        if path is not None:
            model_splits = splits if component.runs is None else with_sizes(splits, role_degrees.parallel, component.parallel)
            place, run = setup.settings.at(key), run_of(setup, role) if is_asked else None
            lengths = _lengths(setup, role) if is_training and role.is_engine else ()
            setup.models[role.key] = ModelUse(path, key, model_splits, place.span if place else None, run=run, lengths=lengths)


def _lengths(setup: RollSetup, role: Role) -> tuple[Length, ...]:
    """Return the tokens that an engine must take; a sequence length comes before its parts."""
    facts, settings = RoleFacts(setup, role), setup.settings
    if any(settings.has(role.config(key)) for key in ("hf_overrides", "rope_scaling", "json_model_override_args")):
        return ()
    keys = ("sequence_length",) if settings.has("sequence_length") else ("prompt_length", "response_length")
    return lengths_of("ROLL", facts, role.strategy, role.config("max_model_len" if role.strategy == VLLM else "context_length"), keys)


def _splits(setup: RollSetup, role: Role, role_degrees: StrategyDegrees) -> tuple[Split, ...]:
    if role.is_engine:
        return engine_splits(places_of(tp=role_degrees.tp), names.IN_ENGINE)
    if role.by_ulysses:
        may_split = not any(accelerator.vendor == WITHOUT_ULYSSES for node in setup.cluster.nodes for accelerator in node.accelerators[:1])
        return ulysses_splits(role_degrees.cp.value, places_of(sp=role_degrees.cp), WITH_MODEL) if may_split else ()
    path = role.config("virtual_pipeline_model_parallel_size")
    virtual = setup.settings.whole(path, DIVIDES, 1, exact=True) if setup.settings.has(path) else None
    places = places_of(tp=role_degrees.tp, pp=role_degrees.pp, ep=role_degrees.ep, vpp=virtual)
    stages, times = role_degrees.pp.value, virtual.value if virtual else 1
    layers = stages_in(setup.settings, role.path(f"{STRATEGY}.strategy_config"), DIVIDES)
    layers = layers if isinstance(layers, int) or (layers and not layers.is_given) else None  # else a TypeError comes first
    splits = megatron_splits(places, stages, times, layers is None, WITH_MODEL)
    end_stages = stages_in(setup.settings, role.path(f"{STRATEGY}.strategy_config.additional_configs"), DIVIDES)
    uneven = (*stage_splits(layers, stages, times, WITH_MODEL), *stage_splits(end_stages, stages, times, WITH_MODEL))
    return (*splits, *uneven, vocabulary_split(places, WITH_MODEL))


def _key(setup: RollSetup, role: Role) -> str:
    if role.part == names.SFT_TRAIN:
        return "pretrain"
    for parts in TOGETHER:
        if role.part in parts:
            used_parts = [part for part in parts if setup.pipeline.config != names.DPO or part != ACTOR_INFER]
            members = [next(setup.list_declared(part), None) for part in used_parts]
            if role in members and not all(role and setup.settings.has(role.path(MODEL)) for role in members):
                return AT_TOP.get(role.part, "pretrain")
    return role.path(MODEL)


def run_of(setup: RollSetup, role: Role) -> MemoryInput:
    """Return the settings of a role's run, for a memory estimate.

    Source: ROLL, roll/configs/worker_config.py and training_args.py,
    roll/distributed/strategy/{megatron,fsdp2,vllm,sglang}_strategy.py, roll/pipeline/base_worker.py
    (state_offload_manger: every role leaves its accelerators after its work).
    """

    def of_role(key: str, usual: Plain = "") -> Plain:
        return plain_value(setup.settings, role.path(key), usual)

    def of_strategy(key: str, usual: Plain = "") -> Plain:
        return plain_value(setup.settings, role.config(key), usual)

    prompt, response, both = (whole_number(plain_value(setup.settings, f"{name}_length")) for name in ("prompt", "response", "sequence"))
    sequence = both or (prompt + response if prompt and response else 0)
    dtype = str(of_role("model_args.dtype", "bf16"))
    precision = dtype if dtype in ("bf16", "fp16", "fp32") else "bf16"
    if role.is_engine:
        share = of_strategy("gpu_memory_utilization" if role.strategy == VLLM else "mem_fraction_static")
        return MemoryInput(precision=precision, utilization=percent(share), sequence=sequence, offload=True)
    is_trained = str(role.strategy).endswith("_train")
    micro_batch = of_role("training_args.per_device_train_batch_size" if is_trained else "infer_batch_size")
    sharding, shards, recompute = FSDP if role.strategy in FSDP2 else NONE, 0, FULL
    if role.by_megatron:
        sharding = DISTRIBUTED if of_strategy("use_distributed_optimizer", False) is True else MEGATRON_SHARDS
        recompute = {"full": FULL, "selective": SELECTIVE}.get(str(of_strategy("recompute_granularity")), NONE)
    elif of_role("model_args.disable_gradient_checkpointing", False) is True:
        recompute = NONE
    if sharding == FSDP:
        shards = whole_number(of_strategy("fsdp_size"))
    has_adapters = is_trained and of_role("model_args.lora_target")
    rank = whole_number(of_role("model_args.lora_rank", 8)) if has_adapters else 0
    return MemoryInput(
        lora_rank=rank, precision=precision, sharding=sharding, shards=shards if shards > 1 else 0, recompute=recompute,
        sequence=sequence, micro_batch=whole_number(micro_batch) or 1, offload=True,
    )  # fmt: skip
