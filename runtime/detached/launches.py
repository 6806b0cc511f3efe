"""Status and end of detached launches."""

from __future__ import annotations

import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path

from ...models.findings.finding import Finding, error
from ..failure import failed
from .claim import LOG, STOP, Look, is_held, remove
from .record import ALIVE, Record, directory_of, must_be_private, names, read_record

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
    return [status for status in map(_seen, names()) if status is not None]


def launch_named(name: str) -> LaunchStatus:
    """Return a launch by name. Raises LaunchFailed: PW730 if there is none."""
    status = _seen(name)
    if status is None:
        raise failed("PW730", "", f"there is no launch named `{name}`", "see which there are with `placewright status`", name)
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
            _ask_to_stop(path)
            if not _wait_until_released(look, limit):
                os.kill(status.record.pid, signal.SIGKILL)  # locked: still the keeper
                if not _wait_until_released(look, KILL_LIMIT):
                    keeper_text = f"the keeper of `{name}` (process {status.record.pid})"
                    raise failed("PW733", "", f"{keeper_text} cannot be ended", "look at that process", name)
    remove(path)
    return status


def _seen(name: str) -> LaunchStatus | None:
    """Return the launch recorded in a directory; None without a directory or a record."""
    path = directory_of(name)
    try:
        must_be_private(path)
    except FileNotFoundError:
        return None
    is_alive = is_held(path)
    record = read_record(path)
    if record is None or (not is_alive and record.state in ALIVE):
        log = _last_line(path / LOG)
        if not is_alive:
            remove(path)
        return None if record is None else LaunchStatus(record, LOST, (_lost(record, log),))
    return LaunchStatus(record, record.state, tuple(trouble.finding() for trouble in record.findings))


def _lost(record: Record, log: str) -> Finding:
    message = f"the keeper of `{record.name}` (process {record.pid}) was killed" + (f": {log}" if log else "")
    return error("PW733", record.name, message, help="its workers ended with it; launch it again", witnesses=(record.pid,))


def _last_line(log: Path) -> str:
    try:
        lines = log.read_text("utf-8", "replace").strip().splitlines()
    except FileNotFoundError:
        return ""
    return lines[-1][:200] if lines else ""


def _ask_to_stop(path: Path) -> None:
    try:
        os.close(os.open(path / STOP, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600))
    except FileNotFoundError:  # the launch has just ended by itself
        return


def _wait_until_released(look: Look, limit: float) -> bool:
    deadline = time.monotonic() + limit
    while look.held:
        if time.monotonic() > deadline:
            return False
        time.sleep(INTERVAL)
    return True
