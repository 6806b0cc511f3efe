"""Exceptions of a worker's code, raised again in the driver with their own type."""

from __future__ import annotations

from abc import ABCMeta
from types import BuiltinFunctionType, GetSetDescriptorType, MemberDescriptorType
from typing import Any, Iterator

from .....models.findings.finding import Finding
from ....failure import LaunchFailed


class RaisedByUser(LaunchFailed):
    """Failure of a worker's method (PW709), also of the original exception's type.

    It has the arguments and attributes of that exception, which is its `cause`, as with Ray's
    RayTaskError. Its text names rank and place and ends with the remote traceback, because it
    mostly ends a user's program.
    """

    cause: Exception

    def __init_subclass__(cls, **named: Any) -> None:
        """Skip the user's `__init_subclass__`: the combined class is no code of the user's."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the whole state; unpickling rebuilds the combined class."""
        return _again, (self.findings, self.traceback, self.cause)

    def __str__(self) -> str:
        return "\n".join([*(finding.message for finding in self.findings), *([self.traceback] if self.traceback else [])])


def as_raised(failure: LaunchFailed) -> LaunchFailed:
    """Return the failure with the type of a user's exception added; others unchanged.

    Classes that cannot have such a subclass (a metaclass of their own, a different memory layout)
    leave the failure unchanged; its `__cause__` is the original exception.
    """
    cause = failure.__cause__
    if failure.findings[0].code != "PW709" or not isinstance(cause, Exception):
        return failure
    try:
        combined = _unconstructed(_common(type(cause)), cause)
    except TypeError:
        return failure
    vars(combined).update(findings=failure.findings, traceback=failure.traceback, cause=cause)
    return combined


def _common(cls: type[Exception]) -> type[RaisedByUser]:
    """Build a class of both types.

    Raises TypeError if there can be none.
    """
    if issubclass(RaisedByUser, cls):
        return RaisedByUser
    if type(cls) not in (type, ABCMeta):
        raise TypeError(f"{cls.__name__} has the metaclass {type(cls).__name__}")
    create: Any = type(cls)
    common: type[RaisedByUser] = create(f"LaunchFailed({cls.__name__})", (RaisedByUser, cls), {"__doc__": RaisedByUser.__doc__})
    return common


def _unconstructed(common: type[RaisedByUser], cause: Exception) -> RaisedByUser:
    """Build an object in the state of `cause` without calling the user's constructors.

    Those may require or do anything. State of C classes and of `__slots__` is not in `__dict__`:
    OSError.errno, UnicodeError.object, ExceptionGroup.exceptions.
    """
    args_slot = vars(BaseException)["args"]  # the user's class may have a property `args`
    arguments = args_slot.__get__(cause)
    create = next(vars(base)["__new__"] for base in common.__mro__ if isinstance(vars(base).get("__new__"), BuiltinFunctionType))
    combined: RaisedByUser = create(common, *arguments)
    args_slot.__set__(combined, arguments)
    vars(combined).update(vars(cause))
    for descriptor in _descriptors(type(cause)):
        try:
            descriptor.__set__(combined, descriptor.__get__(cause))
        except (AttributeError, TypeError):
            continue  # unset in `cause`, or read-only and already set by `create`
    return combined


def _descriptors(cls: type) -> Iterator[Any]:
    for base in cls.__mro__:
        for name, value in vars(base).items():
            if isinstance(value, (MemberDescriptorType, GetSetDescriptorType)) and base is not BaseException and not name.startswith("__"):
                yield value


def _again(findings: tuple[Finding, ...], traceback: str, cause: Exception) -> LaunchFailed:
    failure = LaunchFailed(*findings, traceback=traceback)
    failure.__cause__ = cause
    return as_raised(failure)
