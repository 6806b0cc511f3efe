"""Arithmetic of a job: derived sizes, replicas, environments, batches, and the model of each component.

RLinf does not pad the vocabulary: it takes that of the checkpoint as padded and asserts that the
actor's tp divides it.

Sources in RLinf: rlinf/config.py (validate_embodied_cfg, validate_offline_cfg, validate_cfg,
validate_reasoning_cfg, validate_fsdp_cfg, validate_megatron_cfg, validate_model_cfg_by_hf_config,
build_transformer_config); rlinf/utils/placement.py (ModelParallelComponentPlacement);
rlinf/scheduler/worker/routing.py (CommMapper); rlinf/runners/reasoning_runner.py; in rlinf/workers:
megatron_worker.py, actor/{fsdp,megatron}_actor_worker.py, actor/embodied_fsdp_actor_worker.py
(total_batch_size_per_dp, run_training), inference/megatron_inference_worker.py (set up like the trained component),
rollout/{sglang,vllm} (offload_engine), rollout/hf/huggingface_worker.py, env/env_worker.py and
reward/reward_worker.py.
"""

from __future__ import annotations

from dataclasses import replace
from math import gcd, lcm
from typing import Any, Iterator

from ... import estimate
from ...component import NOT_FEWER, Parallel, Relation
from ...configuration.settings import Amount, Plain, Settings, percent, plain_value, whole_number
from ...derivation import DATA_PARALLEL_SIZE, NOT_KNOWN, REPLICA_SIZE, REPLICAS, WORLD_SIZE, Derivation, Figure
from ...estimate import MemoryInput
from ...findings.finding import Severity
from ...findings.wording import do, with_noun
from ...model_cards import ModelUse, Split, engine_splits, megatron_splits, vocabulary_split, with_sizes
from ...model_cards.stages import places_of
from ...text.tree import Scalar
from ..checks import MULTIPLE, Divides, Facts, Number, divisors, find_near, multiples_near, set_to
from ..lengths import lengths_of
from .checks import REASONING, check_settings, epochs_of, trajectories
from .known import AT_LAUNCH, CHECKED, DEGREE, FSDP, INFERENCE, LATE, MEGATRON, SETTING
from .modes.state import DEMANDS, SHARES, Mode, ParallelSettings, Placer, figure_of


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
            mode.derive(name, DATA_PARALLEL_SIZE, processes // size, f"{with_noun(processes, 'process')} // {size} a replica", *amounts)
    if mode.packs:
        _engines(mode)


def _engines(mode: Mode) -> None:
    """Derive the size of rollout: an engine per process, of tp alone on the actor's accelerators."""
    rollout, processes = mode.components.get("rollout"), mode.processes("rollout")
    if rollout is None or not processes:
        return
    tp, pp, per_process = mode.degrees("rollout").tp, mode.degrees("rollout").pp, rollout.per_process
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
_SHARDINGS = {"full_shard": estimate.FSDP, "shard_grad_op": estimate.ZERO2, "no_shard": estimate.NONE}
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
        mode.models[name] = replace(mode.models.get(name) or ModelUse(str(plain_value(settings, key)), key, ()), run=run)


def _trained_run(settings: Settings, name: str) -> MemoryInput:
    def own(key: str, usual: str | bool = "") -> Plain:
        return plain_value(settings, f"{name}.{key}", usual)

    micro_batch = whole_number(own("micro_batch_size")) or whole_number(plain_value(settings, "algorithm.training_batch_size_per_gpu")) or 1
    if own("training_backend") == MEGATRON:
        return MemoryInput(
            sharding=estimate.DISTRIBUTED if own("optim.use_distributed_optimizer", False) is True else estimate.MEGATRON,
            recompute={"full": estimate.FULL, "selective": estimate.SELECTIVE}.get(str(own("model.recompute_granularity")), estimate.NONE),
            micro_batch=micro_batch,
            offload=all(own(f"offload_{state}", False) is True for state in ("weight", "grad", "optimizer")),
        )
    return MemoryInput(
        lora_rank=whole_number(own("model.lora_rank")) if own("model.is_lora", False) is True else 0,
        sharding=_SHARDINGS.get(str(own("fsdp_config.sharding_strategy", "full_shard")), estimate.FSDP),
        recompute=estimate.NONE if own("fsdp_config.gradient_checkpointing", False) is False else estimate.FULL,
        micro_batch=micro_batch,
        offload=own("enable_offload", False) is True,
    )


DIVIDES = "PW404"
WITH_MODEL = "RLinf notices this only after workers have started, when they build the model"
IN_ENGINE = "RLinf notices this only after workers have started, when they start the engine"


def models(mode: Mode, is_training: bool = False) -> None:
    """Add the models of the job; embodied models on Hugging Face workers divide nothing.

    The lengths that an engine must take are added if training is judged.
    """
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
        if is_training and (use := mode.models.get("rollout")):
            facts, engine = Facts(mode.notes, mode.settings, "rollout"), plain_value(mode.settings, "rollout.rollout_backend")
            mode.models["rollout"] = replace(use, lengths=lengths_of("RLinf", facts, engine, "runner.seq_length"))
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
        splits = [replace(split, at_least=(engine.name, engine.value)) if split.degree == "tp" else split for split in splits]
    _add(mode, name, key, degrees, tuple(splits), experts)


def _add(mode: Mode, name: str, key: str, degrees: ParallelSettings, splits: tuple[Split, ...], experts: Amount | None = None) -> None:
    component, parallel, path = mode.components.get(name), degrees.parallel, mode.settings.word(key, DIVIDES)
    if component is not None and parallel is not None and path is not None:
        own_degrees, place = replace(parallel, ep=experts.value if experts else 1), mode.settings.at(key)
        mode.models[name] = ModelUse(path, key, with_sizes(splits, own_degrees, component.parallel), place.span if place else None)


WHAT = "environments"


def environments(mode: Mode) -> None:
    """Add the shares and relations of an embodied job."""
    if "env" not in {*mode.written, *mode.components}:
        return
    settings, phases_of_job, stages = mode.settings, mode.phases, mode.settings.whole("rollout.pipeline_stage_num", SHARES, 1)
    if not phases_of_job or stages is None:
        return
    is_decoupled = mode.task != "offline" and settings.since("0.3") and settings.flag("runner.enable_decoupled_mode", SHARES)
    if is_decoupled and mode.components.get("rollout"):
        mode.relations.append(Relation(NOT_FEWER, ("env", "rollout"), None, "RLinf's decoupled mode"))
    simulators, policies = mode.processes("env"), mode.processes("rollout")
    for phase in phases_of_job:
        groups = mode.settings.whole(f"env.{phase}.group_size", SHARES, 1)
        fits = lcm((simulators or 1) * stages.value * (groups.value if groups else 1), (policies or 1) * stages.value)
        total = mode.settings.whole(f"env.{phase}.total_num_envs", SHARES, fits=fits)
        if total and groups:
            _deal_out(mode, phase, total, stages, groups, bool(is_decoupled))
        if total and phase == "train" and not mode.settings.is_older_than("0.3"):
            has_model, standalone = (mode.settings.flag(f"reward.{key}", SETTING) for key in ("use_reward_model", "standalone_realworld"))
            if has_model and standalone is False:
                mode.share("reward", total, WHAT, "RLinf notices it when the reward workers have started")


def _deal_out(mode: Mode, phase: str, total: Amount, stages: Amount, groups: Amount, is_decoupled: bool) -> None:
    """Add shares: environments of a phase divide among env, rollout and, pipelined, the actor."""
    processes = mode.processes("env")
    if processes and stages.value > 1:
        formula = f"{with_noun(total.value, 'environment')} // {with_noun(processes, 'process')} // {with_noun(stages.value, 'stage')}"
        mode.derive("env", f"environments per stage to {phase}", total.value // processes // stages.value, formula, total, stages)
    is_pipelined = phase == "train" and mode.settings.since("0.3") and mode.settings.flag("runner.use_training_pipeline", SHARES)
    reason, is_proved = _verdict(mode, total.value, stages.value, groups.value, bool(is_pipelined))
    mode.share("env", total, WHAT, reason, stages, groups, proved=is_proved)
    if is_pipelined:
        mode.share("actor", total, WHAT, "RLinf notices it when the env processes are constructed (`runner.use_training_pipeline`)")
    rollout = mode.components.get("rollout")
    if mode.settings.is_older_than("0.2") or is_decoupled:
        return  # in 0.1 each env process has the same number of rollout processes
    if total.value % stages.value == 0:
        reason = "RLinf notices it only at the first rollout, when it routes the environments"
        mode.share("rollout", total, WHAT, reason, stages, proved=_is_routed(mode))
    elif rollout and rollout.runs is None:
        # RLinf accepts stages of explicit env ranks that do not divide; the first rollout still
        # divides the environments of a stage.
        stage = Amount(total.value // stages.value, f"{total.name} // {stages.name}", total.scalar)
        mode.share("rollout", stage, WHAT, "RLinf notices it only at the first rollout", proved=_is_routed(mode))


def _verdict(mode: Mode, total: int, stages: int, groups: int, is_pipelined: bool) -> tuple[str, bool]:
    """Return when RLinf notices an uneven division of environments, and if failure is proved.

    RLinf's own check of the stages, ``total % processes % stages``, is never false after the
    preceding check. Left-over environments are not built; the first rollout then asks for the
    environments of a stage, which may or may not divide.
    """
    processes = mode.processes("env")
    if not processes or total % processes or total % (processes * stages) == 0 or is_pipelined:
        return CHECKED, True
    per_stage = total // processes // stages
    if not per_stage or per_stage % groups:
        return CHECKED, True
    lets = f"RLinf's own check of the stages ({total} % {processes} % {stages}) lets it pass"
    for name, workers in (("env", processes), ("rollout", mode.processes("rollout") or 1)):
        stage = total // stages
        if stage % workers:
            fails = f"the first rollout fails, as the {stage} of one stage {do(stage)} not divide among {workers} processes of {name}"
            return f"{lets}; {fails}", _is_routed(mode)
    return f"{lets} and leaves {total - per_stage * processes * stages} of the {total} environments unbuilt", False


def _is_routed(mode: Mode) -> bool:
    """Return True if the rollout worker is known to request environments by this arithmetic."""
    backend = mode.settings.word("rollout.rollout_backend", SHARES)
    return backend in ("", "huggingface") and mode.settings.flag("runner.rtc.enabled", SHARES) is False


def batches(mode: Mode) -> None:
    """Add the shares of the actor, and findings about other divisions."""
    task, settings = mode.task, mode.settings
    check_settings(mode, "training")
    if not task or task.endswith("_eval"):
        return
    backend = settings.word("actor.training_backend", SHARES)
    if task in REASONING:
        _reasoning(mode, backend)
    elif backend == FSDP:
        batch, micro = (settings.whole(f"actor.{key}", SHARES) for key in ("global_batch_size", "micro_batch_size"))
        if task == "embodied" and batch:
            _check_updates(mode, batch)
        if batch and micro:
            mode.share("actor", batch, "samples", CHECKED, micro)
            _derive_samples(mode, batch.value, micro, None, batch)


def _derive_samples(mode: Mode, batch: int, micro: Amount, replicas: int | None, *amounts: Amount) -> None:
    processes, samples_of = mode.processes("actor"), with_noun(batch, "sample")
    if not processes:
        return
    if replicas is None:
        mode.derive("actor", DATA_PARALLEL_SIZE, processes, f"{with_noun(processes, 'process')}, each a data parallel rank of fsdp")
        samples = mode.derive("actor", "samples per process", batch // processes, f"{samples_of} // {processes}", *amounts)
    else:
        samples = mode.derive("actor", "samples per replica", batch // replicas, f"{samples_of} // {with_noun(replicas, 'replica')}")
    dynamic = mode.settings.at("runner.enable_dynamic_batch_size")
    if (dynamic is None and not mode.notes.partial) or (isinstance(dynamic, Scalar) and dynamic.value is False):
        formula = f"{with_noun(samples, 'sample')} // {micro.value} a micro batch"
        mode.derive("actor", "micro batches per update", samples // micro.value, formula, micro)


def _reasoning(mode: Mode, backend: str | None) -> None:
    """Add shares for the global batch of a reasoning job, computed as in RLinf."""
    settings = mode.settings
    prompts, group = settings.whole("data.rollout_batch_size", SHARES), settings.whole("algorithm.group_size", SHARES)
    updates, micro = (settings.whole(f"algorithm.{key}", SHARES, 1) for key in ("n_minibatches", "training_batch_size_per_gpu"))
    if not prompts or not group or not updates or not micro:
        return
    samples = prompts.value * group.value
    batch = samples // updates.value
    mode.derive("actor", "samples per step", samples, f"{with_noun(prompts.value, 'prompt')} x {group.value} of a group", prompts, group)
    mode.derive("actor", "samples per update", batch, f"{with_noun(samples, 'sample')} // {with_noun(updates.value, 'minibatch')}", updates)
    if mode.task == "reasoning" and mode.placer not in (Placer.MULTI_AGENT, Placer.MULTI_AGENT_EVAL):
        # A process of `reward` receives whole groups and stops when it has more than its share;
        # some agent loops never start it. Source: RLinf, rlinf/workers/reward/reward_worker.py,
        # RewardWorker.compute_rewards.
        is_proved = settings.at("agentloop") is None and settings.at("agentlightning") is None and not mode.notes.partial
        reason = "RLinf notices it in the first step, when the reward workers count what they got"
        mode.share("reward", prompts, "prompts", reason, proved=is_proved)
    if backend == FSDP:
        _derive_samples(mode, batch, micro, None)
        is_multiple = batch > 0 and batch % prompts.value == 0
        name = prompts.name if is_multiple else f"{prompts.name} x {group.name} // {updates.name}"
        mode.share("actor", Amount(batch, name, prompts.scalar), "samples", CHECKED, micro, setting_value=prompts.value * is_multiple)
    elif backend == MEGATRON:
        _megatron(mode, prompts, group, batch, micro)


def _megatron(mode: Mode, prompts: Amount, group: Amount, batch: int, micro: Amount) -> None:
    """Add shares: samples divide among replicas, those of an update into their micro batches."""
    processes, parallel = mode.processes("actor"), mode.degrees("actor").parallel
    is_moved = mode.settings.flag("cluster.auto_scheduler", DEGREE)
    _replicate(mode, "actor", parallel, prompts, group)
    if parallel and processes is None and not is_moved and "actor" not in mode.choices:
        _share_among_replicas(mode, "actor", Amount(batch, "samples per update", micro.scalar), parallel, micro)
    if processes and parallel and not processes % parallel.replica:
        replicas = processes // parallel.replica
        _derive_samples(mode, batch, micro, replicas)
        if not prompts.value * group.value % replicas and not is_moved:
            left, mode.subject = Number(batch, f"{with_noun(batch, 'sample')} of an update"), "actor"
            right = Number(micro.value * replicas, f"`{micro.name}` {micro.value} x {with_noun(replicas, 'replica')}", micro)
            sizes = [] if batch % replicas else find_near(micro.value, divisors(batch // replicas))
            help = "" if sizes else f"choose `algorithm.n_minibatches` so that the {with_noun(replicas, 'replica')} divide an update"
            Divides(code=DEMANDS, source="Megatron-LM, core/num_microbatches_calculator.py; RLinf, rlinf/utils/initialize.py", when=LATE,
                    message=MULTIPLE, left=left, right=right, suggest=sizes, change="right", help=help).run(mode)  # fmt: skip
    for name, degrees in inference_replicas(mode):
        component = mode.components.get(name)
        # A planned component has degrees with its times: it may run with other degrees.
        if component and (component.runs is not None or not component.timed):
            _replicate(mode, name, degrees.parallel, prompts, group)


def _share_among_replicas(mode: Mode, name: str, amount: Amount, parallel: Parallel, *factors: Amount) -> None:
    noun = "samples times tp x pp x cp" if parallel.replica > 1 else "samples"
    mode.share(name, replace(amount, value=amount.value * parallel.replica), noun, "", *factors)


def _replicate(mode: Mode, name: str, parallel: Parallel | None, prompts: Amount, group: Amount) -> None:
    """Add a share or an error: all samples divide among the replicas of a component."""
    processes, component, samples = mode.processes(name), mode.components.get(name), prompts.value * group.value
    if component is None or parallel is None:
        return
    # Divided for any chosen degrees.
    is_planned = component.timed is not None and component.timed.samples == samples
    if component.runs is None and not is_planned:  # divided among the final number of replicas
        _share_among_replicas(mode, name, Amount(samples, f"{prompts.name} x {group.name}", prompts.scalar), parallel)
    replicas = processes // parallel.replica if processes and processes % parallel.replica == 0 else 1
    step = _suit(mode, prompts, replicas // gcd(replicas, group.value))
    if samples % replicas:
        help, edit = set_to(mode, prompts, multiples_near(prompts.value, step))
        values: dict[str, Any] = {"samples": samples, "replicas": replicas, "prompts": prompts.name, "group": group.name, "help": help}
        mode.report("samples leave replicas", name, prompts.span or mode.settings.top, edit, **values)


def _suit(mode: Mode, amount: Amount, step: int) -> int:
    """Offer only multiples of `step` for an amount.

    Returns the step that suits its shares, too.
    """
    mode.shares[:] = [replace(share, suits=lcm(share.suits, step)) if share.amount_name == amount.name else share for share in mode.shares]
    shares = [share for share in mode.shares if share.amount_name == amount.name]
    return lcm(step, *(share.step_over(mode.processes(share.component) or 1) for share in shares))


def _check_updates(mode: Mode, batch: Amount) -> None:
    """Note an epoch of rollouts without whole global batches, for plain policy losses."""
    settings = mode.settings
    plain = settings.word("algorithm.loss_type", DEMANDS) in ("actor", "actor_critic")
    if not plain or "train" not in mode.phases or settings.flag("runner.use_training_pipeline", DEMANDS) is not False:
        return
    total, steps = settings.whole("env.train.total_num_envs", DEMANDS), settings.whole("env.train.max_steps_per_rollout_epoch", DEMANDS)
    epochs, chunk = epochs_of(settings), settings.whole("actor.model.num_action_chunks", DEMANDS)
    if not total or not steps or not epochs or not chunk:
        return
    chunks = steps.value // chunk.value
    samples = total.value * epochs.value * chunks
    _suit(mode, total, batch.value // gcd(batch.value, epochs.value * chunks))
    product = f"{with_noun(total.value, 'environment')} x {with_noun(epochs.value, 'epoch')} x "
    formula = f"{product}{with_noun(steps.value, 'step')} // {chunk.value} a chunk"
    mode.derive("actor", "samples per step", samples, formula, total, epochs, steps, chunk)
    mode.derive("actor", "updates per step", samples // batch.value, f"{with_noun(samples, 'sample')} // {batch.value}", batch)
    if samples % batch.value:
        product += with_noun(chunks, "chunk")
        # With even ranks, all processes of the actor have equally many samples, but no whole batches.
        processes = mode.processes("actor") or 1
        # 0.1 and 0.2 stop earlier, because the key is missing.
        is_missed = mode.settings.is_older_than("0.3") and epochs.scalar is None
        is_proved = trajectories(mode) is not None and batch.value % processes == 0 and not is_missed
        micro = settings.whole("actor.micro_batch_size", DEMANDS)
        sizes = [size for size in divisors(samples) if size % ((micro.value if micro else 1) * processes) == 0]
        help, edit = set_to(mode, batch, find_near(batch.value, sizes))
        help = help or f"choose `{total.name}` so that `{batch.name}` divides the samples"
        severity = Severity.ERROR if is_proved else Severity.WARNING
        values: dict[str, Any] = {"samples": samples, "batch": batch.text, "product": product, "help": help}
        mode.report("samples leave batches", "actor", batch.span or mode.settings.top, edit, severity=severity, **values)
