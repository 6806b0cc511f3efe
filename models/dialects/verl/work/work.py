"""What judges a job of verl: its settings, and how a finding about them is said."""

from __future__ import annotations

from typing import Callable, Sequence

from ....configuration.settings import Amount
from ....findings.finding import Severity
from ....findings.span import Edit, Span
from ....releases.release import ALWAYS, Range
from ...checks import Check, Divides, Facts, Number
from ...checks import divisors as divisors
from ...checks import multiples_near as nearest
from ...checks import near as next_to
from ..components.parallel import OWNERS, STRATEGIES
from ..components.roles import uses_reference
from ..configuration import Configuration
from ..entries import Kind
from ..entries.programs import FULLY_ASYNC
from ..job import Setup
from ..pools.served import is_engine
from ..releases import sequence_key
from .notices import OWN_TRAINER

__all__ = ["Work", "divisors", "given", "nearest", "next_to"]

DEGREES, MODE, SHARES, NUMBERS, REPLACED = "PW208", "PW123", "PW401", "PW403", "PW126"
"""The codes of degrees that do not divide, of what the engines refuse, of work among ranks, of other numbers of the work, and of what
verl puts another number in the place of."""

DEFAULT = " (its default)"
UNKNOWN_ARGUMENTS = "an argument of the command is unknown, which may set what is a default here"
ACCELERATORS = "trainer.n_gpus_per_node"
LOOPS = (Kind.HYBRID, Kind.SEPARATE)
"""What generates through agent loops in the processes of a worker group."""


def given(number: Number | None) -> Callable[[Facts], Number | None]:
    """Term of a number that was read already."""
    return lambda facts: number


class Work(Facts):
    """A job under judgement. Findings about a program with a trainer of its own are warnings: its rules may differ."""

    settings: Configuration

    def __init__(self, setup: Setup, subject: str = "") -> None:
        super().__init__(setup.notes, setup.settings, subject)
        self.setup = setup

    def check(self, subject: str, *checks: Check) -> None:
        """Runs checks about a component."""
        facts = Work(self.setup, subject)
        for check in checks:
            check.run(facts)

    def judge(
        self, releases: Range, severity: Severity, code: str, message: str, at: Span, label: str, help: str, edit: Edit | None,
        notes: tuple[str, ...],
    ) -> None:  # fmt: skip
        """See `Facts.judge`; a program with a trainer of its own may do otherwise."""
        if self.setup.entry.own_trainer and severity is Severity.ERROR:
            severity, notes = Severity.WARNING, (*notes, OWN_TRAINER)
        program = self.notes.document.program
        if severity is Severity.ERROR and DEFAULT in message and program is not None and not program.complete:
            severity, notes = Severity.WARNING, (*notes, UNKNOWN_ARGUMENTS)
        super().judge(releases, severity, code, message, at, label, help, edit, notes)

    def number(self, path: str, code: str) -> Number | None:
        """See `Facts.number`; a number that is null is unset."""
        amount = self.amount(path, code)
        return None if amount is None else self.of(amount)

    def divides(
        self, subject: str, code: str, left: Number, right: Number, message: str, when: str, suggest: Sequence[int] = (), *,
        change: str = "left", edits: bool = True, source: str = "", severity: Severity = Severity.ERROR,
        releases: Range = ALWAYS,
    ) -> None:  # fmt: skip
        """Says where `left` is no multiple of `right`; see `Divides`."""
        check = Divides(code=code, source=source, left=given(left), right=given(right), message=message, when=when, suggest=suggest,
                        change=change, edits=edits, severity=severity, releases=releases)  # fmt: skip
        self.check(subject, check)

    def of(self, amount: Amount) -> Number:
        """A setting as a number of a check."""
        return Number(amount.value, self.said(amount), amount)

    def text(self, amount: Amount) -> str:
        """See `Facts.text`."""
        return self.said(amount)

    def assigned(self, path: str, value: object) -> str:
        """See `Facts.assigned`."""
        return self.settings.assigned(path, value)

    @property
    def is_whole(self) -> bool:
        """True if the configuration is a command line that is known in full, which nothing is added to."""
        program = self.setup.notes.document.program
        return program is not None and program.complete and not self.setup.notes.partial

    @property
    def is_checked_at_start(self) -> bool:
        """True if the program checks its configuration before it starts workers. Source: verl, verl/utils/config.py (validate_config)."""
        entry = self.setup.entry
        return entry.kind in LOOPS and not entry.own_trainer and entry.program != FULLY_ASYNC.program

    @property
    def has_reference(self) -> bool:
        """True if what is trained is compared with a reference policy."""
        return bool(uses_reference(self.settings))

    def amount(self, path: str, rule: str, least: int = 1) -> Amount | None:
        """A number; None where it is null or unknown."""
        if self.settings.is_open(path, rule) or not self.settings.said(path, rule):
            return None
        return self.settings.whole(path, rule, least=least)

    def tell(
        self, code: str, subject: str, message: str, at: Span | None, help: str, edit: Edit | None = None, label: str = "",
        *notes: str, proved: bool = True, releases: Range = ALWAYS,
    ) -> None:  # fmt: skip
        """Add an error, or a warning where failure is not proved. The notes say when verl notices."""
        severity = Severity.ERROR if proved else Severity.WARNING
        kept = tuple(note for note in notes if note)
        Work(self.setup, subject).judge(releases, severity, code, message, at or self.settings.top, label, help, edit, kept)

    def set(self, amount: Amount, *values: int) -> str:
        """Advice to write one of these values."""
        others = "".join(f" or `{value}`" for value in values[1:])
        return f"set {self.settings.assigned(amount.name, values[0])}{others}"

    def said(self, amount: Amount) -> str:
        """The key with its value, and that it is a default where nobody wrote it."""
        return f"`{amount.name}` {amount.value}" + (DEFAULT if amount.span is None and amount.default else "")

    def is_trained_by(self, owner: str) -> str | None:
        """The strategy of something that is trained; `fsdp2` counts as `fsdp`. None where it is unknown."""
        word = self.settings.word(f"{owner}.strategy", DEGREES)
        return "fsdp" if word in ("fsdp", "fsdp2", "fsdp_turbo") else word

    def is_engine(self, name: str) -> bool:
        """True if an inference engine serves a component."""
        return is_engine(self.settings, self.setup.entry, name)

    def sequence(self, owner: str, rule: str) -> Amount | None:
        """Sequence parallel size of something that FSDP trains."""
        tuned = self.setup.entry.kind is Kind.PROCESSES
        return self.amount("ulysses_sequence_parallel_size" if tuned else sequence_key(self.settings, owner), rule)

    def data_parallel(self, name: str) -> int | None:
        """Ranks that get samples of their own; None where they are unknown or do not come out even, which other rules say."""
        ranks, component = self.setup.world_size(name), self.setup.component(name)
        if ranks is None or component is None or name not in OWNERS:
            return None
        size, strategy = component.parallel.replica, self.is_trained_by(OWNERS[name])
        if strategy == "fsdp":
            sequence = self.sequence(OWNERS[name], DEGREES)
            size = sequence.value if sequence else 1
        elif strategy == "veomni":
            sequence = self.amount(f"{OWNERS[name]}.veomni.ulysses_parallel_size", DEGREES)
            size = sequence.value if sequence else 1
        elif strategy not in STRATEGIES:
            return None  # degrees of other strategies are not read
        return ranks // size if ranks % size == 0 and ranks >= size else None
