"""Result of a call of an RLinf group, with the seconds of each rank."""

from __future__ import annotations

from statistics import fmean
from typing import Any, Callable, Iterator, Mapping, Sequence

from ...failure import LaunchFailed, build_refusal, quote_names
from ...port.port import Ticket
from ...workers.calls import Results
from ...workers.group import WorkerGroup

REDUCTIONS: Mapping[str, Callable[[Sequence[float]], float]] = {"max": max, "min": min, "mean": fmean}
"""Reductions of the seconds of several ranks to a single number."""


class WorkerGroupFuncResult(Results):
    """Results of a call on some ranks of a group.

    Measured times (see Worker.worker_timer) are queried from the same ranks. While waiting it
    raises the failure of any other unawaited call on the same cluster: groups that wait for each
    other would wait forever. Source: RLinf, rlinf/scheduler/worker/worker_group.py, which queries
    the measured times of all ranks of the group.
    """

    def __init__(self, group: WorkerGroup, tickets: Mapping[Ticket, int], method: str, timeout: float | None = None) -> None:
        super().__init__(group, tickets, method, timeout)
        self._whole = group
        self._raised = False

    @property
    def settled(self) -> bool:
        """True if all answers arrived, or if this object raised the failure itself."""
        return self._raised or (not self._pending and self.failure is None)

    def _arriving(self, timeout: float | None) -> Iterator[int]:
        try:
            yield from super()._arriving(timeout)
        except LaunchFailed as failure:
            self._raised = failure is self.failure
            raise

    def consume_duration(self, reduction_type: str = "max") -> float:
        """Return the seconds measured under the method's name: ``max``, ``min`` or ``mean`` over
        the ranks.

        Waits for the call. Raises LaunchFailed (PW709) if a rank has not measured it, ValueError
        (PW718) for another reduction, and as `wait`.
        """
        reduce = _reduction(reduction_type)
        self.wait()
        return float(reduce(self._ask("pop_execution_time", self.method)))

    def consume_durations(self, reduction_type: str = "max", return_per_rank: bool = False) -> Any:
        """Wait; return tag -> reduced seconds, with those of ranks if asked."""
        reduce = _reduction(reduction_type)
        self.wait()
        per_rank: list[dict[str, float]] = self._ask("pop_execution_times")
        tags = dict.fromkeys(tag for times in per_rank for tag in times)
        seconds_of_tag = {tag: float(reduce([times[tag] for times in per_rank if tag in times])) for tag in tags}
        return (seconds_of_tag, per_rank) if return_per_rank else seconds_of_tag

    def _ask(self, method: str, *arguments: Any) -> list[Any]:
        return self._whole.on(list(self.ranks)).call(method, *arguments)


def _reduction(name: str) -> Callable[[Sequence[float]], float]:
    if name not in REDUCTIONS:
        message = f"the seconds of several ranks cannot be reduced by `{name}`"
        raise build_refusal("PW718", name, message, f"name one of {quote_names(REDUCTIONS)}")
    return REDUCTIONS[name]
