"""While an engine loads its model, which may take half an hour, its server hears of losses, limits and the end."""

from __future__ import annotations

import asyncio
import inspect
import threading
from contextlib import ExitStack
from typing import Any, Iterator

import pytest
from placewright.runtime.engines.engine import ReplicaShape
from placewright.runtime.replicas.channel import ChannelFailed, bound, new_key
from placewright.runtime.replicas.server import ReplicaServer
from placewright.runtime.replicas.servers import CONCURRENCY
from placewright.runtime.replicas.settings import Limits, ServerSettings

from ...unhindered import unhindered
from ..engines import stand_ins
from .conftest import MODEL, process

MODELS = {"vllm": {"path": "org/model", "max_model_len": 128}, "sglang": {"path": "org/model", "context_length": 128}}


class Loading:
    """Server in whose thread `launch` the library's constructor does not return."""

    def __init__(self, engine: str, stack: ExitStack, limits: Limits) -> None:
        self.begun, self.end = threading.Event(), threading.Event()
        self.problem: BaseException | None = None
        self.worker = process(stack)
        workers = (tuple(self.worker.stdout.readline().split()),)
        self.server = ReplicaServer(ServerSettings(engine, MODELS[engine], MODEL, ReplicaShape(), 0, 1, workers, limits=limits))
        stack.callback(self.server.shutdown)
        stack.callback(self.end.set)
        self.thread = threading.Thread(target=self._launch)

    def load(self) -> None:
        self.begun.set()
        assert self.end.wait(60)

    def _launch(self) -> None:
        try:
            self.server.launch_server("", ())
        except BaseException as problem:
            self.problem = problem

    def begin(self) -> None:
        self.thread.start()
        assert self.begun.wait(60)

    def failure(self) -> BaseException:
        began = unhindered()
        self.thread.join(60)
        assert unhindered() - began < 3
        assert self.problem is not None
        return self.problem


@pytest.fixture(params=["vllm", "sglang"])
def loading(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    stand_ins.install_vllm(monkeypatch)
    stand_ins.install_sglang(monkeypatch)
    with ExitStack() as stack:

        def make(**limits: float) -> Loading:
            made = Loading(request.param, stack, Limits(**limits))  # type: ignore[arg-type]
            for library in (stand_ins.Vllm, stand_ins.Sglang):
                constructor = library.__init__

                def slow(self: Any, *given: Any, _constructor: Any = constructor, **named: Any) -> None:
                    made.load()
                    _constructor(self, *given, **named)

                monkeypatch.setattr(library, "__init__", slow)
            return made

        yield make


def test_the_loop_of_the_server_is_free(loading: Any) -> None:
    made = loading()
    made.begin()
    made.server._loop.run(asyncio.sleep(0), 2)
    made.end.set()
    made.thread.join(60)
    assert made.problem is None
    assert made.server.get_server_address()[1] > 0


def test_a_worker_that_dies_fails_the_start_at_once(loading: Any) -> None:
    made = loading()
    made.begin()
    made.worker.kill()
    failure = made.failure()
    assert isinstance(failure, ChannelFailed)
    assert "rank 0 died" in str(failure)


def test_the_limit_holds(loading: Any) -> None:
    made = loading(load_seconds=1)
    made.begin()
    assert str(made.failure()) == "the engine was not ready within 1 s"


def test_a_server_that_is_ended_does_not_wait_for_the_model(loading: Any) -> None:
    made = loading()
    made.begin()
    made.server.shutdown()
    made.failure()


def test_a_library_that_exits_is_an_error_of_the_start(loading: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    made = loading()
    monkeypatch.setattr(made, "load", leave)
    made.thread.start()
    failure = made.failure()
    assert (type(failure), str(failure)) == (RuntimeError, "SystemExit: no such dtype")


def leave() -> None:
    raise SystemExit("no such dtype")


def test_an_actor_of_a_server_has_threads_and_no_loop_that_a_launch_would_block() -> None:
    assert inspect.getmembers(ReplicaServer, inspect.iscoroutinefunction) == []


@pytest.mark.ray
def test_on_ray_too_a_server_answers_while_it_is_launched(address: str) -> None:
    import ray

    settings = ServerSettings("echo", {}, MODEL, ReplicaShape(2), 0, 2)
    server: Any = ray.remote(ReplicaServer).options(num_cpus=0, max_concurrency=CONCURRENCY).remote(settings)
    with bound("127.0.0.1") as silent:
        silent.listen()
        launching = server.launch_server.remote("127.0.0.1", (), [(f"tcp://127.0.0.1:{silent.getsockname()[1]}", new_key())])
        assert ray.get(server.get_log.remote(), timeout=60)[0] > 0
        assert ray.wait([launching], timeout=0)[0] == []
    with pytest.raises(ChannelFailed, match="rank 1"):
        ray.get(launching, timeout=60)
    ray.get(server.shutdown.remote(), timeout=60)
    ray.kill(server)
