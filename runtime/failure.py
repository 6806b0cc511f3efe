"""Why a launch did not come about: the world differs from the plan, or what was to be started cannot be used."""

from __future__ import annotations

from typing import Any

from ..models.findings.finding import Finding, error

UNUSABLE, DIFFERENT = 2, 4
_OF_THE_INPUT = ("PW011", "PW112", "PW707", "PW708", "PW711", "PW718", "PW730", "PW731", "PW732", "PW740", "PW741")


class LaunchFailed(Exception):
    """Raised where a launch, or a call to launched workers, cannot go on. Whatever was started has been undone.

    Attributes
    ----------
    findings : what is wrong, one for each node or worker concerned.
    traceback : the end of the worker's own traceback, of several lines; "" if it is not about code of a worker.
    """

    def __init__(self, *findings: Finding, traceback: str = "") -> None:
        self.findings = findings
        self.traceback = traceback
        super().__init__("; ".join(finding.message for finding in findings))

    def __reduce__(self) -> tuple[Any, ...]:
        """It travels between processes with all that it says."""
        return _again, (type(self), self.findings, self.traceback)

    @property
    def exit_code(self) -> int:
        """2 where what was named or was to be started cannot be used (such as PW707 or PW730), else 4: the world differs from the plan."""
        return UNUSABLE if all(finding.code in _OF_THE_INPUT for finding in self.findings) else DIFFERENT


def _again(cls: type[LaunchFailed], findings: tuple[Finding, ...], traceback: str) -> LaunchFailed:
    return cls(*findings, traceback=traceback)


def failed(code: str, subject: str, message: str, help: str, *witnesses: int | str, traceback: str = "") -> LaunchFailed:
    """A failure with one Finding."""
    return LaunchFailed(error(code, subject, message, help=help, witnesses=witnesses), traceback=traceback)
