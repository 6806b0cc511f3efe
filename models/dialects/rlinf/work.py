"""Derived sizes, replicas and samples of a job, and the model of each component.

RLinf does not pad the vocabulary: it takes that of the checkpoint as padded and asserts that the
actor's tp divides it.

Sources in RLinf: rlinf/config.py (validate_cfg, validate_reasoning_cfg, validate_fsdp_cfg,
validate_megatron_cfg, validate_model_cfg_by_hf_config, build_transformer_config);
rlinf/utils/placement.py (ModelParallelComponentPlacement); in rlinf/workers: megatron_worker.py,
actor/{fsdp,megatron}_actor_worker.py, actor/embodied_fsdp_actor_worker.py (total_batch_size_per_dp),
inference/megatron_inference_worker.py (set up like the trained component) and
rollout/{sglang,vllm} (offload_engine); rlinf/runners/reasoning_runner.py.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Iterator

from ...configuration.settings import Amount, Plain, Settings, percent, plain_value, whole_number
from ...derivation import DATA_PARALLEL_SIZE, NOT_KNOWN, REPLICA_SIZE, REPLICAS, WORLD_SIZE, Derivation, Figure
from ...estimate import DISTRIBUTED, FSDP, FULL, NONE, SELECTIVE, ZERO2, MemoryInput
from ...estimate import MEGATRON as MEGATRON_SHARDING
from ...findings.wording import with_noun
from ...model_cards import ModelUse, Split, engine_splits, megatron_splits, vocabulary_split, with_sizes
from ...model_cards.stages import places_of
from .known import AT_LAUNCH, DEGREE, INFERENCE, MEGATRON
from .modes import Mode
from .modes.state import ParallelSettings, Placer, figure_of


def inference_replicas(mode: Mode) -> Iterator[tuple[str, ParallelSettings]]:
    """Yield the components that Megatron divides into replicas, with degrees; none in auto mode."""
    if mode.placer is not Placer.MODEL_PARALLEL or mode.settings.flag("cluster.auto_scheduler", DEGREE):
        return
    for name, role in INFERENCE.items():
        component = mode.components.get(name)
        if component and mode.backend(role) == MEGATRON:
            degrees = mode.degrees(name)
            # With other degrees the component has no shape, or is not started.
            if degrees.parallel == component.parallel:
                yield name, degrees


TRAINED = {Placer.MODEL_PARALLEL: ("actor", "critic"), Placer.MULTI_AGENT: ("actor",)}
"""Components with degrees that the modes read."""


def sizes(mode: Mode) -> None:
    """Derive the sizes of trained, inference and rollout components."""
    roles = (role for role in TRAINED.get(mode.placer, ()) if mode.processes(role) and mode.backend(role) == MEGATRON)
    for name, degrees in [*((role, mode.degrees(role)) for role in roles), *inference_replicas(mode)]:
        processes, amounts = mode.processes(name), [amount for amount in (degrees.tp, degrees.pp, degrees.cp) if amount]
        if not processes or len(amounts) < 3:
            continue
        tp, pp, cp = (amount.value for amount in amounts)
        size = mode.derive(name, REPLICA_SIZE, tp * pp * cp, f"tp {tp} x pp {pp} x cp {cp}", *amounts)
        if processes % size == 0:
            replicas = f"{with_noun(processes, 'process')} // {size} a replica"
            mode.derive(name, DATA_PARALLEL_SIZE, processes // size, replicas, *amounts)
    if mode.packs:
        _engines(mode)


def _engines(mode: Mode) -> None:
    """Derive the size of rollout: an engine per process, of tp alone on the actor's accelerators."""
    rollout, processes = mode.components.get("rollout"), mode.processes("rollout")
    if rollout is None or not processes:
        return
    tp, pp, per_process = mode.tp("rollout"), mode.degrees("rollout").pp, rollout.per_process
    if not tp or not pp or per_process < tp.value:
        why = f"depends on degrees that are not known, or do not fit: see {DEGREE}"
        mode.derivations.append(Derivation("rollout", WORLD_SIZE, NOT_KNOWN, why))
        return
    if per_process not in (tp.value, tp.value * pp.value):
        return
    degrees, engine = ((tp, pp), f"tp {tp.value} x pp {pp.value}") if per_process > tp.value else ((tp,), f"tp {tp.value}")
    formula, span = f"{with_noun(processes * per_process, 'accelerator')} // {per_process} a process ({engine})", rollout.span("placement")
    figures = [Figure("placement", mode.notes.document.excerpt(span), span)] if span else []
    mode.derivations.append(Derivation("rollout", WORLD_SIZE, processes, formula, (*figures, *map(figure_of, degrees))))
    mode.derive("rollout", REPLICA_SIZE, per_process, engine, *degrees)
    mode.derive("rollout", REPLICAS, processes, f"{with_noun(processes, 'process')}, an engine in each")


HINTS = "placewright.components"
_SHARDINGS = {"full_shard": FSDP, "shard_grad_op": ZERO2, "no_shard": NONE}
_PATH = "rollout.model.model_path"


def runs(mode: Mode) -> None:
    """Add the run of each model with a hint for an estimate."""
    settings = mode.settings
    sequence = whole_number(plain_value(settings, "runner.seq_length"))  # the longest prompt with its answer
    for name in ("actor", "critic", "rollout"):
        if mode.components.get(name) is None or settings.at(f"{HINTS}.{name}.estimate") is None:
            continue
        utilization = percent(plain_value(settings, "rollout.gpu_memory_utilization", 0.65))
        engine_run = MemoryInput(utilization=utilization, sequence=sequence, offload=True)
        run = engine_run if name == "rollout" else replace(_trained_run(settings, name), sequence=sequence)
        key = _PATH if plain_value(settings, _PATH) else f"{name}.model.model_path"
        # A component that divides nothing has no model yet.
        use = mode.models.get(name) or ModelUse(str(plain_value(settings, key)), key, ())
        mode.models[name] = replace(use, run=run)


def _trained_run(settings: Settings, name: str) -> MemoryInput:
    def own(key: str, usual: str | bool = "") -> Plain:
        return plain_value(settings, f"{name}.{key}", usual)

    micro_batch = whole_number(own("micro_batch_size")) or whole_number(plain_value(settings, "algorithm.training_batch_size_per_gpu")) or 1
    if own("training_backend") == MEGATRON:
        return MemoryInput(
            sharding=DISTRIBUTED if own("optim.use_distributed_optimizer", False) is True else MEGATRON_SHARDING,
            recompute={"full": FULL, "selective": SELECTIVE}.get(str(own("model.recompute_granularity")), NONE),
            micro_batch=micro_batch,
            offload=all(own(f"offload_{state}", False) is True for state in ("weight", "grad", "optimizer")),
        )
    return MemoryInput(
        lora_rank=whole_number(own("model.lora_rank")) if own("model.is_lora", False) is True else 0,
        sharding=_SHARDINGS.get(str(own("fsdp_config.sharding_strategy", "full_shard")), FSDP),
        recompute=NONE if own("fsdp_config.gradient_checkpointing", False) is False else FULL,
        micro_batch=micro_batch,
        offload=own("enable_offload", False) is True,
    )


DIVIDES = "PW404"
WITH_MODEL = "RLinf notices this only after workers have started, when they build the model"
IN_ENGINE = "RLinf notices this only after workers have started, when they start the engine"


def models(mode: Mode) -> None:
    """Add the models of the job; embodied models on Hugging Face workers divide nothing."""
    task, key = mode.task, "rollout.model.model_path"
    if not task or task == "embodied_eval":
        return
    if task != "reasoning_eval":
        _add_trained(mode, "actor", "actor", "actor.model.model_path" if task == "sft" else key)
        if mode.settings.flag("critic.use_critic_model", DIVIDES):
            _add_trained(mode, "critic", "critic", key)
        for name, role in INFERENCE.items():
            _add_trained(mode, name, role, key)
    if mode.placer is not Placer.HYBRID:
        degrees = mode.degrees("rollout")
        _add(mode, "rollout", key, degrees, engine_splits(places_of(tp=degrees.tp), IN_ENGINE))
    runs(mode)


def _add_trained(mode: Mode, name: str, role: str, key: str) -> None:
    """Add the model of a trained or inference component; only Megatron divides a model."""
    if not mode.components.get(name) or mode.settings.word(f"{role}.training_backend", DIVIDES) != MEGATRON:
        return
    degrees, engine = mode.degrees(name), mode.degrees("rollout").tp
    # Inference components ignore experts.
    experts = mode.settings.whole(f"{role}.model.expert_model_parallel_size", DIVIDES, 1) if name == role else None
    places = places_of(tp=degrees.tp, pp=degrees.pp, ep=experts) if name == role else places_of(tp=degrees.tp, pp=degrees.pp)
    # RLinf asserts the vocabulary for the actor alone, but the critic's embedding is as large.
    vocabulary = vocabulary_split(places, AT_LAUNCH if name == "actor" else WITH_MODEL)
    splits = [*(split for split in megatron_splits(places, when=WITH_MODEL) if name == role or split.degree != "ep"), vocabulary]
    # An engine's tp is at most that of the actor, so both are lowered together.
    if name == "actor" and mode.components.get("rollout") and mode.placer is not Placer.HYBRID and engine:
        minimum = (engine.name, engine.value)
        splits = [replace(split, at_least=minimum) if split.degree == "tp" else split for split in splits]
    _add(mode, name, key, degrees, tuple(splits), experts)


def _add(mode: Mode, name: str, key: str, degrees: ParallelSettings, splits: tuple[Split, ...], experts: Amount | None = None) -> None:
    component, parallel, path = mode.components.get(name), degrees.parallel, mode.settings.word(key, DIVIDES)
    if component is not None and parallel is not None and path is not None:
        own_degrees, place = replace(parallel, ep=experts.value if experts else 1), mode.settings.at(key)
        mode.models[name] = ModelUse(path, key, with_sizes(splits, own_degrees, component.parallel), place.span if place else None)
