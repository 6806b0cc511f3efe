"""The keeper: a process of its own session that holds a launch until somebody ends it.

Everything ends with the keeper. It reads the LaunchRequest from the first input line, reports every
step, and finally either that all workers run or why not. Until the command answers KEEP, it ends
with the command. Afterwards it runs alone and writes to a log beside the record. It then ends on
request (a file in the launch's directory, or SIGTERM), when the called method has returned, or when
a worker is gone, which it records.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import threading
import time
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Callable, Iterator, TextIO

from ..failure import LaunchFailed, build_failure
from ..launch import launch
from ..periodic import Periodic
from ..progress import Step
from ..recovery.lifetime import Launch
from ..workers.inside.host import keep_output
from .messages import KEEP, Failure, LaunchRequest, Message
from .record import ENDED, FAILED, LOG, STARTING, Claim, Record, from_line, to_line

INTERVAL = 0.1


def run_kept(
    running: Launch, method: str | None, on_start: Callable[[Launch], None], on_loss: Callable[[LaunchFailed], None], keeps_watching: bool = False,
    limit: float | None = None,
) -> None:  # fmt: skip
    """Run a method on every worker and return, or watch the launch forever.

    It watches if there is no method, or if `keeps_watching` is True. `on_start` is called with the launch at
    start and after every recovery, `on_loss` before a recovery with the loss. `limit`: seconds for the method. Raises LaunchFailed as
    `Launch.run` does.
    """

    def live(launch: Launch) -> None:
        on_start(launch)
        if method:
            launch.write_all(method, False, limit)
        if keeps_watching or not method:
            launch.watch()

    running.on_restart(on_loss)
    running.run(live)


@contextmanager
def stopping_on_request(claim: Claim, until: Callable[[], bool] = lambda: False) -> Iterator[None]:
    """Send SIGTERM to this process on a stop request, or once `until()` is True."""

    def heed() -> bool:
        stops = claim.asked_to_stop or until()
        if stops:
            os.kill(os.getpid(), signal.SIGTERM)
        return stops

    watch = Periodic(heed, INTERVAL)
    watch.start()
    try:
        yield
    finally:
        watch.stop()


def main() -> None:
    """Hold the launch that standard input requests."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # all prints go to stderr
    request = from_line(sys.stdin.buffer.readline(), LaunchRequest)
    Keeper(request, answers).run()


class Keeper:
    """Holder of a launch; the command reads `answers` until it answers KEEP."""

    def __init__(self, request: LaunchRequest, answers: TextIO) -> None:
        self._request = request
        self._answers = answers
        self._claim = Claim(request.name)
        self._kept = threading.Event()
        self._logged = ""

    def run(self) -> None:
        """Run until the launch has ended and nothing of it is left."""
        for number in (signal.SIGINT, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, _interrupt)
        leave_record = False
        try:
            self._claim.take()
            with stopping_on_request(self._claim, self._is_left_alone):
                self._hold()
            leave_record = True  # the method has returned on every worker
            self._claim.change(state=ENDED)
        except LaunchFailed as problem:
            leave_record = self._kept.is_set()
            self._fail(problem)
        except KeyboardInterrupt:
            if not self._kept.is_set():
                advice = "launch it again"
                self._fail(build_failure("PW733", "", f"the launch `{self._request.name}` was ended before its workers were ready", advice))
        finally:
            self._claim.give_up(leave_record, at_exit=True)

    def _hold(self) -> None:
        """Run the launch, from the start of its workers until their end."""
        request = self._request
        self._claim.write(
            Record(name=request.name, state=STARTING, since=time.time(), pid=os.getpid(), file=request.file, simulated=request.simulated)
        )
        reading = request.reading.read() if request.reading else None
        with launch(request.plan, progress=self._step, reading=reading, **request.options) as running:
            run_kept(running, request.method, self._note, self._claim.record_loss, limit=request.call_timeout)

    def _note(self, running: Launch) -> None:
        """Record the running launch; the first time, report it and wait for KEEP."""
        record = self._claim.keep(running, self._request.file, self._request.simulated, self._request.log_dir)
        if not self._kept.is_set():
            self._send(record)
            self._kept.wait()
            keep_output(str(self._claim.path / LOG))
            self._answers.close()

    def _is_left_alone(self) -> bool:
        """Return True if the command has ended without KEEP, as its pipe shows."""
        if not self._kept.is_set() and select.select([0], [], [], 0)[0]:
            if os.read(0, len(KEEP)) != KEEP.encode():
                return True
            self._kept.set()
        return False

    def _step(self, step: Step) -> None:
        """Report a step to the command, or after KEEP to the log."""
        if self._kept.is_set() and step.words != self._logged:
            self._logged = step.words
            print(time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), step.words, flush=True)
        self._send(step)

    def _send(self, message: Message) -> None:
        """Send a message until KEEP; KeyboardInterrupt if the command is gone."""
        if self._kept.is_set():
            return
        try:
            self._answers.write(to_line(message, Message).decode())
            self._answers.flush()
        except BrokenPipeError:
            raise KeyboardInterrupt from None

    def _fail(self, problem: LaunchFailed) -> None:
        """Report a failure: to the command before KEEP, to the record afterwards."""
        if self._kept.is_set():
            print(problem.traceback, flush=True)
            self._claim.change(state=FAILED, findings=problem.findings)
        else:
            with suppress(KeyboardInterrupt):
                self._send(Failure(problem.findings, problem.traceback))


def _interrupt(number: int, frame: FrameType | None) -> None:
    """End the launch in order, once; Ray would drop any other exception while it waits."""
    signal.signal(number, signal.SIG_IGN)
    raise KeyboardInterrupt
