"""Methods of workers as methods of their group, calls by name, exceptions of workers."""

from __future__ import annotations

from functools import partial
from types import BuiltinFunctionType, FunctionType, WrapperDescriptorType
from typing import Any, Callable, Iterator, Sequence

from ....models.findings.finding import Finding
from ...failure import LaunchFailed
from ...port.port import Actor, Port, Ticket
from ...workers.calls import Results
from ...workers.group import WorkerGroup
from .batches import DataProtoFuture, trimmed
from .dispatch import PADDING, Dispatch, Execute, Registered, functions_of, registered, shares, value_of


class RaisedByUser(LaunchFailed):
    """Failure of a worker's method (PW709), also of the original exception's type.

    It has the arguments and attributes of that exception, which is its `cause`, as with Ray's
    RayTaskError. Its text names rank and place and ends with the remote traceback, because it
    mostly ends a user's program.
    """

    cause: Exception

    def __init_subclass__(cls, **named: Any) -> None:
        """Skip the user's `__init_subclass__`: the combined class is no code of the user's."""

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of the original exception."""
        return getattr(vars(self).get("cause"), name)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the whole state; unpickling rebuilds the combined class."""
        return _again, (self.findings, self.traceback, self.cause)

    def __str__(self) -> str:
        return "\n".join([*(finding.message for finding in self.findings), *([self.traceback] if self.traceback else [])])


def as_raised(failure: LaunchFailed) -> LaunchFailed:
    """Return the failure with the type of a user's exception added; others unchanged.

    No code of the user's class runs. Classes that cannot have such a subclass leave the failure
    unchanged; its `__cause__` is the original exception.
    """
    cause = failure.__cause__
    if failure.findings[0].code != "PW709" or not isinstance(cause, Exception):
        return failure
    kind: Any = type(cause)
    args: Any = vars(BaseException)["args"]  # the user's class may have a property of that name
    try:
        common = RaisedByUser if issubclass(RaisedByUser, kind) else type(f"LaunchFailed({kind.__name__})", (RaisedByUser, kind), {})
        create = next(vars(base)["__new__"] for base in kind.__mro__ if isinstance(vars(base).get("__new__"), BuiltinFunctionType))
        combined: RaisedByUser = create(common, *args.__get__(cause))
        if isinstance(kind.__init__, WrapperDescriptorType) and not isinstance(kind.__reduce__, FunctionType):
            # Python's own, such as OSError's, which sets what no __dict__ has
            kind.__init__(combined, *cause.__reduce__()[1])
    except TypeError:
        return failure
    args.__set__(combined, args.__get__(cause))
    vars(combined).update(findings=failure.findings, traceback=failure.traceback, cause=cause)
    return combined


def _again(findings: tuple[Finding, ...], traceback: str, cause: Exception) -> LaunchFailed:
    failure = LaunchFailed(*findings, traceback=traceback)
    failure.__cause__ = cause
    return as_raised(failure)


OF_EVERY_WORKER = {
    "_query_dispatch_info": Registered(Dispatch.ONE_TO_ALL, Execute.ALL),
    "_query_collect_info": Registered(Dispatch.ONE_TO_ALL, Execute.ALL),
    "execute_with_func_generator": Registered(Dispatch.DP_COMPUTE_PROTO_WITH_FUNC, Execute.ALL),
    "execute_func_rank_zero": Registered(Dispatch.ALL_TO_ALL, Execute.RANK_ZERO),
}
"""Call modes of the methods of our Worker, which does not know dispatching.

Source: verl, base/worker.py.
"""


class BoundMethod:
    """Group method that dispatches to the same method of the workers."""

    def __init__(self, group: Any, method: str, how: Registered) -> None:
        self.group = group
        self.method = method
        self.how = how
        self._dispatch, self._collect = functions_of(how.dispatch_mode)

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """Return the collected answer; a future of it if the method does not block."""
        group, everywhere = self.group, self.how.execute_mode is Execute.ALL
        if self.how.waits_for_arguments:
            arguments, named = tuple(map(value_of, arguments)), {name: value_of(value) for name, value in named.items()}
        arguments, named = self._dispatch(group, *arguments, **named)
        padding = named.pop(PADDING, 0)
        execute: Callable[..., Any]
        if self.how.blocking:
            execute = group.execute_all_sync if everywhere else group.execute_rank_zero_sync
        else:
            execute = group.execute_all if everywhere else group.execute_rank_zero
        output = self._collect(group, execute(self.method, *arguments, **named))
        if isinstance(output, DataProtoFuture):
            output.padding = padding
            return output
        return trimmed(output, padding)


def methods_of(cls: type) -> Iterator[tuple[str, Registered]]:
    """Yield the registered methods of a class with their call modes."""
    for name in dir(cls):
        method = getattr(cls, name, None)
        mode = registered(method) or (OF_EVERY_WORKER.get(name) if callable(method) else None)
        if mode is not None:
            yield name, mode


def bind(group: Any, name: str, method: str, how: Registered) -> None:
    """Bind `method` of the workers to the group, and its class, as `name`."""
    setattr(group, name, type(name, (BoundMethod,), {"__doc__": BoundMethod.__doc__})(group, method, how))


class Executing:
    """Group with method calls by name.

    Blocking calls raise LaunchFailed at the first worker that raises (PW709) or dies (PW704),
    however long the rest would take. After PW709 the failure is also of the type that the worker
    raised: `except KeyError` catches a KeyError of a worker, as with verl. In verl it is a
    `ray.exceptions.RayTaskError` besides, here a LaunchFailed; see RaisedByUser.

    Non-blocking calls return references, as Ray's own calls do. `group` is the same workers behind
    our own interface, such as ``group.on(0, 1).call("train")``.
    """

    group: WorkerGroup
    timeout: float | None = None
    """Time limit of blocking calls, in seconds; None: unlimited."""
    _ticket: type | None = None

    @property
    def port(self) -> Port:
        """Cluster of the group."""
        return self.group.port

    @property
    def workers(self) -> list[Actor]:
        """Actor handles of the workers in rank order; they have the methods of their class."""
        return self.group.workers

    @property
    def world_size(self) -> int:
        """Number of workers."""
        return self.group.world_size

    def execute_rank_zero_async(self, method_name: str, *args: Any, **kwargs: Any) -> Ticket:
        """Return a reference to the answer of rank 0."""
        return self._asked(0, method_name, args, kwargs)

    execute_rank_zero = execute_rank_zero_async

    def execute_rank_zero_sync(self, method_name: str, *args: Any, **kwargs: Any) -> Any:
        """Return the answer of rank 0."""
        return self.fetch([0], [self.execute_rank_zero_async(method_name, *args, **kwargs)], method_name)[0]

    def execute_all_async(self, method_name: str, *args: Any, **kwargs: Any) -> list[Ticket]:
        """Return references to the answers of all workers, in rank order.

        If every argument is a list with one element per worker, each worker gets its own element;
        otherwise every worker gets all arguments unchanged. See `shares`.
        """
        split = shares(args, kwargs, self.world_size)
        return [self._asked(rank, method_name, positional, named) for rank, (positional, named) in enumerate(split)]

    execute_all = execute_all_async

    def execute_all_sync(self, method_name: str, *args: Any, **kwargs: Any) -> list[Any]:
        """Return the answers of all workers in rank order; arguments as for execute_all_async."""
        return self.fetch(range(self.world_size), self.execute_all_async(method_name, *args, **kwargs), method_name)

    def fetch(self, ranks: Sequence[int], tickets: Sequence[Ticket], method_name: str = "") -> list[Any]:
        """Fetch answers of `ranks`; LaunchFailed at the first failure, also of its own type."""
        try:
            return Results(self.group, dict(zip(tickets, ranks)), method_name, self.timeout).wait()
        except LaunchFailed as failure:
            raise as_raised(failure) from failure.__cause__

    def is_awaited(self, answer: object) -> bool:
        """Return True if `answer` is a reference from a call of this group."""
        return self._ticket is not None and type(answer) is self._ticket

    def fetcher(self, ranks: Sequence[int]) -> Callable[[Sequence[Ticket]], list[Any]]:
        """Return `fetch` bound to these ranks."""
        return partial(self.fetch, ranks)

    def _asked(self, rank: int, method: str, arguments: Sequence[Any], named: dict[str, Any]) -> Ticket:
        ticket = self.group.request(rank, *self._addressed(method, arguments), named)
        self._ticket = type(ticket)
        return ticket

    def _addressed(self, method: str, arguments: Sequence[Any]) -> tuple[str, Sequence[Any]]:
        """Return the actor's method and arguments for a method of the group."""
        return method, arguments
