"""Calls on real processes: what only Ray can show."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any, Iterator

import pytest
from placewright.runtime.compat.rlinf.cluster import Cluster
from placewright.runtime.compat.rlinf.group import WorkerGroup
from placewright.runtime.compat.rlinf.strategies import PackedPlacementStrategy
from placewright.runtime.failure import LaunchFailed
from placewright.runtime.port.ray_compat import send_by_value
from placewright.runtime.workers.inside.base import Worker

from ...unhindered import unhindered

pytestmark = pytest.mark.ray


class Missing(Exception):
    """No such shard."""


class Shard(Worker):
    """Two of them stand for all tests of this file: each start of a process costs more than all these calls."""

    def __init__(self, scale: int) -> None:
        super().__init__()
        self.scale = scale

    def train(self, batch: Any, *, times: int = 1) -> Any:
        return (self._rank, len(batch) * times * self.scale)

    def waits(self, file: str) -> int:
        while self._rank == 0 and not os.path.exists(file):
            time.sleep(0.01)
        return self._rank

    def fail(self) -> None:
        if self._rank == 1:
            raise Missing("shard 1")
        time.sleep(600)

    def die(self) -> None:
        if self._rank == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        time.sleep(600)

    def pid(self) -> int:
        return os.getpid()


class Asynchronous(Worker):
    """A class with a coroutine."""

    async def ask(self, question: str) -> str:
        await asyncio.sleep(0)
        return f"{question} {self.rank}"


@pytest.fixture
def cluster(address: str) -> Iterator[Cluster]:
    send_by_value(sys.modules[__name__])
    with Cluster(1, address=address) as cluster:
        yield cluster


def launched(cluster: Cluster) -> WorkerGroup:
    return Shard.create_group(10).launch(cluster, PackedPlacementStrategy(0, 3, 2), name="shard")


def test_calls_arguments_and_failures(cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import ray

    stored: list[str] = []
    manager = ray._private.worker.global_worker.function_actor_manager
    store = manager.export_actor_class
    monkeypatch.setattr(manager, "export_actor_class", lambda cls, *more: (stored.append(cls.__name__), store(cls, *more)))
    group = launched(cluster)
    assert stored == ["Shard"]  # once, not for each worker
    large = bytearray(1 << 20)
    assert group.train(large, times=2).wait() == [(0, 20 << 20), (1, 20 << 20)]
    assert group.execute_on(1).train("abc").wait() == [(1, 30)]
    waiting = group.waits(str(tmp_path / "told")).as_completed()
    assert next(waiting)[0] == 1
    (tmp_path / "told").touch()
    assert [rank for rank, _ in waiting] == [0]
    with pytest.raises(AttributeError, match="did you mean `train`"):
        group.tran("abc")

    began = unhindered()
    with pytest.raises(LaunchFailed, match=r"rank 1 of `shard` on .* raised while it ran `fail`: .*shard 1") as caught:
        group.fail().wait()
    assert unhindered() - began < 5
    assert type(caught.value.__cause__).__name__ == "Missing"
    assert "in fail" in caught.value.traceback


def test_a_worker_that_is_killed_ends_the_call_at_once_and_its_name_can_be_used_again(cluster: Cluster) -> None:
    with launched(cluster) as group:
        taken = Shard.create_group(1)
        with pytest.raises(LaunchFailed, match="there is a worker `shard:0` already"):
            taken.launch(cluster, PackedPlacementStrategy(0, 0), name="shard")
        began = unhindered()
        with pytest.raises(LaunchFailed, match=r"rank 1 of `shard` on .* died while it ran `die`"):
            group.die().wait()
        assert unhindered() - began < 5
    again = Asynchronous.create_group().launch(cluster, PackedPlacementStrategy(0, 0), name="shard")
    assert again.ask("who?").wait() == ["who? 0"]
