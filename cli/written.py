"""Files written by verbs: new files, plans, edits of the user's file."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Iterator, Mapping

from ..models.dialects.recognition import dialect_named
from ..models.findings.finding import Finding, Severity, UnusableInput, error, warning
from ..models.findings.span import Edit, apply_edits

if TYPE_CHECKING:
    from ..models.answer import Answer
    from ..models.parallel import Parallel
    from ..models.reading import Reading

NOT_SEARCHED = "PW604"


def edits_of(reading: Reading, answer: Answer) -> tuple[list[Edit], tuple[Finding, ...]]:
    """Return the edits for a plan with warnings; or no edits and the errors.

    The edited text is read again as the file was, if that is known, and verified.
    """
    from ..planner.verify import verify

    try:
        edits = dialect_named(reading.dialect).write(reading, answer.plan.assignment, answer.plan.degrees) if answer.plan else []
    except UnusableInput as problem:
        return [], problem.findings
    if not edits or reading.session.as_before is None:
        return edits, ()
    after = reading.session.read(apply_edits(reading.source.text, edits))
    if errors := verify(after).errors:
        message = f"the answer cannot be written into this file: with it, {errors[0].message} ({errors[0].code})"
        return [], (error("PW603", errors[0].subject, message, help="use the plan itself"),)
    if not after.session.times_follow_ranks:
        return edits, ()
    return edits, tuple(_other_times(reading, after.to_solve, answer.plan.degrees if answer.plan else {}))


def _other_times(reading: Reading, after: Reading, degrees: Mapping[str, Parallel]) -> Iterator[Finding]:
    """Warn of times with another meaning once the plan is in the file."""
    from ..models.times import times_with

    before, now = (times_with(file.problem.job, degrees) if file.problem else {} for file in (reading, after))
    from ..solver.wording import listed

    names = [f"`{name}`" for name, timed in now.items() if before.get(name) not in (None, timed)]
    if not names:
        return
    why = [finding.message for finding in after.findings if finding.code == NOT_SEARCHED and finding.severity is Severity.NOTE]
    known = {finding.message for finding in reading.findings}
    reasons = "".join(f": {reason}" for reason in why if reason not in known)
    message = f"with this plan in the file the times of {listed(names)} are read otherwise{reasons}"
    yield warning(
        NOT_SEARCHED, "", message, help="give their times as `seconds`, by count, in `placewright.components` before you plan again"
    )


def save(output: str, answer: Answer) -> None:
    """Write the plan to a file. Raises UnusableInput if that fails."""
    from ..models.placements.plan_file import plan_to_json, write_whole

    if answer.plan is not None:
        try:
            write_whole(output, plan_to_json(answer.plan))
        except OSError as problem:
            raise _not_written(output, problem) from None


def write_new(output: str, text: str, force: bool) -> None:
    """Write a new file, whole or not at all; overwrite only with `force`. Raises UnusableInput."""
    from ..models.placements.plan_file import write_whole

    if os.path.exists(output) and not force:
        raise UnusableInput([error("PW001", "", f"there is a file `{output}` already", help="name another one, or add `--force`")])
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
