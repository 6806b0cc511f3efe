"""Methods of workers bound to their group: dispatch, call and collect as registered."""

from __future__ import annotations

from typing import Any, Callable, Iterator

from ...dispatch.batches import DataProtoFuture, trimmed
from ...dispatch.modes import Dispatch, Execute
from ...dispatch.register import Registered, registered, value_of
from ...dispatch.table import PADDING, functions_of

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
    """Bind `method` of the workers to the group as `name`.

    The bound object gets a class of that name, for code that inspects it.
    """
    setattr(group, name, type(name, (BoundMethod,), {"__doc__": BoundMethod.__doc__})(group, method, how))
