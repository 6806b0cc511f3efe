"""A launch over its whole life: started, and started again after what it lost, as often as is allowed."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Collection, Iterator

from ...models.machines.cluster import Cluster
from ...models.placements.moves import Moves
from ...models.placements.plan import Plan
from ...models.problem import Problem
from ..failure import LaunchFailed
from ..port.node import RayNode
from ..progress import Step
from ..shield import shielded
from ..starting.running import Running
from ..starting.start import Way, start
from ..watching.monitor import REACH_LIMIT, OnFailure
from ..watching.watch import Watch
from ..world.differences import NOTHING_SEEN
from ..world.inventory import inventory
from ..world.matching import used_nodes
from .joined import with_joined
from .losses import is_lost
from .question import loosened, question_of
from .recovery import Recovery
from .replanner import Search, replanned
from .restarts import Restarts
from .roll import Roll

Better = tuple[Plan, Moves, tuple[str, ...]]
"""A plan on more nodes, what would move, and the names of those nodes."""


class NodesJoined(Exception):
    """Raised in a call of an elastic launch that waits while nodes join with which it is to start again."""


class Lifetime:
    """The workers of one launch, of which there is one set at a time.

    Parameters
    ----------
    problem : of which the plan is an answer, and every later plan too; what the plan alone tells if it is None.
    restarts : how often, in all its life, it is started again after something was lost.
    search : how problems are solved.

    `plan` is what was asked for last, `ran` the same with the accelerators that it was given where nodes are shared.
    """

    def __init__(self, plan: Plan, problem: Problem | None, way: Way, restarts: int, search: Search) -> None:
        self.plan = self.ran = plan
        self.problem = question_of(plan) if problem is None else problem
        self._guessed = problem is None
        self.way = way
        self.restarts = Restarts(restarts)
        self.recoveries: list[Recovery] = []
        self.running: Running | None = None
        self.listeners: list[OnFailure] = []
        self._search = search
        self._stack = ExitStack()
        self._roll: Roll | None = None
        self._found: Better | None = None
        self._seen: frozenset[str] = frozenset()

    @property
    def roll(self) -> Roll:
        """Which node is which, as it was when the launch began."""
        if self._roll is None:
            self._roll = Roll(self.problem.cluster, inventory(self.way.port, self.way.seen.reports))
        return self._roll

    def begin(self) -> Running:
        """The first start. What is lost meanwhile of what was there counts as a failure of a launch that ran."""
        roll = self.roll
        before = set(roll.present(inventory(self.way.port)))
        try:
            return self._start(self.plan, unknown=True)
        except LaunchFailed as failure:
            self.stop()
            gone = before - set(self._there())
            if not self.restarts.allowed or not (is_lost(failure) or gone & self._used()):
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
            try:
                return self._again(failure, began)
            except LaunchFailed as next_failure:
                if not (is_lost(next_failure) or next_failure.findings[0].code == "PW702"):
                    self.stop()
                    raise
                failure = next_failure

    def grow(self) -> Recovery | None:
        """Takes nodes that joined, or came back, where that changes the plan; None, and nothing is touched, where it does not."""
        began = self.way.port.now()
        found, self._found = self._found or self.better(), None
        if found is None:
            return None
        plan, moves, joined = found
        self.stop()
        try:
            self._start(plan)
        except LaunchFailed as failure:
            if not is_lost(failure):
                self.stop()
                raise
            self.plan = plan
            return self.recover(failure)
        return self._noted(Recovery((), joined, moves, 0, self.way.port.now() - began))

    def better(self) -> Better | None:
        """The plan on all nodes that are there, what would move, and which nodes it has more; None where it is the one that runs."""
        self._welcome()
        there = self._there()
        joined = tuple(
            node.name for node in self.problem.cluster.nodes if node.name in there and node.name not in _names(self.plan.cluster)
        )
        if not joined:
            return None
        plan, moves = self._replanned(there, LaunchFailed())
        return None if _placed(plan) == _placed(self.plan) else (plan, moves, joined)

    @contextmanager
    def growing(self, elastic: bool) -> Iterator[None]:
        """While an elastic launch runs, calls that wait raise NodesJoined where nodes that join change the plan."""
        running = self.now
        groups = list(running.groups.values()) if elastic else []
        self._seen, self._found = frozenset(node.node_id for node in inventory(self.way.port)), None
        for group in groups:
            group.alarm = self._look
        try:
            yield
        finally:
            for group in groups:
                group.alarm = running.monitor.check

    @property
    def must_grow(self) -> bool:
        """Was a better plan found while it ran?"""
        return self._found is not None

    def _look(self) -> None:
        self.now.monitor.check()
        seen = frozenset(node.node_id for node in inventory(self.way.port))
        if seen - self._seen:
            self._found = self.better()
        self._seen = seen
        if self._found is not None:
            raise NodesJoined(f"nodes joined: {', '.join(self._found[2])}")

    def _again(self, failure: LaunchFailed, began: float) -> Recovery:
        there = self._there()
        lost = tuple(self.plan.cluster.name(rank) for rank in used_nodes(self.plan) if self.plan.cluster.name(rank) not in there)
        moves, plan, joined = None, self.plan, tuple[str, ...]()
        if lost:
            self.way.progress(Step(f"placing anew without {', '.join(lost)}"))
            plan, moves = self._replanned(there, failure)
            joined = tuple(name for name in _names(plan.cluster) if name not in _names(self.plan.cluster))
        self._start(plan)
        return self._noted(Recovery(lost, joined, moves, self.restarts.used, self.way.port.now() - began))

    def _replanned(self, there: Collection[str], failure: LaunchFailed) -> tuple[Plan, Moves]:
        """See `replanned`; where that is impossible and only guesses stand in the way, without them."""
        try:
            return replanned(self.problem, self.plan, there, self._search, failure)
        except LaunchFailed:
            if not self._guessed:
                raise
            return replanned(loosened(self.problem, self.plan), self.plan, there, self._search, failure)

    def _start(self, plan: Plan, unknown: bool = False) -> Running:
        available = inventory(self.way.port, self.way.seen.reports)
        if unknown:
            running = start(self._stack, plan, available, self.way)
        else:  # what was seen before the first start need not be so any more
            running = start(self._stack, plan, self.roll.ranked(plan.cluster, available), replace(self.way, seen=NOTHING_SEEN))
        running.monitor.on_failure = self.listeners
        self.plan, self.ran, self.running = plan, running.plan, running
        self.restarts.started(self.way.port.now())
        if self.listeners:
            self.watch()
        return running

    def watch(self) -> None:
        """Looks after the workers beside whatever else is done."""
        watch = Watch(self.now.monitor)
        self._stack.callback(watch.stop)
        watch.start()

    def _noted(self, recovery: Recovery) -> Recovery:
        self.recoveries.append(recovery)
        self.way.progress(Step(str(recovery)))
        return recovery

    def _welcome(self) -> None:
        """Makes nodes that nobody knew a part of the problem."""
        available = inventory(self.way.port)
        for ray in self.roll.strangers(available):
            wider = with_joined(self.problem.cluster, ray)
            if wider is not None:
                self.problem = Problem(wider, self.problem.job, self.problem.previous, self.problem.unlike, self.problem.caps)
                self.roll.add(wider.nodes[-1].name, ray, available)

    def _there(self) -> dict[str, RayNode]:
        """The known nodes that can be reached, by name; Ray may count on others yet."""
        there = self.roll.present(inventory(self.way.port))
        missed = self.way.port.unreachable(list(there.values()), REACH_LIMIT)
        return {name: ray for name, ray in there.items() if ray.node_id not in missed}

    def _used(self) -> set[str]:
        return {self.plan.cluster.name(rank) for rank in used_nodes(self.plan)}


def _names(cluster: Cluster) -> set[str]:
    return {node.name for node in cluster.nodes}


def _placed(plan: Plan) -> dict[str, list[tuple[str, object]]]:
    """Where everything is, by the names of nodes."""
    return {
        name: [(plan.cluster.name(run.node), (run.ranks, run.kind, run.first, run.each, run.step, run.pitch)) for run in runs]
        for name, runs in plan.assignment.runs.items()
    }
