"""Which model each component runs, and what of it its ranks divide.

How the models are run is for estimates of memory that ask for it.
Source: verl, verl/trainer/config/, verl/models/transformers/monkey_patch.py (Ulysses), verl/workers/{megatron,fsdp}_workers.py.
"""

from __future__ import annotations

from ....configuration.plainly import percent, plainly, whole_number
from ....estimate import DISTRIBUTED, FSDP, FULL, MEGATRON, NONE, SELECTIVE, Estimate
from ....model_cards import ModelUse, Split, engine_splits, megatron_splits, ulysses_splits
from ....model_cards.places import places_of
from ..components.parallel import OWNERS, trained
from ..entries import Kind
from ..pools.served import engine_key, engine_of, is_teacher
from ..releases import reward_key, sequence_key, since, until
from .megatron import stages_of
from .notices import AFTER_WEIGHTS, WITH_MODEL
from .work import Work

DIVIDES = "PW404"
POLICY = "actor_rollout_ref.model.path"


def read_models(work: Work) -> None:
    """Adds the models of the job to its setup."""
    for component in work.setup.components:
        key = "model.path" if work.setup.entry.kind is Kind.GENERATION else _path(work, component.name)
        splits = _splits(work, component.name)
        if splits:
            # What verl would load by default, nobody means.
            written = work.settings.has(key) and not work.settings.is_open(key, DIVIDES)
            path = work.settings.word(key, DIVIDES) if written else ""
            work.setup.models[component.name] = ModelUse(
                path or "", key, splits, work.settings.place(key) if written else None, run=run_of(work, component.name)
            )


def _path(work: Work, name: str) -> str:
    """Key of the model of a component."""
    if is_teacher(name):
        return engine_key(work.settings, work.setup.entry, name)("").replace(".inference.", ".model_path")
    if name == "reward_model":
        old = reward_key(work.settings, "model.path")
        return old if until(work.settings, "0.7.1") or work.settings.has(old) else reward_key(work.settings, "model_path")
    return "critic.model.path" if name == "critic" else POLICY


def _splits(work: Work, name: str) -> tuple[Split, ...]:
    if work.is_engine(name):
        known = engine_of(work.settings, work.setup.entry, name)
        return engine_splits(places_of(**known[1]), AFTER_WEIGHTS) if known else ()
    owner = OWNERS.get(name, "")
    strategy = work.is_trained_by(owner) if owner and work.setup.entry.kind not in (Kind.PROCESSES, Kind.TUNING) else None
    if strategy == "fsdp":
        sequence = work.sequence(owner, DIVIDES)
        return ulysses_splits(sequence.value, places_of(sp=sequence), WITH_MODEL) if sequence else ()
    section = work.setup.section(name) if owner else ""
    trains = trained(work.settings, owner, section) if strategy == "megatron" else None
    if trains is None:
        return ()
    virtual = work.amount(f"{section}.megatron.virtual_pipeline_model_parallel_size", DIVIDES)
    times, layers = virtual.value if virtual else 1, stages_of(work, section, owner)
    places, degrees = places_of(**trains[1], vpp=virtual), trains[0]
    found = megatron_splits(places, degrees.pp, times, layers is None, WITH_MODEL)
    if isinstance(layers, int):
        among = f"the {layers} layers of `pipeline_model_parallel_layout`"
        return (*found, Split("layers", "pp", 1, when=WITH_MODEL, less=layers, among=among, exact=True))
    return (*found, *layers.splits(degrees.pp, times, WITH_MODEL)) if layers else found


HINTS = "placewright.components"
_ACTOR, _ROLLOUT, _ULYSSES = "actor_rollout_ref.actor", "actor_rollout_ref.rollout", "ulysses_sequence_parallel_size"
_PRECISIONS = {"bfloat16": "bf16", "float16": "fp16", "float32": "fp32"}


def run_of(work: Work, name: str) -> Estimate | None:
    """How a component is run; None where nobody asks for an estimate of its memory."""
    if work.settings.at(f"{HINTS}.{name}.estimate") is None:
        return None
    if name == "rollout":
        return _served(work)
    owner = OWNERS.get(name)
    strategy = _trained_with(work, owner) if owner else ""
    if strategy in ("fsdp", "fsdp2"):
        return _fsdp(work, name, str(owner))
    return _megatron(work, name, str(owner)) if strategy == "megatron" else None


def _served(work: Work) -> Estimate:
    """An engine takes its part of each accelerator, and gives it back while others work, but where that is switched off."""
    settings = work.settings
    return Estimate(
        precision=_PRECISIONS.get(str(plainly(settings, f"{_ROLLOUT}.dtype", "bfloat16")), "bf16"),
        utilization=percent(plainly(settings, f"{_ROLLOUT}.gpu_memory_utilization", 0.5)),
        sequence=_sequence(work),
        offload=plainly(settings, f"{_ROLLOUT}.free_cache_engine", True) is True,
    )


def _fsdp(work: Work, name: str, owner: str) -> Estimate:
    engine = f"{owner}.model.fsdp_config" if name in ("critic", "reward_model") else f"{owner}.fsdp_config"
    engine = "critic.fsdp" if name == "critic" and since(work.settings, "0.8.0") else engine
    model = "critic.model" if name == "critic" else "actor_rollout_ref.model"
    again = plainly(work.settings, f"{model}.enable_gradient_checkpointing", True)
    parts = ("param_offload", "optimizer_offload") if name in ("actor", "critic") else ("param_offload",)
    away = all(plainly(work.settings, f"{engine}.{part}", False) is True for part in parts)
    sequence, sequences = _batch(work, name, owner)
    shards = whole_number(plainly(work.settings, f"{engine}.fsdp_size", -1))
    rank = whole_number(plainly(work.settings, f"{model}.lora_rank", 0)) if name in ("actor", "critic") else 0
    return Estimate(
        lora_rank=rank,
        sharding=FSDP,
        shards=shards,
        recompute=NONE if again is False else FULL,
        offload=away,
        sequence=sequence,
        micro_batch=sequences,
    )


def _megatron(work: Work, name: str, owner: str) -> Estimate:
    settings, engine = work.settings, f"{owner}.megatron"
    granularity = plainly(settings, f"{engine}.override_transformer_config.recompute_granularity", "")
    divided = plainly(settings, f"{engine}.use_distributed_optimizer", True)
    parts = ("param_offload", "grad_offload", "optimizer_offload") if name in ("actor", "critic") else ("param_offload",)
    away = all(plainly(settings, f"{engine}.{part}", False) is True for part in parts)
    sequence, sequences = _batch(work, name, owner)
    return Estimate(
        sharding=DISTRIBUTED if divided else MEGATRON,
        recompute={"full": FULL, "selective": SELECTIVE}.get(str(granularity), NONE),
        offload=away,
        sequence=sequence,
        micro_batch=sequences,
    )


def _sequence(work: Work) -> int:
    """Tokens of the longest prompt and the longest answer."""
    parts = [whole_number(plainly(work.settings, f"data.max_{part}_length", 512)) for part in ("prompt", "response")]
    return sum(parts) if all(parts) else 0


def _batch(work: Work, name: str, owner: str) -> tuple[int, int]:
    """(tokens of a sequence on one rank, sequences of a micro batch); a batch of changing size counts as one sequence of as many as fit."""
    kind = "ppo" if name in ("actor", "critic") else "log_prob"
    dynamic = f"{owner}.use_dynamic_bsz" if kind == "ppo" else f"{owner}.log_prob_use_dynamic_bsz"
    if plainly(work.settings, dynamic, plainly(work.settings, f"{_ACTOR}.use_dynamic_bsz", False)) is True:
        most = 32_768 if name == "critic" else plainly(work.settings, f"{_ACTOR}.ppo_max_token_len_per_gpu", 16_384)
        return whole_number(plainly(work.settings, f"{owner}.{kind}_max_token_len_per_gpu", most)), 1
    slices = _slices(work, owner)
    return -(-_sequence(work) // slices), whole_number(plainly(work.settings, f"{owner}.{kind}_micro_batch_size_per_gpu")) or 1


def _slices(work: Work, owner: str) -> int:
    """Among how many ranks Ulysses divides each sequence, with FSDP. What a rank may have of a batch of changing size is its own share.

    Source: verl, verl/workers/actor/dp_actor.py (ulysses_pad_and_slice_inputs).
    """
    if _trained_with(work, owner) == "megatron":
        return 1
    usual = plainly(work.settings, f"{_ACTOR}.{_ULYSSES}", 1) if owner == OWNERS["ref"] else 1
    return max(1, whole_number(plainly(work.settings, sequence_key(work.settings, owner), usual)))


def _trained_with(work: Work, owner: str) -> str:
    """What trains it or runs it; the reference policy has that of the actor where nobody says another one (ref.yaml)."""
    usual = plainly(work.settings, f"{_ACTOR}.strategy", "fsdp") if owner == OWNERS["ref"] else "fsdp"
    return str(plainly(work.settings, f"{owner}.strategy", usual))
