"""Mark on a worker's method that defines the group's way to call it."""

from __future__ import annotations

import functools
import inspect
from dataclasses import dataclass
from typing import Any, Callable, Mapping, TypeVar, cast

from ....failure import refused
from .batches import DataProtoFuture
from .mesh import Dispatch, Execute, their_modes

Method = TypeVar("Method", bound=Callable[..., Any])
MARK = "_placewright_registered"
FUNCTIONS = ("dispatch_fn", "collect_fn")
"""Keys of a dispatch mode in dict form."""


@dataclass(frozen=True)
class Registered:
    """Call mode of a method: dispatch mode, called workers, and blocking or not.

    The dispatch mode is a Dispatch or ``{"dispatch_fn": ..., "collect_fn": ...}``.
    `waits_for_arguments`: True if the group resolves a DataProtoFuture before the call, because the
    worker would not.
    """

    dispatch_mode: Dispatch | Mapping[str, Callable[..., Any]]
    execute_mode: Execute
    blocking: bool = True
    waits_for_arguments: bool = False


def register(
    dispatch_mode: Dispatch | Mapping[str, Callable[..., Any]] = Dispatch.ALL_TO_ALL, execute_mode: Execute = Execute.ALL,
    blocking: bool = True, materialize_futures: bool = True,
) -> Callable[[Method], Method]:  # fmt: skip
    """Decorate a worker's method to make it a method of the group too.

    `blocking`: the group's method returns answers, otherwise references. `materialize_futures`: a
    DataProtoFuture among the arguments is resolved when the method runs. Raises a ValueError for
    invalid modes. Source: verl, verl/single_controller/base/decorator.py, `register`.
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
                return await method(*map(value_of, arguments), **{name: value_of(value) for name, value in named.items()})

            wrapped = wrapped_async
        else:

            @functools.wraps(method)
            def wrapped(*arguments: Any, **named: Any) -> Any:
                return method(*map(value_of, arguments), **{name: value_of(value) for name, value in named.items()})

        setattr(wrapped, MARK, how)
        return cast(Method, wrapped)

    return mark


def registered(method: object) -> Registered | None:
    """Return the call mode of a method registered here or by verl; None without one."""
    how = getattr(method, MARK, None)
    if isinstance(how, Registered):
        return how
    verl_modes = their_modes(method)
    return None if verl_modes is None else Registered(*verl_modes, waits_for_arguments=True)


def check_dispatch_mode(mode: object) -> None:
    """Check that a mode is a Dispatch or a dict of both functions.

    Raises a ValueError otherwise.
    """
    if isinstance(mode, Mapping):
        missing = [key for key in FUNCTIONS if key not in mode]
        if missing:
            raise refused("PW718", "", f"the dispatch mode lacks {' and '.join(missing)}", "give a dict of dispatch_fn and collect_fn")
    elif not isinstance(mode, Dispatch):
        raise refused("PW718", "", f"`{mode}` is no dispatch mode", "use a member of Dispatch, or a dict of dispatch_fn and collect_fn")


def value_of(argument: Any) -> Any:
    """Return the argument, or the awaited value of a DataProtoFuture."""
    return argument.get() if isinstance(argument, DataProtoFuture) else argument
