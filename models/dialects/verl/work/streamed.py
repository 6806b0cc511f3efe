"""What the asynchronous trainers demand of their numbers.

Source: verl, verl/experimental/fully_async_policy/fully_async_rollouter.py (FullyAsyncRollouter.__init__).
"""

from __future__ import annotations

from ....text.tree import Scalar
from ..entries.programs import FULLY_ASYNC
from .notices import IN_ROLLOUTER
from .work import NUMBERS, Work

EXACT = (("data.train_batch_size", 0), ("data.gen_batch_size", 1))
LEAST = (("async_training.staleness_threshold", 0), ("async_training.trigger_parameter_sync_step", 1))


def judge_streams(work: Work) -> None:
    """A fully asynchronous job takes its samples one by one."""
    if work.setup.entry.program != FULLY_ASYNC.program:
        return
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
