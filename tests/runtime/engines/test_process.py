"""The process of an engine on another node: watched, ended with all that it started, and never left, whoever is killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from placewright.runtime.engines.process import LEASH, EngineProcess

from ...unhindered import unhindered

SLEEPER = (
    "import subprocess, sys; subprocess.run([sys.executable, '-c', 'import os, time; print(os.getpid(), flush=True); time.sleep(60)'])"
)
"""A process that starts another and tells its id."""


def gone(pid: int, within: float = 60.0) -> bool:
    deadline = unhindered() + within
    while Path(f"/proc/{pid}").exists():
        if unhindered() > deadline:
            return False
        time.sleep(0.02)
    return True


def started(capfd: pytest.CaptureFixture[str]) -> int:
    told = ""
    while not told.strip():
        told += capfd.readouterr().out
        time.sleep(0.02)
    return int(told)


def test_it_is_ended_with_all_that_it_started(capfd: pytest.CaptureFixture[str]) -> None:
    ended = threading.Event()
    process = EngineProcess([sys.executable, "-c", SLEEPER], ended.set)
    pid = started(capfd)
    assert not ended.is_set()
    process.close()
    process.close()
    assert gone(pid)
    assert ended.is_set()


def test_one_that_ignores_the_signal_is_killed(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    stubborn = "import os, signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(os.getpid(), flush=True); time.sleep(60)"
    process = EngineProcess([sys.executable, "-c", stubborn], lambda: None)
    pid = started(capfd)
    process.close()
    assert gone(pid, 0.5)


def test_what_fails_says_so_with_its_last_words() -> None:
    ended = threading.Event()
    process = EngineProcess([sys.executable, "-c", "raise SystemExit('no such model')"], ended.set)
    with pytest.raises(RuntimeError, match="the engine's process ended with 1: no such model"):
        process.wait(threading.Event(), 60)
    assert ended.wait(60)
    process.close()


def test_one_that_is_ready_is_not_waited_for_any_more_and_one_that_is_late_says_so() -> None:
    ready = threading.Event()
    process = EngineProcess([sys.executable, "-c", SLEEPER], lambda: None)
    try:
        with pytest.raises(TimeoutError, match=r"not ready within 0\.2 s"):
            process.wait(ready, 0.2)
        ready.set()
        process.wait(ready, 0.2)
    finally:
        process.close()


def test_it_ends_when_the_process_that_holds_it_is_killed() -> None:
    holder = f"import subprocess, sys; subprocess.Popen([sys.executable, {str(LEASH)!r}, sys.executable, '-c', {SLEEPER!r}], stdin=subprocess.PIPE).wait()"
    with subprocess.Popen([sys.executable, "-c", holder], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        os.kill(parent.pid, signal.SIGKILL)
        assert gone(pid)
