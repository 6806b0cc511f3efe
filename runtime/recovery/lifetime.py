"""A launch over its whole life: started, and started again after what it lost, as often as is allowed."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Callable, Iterator

from ...models.placements.plan import Plan
from ...models.problem import Problem
from ..failure import LaunchFailed
from ..progress import Step
from ..shield import shielded
from ..starting.running import Running
from ..starting.start import Way, start
from ..watching.monitor import OnFailure
from ..watching.watch import Watch
from ..world.differences import NOTHING_SEEN
from ..world.inventory import inventory
from ..world.matching import used_nodes
from .growth import Growth
from .losses import NO_ROOM, is_lost
from .nodes.membership import Membership
from .recovery import Recovery
from .replanner import Replanner, Search
from .restarts import Restarts


class Lifetime:
    """The workers of one launch, of which there is one set at a time.

    Parameters
    ----------
    problem : of which the plan is an answer, and every later plan too; what the plan alone tells if it is None.
    restarts : how often, in all its life, it is started again after something was lost.
    search : how problems are solved.

    `plan` is what was asked for last, `ran` the same with the accelerators that it was given where nodes are shared. Those in
    `on_restart` are told what was lost whenever everything is about to be started again.
    """

    def __init__(self, plan: Plan, problem: Problem | None, way: Way, restarts: int, search: Search) -> None:
        self.plan = self.ran = plan
        self.way = way
        self.restarts = Restarts(restarts)
        self.recoveries: list[Recovery] = []
        self.running: Running | None = None
        self.listeners: list[OnFailure] = []
        self.on_restart: list[Callable[[LaunchFailed], None]] = []
        self._replanner = Replanner(plan, problem, search)
        self._membership = Membership(self._replanner.problem.cluster, way)
        self._growth = Growth(way.port, self._membership, self._replanner)
        self._stack = ExitStack()
        self._may_grow = False

    def begin(self) -> Running:
        """The first start. What is lost meanwhile of what was there counts as a failure of a launch that ran."""
        before = set(self._membership.present())
        try:
            return self._start(self.plan, unknown=True)
        except LaunchFailed as failure:
            self.stop()
            gone = before - set(self._membership.there())
            if not self.restarts.allowed or not (is_lost(failure) or gone & set(_used(self.plan))):
                raise
            self.recover(failure)
            return self.now

    @property
    def now(self) -> Running:
        """The workers that run. Raises RuntimeError where none do."""
        if self.running is None:
            raise RuntimeError("the launch has ended")
        return self.running

    def stop(self) -> None:
        """Ends and releases everything. May be called twice."""
        with shielded():
            stack, self._stack, self.running = self._stack, ExitStack(), None
            stack.close()

    def recover(self, failure: LaunchFailed) -> Recovery:
        """Starts everything again, what is lost on other nodes, with the fewest moves.

        Raises LaunchFailed with PW714 if no restart is left, or if there is no placement on the nodes that are left; and what
        fails otherwise. Then nothing runs and nothing is held.
        """
        began = self.way.port.now()
        self.restarts.failed(began)
        while True:
            self.stop()
            self.restarts.take(self.way.port, failure)
            self.way.progress(Step(f"{self.restarts}: {failure.findings[0].message}"))
            for tell in self.on_restart:
                tell(failure)
            try:
                return self._again(failure, began)
            except LaunchFailed as next_failure:
                if not (is_lost(next_failure) or next_failure.findings[0].code == NO_ROOM):
                    self.stop()
                    raise
                failure = next_failure

    def grow(self) -> Recovery | None:
        """Takes nodes that joined, or came back, where that changes the plan; None, and nothing is touched, where it does not.

        Where nothing can be started on them, the launch goes on as it was.
        """
        began = self.way.port.now()
        found = self._growth.take(self.plan, self.now.name)
        if found is None:
            return None
        plan, moves, joined = found
        before = self.plan
        self.way.progress(Step(f"starting again with {', '.join(joined)}"))
        self.stop()
        try:
            self._start(plan)
        except LaunchFailed as failure:
            self.stop()
            if is_lost(failure):
                self.plan = plan
                return self.recover(failure)
            self._growth.refuse(joined)
            self.way.progress(Step(f"going on without {', '.join(joined)}: {failure.findings[0].message}"))
            return self._back(before, began)
        return self._noted(Recovery((), joined, moves, 0, self.way.port.now() - began))

    def look(self) -> None:
        """Raises LaunchFailed where something is lost, and while it may grow NodesJoined where nodes that join change the plan."""
        running = self.now
        running.monitor.check()
        if self._may_grow:
            self._growth.look(self.plan, running.name)

    @contextmanager
    def growing(self, elastic: bool) -> Iterator[None]:
        """In the block, what waits for an elastic launch raises NodesJoined where nodes that join change the plan."""
        running = self.now
        self._growth.begin()
        self._may_grow = elastic
        for group in running.groups.values():
            group.alarm = self.look
        try:
            yield
        finally:
            self._may_grow = False
            for group in running.groups.values():
                group.alarm = running.monitor.check

    @property
    def must_grow(self) -> bool:
        """Was a better plan found while it ran?"""
        return self._growth.found is not None

    def watch(self) -> None:
        """Looks after the workers beside whatever else is done."""
        watch = Watch(self.now.monitor)
        self._stack.callback(watch.stop)
        watch.start()

    def _again(self, failure: LaunchFailed, began: float) -> Recovery:
        there = self._membership.there()
        lost = tuple(name for name in _used(self.plan) if name not in there)
        room, taken = self._membership.room(there, self.plan)
        moves, plan, joined = None, self.plan, tuple[str, ...]()
        if lost or taken:
            self.way.progress(Step(f"placing anew without {', '.join((*lost, *taken))}"))
            plan, moves = self._replanner.replanned(self.plan, room, failure)
            known = {node.name for node in self.plan.cluster.nodes}
            joined = tuple(node.name for node in plan.cluster.nodes if node.name not in known)
        self._start(plan)
        return self._noted(Recovery(lost, joined, moves, self.restarts.used, self.way.port.now() - began, tuple(taken)))

    def _back(self, plan: Plan, began: float) -> Recovery:
        """Starts again what ran before, which is a loss like any other where that fails."""
        try:
            self._start(plan)
        except LaunchFailed as failure:
            return self.recover(failure)
        return self._noted(Recovery((), (), None, 0, self.way.port.now() - began))

    def _start(self, plan: Plan, unknown: bool = False) -> Running:
        available = inventory(self.way.port, self.way.seen.reports)
        if unknown:
            running = start(self._stack, plan, available, self.way)
        else:  # what was seen before the first start need not be so any more
            ranked = self._membership.roll.ranked(plan.cluster, available)
            running = start(self._stack, plan, ranked, replace(self.way, seen=NOTHING_SEEN))
        running.monitor.on_failure = self.listeners
        self.plan, self.ran, self.running = plan, running.plan, running
        self.restarts.started(self.way.port.now())
        if self.listeners:
            self.watch()
        return running

    def _noted(self, recovery: Recovery) -> Recovery:
        self.recoveries.append(recovery)
        self.way.progress(Step(str(recovery)))
        return recovery


def _used(plan: Plan) -> list[str]:
    """The names of the nodes that carry a process of the plan."""
    return [plan.cluster.name(rank) for rank in used_nodes(plan)]
