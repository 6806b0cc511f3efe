"""The claim on the name of a launch: a lock that its keeper holds for as long as it lives, however it ends."""

from __future__ import annotations

import fcntl
import os
import shutil
import time
from pathlib import Path

from ...models.placements.plan_file import write_whole
from ..failure import LaunchFailed, failed
from ..shield import shielded
from .directory import directory_of, must_be_private, unusable
from .record import ALIVE, Record, read_record

LOCK, STOP, LOG, PLAN = "lock", "stop", "keeper.log", "plan.json"
PATIENCE = 0.5
"""Seconds for which a lock may be held by somebody who only looks at it."""


class Claim:
    """The directory of a launch, held by this process. Whoever dies gives it up: the system takes the lock from it."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.path = directory_of(name)
        self._lock: int | None = None

    def take(self) -> None:
        """Takes the name; what a dead keeper left under it is removed. Raises LaunchFailed: PW731 if a launch of this name lives."""
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
        """Writes down how the launch stands. Raises OSError."""
        record.written(self.path)

    def keep(self, record: Record, plan: str) -> None:
        """Writes down a launch that runs, and its plan, by which others reach its workers. Raises OSError."""
        write_whole(self.path / PLAN, plan)
        self.write(record)

    @property
    def asked_to_stop(self) -> bool:
        """Has somebody asked for the end of this launch?"""
        return (self.path / STOP).exists()

    def give_up(self, leave_record: bool = False, at_exit: bool = False) -> None:
        """Gives the name back and removes the directory, unless its record is to be read by others. May be called twice.

        `at_exit` leaves the lock to the end of this process, for which whoever ends the launch then waits.
        """
        with shielded():
            lock, self._lock = self._lock, None
            if lock is not None:
                if not leave_record:
                    shutil.rmtree(self.path, ignore_errors=True)
                if not at_exit:
                    os.close(lock)


class Look:
    """A look at the lock of a launch, which sees its keeper's end even when the directory has been removed."""

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
        """Does a living process hold the launch?"""
        if self._lock is None:
            return False
        try:
            fcntl.flock(self._lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        fcntl.flock(self._lock, fcntl.LOCK_UN)
        return False


def refuse_taken(name: str) -> None:
    """Raises LaunchFailed, PW731 if a launch of this name lives, or PW730 for what cannot be a name. Takes nothing and waits for nobody.

    Where it passes, `Claim.take` still decides: a lock without a living keeper's record is of somebody who is about to give it up.
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
    """Does a living process hold the launch of this directory?"""
    with Look(path) as look:
        return look.held


def remove(path: Path) -> None:
    """Removes the directory of a launch, unless a living process holds it."""
    lock = _locked(path, os.O_RDWR)
    if lock is not None:
        shutil.rmtree(path, ignore_errors=True)
        os.close(lock)


def _locked(path: Path, flags: int) -> int | None:
    """The descriptor of the directory's lock, held; None if another process holds it, or has just removed the directory."""
    try:
        lock = os.open(path / LOCK, flags | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        held = os.path.samestat(os.fstat(lock), os.stat(path / LOCK))  # not if that file was removed meanwhile and is another now
    except (BlockingIOError, FileNotFoundError):
        held = False
    if not held:
        os.close(lock)
    return lock if held else None
