"""Derived sizes, replicas and samples of a job, and the model of each component.

RLinf pads no vocabulary: it takes that of the checkpoint for the padded one and asserts that the actor's tp divides it.

Sources in RLinf:

- rlinf/config.py (validate_cfg, validate_model_cfg_by_hf_config, build_transformer_config);
  rlinf/workers/inference/megatron_inference_worker.py; rlinf/workers/rollout/{sglang,vllm}.
- rlinf/workers/inference/megatron_inference_worker.py, which is set up as what trains is.
- rlinf/utils/placement.py, ModelParallelComponentPlacement (_generate_placements, the properties of sizes);
  rlinf/workers/megatron_worker.py (data parallel size).
- rlinf/config.py (validate_reasoning_cfg), rlinf/workers/actor/fsdp_actor_worker.py and embodied_fsdp_actor_worker.py
  (total_batch_size_per_dp, gradient_accumulation), rlinf/workers/megatron_worker.py.
- rlinf/config.py (validate_cfg, validate_fsdp_cfg, validate_megatron_cfg),
  rlinf/workers/actor/{fsdp,megatron}_actor_worker.py, rlinf/workers/rollout/{sglang,vllm} (offload_engine),
  rlinf/runners/reasoning_runner.py.
"""

from __future__ import annotations

from dataclasses import field, replace
from typing import Iterator

from ...component import Component, Parallel, Relation
from ...configuration.notes import Notes
from ...configuration.plainly import percent, plainly, whole_number
from ...configuration.settings import Amount, Settings
from ...derivation import DATA_PARALLEL_SIZE, NOT_KNOWN, REPLICA_SIZE, REPLICAS, WORLD_SIZE, Derivation, Figure
from ...estimate import DISTRIBUTED, FSDP, FULL, NONE, SELECTIVE, ZERO2, Estimate
from ...estimate import MEGATRON as MEGATRON_SHARDING
from ...findings.wording import with_noun
from ...model_cards import ModelUse, Split, engine_splits, megatron_splits, vocabulary_split, with_sizes
from ...model_cards.stages import places_of
from ...placements.assignment import Assignment
from ...record import dataclass
from ...share import Share
from ...text.tree import Scalar
from .known import AT_LAUNCH, DEGREE, INFERENCE, MEGATRON
from .modes import Mode
from .modes.parts import Degrees, Placer, generating, inferred, trained

SHARES, DEMANDS = "PW401", "PW403"
"""The codes of what does not divide among processes, and of what does not go together otherwise."""


def figure_of(amount: Amount) -> Figure:
    """The amount as a part of a derivation; a default with the file of RLinf that it stands in."""
    source = "rlinf/utils/placement.py" if amount.name.endswith("_parallel_size") else "rlinf/config.py"
    return Figure(amount.name, amount.value, amount.span, "" if amount.scalar else f"RLinf, {source}")


@dataclass
class Work:
    """What is collected while the settings are read."""

    notes: Notes
    settings: Settings
    mode: Mode
    shares: list[Share] = field(default_factory=list)
    relations: list[Relation] = field(default_factory=list)
    derivations: list[Derivation] = field(default_factory=list)
    models: dict[str, ModelUse] = field(default_factory=dict)

    def component(self, name: str) -> Component | None:
        """The component, if it could be read."""
        return next((each for each in self.mode.components if each.name == name), None)

    def held(self, name: str) -> int | None:
        """How many accelerators a component has, if its ranks are given."""
        found = self.component(name)
        return Assignment({name: found.runs}).held(name) if found and found.runs else None

    def processes(self, name: str) -> int | None:
        """How many processes a component has, if its ranks are given."""
        found = self.component(name)
        return max((run.ranks.stop for run in found.runs), default=0) if found and found.runs is not None else None

    def share(self, component: str, amount: Amount, multiple: int, multiple_name: str, what: str, reason: str, proved: bool = True) -> None:
        """An amount must divide among the processes of a component."""
        if self.component(component):
            self.shares.append(Share(component, amount.value, multiple, what, amount.name, multiple_name, amount.span, reason, proved))

    def derive(self, component: str, name: str, value: int, formula: str, *amounts: Amount) -> int:
        """A number of a component, and how it comes about; the number. What the component has none of is not told."""
        if self.component(component):
            self.derivations.append(Derivation(component, name, value, formula, tuple(map(figure_of, amounts))))
        return value

    def until(self, name: str) -> bool:
        """True if the release at hand is older than this one."""
        return self.notes.choice is not None and self.notes.choice.until(name)


def inferring(work: Work) -> Iterator[tuple[str, Degrees]]:
    """Components that Megatron divides into replicas, with their degrees; in auto mode they take turns with what trains."""
    if work.mode.placer is not Placer.MODEL_PARALLEL or work.settings.flag("cluster.auto_scheduler", DEGREE):
        return
    for name, role in INFERENCE.items():
        component = work.component(name)
        if component and work.settings.word(f"{role}.training_backend", DEGREE) == MEGATRON:
            degrees = inferred(work.settings, role)
            if degrees.parallel == component.parallel:  # else it could not be shaped, or is not started
                yield name, degrees


TRAINED = {Placer.MODEL_PARALLEL: ("actor", "critic"), Placer.MULTI_AGENT: ("actor",)}
"""The components whose degrees the modes read."""


def sizes(work: Work) -> None:
    """The sizes of what trains, of what infers and of what generates."""
    roles = TRAINED.get(work.mode.placer, ())
    divided = [
        (role, trained(work.settings, role))
        for role in roles
        if work.processes(role) and work.settings.word(f"{role}.training_backend", DEGREE) == MEGATRON
    ]
    for name, degrees in [*divided, *inferring(work)]:
        processes, every = work.processes(name), {"tp": degrees.tp, "pp": degrees.pp, "cp": degrees.cp}
        known = {degree: amount for degree, amount in every.items() if amount is not None}
        if not processes or len(known) < len(every):
            continue
        formula, size = " x ".join(f"{degree} {amount.value}" for degree, amount in known.items()), 1
        for amount in known.values():
            size *= amount.value
        work.derive(name, REPLICA_SIZE, size, formula, *known.values())
        if processes % size == 0:
            replicas = f"{with_noun(processes, 'process')} // {size} a replica"
            work.derive(name, DATA_PARALLEL_SIZE, processes // size, replicas, *known.values())
    if work.mode.packs:
        _engines(work)


def _engines(work: Work) -> None:
    """Rollout: a process for each engine of tp x pp; where it shares the actor's accelerators, of tp alone."""
    rollout, processes = work.component("rollout"), work.processes("rollout")
    if rollout is None or not processes:
        return
    its, each = generating(work.settings), rollout.per_process
    if not its.tp or not its.pp or each < its.tp.value:
        why = f"depends on degrees that are not known, or do not fit: see {DEGREE}"
        work.derivations.append(Derivation("rollout", WORLD_SIZE, NOT_KNOWN, why))
        return
    if each not in (its.tp.value, its.tp.value * its.pp.value):
        return
    engine = f"tp {its.tp.value}" + (f" x pp {its.pp.value}" if each > its.tp.value else "")
    degrees = (its.tp, its.pp) if each > its.tp.value else (its.tp,)
    formula, span = f"{with_noun(processes * each, 'accelerator')} // {each} a process ({engine})", rollout.span("placement")
    placed = [Figure("placement", work.notes.document.excerpt(span), span)] if span else []
    work.derivations.append(Derivation("rollout", WORLD_SIZE, processes, formula, (*placed, *map(figure_of, degrees))))
    work.derive("rollout", REPLICA_SIZE, each, engine, *degrees)
    work.derive("rollout", REPLICAS, processes, f"{with_noun(processes, 'process')}, an engine in each")


MICRO_BATCHES = "micro batches per update"


def prompted(work: Work, prompts: Amount, group: Amount, parts: Amount) -> int:
    """Samples of a step and of an update; the latter."""
    samples = prompts.value * group.value
    work.derive("actor", "samples per step", samples, f"{with_noun(prompts.value, 'prompt')} x {group.value} of a group", prompts, group)
    batch = samples // parts.value
    return work.derive(
        "actor", "samples per update", batch, f"{with_noun(samples, 'sample')} // {with_noun(parts.value, 'minibatch')}", parts
    )


def on_processes(work: Work, batch: int, micro: Amount, *amounts: Amount) -> None:
    """With fsdp every process is a data parallel rank."""
    processes = work.processes("actor")
    if not processes:
        return
    work.derive("actor", DATA_PARALLEL_SIZE, processes, f"{with_noun(processes, 'process')}, each a data parallel rank of fsdp")
    each = work.derive("actor", "samples per process", batch // processes, f"{with_noun(batch, 'sample')} // {processes}", *amounts)
    _micro_batches(work, each, micro)


def on_replicas(work: Work, batch: int, micro: Amount, replicas: int) -> None:
    """With megatron the processes of a replica train on the same samples."""
    each = work.derive(
        "actor", "samples per replica", batch // replicas, f"{with_noun(batch, 'sample')} // {with_noun(replicas, 'replica')}"
    )
    _micro_batches(work, each, micro)


def _micro_batches(work: Work, each: int, micro: Amount) -> None:
    """Not told where they are made up of tokens, or where that is not known here."""
    dynamic = work.settings.at("runner.enable_dynamic_batch_size")
    if (dynamic is None and work.notes.partial) or (dynamic is not None and not (isinstance(dynamic, Scalar) and dynamic.value is False)):
        return
    work.derive("actor", MICRO_BATCHES, each // micro.value, f"{with_noun(each, 'sample')} // {micro.value} a micro batch", micro)


def acted(work: Work, total: Amount, epochs: Amount, steps: Amount, chunk: Amount, all_: Amount) -> int:
    """Samples of all rollouts of a step, and the updates made of them; the samples."""
    chunks = steps.value // chunk.value
    formula = f"{with_noun(total.value, 'environment')} x {with_noun(epochs.value, 'epoch')} x {with_noun(steps.value, 'step')} // {chunk.value} a chunk"
    samples = work.derive("actor", "samples per step", total.value * epochs.value * chunks, formula, total, epochs, steps, chunk)
    work.derive("actor", "updates per step", samples // all_.value, f"{with_noun(samples, 'sample')} // {all_.value}", all_)
    return samples


HINTS = "placewright.components"
_SHARDINGS = {"full_shard": FSDP, "shard_grad_op": ZERO2, "no_shard": NONE}
_PATH = "rollout.model.model_path"


def runs(work: Work) -> None:
    """Adds to the models of the work how they are run, where the block of hints asks for an estimate."""
    for name in ("actor", "critic", "rollout"):
        if work.component(name) is None or work.settings.at(f"{HINTS}.{name}.estimate") is None:
            continue
        run = _served_run(work) if name == "rollout" else _trained_run(work, name)
        key = _PATH if plainly(work.settings, _PATH) else f"{name}.model.model_path"
        # What divides nothing has no model until now.
        use = work.models.get(name) or ModelUse(str(plainly(work.settings, key)), key, ())
        work.models[name] = replace(use, run=run)


def _served_run(work: Work) -> Estimate:
    """An engine takes its part of each accelerator, and gives it back when it has generated."""
    part = plainly(work.settings, "rollout.gpu_memory_utilization", 0.65)
    return Estimate(utilization=percent(part), sequence=_sequence(work), offload=True)


def _trained_run(work: Work, name: str) -> Estimate:
    def own(key: str, usual: str | bool = "") -> object:
        return plainly(work.settings, f"{name}.{key}", usual)

    sequences = whole_number(plainly(work.settings, f"{name}.micro_batch_size"))
    sequences = sequences or whole_number(plainly(work.settings, "algorithm.training_batch_size_per_gpu")) or 1
    if own("training_backend") == MEGATRON:
        away = all(own(f"offload_{part}", False) is True for part in ("weight", "grad", "optimizer"))
        sharding = DISTRIBUTED if own("optim.use_distributed_optimizer", False) is True else MEGATRON_SHARDING
        again = {"full": FULL, "selective": SELECTIVE}.get(str(own("model.recompute_granularity")), NONE)
        return Estimate(sharding=sharding, recompute=again, sequence=_sequence(work), micro_batch=sequences, offload=away)
    rank = whole_number(plainly(work.settings, f"{name}.model.lora_rank")) if own("model.is_lora", False) is True else 0
    sharding = _SHARDINGS.get(str(own("fsdp_config.sharding_strategy", "full_shard")), FSDP)
    again = NONE if own("fsdp_config.gradient_checkpointing", False) is False else FULL
    away = own("enable_offload", False) is True
    return Estimate(lora_rank=rank, sharding=sharding, recompute=again, sequence=_sequence(work), micro_batch=sequences, offload=away)


def _sequence(work: Work) -> int:
    """Tokens of the longest prompt with the longest answer."""
    return whole_number(plainly(work.settings, "runner.seq_length"))


DIVIDES = "PW404"
WITH_MODEL = "RLinf notices this only after workers have started, when they build the model"
IN_ENGINE = "RLinf notices this only after workers have started, when they start the engine"


def models(work: Work) -> None:
    """Adds the models of the job to the work. Embodied models on Hugging Face workers divide nothing."""
    task = work.mode.task
    if not task or task == "embodied_eval":
        return
    if task != "reasoning_eval":
        _trained(work, "actor", "actor.model.model_path" if task == "sft" else "rollout.model.model_path")
        if work.settings.flag("critic.use_critic_model", DIVIDES):
            _trained(work, "critic", "rollout.model.model_path")
        for name, role in INFERENCE.items():
            _inferring(work, name, role)
    if work.mode.placer is not Placer.HYBRID:
        its = generating(work.settings)
        _add(work, "rollout", "rollout.model.model_path", its, engine_splits(places_of(tp=its.tp), IN_ENGINE))
    runs(work)


def _trained(work: Work, role: str, key: str) -> None:
    """Only Megatron divides a model; the vocabulary is asserted of the actor alone, but the critic's embedding is as large.

    An engine's tp is at most that of the actor, so it goes down with it.
    """
    if not work.component(role) or work.settings.word(f"{role}.training_backend", DIVIDES) != MEGATRON:
        return
    its = trained(work.settings, role)
    experts = work.settings.whole(f"{role}.model.expert_model_parallel_size", DIVIDES, 1)
    places = places_of(tp=its.tp, pp=its.pp, ep=experts)
    splits = (*megatron_splits(places, when=WITH_MODEL), vocabulary_split(places, AT_LAUNCH if role == "actor" else WITH_MODEL))
    engine = generating(work.settings).tp
    if role == "actor" and work.component("rollout") and work.mode.placer is not Placer.HYBRID and engine:
        splits = tuple(replace(split, at_least=(engine.name, engine.value)) if split.degree == "tp" else split for split in splits)
    _add(work, role, key, its, splits, experts)


def _inferring(work: Work, name: str, role: str) -> None:
    """The model of its role, on ranks of its own with degrees of its own; its experts are not looked at."""
    if not work.component(name) or work.settings.word(f"{role}.training_backend", DIVIDES) != MEGATRON:
        return
    its = inferred(work.settings, role)
    places = places_of(tp=its.tp, pp=its.pp)
    splits = tuple(split for split in megatron_splits(places, when=WITH_MODEL) if split.degree != "ep")
    _add(work, name, "rollout.model.model_path", its, (*splits, vocabulary_split(places, WITH_MODEL)))


def _add(work: Work, name: str, key: str, its: Degrees, splits: tuple[Split, ...], experts: Amount | None = None) -> None:
    component, parallel = work.component(name), its.parallel
    if component is None or parallel is None:
        return
    written = Parallel(parallel.tp, parallel.pp, parallel.cp, experts.value if experts else 1)
    path = work.settings.word(key, DIVIDES)
    if path is not None:
        place = work.settings.at(key)
        work.models[name] = ModelUse(path, key, with_sizes(splits, written, component.parallel), place.span if place else None)
