"""Processes kept for many questions: to start one takes longer than most questions do."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Callable, Iterator, Sequence

if TYPE_CHECKING:
    from .process import Child

_kept: ContextVar[dict[tuple[str, ...], Child] | None] = ContextVar("processes that wait for a question", default=None)


@contextmanager
def kept() -> Iterator[None]:
    """Processes that have answered wait for the next question in the block, and end with it; inside another block they stay until that ends."""
    if _kept.get() is not None:
        yield
        return
    waiting: dict[tuple[str, ...], Child] = {}
    token = _kept.set(waiting)
    try:
        yield
    finally:
        _kept.reset(token)
        with ExitStack() as every:
            for each in waiting.values():
                every.callback(each.end)


def has_waiting(command: Sequence[str]) -> bool:
    """Does a process of this command line wait for a question?"""
    return tuple(command) in (_kept.get() or {})


@contextmanager
def asked(command: Sequence[str], question: bytes, patience: float, look: Callable[[], None]) -> Iterator[Child]:
    """A process that was asked: one that waits, or a new one. It waits again after the block, or ends where nobody keeps it.

    It ends too where something is raised in the block, as by Ctrl-C: whatever it was doing, it is not asked again. Raises OSError.
    """
    from .process import Child  # which loads much

    waiting, key = _kept.get(), tuple(command)
    process = waiting.pop(key, None) if waiting is not None else None
    if process is not None and not process.is_idle:
        process.end()
        process = None
    if process is None:
        process = Child(command, question, patience, look)
    else:
        process.ask(question, patience, look)
    try:
        yield process
    except BaseException:
        process.end()
        raise
    if waiting is None or not process.is_idle:
        process.end()
    else:
        waiting[key] = process
