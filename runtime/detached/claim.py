"""Claim on the name of a launch: a lock that its keeper holds while it lives."""

from __future__ import annotations

import fcntl
import os
import shutil
import time
from pathlib import Path

from ...models.placements.plan_file import write_whole
from ..failure import LaunchFailed, failed
from ..shield import shielded
from .record import ALIVE, Record, directory_of, must_be_private, read_record, unusable

LOCK, STOP, LOG, PLAN = "lock", "stop", "keeper.log", "plan.json"
PATIENCE = 0.5
"""Seconds for which another process may hold the lock just to look at it."""


class Claim:
    """Directory of a launch, locked by this process.

    The system releases the lock when the process dies.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.path = directory_of(name)
        self._lock: int | None = None

    def take(self) -> None:
        """Lock the name and remove what a dead keeper left there.

        Raises LaunchFailed: PW731 if a launch of this name lives.
        """
        with shielded():
            deadline = time.monotonic() + PATIENCE
            while (lock := self._try()) is None:
                if time.monotonic() > deadline:
                    raise _taken(self.name)
                time.sleep(0.02)
            self._lock = lock
            for entry in os.scandir(self.path):
                if entry.name != LOCK:
                    os.unlink(entry.path)

    def _try(self) -> int | None:
        try:
            self.path.mkdir(mode=0o700, exist_ok=True)
            must_be_private(self.path)
            return _locked(self.path, os.O_RDWR | os.O_CREAT)
        except OSError as problem:
            raise unusable(self.path, problem.strerror or str(problem)) from None

    def write(self, record: Record) -> None:
        """Write the record. Raises OSError."""
        record.written(self.path)

    def keep(self, record: Record, plan: str) -> None:
        """Write the record and the plan of a running launch, for access by other processes.

        Raises OSError.
        """
        write_whole(self.path / PLAN, plan)
        self.write(record)

    @property
    def asked_to_stop(self) -> bool:
        """True if the end of this launch was requested."""
        return (self.path / STOP).exists()

    def give_up(self, leave_record: bool = False, at_exit: bool = False) -> None:
        """Release the name and, unless `leave_record`, remove the directory. Idempotent.

        `at_exit` leaves the lock to the end of this process, for which `stop` then waits.
        """
        with shielded():
            lock, self._lock = self._lock, None
            if lock is not None:
                if not leave_record:
                    shutil.rmtree(self.path, ignore_errors=True)
                if not at_exit:
                    os.close(lock)


class Look:
    """Probe of a launch's lock; detects the keeper's end even after the directory was removed."""

    def __init__(self, path: Path) -> None:
        try:
            self._lock: int | None = os.open(path / LOCK, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except FileNotFoundError:
            self._lock = None
        except OSError as problem:
            raise unusable(path, problem.strerror or str(problem)) from None

    def __enter__(self) -> Look:
        return self

    def __exit__(self, *reason: object) -> None:
        if self._lock is not None:
            os.close(self._lock)

    @property
    def held(self) -> bool:
        """True if a living process holds the launch."""
        if self._lock is None:
            return False
        try:
            fcntl.flock(self._lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        fcntl.flock(self._lock, fcntl.LOCK_UN)
        return False


def check_free(name: str) -> None:
    """Check that a name is free, without taking it or waiting.

    Raises LaunchFailed: PW731 if a launch of this name lives, PW730 for an invalid name.
    `Claim.take` still decides: a lock without a living keeper's record belongs to a process that is
    about to release it.
    """
    path = directory_of(name)
    record = read_record(path) if is_held(path) else None
    if record is not None and record.state in ALIVE and _lives(record.pid):
        raise _taken(name)


def _taken(name: str) -> LaunchFailed:
    help = f"take another name, or end that one with `placewright stop {name}`"
    return failed("PW731", "", f"a launch named `{name}` is there already", help, name)


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def is_held(path: Path) -> bool:
    """Return True if a living process holds the launch of this directory."""
    with Look(path) as look:
        return look.held


def remove(path: Path) -> None:
    """Remove the directory of a launch, unless a living process holds it."""
    lock = _locked(path, os.O_RDWR)
    if lock is not None:
        shutil.rmtree(path, ignore_errors=True)
        os.close(lock)


def _locked(path: Path, flags: int) -> int | None:
    """Lock the directory and return the descriptor, or None.

    None: another process holds the lock, or has just removed the directory.
    """
    try:
        lock = os.open(path / LOCK, flags | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        has_lock = os.path.samestat(os.fstat(lock), os.stat(path / LOCK))  # else: replaced
    except (BlockingIOError, FileNotFoundError):
        has_lock = False
    if not has_lock:
        os.close(lock)
    return lock if has_lock else None
