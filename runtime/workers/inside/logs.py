"""Logs and timers of workers."""

from __future__ import annotations

import functools
import inspect
import logging
import os
import sys
import time
from typing import Any, Callable, ContextManager


class _OfThisProcess:
    """Logger named after the worker, unless a value was assigned."""

    def __get__(self, instance: object | None, owner: type) -> logging.Logger:
        name = os.environ.get("WORKER_NAME")
        logger = logging.getLogger(name or owner.__name__)
        if name and not logger.hasHandlers():
            handler = logging.StreamHandler()
            handler.setFormatter(logging.Formatter("[%(levelname)s %(asctime)s %(name)s] %(message)s"))
            logger.addHandler(handler)
            level = os.environ.get("RLINF_LOG_LEVEL", "INFO").upper()
            logger.setLevel(level if level in logging._nameToLevel else logging.INFO)
        return logger


class Logged:
    """Logging to standard error from RLINF_LOG_LEVEL (default INFO).

    A program's own logging setup takes precedence.

    Source of the form: RLinf, rlinf/scheduler/worker/worker.py.
    """

    rank: object
    world_size: object
    logger = _OfThisProcess()
    _logger = _OfThisProcess()

    def log_debug(self, msg: object) -> None:
        """Log at level DEBUG."""
        self._logger.debug(msg, stacklevel=2)

    def log_info(self, msg: object) -> None:
        """Log at level INFO."""
        self._logger.info(msg, stacklevel=2)

    def log_warning(self, msg: object) -> None:
        """Log at level WARNING."""
        self._logger.warning(msg, stacklevel=2)

    def log_error(self, msg: object) -> None:
        """Log at level ERROR."""
        self._logger.error(msg, stacklevel=2)

    def log_on_first_rank(self, msg: object) -> None:
        """Log once per group, in rank 0."""
        if int(os.environ["RANK"]) == 0:
            self._logger.info(msg, stacklevel=2)

    def log_on_last_rank(self, msg: object) -> None:
        """Log once per group, in the last rank."""
        if int(os.environ["RANK"]) == int(os.environ["WORLD_SIZE"]) - 1:
            self._logger.info(msg, stacklevel=2)


class TimedBlocks:
    """Workers that measure times. Source of the form: RLinf, rlinf/scheduler/worker/worker.py."""

    @property
    def _timer_metrics(self) -> dict[str, float]:
        seconds: dict[str, float] = self.__dict__.setdefault("_placewright_timers", {})
        return seconds

    def worker_timer(self, tag: str | None = None, trace: bool = True) -> ContextManager[None]:
        """Add the seconds of the block to `tag`, by default the enclosing function's name.

        `trace` is ignored: no traces are recorded.
        """
        return _Measured(self._timer_metrics, tag)

    @staticmethod
    def timer(tag: str | None = None, trace: bool = True) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Decorate a method (or coroutine) to measure calls under `tag`, or the method's name."""

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
        """Return and reset the seconds of a tag.

        Raises ValueError if nothing was measured under it.
        """
        if tag not in self._timer_metrics:
            known = ", ".join(f"`{name}`" for name in self._timer_metrics) or "nothing"
            raise ValueError(f"nothing was measured as `{tag}`, but {known}; write `with self.worker_timer({tag!r}):`")
        return self._timer_metrics.pop(tag)

    def pop_execution_times(self) -> dict[str, float]:
        """Return and reset all measurements: tag -> seconds."""
        seconds = dict(self._timer_metrics)
        self._timer_metrics.clear()
        return seconds


class _Measured:
    """Context manager that adds a block's seconds to a tag, by default the caller's name.

    Only here is that function the caller: Ray wraps every method of an actor's class.
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
