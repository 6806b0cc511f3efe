"""Logs, timers, meshes, locks and refusals of workers."""

from __future__ import annotations

import functools
import inspect
import logging
import os
import socket
import sys
import time
from typing import Any, Callable, ContextManager, NoReturn, Sequence

from .information import ClassProperty


def worker_logger(instance: object | None, owner: type) -> logging.Logger:
    """Return the logger named after the worker; outside of a group, after its class."""
    name = os.environ.get("WORKER_NAME")
    logger = logging.getLogger(name or owner.__name__)
    if name and not logger.hasHandlers():
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter("[%(levelname)s %(asctime)s %(name)s] %(message)s"))
        logger.addHandler(handler)
        level = os.environ.get("RLINF_LOG_LEVEL", "INFO").upper()
        logger.setLevel(level if level in logging._nameToLevel else logging.INFO)
    return logger


class LoggingMixin:
    """Logging to standard error from RLINF_LOG_LEVEL (default INFO).

    A program's own logging setup takes precedence.

    Source of the form: RLinf, rlinf/scheduler/worker/worker.py.
    """

    rank: object
    world_size: object
    _logger = logger = ClassProperty(worker_logger)

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


class TimedBlocks:
    """Workers that measure times. Source of the form: RLinf, rlinf/scheduler/worker/worker.py."""

    @property
    def _timer_metrics(self) -> dict[str, float]:
        seconds: dict[str, float] = self.__dict__.setdefault("_placewright_timers", {})
        return seconds

    def worker_timer(self, tag: str | None = None, trace: bool = True) -> ContextManager[None]:
        """Add the block's seconds to `tag`, by default the enclosing function."""
        return _Timer(self._timer_metrics, tag)

    @staticmethod
    def timer(tag: str | None = None, trace: bool = True) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Decorate a method (or coroutine) to measure calls under `tag`, or the method's name."""

        def decorated(method: Callable[..., Any]) -> Callable[..., Any]:
            label = tag or method.__name__
            if inspect.iscoroutinefunction(method):

                @functools.wraps(method)
                async def measured_async(self: Any, *arguments: Any, **keywords: Any) -> Any:
                    with _Timer(self._timer_metrics, label):
                        return await method(self, *arguments, **keywords)

                return measured_async

            @functools.wraps(method)
            def measured(self: Any, *arguments: Any, **keywords: Any) -> Any:
                with _Timer(self._timer_metrics, label):
                    return method(self, *arguments, **keywords)

            return measured

        return decorated

    def pop_execution_time(self, tag: str) -> float:
        """Return and reset the seconds of a tag. Unknown: ValueError."""
        if tag not in self._timer_metrics:
            tags = ", ".join(f"`{name}`" for name in self._timer_metrics) or "nothing"
            raise ValueError(f"no time has the tag `{tag}`, only {tags}: write `with self.worker_timer({tag!r}):`")
        return self._timer_metrics.pop(tag)

    def pop_execution_times(self) -> dict[str, float]:
        """Return and reset all measurements: tag -> seconds."""
        seconds = dict(self._timer_metrics)
        self._timer_metrics.clear()
        return seconds


class _Timer:
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


class OnMeshes:
    """Workers in meshes. Source: verl, verl/single_controller/base/worker.py."""

    def _register_dispatch_collect_info(self, mesh_name: str, dp_rank: int, is_collect: bool) -> None:
        """Register a mesh's data share, and if the answer counts, once."""
        if mesh_name in self._meshes:
            raise ValueError(f"mesh_name {mesh_name} has been registered")
        self._meshes[mesh_name] = dp_rank, is_collect

    def _query_dispatch_info(self, mesh_name: str) -> int:
        """Return the data share in a mesh. Unregistered: ValueError."""
        return self._mesh(mesh_name)[0]

    def _query_collect_info(self, mesh_name: str) -> bool:
        """Return True if the answer counts. Unregistered: ValueError."""
        return self._mesh(mesh_name)[1]

    query_collect_info = _query_collect_info

    def get_dispatch_collect(self) -> dict[str, dict[str, Any]]:
        """Return all registrations in the form of set_dispatch_collect: verl's form."""
        return {
            "dispatch_dp_rank": {name: dp_rank for name, (dp_rank, _) in self._meshes.items()},
            "collect_dp_rank": {name: is_collect for name, (_, is_collect) in self._meshes.items()},
        }

    def set_dispatch_collect(self, mesh_name: str, dispatch_dp_rank: dict[str, int], collect_dp_rank: dict[str, bool]) -> None:
        """Register another worker's single mesh under this name, once."""
        for name, dp_rank in dispatch_dp_rank.items():
            self._register_dispatch_collect_info(mesh_name, dp_rank, collect_dp_rank[name])

    @property
    def _meshes(self) -> dict[str, tuple[int, bool]]:
        meshes: dict[str, tuple[int, bool]] = self.__dict__.setdefault("_dispatch_and_collect", {})
        return meshes

    def _mesh(self, name: str) -> tuple[int, bool]:
        if name not in self._meshes:
            names = ", ".join(self._meshes) or "none"
            raise ValueError(f"mesh_name {name} is not registered in {type(self).__name__}: registered are {names}")
        return self._meshes[name]


FIRST_PAUSE, LONGEST_PAUSE = 0.001, 0.05
PORT_ATTEMPTS = 1000


def take(name: str) -> socket.socket | None:
    """Lock a name until the socket is closed; None if locked. Off Linux: OSError."""
    if sys.platform != "linux":
        raise OSError("locks between the processes of a node need the abstract sockets of Linux")
    lock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        lock.bind(f"\0placewright/{name}")
    except OSError:
        lock.close()
        return None
    return lock


class DeviceLock:
    """Mutual exclusion of processes that share accelerators, by equal `names`."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = sorted(names)  # a common order, so that no two processes wait for each other
        self._held: list[socket.socket] = []

    def acquire(self, timeout: float | None = None) -> None:
        """Wait for all locks; TimeoutError after `timeout` s, RuntimeError if held already."""
        if self._held:
            raise RuntimeError("this worker holds its accelerators already")
        began, pause = time.monotonic(), FIRST_PAUSE
        for name in self.names:
            while (lock := take(name)) is None:
                if timeout is not None and time.monotonic() - began > timeout:
                    self.release()
                    raise TimeoutError(f"`{name}` was not free within {timeout:g} s")
                time.sleep(pause)
                pause = min(2 * pause, LONGEST_PAUSE)
            self._held.append(lock)

    def release(self) -> None:
        """Release the locks. Idempotent."""
        while self._held:
            self._held.pop().close()

    def __enter__(self) -> DeviceLock:
        self.acquire()
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


def free_port(node: str, most: int | None = None) -> int:
    """Return a free TCP port, at most `most`, unique on the node, else RuntimeError."""
    for _ in range(PORT_ATTEMPTS):
        with socket.socket() as probe:
            probe.bind(("", 0))
            port = int(probe.getsockname()[1])
        if most is not None and port > most:
            continue
        if sys.platform != "linux":
            return port
        port_lock = take(f"{node}/port/{port}")
        if port_lock is not None:
            port_lock.detach()  # locked until the process ends; a stored socket could not be pickled with this module
            return port
    raise RuntimeError("no TCP port is free" + ("" if most is None else f" up to {most}"))


MOVING = ("send", "recv", "send_tensor", "recv_tensor", "broadcast", "create_channel", "connect_channel", "send_to", "recv_from")
ASKING = ("manager_proxy", "_manager_proxy", "_collective")
PROFILING = ("start_profile", "stop_profile")


class NotOffered(RuntimeError):
    """Use of an RLinf feature that placewright lacks; the message names the alternative."""


def refusal(name: str) -> Callable[..., NoReturn] | None:
    """Return a function that raises NotOffered (no method: raise it), or None if unknown."""
    if name in ASKING:
        raise NotOffered(f"`{name}` is RLinf's registry of workers, not offered here: find a group with `WorkerGroup.from_group_name`")
    if name not in MOVING and name not in PROFILING:
        return None
    reason = (
        "placewright moves no data between workers: use `torch.distributed` (MASTER_ADDR and MASTER_PORT are set), or Ray"
        if name in MOVING
        else "placewright profiles no workers: use the profiler of your framework"
    )

    def refused(*_: object, **__: object) -> NoReturn:
        raise NotOffered(f"`{name}` is not here: {reason}")

    return refused
