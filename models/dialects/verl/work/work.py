"""Judge of a verl job: settings, components, and the form of findings."""

from __future__ import annotations

from dataclasses import replace
from typing import Sequence

from ....configuration.settings import Amount
from ....findings.finding import Severity
from ....findings.span import Edit, Span
from ....findings.wording import with_noun
from ....releases.release import ALWAYS, Range
from ....text.tree import Value
from ...checks import Check, Divides, Facts, Number, Term
from ..configuration import SEQUENCE, Configuration
from ..degrees import OWNERS, PARTED, STRATEGIES, TUNERS, TUNES, is_counted, is_engine, tuner_of
from ..job import VerlSetup
from ..programs import FULLY_ASYNC, MOMENTS, ProgramKind, configurations

DEGREES, MODE, SHARES, NUMBERS, REPLACED, DIVIDES, TORN = "PW208", "PW123", "PW401", "PW403", "PW126", "PW404", "PW214"
"""Codes of findings.

In order: degrees that do not divide, refused modes, uneven work among ranks, other numbers, numbers
that verl replaces, dimensions of a model that do not divide, servers over accelerators of several
nodes.
"""
DEFAULT = " (its default)"
ACCELERATORS = "trainer.n_gpus_per_node"
ACTOR, ROLLOUT, REFERENCE = "actor_rollout_ref.actor", "actor_rollout_ref.rollout", "actor_rollout_ref.ref"
LOOPS = (ProgramKind.HYBRID, ProgramKind.SEPARATE)
"""Programs that generate through agent loops in the processes of a worker group."""


class VerlWork(Facts):
    """Job under judgment.

    Findings about a program with its own trainer are warnings, as its rules may differ.
    """

    settings: Configuration

    def __init__(self, setup: VerlSetup, subject: str = "") -> None:
        super().__init__(setup.settings.notes, setup.settings, subject)
        self.setup = setup
        self.entry = setup.settings.entry

    # -- findings

    def check(self, subject: str, check: Check) -> None:
        """Run a check about a component."""
        check.run(VerlWork(self.setup, subject))

    def divides(
        self, subject: str, code: str, left: Term, right: Term, when: str, suggest: Sequence[int] = (), message: str = "", *,
        change: str = "left", edits: bool = True, source: str = "", severity: Severity = Severity.ERROR, releases: Range = ALWAYS,
    ) -> None:  # fmt: skip
        """Check that `left` is a multiple of `right`; see `Divides`."""
        self.check(subject, Divides(code=code, source=source, left=left, right=right, message=message, when=when, suggest=suggest,
                                    change=change, edits=edits, severity=severity, releases=releases))  # fmt: skip

    def judge(
        self, releases: Range, severity: Severity, code: str, message: str, at: Span | Value, label: str, help: str, edit: Edit | None,
        notes: tuple[str, ...],
    ) -> None:  # fmt: skip
        """See `Facts.judge`; errors of a program with an own trainer become warnings."""
        notes = tuple(MOMENTS.get(note, note) for note in notes)
        if self.entry.own_trainer and severity is Severity.ERROR:
            severity, notes = Severity.WARNING, (*notes, MOMENTS["OWN_TRAINER"])
        program = self.notes.document.program
        is_default = any(DEFAULT in text for text in (message, *notes))
        if severity is Severity.ERROR and is_default and program is not None and not program.complete:
            severity, notes = Severity.WARNING, (*notes, MOMENTS["UNKNOWN_ARGUMENTS"])
        super().judge(releases, severity, code, message, at, label, help, edit, notes)

    def report(
        self, code: str, subject: str, message: str, at: Span | None, help: str, edit: Edit | None = None, label: str = "",
        *notes: str, is_proved: bool = True, releases: Range = ALWAYS,
    ) -> None:  # fmt: skip
        """Add an error, or a warning if not proved; notes say when verl notices."""
        severity = Severity.ERROR if is_proved else Severity.WARNING
        present = tuple(note for note in notes if note)
        VerlWork(self.setup, subject).judge(releases, severity, code, message, at or self.settings.top, label, help, edit, present)

    def demand(
        self, code: str, subject: str, message: str, key: str, value: object, when: str, label: str = "", *, at: Span | None = None,
        releases: Range = ALWAYS,
    ) -> None:  # fmt: skip
        """Add an error that another value of a key fixes."""
        place, help_ = at or self.settings.place(key), f"set {self.spell(key, value)}"
        self.report(code, subject, message, place, help_, self.settings.becomes(key, str(value)), label, when, releases=releases)

    def text(self, amount: Amount) -> str:
        """Format a key and a value, and mark a default."""
        return f"`{amount.name}` {amount.value}" + (DEFAULT if amount.span is None and amount.default else "")

    def short_text(self, amount: Amount) -> str:
        """Format the last part of a key, and a value; the message names the owner."""
        return self.text(replace(amount, name=amount.name.rpartition(".")[2]))

    def set(self, amount: Amount, *values: int) -> str:
        """Format the advice to write a value."""
        return f"set {self.spell(amount.name, values[0])}" + "".join(f" or `{value}`" for value in values[1:])

    def samples(self, count: int, of: str, amount: Amount, *factors: Amount) -> Number:
        """Return a number of samples, set by `amount`, with a note of all factors."""
        noun = with_noun(count, "sample")
        return Number(count, f"{noun}{of}", amount, f"{noun}: {' x '.join(map(self.text, (amount, *factors)))}")

    # -- settings

    def number(self, path: str, code: str) -> Number | None:
        """See `Facts.number`; a null number is unset."""
        return self.of(self.amount(path, code))

    def amount(self, path: str, rule: str, minimum: int = 1) -> Amount | None:
        """Return a number; None if null or unknown."""
        if self.settings.is_open(path, rule) or not self.settings.is_set(path, rule):
            return None
        return self.settings.whole(path, rule, minimum=minimum)

    @property
    def is_whole(self) -> bool:
        """True if the configuration is a completely known command line."""
        program = self.notes.document.program
        return program is not None and program.complete and not self.notes.partial

    def is_said(self, key: str) -> bool:
        """Return True if a value is written, or its default is final."""
        return self.settings.at(key) is not None or self.is_whole

    @property
    def is_checked_at_start(self) -> bool:
        """True if the program checks the configuration before starting workers.

        Source: verl, verl/utils/config.py (validate_config).
        """
        return self.entry.kind in LOOPS and not self.entry.own_trainer and self.entry.program != FULLY_ASYNC

    def when_divided(self, name: str) -> str:
        """Return the moment when verl notices uneven degrees of a trained component."""
        if name != "actor" or not self.is_checked_at_start:
            return "IN_WORKERS"
        return "UNCHECKED_AT_START" if self.settings.flag(f"{ACTOR}.use_dynamic_bsz", DEGREES) else "AT_START"

    @property
    def validates(self) -> bool:
        """True if the job validates, before its first step or between steps."""
        frequency = self.settings.plain("trainer.test_freq")
        return bool(self.settings.flag("trainer.val_before_train", NUMBERS, True)) or (isinstance(frequency, int) and frequency > 0)

    # -- components

    @property
    def served(self) -> tuple[str, ...]:
        """Components that inference engines serve, rollout first."""
        names = (component.name for component in self.setup.components if is_engine(self.settings, component.name))
        return tuple(dict.fromkeys(("rollout", *names)))

    @property
    def parts(self) -> tuple[Amount | None, ...]:
        """Tps of prefill and decode, and number of decode engines; empty unless they are apart."""
        if self.settings.is_older_than("0.8.0") or not self.settings.flag(PARTED, DEGREES):
            return ()
        keys = ("tensor_model_parallel_size", "disaggregation.decode_tensor_model_parallel_size", "disaggregation.decode_replicas")
        tensor, decode, replicas = (self.amount(f"{ROLLOUT}.{key}", DEGREES) for key in keys)
        return tensor, decode or tensor, replicas

    def is_trained_by(self, owner: str) -> str | None:
        """Return the strategy of a trained component, `fsdp2` as `fsdp`; None if unknown."""
        word = self.settings.word(f"{owner}.strategy", DEGREES)
        return "fsdp" if word in ("fsdp", "fsdp2", "fsdp_turbo") else word

    def missing_group(self, owner: str) -> str:
        """Return the choice that makes a missing section of the strategy; "" if none.

        Of the strategies with a section of their own name, since 0.8.0. Source: verl,
        verl/workers/config/actor.py (FSDPActorConfig: the engine gets the strategy alone).
        """
        word, table = self.settings.word(f"{owner}.strategy", MODE), self.settings.table
        default = table.defaults.get(f"{owner}.strategy") if table is not None else None
        is_said = word in ("torchtitan", "veomni") and self.is_whole and self.settings.since("0.8.0")
        if table is None or default is None or not is_said or default.value == word or self.settings.at(f"{owner}.{word}") is not None:
            return ""
        options = configurations().options_with(table.name, self.settings.choice.release.index, f"{owner}.{word}._target_")
        return next(iter(options), "")

    def is_worker(self, name: str) -> bool:
        """Return True if the job has this component, without an inference engine."""
        return self.setup.component(name) is not None and not is_engine(self.settings, name)

    def ranks(self, name: str, count: int) -> Number:
        """Return the data parallel ranks of a component as a number of a check."""
        return Number(count, f"the {count} data parallel ranks of {name}")

    def sequence(self, owner: str, rule: str) -> Amount | None:
        """Return the sequence parallel size of a component with FSDP; None if unknown."""
        tuner_key = f"engine.{SEQUENCE}" if tuner_of(self.settings) is not None else SEQUENCE
        return self.amount(tuner_key if self.entry.kind in TUNES else self.settings.sequence_key(owner), rule)

    def data_parallel(self, name: str) -> int | None:
        """Return the number of data parallel ranks; None if unknown or uneven."""
        ranks, component, is_tuned = self.setup.world_size(name), self.setup.component(name), self.entry.kind in TUNES
        if ranks is None or component is None or name not in OWNERS or not is_counted(self.settings):
            return None
        tuner = tuner_of(self.settings)
        strategy = ("fsdp" if tuner is None else tuner) if is_tuned else self.is_trained_by(OWNERS[name])
        size, section = component.parallel.replica, "engine" if is_tuned else f"{OWNERS[name]}.{strategy}"
        if strategy in ("fsdp", "veomni"):
            key = f"{section}.ulysses_parallel_size"
            sequence = self.sequence(OWNERS[name], DEGREES) if strategy == "fsdp" else self.amount(key, DEGREES)
            size = sequence.value if sequence else 1
        elif strategy not in (TUNERS if is_tuned else STRATEGIES):
            return None  # degrees of other strategies are unknown
        elif is_tuned and strategy == "megatron" and self.settings.flag(f"{section}.dynamic_context_parallel", DEGREES):
            return None
        return ranks // size if ranks % size == 0 and ranks >= size else None
