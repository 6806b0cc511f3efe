"""What a call of an RLinf group gives: the results, and how long the ranks took."""

from __future__ import annotations

from statistics import fmean
from typing import Any, Callable, Iterator, Mapping, Sequence

from ..failure import LaunchFailed
from ..port.port import Ticket
from ..refusal import refused
from ..workers.group import WorkerGroup
from ..workers.results import Results

REDUCTIONS: Mapping[str, Callable[[Sequence[float]], float]] = {"max": max, "min": min, "mean": fmean}
"""How the seconds of several ranks become one number."""


class WorkerGroupFuncResult(Results):
    """The results of one call on some ranks of a group. What those measured (see Worker.worker_timer) is asked of the same ranks.

    Where it waits and another call on the same cluster fails, which nobody has waited for, the failure of that call is raised: groups
    that wait for each other would wait for ever.

    Source: RLinf, rlinf/scheduler/worker/worker_group.py. There the measured times are asked of all ranks of the group.
    """

    def __init__(self, group: WorkerGroup, tickets: Mapping[Ticket, int], method: str, timeout: float | None = None) -> None:
        super().__init__(group, tickets, method, timeout)
        self._whole = group
        self._raised = False

    @property
    def settled(self) -> bool:
        """Are all answers there, or was the failure raised by this object itself?"""
        return self._raised or (not self._pending and self.failure is None)

    def _arriving(self, timeout: float | None) -> Iterator[int]:
        try:
            yield from super()._arriving(timeout)
        except LaunchFailed as failure:
            self._raised = failure is self.failure
            raise

    def consume_duration(self, reduction_type: str = "max") -> float:
        """The seconds that were measured under the name of the method, when it is done: ``max``, ``min`` or ``mean`` over the ranks.

        Raises LaunchFailed (PW709) if a rank has not measured it, ValueError (PW718) for another reduction, and as `wait`.
        """
        reduce = _reduction(reduction_type)
        self.wait()
        return float(reduce(self._told("pop_execution_time", self.method)))

    def consume_durations(self, reduction_type: str = "max", return_per_rank: bool = False) -> Any:
        """tag -> seconds of all that was measured, when it is done; with `return_per_rank`, that and what each rank measured."""
        reduce = _reduction(reduction_type)
        self.wait()
        each: list[dict[str, float]] = self._told("pop_execution_times")
        tags = dict.fromkeys(tag for its in each for tag in its)
        reduced = {tag: float(reduce([its[tag] for its in each if tag in its])) for tag in tags}
        return (reduced, each) if return_per_rank else reduced

    def _told(self, method: str, *arguments: Any) -> list[Any]:
        return self._whole.on(list(self.ranks)).ask(method, arguments, {}).wait()


def _reduction(name: str) -> Callable[[Sequence[float]], float]:
    if name not in REDUCTIONS:
        message = f"the seconds of several ranks cannot be reduced by `{name}`"
        raise refused("PW718", name, message, f"name one of {', '.join(f'`{each}`' for each in REDUCTIONS)}")
    return REDUCTIONS[name]
