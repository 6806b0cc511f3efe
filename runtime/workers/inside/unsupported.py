"""Refusals for features that only RLinf's workers have."""

from __future__ import annotations

from typing import Callable, NoReturn

MOVING = ("send", "recv", "send_tensor", "recv_tensor", "broadcast", "create_channel", "connect_channel", "send_to", "recv_from")
ASKING = ("manager_proxy", "_manager_proxy", "_collective")
PROFILING = ("start_profile", "stop_profile")


class NotOffered(RuntimeError):
    """Use of an RLinf feature that placewright lacks; the message names the alternative."""


def refusal(name: str) -> Callable[..., NoReturn] | None:
    """Return a function that raises NotOffered for an RLinf method; None for unknown names.

    Raises NotOffered itself for an attribute that is no method.
    """
    if name in ASKING:
        raise NotOffered(
            f"`{name}` is RLinf's own registry of workers, which is not here: "
            "`WorkerGroup.from_group_name` finds a group, and the environment tells the rest"
        )
    if name not in MOVING and name not in PROFILING:
        return None
    reason = (
        "placewright places, starts and calls workers and moves no data between them: use `torch.distributed`, which finds "
        "MASTER_ADDR and MASTER_PORT set, or Ray"
        if name in MOVING
        else "placewright profiles no workers: use the profiler of your framework"
    )

    def refused(*_: object, **__: object) -> NoReturn:
        raise NotOffered(f"`{name}` is not here: {reason}")

    return refused
