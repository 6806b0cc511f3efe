"""RLinf's `WorkerGroup`: launched, called, and looked up by name."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial
from typing import Any, Callable, Mapping, Sequence

from ....models.findings.wording import with_noun
from ....models.placements.plan import Plan
from ...failure import build_failure, build_refusal
from ...port.on_ray import NAMESPACE, RayPort
from ...port.port import AnswerFailed, Died, Port, gather
from ...port.ray_compat import need_ray
from ...running.audit import AuditRow
from ...workers.group import WorkerGroup as Workers
from ...workers.group import attach_members, list_unplaced
from ...workers.inside.host import REPORT
from ...workers.inside.information import WorkerAddress
from ...workers.inside.mixins import refusal
from ...workers.member import Member, members_of
from .cluster import VARIABLE, Cluster, RunningGroup
from .components import PlacementSource, plan_of
from .machines import forwarded_variables, rlinf_environment
from .results import WorkerGroupFuncResult

ASK_LIMIT, WAIT_LIMIT, PAUSE = 2.0, 5.0, 0.05
"""Seconds: limit for the group size, limit for all ranks, pause between looks."""


def attach_group(port: Port, worker_cls: type, group_name: str) -> Workers:
    """Return a running group by name; LaunchFailed (PW704) unless all its workers run."""
    ranks = _ranks(port, group_name)
    size = _size(port, f"{group_name}:0") if 0 in ranks else None
    deadline = port.now() + WAIT_LIMIT
    while ranks and (missing := set(range(size or max(ranks) + 1)) - ranks):
        if port.now() > deadline:
            message = f"rank {min(missing)} of the group `{group_name}` is not there, and {len(ranks)} others are"
            raise build_failure("PW704", group_name, message, "launch the group again", min(missing))
        port.pause(PAUSE)
        ranks = _ranks(port, group_name)
    if not ranks:
        help = "launch it first: `create_group(...).launch(cluster=..., name=...)`"
        raise build_failure("PW704", group_name, f"there is no group `{group_name}`", help, group_name)
    names = [f"{group_name}:{rank}" for rank in sorted(ranks)]
    return attach_members(port, group_name, list_unplaced(names), worker_cls)


def _ranks(port: Port, group_name: str) -> set[int]:
    pattern = re.compile(re.escape(group_name) + r":(\d+)")
    return {int(match[1]) for name in port.names() if (match := pattern.fullmatch(name))}


def _size(port: Port, name: str) -> int | None:
    """Return the group size that the worker reports; None if it is busy or gone."""
    try:
        tickets = {port.ask(port.find(name), REPORT): name}
    except Died:
        return None
    reports = [answer for _, answer in gather(port, tickets, ASK_LIMIT) if not isinstance(answer, AnswerFailed)]
    return int(reports[0]["environment"]["WORLD_SIZE"]) if reports else None


def members_in(cluster: Cluster, plan: Plan, name: str, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> list[Member]:
    """Return the processes of a group in rank order, named ``NAME:RANK``."""
    master = cluster.get_node_ip(plan.placements(name)[0].node_rank)
    common = {**forwarded_variables(cluster.environment), VARIABLE: cluster.description}

    def member(member_of_plan: Member) -> Member:
        placement = member_of_plan.placement
        address = cluster.get_node_ip(placement.node_rank)
        rlinf_variables = rlinf_environment(cluster.machines, placement, NAMESPACE, address)
        environment = {**rlinf_variables, **common, **member_of_plan.environment}
        return replace(
            member_of_plan, name=f"{name}:{placement.rank}", environment=environment, arguments=tuple(arguments), named=dict(keywords)
        )

    return [member(member_of_plan) for member_of_plan in members_of(plan, name, "", master)]


TIMEOUT = 300.0
CLOSE = "close"
MOST_CONCURRENT = 2**31 - 1


class WorkerGroup:
    """Workers of a class, called together after `launch`.

    Every public method of the class is a method here, called on all workers or on the ranks of a
    preceding `execute_on`. It returns a WorkerGroupFuncResult at once; its `.wait()` returns the
    results in rank order. `close` ends the workers, unless the class has a method of that name,
    which then takes precedence.

    A group can be pickled to other processes, which then call the same workers; it can only be
    closed where it was launched.

    Raises ValueError (PW718) for a class with another method of a group, such as `launch`. Source:
    RLinf, rlinf/scheduler/worker/worker_group.py. Intended differences: the group is reserved and
    audited, the first failure of a worker is raised by the waiting call instead of ending this
    process, and a wrong method name is refused on lookup.
    """

    def __init__(self, worker_cls: type, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None) -> None:
        self._worker_cls = worker_cls
        self._arguments = tuple(args)
        self._named = dict(kwargs or {})
        self._name = f"worker_group_{worker_cls.__name__}"
        self._started: RunningGroup | None = None
        self._next: tuple[int, ...] | None = None
        reserved_names = {name for name in vars(WorkerGroup) if not name.startswith("_")}
        for name in sorted(reserved_names & {name for name in dir(worker_cls) if callable(getattr(worker_cls, name, None))}):
            if name != CLOSE:
                message = f"`{worker_cls.__name__}.{name}` has the name of a group's own"
                raise build_refusal("PW718", self._name, message, "rename the method", name)
            vars(self)[name] = partial(self._call, name)

    @classmethod
    def from_group_name(cls, worker_cls: type, group_name: str, port: Port | None = None) -> WorkerGroup:
        """Return the running group with this name on the connected cluster.

        Raises LaunchFailed: PW701 (not connected), PW704 (none or only some of its workers run).
        """
        if port is None and not need_ray().is_initialized():
            help = "make a `Cluster(address=...)` first, or call it in a worker"
            raise build_failure("PW701", group_name, f"this process is connected to no Ray cluster that could have `{group_name}`", help)
        group = cls(worker_cls)
        group._name = group_name
        group._started = RunningGroup(
            attach_group(port or RayPort(), worker_cls, group_name), (), end=lambda: None
        )  # only the launching process ends the workers
        return group

    def launch(
        self, cluster: Cluster, placement_strategy: PlacementSource | None = None, name: str | None = None, max_concurrency: int | None = None,
        isolate_gpu: bool = True, timeout: float = TIMEOUT,
    ) -> WorkerGroup:  # fmt: skip
        """Start all workers where the strategy or the plan puts them, and return the group.

        Parameters
        ----------
        cluster : cluster object; groups on it may share accelerators.
        placement_strategy : a strategy; a plan with a single component, or with a component of this
            name; or a plan and the name of a component. Default: a process on every accelerator, or
            one on the first node without accelerators.
        name : name of the group; its workers are called ``NAME:RANK``.
        max_concurrency : number of simultaneous calls per worker.
        isolate_gpu : True if a worker sees its own accelerators alone; a plan decides that itself.
        timeout : time limit, in seconds, for all workers to be ready.

        Nothing of the group is left if it raises. Raises LaunchFailed with the findings of a
        strategy that does not fit (PW1xx), for a name that is taken (PW717), and as
        `placewright.launch`; ValueError for a name with a colon.
        """
        if self._started is not None:
            raise build_failure(
                "PW717", self._name, f"the group `{self._name}` has been launched", "make another with `create_group`", self._name
            )
        if max_concurrency is not None and not 1 <= max_concurrency <= MOST_CONCURRENT:
            message = f"`max_concurrency` is {max_concurrency}, and Ray takes 1 to {MOST_CONCURRENT}"
            raise build_refusal("PW718", self._name, message, "leave it out, or give a number of them", max_concurrency)
        self._name = WorkerAddress(name or self._name).get_name()
        plan = plan_of(self._name, cluster, placement_strategy, isolate_gpu)
        members = members_in(cluster, plan, self._name, self._arguments, self._named)

        def make(port: Port) -> Workers:
            return Workers(port, self._name, members, self._worker_cls, concurrency=max_concurrency)

        self._started = cluster.start(plan, make, timeout)
        return self

    def execute_on(self, *ranks: int) -> WorkerGroup:
        """Restrict the next call alone to `ranks` (IndexError, ValueError); none means all."""
        if len(set(ranks)) < len(ranks):
            message = f"`execute_on` names a rank of `{self._name}` twice: {', '.join(map(str, ranks))}"
            raise build_refusal("PW718", self._name, message, "name each once", *ranks)
        self._next = tuple(self._standing.on(list(ranks)).ranks) if ranks else None
        return self

    @property
    def worker_group_name(self) -> str:
        """Name of the group."""
        return self._name

    @property
    def audit(self) -> tuple[AuditRow, ...]:
        """Actual location of every worker, in rank order; empty for a group of another process."""
        return self._started.audit if self._started else ()

    def close(self) -> None:
        """End the workers; their resources stay with the cluster object. Idempotent.

        Does nothing in a process that did not launch the group.
        """
        if self._started is not None:
            self._started.end()

    _close = close  # the worker class may have a `close` of its own

    def __enter__(self) -> WorkerGroup:
        return self

    def __exit__(self, *_: object) -> None:
        self._close()

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle by name: the receiving process looks up the same workers."""
        if self._started:
            return WorkerGroup.from_group_name, (self._worker_cls, self._name)
        return WorkerGroup, (self._worker_cls, self._arguments, self._named)

    def __repr__(self) -> str:
        count = self._started.workers.world_size if self._started else 0
        return f"<{type(self).__name__} {self._name!r} of {self._worker_cls.__name__}, {with_noun(count, 'worker')}>"

    def __getattr__(self, name: str) -> Callable[..., WorkerGroupFuncResult]:
        if name.startswith("__") or (not hasattr(vars(self).get("_worker_cls"), name) and name.startswith("_")):
            raise AttributeError(f"{type(self).__name__!r} has no attribute {name!r}")
        if name.startswith("_"):
            message = f"`{name}` of `{self._worker_cls.__name__}` is hidden by its underscore, and cannot be called of a group"
            raise build_refusal("PW718", self._name, message, "rename it, or call it in a public method", name)
        refused_of_all = None if hasattr(self._worker_cls, name) else refusal(name)
        if refused_of_all is not None:
            return refused_of_all
        try:
            self._standing.must_have(name)
        except AttributeError:
            self._next = None  # the call that `execute_on` was meant for does not come
            raise
        return partial(self._call, name)

    def _call(self, method: str, /, *arguments: Any, **keywords: Any) -> WorkerGroupFuncResult:
        workers, ranks = self._standing, self._next
        self._next = None
        callees = workers if ranks is None else workers.on(ranks)
        result = WorkerGroupFuncResult(workers, callees.send_call(method, arguments, keywords), method)
        if self._started is not None:
            self._started.calls.add(result)
        return result

    @property
    def _standing(self) -> Workers:
        if self._started is None:
            raise build_failure("PW704", self._name, f"the group `{self._name}` has not been launched", "call `launch` first", self._name)
        return self._started.workers
