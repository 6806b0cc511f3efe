"""Failures of a launch, and refusals of a request."""

from __future__ import annotations

import re
from functools import partial
from typing import Any, Iterable, Sequence

from ..models.findings.finding import Finding, error

UNUSABLE, DIFFERENT = 2, 4
_OF_THE_INPUT = ("PW011", "PW112", "PW707", "PW708", "PW711", "PW718", "PW730", "PW731", "PW732", "PW734", "PW740", "PW741")


class LaunchFailed(Exception):
    """Failure of a launch, or of a call to launched workers. Everything started has been undone.

    Attributes
    ----------
    findings : faults, one per node or worker concerned.
    traceback : the worker's own traceback; "" if no worker code is concerned.
    """

    def __init__(self, *findings: Finding, traceback: str = "") -> None:
        self.findings = findings
        self.traceback = traceback
        super().__init__("; ".join(finding.message for finding in findings))

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the complete failure."""
        return partial(type(self), traceback=self.traceback), self.findings

    def __str__(self) -> str:
        return "\n".join(filter(None, (super().__str__(), self.traceback)))

    @property
    def exit_code(self) -> int:
        """Exit code: 2 for an unusable input (PW707, PW730 ...), 4 for a different cluster."""
        return UNUSABLE if all(finding.code in _OF_THE_INPUT for finding in self.findings) else DIFFERENT


def build_failure(code: str, subject: str, message: str, help: str, *witnesses: int | str, traceback: str = "") -> LaunchFailed:
    """Build a failure with a single Finding."""
    return LaunchFailed(error(code, subject, message, help=help, witnesses=witnesses), traceback=traceback)


class Refusal(LaunchFailed, ValueError):
    """Request refused before anything starts. Its text is complete: it mostly ends a program."""

    def __str__(self) -> str:
        return "\n".join(line for finding in self.findings for line in (finding.message, *finding.notes, f"help: {finding.help}"))


def build_refusal(
    code: str, subject: str, message: str, help: str, *witnesses: int | str, amount: int = 0, notes: tuple[str, ...] = ()
) -> Refusal:
    """Build a refusal with a single Finding."""
    return Refusal(error(code, subject, message, help=help, witnesses=witnesses, amount=amount, notes=notes))


LONGEST_LINE = 1000
_CHAINED = re.compile("Traceback \\(most recent|The above exception was the|During handling of the above")
_GROUP, _RULER = "+ Exception Group Traceback", re.compile(r" *\+-[-+]-[-+. \d]*")


def headline(lines: Sequence[str], default: str = "") -> str:
    """Return the reason in an output: its exception with the whole message, else its last line.

    Libraries end their messages with advice: "For debugging consider passing ..." says less than
    "CUDA error: out of memory" before it. The reason of an exception group is that of its first
    member. In one line of at most 1000 characters.
    """
    chain_starts = [number for number, line in enumerate(lines) if _CHAINED.match(line)]
    lines = lines[chain_starts[-1] :] if chain_starts else lines
    group = next((number for number, line in enumerate(lines) if line.strip().startswith(_GROUP)), None)
    if group is not None:
        return headline(_first_member(lines[group:]), default)
    frames = (number for number, line in enumerate(lines) if line.startswith("  File "))
    after = range(next(frames, len(lines)) + 1, len(lines))
    start = next((number for number in after if not lines[number][:1].isspace()), len(lines) - 1)
    return " ".join(" ".join(lines[start:]).split())[:LONGEST_LINE] if lines else default


def _first_member(lines: Sequence[str]) -> list[str]:
    """Return the traceback of the first exception in a group, or in its first group."""
    member: list[str] = []
    for line in lines:
        if not _RULER.fullmatch(line):
            member.append(re.sub(r"^ *[|+] ?", "", line))
        elif line.lstrip().startswith("+-+"):
            member = []
        else:
            break
    return member


def quote_names(names: Iterable[object]) -> str:
    """Return names in backticks, separated by commas; ``none`` without any."""
    return ", ".join(f"`{name}`" for name in names) or "none"
