"""Ctrl-C in a session: the first ends what is searched, a second one everything."""

from __future__ import annotations

import os
import signal
import threading

import pytest
from placewright.solver.sandbox.end_reasons import SearchStopped, stoppable
from placewright.solver.session import Session

pytestmark = pytest.mark.usefixtures("interruptible")


def interrupt() -> None:
    os.kill(os.getpid(), signal.SIGINT)


def test_it_waits_until_somebody_looks() -> None:
    with Session() as session:
        assert not session.cancelled
        interrupt()
        assert session.cancelled
        with pytest.raises(KeyboardInterrupt):
            session.look()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_what_runs_may_end_at_once_and_it_is_known_from_then_on() -> None:
    with Session() as session:
        with pytest.raises(SearchStopped), stoppable(session):
            interrupt()
        assert session.cancelled
        with pytest.raises(SearchStopped), stoppable(session):
            session.look()


def test_a_second_one_does_not_wait_whatever_the_first_ended() -> None:
    with Session() as session:
        with pytest.raises(SearchStopped), stoppable(session):
            interrupt()
        with pytest.raises(KeyboardInterrupt), stoppable(session):
            interrupt()
    with Session():
        interrupt()
        with pytest.raises(KeyboardInterrupt):
            interrupt()


def test_what_is_asked_after_it_is_not_asked() -> None:
    asked: list[int] = []
    with Session() as session:
        assert session.unless_cancelled(lambda: "found", lambda: "left") == "found"
        assert session.unless_cancelled(interrupt, lambda: "left") == "left"
        assert session.unless_cancelled(lambda: asked.append(1), lambda: "left") == "left"
    assert not asked


def test_inside_of_what_is_asked_a_search_does_not_answer() -> None:
    def search() -> str:
        with stoppable(session):
            interrupt()
        return "found"

    with Session() as session:
        assert session.unless_cancelled(search, lambda: "left") == "left" and session.answers


def test_what_is_asked_inside_keeps_what_it_found() -> None:
    with Session() as session:
        assert session.unless_cancelled(lambda: session.unless_cancelled(interrupt, lambda: "some"), lambda: "none") == "some"


def test_a_session_that_does_not_answer_it_and_one_outside_of_its_block_raise_it() -> None:
    with Session(answers=False) as session, pytest.raises(KeyboardInterrupt):
        interrupt()
    with Session(answers=False) as session, pytest.raises(KeyboardInterrupt):
        session.unless_cancelled(interrupt, lambda: None)
    session = Session()
    with pytest.raises(KeyboardInterrupt):
        session.unless_cancelled(interrupt, lambda: None)
    with pytest.raises(KeyboardInterrupt), stoppable(session):
        interrupt()


def test_another_thread_and_another_handler_are_left_alone() -> None:
    found: list[object] = []

    def enter() -> None:
        with Session():
            found.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=enter)
    thread.start()
    thread.join()
    assert found == [signal.default_int_handler]
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    enter()
    assert found[1:] == [signal.SIG_IGN] and signal.getsignal(signal.SIGINT) is signal.SIG_IGN
