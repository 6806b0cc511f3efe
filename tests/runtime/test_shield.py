"""Signals that wait until the block has ended."""

from __future__ import annotations

import os
import signal
import threading

import pytest
from placewright.runtime.shield import defer_signals


def test_an_interrupt_waits_until_the_block_has_ended() -> None:
    reached = False
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt), defer_signals():  # noqa: PT012
            os.kill(os.getpid(), signal.SIGINT)
            os.kill(os.getpid(), signal.SIGINT)
            reached = True
    finally:
        signal.signal(signal.SIGINT, before)
    assert reached


def test_the_handlers_are_as_they_were_even_if_the_block_changed_them() -> None:
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)]
    with defer_signals():
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)] == before


def test_an_exception_of_the_block_passes() -> None:
    with pytest.raises(ValueError, match="mine"), defer_signals():
        raise ValueError("mine")


def test_outside_the_main_thread_nothing_is_changed() -> None:
    seen = []

    def run() -> None:
        with defer_signals():
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert seen == [signal.getsignal(signal.SIGINT)]
