"""What the asynchronous trainers demand of their numbers.

Source: verl, verl/experimental/fully_async_policy/fully_async_rollouter.py (FullyAsyncRollouter.__init__).
"""

from __future__ import annotations

from math import gcd

from .....findings.wording import are, do, with_noun
from .....text.tree import Scalar
from ...entries.programs import FULLY_ASYNC
from ..notices import FIRST_STEP, IN_ROLLOUTER
from ..ranks import data_parallel
from ..work import MODE, NUMBERS, SHARES, Work, nearest
from .batches import ACTOR, EACH, samples_of_step

EXACT = (("data.train_batch_size", 0), ("data.gen_batch_size", 1))
LOGGED = "actor_rollout_ref.rollout.calculate_log_probs"
LEAST = (("async_training.staleness_threshold", 0), ("async_training.trigger_parameter_sync_step", 1))


def judge_streams(work: Work) -> None:
    """A fully asynchronous job takes its samples one by one."""
    if work.setup.entry.program != FULLY_ASYNC.program:
        return
    _shares(work)
    for key, wanted in EXACT:
        amount = work.amount(key, NUMBERS, least=-(10**9))
        if amount and amount.span is None and amount.value != wanted and not work.is_whole:
            work.setup.notes.unsure(NUMBERS, "rollout", f"`{key}` is not in this file; the command line may set it")
        elif amount and amount.value != wanted:
            message = f"the fully asynchronous trainer demands `{key}` {wanted}, but it is {amount.value}"
            message += " (its default)" if amount.span is None else ""
            work.tell(
                NUMBERS, "rollout", message, amount.span, work.set(amount, wanted), amount.becomes(wanted), f"not {wanted}", IN_ROLLOUTER
            )
    if work.is_whole and work.settings.flag(LOGGED, NUMBERS) is False:
        message = f"`{LOGGED}` is not set, but the fully asynchronous trainer asserts it"
        help_, edit = f"set {work.settings.assigned(LOGGED, True)}", work.settings.becomes(LOGGED, "True")
        work.tell(MODE, "rollout", message, work.settings.place(LOGGED), help_, edit, "", IN_ROLLOUTER)
    for key, least in LEAST:
        value = work.settings.at(key)
        number = value.value if isinstance(value, Scalar) else None
        if isinstance(number, (int, float)) and not isinstance(number, bool) and number < least:
            message = f"`{key}` is {number}, but the fully asynchronous trainer demands at least {least}"
            help_ = f"set {work.settings.assigned(key, least)}"
            work.tell(
                NUMBERS,
                "rollout",
                message,
                work.settings.place(key),
                help_,
                work.settings.becomes(key, str(least)),
                "too small",
                IN_ROLLOUTER,
            )


def _shares(work: Work) -> None:
    """The samples of as many mini batches as a step needs go to the ranks in equal parts."""
    drawn, mini, each = samples_of_step(work), work.amount(f"{ACTOR}.ppo_mini_batch_size", SHARES), work.amount(EACH, SHARES)
    for name in ("actor", "critic"):
        ranks = data_parallel(work, name) if work.setup.component(name) else None
        if drawn and mini and each and ranks and drawn % ranks:
            message = f"the {with_noun(drawn, 'sample')} of a step ({work.said(mini)} x `async_training.require_batches` x {work.said(each)}) {do(drawn)} not divide "
            message += f"among the {ranks} data parallel ranks of {name}: {drawn % ranks} {are(drawn % ranks)} left over"
            better = nearest(mini.value, ranks // gcd(ranks, drawn // mini.value))
            edit = mini.becomes(min(better, key=lambda value: abs(value - mini.value)))
            work.tell(SHARES, name, message, mini.span or each.span, work.set(mini, *better), edit, "", FIRST_STEP)
            return
