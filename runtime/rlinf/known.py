"""The cluster that a process knows already, which `Cluster()` is then: RLinf's programs ask for it so wherever they need it."""

from __future__ import annotations

import os
from typing import Any, Callable

from .described import VARIABLE

RLINFS = frozenset({"num_nodes", "cluster_cfg", "distributed_log_dir"})
"""The arguments that RLinf's own Cluster has."""

Said = tuple[tuple[Any, ...], dict[str, Any]]
NOTHING: Said = (), {}
opened: list[Any] = []
"""Those that this process has made and not closed, the last one last."""


class Known(type):
    """Classes of which an object is made again only for other arguments than the last: with those, or none, it is that one.

    Source of the rule: RLinf, rlinf/scheduler/cluster/cluster.py, where there is one object in a process whatever is said.
    """

    _of_worker: Callable[[str], Any]
    """The object in a worker, from what the driver's is described as; see described.py."""

    def __call__(cls, *arguments: Any, **named: Any) -> Any:
        """The object that is known, or another."""
        said = (arguments, named)
        there = cls._known() if RLINFS.issuperset(named) else None
        if there is not None and said in (there.said, NOTHING):
            return there
        made = super().__call__(*arguments, **named)
        made.said = said
        return made

    def _known(cls) -> Any:
        """The object that this process knows: one that it has made, or that on which it was launched as a worker; None if there is none."""
        if not opened and VARIABLE in os.environ:
            opened.append(cls._of_worker(os.environ[VARIABLE]))
        return opened[-1] if opened else None
