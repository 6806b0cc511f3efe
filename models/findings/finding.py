"""Finding: what is wrong or worth knowing, and what would mend it."""

from __future__ import annotations

from dataclasses import field
from enum import Enum
from typing import Iterable

from ..record import dataclass
from .span import Edit, Span


@dataclass(frozen=True, slots=True)
class Fix:
    """A change that was itself verified. `edit` is None where the text that it changes stands elsewhere.

    `notes` are what the dialect knows of the cause, such as which number is the framework's default.
    """

    help: str
    edit: Edit | None = None
    notes: tuple[str, ...] = ()


class Severity(str, Enum):
    """How bad it is. An error means that failure is proved, not feared."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong.

    Attributes
    ----------
    code : stable identifier such as ``PW102``; codes below ``PW100`` mean that the input could not be used at all.
    severity : an error is a proved failure; a warning is not.
    subject : what it is about, usually a component's name; "" for the file as a whole.
    message : one sentence that states the fact with its numbers.
    span : where in the file, if it is about a file.
    label : what is at that spot, shown under the caret.
    help : an edit or a command that mends it.
    edit : the same as data, where `help` is an edit of the file.
    witnesses : the ranks, nodes or accelerators that show it.
    amount : by how much, in the rule's own unit (accelerators, MiB, processes).
    origin : a second place: where the value came from if `span` is an interpolation, or what `origin_label` says.
    notes : the reasons, one sentence each.
    also : further subjects with the same fault and the same mend.
    premises : components whose own ranks and degrees it is judged by, besides those of a subject.
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
    origin_label: str = "the value comes from here"
    also: tuple[str, ...] = ()
    premises: tuple[str, ...] = field(default=(), compare=False)

    def __post_init__(self) -> None:
        """Of a value that came through an alias both places are shown, and no edit is offered: the value is used elsewhere too."""
        span = self.span
        if span is not None and (alias := span.alias) is not None:
            object.__setattr__(self, "span", alias)
            object.__setattr__(self, "origin", self.origin or span)
        if self.edit is not None and self.edit.span.via is not None:
            object.__setattr__(self, "edit", None)

    @property
    def unusable(self) -> bool:
        """Is the input itself unusable (not YAML, too large, missing), rather than wrong in content?"""
        return self.code < "PW100"


@dataclass(frozen=True, slots=True)
class Unchecked:
    """A rule that could not be judged, and why. It is said, so that silence never passes for approval.

    `decides`: the placement was not checked without it, so the verdict is ``incomplete``; `add` then says what the user adds, as a
    sentence with a command or an edit.
    """

    rule: str
    subject: str
    why: str
    decides: bool = False
    add: str = ""


@dataclass(frozen=True, slots=True)
class Missing:
    """What must be known before a placement can be called ok, and what the user adds for it."""

    what: str
    add: str


class UnusableInput(Exception):
    """Raised where reading cannot go on; carries the Findings that say why."""

    def __init__(self, findings: Iterable[Finding]) -> None:
        self.findings = tuple(findings)
        super().__init__("; ".join(finding.message for finding in self.findings))


def error(code: str, subject: str, message: str, span: Span | None = None, **more: object) -> Finding:
    """A Finding of severity error."""
    return Finding(code, Severity.ERROR, subject, message, span, **more)  # type: ignore[arg-type]


def warning(code: str, subject: str, message: str, span: Span | None = None, **more: object) -> Finding:
    """A Finding of severity warning."""
    return Finding(code, Severity.WARNING, subject, message, span, **more)  # type: ignore[arg-type]
