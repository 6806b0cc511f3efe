"""The samples of a step, dealt out to agents and to ranks.

Source: verl, verl/utils/config.py (validate_config); verl/protocol.py (DataProto.chunk), verl/experimental/agent_loop/agent_loop.py (generate_sequences),
verl/trainer/ppo/ray_trainer.py (_balance_batch).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd, lcm

from .....findings.wording import are, do, plural, with_noun
from ...entries import Kind
from ...entries.programs import FULLY_ASYNC
from ..degrees import is_engine
from ..notices import AT_START, FIRST_STEP
from ..ranks import data_parallel
from ..work import LOOPS, SHARES, Work, nearest

ACTOR, ROLLOUT = "actor_rollout_ref.actor", "actor_rollout_ref.rollout"
PROMPTS, DRAWN = "data.train_batch_size", "data.gen_batch_size"
EACH, DYNAMIC = f"{ROLLOUT}.n", f"{ACTOR}.use_dynamic_bsz"


@dataclass(frozen=True)
class Dealing:
    """The samples must divide among `parts`: `to` says what these are, `when` verl would notice."""

    component: str
    parts: int
    to: str
    when: str


def judge_batches(work: Work) -> None:
    """The samples of a step divide among all that get a part of them."""
    if work.setup.entry.kind not in (Kind.HYBRID, Kind.SEPARATE, Kind.SPLIT) or work.setup.entry.program == FULLY_ASYNC.program:
        return
    prompts, each, dynamic = work.amount(PROMPTS, SHARES), work.amount(EACH, SHARES), work.settings.flag(DYNAMIC, SHARES)
    drawn = work.amount(DRAWN, SHARES) or prompts
    if not prompts or not each or not drawn:
        return
    trained = prompts if work.setup.entry.own_trainer else drawn  # such trainers draw until there is enough
    dealings = [(prompts, dealing) for dealing in _at_start(work, dynamic)] + [(trained, dealing) for dealing in _to_ranks(work)]
    dealings += [(drawn, dealing) for dealing in (*_to_agents(work), *_to_scorers(work))]
    told: set[tuple[str, int, str]] = set()
    for amount, dealing in dealings:
        samples, key = amount.value * each.value, (amount.name, dealing.parts, dealing.component)
        if samples % dealing.parts and key not in told:
            told.add(key)
            step = lcm(*(other.parts for its, other in dealings if its.name == amount.name))
            better = nearest(amount.value, step // gcd(step, each.value))
            edit = amount.becomes(min(better, key=lambda value: abs(value - amount.value)))
            message = (
                f"{with_noun(samples, 'sample')} ({work.said(amount)} x {work.said(each)}) {do(samples)} not divide among {dealing.to}: "
            )
            message += f"{samples % dealing.parts} {are(samples % dealing.parts)} left over"
            work.tell(SHARES, dealing.component, message, amount.span or each.span, work.set(amount, *better), edit, "", dealing.when)
    groups = _groups(work)
    if groups and trained.value % groups:
        message = f"{work.said(trained)} {plural('group', trained.value)} of samples with a common prefix {do(trained.value)} not divide among the {groups} data parallel ranks of actor"
        help_ = work.set(trained, *nearest(trained.value, groups))
        work.tell(SHARES, "actor", message, trained.span, help_, None, f"{trained.value % groups} left over", FIRST_STEP)


def _at_start(work: Work, dynamic: bool | None) -> list[Dealing]:
    """What verl counts at the start: the accelerators, or with Megatron the micro batches of all data parallel ranks."""
    count, parallel, strategy = work.setup.world_size("actor"), data_parallel(work, "actor"), work.is_trained_by(ACTOR)
    if dynamic is not False or not count or not work.is_checked_at_start:
        return []
    if strategy == "megatron" and parallel and (micro := work.amount(f"{ACTOR}.ppo_micro_batch_size_per_gpu", SHARES)):
        to = f"{with_noun(parallel, 'data parallel rank')} in micro batches of {micro.value}"
        return [Dealing("actor", parallel * micro.value, to, AT_START)]
    return [Dealing("actor", count, f"the {count} accelerators of the trainer", AT_START)] if strategy == "fsdp" else []


def _to_ranks(work: Work) -> list[Dealing]:
    """Every role deals the samples of a step out to its data parallel ranks."""
    found: dict[int, Dealing] = {}
    for name in ("actor", "critic", "reward_model"):
        parallel = data_parallel(work, name) if work.setup.component(name) and not is_engine(work, name) else None
        if parallel:
            found.setdefault(parallel, Dealing(name, parallel, f"the {parallel} data parallel ranks of {name}", FIRST_STEP))
    return list(found.values())


def samples_of_step(work: Work) -> int | None:
    """The samples that are trained on in a step; None where that is not known."""
    each = work.amount(EACH, SHARES)
    if work.setup.entry.program == FULLY_ASYNC.program:
        mini, batches = work.amount(f"{ACTOR}.ppo_mini_batch_size", SHARES), work.amount("async_training.require_batches", SHARES)
        return mini.value * batches.value * each.value if mini and batches and each else None
    drawn = (None if work.setup.entry.own_trainer else work.amount(DRAWN, SHARES)) or work.amount(PROMPTS, SHARES)
    return drawn.value * each.value if drawn and each else None


def _to_scorers(work: Work) -> list[Dealing]:
    """A reward model in the pool of the trainer is asked by workers that each get a part of the samples."""
    if not work.setup.component("reward_model") or not is_engine(work, "reward_model"):
        return []
    workers, own = work.amount("reward_model.num_workers", SHARES), work.settings.flag("reward_model.enable_resource_pool", SHARES)
    if workers is None or own is not False:
        return []
    return [Dealing("reward_model", workers.value, f"{workers.value} reward loop workers (`{workers.name}`)", FIRST_STEP)]


def _to_agents(work: Work) -> list[Dealing]:
    agents = work.amount(f"{ROLLOUT}.agent.num_workers", SHARES)
    if agents is None or work.setup.entry.kind not in LOOPS or work.setup.component("rollout") is None:
        return []
    default = ", its default" if agents.span is None else ""
    return [Dealing("rollout", agents.value, f"{agents.value} agent loop workers (`{agents.name}`{default})", FIRST_STEP)]


def _groups(work: Work) -> int:
    """Data parallel ranks among which whole groups of samples must be dealt out; 0 if groups may be torn."""
    flags = (work.settings.flag(f"{ACTOR}.use_prefix_grouper", SHARES), work.settings.flag("trainer.balance_batch", SHARES))
    return (data_parallel(work, "actor") or 0) if all(flags) and work.setup.entry.kind is Kind.HYBRID else 0
