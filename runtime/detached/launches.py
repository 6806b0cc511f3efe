"""Start, status, attachment and end of detached launches."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from typing import Iterator, Mapping

from ...models.findings.finding import Finding, error
from ...models.placements.plan import Plan
from ...models.placements.plan_file import read_plan
from ...solver.sandbox.messages import NotOurs
from ..failure import LaunchFailed, build_failure, headline
from ..port.connection import Connection
from ..port.on_ray import RayPort
from ..port.port import Port
from ..port.ray_compat import on_loopback
from ..progress import OnStep, silent
from ..shield import defer_signals
from ..simulated.simulate import PER_NODE, START_LIMIT
from ..workers.group import WorkerGroup, attach_members
from ..workers.member import Member
from .messages import KEEP, Failure, LaunchRequest, Message
from .record import (
    ALIVE,
    LOG,
    PLAN,
    RUNNING,
    STOP,
    Look,
    Record,
    check_free,
    directory_of,
    from_line,
    is_held,
    must_be_private,
    names,
    read_record,
    remove,
    to_line,
)

LOST = "lost"
STOP_LIMIT, KILL_LIMIT, INTERVAL = 60.0, 10.0, 0.05


@dataclass(frozen=True)
class LaunchStatus:
    """Status of a launch: record and state; ``lost`` if the keeper was killed."""

    record: Record
    state: str
    findings: tuple[Finding, ...] = ()

    @property
    def alive(self) -> bool:
        """True if workers run or are being started, for the first time or again."""
        return self.state in ALIVE


def launches() -> list[LaunchStatus]:
    """Return all recorded launches of this user, by name.

    A killed keeper's launch is reported once, and its record removed. Raises LaunchFailed (PW732)
    if other users could write to the directory.
    """
    return [status for status in map(_read_status, names()) if status is not None]


def launch_named(name: str) -> LaunchStatus:
    """Return a launch by name. Raises LaunchFailed: PW730 if there is none."""
    status = _read_status(name)
    if status is None:
        raise build_failure("PW730", "", f"there is no launch named `{name}`", "see which there are with `placewright status`", name)
    return status


def stop(name: str, limit: float = STOP_LIMIT) -> LaunchStatus:
    """End a launch completely and return the last status.

    For a launch that has ended already, only the record is removed. A keeper that has not ended
    within `limit` s is killed; then Ray ends its workers. Raises LaunchFailed: PW730.
    """
    status = launch_named(name)
    path = directory_of(name)
    if status.alive:
        with Look(path) as look:
            with suppress(FileNotFoundError):  # the launch has just ended by itself
                os.close(os.open(path / STOP, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600))
            if not _wait_until_released(look, limit):
                os.kill(status.record.pid, signal.SIGKILL)  # locked: still the keeper
                if not _wait_until_released(look, KILL_LIMIT):
                    keeper_text = f"the keeper of `{name}` (process {status.record.pid})"
                    raise build_failure("PW733", "", f"{keeper_text} cannot be ended", "look at that process", name)
    remove(path)
    return status


def _read_status(name: str) -> LaunchStatus | None:
    """Return the launch recorded in a directory; None without a directory or a record."""
    path = directory_of(name)
    try:
        must_be_private(path)
    except FileNotFoundError:
        return None
    is_alive = is_held(path)
    record = read_record(path)
    if record is None or (not is_alive and record.state in ALIVE):
        log = path / LOG
        reason = headline(log.read_text("utf-8", "replace").strip().splitlines()) if log.exists() else ""
        if not is_alive:
            remove(path)
        if record is None:
            return None
        message = f"the keeper of `{record.name}` (process {record.pid}) was killed" + (f": {reason}" if reason else "")
        loss = error("PW733", record.name, message, help="its workers ended with it; launch it again", witnesses=(record.pid,))
        return LaunchStatus(record, LOST, (loss,))
    return LaunchStatus(record, record.state, record.findings)


def _wait_until_released(look: Look, limit: float) -> bool:
    deadline = time.monotonic() + limit
    while look.held:
        if time.monotonic() > deadline:
            return False
        time.sleep(INTERVAL)
    return True


NOT_KNOWN = "a class that only the workers know"


@contextmanager
def attach(name: str) -> Iterator[Mapping[str, WorkerGroup]]:
    """Yield component -> workers of a recorded launch; the workers run on after the block.

    Raises LaunchFailed: PW730 for an unknown name, PW733 if it is not running, PW704 if a worker is
    gone.
    """
    status = launch_named(name)
    if status.state != RUNNING:
        if status.findings and not status.alive:
            raise LaunchFailed(*status.findings)
        raise build_failure(
            "PW733", name, f"`{name}` is {status.state}", "attach when it runs" if status.alive else "launch it again", name
        )
    plan = read_plan(directory_of(name) / PLAN)
    connection = Connection(status.record.address)
    with on_loopback(status.record.token) if status.record.simulated else nullcontext():
        try:
            connection.open()
            yield groups_of(RayPort(), plan, status.record)
        finally:
            connection.close()


def groups_of(port: Port, plan: Plan, record: Record) -> dict[str, WorkerGroup]:
    """Return component -> workers, by actor name; LaunchFailed (PW704) if one is gone."""
    groups: dict[str, WorkerGroup] = {}
    for component in plan.components:
        names = {worker.rank: worker.actor for worker in record.workers if worker.component == component}
        members = [Member(placement, names[placement.rank], {}) for placement in plan.placements(component)]
        groups[component] = attach_members(port, component, members, NOT_KNOWN)
    return groups


BEGIN = "import sys; sys.path[:] = sys.argv[1:]; from placewright.runtime.detached.keeper import main; main()"
"""Code of the keeper process: `sys.path` is that of this process, not of its working directory."""
GRACE, END_LIMIT, LONGEST_SELECT = 120.0, 60.0, 3600.0


def detach(request: LaunchRequest, nodes: int, progress: OnStep = silent) -> Record:
    """Start a keeper for a launch and return its record when all workers are ready.

    The keeper lives on. `nodes`: number of nodes in the plan, which sets the time limit of a
    simulated cluster. Raises LaunchFailed: as `launch`, PW730 for an invalid name, PW731 if the
    name is taken, PW733 if the keeper itself ends. Nothing is left then, nor after an interrupt.
    """
    check_free(request.name)  # an invalid or taken name starts no process
    with tempfile.TemporaryFile() as errors:
        with defer_signals():
            keeper = subprocess.Popen(
                [sys.executable, "-c", BEGIN, *sys.path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors,
                start_new_session=True,
            )  # fmt: skip
        try:
            limit = request.timeout + request.wait + START_LIMIT + PER_NODE * nodes + GRACE
            _say(keeper, to_line(request, LaunchRequest))
            for message in _messages(keeper, time.monotonic() + limit):
                if isinstance(message, Failure):
                    raise LaunchFailed(*message.findings, traceback=message.traceback)
                if isinstance(message, Record):
                    if _say(keeper, KEEP.encode()):
                        return message
                else:
                    progress(message)
            errors.seek(0)
            lines = errors.read().decode("utf-8", "replace").strip().splitlines()
            raise _faulty(headline(lines, "it ended without a word"), "\n".join(lines))
        except BaseException:
            with defer_signals():
                _end(keeper)
            raise
        finally:
            for pipe in (keeper.stdin, keeper.stdout):
                if pipe is not None:
                    pipe.close()


def _say(keeper: subprocess.Popen[bytes], data: bytes) -> bool:
    """Send data to the keeper; return False if it has ended."""
    if keeper.stdin is not None:
        with suppress(BrokenPipeError):
            keeper.stdin.write(data)
            keeper.stdin.flush()
            return True
    return False


def _messages(keeper: subprocess.Popen[bytes], deadline: float) -> Iterator[Message]:
    """Yield the keeper's messages; LaunchFailed (PW733) after silence or nonsense."""
    if keeper.stdout is None:
        return
    unread = b""
    with selectors.DefaultSelector() as selector:
        selector.register(keeper.stdout, selectors.EVENT_READ)
        while (seconds_left := deadline - time.monotonic()) > 0:
            if not selector.select(min(seconds_left, LONGEST_SELECT)):
                continue
            data = os.read(keeper.stdout.fileno(), 1 << 16)
            if not data:
                return
            *lines, unread = (unread + data).split(b"\n")
            try:
                for line in lines:
                    yield from_line(line, Message)
            except NotOurs as problem:
                raise _faulty(f"it says what makes no sense: {problem}") from None
    raise _faulty("it does not answer")


def _end(keeper: subprocess.Popen[bytes]) -> None:
    """End the keeper: on end of input before KEEP, a keeper undoes everything."""
    if keeper.stdin is not None:
        with suppress(BrokenPipeError):  # it ended before it read everything
            keeper.stdin.close()
    try:
        keeper.wait(END_LIMIT)
    except subprocess.TimeoutExpired:
        keeper.kill()
        keeper.wait()


def _faulty(reason: str, traceback: str = "") -> LaunchFailed:
    return build_failure(
        "PW733", "", f"the keeper of the launch failed: {reason}", "launch without `--detach` to see more", traceback=traceback
    )
