"""Model of each component, how it runs, and dimensions that the ranks divide.

How it runs is for memory estimates on demand. Source: verl, verl/trainer/config/,
verl/models/transformers/monkey_patch.py (Ulysses), verl/workers/{megatron,fsdp}_workers.py.
"""

from __future__ import annotations

from ....configuration.settings import percent, plain_value, whole_number
from ....estimate import DISTRIBUTED, FSDP, FULL, MEGATRON, NONE, SELECTIVE, MemoryInput
from ....model_cards import ModelUse, Split, engine_splits, megatron_splits, ulysses_splits
from ....model_cards.stages import places_of, stage_splits
from ..degrees import OWNERS, TUNES, engine_key, engine_of, is_teacher
from ..programs import ProgramKind
from ..releases import SEQUENCE, reward_key, sequence_key
from .meshes import stages_of
from .work import ACTOR, AFTER_WEIGHTS, DIVIDES, ROLLOUT, WITH_MODEL, VerlWork

POLICY = "actor_rollout_ref.model.path"
HINTS = "placewright.components"
_PRECISIONS = {"bfloat16": "bf16", "float16": "fp16", "float32": "fp32"}


def read_models(work: VerlWork) -> None:
    """Add the models of the job to the setup."""
    for component in work.setup.components:
        name = component.name
        key = "model.path" if work.entry.kind is ProgramKind.GENERATION else _path(work, name)
        splits = _splits(work, name)
        if splits:
            # A default model is not what the user means.
            written = work.settings.has(key) and not work.settings.is_open(key, DIVIDES)
            path = work.settings.word(key, DIVIDES) if written else ""
            at = work.settings.place(key) if written else None
            work.setup.models[name] = ModelUse(path or "", key, splits, at, run=run_of(work, name))


def _path(work: VerlWork, name: str) -> str:
    """Return the key of a component's model."""
    if is_teacher(name):
        return engine_key(work.settings, name)("").replace(".inference.", ".model_path")
    if name == "reward_model":
        old = reward_key(work.settings, "model.path")
        return old if work.settings.until("0.7.1") or work.settings.has(old) else reward_key(work.settings, "model_path")
    return "critic.model.path" if name == "critic" else POLICY


def _splits(work: VerlWork, name: str) -> tuple[Split, ...]:
    if work.is_engine(name):
        known = engine_of(work.settings, name)
        return engine_splits(places_of(**known[1]), AFTER_WEIGHTS) if known else ()
    owner = OWNERS.get(name, "")
    strategy = work.is_trained_by(owner) if owner and work.entry.kind not in TUNES else None
    if strategy == "fsdp":
        sequence = work.sequence(owner, DIVIDES)
        return ulysses_splits(sequence.value, places_of(sp=sequence), WITH_MODEL) if sequence else ()
    trains = work.setup.degrees(name) if strategy == "megatron" else None
    if trains is None:
        return ()
    section = work.setup.section(name)
    virtual = work.amount(f"{section}.megatron.virtual_pipeline_model_parallel_size", DIVIDES)
    times, layers = virtual.value if virtual else 1, stages_of(work, section, owner)
    places, degrees = places_of(**trains[1], vpp=virtual), trains[0]
    splits = megatron_splits(places, degrees.pp, times, layers is None, WITH_MODEL)
    return (*splits, *stage_splits(layers, degrees.pp, times, WITH_MODEL))


def run_of(work: VerlWork, name: str) -> MemoryInput | None:
    """Return the settings of a component's run, for a memory estimate; None if not demanded."""
    if work.settings.at(f"{HINTS}.{name}.estimate") is None:
        return None
    settings = work.settings
    if name == "rollout":
        # An engine takes its share of each accelerator, and frees it while others work, unless
        # disabled.
        return MemoryInput(
            precision=_PRECISIONS.get(str(plain_value(settings, f"{ROLLOUT}.dtype", "bfloat16")), "bf16"),
            utilization=percent(plain_value(settings, f"{ROLLOUT}.gpu_memory_utilization", 0.5)),
            sequence=_sequence(work),
            offload=plain_value(settings, f"{ROLLOUT}.free_cache_engine", True) is True,
        )
    owner, updates = OWNERS.get(name, ""), name in ("actor", "critic")
    strategy = _trained_with(work, owner) if owner else ""
    if strategy not in ("fsdp", "fsdp2", "megatron"):
        return None
    sequence, sequences = _batch(work, name, owner)

    def is_offloaded(engine: str, *updated: str) -> bool:
        parts = ("param_offload", *(updated if updates else ()))
        return all(plain_value(settings, f"{engine}.{part}", False) is True for part in parts)

    if strategy == "megatron":
        engine = f"{owner}.megatron"
        granularity = str(plain_value(settings, f"{engine}.override_transformer_config.recompute_granularity", ""))
        return MemoryInput(
            sharding=DISTRIBUTED if plain_value(settings, f"{engine}.use_distributed_optimizer", True) else MEGATRON,
            recompute={"full": FULL, "selective": SELECTIVE}.get(granularity, NONE),
            offload=is_offloaded(engine, "grad_offload", "optimizer_offload"), sequence=sequence, micro_batch=sequences,
        )  # fmt: skip
    engine = f"{owner}.model.fsdp_config" if name in ("critic", "reward_model") else f"{owner}.fsdp_config"
    engine = "critic.fsdp" if name == "critic" and settings.since("0.8.0") else engine
    model = "critic.model" if name == "critic" else "actor_rollout_ref.model"
    return MemoryInput(
        lora_rank=whole_number(plain_value(settings, f"{model}.lora_rank", 0)) if updates else 0,
        sharding=FSDP,
        shards=whole_number(plain_value(settings, f"{engine}.fsdp_size", -1)),
        recompute=NONE if plain_value(settings, f"{model}.enable_gradient_checkpointing", True) is False else FULL,
        offload=is_offloaded(engine, "optimizer_offload"), sequence=sequence, micro_batch=sequences,
    )  # fmt: skip


def _sequence(work: VerlWork) -> int:
    """Return the tokens of the longest prompt and answer together."""
    parts = [whole_number(plain_value(work.settings, f"data.max_{part}_length", 512)) for part in ("prompt", "response")]
    return sum(parts) if all(parts) else 0


def _batch(work: VerlWork, name: str, owner: str) -> tuple[int, int]:
    """Return (tokens of a sequence per rank, sequences of a micro batch).

    A batch of dynamic size is one sequence of the maximum length.
    """
    kind, key = ("ppo", "") if name in ("actor", "critic") else ("log_prob", "log_prob_")
    dynamic = plain_value(work.settings, f"{ACTOR}.use_dynamic_bsz", False)
    if plain_value(work.settings, f"{owner}.{key}use_dynamic_bsz", dynamic) is True:
        most = 32_768 if name == "critic" else plain_value(work.settings, f"{ACTOR}.ppo_max_token_len_per_gpu", 16_384)
        return whole_number(plain_value(work.settings, f"{owner}.{kind}_max_token_len_per_gpu", most)), 1
    # With FSDP, Ulysses divides every sequence. Source: verl, verl/workers/actor/dp_actor.py
    # (ulysses_pad_and_slice_inputs).
    usual = plain_value(work.settings, f"{ACTOR}.{SEQUENCE}", 1) if owner == OWNERS["ref"] else 1
    sliced = _trained_with(work, owner) != "megatron"
    slices = max(1, whole_number(plain_value(work.settings, sequence_key(work.settings, owner), usual))) if sliced else 1
    return -(-_sequence(work) // slices), whole_number(plain_value(work.settings, f"{owner}.{kind}_micro_batch_size_per_gpu")) or 1


def _trained_with(work: VerlWork, owner: str) -> str:
    """Return the training engine of a component.

    The reference policy has the actor's by default (ref.yaml).
    """
    usual = plain_value(work.settings, f"{ACTOR}.strategy", "fsdp") if owner == OWNERS["ref"] else "fsdp"
    return str(plain_value(work.settings, f"{owner}.strategy", usual))
