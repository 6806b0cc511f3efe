"""What an error of Ray says of a worker, as a Finding: it died, it raised, or it could not be started."""

from __future__ import annotations

import re
from typing import Any

from .failure import LaunchFailed, failed
from .ray_compat import need_ray

TAIL = 8
STARTING = "was starting"


def trouble(problem: Any, component: str, rank: int, node: str, doing: str) -> LaunchFailed:
    """The failure of one rank. `doing`: what it did then, such as "was starting" or "ran `train`".

    PW703: the constructor raised; PW709: a method raised; PW704: the process died or never came to be.
    """
    ray = need_ray()
    who = f"rank {rank} of `{component}` on `{node}`"
    if isinstance(problem, ray.exceptions.RayActorError):
        help = "look for an out-of-memory kill on that node, then in Ray's logs there"
        return failed("PW704", component, f"{who} died while it {doing}: {_reason(problem)}", help, rank)
    if isinstance(problem, ray.exceptions.RayTaskError):
        lines = [line for line in str(problem).strip().splitlines() if line.strip(" ^~") and "ray::" not in line]
        last = lines[-1].strip()[:200] if lines else type(problem.cause).__name__
        tail = "\n".join(lines[-TAIL:])
        if doing == STARTING:
            return failed(
                "PW703",
                component,
                f"{who} could not be constructed: {last}",
                "mend the constructor of the worker class",
                rank,
                traceback=tail,
            )
        return failed(
            "PW709", component, f"{who} raised while it {doing}: {last}", "mend the method of the worker class", rank, traceback=tail
        )
    message = f"{who} failed while it {doing}: {type(problem).__name__}: {_first_line(problem)}"
    return failed("PW704", component, message, "look into Ray's logs on that node", rank)


def unimportable(worker: object, component: str, rank: int, node: str, why: object) -> LaunchFailed:
    """The worker class that could be imported here cannot be imported on the worker's node (PW707)."""
    message = f"the worker class `{worker}` cannot be imported by rank {rank} of `{component}` on `{node}`: {why}"
    return failed("PW707", component, message, "put its code at the same path of every node, or install it there", rank)


def _reason(problem: object) -> str:
    """What Ray says of a death, without its guesses: the sentence with the cause, and the kind of exit if it tells one."""
    text = " ".join(str(problem).split())
    cause = re.search(r"because (.+?)(?:\. |\.?$)", text)
    kind = re.search(r"Worker exit type: (\w+)", text)
    return (cause[1] if cause else text)[:200] + (f" ({kind[1]})" if kind else "")


def _first_line(problem: object) -> str:
    return (str(problem).strip().splitlines() or [""])[0][:200]
