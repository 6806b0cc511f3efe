"""Files written whole or not at all."""

from __future__ import annotations

import os
import tempfile
from errno import EACCES
from pathlib import Path
from typing import BinaryIO, Iterable, Mapping, NamedTuple

from ..findings.finding import UnusableInput
from .source import Source


def is_below(real: str, folders: Iterable[str]) -> bool:
    """Return True if a real path is one of the folders, or lies in one."""
    return any(real == folder or real.startswith(folder.rstrip(os.sep) + os.sep) for folder in folders)


def text_of(path: str) -> str:
    """Return the text of a file; "" if it cannot be read."""
    try:
        return Source.read(path).text
    except UnusableInput:
        return ""


class FileChange(NamedTuple):
    """Text of a file before and after a change, in bytes."""

    before: bytes
    after: bytes


def write_whole(path: str | Path, text: str) -> None:
    """Write a text file atomically: a new file replaces the old one. Raises OSError."""
    target = Path(path)
    if target.exists() and not target.is_file():  # a pipe or a device cannot be replaced
        target.write_text(text, encoding="utf-8", newline="")
        return
    temporary = _stage(target, text.encode())
    try:
        _install(temporary, target.resolve())
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def write_together(changes: Mapping[str, FileChange]) -> str:
    """Change all files, or none. Raises OSError.

    Returns the name of a file that differs from the text before; "" if all were changed.
    """
    temporaries = dict[str, Path]()
    replaced_names = list[str]()
    try:
        for name, change in changes.items():
            temporaries[name] = _stage(Path(name), change.after)
        for name, change in changes.items():
            if Path(name).read_bytes() != change.before:
                return name
        for name in changes:
            _install(temporaries[name], Path(name).resolve())
            replaced_names.append(name)
        return ""
    except BaseException:
        for name in replaced_names:
            _install(_stage(Path(name), changes[name].before), Path(name).resolve())
        raise
    finally:
        for path in temporaries.values():
            path.unlink(missing_ok=True)


def _install(temporary: Path, target: Path) -> None:
    """Replace the target by a staged file; rewrite a target with hard links."""
    if not target.exists() or target.stat().st_nlink < 2:
        os.replace(temporary, target)
        return
    with open(target, "r+b") as file:
        before = file.read()
        try:
            _rewrite(file, temporary.read_bytes())
        except BaseException:
            _rewrite(file, before)
            raise
    temporary.unlink()


def _rewrite(file: BinaryIO, data: bytes) -> None:
    file.seek(0)
    file.write(data)
    file.truncate()
    file.flush()
    os.fsync(file.fileno())


def _stage(target: Path, data: bytes) -> Path:
    """Write a new file beside the target, with the same mode, and return its path. A read-only target is refused."""
    if target.exists() and not os.access(target, os.W_OK):
        raise PermissionError(EACCES, os.strerror(EACCES), str(target))
    mode = target.stat().st_mode & 0o777 if target.exists() else 0o644
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.resolve().parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, mode)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    return Path(name)
