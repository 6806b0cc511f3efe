"""Launch of a plan on a real or simulated Ray cluster, for a `with` block."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from typing import Collection, Iterator

from ..models.placements.plan import Plan
from ..models.problem import Problem
from ..models.reading import Reading
from ..models.reserved import cpus_on_nodes
from .failure import LaunchFailed, failed
from .launched import Launch as Launch
from .port.connection import Connection, must_be_unconnected
from .port.on_ray import RayPort
from .port.port import Port
from .progress import OnStep, Step, silent
from .recovery.again import NEVER, Again
from .recovery.lifetime import Lifetime
from .reserving.reservation import WAIT_LIMIT
from .shield import shielded
from .simulated.simulate import SimulatedCluster
from .starting.start import Way
from .workers.travelling import send_code
from .workers.trust import untrusted
from .workers.worker_class import check_worker
from .world.differences import NOTHING_SEEN, look_at
from .world.matching import used_nodes

TIMEOUT = 300.0


@contextmanager
def launch(
    plan: Plan, *, address: str | None = None, simulate: bool = False, worker: str | type | None = None, timeout: float = TIMEOUT,
    trusted_env: Collection[str] = (), progress: OnStep = silent, wait: float = WAIT_LIMIT, restarts: int = 0, elastic: bool = False,
    problem: Problem | None = None, methods: Collection[str] = (), share_nodes: bool = False, name: str = "", reading: Reading | None = None,
) -> Iterator[Launch]:  # fmt: skip
    """Start the workers of a plan, all or none; end them with the block.

    Parameters
    ----------
    address : HOST:PORT of a Ray cluster that this machine is part of.
    simulate : start a Ray cluster on this machine with the plan's accelerators, none of which
        exists. Also the
        default without an address.
    worker : class of every worker, constructed without arguments, as `module:Class` or itself;
        default: a class
        that only reports its environment.
    timeout : time limit, in seconds, for all workers to be ready.
    trusted_env : variables that node groups may set although they can make a process run other
        code, such as PYTHONPATH.
    progress : called with each step in advance, and for each worker that is ready (see
        progress.py).
    wait : time limit, in seconds, for accelerators and CPUs that other jobs hold.
    restarts : number of restarts after a lost node or worker: during the start, in `Launch.run` and
        `Launch.recover`. Processes of lost nodes are placed anew, with the fewest moves.
    elastic : True if `Launch.run` also starts again when joining nodes change the plan.
    methods : methods that will be called, which the worker class must have.
    share_nodes : of a node that the plan uses in part, reserve only so many accelerators, beside
        other jobs. Ray
        decides which: in ascending order they replace those that the plan names (`Launch.plan`,
        `Launch.given`).
        Not for plans whose processes see whole nodes, nor for nodes whose accelerators have ids of
        their own:
        these are reserved whole.
    name : name of the launch in messages to others that wait for its resources.
    problem : problem that the plan solves, used for re-placement; without it every component keeps
        its size.
    reading : file of the problem; re-placement avoids what its framework refuses. Without it
        `Launch.unchecked`
        reports that gap for a launch that may be placed anew.

    Nothing is left after the block, or if it was never entered: no actor, no placement group, no
    process. Raises LaunchFailed with the faults.
    """
    if address is not None and simulate:
        raise ValueError("either an address or simulate, not both")
    if not plan.cluster.counted:
        raise failed("PW011", "", "the plan does not say how many accelerators the nodes have", "name the machines with `--cluster`")
    distrusted = tuple(untrusted(plan, trusted_env))
    if distrusted:
        raise LaunchFailed(*distrusted)
    stack = ExitStack()
    try:
        progress(Step("checking the worker class"))
        again = Again.of(restarts, elastic, problem, reading)
        yield _started(stack, plan, address, check_worker(worker, methods), timeout, progress, wait, again, share_nodes, name)
    finally:
        with shielded():
            stack.close()


def _started(
    stack: ExitStack, plan: Plan, address: str | None, worker: str | type, timeout: float, progress: OnStep, wait: float, again: Again,
    share_nodes: bool, name: str,
) -> Launch:  # fmt: skip
    """Connect and start; every step registers its undo first, in case of an interrupt."""
    used = used_nodes(plan)
    if not used:
        raise failed("PW112", "", "the plan places no process", "give its components ranks or hints")
    if address is None:
        must_be_unconnected()
        ranks = range(len(plan.cluster.nodes)) if again.restarts or again.elastic else used  # spare nodes replace lost ones
        progress(Step(f"starting {len(ranks)} simulated node{'s' if len(ranks) > 1 else ''}"))
        simulated = SimulatedCluster()
        stack.callback(simulated.stop)
        cpus = cpus_on_nodes(plan)
        most = max(max(processes, cpus.get(rank, 0)) for rank, processes in used.items())
        address = simulated.start([plan.cluster.nodes[rank] for rank in ranks], dict.fromkeys(ranks, most))
    progress(Step(f"connecting to {address}"))
    connection = Connection(address)
    stack.callback(connection.close)
    connection.open()
    send_code()
    return bring_up(stack, plan, RayPort(), worker, timeout, progress, address, wait, again, look=True, share_nodes=share_nodes, name=name)


def bring_up(
    stack: ExitStack, plan: Plan, port: Port, worker: str | type, timeout: float, progress: OnStep, address: str = "",
    wait: float = WAIT_LIMIT, again: Again = NEVER, look: bool = False, share_nodes: bool = False, name: str = "",
) -> Launch:  # fmt: skip
    """Compare, reserve, start and audit on any port; the stack undoes everything.

    `look`: survey every node that is not simulated, by a process there; otherwise only Ray's
    knowledge is compared.
    """
    survey = look_at(port) if look else NOTHING_SEEN
    lifetime = Lifetime(
        plan, again.problem, Way(port, worker, timeout, wait, progress, survey, share_nodes, name), again.restarts, again.search
    )
    stack.callback(lifetime.stop)
    lifetime.begin()
    return Launch(lifetime, address, stack, again)
