"""Which model each role runs, how, and what of it its ranks divide."""

from __future__ import annotations

from ...configuration.plainly import percent, plainly, whole_number
from ...estimate import DISTRIBUTED, FSDP, FULL, NONE, SELECTIVE, Estimate
from ...estimate import MEGATRON as MEGATRON_SHARDS
from ...model_cards import ModelUse, Split, engine_splits, megatron_splits, ulysses_splits, vocabulary_split, with_sizes
from ...model_cards.places import places_of
from .job import Role, Setup
from .names import ACTOR_INFER, ACTOR_TRAIN, CRITICS, DPO, REFERENCES, SFT_TRAIN, STUDENTS, TEACHERS
from .names import IN_ENGINE, WITH_MODEL
from .strategies import BY_ULYSSES, FSDP2, MEGATRON, SGLANG, VLLM, Degrees, degrees

# How ROLL runs the models of its roles, as far as its settings say it: for estimates of memory that ask for it.
#
# Source: ROLL, roll/configs/worker_config.py and training_args.py, roll/distributed/strategy/{megatron,fsdp2,vllm,sglang}_strategy.py,
# roll/pipeline/base_worker.py (state_offload_manger: every role leaves its accelerators when it has worked).

HINTS = "placewright.components"
_PRECISIONS = ("bf16", "fp16", "fp32")


def is_asked(setup: Setup, role: Role) -> bool:
    """Does the block of hints ask for an estimate of a role's memory?"""
    return setup.settings.at(f"{HINTS}.{role.key}.estimate") is not None


def run_of(setup: Setup, role: Role) -> Estimate | None:
    """How a role is run; None where nobody asks."""
    if not is_asked(setup, role):
        return None
    settings = setup.settings
    parts = [whole_number(plainly(settings, f"{part}_length")) for part in ("prompt", "response")]
    sequence = whole_number(plainly(settings, "sequence_length")) or (sum(parts) if all(parts) else 0)
    precision = str(plainly(settings, role.path("model_args.dtype"), "bf16"))
    precision = precision if precision in _PRECISIONS else "bf16"
    if role.strategy in (VLLM, SGLANG):
        part = plainly(settings, role.config("gpu_memory_utilization" if role.strategy == VLLM else "mem_fraction_static"))
        return Estimate(precision=precision, utilization=percent(part), sequence=sequence, offload=True)
    trains = str(role.strategy).endswith("_train")
    key = role.path("training_args.per_device_train_batch_size") if trains else role.path("infer_batch_size")
    sharding, again = _divided(setup, role)
    shards = whole_number(plainly(settings, role.config("fsdp_size"))) if sharding == FSDP else 0
    rank = 0
    if trains and plainly(settings, role.path("model_args.lora_target")):
        rank = whole_number(plainly(settings, role.path("model_args.lora_rank"), 8))
    return Estimate(
        lora_rank=rank, precision=precision, sharding=sharding, shards=shards if shards > 1 else 0, recompute=again, sequence=sequence, micro_batch=whole_number(plainly(settings, key)) or 1,
        offload=True,
    )  # fmt: skip


def _divided(setup: Setup, role: Role) -> tuple[str, str]:
    """(what data parallel ranks divide, what is computed again)."""
    settings, strategy = setup.settings, str(role.strategy)
    kept = plainly(settings, role.path("model_args.disable_gradient_checkpointing"), False) is True
    if strategy in MEGATRON:
        granularity = str(plainly(settings, role.config("recompute_granularity")))
        divided = plainly(settings, role.config("use_distributed_optimizer"), False) is True
        return DISTRIBUTED if divided else MEGATRON_SHARDS, {"full": FULL, "selective": SELECTIVE}.get(granularity, NONE)
    return FSDP if strategy in FSDP2 else NONE, NONE if kept else FULL


# Which model each role runs, and what of it its ranks divide.
#
# Megatron's embedding is as large as the checkpoint has it: ROLL's adapter pads no vocabulary.
# Source: ROLL, roll/distributed/strategy/fsdp2_strategy.py (FSDP2StrategyBase._validate_ulysses_compat); mcore_adapter,
# models/model_config.py (McaModelConfig.__post_init__) and models/model_factory.py (PretrainedModel.from_pretrained); for the paths
# roll/configs/base_config.py (PPOConfig.__post_init__) and the configurations of the other pipelines in roll/pipeline.

DIVIDES = "PW404"
STAGED = ("pipeline_model_parallel_layout", "account_for_embedding_in_pipeline_split", "account_for_loss_in_pipeline_split")
"""Keys by which the layers are not simply dealt out to the stages."""
WITHOUT_ULYSSES = "NPU"
"""Where ROLL takes an ulysses_size of 1 instead. Source: ROLL, roll/platforms/npu.py, `apply_ulysses_patch`."""
MODEL = "model_args.model_name_or_path"
TOGETHER = ((ACTOR_TRAIN, ACTOR_INFER, REFERENCES), (STUDENTS, TEACHERS), (CRITICS,))
"""Parts that all get their models from the top of the file if one of them names none; DPO has no `actor_infer`."""
AT_TOP = {STUDENTS: "student_pretrain", TEACHERS: "teacher_pretrain", CRITICS: "reward_pretrain"}
"""Part -> the key at the top of the file; `pretrain` for all others."""


def models(setup: Setup) -> None:
    """Adds the models of the roles to the setup."""
    for role in setup.roles:
        component = setup.components.get(role.key)
        its = degrees(setup, role) if role.created and component is not None else None
        if its is None or component is None:
            continue
        splits = _splits(setup, role, its)
        key = _key(setup, role)
        path = setup.settings.word(key, DIVIDES) if splits or is_asked(setup, role) else ""
        if (splits or is_asked(setup, role)) and path is not None:
            fixed = splits if component.runs is None else with_sizes(splits, its.parallel, component.parallel)
            place = setup.settings.at(key)
            setup.models[role.key] = ModelUse(path, key, fixed, place.span if place else None, run=run_of(setup, role))


def _splits(setup: Setup, role: Role, its: Degrees) -> tuple[Split, ...]:
    if role.strategy in (VLLM, SGLANG):
        return engine_splits(places_of(tp=its.tp), IN_ENGINE)
    if role.strategy in BY_ULYSSES:
        known = not any(each.vendor == WITHOUT_ULYSSES for node in setup.cluster.nodes for each in node.accelerators[:1])
        return ulysses_splits(its.cp.value, places_of(sp=its.cp), WITH_MODEL) if known else ()
    if role.strategy not in MEGATRON:
        return ()
    path = role.config("virtual_pipeline_model_parallel_size")
    virtual = setup.settings.whole(path, DIVIDES, 1, exact=True) if setup.settings.has(path) else None
    places = places_of(tp=its.tp, pp=its.pp, ep=its.ep, vpp=virtual)
    splits = megatron_splits(places, its.pp.value, virtual.value if virtual else 1, _even_layers(setup, role), WITH_MODEL)
    return (*splits, vocabulary_split(places, WITH_MODEL))


def _even_layers(setup: Setup, role: Role) -> bool:
    """Does nobody tell Megatron how many layers lie in which stage?"""
    return not any(setup.settings.has(role.config(key)) for key in STAGED)


def _key(setup: Setup, role: Role) -> str:
    """Where the path of its model is written."""
    own = role.path(MODEL)
    if role.part == SFT_TRAIN:
        return "pretrain"
    for parts in TOGETHER:
        if role.part in parts:
            asked = [part for part in parts if setup.pipeline.config != DPO or part != ACTOR_INFER]
            members = [next(setup.declared(part), None) for part in asked]
            if role in members and not all(each and setup.settings.has(each.path(MODEL)) for each in members):
                return AT_TOP.get(role.part, "pretrain")
    return own
