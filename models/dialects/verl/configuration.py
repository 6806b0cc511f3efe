"""Settings of a verl configuration: written values, verl's defaults, and references."""

from __future__ import annotations

from typing import Mapping, Sequence

from ...configuration.notes import Notes
from ...configuration.settings import PLACEMENT_RULES, Amount, Settings
from ...findings.finding import Finding
from ...findings.span import Span
from ...releases.release import Range
from ...text.interpolation import Interpolator
from ...text.tree import Scalar, Value
from .defaults import Table
from .programs import EntryPoint

_ROLLOUT = "actor_rollout_ref.rollout"
COUNTED = frozenset(
    {"data.train_batch_size", "data.gen_batch_size", f"{_ROLLOUT}.n",
     *(f"{_ROLLOUT}.{name}_parallel_size" for name in ("tensor_model", "pipeline_model", "data"))}
)  # fmt: skip
"""Numbers that torch or `range` refuses as `2.0`.

Source: torch, BatchSampler, init_device_mesh and Tensor.repeat_interleave; verl,
verl/trainer/ppo/ray_trainer.py, verl/workers/rollout/llm_server.py (_initialize_llm_servers).
"""


class Configuration(Settings):
    """Values by dotted path.

    A reference is read as its target, so that the place is known.

    Attributes
    ----------
    entry : program in the selected release.
    table : defaults; None if unknown: then unwritten values are unknown too.
    instead : numbers that are tried in place of written ones.
    anew : True if planned pools are left open.
    """

    def __init__(
        self, notes: Notes, interpolator: Interpolator, entry: EntryPoint, table: Table | None,
        instead: Mapping[str, int] | None = None, anew: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(notes, interpolator, table.defaults if table else {})
        self.entry = entry
        self.table = table
        self.notes = notes
        self.instead = instead or {}
        self.anew = anew
        self._interpolates = interpolator
        self._meant: dict[str, str] = {}

    @property
    def top(self) -> Span:
        """See `Settings.top`; for a command line, the span of the program."""
        program = self.notes.document.program
        return program.span if program is not None and program.name else super().top

    def has_release(self, releases: Range) -> bool:
        """Return True if the selected release is in a range; the newest by default."""
        choice = self.notes.choice
        return choice.has(releases) if choice is not None else not releases.until

    def since(self, name: str) -> bool:
        """Return True if the selected release is `name` or newer."""
        return self.has_release(Range(since=name))

    def until(self, name: str) -> bool:
        """Return True if the selected release is older than `name`."""
        return self.has_release(Range(until=name))

    @property
    def unresolved(self) -> Sequence[Finding]:
        """Findings about unresolved interpolations."""
        return self._interpolates.findings

    def tree(self, path: str) -> Value | None:
        """Return the value at a path with resolved interpolations; None without a value."""
        value = self.at(path)
        return None if value is None else self._interpolates.tree(value, tuple(path.split(".")))

    def key_at(self, span: Span) -> str | None:
        """Return the key whose value stands at a place, among the keys read so far."""
        return next((".".join(keys) for keys, value in self._found.items() if isinstance(value, Scalar) and value.span == span), None)

    def place(self, path: str) -> Span:
        """Return the span of a value; of the file's beginning if unwritten."""
        value = self.at(path)
        return self.top if value is None else value.span

    def assigned(self, path: str, value: object) -> str:
        """Format a value for this file: ``key: value``, or ``key=value`` on a command line."""
        return f"`{path}{'=' if self.notes.document.program else ': '}{value}`"

    def says(self, amount: Amount) -> str:
        """Format a number with the key for this file."""
        return self.assigned(amount.name, amount.value)

    def meant(self, path: str) -> str:
        """Return the key whose value applies: the first along the references with a value."""
        if path not in self._meant:
            seen, last = set[str](), path
            while self.table and last not in self.instead and last not in seen and self.at(last) is None:
                seen.add(last)
                last = self._taken(self.table, last)
            self._meant[path] = last
        return self._meant[path]

    def _taken(self, table: Table, path: str) -> str:
        """Return the key to which a key or its section refers; else the key."""
        if path in table.same:
            return table.same[path]
        if path not in table.keys:
            owner, _, rest = path.rpartition(".")
            while owner:
                if owner in table.same and self.at(owner) is None:
                    return f"{table.same[owner]}.{rest}"
                owner, _, name = owner.rpartition(".")
                rest = f"{name}.{rest}"
        return path

    def is_open(self, path: str, rule: str) -> bool:
        """Return True if a value is unknown, and note `rule` as unchecked.

        Without a table every unwritten value is unknown.
        """
        path = self.meant(path)
        if self.at(path) is not None:
            return super().is_open(path, rule)
        if self.table is None:
            why = "what is not written was not checked: the defaults of the configuration are not known"
            program = self.notes.document.program
            missing = program.missing[1] if program is not None and program.is_hydra else ""
            self._say("", "PW122", why, True, missing[:1].upper() + missing[1:] or f"Pass `--set {path}=VALUE`")
            return True
        if path not in self.table.defaults and (path in self.table.keys or self.table.is_open(path)):
            self._say(path, rule, f"`{path}` is not written, and its default is not known")
            return True
        return super().is_open(path, rule)

    def _say(self, path: str, rule: str, why: str, decides: bool = False, add: str = "") -> None:
        """Note an unknown value once."""
        if (path, rule) not in self._said:
            self._said.add((path, rule))
            add = add or (f"Pass `--set {path}=VALUE`" if path else "")
            self.notes.unsure(rule, path, why, decides or (bool(path) and rule in PLACEMENT_RULES), add)

    def whole(
        self, path: str, rule: str, default: int | None = None, least: int = 1, fits: int | None = None, exact: bool = False
    ) -> Amount | None:
        """See `Settings.whole`."""
        path = self.meant(path)
        if path in self.instead:
            return Amount(self.instead[path], path)
        if self._is_none(path):
            return None if default is None else Amount(default, path)
        return super().whole(path, rule, default, least, fits, exact or path in COUNTED)

    def _is_none(self, path: str) -> bool:
        """Return True for the text `None` in verl's own file, where it means null."""
        value = self.at(path)
        return self.table is not None and self.table.keys.get(path) == "None" and isinstance(value, Scalar) and value.value == "None"

    def said(self, path: str, rule: str) -> bool:
        """Return True if there is a value, written or by default, and not null."""
        path = self.meant(path)
        if self.at(path) is not None:
            return self.has(path)
        return self.table is not None and path in self._defaults and self._defaults[path].value is not None

    def flag(self, path: str, rule: str, default: bool = False) -> bool | None:
        """See `Settings.flag`."""
        return super().flag(self.meant(path), rule, default)

    def word(self, path: str, rule: str) -> str | None:
        """See `Settings.word`."""
        return super().word(self.meant(path), rule)
