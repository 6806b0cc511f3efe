"""A worker group as RLinf's users launch and call it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Callable, Mapping, Sequence, Union

from ...models.findings.finding import UnusableInput
from ...models.placements.assignment import Assignment
from ...models.placements.plan import VERIFIED, Plan
from ...models.strategies import NodePlacementStrategy, PackedPlacementStrategy, PlacementStrategy
from ..failure import LaunchFailed, failed
from ..port.on_ray import NAMESPACE
from ..port.port import Actor, Port
from ..watching.audit import AuditRow
from ..workers.group import WorkerGroup as Workers
from ..workers.member import Member, members_of
from ..workers.results import Results
from .cluster import Cluster, Started
from .environment import rlinf_environment

TIMEOUT = 300.0
Where = Union[PlacementStrategy, Plan, "tuple[Plan, str]"]
"""A strategy, a plan with one component or with one of the group's name, or a plan and the name of a component of it."""


@dataclass(frozen=True, slots=True)
class WorkerRank:
    """A worker of a group, as the port knows it, and its rank."""

    worker: Actor
    rank: int


class WorkerGroup:
    """Workers of one class, which are called together once `launch` has started them.

    Every public method of the class is a method here. It is called on every worker, or on those that `execute_on` named just
    before; it waits for nothing and gives Results, whose `.wait()` are those of the ranks in order.

    Source: RLinf, rlinf/scheduler/worker/worker_group.py. On purpose unlike it: it is reserved and audited, the first failure of a
    worker is raised by `.wait()` instead of ending this process, and a wrong name of a method is refused when it is looked up.
    """

    def __init__(self, worker_cls: type, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None) -> None:
        self._worker_cls = worker_cls
        self._arguments = tuple(args)
        self._named = dict(kwargs or {})
        self._name = f"worker_group_{worker_cls.__name__}"
        self._started: Started | None = None
        self._next: tuple[int, ...] | None = None

    def launch(
        self, cluster: Cluster, placement_strategy: Where | None = None, name: str | None = None, max_concurrency: int | None = None,
        isolate_gpu: bool = True, catch_system_failure: bool = False, timeout: float = TIMEOUT,
    ) -> WorkerGroup:  # fmt: skip
        """The group itself, when all of its workers stand, each where the strategy or the plan says.

        Parameters
        ----------
        cluster : where; accelerators may be shared with other groups of this cluster object.
        placement_strategy : a strategy; a plan with one component, or with one of this name; or a plan and the name of a component.
            By default one process on each accelerator, or one on the first node if there is none.
        name : of the group; its workers are called ``NAME:RANK``.
        max_concurrency : how many calls a worker takes at once.
        isolate_gpu : whether a worker sees its own accelerators alone; a plan says so itself.
        catch_system_failure : told to the workers as CATCH_SYSTEM_FAILURE.
        timeout : seconds for all workers to be ready.

        Nothing of the group is left if it raises. Raises LaunchFailed with the findings of a strategy that does not fit (PW1xx), for
        a name that is taken (PW717), and as `placewright.launch`.
        """
        if self._started is not None:
            raise failed("PW717", self._name, f"the group `{self._name}` has been launched", "make another with `create_group`", self._name)
        self._name = name or self._name
        plan = self._plan(cluster, placement_strategy, isolate_gpu)
        members = [
            self._member(cluster, each, catch_system_failure)
            for each in members_of(plan, self._name, "", cluster.get_node_ip(plan.placements(self._name)[0].node_rank))
        ]

        def make(port: Port) -> Workers:
            return Workers(port, self._name, members, self._worker_cls, concurrency=max_concurrency)

        self._started = cluster.start(plan, make, timeout)
        return self

    def execute_on(self, *ranks: int) -> WorkerGroup:
        """The group itself; the next call, and no other, is on these ranks alone. Raises IndexError for a rank that is not there."""
        self._next = tuple(self._workers.on(list(ranks)).ranks)
        return self

    @property
    def worker_cls_name(self) -> str:
        """The name of the class of the workers."""
        return self._worker_cls.__name__

    @property
    def worker_group_name(self) -> str:
        """The name of the group."""
        return self._name

    @property
    def worker_info_list(self) -> list[WorkerRank]:
        """The workers with their ranks; empty before `launch`."""
        started = self._started
        return [WorkerRank(worker, rank) for rank, worker in enumerate(started.workers.workers)] if started else []

    @property
    def audit(self) -> tuple[AuditRow, ...]:
        """Where each worker really is, in rank order."""
        return self._started.audit if self._started else ()

    def close(self) -> None:
        """Ends the workers; what they held stays with the cluster object. May be called twice."""
        if self._started is not None:
            self._started.end()

    def __enter__(self) -> WorkerGroup:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        count = self._started.workers.world_size if self._started else 0
        return f"<{type(self).__name__} {self._name!r} of {self._worker_cls.__name__}, {count} workers>"

    def __getattr__(self, name: str) -> Callable[..., Results]:
        if name.startswith("_"):
            raise AttributeError(f"{type(self).__name__!r} has no attribute {name!r}")
        workers = self._workers
        try:
            workers.must_have(name)
        except AttributeError:
            self._next = None  # the call that `execute_on` was meant for does not come
            raise

        def called(*arguments: Any, **named: Any) -> Results:
            ranks, self._next = self._next, None
            return (workers if ranks is None else workers.on(ranks)).ask(name, arguments, named)

        return called

    @property
    def _workers(self) -> Workers:
        if self._started is None:
            raise failed("PW704", self._name, f"the group `{self._name}` has not been launched", "call `launch` first", self._name)
        return self._started.workers

    def _member(self, cluster: Cluster, member: Member, catch_system_failure: bool) -> Member:
        more = rlinf_environment(cluster.machines, member.placement, NAMESPACE, catch_system_failure)
        name = f"{self._name}:{member.placement.rank}"
        return replace(member, name=name, environment={**more, **member.environment}, arguments=self._arguments, named=self._named)

    def _plan(self, cluster: Cluster, where: Where | None, isolate: bool) -> Plan:
        """The plan of this group alone, under its name."""
        if isinstance(where, (Plan, tuple)):
            plan, component = where if isinstance(where, tuple) else (where, _component(where, self._name))
            cluster.must_fit(plan)
            return replace(plan, assignment=Assignment({self._name: plan.assignment.of(component)}))
        if where is None:
            count = cluster.num_accelerators
            where = PackedPlacementStrategy(0, count - 1) if count else NodePlacementStrategy([0])
        try:
            runs = tuple(where.runs(cluster.machines))
        except UnusableInput as problem:
            raise LaunchFailed(*problem.findings) from None
        return Plan(cluster.machines, Assignment({self._name: runs}), VERIFIED, isolate_accelerator=isolate and where.isolate_accelerator)


def _component(plan: Plan, name: str) -> str:
    """The component of a plan that a group of this name is. Raises LaunchFailed (PW112) if that is not clear."""
    if name in plan.components:
        return name
    if len(plan.components) == 1:
        return plan.components[0]
    known = ", ".join(f"`{each}`" for each in plan.components) or "none"
    message = f"the plan has no component `{name}`; it has {known}"
    raise failed("PW112", name, message, "pass `placement_strategy=(plan, 'actor')`", name)
