"""Methods of workers as methods of their group, exceptions of workers."""

from __future__ import annotations

from types import BuiltinFunctionType, FunctionType, WrapperDescriptorType
from typing import Any, Callable, Iterator

from ....models.findings.finding import Finding
from ...failure import LaunchFailed
from .batches import DataProtoFuture, trim
from .dispatch import PADDING, CallMode, Dispatch, Execute, find_registered, functions_of, value_of


class RaisedByUser(LaunchFailed):
    """Failure of a worker's method (PW709), also of the original exception's type.

    It has the arguments and attributes of that exception, which is its `cause`, as with Ray's
    RayTaskError. Its text names rank and place and ends with the remote traceback, because it
    mostly ends a user's program.
    """

    cause: Exception

    def __init_subclass__(cls, **named: Any) -> None:
        """Skip the user's `__init_subclass__`: the combined class is not code of the user's."""

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of the original exception."""
        return getattr(vars(self).get("cause"), name)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the whole state; unpickling rebuilds the combined class."""
        return _build_failure, (self.findings, self.traceback, self.cause)

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
        combination: RaisedByUser = create(common, *args.__get__(cause))
        if isinstance(kind.__init__, WrapperDescriptorType) and not isinstance(kind.__reduce__, FunctionType):
            # Python's own, such as OSError's, which sets what no __dict__ has
            kind.__init__(combination, *cause.__reduce__()[1])
    except TypeError:
        return failure
    args.__set__(combination, args.__get__(cause))
    vars(combination).update(findings=failure.findings, traceback=failure.traceback, cause=cause)
    return combination


def _build_failure(findings: tuple[Finding, ...], traceback: str, cause: Exception) -> LaunchFailed:
    failure = LaunchFailed(*findings, traceback=traceback)
    failure.__cause__ = cause
    return as_raised(failure)


OF_EVERY_WORKER = {
    "_query_dispatch_info": CallMode(Dispatch.ONE_TO_ALL, Execute.ALL),
    "_query_collect_info": CallMode(Dispatch.ONE_TO_ALL, Execute.ALL),
    "execute_with_func_generator": CallMode(Dispatch.DP_COMPUTE_PROTO_WITH_FUNC, Execute.ALL),
    "execute_func_rank_zero": CallMode(Dispatch.ALL_TO_ALL, Execute.RANK_ZERO),
}
"""Call modes of the methods of our Worker, which does not know dispatching.

Source: verl, base/worker.py.
"""


class BoundMethod:
    """Group method that dispatches to the same method of the workers."""

    def __init__(self, group: Any, method: str, how: CallMode) -> None:
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
        return trim(output, padding)


def methods_of(cls: type) -> Iterator[tuple[str, CallMode]]:
    """Yield the registered methods of a class with their call modes."""
    for name in dir(cls):
        method = getattr(cls, name, None)
        mode = find_registered(method) or (OF_EVERY_WORKER.get(name) if callable(method) else None)
        if mode is not None:
            yield name, mode


def bind(group: Any, name: str, method: str, how: CallMode) -> None:
    """Bind `method` of the workers to the group, and its class, as `name`."""
    setattr(group, name, type(name, (BoundMethod,), {"__doc__": BoundMethod.__doc__})(group, method, how))
