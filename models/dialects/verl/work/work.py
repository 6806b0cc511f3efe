"""What judges a job of verl: its settings, and how a finding about them is told."""

from __future__ import annotations

from dataclasses import dataclass
from math import isqrt
from typing import Iterable

from ....configuration.settings import Amount
from ....findings.span import Edit, Span
from ..components.roles import uses_reference
from ..configuration import Configuration
from ..entries import Kind
from ..entries.programs import FULLY_ASYNC
from ..job.setup import Setup
from .notices import OWN_TRAINER

DEGREES, MODE, SHARES, NUMBERS, REPLACED = "PW208", "PW123", "PW401", "PW403", "PW126"
"""The codes of degrees that do not divide, of what the engines refuse, of work among ranks, of other numbers of the work, and of what
verl puts another number in the place of."""

NEW_WORKERS = "trainer.use_legacy_worker_impl"
ACCELERATORS = "trainer.n_gpus_per_node"
LOOPS = (Kind.HYBRID, Kind.SEPARATE)
"""What generates through agent loops in the processes of a worker group."""


@dataclass(frozen=True)
class Work:
    """A job under judgement. Findings about a program with a trainer of its own are warnings: its rules may differ."""

    setup: Setup

    @property
    def settings(self) -> Configuration:
        """The settings of the job."""
        return self.setup.settings

    @property
    def is_whole(self) -> bool:
        """Is the configuration a command line that is known in full, which nothing is added to?"""
        program = self.setup.notes.document.program
        return program is not None and program.complete and not self.setup.notes.partial

    @property
    def is_checked_at_start(self) -> bool:
        """Does the program check its configuration before it starts workers? Source: verl, verl/utils/config.py (validate_config)."""
        entry = self.setup.entry
        return entry.kind in LOOPS and not entry.own_trainer and entry.program != FULLY_ASYNC.program

    @property
    def has_reference(self) -> bool:
        """Is what is trained compared with a reference policy?"""
        return bool(uses_reference(self.settings))

    def amount(self, path: str, rule: str, least: int = 1) -> Amount | None:
        """A number; None where it is null or not known here."""
        if self.settings.is_open(path, rule) or not self.settings.said(path, rule):
            return None
        return self.settings.whole(path, rule, least=least)

    def tell(
        self, code: str, subject: str, message: str, at: Span | None, help: str, edit: Edit | None = None, label: str = "",
        *notes: str, proved: bool = True,
    ) -> None:  # fmt: skip
        """Add an error, or a warning where failure is not proved. The notes say when verl notices."""
        own = self.setup.entry.own_trainer
        notes = tuple(note for note in (*notes, OWN_TRAINER if own and proved else "") if note)
        add = self.setup.notes.error if proved and not own else self.setup.notes.warn
        add(code, subject, message, at or self.settings.top, label, help, edit, *notes)

    def set(self, amount: Amount, *values: int) -> str:
        """Advice to write one of these values."""
        others = "".join(f" or `{value}`" for value in values[1:])
        return f"set {self.settings.assigned(amount.name, values[0])}{others}"

    def said(self, amount: Amount) -> str:
        """The key with its value, and that it is a default where nobody wrote it."""
        return f"`{amount.name}` {amount.value}" + (" (its default)" if amount.span is None and amount.default else "")

    def is_trained_by(self, owner: str) -> str | None:
        """The strategy of something that is trained; `fsdp2` counts as `fsdp`. None where it is not known."""
        word = self.settings.word(f"{owner}.strategy", DEGREES)
        return "fsdp" if word in ("fsdp", "fsdp2") else word


def nearest(value: int, step: int) -> list[int]:
    """The multiples of a step next to a value, the lower one first; 0 is none."""
    lower = value // step * step
    return [each for each in (lower, lower + step) if each > 0]


def next_to(value: int, values: Iterable[int]) -> list[int]:
    """Of some values the next lower and the next higher one."""
    every = sorted(values)
    return [*[each for each in every if each < value][-1:], *[each for each in every if each > value][:1]]


def divisors(value: int) -> list[int]:
    """The divisors of a number, ascending; of a huge one those that it has with a factor of at most a million."""
    small = [each for each in range(1, min(isqrt(value), 1_000_000) + 1) if value % each == 0]
    return sorted({*small, *(value // each for each in small)})
