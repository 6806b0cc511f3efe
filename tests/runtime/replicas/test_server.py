"""Servers of a replica on one node and on two: the same answers, sleep, and what a lost worker brings about."""

from __future__ import annotations

import asyncio
import subprocess
import threading
from typing import Any

import openai
import pytest
from placewright.runtime.engines.engine import ReplicaShape
from placewright.runtime.failure import LaunchFailed
from placewright.runtime.replicas.server import ReplicaServer
from placewright.runtime.replicas.settings import ServerSettings
from placewright.runtime.running.monitor import Watch
from placewright.runtime.workers.group import unplaced

from ...unhindered import rest, unhindered
from ..fake import FakePort
from .conftest import MODEL, Maker, Replica

PROMPT = "Which process runs where?"
LONG = "x" * 100_000
"""What takes the echo very long to say."""


def health(replica: Replica) -> tuple[int, str]:
    done = subprocess.run(["curl", "-s", "-w", "\n%{http_code}", f"{replica.url}/health"], capture_output=True, text=True, timeout=60)
    text, _, status = done.stdout.rpartition("\n")
    return int(status), text


def test_the_first_of_several_servers_answers(replica: Maker) -> None:
    made = replica("echo", 4, 2)
    assert made.client().completions.create(model=MODEL, prompt=PROMPT, max_tokens=len(PROMPT)).choices[0].text == PROMPT
    assert bytes(made.servers[0].generate(list(PROMPT.encode()), {"max_tokens": len(PROMPT)})).decode() == PROMPT
    assert [server.get_server_address()[1] > 0 for server in made.servers] == [True, False]


def test_a_headless_server_answers_nobody(replica: Maker) -> None:
    made = replica("echo", 2, 2)
    with pytest.raises(ValueError, match="ask the master"):
        made.servers[1].generate([1], {"max_tokens": 1})


def test_a_replica_that_sleeps_refuses_and_wakes(replica: Maker) -> None:
    made = replica("echo", 2, 2)
    for server in made.servers:
        server.sleep()
    assert health(made) == (200, '{"status":"asleep"}')
    with pytest.raises(openai.InternalServerError, match="the replica is asleep") as caught:
        made.client().completions.create(model=MODEL, prompt=PROMPT)
    assert caught.value.status_code == 503
    for server in made.servers:
        server.wake_up()
    assert made.client().completions.create(model=MODEL, prompt=PROMPT).choices[0].text


def test_a_process_that_is_lost_fails_the_request_and_the_replica(replica: Maker) -> None:
    made = replica("echo")
    failures: list[Any] = []

    def ask() -> None:
        try:
            made.client().completions.create(model=MODEL, prompt=LONG, max_tokens=len(LONG))
        except openai.APIStatusError as problem:
            failures.append((problem.status_code, unhindered()))

    asking = threading.Thread(target=ask)
    asking.start()
    rest(0.7)
    lost = unhindered()
    made.losses.lose()
    asking.join(60)
    ((status, at),) = failures
    assert status == 503
    assert at - lost < 2
    assert health(made) == (503, '{"status":"failed","reason":"rank 1 died"}')
    with pytest.raises(openai.InternalServerError, match="rank 1 died"):
        made.client().completions.create(model=MODEL, prompt=PROMPT)


def test_a_stream_in_which_a_process_is_lost_ends_with_an_error(replica: Maker) -> None:
    made = replica("echo")
    stream = made.client().completions.create(model=MODEL, prompt=LONG, max_tokens=len(LONG), stream=True)
    next(iter(stream))
    made.losses.lose()
    with pytest.raises(openai.APIError, match="rank 1 died"):
        list(stream)


def test_an_engine_that_raises_fails_one_request_alone(replica: Maker, monkeypatch: pytest.MonkeyPatch) -> None:
    made = replica("echo")
    with monkeypatch.context() as broken:
        broken.setattr("placewright.runtime.engines.engine.TOKEN_SECONDS", None)
        with pytest.raises(openai.InternalServerError, match="TypeError") as caught:
            made.client().completions.create(model=MODEL, prompt=PROMPT)
    assert caught.value.status_code == 500
    assert health(made)[0] == 200
    assert made.client().completions.create(model=MODEL, prompt="again").choices[0].text == "again"


def test_what_was_started_is_gone_after_shutdown(replica: Maker) -> None:
    before = threading.active_count()
    made = replica("echo", 2, 2)
    url = made.url
    for server in made.servers:
        server.shutdown()
        server.shutdown()
    assert threading.active_count() <= before  # a thread of a test before this one may have ended meanwhile
    assert subprocess.run(["curl", "-s", f"{url}/health"]).returncode == 7


def test_a_port_in_use_is_an_error_at_once(replica: Maker) -> None:
    taken = replica("echo").servers[0].get_server_address()[1]
    with pytest.raises(OSError, match="in use"):
        replica("echo", port=taken)


def test_what_is_lost_before_the_launch_fails_it() -> None:
    server = ReplicaServer(ServerSettings("echo", {}, MODEL, ReplicaShape(), 0, 1))
    port = FakePort(1)
    try:
        with pytest.raises(LaunchFailed, match="rank 0 of `workers` is gone: there is no process `gone`"):
            server.launch_server("", (), Watch(port, [("workers", unplaced(["gone"]))], [(None, {})]))
    finally:
        server.shutdown()


def test_loops_end_what_they_run() -> None:
    from placewright.runtime.replicas.loop import Loop

    loop = Loop()
    waiting = loop.begin(asyncio.sleep(60))
    loop.close()
    loop.close()
    assert waiting.cancelled()
