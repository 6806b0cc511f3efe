"""The host inside a worker's process, which holds one object of the user's class.

This file is sent to the workers by value, so their nodes need Ray but not placewright. It imports
only the standard library, Ray and code that is sent along, and returns only plain data. The host's
methods have long names because they stand beside those of the user's class.
"""

from __future__ import annotations

import asyncio
import ctypes
import importlib
import inspect
import json
import logging
import os
import socket
import sys
import traceback
from contextlib import contextmanager, suppress
from typing import Any, Iterator

from .on_node import uuids

EXTENSION = "RLINF_EXT_MODULE"


def prepare() -> None:
    """Import RLINF_EXT_MODULE and call its `register()`, if there is one.

    A failed import is logged, exceptions of `register` propagate. Source: RLinf,
    rlinf/scheduler/cluster/utils.py, `load_user_extension_module`.
    """
    name = os.environ.get(EXTENSION)
    if not name:
        return
    log = logging.getLogger(os.environ.get("WORKER_NAME", EXTENSION))
    try:
        extension = importlib.import_module(name)
    except ImportError as problem:
        log.warning("%s names `%s`, which cannot be imported: %s", EXTENSION, name, problem)
        return
    if hasattr(extension, "register"):
        extension.register()
    else:
        log.warning("%s names `%s`, which has no register()", EXTENSION, name)


LOG = "PLACEWRIGHT_LOG"


def keep_output(path: str) -> None:
    """Append to a file, from now on, what this process prints."""
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
        os.dup2(file, stream.fileno())
    os.close(file)


_PR_SET_CHILD_SUBREAPER = 36


def adopt_orphans() -> None:
    """Make this process the parent of what its children detach (on Linux alone).

    Ray ends the children of a worker with it. Ray's own switch for detached processes ignores
    SIGCHLD, after which `subprocess` in the worker reports 0 for every exit code.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


UNIMPORTABLE, UNWRITABLE = "unimportable", "unwritable"
MEETING_PORTS = range(20_000, 32_768)
SETTLE, BORN, CONSTRUCT = "_placewright_settle", "_placewright_born", "_placewright_construct"
REPORT, INVOKE, WRITE = "_placewright_report", "_placewright_invoke", "_placewright_write"


def meeting_port(pid: int) -> int:
    """Find a free TCP port on this node outside the ranges of automatic assignment.

    The system assigns ports above this range (Linux: ip_local_port_range), Ray below it (its worker
    ports end at 19999). Processes of a node start the search at different ports, because their ids
    differ. If no port of the range is free, the system chooses.
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


@contextmanager
def _printed_failure() -> Iterator[None]:
    """Print the traceback of an exception, which Ray only sends to the caller.

    `SystemExit`, such as argparse's, would look like a process that was killed, and
    `KeyboardInterrupt` like a call that was cancelled: RuntimeError.
    """
    try:
        yield
    except (Exception, SystemExit, KeyboardInterrupt) as problem:
        with suppress(OSError):  # a full disk under the output must not take the place of the exception
            traceback.print_exc()
        if not isinstance(problem, Exception):
            raise RuntimeError(f"{type(problem).__name__}: {problem}") from problem
        raise


class Reporter:
    """Default worker class: reports the environment of its process."""

    def environment(self) -> dict[str, str]:
        """Return the environment variables of this process."""
        return dict(os.environ)


class Host:
    """Process of a component: receives environment variables, then constructs the user's class."""

    def __init__(self, paths: list[str]) -> None:
        sys.path[:0] = [path for path in paths if path not in sys.path]
        adopt_orphans()
        self._placewright_worker: Any = None

    def _placewright_settle(self, environment: dict[str, str]) -> dict[str, object]:
        """Set the environment and report the visible devices, before any code of the user runs."""
        os.environ.update(environment)
        if LOG in environment:
            try:
                keep_output(environment[LOG])
            except OSError as problem:
                return {UNWRITABLE: f"`{environment[LOG]}` cannot be written: {problem.strerror}"}
        return {**self._placewright_report(), "devices": uuids()}

    def _placewright_born(self) -> dict[str, object]:
        """Return a proof of life: process id, and a TCP port of this node for the rendezvous."""
        return {"pid": os.getpid(), "port": meeting_port(os.getpid())}

    def _placewright_construct(
        self, name: str, arguments: tuple[Any, ...], keywords: dict[str, Any], first: dict[str, object]
    ) -> dict[str, object]:  # fmt: skip
        """Construct the user's class, whose environment is set already, and return the report.

        `name`: its ``module:Class``; "" for the class that this one was derived from. `first` is
        the proof of life of rank 0: its port is the rendezvous of all. Exceptions of the
        constructor propagate; a missing module or class is reported as data.
        """
        os.environ["MASTER_PORT"] = str(first["port"])
        prepare()
        worker = None
        if name:
            module, _, cls = name.partition(":")
            try:
                worker = getattr(importlib.import_module(module), cls)
            except (ImportError, AttributeError) as problem:
                return {UNIMPORTABLE: f"{type(problem).__name__}: {problem}"}
        with _printed_failure():
            self._placewright_become(worker, arguments, keywords)
        return self._placewright_report()

    def _placewright_become(self, worker: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> None:
        self._placewright_worker = worker(*arguments, **keywords)

    def _placewright_report(self) -> dict[str, object]:
        """Report the actual Ray node, host name, process id and whole environment."""
        import ray

        node = ray.get_runtime_context().get_node_id()
        return {"node": node, "host": socket.gethostname(), "pid": os.getpid(), "environment": dict(os.environ)}

    def _placewright_invoke(self, method: str, /, *arguments: Any, **keywords: Any) -> Any:
        """Call a method of the user's object; run a coroutine to its end."""
        with _printed_failure():
            result = getattr(self._placewright_worker, method)(*arguments, **keywords)
            return asyncio.run(result) if inspect.iscoroutine(result) else result

    def _placewright_write(self, method: str, returns_result: bool) -> str:
        """Call a method of the user's object; return the result as JSON, "" unless `returns_result`.

        Thus the calling process need not know the classes of the user.
        """
        result = self._placewright_invoke(method)
        return write_json(result) if returns_result else ""


def write_json(value: object) -> str:
    """Return a value as JSON; what JSON cannot say as Python's text of it."""
    try:
        return json.dumps(value, default=repr, allow_nan=False)
    except (TypeError, ValueError):  # a key that is not text, infinity, not a number, or a value within itself
        return json.dumps(repr(value))
    except RecursionError:
        return json.dumps(object.__repr__(value))


def derive_host(worker: type) -> type:
    """Derive a host from the user's class, whose constructor runs once the environment is set."""

    def become(self: Any, cls: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> None:
        worker.__init__(self, *arguments, **keywords)  # type: ignore[misc]
        self._placewright_worker = self

    body = {"__init__": Host.__init__, "_placewright_become": become, "__module__": worker.__module__, "__doc__": worker.__doc__}
    return type(worker.__name__, (Host, worker), body)
