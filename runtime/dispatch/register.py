"""The mark on a method of a worker that says how the group calls it."""

from __future__ import annotations

import functools
import inspect
from dataclasses import dataclass
from typing import Any, Callable, Mapping, TypeVar, cast

from ..refusal import refused
from .batches import DataProtoFuture
from .modes import Dispatch, Execute
from .theirs import their_modes

Method = TypeVar("Method", bound=Callable[..., Any])
MARK = "_placewright_registered"
FUNCTIONS = ("dispatch_fn", "collect_fn")
"""The keys of a dispatch mode that is a dict."""


@dataclass(frozen=True)
class Registered:
    """How a group calls a method: a Dispatch or ``{"dispatch_fn": ..., "collect_fn": ...}``, which workers, and whether it waits.

    `waits_for_arguments`: whether the group gets the value of a DataProtoFuture before it calls, because the worker would not.
    """

    dispatch_mode: Dispatch | Mapping[str, Callable[..., Any]]
    execute_mode: Execute
    blocking: bool = True
    waits_for_arguments: bool = False


def register(
    dispatch_mode: Dispatch | Mapping[str, Callable[..., Any]] = Dispatch.ALL_TO_ALL, execute_mode: Execute = Execute.ALL,
    blocking: bool = True, materialize_futures: bool = True,
) -> Callable[[Method], Method]:  # fmt: skip
    """A decorator for methods of workers that makes them methods of the group too.

    `blocking`: the group's method returns answers, else what answers are got from. `materialize_futures`: a DataProtoFuture
    among the arguments is its value when the method runs. Raises a ValueError for modes that are none.
    Source: verl, verl/single_controller/base/decorator.py, `register`.
    """
    check_dispatch_mode(dispatch_mode)
    if not isinstance(execute_mode, Execute):
        raise refused("PW718", "", f"`{execute_mode}` is no execute mode", "use Execute.ALL or Execute.RANK_ZERO")
    how = Registered(dispatch_mode, execute_mode, blocking)

    def mark(method: Method) -> Method:
        if not materialize_futures:
            wrapped: Any = method
        elif inspect.iscoroutinefunction(method):

            @functools.wraps(method)
            async def wrapped_async(*arguments: Any, **named: Any) -> Any:
                return await method(*map(value_of, arguments), **{name: value_of(its) for name, its in named.items()})

            wrapped = wrapped_async
        else:

            @functools.wraps(method)
            def wrapped(*arguments: Any, **named: Any) -> Any:
                return method(*map(value_of, arguments), **{name: value_of(its) for name, its in named.items()})

        setattr(wrapped, MARK, how)
        return cast(Method, wrapped)

    return mark


def registered(method: object) -> Registered | None:
    """How a method was registered, here or by verl itself; None if it was not."""
    how = getattr(method, MARK, None)
    if isinstance(how, Registered):
        return how
    theirs = their_modes(method)
    return None if theirs is None else Registered(*theirs, waits_for_arguments=True)


def check_dispatch_mode(mode: object) -> None:
    """Raises a ValueError for what is neither a Dispatch nor a dict of both functions."""
    if isinstance(mode, Mapping):
        missing = [key for key in FUNCTIONS if key not in mode]
        if missing:
            raise refused("PW718", "", f"the dispatch mode lacks {' and '.join(missing)}", "give a dict of dispatch_fn and collect_fn")
    elif not isinstance(mode, Dispatch):
        raise refused("PW718", "", f"`{mode}` is no dispatch mode", "use a member of Dispatch, or a dict of dispatch_fn and collect_fn")


def value_of(argument: Any) -> Any:
    """The argument itself, or what a DataProtoFuture stands for, which is waited for."""
    return argument.get() if isinstance(argument, DataProtoFuture) else argument
