"""What RLinf's workers can do and these cannot: it is said by the name that was used, in one sentence."""

from __future__ import annotations

from typing import Callable, NoReturn

MOVING = ("send", "recv", "send_tensor", "recv_tensor", "broadcast", "create_channel", "connect_channel", "send_to", "recv_from")
ASKING = ("manager_proxy", "_manager_proxy", "_collective")
PROFILING = ("start_profile", "stop_profile")


class NotOffered(RuntimeError):
    """What was called belongs to RLinf and is no part of placewright; the sentence says what there is instead."""


def refusal(name: str) -> Callable[..., NoReturn] | None:
    """For the name of a method that RLinf's workers have, what raises NotOffered when it is called; None for other names.

    Raises NotOffered itself for an attribute of RLinf's workers that is no method.
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
