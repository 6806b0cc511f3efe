"""Methods of workers as methods of their group."""

from __future__ import annotations

from typing import Any, Callable, Iterator

from .batches import DataProtoFuture, trim
from .dispatch import PADDING, CallMode, Dispatch, Execute, find_registered, functions_of, value_of

OF_EVERY_WORKER = {
    "_query_dispatch_info": CallMode(Dispatch.ONE_TO_ALL, Execute.ALL),
    "_query_collect_info": CallMode(Dispatch.ONE_TO_ALL, Execute.ALL),
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

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        """Return the collected answer; a future of it if the method does not block."""
        group, everywhere = self.group, self.how.execute_mode is Execute.ALL
        if self.how.waits_for_arguments:
            arguments, keywords = tuple(map(value_of, arguments)), {name: value_of(value) for name, value in keywords.items()}
        arguments, keywords = self._dispatch(group, *arguments, **keywords)
        padding = keywords.pop(PADDING, 0)
        execute: Callable[..., Any]
        if self.how.blocking:
            execute = group.execute_all_sync if everywhere else group.execute_rank_zero_sync
        else:
            execute = group.execute_all if everywhere else group.execute_rank_zero
        output = self._collect(group, execute(self.method, *arguments, **keywords))
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
