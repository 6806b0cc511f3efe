"""Ctrl-C in blocks inside each other: the first ends what is searched in all of them, a second one everything."""

from __future__ import annotations

import os
import signal
import threading

import pytest
from placewright.solver.sandbox.interrupts import heard, held, unless_heard, was_heard
from placewright.solver.sandbox.stopped import Stopped, stoppable

pytestmark = pytest.mark.usefixtures("interruptible")


def interrupt() -> None:
    os.kill(os.getpid(), signal.SIGINT)


def test_it_waits_until_somebody_looks() -> None:
    with held() as interrupts:
        interrupt()
        assert was_heard()
        with pytest.raises(KeyboardInterrupt):
            interrupts.look()
    assert not was_heard() and signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_inside_it_may_be_heard_at_once_and_is_known_from_then_on() -> None:
    with held() as around:
        with pytest.raises(KeyboardInterrupt), heard():
            interrupt()
        assert was_heard() and around.count == 1
        with heard() as later, pytest.raises(KeyboardInterrupt):
            later.look()


def test_a_second_one_does_not_wait_whatever_the_first_ended() -> None:
    with held():
        with pytest.raises(Stopped), stoppable():
            interrupt()
        with pytest.raises(KeyboardInterrupt), stoppable():
            interrupt()
    with held():
        interrupt()
        with pytest.raises(KeyboardInterrupt):
            interrupt()


def test_what_is_asked_after_it_is_not_asked() -> None:
    asked: list[int] = []
    with held():
        assert unless_heard(lambda: "found", lambda: "left") == "found"
        assert unless_heard(interrupt, lambda: "left") == "left"
        assert unless_heard(lambda: asked.append(1), lambda: "left") == "left"
    assert not asked


def test_without_a_block_around_it_is_raised() -> None:
    with pytest.raises(KeyboardInterrupt):
        unless_heard(interrupt, lambda: None)


def test_it_is_the_main_thread_alone_that_hears_it() -> None:
    found: list[bool] = []

    def ask() -> None:
        found.append(was_heard())
        with heard() as interrupts:
            interrupts.look()

    with held():
        interrupt()
        thread = threading.Thread(target=ask)
        thread.start()
        thread.join()
    assert found == [False]
