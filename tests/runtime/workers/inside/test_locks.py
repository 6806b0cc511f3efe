"""What the processes of a node share."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
import time
import uuid
from itertools import repeat

import pytest
from placewright.runtime.workers.inside import mixins as locks
from placewright.runtime.workers.inside.mixins import DeviceLock, free_port

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="abstract sockets are of Linux")

HOLDS = """\
import sys, time
from placewright.runtime.workers.inside.mixins import DeviceLock
with DeviceLock(sys.argv[1:]):
    print("held", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def node() -> str:
    return uuid.uuid4().hex


def test_one_holds_an_accelerator_at_a_time(node: str) -> None:
    spans: list[tuple[float, float]] = []

    def use(*ids: int) -> None:
        with DeviceLock([f"{node}/{id}" for id in ids]):
            began = time.monotonic()
            time.sleep(0.05)
            spans.append((began, time.monotonic()))

    threads = [threading.Thread(target=use, args=ids) for ids in ((0, 1), (1, 2), (2, 1, 0))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    ordered = sorted(spans)
    assert len(ordered) == 3
    assert all(before[1] <= after[0] for before, after in zip(ordered, ordered[1:]))


def test_others_are_not_kept_waiting_and_a_wait_may_have_an_end(node: str) -> None:
    with DeviceLock([f"{node}/0"]) as held:
        with DeviceLock([f"{node}/1"]):
            pass
        with pytest.raises(TimeoutError, match=r"/0` was not free within 0.05 s"):
            DeviceLock([f"{node}/1", f"{node}/0"]).acquire(timeout=0.05)
        DeviceLock([f"{node}/1"]).acquire(timeout=0.05)
        with pytest.raises(RuntimeError, match="holds its accelerators already"):
            held.acquire()


def test_a_process_that_is_killed_holds_nothing(node: str) -> None:
    process = subprocess.Popen([sys.executable, "-c", HOLDS, f"{node}/0"], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    with pytest.raises(TimeoutError):
        DeviceLock([f"{node}/0"]).acquire(timeout=0.05)
    process.kill()
    process.wait(60)
    process.stdout.close()
    DeviceLock([f"{node}/0"]).acquire(timeout=60)


def test_a_port_is_given_once_on_a_node(node: str) -> None:
    given = [free_port(each, most) for each, most in zip(repeat(node), [None] * 20 + [65_000])]
    assert len(set(given)) == len(given)
    assert given[-1] <= 65_000
    with pytest.raises(RuntimeError, match="no TCP port is free up to 10"):
        free_port(node, 10)


def test_what_travels_to_the_workers_holds_no_port_that_was_given(node: str) -> None:
    assert free_port(node) > 0
    assert not [name for name, value in vars(locks).items() if isinstance(value, (socket.socket, list))]
