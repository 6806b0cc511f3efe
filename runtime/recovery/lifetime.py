"""A launch over its whole life, with restarts after losses."""

from __future__ import annotations

import math
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Callable, Mapping, TypeVar

from ...models.findings.finding import Unchecked
from ...models.placements.moves import Moves
from ...models.placements.plan import Plan
from ...models.problem import Problem
from ...models.reading import Reading
from ..failure import LaunchFailed, quote_names
from ..periodic import Periodic
from ..progress import Step
from ..running.audit import AuditRow
from ..running.monitor import PERIOD, OnFailure
from ..running.start import GrantedAccelerators, Running, StartOptions, start
from ..shield import defer_signals
from ..workers.group import WorkerGroup, call_all
from ..workers.inside.host import WRITE
from ..world.inventory import inventory
from ..world.matching import NO_SURVEY, used_nodes
from .nodes import Membership
from .replanner import Replanner, Search, solve_in_child
from .restarts import Restarts, is_lost, is_lost_again, with_lost

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Recovery:
    """Recovered launch.

    Attributes
    ----------
    lost : names of the previous plan's nodes that are gone.
    moves : moved groups of the previous plan; None if the plan is unchanged.
    attempt : number of this restart of the launch, from 1.
    seconds : from the failure to the audit of all workers.
    taken : names of the previous plan's nodes on which other jobs now use too much.
    """

    lost: tuple[str, ...]
    moves: Moves | None
    attempt: int
    seconds: float
    taken: tuple[str, ...] = ()

    def __str__(self) -> str:
        nodes = [f"without {quote_names(self.lost)}"] * bool(self.lost)
        nodes += [f"beside the jobs that took {quote_names(self.taken)}"] * bool(self.taken)
        details = f" {', '.join(nodes)}" if nodes else ""
        return f"running again after {self.seconds:.1f} s{details}: {self.moved}"

    @property
    def moved(self) -> str:
        """Text with the number of moved groups."""
        if self.moves is None:
            return "everything is where it was"
        if not self.moves.parts:
            return "the file's own ranks on the nodes that are left"
        parts, lost_count = self.moves.parts, self.moves.lost
        group_count, new_count = sum(part.now for part in parts), sum(max(0, part.now - part.before) for part in parts)
        count = sum(part.started for part in parts) - new_count
        words = [f"{count} of {group_count} {'group' if group_count == 1 else 'groups'} moved"]
        words += [f"{lost_count} {'was' if lost_count == 1 else 'were'} on {'lost' if not self.taken else 'such'} nodes"] * bool(lost_count)
        words += [f"{new_count} {'is' if new_count == 1 else 'are'} new"] * bool(new_count)
        words += ["proved to be the fewest"] * self.moves.proved
        return ", ".join(words)


ONLY_A_PLAN = "a restart keeps only sizes and sharing, and asks no framework: launch the plan's file itself"
NOT_HEEDED = "a restart checks no framework's rules: launch a framework's own file with its `reading`"


@dataclass(frozen=True, slots=True)
class RestartPolicy:
    """Restart policy: allowed restarts after a loss, and the problem for re-placement.

    Without a problem every component keeps its size. `heeds`: True if the search
    knows what the framework refuses. `file`: reading of the user's file.
    """

    restarts: int = 0
    problem: Problem | None = None
    search: Search = solve_in_child
    heeds: bool = True
    file: Reading | None = None

    @classmethod
    def of(cls, restarts: int, problem: Problem | None, reading: Reading | None) -> RestartPolicy:
        """Build the policy, with the framework's refusals if reading options are known."""
        heeds = reading is not None and reading.session.as_before is not None
        return cls(restarts, problem, partial(solve_in_child, reading=reading), heeds, reading)

    @property
    def unchecked(self) -> tuple[Unchecked, ...]:
        """Checks omitted by re-placement; empty if there is none."""
        if self.heeds or not self.restarts:
            return ()
        return (Unchecked("framework", "", NOT_HEEDED) if self.problem else Unchecked("plan", "", ONLY_A_PLAN),)


NO_RESTARTS = RestartPolicy()


class Launch:
    """Workers of a plan over their whole life, which a recovery replaces.

    Attributes
    ----------
    address : HOST:PORT of the Ray cluster.
    plan : running, or last, plan; on shared nodes with the granted accelerators (see `given`).
    restarts : number of restarts after losses, used and allowed.
    recoveries : recoveries so far, with losses and moves.
    calls : number of calls of workers, by component.
    """

    def __init__(self, plan: Plan, options: StartOptions, policy: RestartPolicy, address: str, stack: ExitStack) -> None:
        self.address = address
        self.plan = self._wanted = plan
        self.options = options
        self.restarts = Restarts(policy.restarts)
        self.recoveries: tuple[Recovery, ...] = ()
        self.calls = Counter[str]()
        self.running: Running | None = None
        self.listeners: list[OnFailure] = []
        self._on_restart: list[Callable[[LaunchFailed], None]] = []
        self._again = policy
        self._stack = stack
        self._workers = ExitStack()
        self._replanner = Replanner(plan, policy.problem, policy.search, policy.file)
        self._membership = Membership(self._replanner.problem.cluster, options)
        stack.callback(self._release)

    @property
    def now(self) -> Running:
        """Running workers. Raises RuntimeError without any."""
        if self.running is None:
            raise RuntimeError("the launch has ended")
        return self.running

    @property
    def groups(self) -> Mapping[str, WorkerGroup]:
        """Component -> workers; replaced by a recovery. Raises RuntimeError after the end."""
        return self.now.groups

    @property
    def audit(self) -> tuple[AuditRow, ...]:
        """Actual location of every worker, a row per process."""
        return self.now.audit

    @property
    def unchecked(self) -> tuple[Unchecked, ...]:
        """Unobservable demands and checks omitted by re-placement. RuntimeError after the end."""
        return (*self.now.unchecked, *self._again.unchecked)

    @property
    def given(self) -> tuple[GrantedAccelerators, ...]:
        """Replacements of planned accelerators on shared nodes. RuntimeError after the end."""
        return self.now.given

    def call(self, component: str, method: str, *arguments: Any, timeout: float | None = None, **keywords: Any) -> list[Any]:
        """Call a method on every worker of a component; see WorkerGroup.call."""
        return self.groups[component].call(method, *arguments, timeout=timeout, **keywords)

    def call_all(self, method: str, *arguments: Any, timeout: float | None = None, **keywords: Any) -> dict[str, list[Any]]:
        """Call a method on all workers at once; return component -> results in rank order."""
        return call_all(self.groups, method, arguments, keywords, timeout)

    def write_all(self, method: str, returns_results: bool, timeout: float | None = None) -> dict[str, list[str]]:
        """Call a method on all workers at once; return component -> results as JSON.

        They are "" unless `returns_results`.
        """
        return call_all(self.groups, method, (method, returns_results), timeout=timeout, through=WRITE)

    def on_failure(self, tell: OnFailure) -> None:
        """Call `tell` with every lost worker or node, in a thread of the launch."""
        self.listeners.append(tell)
        if len(self.listeners) == 1:
            self._watch_in_background()

    def on_restart(self, tell: Callable[[LaunchFailed], None]) -> None:
        """Call `tell` with the loss before every restart."""
        self._on_restart.append(tell)

    def watch(self, seconds: float | None = None) -> None:
        """Wait for some seconds, or forever, and watch.

        Raises LaunchFailed as soon as a worker (PW704) or a node (PW713) is lost.
        """
        port = self.options.port
        deadline = math.inf if seconds is None else port.now() + seconds
        while port.now() < deadline:
            self.look()
            port.pause(min(PERIOD, max(0.0, deadline - port.now())))

    def run(self, function: Callable[[Launch], Result] | str, timeout: float | None = None) -> Result | dict[str, list[Any]]:
        """Call a function, or a method on every worker; recover and repeat after a loss.

        The function gets this launch. After a recovery all workers are new: the function itself
        must find its state, such as a checkpoint. `timeout`: seconds for the method. Raises
        LaunchFailed as `recover` does, and the function's own exceptions.
        """
        while True:
            monitor = self.now.monitor
            try:
                return self.call_all(function, timeout=timeout) if isinstance(function, str) else function(self)
            except Exception as problem:  # the monitor decides, whatever the user's code turns a loss into
                failure = problem if isinstance(problem, LaunchFailed) and is_lost(problem) else monitor.step()
                if failure is None:
                    raise
            self.recover(failure)

    def stop(self) -> None:
        """End everything now, as the end of the `with` block would. Idempotent."""
        with defer_signals():
            self._stack.close()

    def begin(self) -> None:
        """Start for the first time. A node lost meanwhile counts as one of a running launch."""
        present = set(self._membership.present())
        try:
            self._start(self._wanted, unknown=True)
        except LaunchFailed as failure:
            self._release()
            lost_names = present - set(self._membership.there())
            if not self.restarts.allowed or not (is_lost(failure) or lost_names & set(_list_used(self._wanted))):
                raise
            self.recover(failure)

    def _release(self) -> None:
        """End and release all workers. Idempotent."""
        with defer_signals():
            workers, self._workers, self.running = self._workers, ExitStack(), None
            workers.close()

    def recover(self, failure: LaunchFailed | None = None) -> Recovery:
        """Start everything again with the fewest moves, replacing lost nodes.

        `failure`: the loss, reported if this fails. Raises LaunchFailed, with PW714 if no restart
        is left (see `restarts` of `launch`) or the plan no longer fits the remaining nodes; then
        nothing is left of it.
        """
        failure = failure or (self.running.monitor.step() if self.running else None) or LaunchFailed()
        began = self.options.port.now()
        self.restarts.record_failure(began)
        while True:
            self._release()
            failure = with_lost(failure, self._lost_earlier())
            self.restarts.take(self.options.port, failure)
            self.options.progress(Step(f"{self.restarts}: {failure.findings[0].message}"))
            for tell in self._on_restart:
                tell(failure)
            try:
                return self._recover_again(failure, began)
            except LaunchFailed as next_failure:
                if not is_lost_again(next_failure):
                    self._release()
                    raise
                failure = next_failure

    def look(self) -> None:
        """Raise LaunchFailed after a loss."""
        self.now.monitor.check()

    def _watch_in_background(self) -> None:
        monitor = self.now.monitor
        watch = Periodic(lambda: monitor.step() is not None, PERIOD)
        self._workers.callback(watch.stop)
        watch.start()

    def _lost_earlier(self) -> list[str]:
        """Return the nodes that earlier recoveries lost and that are not back."""
        names = dict.fromkeys(name for recovery in self.recoveries for name in recovery.lost)
        reachable = self._membership.there() if names else {}
        return [name for name in names if name not in reachable]

    def _recover_again(self, failure: LaunchFailed, began: float) -> Recovery:
        reachable = self._membership.there()
        lost_nodes = tuple(name for name in _list_used(self._wanted) if name not in reachable)
        failure = with_lost(failure, lost_nodes)
        cluster, occupied_names = self._membership.room(reachable, self._wanted)
        moves, plan = None, self._wanted
        if lost_nodes or occupied_names:
            self.options.progress(Step(f"placing anew without {', '.join((*lost_nodes, *occupied_names))}"))
            plan, moves = self._replanner.replan(self._wanted, cluster, reachable, failure)
        self._start(plan)
        recovery = Recovery(lost_nodes, moves, self.restarts.used, self.options.port.now() - began, tuple(occupied_names))
        self.recoveries += (recovery,)
        self.options.progress(Step(str(recovery)))
        return recovery

    def _start(self, plan: Plan, unknown: bool = False) -> None:
        available = inventory(self.options.port, self.options.seen.reports)
        if unknown:
            running = start(self._workers, plan, available, self.options)
        else:  # the first survey may be out of date
            nodes_by_rank = self._membership.roster.rank(plan.cluster, available)
            running = start(self._workers, plan, nodes_by_rank, replace(self.options, seen=NO_SURVEY))
        running.monitor.on_failure = self.listeners
        for group in running.groups.values():
            group.calls, group.alarm = self.calls, running.monitor.check
        self._wanted, self.plan, self.running = plan, running.plan, running
        self.restarts.record_start(self.options.port.now())
        if self.listeners:
            self._watch_in_background()


def _list_used(plan: Plan) -> list[str]:
    """Return the names of the nodes with processes of the plan."""
    return [plan.cluster.name(rank) for rank in used_nodes(plan)]
