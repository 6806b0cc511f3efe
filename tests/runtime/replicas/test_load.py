"""Many clients at once, some of which leave, or read slowly: the others get what is theirs, and nothing is kept for those that are gone."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
import time
from typing import Any
from urllib.parse import urlsplit

import openai
import pytest
from placewright.runtime.replicas import listener

from ...unhindered import rest, unhindered
from .conftest import MODEL, Maker, Replica

LONG = "x" * 100_000
"""What takes the echo very long to say."""


def asynchronous(made: Replica) -> openai.AsyncOpenAI:
    return openai.AsyncOpenAI(base_url=f"{made.url}/v1", api_key="any", max_retries=0, timeout=60)


def raw(made: Replica, **body: Any) -> socket.socket:
    """A client that has asked, and reads nothing of itself."""
    text = json.dumps({"model": MODEL, **body})
    host = urlsplit(made.url)
    client = socket.create_connection((str(host.hostname), int(host.port or 0)), timeout=60)
    client.sendall(
        f"POST /v1/completions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {len(text)}\r\n\r\n{text}".encode()
    )
    return client


def nothing_is_held(made: Replica, within: float = 5.0) -> bool:
    deadline = unhindered() + within
    while any(worker._engine_worker._held for worker in made.workers):
        if unhindered() > deadline:
            return False
        time.sleep(0.02)
    return True


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["echo", "transformer"])
def test_64_streams_at_once_are_each_what_one_alone_is(replica: Maker, engine: str) -> None:
    made = replica(engine, 2)
    prompts = [f"this is request number {number}" for number in range(64)]

    async def ask(client: openai.AsyncOpenAI, prompt: str) -> str:
        chunks = await client.completions.create(model=MODEL, prompt=prompt, max_tokens=8, temperature=0, stream=True)
        return "".join([chunk.choices[0].text async for chunk in chunks])

    async def run() -> list[str]:
        async with asynchronous(made) as client:
            alone = [await ask(client, prompt) for prompt in prompts[:4]]
            together = await asyncio.gather(*(ask(client, prompt) for prompt in prompts))
            assert together[:4] == alone
            return together

    said = asyncio.run(run())
    if engine == "echo":
        assert said == [prompt[:8] for prompt in prompts]


def test_nothing_is_kept_for_clients_that_leave_in_the_middle(replica: Maker) -> None:
    made = replica("echo", 2)

    async def leave(client: openai.AsyncOpenAI) -> None:
        stream = await client.completions.create(model=MODEL, prompt=LONG, max_tokens=len(LONG), stream=True)
        await anext(stream)
        await stream.close()

    async def run() -> None:
        async with asynchronous(made) as client:
            await asyncio.gather(*(leave(client) for _ in range(16)))

    asyncio.run(run())
    assert nothing_is_held(made)


@pytest.mark.parametrize("stream", [False, True])
def test_a_client_that_leaves_before_the_first_token_ends_its_generation_too(replica: Maker, stream: bool) -> None:
    made = replica("echo", 1)
    (half,), go, seen = [worker._engine_worker for worker in made.workers], threading.Event(), threading.Event()
    steps: list[int] = []
    step = half.step

    def slow(sequence: int, position: int) -> int | None:
        seen.set()
        go.wait(60)
        steps.append(position)
        return int(step(sequence, position))

    half.step = slow
    with raw(made, prompt=LONG, max_tokens=len(LONG), stream=stream):
        assert seen.wait(60)
    rest(0.3)  # the server sees that the client is gone while the first token is not there yet
    go.set()
    assert nothing_is_held(made)
    assert len(steps) <= 2


def test_a_client_that_does_not_read_holds_up_nobody_else(replica: Maker) -> None:
    made = replica("echo", 1)
    with raw(made, prompt=LONG, max_tokens=len(LONG), stream=True):
        time.sleep(0.5)
        began = unhindered()
        assert made.client().completions.create(model=MODEL, prompt="quick", max_tokens=5).choices[0].text == "quick"
        assert unhindered() - began < 2
    assert nothing_is_held(made)


def head(made: Replica, *parts: bytes) -> socket.socket:
    """A client that sends parts of a head, and never its end."""
    host = urlsplit(made.url)
    client = socket.create_connection((str(host.hostname), int(host.port or 0)), timeout=60)
    try:
        for part in (b"GET /health HTTP/1.1\r\nX: ", *parts):
            client.sendall(part)
    except ConnectionError:
        pass  # the server need not read the rest
    return client


def test_a_head_without_end_is_refused(replica: Maker) -> None:
    made = replica("echo", 1, api_key="key")
    with head(made, *[b"x" * (1 << 16)] * 100) as client:
        assert b"The head of a request has at most 65536 bytes." in client.recv(1 << 16)


@pytest.mark.parametrize("begun", [(), (b"x",)])
def test_half_a_head_is_not_waited_for(replica: Maker, monkeypatch: pytest.MonkeyPatch, begun: tuple[bytes, ...]) -> None:
    monkeypatch.setattr(listener, "HEAD_LIMIT", 0.5)
    made = replica("echo", 1)
    with head(made, *begun) as client:
        assert client.recv(1) == b""


def test_a_body_that_is_answered_before_it_comes_is_not_waited_for(replica: Maker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listener, "HEAD_LIMIT", 0.5)
    made = replica("echo", 1, api_key="key")
    with head(made, b": 1\r\nContent-Length: 1000000\r\n\r\n{") as client:
        assert client.recv(1 << 16).startswith(b"HTTP/1.1 200")  # of /health, as of a request without the key
        client.settimeout(0.1)
        closed, began = False, unhindered()
        while not closed and unhindered() - began < 10:
            try:
                client.sendall(b" ")  # which kept it open
                closed = client.recv(1) == b""
            except TimeoutError:
                continue
            except ConnectionError:
                closed = True
        assert closed


def test_a_stream_outlives_the_limit_of_the_head_and_a_large_body_that_of_its_bytes(
    replica: Maker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listener, "HEAD_LIMIT", 0.5)
    made = replica("echo", 1)
    (half,) = [worker._engine_worker for worker in made.workers]
    step = half.step

    def slow(sequence: int, position: int) -> int | None:
        time.sleep(0.05)  # so that 20 tokens take twice the limit
        return int(step(sequence, position))

    half.step = slow
    stream = made.client().completions.create(model=MODEL, prompt=LONG, max_tokens=len(LONG), stream=True)
    assert all(next(stream).choices[0].text for _ in range(20))
    stream.close()
    assert nothing_is_held(made)
