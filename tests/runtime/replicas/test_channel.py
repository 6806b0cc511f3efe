"""Calls to all workers at once: answers in the order of ranks, the first failure at once, nothing without a limit."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import ExitStack, suppress
from typing import Any, Awaitable, Callable, Iterator, Sequence

import pytest
import zmq
from placewright.runtime.replicas.channel import (
    LARGEST_ON_NETWORK,
    Channel,
    ChannelFailed,
    Endpoint,
    Peer,
    bound,
    host_port,
    new_key,
    own_address,
)

from ...unhindered import unhindered
from .conftest import process

Serve = Callable[..., Endpoint]


@pytest.fixture
def serve() -> Iterator[Serve]:
    with ExitStack() as stack:

        def make(answer: Callable[..., Any]) -> Endpoint:
            made = Endpoint(lambda method, arguments, ranks: [answer(method, *arguments) for _ in ranks], "127.0.0.1")
            stack.callback(made.close)
            return made

        yield make


def peers(*endpoints: Endpoint) -> list[Peer]:
    return [Peer(each.address, each.key, (rank,)) for rank, each in enumerate(endpoints)]


def on(peers: Sequence[Peer], work: Callable[[Channel], Awaitable[Any]]) -> Any:
    """What work on a channel to these gives."""

    async def run() -> Any:
        channel = Channel(peers)
        try:
            return await work(channel)
        finally:
            channel.close()

    return asyncio.run(run())


def test_answers_come_in_the_order_of_ranks_whoever_is_first(serve: Serve) -> None:
    def late(method: str, seconds: float) -> str:
        time.sleep(seconds)
        return f"{method} after {seconds}"

    slow, quick = serve(lambda method, numbers: [sum(numbers), method]), serve(lambda method, numbers: numbers * 2)
    got = on(peers(slow, quick), lambda channel: channel.collective_rpc("add", [[0.0, 1.0, 2.0]]))
    assert got == [[3.0, "add"], [0.0, 1.0, 2.0, 0.0, 1.0, 2.0]]
    assert on(peers(serve(late), serve(late)), lambda channel: channel.collective_rpc("nap", [0.01])) == ["nap after 0.01"] * 2


def test_some_ranks_can_be_asked_alone(serve: Serve) -> None:
    ends = [serve(lambda method, number=number: number) for number in range(3)]
    assert on(peers(*ends), lambda channel: channel.collective_rpc("who", (), [2, 0])) == [0, 2]


def test_one_end_may_answer_for_several_ranks() -> None:
    end = Endpoint(lambda method, arguments, ranks: [rank * 10 for rank in ranks], "127.0.0.1")
    try:
        assert on([Peer(end.address, end.key, (2, 3))], lambda channel: channel.collective_rpc("who")) == [20, 30]
    finally:
        end.close()


def test_many_calls_may_wait_at_once(serve: Serve) -> None:
    end = serve(lambda method, number: number)

    async def work(channel: Channel) -> list[Any]:
        return await asyncio.gather(*(channel.collective_rpc("same", [number]) for number in range(200)))

    assert on(peers(end), work) == [[number] for number in range(200)]


def test_the_first_error_is_raised_though_others_take_long(serve: Serve) -> None:
    def fail(method: str) -> None:
        raise KeyError("no such layer")

    over = threading.Event()
    slow = serve(lambda method: over.wait(60) and None)
    with pytest.raises(ChannelFailed, match="rank 1 answered with an error: KeyError: 'no such layer'") as caught:
        on(peers(slow, serve(fail)), lambda channel: channel.collective_rpc("step"))
    assert not caught.value.lost
    over.set()


def test_after_an_error_the_channel_goes_on(serve: Serve) -> None:
    end = serve(lambda method, number: 1 // number)

    async def work(channel: Channel) -> Any:
        with pytest.raises(ChannelFailed, match="ZeroDivisionError"):
            await channel.collective_rpc("divide", [0])
        return await channel.collective_rpc("divide", [1])

    assert on(peers(end), work) == [1]


def test_an_answer_that_is_no_plain_data_is_an_error(serve: Serve) -> None:
    with pytest.raises(ChannelFailed, match="MalformedMessage: cannot be sent: object"):
        on(peers(serve(lambda method: object())), lambda channel: channel.collective_rpc("give"))


def test_a_worker_that_is_silent_for_too_long_ends_the_channel(serve: Serve) -> None:
    over = threading.Event()
    quick, slow = serve(lambda method: None), serve(lambda method: over.wait(60) and None)

    async def work(channel: Channel) -> None:
        with pytest.raises(ChannelFailed, match="rank 1 did not answer `step` in time"):
            await channel.collective_rpc("step", limit=1.0)
        with pytest.raises(ChannelFailed, match="rank 1 did not"):
            await channel.collective_rpc("step")

    on(peers(quick, slow), work)
    over.set()


def killed(kind: int, within: float) -> None:
    with ExitStack() as stack:
        worker = process(stack)
        address, key = worker.stdout.readline().split()

        async def work(channel: Channel) -> float:
            assert await channel.collective_rpc("identify") == [{"host": os.uname().nodename, "pid": worker.pid}]
            began = unhindered()

            async def ask_until_it_fails() -> None:
                while unhindered() - began < 10:  # a signal takes a moment, in which a worker may still answer
                    await channel.collective_rpc("identify", limit=60)

            os.kill(worker.pid, kind)
            with pytest.raises(ChannelFailed, match="rank 0 died, or cannot be reached any more") as caught:
                await ask_until_it_fails()
            assert caught.value.lost
            assert channel.broken.is_set()
            return unhindered() - began

        assert on([Peer(address, key, (0,))], work) < within


def test_a_worker_that_is_killed_fails_the_call_at_once() -> None:
    killed(signal.SIGKILL, within=1)


def test_a_worker_that_stands_still_is_lost_when_its_heart_stops() -> None:
    killed(signal.SIGSTOP, within=4)


def test_nobody_behind_an_address_is_noticed() -> None:
    with bound("127.0.0.1") as nobody:  # it does not listen, and nobody else can take its port meanwhile
        peer = Peer(f"tcp://127.0.0.1:{nobody.getsockname()[1]}", new_key(), (0,))
        with pytest.raises(ChannelFailed, match="rank 0 died, or cannot be reached"):
            on([peer], lambda channel: channel.collective_rpc("step", limit=60))


def test_a_call_without_the_key_is_not_answered(serve: Serve) -> None:
    asked: list[str] = []
    end = serve(asked.append)
    with pytest.raises(ChannelFailed, match="rank 0 died, or cannot be reached any more"):
        on([Peer(end.address, new_key(), (0,))], lambda channel: channel.collective_rpc("step", limit=10))
    assert asked == []


@pytest.mark.parametrize("mechanism", ["NULL", "PLAIN", "CURVE"])
@pytest.mark.parametrize("sizes", [[LARGEST_ON_NETWORK + 1], [1 << 20] * 4])
def test_a_stranger_cannot_fill_the_memory_of_a_worker(mechanism: str, sizes: list[int], serve: Serve) -> None:
    end = serve(lambda method: "alive")
    host, _, port = end.address.removeprefix("tcp://").partition(":")
    with socket.create_connection((host, int(port)), timeout=5) as stranger, suppress(ConnectionError):
        # ZMTP's greeting, then frames: a long command, or the parts of a message without an end
        stranger.sendall(b"\xff" + bytes(8) + b"\x7f\x03\x00" + mechanism.encode().ljust(20, b"\0") + bytes(32))
        for size in sizes:
            stranger.sendall((b"\x06" if len(sizes) == 1 else b"\x03") + size.to_bytes(8, "big") + bytes(1 << 20))
        for _ in range(5000):
            stranger.sendall(bytes(1 << 16))
            time.sleep(0.001)
        pytest.fail("the worker reads on")
    assert on(peers(end), lambda channel: channel.collective_rpc("step")) == ["alive"]


def test_a_call_may_be_larger_than_what_a_stranger_may_send(serve: Serve) -> None:
    end, words = serve(lambda method, text: len(text)), "x" * (40 * LARGEST_ON_NETWORK)
    assert on(peers(end), lambda channel: channel.collective_rpc("step", [words])) == [len(words)]


def test_a_worker_listens_on_its_machine_alone_and_answers_its_server() -> None:
    end = Endpoint(lambda method, arguments, ranks: [method], "")
    try:
        assert end.address.startswith("ipc://@placewright-")
        assert on([Peer(end.address, end.key, (0,))], lambda channel: channel.collective_rpc("step")) == ["step"]
    finally:
        end.close()


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")
@pytest.mark.parametrize(("user", "said"), [(0, "answered"), (65534, "silence")])
def test_another_user_of_the_machine_is_not_heard_even_with_the_key(user: int, said: str) -> None:
    end = Endpoint(lambda method, arguments, ranks: [method], "")
    program = (
        "import os, sys, zmq\n"
        "os.setuid(int(sys.argv[1]))\n"
        "with zmq.Context() as context, context.socket(zmq.DEALER) as dealer:\n"
        "    dealer.curve_publickey, dealer.curve_secretkey = zmq.curve_keypair()\n"
        "    dealer.curve_serverkey, dealer.linger = zmq.curve_public(sys.argv[3].encode()), 0\n"
        "    dealer.connect(sys.argv[2])\n"
        "    dealer.send_multipart([b'1', b'[\"step\", [], [0]]'])\n"
        "    print('answered' if dealer.poll(1000) else 'silence')\n"
    )
    try:
        done = subprocess.run([sys.executable, "-c", program, str(user), end.address, end.key], capture_output=True, text=True, timeout=30)
        assert done.stdout.strip() == said, done.stderr
    finally:
        end.close()


def test_bytes_that_are_no_call_leave_the_worker_as_it_was(serve: Serve) -> None:
    end = serve(lambda method: "alive")
    with zmq.Context() as context, context.socket(zmq.DEALER) as stranger:
        stranger.curve_publickey, stranger.curve_secretkey = zmq.curve_keypair()
        stranger.curve_serverkey = zmq.curve_public(end.key.encode())
        stranger.connect(end.address)
        for parts in ([b"x"], [b"1", b"\xff"], [b"1", b'{"x": 1}'], [b"1", b"[]"]):
            stranger.send_multipart(parts)
        stranger.setsockopt(zmq.RCVTIMEO, 2000)
        assert all(b"Malformed" in stranger.recv_multipart()[1] for _ in range(4))
    assert on(peers(end), lambda channel: channel.collective_rpc("step")) == ["alive"]


def test_a_closed_channel_says_so(serve: Serve) -> None:
    end = serve(lambda method: None)

    async def work(channel: Channel) -> None:
        channel.close()
        with pytest.raises(ChannelFailed, match="rank 0 cannot be called any more: the channel is closed"):
            await channel.collective_rpc("step")
        channel.notify("step")

    on(peers(end), work)


def test_what_is_told_arrives_and_is_not_waited_for(serve: Serve) -> None:
    arrived = threading.Event()
    end = serve(lambda method: arrived.set())

    async def work(channel: Channel) -> bool:
        channel.notify("step")
        return await asyncio.to_thread(arrived.wait, 2)

    assert on(peers(end), work)


def test_an_end_closes_twice_and_leaves_no_thread() -> None:
    before = threading.active_count()
    end = Endpoint(lambda method, arguments, ranks: [], "127.0.0.1")
    end.close()
    end.close()
    assert threading.active_count() == before


def test_addresses_are_written_with_their_ports() -> None:
    assert host_port("10.0.0.1", 80) == "10.0.0.1:80"
    assert host_port("fd00::1", 80) == "[fd00::1]:80"
    assert own_address("127.0.0.1") == "127.0.0.1"


def test_a_port_where_somebody_listens_is_taken_and_named() -> None:
    with bound("127.0.0.1") as first:
        first.listen()
        port = first.getsockname()[1]
        with pytest.raises(OSError, match=f"in use: 127.0.0.1:{port}"):
            bound("127.0.0.1", port)
