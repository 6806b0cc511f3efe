"""Files written by verbs: new files, plans, the edited file."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ..models.findings.finding import UnusableInput, error
from ..models.findings.span import Edit, apply_edits

if TYPE_CHECKING:
    from ..models.answer import Answer
    from ..models.reading import Reading


def save(output: str, answer: Answer) -> None:
    """Write the plan to a file. Raises UnusableInput if that fails."""
    from ..models.placements.plan_file import plan_to_json

    if answer.plan is not None:
        write_text(output, plan_to_json(answer.plan))


def write_new(output: str, text: str, force: bool) -> None:
    """Write a new file, whole or not at all; overwrite only with `force`. Raises UnusableInput."""
    if os.path.exists(output) and not force:
        raise UnusableInput([error("PW001", "", f"there is a file `{output}` already", help="name another one, or add `--force`")])
    write_text(output, text)


def write_text(output: str, text: str) -> None:
    """Write a file, whole or not at all, also over an old one. Raises UnusableInput."""
    from ..models.placements.plan_file import write_whole

    try:
        write_whole(output, text)
    except OSError as problem:
        raise _not_written(output, problem) from None


def write_edits(file: str, reading: Reading, edits: list[Edit]) -> None:
    """Apply the edits to the file. Raises UnusableInput if that fails."""
    from ..models.placements.plan_file import write_whole

    try:
        with open(file, "rb") as now:
            before = now.read()
        mark = "\ufeff" if before.startswith(b"\xef\xbb\xbf") else ""
        write_whole(file, mark + apply_edits(reading.source.text, edits))
    except OSError as problem:
        raise _not_written(file, problem) from None


def _not_written(path: str, problem: OSError) -> UnusableInput:
    message = f"`{path}` cannot be written: {problem.strerror or problem}"
    return UnusableInput([error("PW001", "", message, help="name a file in a folder that can be written")])
