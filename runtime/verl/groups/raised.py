"""What the code of a worker raised, raised again in the driver so that it can be caught by its own type."""

from __future__ import annotations

from abc import ABCMeta
from types import BuiltinFunctionType, GetSetDescriptorType, MemberDescriptorType
from typing import Any, Iterator

from ....models.findings.finding import Finding
from ...failure import LaunchFailed


class RaisedByUser(LaunchFailed):
    """A method of a worker raised (PW709). It is also of the type of what was raised, with the same arguments and attributes.

    `cause` is the exception itself, as with Ray's RayTaskError. As a text it is which rank raised where, and the end of the
    traceback there, because it mostly ends a program of the user's.
    """

    cause: Exception

    def __init_subclass__(cls, **named: Any) -> None:
        """A class of the user's is not told of the class that is made of it: that is no code of the user's."""

    def __reduce__(self) -> tuple[Any, ...]:
        """It travels between processes with all that it says; the common class is made again there."""
        return _again, (self.findings, self.traceback, self.cause)

    def __str__(self) -> str:
        return "\n".join([*(finding.message for finding in self.findings), *([self.traceback] if self.traceback else [])])


def as_raised(failure: LaunchFailed) -> LaunchFailed:
    """The failure of a call, of its cause's type too if code of the user's raised; the failure itself for any other.

    A class that cannot have such a subclass (one with a metaclass of its own, or of another layout in memory) leaves the
    failure as it is, whose `__cause__` is what was raised.
    """
    cause = failure.__cause__
    if failure.findings[0].code != "PW709" or not isinstance(cause, Exception):
        return failure
    try:
        both = _unconstructed(_common(type(cause)), cause)
    except TypeError:
        return failure
    vars(both).update(findings=failure.findings, traceback=failure.traceback, cause=cause)
    return both


def _common(cls: type[Exception]) -> type[RaisedByUser]:
    """A class of both kinds. Raises TypeError where there can be none."""
    if issubclass(RaisedByUser, cls):
        return RaisedByUser
    if type(cls) not in (type, ABCMeta):
        raise TypeError(f"{cls.__name__} has the metaclass {type(cls).__name__}")
    create: Any = type(cls)
    common: type[RaisedByUser] = create(f"LaunchFailed({cls.__name__})", (RaisedByUser, cls), {"__doc__": RaisedByUser.__doc__})
    return common


def _unconstructed(common: type[RaisedByUser], cause: Exception) -> RaisedByUser:
    """An object in the state of `cause`, without a call of the user's constructors, which may want or do anything.

    What classes in C and `__slots__` hold is not in `__dict__`: OSError.errno, UnicodeError.object, ExceptionGroup.exceptions.
    """
    held_by_all = vars(BaseException)["args"]  # the user's class may have a property of that name
    arguments = held_by_all.__get__(cause)
    create = next(vars(base)["__new__"] for base in common.__mro__ if isinstance(vars(base).get("__new__"), BuiltinFunctionType))
    both: RaisedByUser = create(common, *arguments)
    held_by_all.__set__(both, arguments)
    vars(both).update(vars(cause))
    for held in _held_apart(type(cause)):
        try:
            held.__set__(both, held.__get__(cause))
        except (AttributeError, TypeError):
            continue  # not set in the one, or read-only and set by `create`
    return both


def _held_apart(cls: type) -> Iterator[Any]:
    for base in cls.__mro__:
        for name, held in vars(base).items():
            if isinstance(held, (MemberDescriptorType, GetSetDescriptorType)) and base is not BaseException and not name.startswith("__"):
                yield held


def _again(findings: tuple[Finding, ...], traceback: str, cause: Exception) -> LaunchFailed:
    failure = LaunchFailed(*findings, traceback=traceback)
    failure.__cause__ = cause
    return as_raised(failure)
