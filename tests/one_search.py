"""One process that searches, for all commands of a module: to start one takes longer than most searches."""

from __future__ import annotations

from contextlib import contextmanager
from typing import ClassVar, Iterator

import pytest
from placewright.solver.process import Child
from placewright.solver.session import Session


class SharedSession(Session):
    """A session whose processes wait for the next one too."""

    kept: ClassVar[dict[tuple[str, ...], Child]] = {}

    def __enter__(self) -> Session:
        super().__enter__()
        self._waiting = self.kept
        return self

    def __exit__(self, *raised: object) -> None:
        self._waiting = None
        super().__exit__(*raised)


@contextmanager
def one_process_that_searches() -> Iterator[None]:
    """Let every session share its processes while this lasts."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("placewright.solver.session.Session", SharedSession)
        yield
    for process in SharedSession.kept.values():
        process.end()
    SharedSession.kept.clear()
