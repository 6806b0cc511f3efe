"""What runs inside a worker's process: a host that knows where it is and holds one object of the user's class.

This file is sent to the workers as it is, so that their nodes need Ray but not placewright: it imports the standard
library, Ray and what is sent with it alone, and hands back plain data alone. The names of the host's methods are long because they stand beside
those of the user's class.
"""

from __future__ import annotations

import asyncio
import importlib
import inspect
import os
import socket
import sys
from typing import Any

from .prepared import prepare

UNIMPORTABLE = "unimportable"
MEETING_PORTS = range(20_000, 32_768)
SETTLE, BORN, CONSTRUCT = "_placewright_settle", "_placewright_born", "_placewright_construct"
REPORT, INVOKE = "_placewright_report", "_placewright_invoke"


def devices() -> dict[str, str]:
    """Physical id -> UUID of every accelerator of this node, where a driver of NVIDIA's is there to tell them."""
    try:
        pynvml: Any = importlib.import_module("ray._private.thirdparty.pynvml")
    except ImportError:
        return {}
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError:
        return {}
    try:
        handles = [pynvml.nvmlDeviceGetHandleByIndex(number) for number in range(pynvml.nvmlDeviceGetCount())]
        found = [pynvml.nvmlDeviceGetUUID(handle) for handle in handles]
        return {str(number): its.decode() if isinstance(its, bytes) else str(its) for number, its in enumerate(found)}
    except pynvml.NVMLError:
        return {}
    finally:
        pynvml.nvmlShutdown()


def meeting_port(pid: int) -> int:
    """A TCP port that is free on this node, and that nobody is given by chance until it is used.

    The system itself gives away ports above these (Linux: ip_local_port_range), Ray those below (its worker ports end at 19999).
    Processes of one node begin at different ones, because their ids differ. Where none is free, it is one that the system gives.
    """
    for offset in range(len(MEETING_PORTS)):
        port = MEETING_PORTS[(pid + offset) % len(MEETING_PORTS)]
        if _is_free(port):
            return port
    with socket.socket() as probe:
        probe.bind(("", 0))
        return int(probe.getsockname()[1])


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind(("", port))
        except OSError:
            return False
    return True


class Reporter:
    """The worker class that is used if no other is named: it knows its environment and does nothing else."""

    def environment(self) -> dict[str, str]:
        """The environment variables of this process."""
        return dict(os.environ)


class Host:
    """One process of a component: it is given its environment, then it constructs the user's class."""

    def __init__(self, paths: list[str]) -> None:
        sys.path[:0] = [path for path in paths if path not in sys.path]
        self._placewright_worker: Any = None

    def _placewright_settle(self, environment: dict[str, str]) -> dict[str, object]:
        """Sets the environment and reports what the process then sees, before anything of the user's is constructed."""
        os.environ.update(environment)
        return {**self._placewright_report(), "devices": devices()}

    def _placewright_born(self) -> dict[str, object]:
        """Proof of life: the process id, and a TCP port of this node on which the ranks can meet."""
        return {"pid": os.getpid(), "port": meeting_port(os.getpid())}

    def _placewright_construct(
        self, worker: str | type, arguments: tuple[Any, ...], named: dict[str, Any], first: dict[str, object]
    ) -> dict[str, object]:
        """Constructs the user's class, whose environment has been set, and reports what the process then sees.

        `first` is what rank 0 said when it was born: its port is the one on which all meet.
        Whatever the constructor raises comes out of here. A module or class that does not exist is reported as data.
        """
        os.environ["MASTER_PORT"] = str(first["port"])
        prepare()
        if isinstance(worker, str):
            module, _, name = worker.partition(":")
            try:
                worker = getattr(importlib.import_module(module), name)
            except (ImportError, AttributeError) as problem:
                return {UNIMPORTABLE: f"{type(problem).__name__}: {problem}"}
        self._placewright_become(worker, arguments, named)
        return self._placewright_report()

    def _placewright_become(self, worker: Any, arguments: tuple[Any, ...], named: dict[str, Any]) -> None:
        self._placewright_worker = worker(*arguments, **named)

    def _placewright_report(self) -> dict[str, object]:
        """Where this process really is: its Ray node, host name, process id and whole environment."""
        import ray

        node = ray.get_runtime_context().get_node_id()
        return {"node": node, "host": socket.gethostname(), "pid": os.getpid(), "environment": dict(os.environ)}

    def _placewright_invoke(self, method: str, /, *arguments: Any, **named: Any) -> Any:
        """Calls a method of the user's object, to its end if it is a coroutine."""
        result = getattr(self._placewright_worker, method)(*arguments, **named)
        return asyncio.run(result) if inspect.iscoroutine(result) else result


def embodied(worker: type) -> type:
    """A host that is itself an object of the user's class, so that the handle of its actor has that class's methods.

    It is constructed as a host; the user's constructor runs when its environment is set.
    """

    def become(self: Any, cls: Any, arguments: tuple[Any, ...], named: dict[str, Any]) -> None:
        worker.__init__(self, *arguments, **named)  # type: ignore[misc]
        self._placewright_worker = self

    body = {"__init__": Host.__init__, "_placewright_become": become, "__module__": worker.__module__, "__doc__": worker.__doc__}
    return type(worker.__name__, (Host, worker), body)
