"""Which tp rollout may have where its own is too large: one that goes with everything that RLinf looks at."""

from __future__ import annotations

from ....configuration.settings import Amount
from ....machines.node_group import ACCELERATOR
from .arrangement import Arrangement
from .parts import Parts


def fitting_tp(parts: Parts, found: Arrangement, actor: Amount | None, near: int, count: int) -> int | None:
    """A tp that divides the `count` accelerators of rollout, fits a node, and goes with the tp of the actor; None if none does.

    The next one below `near`, else above.
    """
    on_node = min((has for alike in parts.cluster.alike if (has := alike.node.count(ACCELERATOR))), default=count)
    backend = parts.settings.word("actor.training_backend", "PW208")
    bounded = backend == "megatron" or (backend == "fsdp" and found is Arrangement.COLLOCATED and actor is not None and actor.value > 1)

    def fits(tp: int) -> bool:
        if count % tp or on_node % tp:
            return False
        if actor is None or tp >= actor.value:
            return actor is None or tp == actor.value or not bounded
        return found is not Arrangement.COLLOCATED or not (actor.value % tp or count % actor.value)

    most = min(count, on_node)
    return next(filter(fits, (*range(min(near, most), 0, -1), *range(near + 1, most + 1))), None)
