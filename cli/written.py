"""Files written by verbs: new files, plans, the edited file."""

from __future__ import annotations

import os
from errno import EACCES, EISDIR, ENOENT
from typing import TYPE_CHECKING, Sequence

import click

from ..models.findings.finding import UnusableInput, error
from ..models.findings.span import Edit, apply_edits
from .options.standard_input import DASH

if TYPE_CHECKING:
    from ..models.fixing import FixedFile
    from ..models.reading import Reading

_BOM = b"\xef\xbb\xbf"


def write_new(output: str, text: str, force: bool) -> None:
    """Write a new file whole, or print it for `-`; overwrite only with `force`.

    Raises UnusableInput.
    """
    if output == DASH:
        click.echo(text, nl=False)
        return
    if not force:
        must_be_new(output)
    write_text(output, text)


def must_be_new(output: str) -> None:
    """Raise UnusableInput if there is a file of that name."""
    if output != DASH and os.path.exists(output):
        raise UnusableInput([error("PW001", "", f"there is a file `{output}` already", help="name another one, or add `--force`")])


def must_be_writable(output: str) -> None:
    """Raise UnusableInput if a file could not be written later, after long work."""
    folder = os.path.dirname(os.path.abspath(output))
    if output != DASH and (os.path.isdir(output) or not os.access(folder, os.W_OK)):
        number = EISDIR if os.path.isdir(output) else EACCES if os.path.isdir(folder) else ENOENT
        raise _not_written(output, OSError(number, os.strerror(number)))


def write_text(output: str, text: str) -> None:
    """Write a file, whole or not at all, also over an old one. Raises UnusableInput."""
    from ..models.text.files import write_whole

    try:
        write_whole(output, text)
    except OSError as problem:
        raise _not_written(output, problem) from None


def write_edits(file: str, reading: Reading, edits: list[Edit]) -> None:
    """Apply the edits to the file; print the new text for `-`. Raises UnusableInput."""
    from ..models.text.files import write_whole

    if file == DASH:
        click.echo(apply_edits(reading.source.text, edits), nl=False)
        return
    try:
        with open(file, "rb") as now:
            before = now.read()
        mark = "\ufeff" if before.startswith(b"\xef\xbb\xbf") else ""
        write_whole(file, mark + apply_edits(reading.source.text, edits))
    except OSError as problem:
        raise _not_written(file, problem) from None


def write_fixes(files: Sequence[FixedFile]) -> None:
    """Write all fixed files, or none. Raises UnusableInput, also if a file has changed since."""
    from ..models.text.files import FileChange, write_together

    changes = dict[str, FileChange]()
    for file in files:
        try:
            if not os.path.isfile(file.name):
                raise OSError(0, "it is not a regular file")
            with open(file.name, "rb") as stream:
                before = stream.read()
            mark = _BOM if before.startswith(_BOM) else b""
            if before != mark + file.before.encode():
                raise _build_change_error(file.name)
            changes[file.name] = FileChange(before, mark + file.text.encode())
        except OSError as problem:
            raise _not_written(file.name, problem) from None
    try:
        changed_names = write_together(changes)
    except OSError as problem:
        raise _not_written(problem.filename or ", ".join(changes), problem) from None
    if changed_names:
        raise _build_change_error(changed_names)


def _build_change_error(path: str) -> UnusableInput:
    message = f"`{path}` was changed while it was fixed; no file was written"
    return UnusableInput([error("PW001", "", message, help="run the command again")])


def _not_written(path: str, problem: OSError) -> UnusableInput:
    message = f"`{path}` cannot be written: {problem.strerror or problem}"
    return UnusableInput([error("PW001", "", message, help="name a file in a folder that can be written")])
