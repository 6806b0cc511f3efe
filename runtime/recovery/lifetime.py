"""A launch over its whole life: restarts after losses, and growth onto joined nodes."""

from __future__ import annotations

from collections import Counter
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Callable, Collection, Iterator

from ...models.findings.finding import Unchecked
from ...models.placements.moves import Moves
from ...models.placements.plan import Plan
from ...models.problem import Problem
from ...models.reading import Reading
from ..failure import LaunchFailed, quote_names
from ..periodic import Periodic
from ..port.port import Port
from ..progress import Step
from ..running.monitor import PERIOD, OnFailure
from ..running.start import Running, StartOptions, start
from ..shield import defer_signals
from ..world.inventory import inventory
from ..world.matching import NO_SURVEY, used_nodes
from .nodes import Membership
from .replanner import Replanner, Search, solve_in_child
from .restarts import Restarts, is_lost, is_lost_again, with_lost

Better = tuple[Plan, Moves, tuple[str, ...]]
"""Plan on more nodes, the moves, and the names of the added nodes."""


class NodesJoined(Exception):
    """Signal in a waiting call of an elastic launch to start again with joined nodes."""


class Growth:
    """Search for a better plan on new nodes; `found`: the better plan, if any."""

    def __init__(self, port: Port, membership: Membership, replanner: Replanner) -> None:
        self.found: Better | None = None
        self._port = port
        self._membership = membership
        self._replanner = replanner
        self._seen: frozenset[str] = frozenset()
        self._refused: set[str] = set()

    def begin(self) -> None:
        """Count all current nodes as known."""
        self._seen, self.found = self._nodes(), None

    def take(self, plan: Plan, reservation: str) -> Better | None:
        """Return and forget the found plan, or search now (see `better`)."""
        better_plan, self.found = self.found or self.better(plan, reservation), None
        return better_plan

    def look(self, plan: Plan, reservation: str) -> None:
        """Search if nodes have joined; raise NodesJoined once there is a better plan."""
        current = self._nodes()
        if current - self._seen:
            self.found = self.better(plan, reservation)
        self._seen = current
        if self.found is not None:
            raise NodesJoined(f"nodes joined: {', '.join(self.found[2])}")

    def refuse(self, names: Collection[str]) -> None:
        """Exclude the named nodes, on which nothing could be started."""
        self._refused |= {ray.node_id for name, ray in self._membership.present().items() if name in names}

    def better(self, plan: Plan, reservation: str) -> Better | None:
        """Return a changed plan on all nodes, the moves, and the added nodes, or None.

        None if the plan stays the same, and also if no plan is found in time: the running plan need
        not end for that. Accelerators of other jobs are not used. `reservation`: name of the running
        plan's reservation.
        """
        self._membership.welcome()
        self._replanner.widen(self._membership.cluster)
        reachable = {name: ray for name, ray in self._membership.there().items() if ray.node_id not in self._refused}
        known_names = {node.name for node in plan.cluster.nodes}
        if not reachable.keys() - known_names:
            return None
        room, _ = self._membership.room(reachable, plan, reservation)
        try:
            new, moves = self._replanner.replan(plan, room, LaunchFailed())
        except LaunchFailed:
            return None
        joined = tuple(node.name for node in self._membership.cluster.nodes if node.name in reachable.keys() - known_names)
        return None if describe_places(new) == describe_places(plan) else (new, moves, joined)

    def _nodes(self) -> frozenset[str]:
        return frozenset(node.node_id for node in inventory(self._port))


def describe_places(plan: Plan) -> dict[str, list[tuple[str, object]]]:
    """Return where everything is, by node names."""
    return {
        name: [(plan.cluster.name(run.node), (run.ranks, run.kind, run.first, run.each, run.step, run.pitch)) for run in runs]
        for name, runs in plan.assignment.runs.items()
    }


@dataclass(frozen=True, slots=True)
class Recovery:
    """Recovered launch.

    Attributes
    ----------
    lost : names of the previous plan's nodes that are gone.
    joined : names of new nodes.
    moves : moved groups of the previous plan; None if the plan is unchanged.
    attempt : number of this restart of the launch, from 1; 0 without a failure.
    seconds : from the failure, or the decision to grow, to the audit of all workers.
    taken : names of the previous plan's nodes on which other jobs now use too much.
    """

    lost: tuple[str, ...]
    joined: tuple[str, ...]
    moves: Moves | None
    attempt: int
    seconds: float
    taken: tuple[str, ...] = ()

    def __str__(self) -> str:
        nodes = [f"without {quote_names(self.lost)}"] * bool(self.lost)
        nodes += [f"beside the jobs that took {quote_names(self.taken)}"] * bool(self.taken)
        nodes += [f"with {quote_names(self.joined)}"] * bool(self.joined)
        details = f" {', '.join(nodes)}" if nodes else ""
        return f"running again after {self.seconds:.1f} s{details}: {self.moved}"

    @property
    def moved(self) -> str:
        """Text with the number of moved groups."""
        if self.moves is None:
            return "everything is where it was"
        parts, lost_count = self.moves.parts, self.moves.lost
        group_count, new_count = sum(part.now for part in parts), sum(max(0, part.now - part.before) for part in parts)
        moved = sum(part.started for part in parts) - new_count
        words = [f"{moved} of {group_count} {'group' if group_count == 1 else 'groups'} moved"]
        words += [f"{lost_count} {'was' if lost_count == 1 else 'were'} on {'lost' if not self.taken else 'such'} nodes"] * bool(lost_count)
        words += [f"{new_count} {'is' if new_count == 1 else 'are'} new"] * bool(new_count)
        words += ["proved to be the fewest"] * self.moves.proved
        return ", ".join(words)


ONLY_A_PLAN = "a restart keeps only sizes and sharing, and asks no framework: launch the plan's file itself"
NOT_HEEDED = "a restart checks no framework's rules: launch a framework's own file with its `reading`"


@dataclass(frozen=True, slots=True)
class RestartPolicy:
    """Restart policy: allowed restarts after a loss, growth, and the problem for re-placement.

    Without a problem every component keeps its size. `heeds`: True if the search
    knows what the framework refuses.
    """

    restarts: int = 0
    elastic: bool = False
    problem: Problem | None = None
    search: Search = solve_in_child
    heeds: bool = True

    @classmethod
    def of(cls, restarts: int, elastic: bool, problem: Problem | None, reading: Reading | None) -> RestartPolicy:
        """Build the policy, with the framework's refusals if reading options are known."""
        heeds = reading is not None and reading.session.as_before is not None
        return cls(restarts, elastic, problem, partial(solve_in_child, reading=reading), heeds)

    @property
    def unchecked(self) -> tuple[Unchecked, ...]:
        """Checks omitted by re-placement; empty if there is none."""
        if self.heeds or not (self.restarts or self.elastic):
            return ()
        return (Unchecked("framework", "", NOT_HEEDED) if self.problem else Unchecked("plan", "", ONLY_A_PLAN),)


NO_RESTARTS = RestartPolicy()


class Lifetime:
    """Successive sets of workers of a launch.

    Parameters
    ----------
    problem : problem that the plan and all later plans solve; None: derived from the plan alone.
    restarts : number of restarts after losses, over the whole life.
    search : solver of problems.

    `plan` is the latest requested plan, `ran` the same with the accelerators actually granted on
    shared nodes; `calls` counts calls of workers by component. `on_restart` functions are called with the loss before every restart.
    """

    def __init__(self, plan: Plan, problem: Problem | None, options: StartOptions, restarts: int, search: Search) -> None:
        self.plan = self.ran = plan
        self.options = options
        self.restarts = Restarts(restarts)
        self.recoveries: list[Recovery] = []
        self.running: Running | None = None
        self.calls = Counter[str]()
        self.listeners: list[OnFailure] = []
        self.on_restart: list[Callable[[LaunchFailed], None]] = []
        self._replanner = Replanner(plan, problem, search)
        self._membership = Membership(self._replanner.problem.cluster, options)
        self._growth = Growth(options.port, self._membership, self._replanner)
        self._stack = ExitStack()
        self._may_grow = False

    def begin(self) -> Running:
        """Start for the first time. A node lost meanwhile counts as one of a running launch."""
        present = set(self._membership.present())
        try:
            return self._start(self.plan, unknown=True)
        except LaunchFailed as failure:
            self.stop()
            lost_names = present - set(self._membership.there())
            if not self.restarts.allowed or not (is_lost(failure) or lost_names & set(_list_used(self.plan))):
                raise
            self.recover(failure)
            return self.now

    @property
    def now(self) -> Running:
        """Running workers. Raises RuntimeError without any."""
        if self.running is None:
            raise RuntimeError("the launch has ended")
        return self.running

    def stop(self) -> None:
        """End and release everything. Idempotent."""
        with defer_signals():
            stack, self._stack, self.running = self._stack, ExitStack(), None
            stack.close()

    def recover(self, failure: LaunchFailed) -> Recovery:
        """Start everything again with the fewest moves, replacing lost nodes.

        Raises LaunchFailed with PW714 if no restart is left, or if there is no placement on the
        remaining nodes; and other failures. Then nothing runs and nothing is reserved.
        """
        began = self.options.port.now()
        self.restarts.record_failure(began)
        while True:
            self.stop()
            self.restarts.take(self.options.port, failure)
            self.options.progress(Step(f"{self.restarts}: {failure.findings[0].message}"))
            for tell in self.on_restart:
                tell(failure)
            try:
                return self._recover_again(failure, began)
            except LaunchFailed as next_failure:
                if not is_lost_again(next_failure):
                    self.stop()
                    raise
                failure = next_failure

    def grow(self) -> Recovery | None:
        """Use joined nodes if they change the plan and start, else go on as before."""
        began = self.options.port.now()
        better_plan = self._growth.take(self.plan, self.now.name)
        if better_plan is None:
            return None
        plan, moves, joined = better_plan
        old_plan = self.plan
        self.options.progress(Step(f"starting again with {', '.join(joined)}"))
        self.stop()
        try:
            self._start(plan)
        except LaunchFailed as failure:
            self.stop()
            if is_lost(failure):
                self.plan = plan
                return self.recover(failure)
            self._growth.refuse(joined)
            self.options.progress(Step(f"going on without {', '.join(joined)}: {failure.findings[0].message}"))
            return self._start_previous(old_plan, began)
        return self._note(Recovery((), joined, moves, 0, self.options.port.now() - began))

    def look(self) -> None:
        """Raise LaunchFailed after a loss, NodesJoined for a better plan while growing."""
        running = self.now
        running.monitor.check()
        if self._may_grow:
            self._growth.look(self.plan, running.name)

    @contextmanager
    def growing(self, elastic: bool) -> Iterator[None]:
        """Enable growth in the block: waiting calls of an elastic launch may raise NodesJoined."""
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
        """True if a better plan was found while running."""
        return self._growth.found is not None

    def watch(self) -> None:
        """Monitor the workers in the background."""
        monitor = self.now.monitor
        watch = Periodic(lambda: monitor.step() is not None, PERIOD)
        self._stack.callback(watch.stop)
        watch.start()

    def _recover_again(self, failure: LaunchFailed, began: float) -> Recovery:
        reachable = self._membership.there()
        lost_nodes = tuple(name for name in _list_used(self.plan) if name not in reachable)
        failure = with_lost(failure, lost_nodes)
        room, occupied_names = self._membership.room(reachable, self.plan)
        moves, plan, joined = None, self.plan, tuple[str, ...]()
        if lost_nodes or occupied_names:
            self.options.progress(Step(f"placing anew without {', '.join((*lost_nodes, *occupied_names))}"))
            plan, moves = self._replanner.replan(self.plan, room, failure)
            known = {node.name for node in self.plan.cluster.nodes}
            joined = tuple(node.name for node in plan.cluster.nodes if node.name not in known)
        self._start(plan)
        return self._note(Recovery(lost_nodes, joined, moves, self.restarts.used, self.options.port.now() - began, tuple(occupied_names)))

    def _start_previous(self, plan: Plan, began: float) -> Recovery:
        """Start the previous plan again; a failure there counts as any other loss."""
        try:
            self._start(plan)
        except LaunchFailed as failure:
            return self.recover(failure)
        return self._note(Recovery((), (), None, 0, self.options.port.now() - began))

    def _start(self, plan: Plan, unknown: bool = False) -> Running:
        available = inventory(self.options.port, self.options.seen.reports)
        if unknown:
            running = start(self._stack, plan, available, self.options)
        else:  # the first survey may be out of date
            ranked = self._membership.roster.rank(plan.cluster, available)
            running = start(self._stack, plan, ranked, replace(self.options, seen=NO_SURVEY))
        running.monitor.on_failure = self.listeners
        for group in running.groups.values():
            group.calls = self.calls
        self.plan, self.ran, self.running = plan, running.plan, running
        self.restarts.record_start(self.options.port.now())
        if self.listeners:
            self.watch()
        return running

    def _note(self, recovery: Recovery) -> Recovery:
        self.recoveries.append(recovery)
        self.options.progress(Step(str(recovery)))
        return recovery


def _list_used(plan: Plan) -> list[str]:
    """Return the names of the nodes with processes of the plan."""
    return [plan.cluster.name(rank) for rank in used_nodes(plan)]
