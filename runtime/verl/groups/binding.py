"""Methods of workers as methods of their group: dispatched, called and collected as `register` said."""

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
"""Methods of our Worker itself, which knows nothing of dispatching, and how groups call them. Source: verl, base/worker.py."""


class BoundMethod:
    """A method of a group that calls one of its workers."""

    def __init__(self, group: Any, method: str, how: Registered) -> None:
        self.group = group
        self.method = method
        self.how = how
        self._dispatch, self._collect = functions_of(how.dispatch_mode)

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """The answer, as the dispatch mode collects it; what it will be got from, if the method does not block."""
        group, everywhere = self.group, self.how.execute_mode is Execute.ALL
        if self.how.waits_for_arguments:
            arguments, named = tuple(map(value_of, arguments)), {name: value_of(each) for name, each in named.items()}
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
    """The registered methods of a class, with how they are called."""
    for name in dir(cls):
        method = getattr(cls, name, None)
        how = registered(method) or (OF_EVERY_WORKER.get(name) if callable(method) else None)
        if how is not None:
            yield name, how


def bind(group: Any, name: str, method: str, how: Registered) -> None:
    """Gives a group the method `name`, which calls `method` of its workers. It is of a class of that name, for whoever looks at it."""
    setattr(group, name, type(name, (BoundMethod,), {"__doc__": BoundMethod.__doc__})(group, method, how))
