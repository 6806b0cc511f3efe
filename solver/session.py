"""Session shared by all searches of a command: Ctrl-C, child processes, permission to search."""

from __future__ import annotations

import signal
import threading
from contextlib import ExitStack, contextmanager
from types import FrameType
from typing import TYPE_CHECKING, Callable, Iterator, Sequence, TypeVar

if TYPE_CHECKING:
    from .process import Child

T = TypeVar("T")


class SearchNeeded(Exception):
    """Greedy placement and counting decided nothing, and searching is forbidden."""


class Session:
    """State shared by all searches of a command.

    In its block a session counts Ctrl-C, also where Python loses the exception (in a finaliser, a
    callback), and keeps child processes for the next question: to start one takes longer than most
    questions. It counts nothing in a thread other than the main one, and where SIGINT has another
    handler. Outside of its block Ctrl-C raises KeyboardInterrupt, and no process is kept.

    Parameters
    ----------
    answers : True if the first Ctrl-C ends the searches with their best answers and only a second
        one raises KeyboardInterrupt; False if the first one raises it.
    """

    def __init__(self, answers: bool = True) -> None:
        self.may_search = True
        self._answers, self._gives_up = answers, False
        self._interrupts, self._raises_at = 0, 2 if answers else 1
        self._waiting: dict[tuple[str, ...], Child] | None = None
        self._is_listening = False

    def __enter__(self) -> Session:
        self._waiting = {}
        in_main = threading.current_thread() is threading.main_thread()
        if in_main and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            self._is_listening = True
            signal.signal(signal.SIGINT, self._count)
        return self

    def __exit__(self, *exc_info: object) -> None:
        waiting, self._waiting = self._waiting or {}, None
        try:
            with ExitStack() as every:
                for process in waiting.values():
                    every.callback(process.end)
        finally:
            if self._is_listening:
                signal.signal(signal.SIGINT, signal.default_int_handler)
                self._is_listening = False

    # -- Ctrl-C

    @property
    def cancelled(self) -> bool:
        """True after a Ctrl-C: no further searches."""
        return self._interrupts > 0

    @property
    def answers(self) -> bool:
        """True if Ctrl-C ends a search with the best answer, without KeyboardInterrupt."""
        return self._answers and self._waiting is not None and not self._gives_up

    def look(self, count: int = 1) -> None:
        """Raise KeyboardInterrupt after `count` Ctrl-C."""
        if self._interrupts >= count:
            raise KeyboardInterrupt

    @contextmanager
    def raise_at(self, count: int) -> Iterator[None]:
        """Raise KeyboardInterrupt in the block from this Ctrl-C on.

        Earlier ones wait for `look`, so that nothing is left half done.
        """
        before, self._raises_at = self._raises_at, count
        try:
            yield
        finally:
            self._raises_at = before

    def unless_cancelled(self, ask: Callable[[], T], instead: Callable[[], T]) -> T:
        """Return the result of `ask`, or of `instead` if a Ctrl-C ends `ask`.

        A second Ctrl-C raises KeyboardInterrupt, as does the first one if the session does not
        answer or count it.
        """
        if not self._answers or not self._is_listening:
            return ask()
        before, self._gives_up = self._gives_up, True
        try:
            with self.raise_at(1):
                self.look()
                return ask()
        except KeyboardInterrupt:
            self.look(2)
        finally:
            self._gives_up = before
        return instead()

    def _count(self, number: int, frame: FrameType | None) -> None:
        self._interrupts += 1
        self.look(self._raises_at)

    # -- the permission to search

    @contextmanager
    def without_search(self) -> Iterator[None]:
        """Forbid solvers in the block, also in child processes: SearchNeeded is raised."""
        before, self.may_search = self.may_search, False
        try:
            yield
        finally:
            self.may_search = before

    def must_search(self) -> None:
        """Check the permission before a solver is loaded. Raises SearchNeeded."""
        if not self.may_search:
            raise SearchNeeded

    # -- child processes

    def has_waiting(self, command: Sequence[str]) -> bool:
        """Return True if a process with this command line waits for a question."""
        return tuple(command) in (self._waiting or {})

    @contextmanager
    def ask(self, command: Sequence[str], question: bytes, patience: float) -> Iterator[Child]:
        """Ask a question to a waiting or new process with this command line.

        The answer may take `patience` seconds. After the block the process waits for the next
        question. It is ended if the block raises, if it is not idle, or if the session keeps no
        processes. Raises OSError.
        """
        from .process import Child  # a slow import

        waiting, key = self._waiting, tuple(command)
        process = waiting.pop(key, None) if waiting else None
        if process is not None and not process.is_idle:
            process.end()
            process = None
        if process is None:
            with self.raise_at(2):  # so that a started process is always known, and ended
                process = Child(command, question, patience, self.look)
        else:
            process.ask(question, patience, self.look)
        try:
            yield process
        except BaseException:
            process.end()
            raise
        if waiting is None or not process.is_idle:
            process.end()
        else:
            waiting[key] = process
