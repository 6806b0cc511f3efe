"""The workers of a plan while they run: called, watched, started again after what they lost, and ended."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any, Callable, Mapping, TypeVar

from ..models.findings.finding import Unchecked
from ..models.placements.plan import Plan
from .failure import LaunchFailed
from .recovery.again import NEVER, Again
from .recovery.lifetime import Lifetime
from .recovery.recovery import Recovery
from .recovery.restarts import Restarts
from .recovery.trial import Trial
from .shield import shielded
from .starting.sharing import Given
from .watching.audit_row import AuditRow
from .watching.monitor import OnFailure
from .watching.watch import PERIOD
from .workers.group import WorkerGroup, call_all

Result = TypeVar("Result")


class Launch:
    """The workers of a plan, started and audited; after a recovery, or when it has grown, those of the new plan.

    Attributes
    ----------
    address : HOST:PORT of the Ray cluster.
    """

    def __init__(self, lifetime: Lifetime, address: str, stack: ExitStack, again: Again = NEVER) -> None:
        self.address = address
        self._lifetime = lifetime
        self._stack = stack
        self._again = again

    @property
    def plan(self) -> Plan:
        """What runs, or ran last: where nodes are shared, with the accelerators that it was given (see `given`)."""
        return self._lifetime.ran

    @property
    def groups(self) -> Mapping[str, WorkerGroup]:
        """component -> its workers. They are others after a recovery. Raises RuntimeError when the launch has ended."""
        return self._lifetime.now.groups

    @property
    def audit(self) -> tuple[AuditRow, ...]:
        """Where each worker really is, one row a process."""
        return self._lifetime.now.audit

    @property
    def unchecked(self) -> tuple[Unchecked, ...]:
        """What the plan asks of its nodes that a launch neither brings about nor can see, and what nobody looks at where it is placed anew.

        Raises RuntimeError when it has ended.
        """
        return (*self._lifetime.now.unchecked, *self._again.unchecked)

    @property
    def given(self) -> tuple[Given, ...]:
        """Where others stand for the accelerators that the plan named, because nodes are shared. Raises RuntimeError when it has ended."""
        return self._lifetime.now.given

    @property
    def recoveries(self) -> tuple[Recovery, ...]:
        """What was lost so far, or has joined, and what moved."""
        return tuple(self._lifetime.recoveries)

    @property
    def restarts(self) -> Restarts:
        """How often everything was started again after a loss, and how often it may be."""
        return self._lifetime.restarts

    def call(self, component: str, method: str, *arguments: Any, timeout: float | None = None, **named: Any) -> list[Any]:
        """Calls a method on every worker of a component; see WorkerGroup.call."""
        return self.groups[component].call(method, *arguments, timeout=timeout, **named)

    def call_all(self, method: str, *arguments: Any, timeout: float | None = None, **named: Any) -> dict[str, list[Any]]:
        """Calls a method on every worker of every component at once; component -> results in rank order."""
        return call_all(self.groups, method, arguments, named, timeout)

    def on_failure(self, tell: OnFailure) -> None:
        """From now on `tell` is called with the failure when a worker or a node is lost, by a thread that ends with the launch."""
        self._lifetime.listeners.append(tell)
        if len(self._lifetime.listeners) == 1:
            self._lifetime.watch()

    def on_restart(self, tell: Callable[[LaunchFailed], None]) -> None:
        """From now on `tell` is called with what was lost whenever everything is about to be started again."""
        self._lifetime.on_restart.append(tell)

    def watch(self, seconds: float | None = None) -> None:
        """Waits, so many seconds or for ever, and raises LaunchFailed as soon as a worker (PW704) or a node (PW713) is lost.

        In `run`, of a launch that is elastic, it also ends as soon as nodes join that change the plan.
        """
        port = self._lifetime.way.port
        deadline = None if seconds is None else port.now() + seconds
        while deadline is None or port.now() < deadline:
            self._lifetime.look()
            port.pause(PERIOD if deadline is None else min(PERIOD, max(0.0, deadline - port.now())))

    def recover(self, failure: LaunchFailed | None = None) -> Recovery:
        """Starts everything again: what is lost on other nodes, with the fewest moves.

        `failure` is what was lost, to be told if this does not succeed. Raises LaunchFailed, with PW714 if the launch may not be
        restarted any more (see `restarts` of `launch`) or fits no longer on the nodes that are left; then nothing is left of it.
        """
        running = self._lifetime.running
        return self._lifetime.recover(failure or (running.monitor.step() if running else None) or LaunchFailed())

    def grow(self) -> Recovery | None:
        """Takes nodes that joined the cluster, or came back, if that changes the plan: everything is started again, near where it was.

        None, and nothing is touched, where the plan on all nodes is the one that runs. Raises LaunchFailed as `recover` does.
        """
        return self._lifetime.grow()

    def run(self, what: Callable[[Launch], Result] | str) -> Result | dict[str, list[Any]]:
        """Calls a function with this launch, or a method on every worker; if something is lost meanwhile, recovers and calls it again.

        What the function must go on from, such as a checkpoint, it finds itself: the workers are new ones. An elastic launch is
        also started again where nodes that join change the plan. Raises LaunchFailed as `recover` does, and what the function raises
        for other reasons.
        """
        while True:
            trial = Trial(self._lifetime)
            with trial, self._lifetime.growing(self._again.elastic):
                return self.call_all(what) if isinstance(what, str) else what(self)
            if trial.failure is not None:
                self.recover(trial.failure)
            else:
                self.grow()

    def stop(self) -> None:
        """Ends everything now. The end of the `with` block does so too, and finds nothing left to do."""
        with shielded():
            self._stack.close()
