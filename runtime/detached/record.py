"""Record of a detached launch, its private directory, and the claim on its name."""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import stat
import tempfile
import time
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from ...models.findings.finding import Finding, Unchecked
from ...models.placements.plan_file import plan_to_json
from ...models.planning.planned import PlanningResult
from ...models.text.files import write_whole
from ...solver.sandbox.messages import Codec, NotOurs, data_of, line_of
from ..failure import LaunchFailed, build_failure
from ..port.ray_compat import TOKEN_PATH
from ..recovery.lifetime import Launch
from ..shield import defer_signals

_NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_PRIVATE = 0o700


def launches_directory() -> Path:
    """Return the directory, creating it if necessary.

    It is in XDG_RUNTIME_DIR, else beside the temporary files under this user's number. Raises
    LaunchFailed (PW732) if another user could write there, or made it.
    """
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    in_runtime = bool(runtime) and os.path.isabs(runtime) and os.path.isdir(runtime)
    path = Path(runtime, "placewright") if in_runtime else Path(tempfile.gettempdir(), f"placewright-{os.getuid()}")
    try:
        path.mkdir(mode=_PRIVATE, exist_ok=True)
        must_be_private(path)
    except OSError as problem:
        raise unusable(path, problem.strerror or str(problem)) from None
    return path


def must_be_private(path: Path) -> None:
    """Raise LaunchFailed (PW732) unless a path is a private directory (no link)."""
    status = os.lstat(path)
    if not stat.S_ISDIR(status.st_mode):
        raise unusable(path, "it is not a directory")
    if status.st_uid != os.getuid():
        raise unusable(path, f"it belongs to user {status.st_uid}")
    if status.st_mode & 0o077:
        raise unusable(path, f"others may use it (mode {stat.S_IMODE(status.st_mode):04o})")


def directory_of(name: str) -> Path:
    """Return the directory of a launch. Invalid name: LaunchFailed (PW730)."""
    if not is_name(name):
        message = f"`{name}` is not the name of a launch"
        raise build_failure("PW730", "", message, "use letters, digits, `.`, `_` and `-`, at most 64 of them", name)
    return launches_directory() / name


def is_name(text: str) -> bool:
    """Return True if a launch can have this name."""
    return bool(_NAME.fullmatch(text)) and text not in (".", "..")


def names() -> list[str]:
    """Return the names of the recorded launches, sorted."""
    return sorted(entry.name for entry in os.scandir(launches_directory()) if is_name(entry.name) and entry.is_dir(follow_symlinks=False))


def unusable(path: Path, why: str) -> LaunchFailed:
    """Build the failure (PW732) for an unusable path."""
    message = f"`{path}` cannot be used to write launches down: {why}"
    return build_failure("PW732", "", message, "remove it, or set XDG_RUNTIME_DIR to a directory of your own with mode 0700", str(path))


MAX_BYTES = 64 << 20
FILE = "launch.json"
SCHEMA = 2
STARTING, RUNNING, RECOVERING, ENDED, FAILED = STATES = ("starting", "running", "recovering", "ended", "failed")
ALIVE = (STARTING, RUNNING, RECOVERING)
"""States in which a keeper holds the launch."""


@cache
def _codec() -> Codec:
    return Codec(names={"PlanningResult": PlanningResult})


def to_line(value: object, kind: Any) -> bytes:
    """Return a value of a type as a JSON line, for this user's other processes."""
    return line_of(_codec().write(value, kind))


def from_line(line: bytes, kind: Any) -> Any:
    """Parse a value of a type. Raises NotOurs."""
    return _codec().read(data_of(line), kind)


@dataclass(frozen=True)
class Worker:
    """Worker as audited; `actor` is its name in the Ray cluster."""

    component: str
    rank: int
    world_size: int
    node_rank: int
    node: str
    ray_node: str
    pid: int
    local_rank: int
    local_world_size: int
    sees: tuple[str, ...]
    actor: str


@dataclass(frozen=True)
class Record:
    """Launch: state, its start (`since`, seconds of the epoch), keeper, cluster, and all workers.

    `given` lists the replacements of accelerators named in the plan, because the launch shares
    nodes. `restarts` counts restarts after a loss, of `allowed`; `recoveries` describe the outcome
    of each. During a recovery, `findings` are the losses, and `workers` those that
    ran before. `unchecked` lists demands on the nodes that cannot be seen, and those that
    re-placement does not check.
    """

    name: str
    state: str
    since: float
    pid: int
    file: str
    simulated: bool
    address: str = ""
    digest: str = ""
    workers: tuple[Worker, ...] = ()
    given: tuple[str, ...] = ()
    restarts: int = 0
    allowed: int = 0
    recoveries: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    unchecked: tuple[Unchecked, ...] = ()
    log_dir: str = ""
    token: str = ""
    """Path of the cluster's token, for those who attach."""
    schema: int = SCHEMA


def read_record(directory: Path) -> Record | None:
    """Read the record of a directory, or None. Invalid record: LaunchFailed (PW732)."""
    try:
        with open(directory / FILE, "rb") as file:
            data = file.read(MAX_BYTES)
    except FileNotFoundError:
        return None
    except OSError as problem:
        raise unusable(directory, problem.strerror or str(problem)) from None
    try:
        record: Record = from_line(data, Record)
    except NotOurs as problem:
        raise unusable(directory, f"{FILE}: {problem}") from None
    if record.schema != SCHEMA or record.state not in STATES:
        raise unusable(directory, f"{FILE}: it is of another version")
    return record


def workers_of(running: Launch) -> tuple[Worker, ...]:
    """Return the audited workers of a launch."""
    return tuple(
        Worker(
            component=row.component, rank=row.rank, world_size=row.world_size, node_rank=row.node_rank, node=row.node, ray_node=row.ray_node,
            pid=row.pid, local_rank=row.local_rank, local_world_size=row.local_world_size, sees=row.visible,
            actor=running.groups[row.component].members[row.rank].name,
        )
        for row in running.audit
    )  # fmt: skip


def record_of(name: str, file: str, running: Launch, is_simulated: bool, log_dir: str = "") -> Record:
    """Build the record of a running launch of this process."""
    return Record(
        name=name, state=RUNNING, since=time.time(), pid=os.getpid(), file=file, simulated=is_simulated, address=running.address,
        digest=running.plan.digest, workers=workers_of(running), given=tuple(map(str, running.given)),
        restarts=running.restarts.used, allowed=running.restarts.allowed, recoveries=tuple(map(str, running.recoveries)),
        unchecked=running.unchecked,
        log_dir=log_dir, token=os.environ.get(TOKEN_PATH, ""),
    )  # fmt: skip


LOCK, STOP, LOG, PLAN = "lock", "stop", "keeper.log", "plan.json"
PATIENCE = 0.5
"""Seconds for which another process may hold the lock just to look at it."""


class Claim:
    """Directory of a launch, locked by this process until it dies; `record`: the last one written."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.path = directory_of(name)
        self.record: Record | None = None
        self._lock: int | None = None

    def take(self) -> None:
        """Lock the name, remove what a dead keeper left. Living launch: LaunchFailed (PW731)."""
        with defer_signals():
            deadline = time.monotonic() + PATIENCE
            while (lock := self._try()) is None:
                if time.monotonic() > deadline:
                    raise _refuse_taken(self.name)
                time.sleep(0.02)
            self._lock = lock
            for entry in os.scandir(self.path):
                if entry.name != LOCK:
                    os.unlink(entry.path)

    def _try(self) -> int | None:
        try:
            self.path.mkdir(mode=0o700, exist_ok=True)
            must_be_private(self.path)
            return _lock(self.path, os.O_RDWR | os.O_CREAT)
        except OSError as problem:
            raise unusable(self.path, problem.strerror or str(problem)) from None

    def write(self, record: Record) -> None:
        """Write the record, whole or not at all. Raises OSError."""
        self.record = record
        write_whole(self.path / FILE, to_line(record, Record).decode())

    def change(self, **fields: Any) -> None:
        """Write the record with other fields, as of now. Raises OSError."""
        if self.record is not None:
            self.write(replace(self.record, since=time.time(), **fields))

    def record_loss(self, failure: LaunchFailed) -> None:
        """Record a loss before its replacement. Raises OSError."""
        if self.record is not None:
            self.change(state=RECOVERING, findings=failure.findings, restarts=self.record.restarts + 1)

    def keep(self, running: Launch, file: str, is_simulated: bool, log_dir: str) -> Record:
        """Write record and plan of a running launch for other processes; return the record."""
        record = record_of(self.name, file, running, is_simulated, log_dir)
        write_whole(self.path / PLAN, plan_to_json(running.plan))
        self.write(record)
        return record

    @property
    def asked_to_stop(self) -> bool:
        """True if the end of this launch was requested."""
        return (self.path / STOP).exists()

    def give_up(self, leave_record: bool = False, at_exit: bool = False) -> None:
        """Release the name and, unless `leave_record`, remove the directory. Idempotent.

        `at_exit` leaves the lock to the end of this process, for which `stop` then waits.
        """
        with defer_signals():
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
        raise _refuse_taken(name)


def _refuse_taken(name: str) -> LaunchFailed:
    help = f"take another name, or end that one with `placewright stop {name}`"
    return build_failure("PW731", "", f"a launch named `{name}` is there already", help, name)


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
    lock = _lock(path, os.O_RDWR)
    if lock is not None:
        shutil.rmtree(path, ignore_errors=True)
        os.close(lock)


def _lock(path: Path, flags: int) -> int | None:
    """Lock the directory; return the descriptor, or None if locked or just removed."""
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
