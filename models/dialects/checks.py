"""Declarative checks of a framework's settings, each with source, releases and time of notice.

A dialect lists its checks and runs them with `run_checks`. A check reads numbers and words through
`Facts`; an unknown value is noted as unchecked, never assumed. A refusal by the release at hand is
an error; a refusal by other possible releases is a warning that names them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from math import inf, isqrt, prod
from typing import Any, Callable, Iterable, Sequence, Union

from ..configuration.notes import Notes
from ..configuration.settings import Amount, Settings, plain_value
from ..findings.finding import Severity
from ..findings.span import Edit, Span
from ..findings.wording import are, do, list_words
from ..record import dataclass
from ..releases.release import ALWAYS, Range
from ..text.interpolation_text import holds_interpolation
from ..text.nearest import nearest
from ..text.tree import ListNode, MapNode, Scalar, Value


@dataclass(frozen=True, slots=True)
class Number:
    """Number in a check: value, text for messages, and the setting to edit.

    `text` is such as ```rollout.n` 5`` or ``the 12 data parallel ranks of actor``; `amount` is None
    for a derived number; `note` says how a derived number is made up.
    """

    value: int
    text: str
    amount: Amount | None = None
    note: str = ""

    @property
    def span(self) -> Span | None:
        """Span of the setting; None for a derived number or a default."""
        return self.amount.span if self.amount else None

    @property
    def place(self) -> Span | Value | None:
        """Setting as written, or its span; None if derived or a default."""
        return self.amount.scalar or self.amount.span if self.amount else None


class Facts:
    """Settings and derived numbers of a job, for checks; dialects add more.

    `subject` is the component of the findings. `top` is the span of a finding without a better
    place.
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
        """Return the whole number at a path; None if unset or unknown (noted as unchecked)."""
        return self.of(self.settings.whole(path, code))

    def of(self, amount: Amount | None) -> Number | None:
        """Return a setting as a number of a check; None if unknown."""
        return None if amount is None else Number(amount.value, self.text(amount), amount)

    def text(self, amount: Amount) -> str:
        """Return a setting with its value, for messages."""
        default = " (default)" if amount.span is None else ""
        return f"`{amount.name}` {amount.value}{default}"

    def spell(self, path: str, value: object) -> str:
        """Return a setting as the user would type it."""
        return self.settings.spell(path, value)

    def judge(
        self, releases: Range, severity: Severity, code: str, message: str, at: Span | Value, label: str, help: str, edit: Edit | None,
        notes: tuple[str, ...],
    ) -> None:  # fmt: skip
        """Add a finding about the subject; a dialect may lower the severity."""
        self.notes.judge(releases, severity, code, self.subject, message, at, label, help, edit, *notes)


Term = Union[str, int, Number, Amount, None, list[str], Callable[[Any], "Number | None"]]
"""Path, product of paths, constant, known number (None if unknown), or function of facts."""
AMONG, MULTIPLE = "{left} {do} not divide among {right}", "{left} {are} not a multiple of {right}"
"""Messages of `Divides`."""


@dataclass(frozen=True, kw_only=True)
class Check(ABC):
    """Demand of a framework on its settings.

    Attributes
    ----------
    code : code of the finding.
    source : framework, file and function that state the demand.
    when : when the framework notices, a note under the finding.
    releases : releases that refuse a violation.
    severity : error if the framework provably fails, else warning.
    message : sentence with the placeholders `{left}` and `{right}`, instead of the default.
    label : what is at the place, instead of the default.
    why : reason of the demand, a note under the finding.
    """

    code: str
    source: str
    when: str = ""
    releases: Range = ALWAYS
    severity: Severity = Severity.ERROR
    message: str = ""
    label: str = ""
    why: str = ""

    def run(self, facts: Facts) -> None:
        """Add a finding to the notes of the facts if the demand is violated."""
        choice = facts.notes.choice
        if choice is None or choice.possible_in(self.releases):
            self.judge(facts)

    @abstractmethod
    def judge(self, facts: Facts) -> None:
        """Add a finding if the demand does not hold."""

    def report(
        self, facts: Facts, message: str, at: Span | Value | None, label: str = "", help: str = "", edit: Edit | None = None, *notes: str
    ) -> None:
        """Add the finding of this check; the release at hand decides the severity."""
        notes = tuple(note for note in (self.why, *notes, self.when) if note)
        facts.judge(self.releases, self.severity, self.code, message, at or facts.top, self.label or label, help, edit, notes)

    def value_of(self, facts: Facts, term: Term) -> Number | None:
        """Return the number of a term; None if unknown."""
        if term is None or isinstance(term, Number):
            return term
        if isinstance(term, int):
            return Number(term, str(term))
        if isinstance(term, Amount):
            return facts.of(term)
        if isinstance(term, list):
            sizes = [factor.value for path in term if (factor := facts.number(path, self.code))]
            return Number(prod(sizes), f"{' x '.join(map(str, sizes))} = {prod(sizes)}") if len(sizes) == len(term) else None
        return facts.number(term, self.code) if isinstance(term, str) else term(facts)


@dataclass(frozen=True, kw_only=True)
class Comparison(Check):
    """Demand on the number `left`, compared with `right`.

    `plus` is added to `right`. `suggest` are values for the changed setting, if both numbers do not
    imply them; `edits`: the nearest value is offered as an edit. `{rest}` in a message is the
    remainder; `{are}` and `{do}` are verbs for the left number.
    """

    left: Term
    right: Term
    plus: int = 0
    suggest: Sequence[int] = ()
    help: str = ""
    edits: bool = True

    @abstractmethod
    def violation(self, left: int, right: int) -> tuple[str, str]:
        """Return the default message and the label of a violation; ("", "") without one."""

    def change_of(self, left: Number, right: Number) -> tuple[Number, Sequence[int]]:
        """Return the number to change, by default the left one, and values for it."""
        return left, [right.value]

    def judge(self, facts: Facts) -> None:
        """See `Check.judge`."""
        left, right = self.value_of(facts, self.left), self.value_of(facts, self.right)
        right = right and replace(right, value=right.value + self.plus)
        message, label = self.violation(left.value, right.value) if left and right else ("", "")
        if left is None or right is None or not message:
            return
        verbs, rest = {"are": are(left.value), "do": do(left.value)}, left.value % (right.value or 1)
        text = (self.message or message).format(left=left.text, right=right.text, rest=rest, **verbs)
        number, values = self.change_of(left, right)
        help_, edit = set_to(facts, number.amount, self.suggest or values)
        at = number.place or left.place or right.place
        self.report(facts, text, at, label, self.help or help_, edit if self.edits else None, left.note, right.note)


@dataclass(frozen=True, kw_only=True)
class Divides(Comparison):
    """`left` is a multiple of `right`; the fix changes the left side by default."""

    change: str = "left"

    def violation(self, left: int, right: int) -> tuple[str, str]:
        """See `Comparison.violation`."""
        rest = left % right if right else 0
        return ("{left} is not a multiple of {right}", f"{left} % {right} = {rest}") if rest else ("", "")

    def change_of(self, left: Number, right: Number) -> tuple[Number, Sequence[int]]:
        """See `Comparison.change_of`."""
        is_left = self.change == "left"
        return (left, multiples_near(left.value, right.value)) if is_left else (right, find_near(right.value, divisors(left.value)))


@dataclass(frozen=True, kw_only=True)
class AtLeast(Comparison):
    """`left` is at least `right`."""

    def violation(self, left: int, right: int) -> tuple[str, str]:
        """See `Comparison.violation`."""
        return ("{left} must be at least {right}", f"less than {right}") if left < right else ("", "")


@dataclass(frozen=True, kw_only=True)
class Equals(Comparison):
    """`left` equals `right` or a value of `also`."""

    also: Sequence[int] = ()

    def violation(self, left: int, right: int) -> tuple[str, str]:
        """See `Comparison.violation`."""
        message = "{left} must be {right}" + "".join(f" or {value}" for value in self.also)
        return (message, f"not {right}") if left not in (right, *self.also) else ("", "")


@dataclass(frozen=True, kw_only=True)
class OneOf(Check):
    """The word at `key`, or each of its list or map, is in `values`.

    `renamed` maps other words to replacements; with `separator` a text is a list of words; with
    `contains` a word need only contain a value; with `any_case` capitals count as small letters.
    """

    key: str
    values: Sequence[str]
    renamed: Sequence[tuple[str, str]] = ()
    separator: str = ""
    contains: bool = False
    any_case: bool = False
    help: str = ""

    def judge(self, facts: Facts) -> None:
        """See `Check.judge`."""
        value = facts.settings.at(self.key)
        if isinstance(value, (ListNode, MapNode)):
            items = value.items if isinstance(value, ListNode) else [entry.value for entry in value]
            words = [item.text for item in items if isinstance(item, Scalar) and not holds_interpolation(item.text)]
        else:
            text = facts.settings.word(self.key, self.code) or ""
            words = [word.strip() for word in text.split(self.separator)] if self.separator else [text]
        word = next((word for word in words if word and not self._is_known(word)), "")
        if not word:
            return
        better = "" if self.help else dict(self.renamed).get(word) or nearest(word, self.values)
        help_ = f"write `{better}`" if better else self.help or f"write one of {list_words(self.values)}"
        edit = facts.settings.becomes(self.key, better) if better and len(words) == 1 and not isinstance(value, MapNode) else None
        text = self.message.format(left=f"`{self.key}`", right=word) if self.message else f"`{self.key}` is `{word}`, which is unknown"
        self.report(facts, text, value, "unknown" if value is not None else "not set", help_, edit)

    def _is_known(self, word: str) -> bool:
        word = word.lower() if self.any_case else word
        return any(value in word for value in self.values) if self.contains else word in self.values


@dataclass(frozen=True, kw_only=True)
class Within(Check):
    """The number at `key`, a fraction or not, is within bounds.

    A text is not a number: with `ranges` "" it is not judged; with "none" it is refused; with "number" it must read as one, with
    a finding of types (PW105); with "one" it is a number or an ascending range such as `0.5_2.0`. With "any" or "ascending" it lists them, one for all words at
    `beside` or one a word, and ranges are for the words that end with `ranged`.
    """

    key: str
    above: float = -inf
    least: float = -inf
    most: float = inf
    help: str = ""
    ranges: str = "number"
    beside: str = ""
    ranged: str = ""

    def judge(self, facts: Facts) -> None:
        """See `Check.judge`."""
        settings, value = facts.settings, facts.settings.at(self.key)
        default = None if settings.is_open(self.key, self.code) else settings.defaults.get(self.key)
        number = plain_value(settings, self.key, "" if default is None or default.value is None else default.value)
        if self.ranges and isinstance(number, str) and number and value is not None:
            words = [word.strip() for word in (settings.word(self.beside, self.code) or "").split(",")] if self.beside else []
            if fault := self._find_fault(number, list(dict.fromkeys(filter(None, words)))):
                is_type = self.ranges == "number"
                check, help_ = (replace(self, code="PW105"), self.help or "write a number") if is_type else (self, self.help)
                label = "no number" if is_type else "no threshold"
                check.report(facts, f"`{self.key}` is `{number}`, {fault}", value, label, help_)
        if isinstance(number, (str, bool)) or (number > self.above and self.least <= number <= self.most):
            return
        bound = self.most if number > self.most else self.least
        kind = "above" if bound == -inf else "" if self.least == self.most else "at most" if number > self.most else "at least"
        requirement, scalar = f"{kind} {self.above if bound == -inf else bound}".strip(), value if isinstance(value, Scalar) else None
        amount_text = facts.text(Amount(number, self.key, scalar, default.source if default else ""))  # type: ignore[arg-type]
        help_ = self.help or (f"set {facts.spell(self.key, bound)}" if bound != -inf else f"make it {requirement}")
        edit = settings.becomes(self.key, str(bound)) if bound != -inf and not self.help else None
        text, at = (self.message or "{left} must be {right}").format(left=amount_text, right=requirement), scalar
        self.report(facts, text, at, "too large" if number > self.most else "too small", help_, edit)

    def _find_fault(self, text: str, words: Sequence[str]) -> str:
        parts = [part.strip() for part in text.split(",") if part.strip()] if self.beside else [text]
        try:
            ranges = [list(map(float, [part] if self.ranges == "number" else part.split("_", 1))) for part in parts]
        except ValueError:
            ranges = []
        if self.ranges == "none" or not ranges:
            return "no number"
        if any(min(ends) <= self.above or (self.ranges != "any" and ends != sorted(ends)) for ends in ranges):
            return f"not {'ascending and ' * (self.ranges != 'any')}above {self.above}"
        if words and len(ranges) not in (1, len(words)):
            return f"{len(ranges)} values for the {len(words)} of `{self.beside}`"
        single = next((word for word, ends in zip(words, ranges * len(words)) if len(ends) > 1 and not word.endswith(self.ranged)), "")
        return f"a range, but `{single}` takes one bound" if single else ""


@dataclass(frozen=True, kw_only=True)
class Names(Check):
    """Words of the list or map at `key` are keys of the map `among`.

    Of a list, as many words count as the list at `paired` has items; without that list, the first.
    """

    key: str
    among: str
    paired: str = ""

    def judge(self, facts: Facts) -> None:
        """See `Check.judge`."""
        value, target, pairs = (facts.settings.at(path) for path in (self.key, self.among, self.paired or self.key))
        words = [entry.key for entry in value] if isinstance(value, MapNode) else value.items if isinstance(value, ListNode) else []
        words = words[: len(pairs.items)] if isinstance(pairs, ListNode) else words[:1] if self.paired else words
        key_names = [entry.key.text for entry in target] if isinstance(target, MapNode) else []
        for word in words if target is None or isinstance(target, MapNode) else ():
            if isinstance(word, Scalar) and word.value == word.text and word.text not in key_names:
                close, name = nearest(word.text, key_names), word.text[:60]
                help_, edit = (f"write `{close}`", facts.notes.replace(word, close)) if close else (f"add `{name}` to `{self.among}`", None)
                self.report(facts, self.message.format(left=f"`{self.key}`", right=name), word, f"not in `{self.among}`", help_, edit)


@dataclass(frozen=True, kw_only=True)
class Requires(Check):
    """`key` is set (not null); with `value`, the flag at `key` equals it."""

    key: str
    value: object = None
    help: str = ""

    def judge(self, facts: Facts) -> None:
        """See `Check.judge`."""
        settings = facts.settings
        if settings.is_open(self.key, self.code):
            return
        if self.value is None:
            if settings.is_set(self.key, self.code):
                return
            text = self.message or f"`{self.key}` is missing"
            self.report(facts, text, None, "", self.help or f"set `{self.key}`")
            return
        if settings.flag(self.key, self.code) is bool(self.value):
            return
        value = settings.at(self.key)
        value_text = str(self.value).lower() if isinstance(self.value, bool) else str(self.value)
        text = self.message or f"`{self.key}` must be {value_text}"
        help_ = self.help or f"set {facts.spell(self.key, value_text)}"
        is_switch = isinstance(value, Scalar) and isinstance(value.value, (bool, int)) and not self.help
        self.report(facts, text, value, "", help_, settings.becomes(self.key, value_text) if is_switch else None)


@dataclass(frozen=True, kw_only=True)
class Excludes(Check):
    """At most one key of `keys` is set or true."""

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
        self.report(facts, text, value, "both set", self.help or f"remove `{on[-1]}`")


def run_checks(checks: Iterable[Check], facts: Facts) -> None:
    """Run checks in order."""
    for check in checks:
        check.run(facts)


def set_to(facts: Facts, amount: Amount | None, values: Sequence[int]) -> tuple[str, Edit | None]:
    """Return help and edit for a number; the edit takes the nearest value."""
    if amount is None or not values:
        return "", None
    alternatives = "".join(f" or `{value}`" for value in values[1:])
    close = min(values, key=lambda value: abs(value - amount.value))
    return f"set {facts.spell(amount.name, values[0])}{alternatives}", amount.becomes(close)


def multiples_near(value: int, step: int) -> list[int]:
    """Return the positive multiples of a step next to a value, the lower first."""
    lower = max(value, 0) // step * step
    return [multiple for multiple in (lower, lower + step) if multiple > 0]


def near_text(value: int, step: int, most: int | None = None) -> str:
    """Return the positive multiples of a step next to a value, up to `most`: `8 or 16`."""
    return " or ".join(str(multiple) for multiple in multiples_near(value, step) if most is None or multiple <= most)


def find_near(value: int, values: Iterable[int]) -> list[int]:
    """Return the values next below and next above a number."""
    numbers = sorted(values)
    return [*[candidate for candidate in numbers if candidate < value][-1:], *[candidate for candidate in numbers if candidate > value][:1]]


def divisors(value: int) -> list[int]:
    """Return the divisors of a number, ascending.

    A huge number gives those with a factor of at most a million.
    """
    small = [divisor for divisor in range(1, min(isqrt(value), 1_000_000) + 1) if value % divisor == 0]
    return sorted({*small, *(value // divisor for divisor in small)})
