"""A plan, running: its workers on a real or a simulated Ray cluster for as long as the `with` block lasts."""

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
    """The workers of a plan, started all or none, each at its place, and ended with the block.

    Parameters
    ----------
    address : HOST:PORT of a Ray cluster that this machine is part of.
    simulate : start a Ray cluster on this machine with the plan's accelerators, none of which exists. Also what
        happens if no address is given.
    worker : the class of every worker, constructed without arguments, as `module:Class` or itself; one that only
        knows its environment if not given.
    timeout : seconds for all workers to be ready.
    trusted_env : variables that node groups may set although they can make a process run other code, such as PYTHONPATH.
    progress : told each step before it is taken, and of each worker that is ready (see progress.py).
    wait : seconds to wait for accelerators and CPUs that other jobs hold.
    restarts : how often everything is started again after a node or a worker was lost: while it starts, in `Launch.run` and
        `Launch.recover`. What was on lost nodes is placed anew, with the fewest moves.
    elastic : whether `Launch.run` also starts again where nodes that join change the plan.
    methods : what will be called, which the class of the workers must have.
    share_nodes : of a node that the plan uses in part, hold only so many accelerators, beside other jobs. Which they are Ray
        decides: in ascending order they stand for those that the plan names (`Launch.plan`, `Launch.given`). Not for plans whose
        processes see whole nodes, nor for nodes whose accelerators have ids of their own: these are held whole.
    name : what others read where they are told who holds what they wait for.
    problem : the question that the plan answers, by which it is placed anew; without it every component keeps its size.
    reading : the file that the problem was read from: what its framework refuses is not placed anew. Without it `Launch.unchecked` says
        so of a launch that may be.

    Nothing is left when the block has ended, or was never entered: no actor, no placement group, no process.
    Raises LaunchFailed with what is wrong.
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
    """Every step says how it is undone before it is taken, so that an interrupt between two of them undoes both."""
    used = used_nodes(plan)
    if not used:
        raise failed("PW112", "", "the plan places no process", "give its components ranks or hints")
    if address is None:
        must_be_unconnected()
        ranks = range(len(plan.cluster.nodes)) if again.restarts or again.elastic else used  # a spare node takes what another loses
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
    """Compares, reserves, starts and audits, on whatever is behind the port; the stack undoes what was done.

    `look`: is every node that is not simulated looked at first, by a process there? Else what Ray tells is compared alone.
    """
    seen = look_at(port) if look else NOTHING_SEEN
    lifetime = Lifetime(
        plan, again.problem, Way(port, worker, timeout, wait, progress, seen, share_nodes, name), again.restarts, again.search
    )
    stack.callback(lifetime.stop)
    lifetime.begin()
    return Launch(lifetime, address, stack, again)
