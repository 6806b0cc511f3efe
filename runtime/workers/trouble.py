"""Failure of a rank as a message: it died, raised, or could not start."""

from __future__ import annotations

from ..failure import LaunchFailed, failed
from ..port.errors import AnswerFailed, Died, Raised, Unborn

TAIL = 8
STARTING = "was starting"


def trouble(problem: AnswerFailed, component: str, rank: int, node: str, doing: str) -> LaunchFailed:
    """Build the failure of a rank.

    `doing`: activity of the rank, such as "was starting" or "ran `train`".

    PW703: the constructor raised; PW707: the class cannot be loaded; PW709: a method raised; PW713:
    its node was lost; PW704: the process died or never started.
    """
    worker_text = f"rank {rank} of `{component}` on `{node}`"
    if isinstance(problem, Died) and problem.node_lost:
        help = "start the node again, or launch with restarts"
        return failed("PW713", component, f"{worker_text} was lost with its node while it {doing}", help, rank)
    if isinstance(problem, Died):
        help = "look for an out-of-memory kill on that node, then in Ray's logs there"
        return failed("PW704", component, f"{worker_text} died while it {doing}: {problem.reason}", help, rank)
    if isinstance(problem, Unborn):
        message = f"the worker class of {worker_text} cannot be loaded there: {problem.reason}"
        help = "put its code where the processes of every node find it: PYTHONPATH of `ray start`, or installed"
        return failed("PW707", component, message, help, rank, traceback="\n".join(problem.lines[-TAIL:]))
    if isinstance(problem, Raised):
        tail = "\n".join(problem.lines[-TAIL:])
        if doing == STARTING:
            message, help = f"{worker_text} could not be constructed: {problem.reason}", "mend the constructor of the worker class"
            return failed("PW703", component, message, help, rank, traceback=tail)
        message = f"{worker_text} raised while it {doing}: {problem.reason}"
        return failed("PW709", component, message, "mend the method of the worker class", rank, traceback=tail)
    message = f"{worker_text} failed while it {doing}: {problem.reason}"
    return failed("PW704", component, message, "look into Ray's logs on that node", rank)


def unimportable(worker: object, component: str, rank: int, node: str, why: object) -> LaunchFailed:
    """Build the failure (PW707) of a class that imports only here, not on the node."""
    message = f"the worker class `{worker}` cannot be imported by rank {rank} of `{component}` on `{node}`: {why}"
    return failed("PW707", component, message, "put its code at the same path of every node, or install it there", rank)
