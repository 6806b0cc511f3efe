"""Finding: an error, a warning or a note, with a fix."""

from __future__ import annotations

from dataclasses import field
from enum import Enum
from typing import Iterable

from ..record import dataclass
from .span import Edit, Span


@dataclass(frozen=True, slots=True)
class Fix:
    """Verified change; `notes` say the cause. `edit` is None if the text stands elsewhere."""

    help: str
    edit: Edit | None = None
    notes: tuple[str, ...] = ()


class Severity(str, Enum):
    """Severity of a finding. An error means a proved failure."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


OF_VALUE = "the value comes from here"
"""Label of the place where an interpolated or aliased value is written."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Error, warning or note about the input.

    Attributes
    ----------
    code : stable identifier such as ``PW102``; codes below ``PW100`` mean unusable input.
    severity : an error is a proved failure; a warning is not.
    subject : usually a component's name; "" for the file as a whole.
    label : text under the caret at that place.
    help : an edit or a command that fixes it.
    edit : `help` as data, if it is an edit of the file.
    witnesses : ranks, nodes or accelerators that show it.
    amount : size of the violation, in the rule's own unit (accelerators, MiB, processes).
    origin : second place: origin of the value if `span` is an interpolation, or the place of
        `origin_label`.
    notes : the reasons, one sentence each.
    also : further subjects with the same fault and fix.
    premises : components whose ranks and degrees the judgement depends on, besides the subjects.
    cause : place of the value at fault if it is neither `span` nor `origin`; not shown.
    disputed : True for a warning that is an error in a part of the possible releases.
    """

    code: str
    severity: Severity
    subject: str
    message: str
    span: Span | None = None
    label: str = ""
    help: str = ""
    edit: Edit | None = None
    witnesses: tuple[int | str, ...] = ()
    amount: int = 0
    origin: Span | None = None
    notes: tuple[str, ...] = ()
    origin_label: str = OF_VALUE
    also: tuple[str, ...] = ()
    premises: tuple[str, ...] = field(default=(), compare=False)
    cause: Span | None = field(default=None, compare=False, repr=False)
    disputed: bool = field(default=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        """Show both places of an aliased value. Drop the edit, as the value has further uses."""
        span = self.span
        if span is not None and (alias := span.alias) is not None:
            object.__setattr__(self, "span", alias)
            object.__setattr__(self, "origin", self.origin or span)
        if self.edit is not None and self.edit.span.via is not None:
            object.__setattr__(self, "edit", None)

    @property
    def unusable(self) -> bool:
        """True if the input itself is unusable (not YAML, too large, missing)."""
        return self.code < "PW100"


@dataclass(frozen=True, slots=True)
class IgnoredFinding:
    """Finding that the user ignores; `in_source` : by a comment of the file."""

    finding: Finding
    in_source: bool


@dataclass(frozen=True, slots=True)
class Unchecked:
    """Rule that could not be judged, with the reason; silence would mean approval.

    `decides`: the verdict is ``incomplete`` without it; `add` then is a sentence with a command or
    an edit for the user.
    """

    rule: str
    subject: str
    why: str
    decides: bool = False
    add: str = ""


@dataclass(frozen=True, slots=True)
class Missing:
    """Required information for the verdict ``ok``, and the text to add."""

    fact: str
    add: str


class UnusableInput(Exception):
    """Abort of reading; carries the findings with the reasons."""

    def __init__(self, findings: Iterable[Finding]) -> None:
        self.findings = tuple(findings)
        super().__init__("; ".join(finding.message for finding in self.findings))


def error(code: str, subject: str, message: str, span: Span | None = None, **more: object) -> Finding:
    """Return a Finding of severity error."""
    return Finding(code, Severity.ERROR, subject, message, span, **more)  # type: ignore[arg-type]


def warning(code: str, subject: str, message: str, span: Span | None = None, **more: object) -> Finding:
    """Return a Finding of severity warning."""
    return Finding(code, Severity.WARNING, subject, message, span, **more)  # type: ignore[arg-type]
