"""Running workers of a plan: calls, monitoring, recovery, growth, end."""

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
    """Started and audited workers of a plan, which a recovery or growth replaces.

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
        """Unobservable demands on nodes, and checks omitted by re-placement.

        Raises RuntimeError after the end.
        """
        return (*self._lifetime.now.unchecked, *self._again.unchecked)

    @property
    def given(self) -> tuple[Given, ...]:
        """Replacements of accelerators named in the plan, on shared nodes.

        Raises RuntimeError after the end.
        """
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
        port = self._lifetime.way.port
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

    def run(self, what: Callable[[Launch], Result] | str) -> Result | dict[str, list[Any]]:
        """Call a function, or a method on every worker; recover and repeat after a loss.

        The function gets this launch. After a recovery all workers are new: the function itself
        must find its state, such as a checkpoint. An elastic launch also starts again when joining
        nodes change the plan. Raises LaunchFailed as `recover` does, and the function's own
        exceptions.
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
        """End everything now, as the end of the `with` block would. Idempotent."""
        with shielded():
            self._stack.close()
