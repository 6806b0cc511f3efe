"""Private directory of this user with a subdirectory per launch."""

from __future__ import annotations

import os
import re
import stat
import tempfile
from pathlib import Path

from ..failure import LaunchFailed, failed

_NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_PRIVATE = 0o700


def launches_directory() -> Path:
    """Return the directory, creating it if necessary.

    It lies in XDG_RUNTIME_DIR, else beside the temporary files under this user's number. Raises
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
    """Check that a path is a directory (no link) private to this user.

    Raises LaunchFailed (PW732) otherwise.
    """
    status = os.lstat(path)
    if not stat.S_ISDIR(status.st_mode):
        raise unusable(path, "it is no directory")
    if status.st_uid != os.getuid():
        raise unusable(path, f"it belongs to user {status.st_uid}")
    if status.st_mode & 0o077:
        raise unusable(path, f"others may use it (mode {stat.S_IMODE(status.st_mode):04o})")


def directory_of(name: str) -> Path:
    """Return the directory of a launch, which may not exist yet.

    Raises LaunchFailed (PW730) for an invalid name.
    """
    if not is_name(name):
        message = f"`{name}` is not the name of a launch"
        raise failed("PW730", "", message, "use letters, digits, `.`, `_` and `-`, at most 64 of them", name)
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
    return failed("PW732", "", message, "remove it, or set XDG_RUNTIME_DIR to a directory of your own with mode 0700", str(path))
