"""Arithmetic of environments and batches.

Sources in RLinf:

- rlinf/config.py (validate_embodied_cfg, validate_offline_cfg, validate_cfg, validate_reasoning_cfg).
- rlinf/workers/env/env_worker.py, rlinf/scheduler/worker/routing.py (CommMapper),
  rlinf/workers/rollout/hf/huggingface_worker.py, rlinf/workers/reward/reward_worker.py,
  rlinf/workers/megatron_worker.py.
"""

from __future__ import annotations

from math import gcd, lcm

from ...component import NOT_FEWER, Parallel, Relation
from ...configuration.settings import Amount
from ...derivation import DATA_PARALLEL_SIZE
from ...findings.finding import Severity
from ...findings.wording import do, with_noun
from ...text.tree import Scalar
from ..checks import divisors, find_near, multiples_near
from .checks import REASONING, check_settings
from .known import CHECKED, FSDP, MEGATRON, SETTING
from .modes.state import DEMANDS, SHARES, Mode, Placer
from .work import inference_replicas

WHAT = "environments"


def environments(mode: Mode) -> None:
    """Add the shares and relations of an embodied job."""
    if "env" not in {*mode.written, *mode.components}:
        return
    phases_of_job, stages = mode.phases, mode.settings.whole("rollout.pipeline_stage_num", SHARES, 1)
    if not phases_of_job or stages is None:
        return
    is_decoupled = mode.task != "offline" and not mode.is_older_than("0.3") and mode.settings.flag("runner.enable_decoupled_mode", SHARES)
    if is_decoupled and mode.components.get("rollout"):
        mode.relations.append(Relation(NOT_FEWER, ("env", "rollout"), None, "RLinf's decoupled mode"))
    simulators, policies = mode.processes("env"), mode.processes("rollout")
    if mode.is_older_than("0.2") and simulators and policies and policies % simulators:  # env_worker.py of v0.1
        better = policies // simulators * simulators or simulators
        mode.report("rollout not dealt to env", "rollout", policies=policies, simulators=simulators, better=better)
    for phase in phases_of_job:
        groups = mode.settings.whole(f"env.{phase}.group_size", SHARES, 1)
        fits = lcm((simulators or 1) * stages.value * (groups.value if groups else 1), (policies or 1) * stages.value)
        total = mode.settings.whole(f"env.{phase}.total_num_envs", SHARES, fits=fits)
        if total and groups:
            _deal_out(mode, phase, total, stages, groups, bool(is_decoupled))
        if total and phase == "train" and not mode.is_older_than("0.3"):
            has_model, standalone = (mode.settings.flag(f"reward.{key}", SETTING) for key in ("use_reward_model", "standalone_realworld"))
            if has_model and standalone is False:
                mode.share("reward", total, 1, "", WHAT, "RLinf notices it when the reward workers have started")


def _deal_out(mode: Mode, phase: str, total: Amount, stages: Amount, groups: Amount, is_decoupled: bool) -> None:
    """Add shares: environments of a phase divide among env, rollout and, pipelined, the actor."""
    processes = mode.processes("env")
    if processes and stages.value > 1:
        formula = f"{with_noun(total.value, 'environment')} // {with_noun(processes, 'process')} // {with_noun(stages.value, 'stage')}"
        mode.derive("env", f"environments per stage to {phase}", total.value // processes // stages.value, formula, total, stages)
    is_pipelined = phase == "train" and not mode.is_older_than("0.3") and mode.settings.flag("runner.use_training_pipeline", SHARES)
    multiple_name = " x ".join(amount.name for amount in (stages, groups) if amount.value > 1)
    reason, is_proved = _verdict(mode, total.value, stages.value, groups.value, bool(is_pipelined))
    mode.share("env", total, stages.value * groups.value, multiple_name, WHAT, reason, is_proved)
    if is_pipelined:
        mode.share("actor", total, 1, "", WHAT, "RLinf notices it when the env processes are constructed (`runner.use_training_pipeline`)")
    rollout = mode.components.get("rollout")
    if mode.is_older_than("0.2") or is_decoupled:
        return  # in 0.1 each env process has the same number of rollout processes
    if total.value % stages.value == 0:
        reason = "RLinf notices it only at the first rollout, when it routes the environments"
        mode.share("rollout", total, stages.value, stages.name if stages.value > 1 else "", WHAT, reason, _is_routed(mode))
    elif rollout and rollout.runs is None:
        # RLinf accepts stages of explicit env ranks that do not divide; the first rollout still
        # divides the environments of a stage.
        stage = Amount(total.value // stages.value, f"{total.name} // {stages.name}", total.scalar)
        mode.share("rollout", stage, 1, "", WHAT, "RLinf notices it only at the first rollout", _is_routed(mode))


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
        if batch and micro:
            mode.share("actor", batch, micro.value, micro.name if micro.value > 1 else "", "samples", CHECKED)
        if task == "embodied" and batch:
            _check_updates(mode, batch)
        if batch and micro:
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
        mode.share("reward", prompts, 1, "", "prompts", reason, is_proved)
    if backend == FSDP:
        _derive_samples(mode, batch, micro, None)
        name = f"{prompts.name} x {group.name}" + (f" // {updates.name}" if updates.value > 1 else "")
        micro_name = micro.name if micro.value > 1 else ""
        mode.share("actor", Amount(batch, name, prompts.scalar), micro.value, micro_name, "samples", CHECKED)
    elif backend == MEGATRON:
        _megatron(mode, prompts, group, batch, micro)


def _megatron(mode: Mode, prompts: Amount, group: Amount, batch: int, micro: Amount) -> None:
    """Add shares: all samples divide among the replicas of trained and inference components."""
    processes, parallel = mode.processes("actor"), mode.degrees("actor").parallel
    _replicate(mode, "actor", parallel, prompts, group)
    if processes and parallel and not processes % parallel.replica:
        _derive_samples(mode, batch, micro, processes // parallel.replica)
    for name, degrees in inference_replicas(mode):
        component = mode.components.get(name)
        # A planned component has degrees with its times: it may run with other degrees.
        if component and (component.runs is not None or not component.timed):
            _replicate(mode, name, degrees.parallel, prompts, group)


def _replicate(mode: Mode, name: str, parallel: Parallel | None, prompts: Amount, group: Amount) -> None:
    """Add a share or an error: all samples divide among the replicas of a component."""
    processes, component, samples = mode.processes(name), mode.components.get(name), prompts.value * group.value
    if component is None or parallel is None:
        return
    # Divided for any chosen degrees.
    is_planned = component.timed is not None and component.timed.samples == samples
    if component.runs is None and not is_planned:  # divided among the final number of replicas
        noun = "samples times tp x pp x cp" if parallel.replica > 1 else "samples"
        mode.share(name, Amount(samples * parallel.replica, f"{prompts.name} x {group.name}", prompts.scalar), 1, "", noun, "")
    replicas = processes // parallel.replica if processes and processes % parallel.replica == 0 else 1
    if samples % replicas:
        better = " or ".join(map(str, multiples_near(prompts.value, replicas // gcd(replicas, group.value))))
        values = {"samples": samples, "replicas": replicas, "prompts": prompts.name, "group": group.name, "better": better}
        mode.report("samples leave replicas", name, prompts.span or mode.settings.top, **values)


def _check_updates(mode: Mode, batch: Amount) -> None:
    """Note an epoch of rollouts without whole global batches, for plain policy losses.

    Source: RLinf, rlinf/workers/actor/embodied_fsdp_actor_worker.py,
    EmbodiedFSDPActor.run_training.
    """
    settings = mode.settings
    plain = settings.word("algorithm.loss_type", DEMANDS) in ("actor", "actor_critic")
    if not plain or "train" not in mode.phases or settings.flag("runner.use_training_pipeline", DEMANDS) is not False:
        return
    total, steps = settings.whole("env.train.total_num_envs", DEMANDS), settings.whole("env.train.max_steps_per_rollout_epoch", DEMANDS)
    is_own_key = settings.at("env.train.rollout_epoch") is not None and not mode.is_older_than("0.3")
    epochs = settings.whole("env.train.rollout_epoch" if is_own_key else "algorithm.rollout_epoch", DEMANDS, 1)
    chunk = settings.whole("actor.model.num_action_chunks", DEMANDS)
    if not total or not steps or not epochs or not chunk:
        return
    chunks = steps.value // chunk.value
    samples = total.value * epochs.value * chunks
    product = f"{with_noun(total.value, 'environment')} x {with_noun(epochs.value, 'epoch')} x "
    formula = f"{product}{with_noun(steps.value, 'step')} // {chunk.value} a chunk"
    mode.derive("actor", "samples per step", samples, formula, total, epochs, steps, chunk)
    mode.derive("actor", "updates per step", samples // batch.value, f"{with_noun(samples, 'sample')} // {batch.value}", batch)
    if samples % batch.value:
        product += with_noun(chunks, "chunk")
        # If environments and the batch divide evenly, all processes of the actor have equally many
        # samples, but no whole batches.
        processes = [mode.processes(name) or 0 for name in ("env", "rollout", "actor")]
        stages = settings.whole("rollout.pipeline_stage_num", DEMANDS)
        is_even = stages and all(processes) and total.value % lcm(*(count * stages.value for count in processes)) == 0
        # 0.1 and 0.2 stop earlier, because the key is missing.
        is_missed = mode.is_older_than("0.3") and epochs.scalar is None
        is_proved = is_even and batch.value % processes[2] == 0 and not is_missed
        micro = settings.whole("actor.micro_batch_size", DEMANDS)
        sizes = [size for size in divisors(samples) if size % ((micro.value if micro else 1) * (processes[2] or 1)) == 0]
        better = " or ".join(map(str, find_near(batch.value, sizes)))
        help = f"set `{batch.name}` to {better}" if better else f"choose `{total.name}` so that `{batch.name}` divides the samples"
        severity = Severity.ERROR if is_proved else Severity.WARNING
        values = {"samples": samples, "batch": batch.text, "product": product, "help": help}
        mode.report("samples leave batches", "actor", batch.span or mode.settings.top, severity=severity, **values)
