"""A plan as running workers, on a real or a simulated Ray cluster."""

from __future__ import annotations

import os
from contextlib import ExitStack, contextmanager
from typing import Any, Callable, Collection, Iterator, Mapping, TypeVar

from ..models.findings.finding import Unchecked
from ..models.placements.plan import Plan
from ..models.problem import Problem
from ..models.reading import Reading
from .failure import LaunchFailed, build_failure
from .port.connection import Connection, must_be_unconnected
from .port.on_ray import RayPort
from .port.port import Port
from .progress import OnStep, Step, silent
from .recovery.lifetime import NO_RESTARTS, Lifetime, Recovery, RestartPolicy
from .recovery.restarts import Restarts, is_lost
from .reserving.reservation import WAIT_LIMIT
from .running.audit import AuditRow
from .running.monitor import HEARTBEAT, PERIOD, OnFailure
from .running.start import GrantedAccelerators, StartOptions
from .shield import defer_signals
from .simulated.simulate import SimulatedCluster
from .workers.group import WorkerGroup, call_all
from .workers.worker_class import check_trusted, check_worker
from .world.matching import NO_SURVEY, survey_real_nodes, used_nodes

Result = TypeVar("Result")


class Launch:
    """Started and audited workers of a plan, which a recovery or growth replaces.

    Attributes
    ----------
    address : HOST:PORT of the Ray cluster.
    """

    def __init__(self, lifetime: Lifetime, address: str, stack: ExitStack, again: RestartPolicy = NO_RESTARTS) -> None:
        self.address = address
        self._lifetime = lifetime
        self._stack = stack
        self._again = again

    @property
    def plan(self) -> Plan:
        """Running, or last, plan; on shared nodes with the granted accelerators (see `given`)."""
        return self._lifetime.ran

    @property
    def groups(self) -> Mapping[str, WorkerGroup]:
        """Component -> workers; replaced by a recovery. Raises RuntimeError after the end."""
        return self._lifetime.now.groups

    @property
    def audit(self) -> tuple[AuditRow, ...]:
        """Actual location of every worker, a row per process."""
        return self._lifetime.now.audit

    @property
    def unchecked(self) -> tuple[Unchecked, ...]:
        """Unobservable demands and checks omitted by re-placement. RuntimeError after the end."""
        return (*self._lifetime.now.unchecked, *self._again.unchecked)

    @property
    def given(self) -> tuple[GrantedAccelerators, ...]:
        """Replacements of planned accelerators on shared nodes. RuntimeError after the end."""
        return self._lifetime.now.given

    @property
    def recoveries(self) -> tuple[Recovery, ...]:
        """Recoveries and growths so far, with losses and moves."""
        return tuple(self._lifetime.recoveries)

    @property
    def restarts(self) -> Restarts:
        """Number of restarts after losses, used and allowed."""
        return self._lifetime.restarts

    def call(self, component: str, method: str, *arguments: Any, timeout: float | None = None, **named: Any) -> list[Any]:
        """Call a method on every worker of a component; see WorkerGroup.call."""
        return self.groups[component].call(method, *arguments, timeout=timeout, **named)

    def call_all(self, method: str, *arguments: Any, timeout: float | None = None, **named: Any) -> dict[str, list[Any]]:
        """Call a method on all workers at once; return component -> results in rank order."""
        return call_all(self.groups, method, arguments, named, timeout)

    def on_failure(self, tell: OnFailure) -> None:
        """Call `tell` with every lost worker or node, in a thread of the launch."""
        self._lifetime.listeners.append(tell)
        if len(self._lifetime.listeners) == 1:
            self._lifetime.watch()

    def on_restart(self, tell: Callable[[LaunchFailed], None]) -> None:
        """Call `tell` with the loss before every restart."""
        self._lifetime.on_restart.append(tell)

    def watch(self, seconds: float | None = None) -> None:
        """Wait for some seconds, or forever, and watch.

        Raises LaunchFailed as soon as a worker (PW704) or a node (PW713) is lost.

        In `run` of an elastic launch, it also ends when joining nodes change the plan.
        """
        port = self._lifetime.options.port
        deadline = None if seconds is None else port.now() + seconds
        while deadline is None or port.now() < deadline:
            self._lifetime.look()
            port.pause(PERIOD if deadline is None else min(PERIOD, max(0.0, deadline - port.now())))

    def recover(self, failure: LaunchFailed | None = None) -> Recovery:
        """Start everything again with the fewest moves, replacing lost nodes.

        `failure`: the loss, reported if this fails. Raises LaunchFailed, with PW714 if no restart
        is left (see `restarts` of `launch`) or the plan no longer fits the remaining nodes; then
        nothing is left of it.
        """
        running = self._lifetime.running
        return self._lifetime.recover(failure or (running.monitor.step() if running else None) or LaunchFailed())

    def grow(self) -> Recovery | None:
        """Start again with joined or returned nodes, if they change the plan.

        Returns None and changes nothing if the plan on all nodes is the running one. Raises
        LaunchFailed as `recover` does.
        """
        return self._lifetime.grow()

    def run(self, function: Callable[[Launch], Result] | str, timeout: float | None = None) -> Result | dict[str, list[Any]]:
        """Call a function, or a method on every worker; recover and repeat after a loss.

        The function gets this launch. After a recovery all workers are new: the function itself
        must find its state, such as a checkpoint. `timeout`: seconds for the method. An elastic
        launch also starts again when joining nodes change the plan. Raises LaunchFailed as
        `recover` does, and the function's own exceptions.
        """
        while True:
            monitor = self._lifetime.now.monitor
            try:
                with self._lifetime.growing(self._again.elastic):
                    return self.call_all(function, timeout=timeout) if isinstance(function, str) else function(self)
            except Exception as problem:  # the monitor decides, whatever the user's code turns a loss into
                failure = problem if isinstance(problem, LaunchFailed) and is_lost(problem) else monitor.step()
                if failure is None and not self._lifetime.must_grow:
                    raise
            if failure is not None:
                self.recover(failure)
            else:
                self.grow()

    def stop(self) -> None:
        """End everything now, as the end of the `with` block would. Idempotent."""
        with defer_signals():
            self._stack.close()


TIMEOUT = 300.0


@contextmanager
def launch(
    plan: Plan, *, address: str | None = None, simulate: bool = False, worker: str | type | None = None, timeout: float = TIMEOUT,
    trusted_env: Collection[str] = (), progress: OnStep = silent, wait: float = WAIT_LIMIT, restarts: int = 0, elastic: bool = False,
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
    elastic : True if `Launch.run` also starts again when joining nodes change the plan.
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
        again = RestartPolicy.of(restarts, elastic, problem, reading)
        cls = check_worker(worker, methods)
        address = _connect(stack, plan, address, restarts > 0 or elastic, progress)
        yield bring_up(
            stack, plan, RayPort(), cls, timeout, progress, address, wait, again, look=True, share_nodes=share_nodes, name=name,
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
    used = used_nodes(plan)
    if not used:
        raise build_failure("PW112", "", "the plan places no process", "give its components ranks or hints")
    if address is None:
        must_be_unconnected()
        ranks = range(len(plan.cluster.nodes)) if all_nodes else used
        progress(Step(f"starting {len(ranks)} simulated node{'s' if len(ranks) > 1 else ''}"))
        simulated = SimulatedCluster()
        stack.callback(simulated.stop)
        cpus = plan.cpus_on_nodes
        most = max(max(processes, cpus.get(rank, 0)) for rank, processes in used.items())
        address = simulated.start([plan.cluster.nodes[rank] for rank in ranks], dict.fromkeys(ranks, most))
    progress(Step(f"connecting to {address}"))
    connection = Connection(address)
    stack.callback(connection.close)
    connection.open()
    return address


def bring_up(
    stack: ExitStack, plan: Plan, port: Port, worker: str | type, timeout: float, progress: OnStep, address: str = "",
    wait: float = WAIT_LIMIT, again: RestartPolicy = NO_RESTARTS, look: bool = False, share_nodes: bool = False, name: str = "",
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
    lifetime = Lifetime(plan, again.problem, options, again.restarts, again.search)
    stack.callback(lifetime.stop)
    if metrics:
        from .metrics import metrics_served

        progress(Step(f"metrics at {stack.enter_context(metrics_served(lifetime, metrics))}"))
    lifetime.begin()
    return Launch(lifetime, address, stack, again)
