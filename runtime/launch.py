"""A plan as running workers, on a real or a simulated Ray cluster."""

from __future__ import annotations

import os
from contextlib import ExitStack, contextmanager
from typing import Collection, Iterator

from ..models.placements.plan import Plan
from ..models.problem import Problem
from ..models.reading import Reading
from .failure import build_failure
from .port.connection import Connection, must_be_unconnected
from .port.on_ray import RayPort
from .port.port import Port
from .progress import OnStep, Step, silent
from .recovery.lifetime import NO_RESTARTS, Launch, RestartPolicy
from .reserving.reservation import WAIT_LIMIT
from .running.monitor import HEARTBEAT
from .running.start import StartOptions
from .shield import defer_signals
from .simulated.simulate import SimulatedCluster
from .workers.worker_class import check_trusted, check_worker
from .world.matching import NO_SURVEY, survey_real_nodes, used_nodes

TIMEOUT = 300.0


@contextmanager
def launch(
    plan: Plan, *, address: str | None = None, simulate: bool = False, worker: str | type | None = None, timeout: float = TIMEOUT,
    trusted_env: Collection[str] = (), progress: OnStep = silent, wait: float = WAIT_LIMIT, restarts: int = 0,
    problem: Problem | None = None, methods: Collection[str] = (), share_nodes: bool = False, name: str = "", reading: Reading | None = None, log_dir: str = "", heartbeat: float = HEARTBEAT,
    metrics: str = "",
) -> Iterator[Launch]:  # fmt: skip
    """Start the workers of a plan, all or none; end them with the block.

    Parameters
    ----------
    address : HOST:PORT of a Ray cluster that this machine is part of.
    simulate : start a Ray cluster on this machine with the plan's accelerators, none of which
        exists. Also the default without an address.
    worker : class of every worker, constructed without arguments, as `module:Class` or itself;
        default: a class that only reports its environment.
    timeout : time limit, in seconds, for all workers to be ready.
    trusted_env : variables that node groups may set although they may make a process run other
        code, such as PYTHONPATH.
    progress : called with each step in advance, and for each worker that is ready (see
        progress.py).
    wait : time limit, in seconds, for accelerators and CPUs that other jobs hold.
    restarts : number of restarts after a lost node or worker: during the start, in `Launch.run` and
        `Launch.recover`. Processes of lost nodes are placed anew, with the fewest moves.
    methods : methods that will be called, which the worker class must have.
    share_nodes : of a node that the plan uses in part, reserve only so many accelerators, beside
        other jobs. Ray decides which: in ascending order they replace those that the plan names
        (`Launch.plan`, `Launch.given`). Not for plans whose processes see whole nodes, nor for
        nodes whose accelerators have ids of their own: these are reserved whole.
    name : name of the launch in messages to others that wait for its resources.
    problem : problem that the plan solves, used for re-placement; without it every component keeps
        its size.
    reading : file of the problem; re-placement avoids what its framework refuses. Without it
        `Launch.unchecked` reports that gap for a launch that may be placed anew.
    log_dir : folder, made on every node, for what workers print: ``COMPONENT-RANK.log``. Default:
        Ray's own logs.
    heartbeat : seconds for which the process of a worker may be silent, as one that is stopped.
    metrics : ``[HOST:]PORT`` for Prometheus metrics, at 127.0.0.1 by default (see metrics.py).

    Nothing is left after the block, or if it was never entered: no actor, no placement group, no
    process. Raises LaunchFailed with the faults.
    """
    if address is not None and simulate:
        raise ValueError("either an address or simulate, not both")
    if not plan.cluster.counted:
        raise build_failure("PW011", "", "the plan does not say how many accelerators the nodes have", "name the machines with `--cluster`")
    check_trusted(plan, trusted_env)
    stack = ExitStack()
    try:
        progress(Step("checking the worker class"))
        policy = RestartPolicy.of(restarts, problem, reading)
        cls = check_worker(worker, methods)
        address = _connect(stack, plan, address, restarts > 0, progress)
        yield bring_up(
            stack, plan, RayPort(), cls, timeout, progress, address, wait, policy, look=True, share_nodes=share_nodes, name=name,
            log_dir=log_dir, heartbeat=heartbeat, metrics=metrics,
        )  # fmt: skip
    finally:
        with defer_signals():
            stack.close()


def _connect(stack: ExitStack, plan: Plan, address: str | None, all_nodes: bool, progress: OnStep) -> str:
    """Connect to a cluster, a simulated one without an address; return HOST:PORT.

    Every step registers its undo first, in case of an interrupt. `all_nodes`: simulate unused nodes
    too, which replace lost ones.
    """
    processes_on_nodes = used_nodes(plan)
    if not processes_on_nodes:
        raise build_failure("PW112", "", "the plan places no process", "give its components ranks or hints")
    if address is None:
        must_be_unconnected()
        ranks = range(len(plan.cluster.nodes)) if all_nodes else processes_on_nodes
        progress(Step(f"starting {len(ranks)} simulated node{'s' if len(ranks) > 1 else ''}"))
        simulation = SimulatedCluster()
        stack.callback(simulation.stop)
        cpus = plan.cpus_on_nodes
        most = max(max(processes, cpus.get(rank, 0)) for rank, processes in processes_on_nodes.items())
        address = simulation.start([plan.cluster.nodes[rank] for rank in ranks], dict.fromkeys(ranks, most))
    progress(Step(f"connecting to {address}"))
    connection = Connection(address)
    stack.callback(connection.close)
    connection.open()
    return address


def bring_up(
    stack: ExitStack, plan: Plan, port: Port, worker: str | type, timeout: float, progress: OnStep, address: str = "",
    wait: float = WAIT_LIMIT, policy: RestartPolicy = NO_RESTARTS, look: bool = False, share_nodes: bool = False, name: str = "",
    log_dir: str = "", heartbeat: float = HEARTBEAT, metrics: str = "",
) -> Launch:  # fmt: skip
    """Compare, reserve, start and audit on any port; the stack undoes everything.

    `look`: survey every node that is not simulated, by a process there; otherwise only Ray's
    knowledge is compared.
    """
    survey = survey_real_nodes(port) if look else NO_SURVEY
    options = StartOptions(
        port, worker, timeout, wait, progress, survey, share_nodes, name, log_dir and os.path.abspath(log_dir), heartbeat
    )
    running = Launch(plan, options, policy, address, stack)
    if metrics:
        from .metrics import metrics_served

        progress(Step(f"metrics at {stack.enter_context(metrics_served(running, metrics))}"))
    running.begin()
    return running
