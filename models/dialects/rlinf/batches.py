"""Arithmetic of environments and batches.

Sources in RLinf:

- rlinf/config.py (validate_embodied_cfg, validate_offline_cfg), rlinf/workers/env/env_worker.py,
  rlinf/scheduler/worker/routing.py (CommMapper), rlinf/workers/rollout/hf/huggingface_worker.py,
  rlinf/workers/reward/reward_worker.py.
- rlinf/config.py (validate_cfg, validate_embodied_cfg, validate_reasoning_cfg); rlinf/workers/megatron_worker.py.
"""

from __future__ import annotations

from math import lcm

from ...component import NOT_FEWER, Parallel, Relation
from ...configuration.settings import Amount
from ...findings.wording import are, do, with_noun
from ...record import dataclass
from .checks import BATCHES, REASONING, JobFacts, check_settings
from .known import CHECKED, SETTING
from .modes.parts import Placer, trained
from .work import DEMANDS, SHARES, Work, acted, inferring, on_processes, on_replicas, prompted

TASKS = ("embodied", "embodied_eval", "offline")
WHAT = "environments"


@dataclass(frozen=True, slots=True)
class Phases:
    """Which environments there will be: those to train in, those to evaluate in."""

    train: bool
    evaluate: bool


def phases(work: Work) -> Phases | None:
    """As RLinf decides it; None where it is not known here."""
    only = work.settings.flag("runner.only_eval", SHARES)
    interval = work.settings.whole("runner.val_check_interval", SHARES, -1, least=-(10**9))
    if work.mode.task == "embodied_eval":
        return Phases(False, True)
    if only is None or (interval is None and not only):
        return None
    evaluates = only or (interval is not None and interval.value > 0)
    trains = not only or work.until("0.2")  # validate_embodied_cfg of 0.1 looks at it whether or not anything trains
    return Phases(work.mode.task == "embodied" and trains, evaluates)


def facts_of(work: Work) -> JobFacts:
    """What checks may ask of a job."""
    mode, found = work.mode, phases(work) if work.mode.task in TASKS else None
    names = [name for name, is_there in (("train", found.train), ("eval", found.evaluate)) if is_there] if found else []
    return JobFacts(work.notes, work.settings, mode.task, mode.placer, mode.placed.__contains__, mode.owner, names, work.held)


def environments(work: Work) -> None:
    """The shares and relations of an embodied job."""
    if work.mode.task not in TASKS or "env" not in work.mode.placed:
        return
    found = phases(work)
    stages = work.settings.whole("rollout.pipeline_stage_num", SHARES)
    if found is None or stages is None or not (found.train or found.evaluate):
        return
    decoupled = work.mode.task != "offline" and not work.until("0.3") and work.settings.flag("runner.enable_decoupled_mode", SHARES)
    if decoupled and work.component("rollout"):
        work.relations.append(Relation(NOT_FEWER, ("env", "rollout"), None, "RLinf's decoupled mode"))
    _gathered(work)
    if found.train:
        total = _total(work, "train", stages)
        if total:
            _dealt_out(work, "train", total, stages, bool(decoupled))
            _rewarded_environments(work, total, stages)
    if found.evaluate:
        total = _total(work, "eval", stages)
        if total:
            _dealt_out(work, "eval", total, stages, bool(decoupled))


def _gathered(work: Work) -> None:
    """In RLinf 0.1 each env process serves as many rollout processes as any other. Source: rlinf/workers/env/env_worker.py of v0.1."""
    environments, policies = work.processes("env"), work.processes("rollout")
    place = next((span for name in ("rollout", "env") if (each := work.component(name)) and (span := each.span("placement"))), work.top)
    if work.until("0.2") and environments and policies and policies % environments:  # a plan for newer ones does not look at it
        message = f"the {with_noun(policies, 'process')} of `rollout` {are(policies)} no multiple of the {with_noun(environments, 'process')} of `env`"
        help = f"give `rollout` {policies // environments * environments or environments} processes, or run RLinf 0.2"
        work.notes.error(SHARES, "rollout", message, place, "", help)


def _total(work: Work, phase: str, stages: Amount) -> Amount | None:
    groups = work.settings.whole(f"env.{phase}.group_size", SHARES, 1)
    fits = (work.processes("env") or 1) * stages.value * (groups.value if groups else 1)
    return work.settings.whole(f"env.{phase}.total_num_envs", SHARES, fits=lcm(fits, (work.processes("rollout") or 1) * stages.value))


def _dealt_out(work: Work, phase: str, total: Amount, stages: Amount, decoupled: bool) -> None:
    groups = work.settings.whole(f"env.{phase}.group_size", SHARES, 1)
    if groups is None:
        return
    _staged(work, phase, total, stages)
    pipelined = phase == "train" and not work.until("0.3") and work.settings.flag("runner.use_training_pipeline", SHARES)
    named = [amount.name for amount in (stages, groups) if amount.value > 1]
    reason, proved = _verdict(work, total.value, stages.value, groups.value, bool(pipelined))
    work.share("env", total, stages.value * groups.value, " x ".join(named), WHAT, reason, proved)
    if pipelined:
        work.share("actor", total, 1, "", WHAT, "RLinf notices it when the env processes are constructed (`runner.use_training_pipeline`)")
    if work.until("0.2"):
        return  # each env process has the same number of rollout processes, see _gathered
    if not decoupled and total.value % stages.value == 0:
        reason = "RLinf notices it only at the first rollout, when it routes the environments"
        name = stages.name if stages.value > 1 else ""
        work.share("rollout", total, stages.value, name, WHAT, reason, _routed(work))
    elif not decoupled and (rollout := work.component("rollout")) and rollout.runs is None:
        # RLinf lets stages of a given env that do not come out even pass; the first rollout still deals out those of one stage.
        one = Amount(total.value // stages.value, f"{total.name} // {stages.name}", total.scalar)
        work.share("rollout", one, 1, "", WHAT, "RLinf notices it only at the first rollout", _routed(work))


def _staged(work: Work, phase: str, total: Amount, stages: Amount) -> None:
    """How many environments of a process are stepped together, where they take turns."""
    processes = work.processes("env")
    if processes and stages.value > 1:
        formula = f"{with_noun(total.value, 'environment')} // {with_noun(processes, 'process')} // {with_noun(stages.value, 'stage')}"
        work.derive("env", f"environments per stage to {phase}", total.value // processes // stages.value, formula, total, stages)


def _verdict(work: Work, total: int, stages: int, groups: int, pipelined: bool) -> tuple[str, bool]:
    """(when RLinf notices, whether it is proved to fail) if the environments do not divide.

    Its check of the stages, ``total % processes % stages``, is never false after the one before it. What is left over is
    not built; the first rollout then asks for the environments of a stage, which may or may not divide.
    """
    processes = work.processes("env")
    if not processes or total % processes or total % (processes * stages) == 0 or pipelined:
        return CHECKED, True
    each = total // processes // stages
    if not each or each % groups:
        return CHECKED, True
    lets = f"RLinf's own check of the stages ({total} % {processes} % {stages}) lets it pass"
    for name, others in (("env", processes), ("rollout", work.processes("rollout") or 1)):
        if total // stages % others:
            fails = f"the first rollout fails, as the {total // stages} of one stage {do(total // stages)} not divide among {others} processes of {name}"
            return f"{lets}; {fails}", _routed(work)
    return f"{lets} and leaves {total - each * processes * stages} of the {total} environments unbuilt", False


def _routed(work: Work) -> bool:
    """Is rollout the kind of worker that is known to ask for its environments by this arithmetic?"""
    backend = work.settings.word("rollout.rollout_backend", SHARES)
    return backend in ("", "huggingface") and work.settings.flag("runner.rtc.enabled", SHARES) is False


def _rewarded_environments(work: Work, total: Amount, stages: Amount) -> None:
    if work.until("0.3"):
        return
    used = work.settings.flag("reward.use_reward_model", SETTING)
    alone = work.settings.flag("reward.standalone_realworld", SETTING)
    if used and alone is False:
        work.share("reward", total, 1, "", WHAT, "RLinf notices it when the reward workers have started")


def batches(work: Work) -> None:
    """The shares of the actor, and findings about what else must divide."""
    task = work.mode.task
    check_settings(facts_of(work), BATCHES)
    if not task or task.endswith("_eval"):
        return
    backend = work.settings.word("actor.training_backend", SHARES)
    if task in REASONING:
        _reasoning(work, backend)
    elif backend == "fsdp":
        all_ = work.settings.whole("actor.global_batch_size", SHARES)
        micro = work.settings.whole("actor.micro_batch_size", SHARES)
        _fsdp(work, all_, micro)
        if task == "embodied" and all_:
            _updates(work, all_)
        if all_ and micro:
            on_processes(work, all_.value, micro, all_)


def _fsdp(work: Work, all_: Amount | None, micro: Amount | None) -> None:
    if all_ and micro:
        work.share("actor", all_, micro.value, micro.name if micro.value > 1 else "", "samples", CHECKED)


def _reasoning(work: Work, backend: str | None) -> None:
    """The global batch is computed: rollout_batch_size x group_size // n_minibatches, rounded down."""
    settings = work.settings
    prompts, group = settings.whole("data.rollout_batch_size", SHARES), settings.whole("algorithm.group_size", SHARES)
    parts = settings.whole("algorithm.n_minibatches", SHARES, 1)
    micro = settings.whole("algorithm.training_batch_size_per_gpu", SHARES, 1)
    if not prompts or not group or not parts or not micro:
        return
    samples = prompts.value * group.value
    name = f"{prompts.name} x {group.name}"
    batch = prompted(work, prompts, group, parts)
    if work.mode.task == "reasoning":
        _rewarded_prompts(work, prompts)
    if backend == "fsdp":
        on_processes(work, batch, micro)
        _fsdp(work, Amount(samples // parts.value, f"{name} // {parts.name}" if parts.value > 1 else name, prompts.scalar), micro)
    elif backend == "megatron":
        _megatron(work, prompts, group, batch, micro)


def _rewarded_prompts(work: Work, prompts: Amount) -> None:
    """What comes to a process of `reward` are whole groups, and it stops when it has more of them than its share of all samples.

    Some programs with agent loops never start it, as those of several agents, of which nothing is said. Source: RLinf,
    rlinf/workers/reward/reward_worker.py, RewardWorker.compute_rewards; examples/agent/wideseek_r1/train.py.
    """
    if work.mode.placer in (Placer.MULTI_AGENT, Placer.MULTI_AGENT_EVAL):
        return
    settings = work.settings
    proved = settings.at("agentloop") is None and settings.at("agentlightning") is None and not work.notes.partial
    work.share(
        "reward", prompts, 1, "", "prompts", "RLinf notices it in the first step, when the reward workers count what they got", proved
    )


def _megatron(work: Work, prompts: Amount, group: Amount, batch: int, micro: Amount) -> None:
    """All samples divide among the data parallel replicas of what trains, and of what computes probabilities on ranks of its own."""
    processes, parallel = work.processes("actor"), trained(work.settings, "actor").parallel
    _replicated(work, "actor", parallel, prompts, group)
    if processes and parallel and not processes % parallel.replica:
        on_replicas(work, batch, micro, processes // parallel.replica)
    for name, its in inferring(work):
        component = work.component(name)
        # One that is planned has them with its times: it may do its work in other degrees.
        if component and (component.runs is not None or not component.timed):
            _replicated(work, name, its.parallel, prompts, group)


def _replicated(work: Work, name: str, parallel: Parallel | None, prompts: Amount, group: Amount) -> None:
    """All samples divide among the replicas of one component."""
    processes, component = work.processes(name), work.component(name)
    timed = component.timed if component else None
    planned = timed is not None and timed.samples == prompts.value * group.value  # they divide with whatever degrees are chosen
    if parallel and component and component.runs is None and not planned:
        # So that they divide among as many replicas as it gets.
        samples, what = prompts.value * group.value * parallel.replica, "samples times tp x pp x cp" if parallel.replica > 1 else "samples"
        work.share(name, Amount(samples, f"{prompts.name} x {group.name}", prompts.scalar), 1, "", what, "")
    if not processes or not parallel or processes % parallel.replica:
        return
    replicas, samples = processes // parallel.replica, prompts.value * group.value
    if samples % replicas:
        message = (
            f"{with_noun(samples, 'sample')} ({prompts.name} x {group.name}) {do(samples)} not divide among {replicas} replicas of `{name}`"
        )
        message += f"; RLinf notices this only when {'the actor' if name == 'actor' else f'`{name}`'} has started"
        work.notes.error(DEMANDS, name, message, prompts.span or work.top, "", _nearest(prompts, group.value, replicas))


def _nearest(amount: Amount, factor: int, divisor: int) -> str:
    """Values of an amount near to its own that divide, times a factor."""
    step = next(each for each in range(1, divisor + 1) if each * factor % divisor == 0)
    lower, upper = amount.value // step * step, -(-amount.value // step) * step
    return f"set `{amount.name}` to " + (f"{lower} or {upper}" if lower else str(upper))


def _updates(work: Work, all_: Amount) -> None:
    """An epoch of rollouts is a whole number of global batches; only the plain policy losses are known to demand it.

    Source: RLinf, rlinf/workers/actor/embodied_fsdp_actor_worker.py, EmbodiedFSDPActor.run_training.
    """
    settings, found = work.settings, phases(work)
    plain = settings.word("algorithm.loss_type", DEMANDS) in ("actor", "actor_critic")
    if not plain or not found or not found.train or settings.flag("runner.use_training_pipeline", DEMANDS) is not False:
        return
    total, steps = settings.whole("env.train.total_num_envs", DEMANDS), settings.whole("env.train.max_steps_per_rollout_epoch", DEMANDS)
    own = settings.at("env.train.rollout_epoch") is not None and not work.until("0.3")
    epochs = settings.whole("env.train.rollout_epoch" if own else "algorithm.rollout_epoch", DEMANDS, 1)
    chunk = settings.whole("actor.model.num_action_chunks", DEMANDS)
    if not total or not steps or not epochs or not chunk:
        return
    samples = acted(work, total, epochs, steps, chunk, all_)
    if samples % all_.value:
        message = f"an epoch of rollouts gives {with_noun(samples, 'sample')} ({with_noun(total.value, 'environment')} x {with_noun(epochs.value, 'epoch')} x "
        message += f"{with_noun(steps.value // chunk.value, 'chunk')}), no multiple of {all_.said}; RLinf's actor fails at its first update"
        nearest = next(size for size in range(min(all_.value, samples), 0, -1) if samples % size == 0)
        help = f"set `{all_.name}` to {nearest}, or another divisor of {samples}"
        work.notes.warn(DEMANDS, "actor", message, all_.span or work.top, f"no divisor of {samples}", help)
