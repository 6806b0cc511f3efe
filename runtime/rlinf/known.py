"""Current cluster of a process, as `Cluster()` anywhere in an RLinf program returns it."""

from __future__ import annotations

import os
from typing import Any, Callable

from .described import VARIABLE

RLINFS = frozenset({"num_nodes", "cluster_cfg", "distributed_log_dir"})
"""Arguments of RLinf's own Cluster."""

Said = tuple[tuple[Any, ...], dict[str, Any]]
NOTHING: Said = (), {}
opened: list[Any] = []
"""Open clusters of this process, the newest last."""


class Known(type):
    """Metaclass that returns the current object for repeated or missing arguments.

    Source of the rule: RLinf, rlinf/scheduler/cluster/cluster.py, with a single object per process
    whatever the arguments.
    """

    _of_worker: Callable[[str], Any]
    """Constructor of the object in a worker, from the driver's description; see described.py."""

    def __call__(cls, *arguments: Any, **named: Any) -> Any:
        """Return the current object, or construct a new one."""
        call_arguments = (arguments, named)
        current = cls._known() if RLINFS.issuperset(named) else None
        if current is not None and call_arguments in (current.said, NOTHING):
            return current
        created = super().__call__(*arguments, **named)
        created.said = call_arguments
        return created

    def _known(cls) -> Any:
        """Return the newest open object, or in a worker the launching cluster; None without
        either.
        """
        if not opened and VARIABLE in os.environ:
            opened.append(cls._of_worker(os.environ[VARIABLE]))
        return opened[-1] if opened else None
