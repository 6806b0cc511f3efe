"""Checks of a framework's own settings as data: each says what holds, where the framework says so, since when, and when it notices.

A dialect lists its checks and runs them with `run_checks`. A check reads numbers and words through `Facts`; what is unknown is noted as
unchecked, never assumed. A refusal of the release at hand is an error; one of other possible releases is a warning that names them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from math import isqrt
from typing import Callable, Iterable, Sequence, Union

from ..configuration.notes import Notes
from ..configuration.settings import Amount, Settings
from ..findings.finding import Severity
from ..findings.span import Edit, Span
from ..findings.wording import are
from ..record import dataclass
from ..releases.release import ALWAYS, Range
from ..text.nearest import nearest


@dataclass(frozen=True, slots=True)
class Number:
    """A number in a check: its value, how it is written in a message, and the setting that would be edited.

    `text` is such as ```rollout.n` 5`` or ``the 12 data parallel ranks of actor``; `amount` is None for a derived number.
    """

    value: int
    text: str
    amount: Amount | None = None

    @property
    def span(self) -> Span | None:
        """Where it is written."""
        return self.amount.span if self.amount else None


class Facts:
    """Settings and derived numbers of one job, as checks read them. Dialects derive more.

    `subject` is the component that the findings are about. `top` is where a finding points without a better place.
    """

    def __init__(self, notes: Notes, settings: Settings, subject: str = "") -> None:
        self.notes = notes
        self.settings = settings
        self.subject = subject

    @property
    def top(self) -> Span:
        """Fallback span of a finding."""
        return self.settings.top

    def number(self, path: str, code: str) -> Number | None:
        """Whole number at a path; None where it is unset or unknown (then noted as unchecked)."""
        amount = self.settings.whole(path, code)
        return None if amount is None else Number(amount.value, self.text(amount), amount)

    def text(self, amount: Amount) -> str:
        """A setting with its value, as messages write it."""
        default = " (default)" if amount.span is None else ""
        return f"`{amount.name}` {amount.value}{default}"

    def assigned(self, path: str, value: object) -> str:
        """A setting as the user would type it."""
        return f"`{path}: {value}`"

    def judge(
        self, releases: Range, severity: Severity, code: str, message: str, at: Span, label: str, help: str, edit: Edit | None,
        notes: tuple[str, ...],
    ) -> None:  # fmt: skip
        """Adds a finding about the subject, by the release at hand; a dialect may lower its severity."""
        self.notes.judge(releases, severity, code, self.subject, message, at, label, help, edit, *notes)


Term = Union[str, int, Number, None, Callable[[Facts], "Number | None"]]
"""Dotted path of a setting, a constant, a number that is known (None if unknown), or a function that derives one from the facts."""
Condition = Callable[[Facts], "bool | None"]
"""When a check applies; None where that is unknown."""


@dataclass(frozen=True, kw_only=True)
class Check(ABC):
    """One demand of a framework on its settings.

    Attributes
    ----------
    code : code of its finding.
    source : framework, file and function that say so.
    when : when the framework notices, a note under the finding.
    releases : releases that refuse what breaks the check.
    only_if : when the check applies.
    severity : error where the framework provably fails, else warning.
    message : sentence with the placeholders `{left}` and `{right}`, instead of the usual one.
    """

    code: str
    source: str
    when: str = ""
    releases: Range = ALWAYS
    only_if: Condition | None = None
    severity: Severity = Severity.ERROR
    message: str = ""

    def run(self, facts: Facts) -> None:
        """Adds a finding to the notes of the facts where the check is broken."""
        choice = facts.notes.choice
        if choice is not None and not choice.possible_in(self.releases):
            return
        applies = True if self.only_if is None else self.only_if(facts)
        if applies:
            self.judge(facts)
        elif applies is None:
            facts.notes.unsure(self.code, facts.subject, "whether it applies is unknown")

    @abstractmethod
    def judge(self, facts: Facts) -> None:
        """Adds a finding where the demand does not hold."""

    def report(
        self, facts: Facts, message: str, at: Span | None, label: str = "", help: str = "", edit: Edit | None = None, *notes: str
    ) -> None:
        """Adds the finding of this check: an error or a warning, by the release at hand."""
        notes = tuple(note for note in (*notes, self.when) if note)
        facts.judge(self.releases, self.severity, self.code, message, at or facts.top, label, help, edit, notes)

    def value_of(self, facts: Facts, term: Term) -> Number | None:
        """Number of a term; None where it is unknown."""
        if term is None or isinstance(term, Number):
            return term
        if isinstance(term, int):
            return Number(term, str(term))
        return facts.number(term, self.code) if isinstance(term, str) else term(facts)


@dataclass(frozen=True, kw_only=True)
class Divides(Check):
    """`left` is a multiple of `right`. Either side may be changed, by default the left one.

    `suggest` are values of the setting that is changed, where they do not follow from both numbers; `edits`: the nearest one is offered as
    an edit. A message with the placeholder `{rest}` says itself what is left over.
    """

    left: Term
    right: Term
    change: str = "left"
    suggest: Sequence[int] = ()
    help: str = ""
    edits: bool = True

    def judge(self, facts: Facts) -> None:
        """See `Check.judge`."""
        left, right = self.value_of(facts, self.left), self.value_of(facts, self.right)
        if left is None or right is None or not right.value or left.value % right.value == 0:
            return
        rest = left.value % right.value
        text = (
            self.message.format(left=left.text, right=right.text, rest=rest)
            if self.message
            else f"{left.text} is no multiple of {right.text}"
        )
        text += "" if "{rest}" in self.message else f": {rest} {are(rest)} left over"
        changed = left if self.change == "left" else right
        values = self.suggest or (
            multiples_near(left.value, right.value) if self.change == "left" else near(right.value, divisors(left.value))
        )
        help_, edit = set_to(facts, changed.amount, values)
        at = changed.span or left.span or right.span
        self.report(facts, text, at, f"{left.value} % {right.value} = {rest}", self.help or help_, edit if self.edits else None)


@dataclass(frozen=True, kw_only=True)
class AtLeast(Check):
    """`left` is no less than `right`; `suggest` are values of the setting on the left, where `right` is none of them."""

    left: Term
    right: Term
    suggest: Sequence[int] = ()
    help: str = ""
    edits: bool = True

    def judge(self, facts: Facts) -> None:
        """See `Check.judge`."""
        left, right = self.value_of(facts, self.left), self.value_of(facts, self.right)
        if left is None or right is None or left.value >= right.value:
            return
        text = self.message.format(left=left.text, right=right.text) if self.message else f"{left.text} must be at least {right.text}"
        help_, edit = set_to(facts, left.amount, self.suggest or [right.value])
        edit = edit if self.edits else None
        self.report(facts, text, left.span or right.span, f"less than {right.value}", self.help or help_, edit)


@dataclass(frozen=True, kw_only=True)
class Equals(Check):
    """`left` equals `right`, or one of the values `also`."""

    left: Term
    right: Term
    also: Sequence[int] = ()

    def judge(self, facts: Facts) -> None:
        """See `Check.judge`."""
        left, right = self.value_of(facts, self.left), self.value_of(facts, self.right)
        if left is None or right is None or left.value == right.value or left.value in self.also:
            return
        others = "".join(f" or {value}" for value in self.also)
        text = self.message.format(left=left.text, right=right.text) if self.message else f"{left.text} must be {right.text}{others}"
        help_, edit = set_to(facts, left.amount, [right.value])
        self.report(facts, text, left.span or right.span, f"not {right.value}", help_, edit)


@dataclass(frozen=True, kw_only=True)
class OneOf(Check):
    """The word at `key` is one of `values`; `renamed` maps values of other releases to what took their place."""

    key: str
    values: Sequence[str]
    renamed: Sequence[tuple[str, str]] = ()

    def judge(self, facts: Facts) -> None:
        """See `Check.judge`."""
        word = facts.settings.word(self.key, self.code)
        if not word or word in self.values:
            return
        value = facts.settings.at(self.key)
        better = dict(self.renamed).get(word) or nearest(word, self.values)
        help_ = f"write `{better}`" if better else f"write one of {', '.join(f'`{each}`' for each in self.values)}"
        edit = facts.settings.becomes(self.key, better) if better and value is not None else None
        text = self.message.format(left=f"`{self.key}`", right=word) if self.message else f"`{self.key}` is `{word}`, which is unknown"
        self.report(facts, text, value.span if value is not None else None, "unknown", help_, edit)


@dataclass(frozen=True, kw_only=True)
class Requires(Check):
    """`key` is set (not null), or true where `value` is given."""

    key: str
    value: object = None
    help: str = ""

    def judge(self, facts: Facts) -> None:
        """See `Check.judge`."""
        settings = facts.settings
        if settings.is_open(self.key, self.code):
            return
        if self.value is None:
            if settings.has(self.key) or (self.key in settings.defaults and settings.defaults[self.key].value is not None):
                return
            text = self.message or f"`{self.key}` is missing"
            self.report(facts, text, None, "", self.help or f"set `{self.key}`")
            return
        if settings.flag(self.key, self.code) is bool(self.value):
            return
        value = settings.at(self.key)
        wanted = str(self.value).lower() if isinstance(self.value, bool) else str(self.value)
        text = self.message or f"`{self.key}` must be {wanted}"
        help_ = self.help or f"set {facts.assigned(self.key, wanted)}"
        self.report(facts, text, value.span if value is not None else None, "", help_, settings.becomes(self.key, wanted))


@dataclass(frozen=True, kw_only=True)
class Excludes(Check):
    """Of `keys`, only one may be set or true."""

    keys: Sequence[str]
    help: str = ""

    def judge(self, facts: Facts) -> None:
        """See `Check.judge`."""
        if any(facts.settings.is_open(key, self.code) for key in self.keys):
            return
        on = [key for key in self.keys if facts.settings.flag(key, self.code)]
        if len(on) < 2:
            return
        value = facts.settings.at(on[-1])
        text = self.message or f"{' and '.join(f'`{key}`' for key in on)} exclude each other"
        self.report(facts, text, value.span if value is not None else None, "both set", self.help or f"remove `{on[-1]}`")


def run_checks(checks: Iterable[Check], facts: Facts) -> None:
    """Runs checks in their order."""
    for check in checks:
        check.run(facts)


def set_to(facts: Facts, amount: Amount | None, values: Sequence[int]) -> tuple[str, Edit | None]:
    """Help and edit that set a number to one of some values, the nearest one in the edit."""
    if amount is None or not values:
        return "", None
    others = "".join(f" or `{value}`" for value in values[1:])
    close = min(values, key=lambda value: abs(value - amount.value))
    return f"set {facts.assigned(amount.name, values[0])}{others}", amount.becomes(close)


def multiples_near(value: int, step: int) -> list[int]:
    """Positive multiples of a step next to a value, the lower one first."""
    lower = value // step * step
    return [each for each in (lower, lower + step) if each > 0]


def near(value: int, values: Iterable[int]) -> list[int]:
    """Of some values the next lower and the next higher one."""
    every = sorted(values)
    return [*[each for each in every if each < value][-1:], *[each for each in every if each > value][:1]]


def divisors(value: int) -> list[int]:
    """Divisors of a number, ascending; of a huge one those with a factor of at most a million."""
    small = [each for each in range(1, min(isqrt(value), 1_000_000) + 1) if value % each == 0]
    return sorted({*small, *(value // each for each in small)})
