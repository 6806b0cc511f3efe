"""Whoever gives up while a replica starts does not wait for its model, and nothing is left."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest
from placewright.runtime.replicas import servers
from placewright.runtime.replicas.loop import run_in_thread
from placewright.runtime.replicas.replica import EchoReplica

from ...unhindered import unhindered
from ..fake import FakePort


def test_a_function_that_can_be_stopped_is_stopped_and_waited_for() -> None:
    stopped, ended = threading.Event(), threading.Event()

    def wait() -> None:
        stopped.wait(20)
        ended.set()

    async def run() -> None:
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(run_in_thread(wait, stop=stopped.set), 0.1)
        assert ended.is_set()

    asyncio.run(run())


def test_a_replica_whose_model_takes_long_to_load_is_given_up_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    loading, killed = threading.Event(), threading.Event()

    class Loading(servers.Servers):
        """Servers whose model takes half a minute to load, unless they are killed."""

        def launch(self) -> tuple[str, int]:
            loading.set()
            killed.wait(30)
            raise RuntimeError("they were killed")

        def kill(self) -> None:
            super().kill()
            killed.set()

    monkeypatch.setattr(servers, "Servers", Loading)
    port = FakePort(4)

    async def run() -> Any:
        replica = EchoReplica(0, {"tensor_model_parallel_size": 2}, {}, 4, on=port)
        starting = asyncio.create_task(replica.init_standalone())
        assert await asyncio.to_thread(loading.wait, 60)
        began = unhindered()
        starting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await starting
        assert unhindered() - began < 5
        return replica

    assert asyncio.run(run()).servers == []
    assert killed.is_set()
    assert port.left_over() == {}
