"""How long parts of a worker's work take: measured where they are, asked for by their names."""

from __future__ import annotations

import functools
import inspect
import sys
import time
from typing import Any, Callable, ContextManager


class Timed:
    """Workers that measure what they do. Source of the form: RLinf, rlinf/scheduler/worker/worker.py."""

    @property
    def _timer_metrics(self) -> dict[str, float]:
        found: dict[str, float] = self.__dict__.setdefault("_placewright_timers", {})
        return found

    def worker_timer(self, tag: str | None = None, trace: bool = True) -> ContextManager[None]:
        """Adds the seconds of its block to those of `tag`; by default, the name of the function that the block is in.

        `trace` has no effect: no traces are kept here.
        """
        return _Measured(self._timer_metrics, tag)

    @staticmethod
    def timer(tag: str | None = None, trace: bool = True) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """A decorator of methods, coroutines too, that measures each call under `tag`, or the name of the method."""

        def decorated(method: Callable[..., Any]) -> Callable[..., Any]:
            label = tag or method.__name__
            if inspect.iscoroutinefunction(method):

                @functools.wraps(method)
                async def measured_async(self: Any, *arguments: Any, **named: Any) -> Any:
                    with _Measured(self._timer_metrics, label):
                        return await method(self, *arguments, **named)

                return measured_async

            @functools.wraps(method)
            def measured(self: Any, *arguments: Any, **named: Any) -> Any:
                with _Measured(self._timer_metrics, label):
                    return method(self, *arguments, **named)

            return measured

        return decorated

    def pop_execution_time(self, tag: str) -> float:
        """The seconds of a tag since they were last asked for. Raises ValueError if nothing was measured under it."""
        if tag not in self._timer_metrics:
            known = ", ".join(f"`{name}`" for name in self._timer_metrics) or "nothing"
            raise ValueError(f"nothing was measured as `{tag}`, but {known}; write `with self.worker_timer({tag!r}):`")
        return self._timer_metrics.pop(tag)

    def pop_execution_times(self) -> dict[str, float]:
        """tag -> seconds, of all that was measured since it was last asked for."""
        found = dict(self._timer_metrics)
        self._timer_metrics.clear()
        return found


class _Measured:
    """Adds the seconds of its block to those of a tag; by default the name of the function that the block is in.

    Only here is that function the caller: Ray puts functions of its own around every method of an actor's class.
    """

    def __init__(self, seconds: dict[str, float], tag: str | None) -> None:
        self._seconds = seconds
        self._tag = tag or ""
        self._began = 0.0

    def __enter__(self) -> None:
        self._tag = self._tag or sys._getframe(1).f_code.co_name
        self._began = time.perf_counter()

    def __exit__(self, *_: object) -> None:
        self._seconds[self._tag] = self._seconds.get(self._tag, 0.0) + time.perf_counter() - self._began
