"""Clusters and a worker class for the tests of this room."""

from __future__ import annotations

import time
from typing import Any

from placewright.runtime.compat.rlinf.cluster import Cluster
from placewright.runtime.workers.inside.base import Worker

from ...fake import FakePort


class Actor(Worker):
    """Knows itself, and measures what it does."""

    def __init__(self, scale: int = 1) -> None:
        super().__init__()
        self.scale = scale

    @Worker.timer()
    def train(self, batch: int) -> int:
        return batch * self.scale

    @Worker.timer("update")
    def step(self) -> None:
        time.sleep(0.002 * (self._rank + 1))

    @staticmethod
    def add(one: int, other: int) -> int:
        return one + other

    def told(self, *names: str) -> list[Any]:
        return [getattr(self, name) for name in names]

    def _hidden(self) -> None:
        """Not to be called of a group."""


def cluster(*accelerators: int, **more: Any) -> tuple[FakePort, Cluster]:
    """A cluster whose nodes have so many accelerators, and what is behind it."""
    port = FakePort(*accelerators)
    return port, Cluster(port=port, **more)
