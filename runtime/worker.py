"""What runs inside a worker's process: a host that knows where it is and holds one object of the user's class.

This file is sent to the workers as it is, so that their nodes need Ray but not placewright: it imports the standard
library and Ray alone and hands back plain data alone.
"""

from __future__ import annotations

import importlib
import os
import socket
import sys
from typing import Any

UNIMPORTABLE = "unimportable"


class Reporter:
    """The worker class that is used if no other is named: it knows its environment and does nothing else."""

    def environment(self) -> dict[str, str]:
        """The environment variables of this process."""
        return dict(os.environ)


class Host:
    """One process of a component: it is given its environment, then it constructs the user's class."""

    def __init__(self, paths: list[str]) -> None:
        sys.path[:0] = [path for path in paths if path not in sys.path]
        self._worker: Any = None

    def born(self) -> dict[str, object]:
        """Proof of life: the process id, and a TCP port that is free on this node right now."""
        with socket.socket() as probe:
            probe.bind(("", 0))
            return {"pid": os.getpid(), "port": probe.getsockname()[1]}

    def construct(self, worker: str | type, environment: dict[str, str], first: dict[str, object]) -> dict[str, object]:
        """Constructs the user's class, which finds its environment set, and reports what the process then sees.

        `first` is what rank 0 said when it was born: its port is the one on which all meet.
        Whatever the constructor raises comes out of here. A module or class that does not exist is reported as data.
        """
        os.environ.update(environment, MASTER_PORT=str(first["port"]))
        if isinstance(worker, str):
            module, _, name = worker.partition(":")
            try:
                worker = getattr(importlib.import_module(module), name)
            except (ImportError, AttributeError) as problem:
                return {UNIMPORTABLE: f"{type(problem).__name__}: {problem}"}
        self._worker = worker()  # type: ignore[operator]
        return self.report()

    def report(self) -> dict[str, object]:
        """Where this process really is: its Ray node, host name, process id and whole environment."""
        import ray

        node = ray.get_runtime_context().get_node_id()
        return {"node": node, "host": socket.gethostname(), "pid": os.getpid(), "environment": dict(os.environ)}

    def invoke(self, method: str, arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
        """Calls a method of the user's object."""
        return getattr(self._worker, method)(*arguments, **named)
