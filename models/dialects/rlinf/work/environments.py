"""Environments are dealt out to the env processes, in stages and groups, and routed to rollout, reward and actor.

Source: RLinf, rlinf/config.py (validate_embodied_cfg, validate_offline_cfg), rlinf/workers/env/env_worker.py,
rlinf/scheduler/worker/routing.py (CommMapper), rlinf/workers/rollout/hf/huggingface_worker.py, rlinf/workers/reward/reward_worker.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import lcm

from ....component import NOT_FEWER, Relation
from ....configuration.settings import Amount
from ....findings.wording import do, with_noun
from .shares import SHARES, Work

TASKS = ("embodied", "embodied_eval", "offline")
WHAT = "environments"
CHECKED = "RLinf checks it once Ray is up and all nodes have joined"
_MODE = "PW123"


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
    return Phases(work.mode.task == "embodied" and not only, evaluates)


def environments(work: Work) -> None:
    """The shares and relations of an embodied job."""
    if work.mode.task not in TASKS or "env" not in work.mode.placed:
        return
    found = phases(work)
    stages = work.settings.whole("rollout.pipeline_stage_num", SHARES)
    if found is None or stages is None or not (found.train or found.evaluate):
        return
    decoupled = work.mode.task != "offline" and work.settings.flag("runner.enable_decoupled_mode", SHARES)
    if decoupled:
        work.must_be_one(stages, "`runner.enable_decoupled_mode`")
        if work.component("rollout"):
            work.relations.append(Relation(NOT_FEWER, ("env", "rollout"), None, "RLinf's decoupled mode"))
    if found.train:
        total = _total(work, "train", stages)
        if total:
            _dealt_out(work, "train", total, stages, bool(decoupled))
            _rewarded(work, total, stages)
    if found.evaluate:
        total = _total(work, "eval", stages)
        if total:
            _dealt_out(work, "eval", total, stages, bool(decoupled))


def _total(work: Work, phase: str, stages: Amount) -> Amount | None:
    groups = work.settings.whole(f"env.{phase}.group_size", SHARES, 1)
    fits = (work.processes("env") or 1) * stages.value * (groups.value if groups else 1)
    return work.settings.whole(f"env.{phase}.total_num_envs", SHARES, fits=lcm(fits, (work.processes("rollout") or 1) * stages.value))


def _dealt_out(work: Work, phase: str, total: Amount, stages: Amount, decoupled: bool) -> None:
    groups = work.settings.whole(f"env.{phase}.group_size", SHARES, 1)
    if groups is None:
        return
    _staged(work, phase, total, stages)
    pipelined = phase == "train" and work.settings.flag("runner.use_training_pipeline", SHARES)
    named = [amount.name for amount in (stages, groups) if amount.value > 1]
    reason, proved = _verdict(work, total.value, stages.value, groups.value, bool(pipelined))
    work.share("env", total, stages.value * groups.value, " x ".join(named), WHAT, reason, proved)
    if pipelined:
        work.share("actor", total, 1, "", WHAT, "RLinf notices it when the env processes are constructed (`runner.use_training_pipeline`)")
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


def _rewarded(work: Work, total: Amount, stages: Amount) -> None:
    used = work.settings.flag("reward.use_reward_model", _MODE)
    alone = work.settings.flag("reward.standalone_realworld", _MODE)
    if used and alone is False:
        work.must_be_one(stages, "`reward.use_reward_model`")
        work.share("reward", total, 1, "", WHAT, "RLinf notices it when the reward workers have started")
