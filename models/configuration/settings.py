"""Settings at dotted paths of a configuration, with defaults and interpolations."""

from __future__ import annotations

from dataclasses import replace
from typing import Collection, Mapping, Union

from ..derivation import Figure
from ..findings.span import Edit, Span
from ..record import dataclass
from ..releases.choice import ReleaseChoice
from ..text.interpolation import Interpolator
from ..text.interpolation_text import holds_interpolation
from ..text.tree import MANDATORY, MapNode, Scalar, Value, kind_of
from .notes import Notes, is_unknown


@dataclass(frozen=True, slots=True)
class Default:
    """Default of the framework, with a source such as ``verl, .../rollout.yaml``."""

    value: Union[int, str, bool, None]
    source: str


@dataclass(frozen=True, slots=True)
class Amount:
    """Whole number with key and place. For a default, `scalar` is None and `default` its source."""

    value: int
    name: str
    scalar: Scalar | None = None
    default: str = ""

    @property
    def span(self) -> Span | None:
        """Place of the written number; None for a default."""
        return self.scalar.span if self.scalar else None

    @property
    def figure(self) -> Figure:
        """Amount as a term of a derivation."""
        return Figure(self.name, self.value, self.span, self.default)

    @property
    def text(self) -> str:
        """Text such as ``rollout.tensor_parallel_size: 4``."""
        return f"`{self.name}: {self.value}`"

    def becomes(self, value: int) -> Edit | None:
        """Return the edit that writes another number; None if the number is not written here."""
        return Edit(self.scalar.span, str(value)) if self.scalar and self.scalar.origin is None else None


PLACEMENT_RULES = frozenset({"PW101", "PW102", "PW103", "PW110", "PW111", "PW122", "PW208", "PW215"})
"""Rules about the place of processes: without a value for them, placement is unchecked."""
TRAINING_RULES = frozenset({"PW401", "PW403"})
"""Rules of the arithmetic of training: without a written value for them, training is unchecked."""


class Settings:
    """Values by dotted path, with interpolations resolved.

    `defaults` are the framework's own, by path; without a default, callers may pass one. An unknown
    value (an unresolved interpolation, or a key that may stand in an unread part) is None and
    recorded as unchecked. A value that the framework cannot use is None and a finding. An unknown
    value that the file itself writes leaves the verdict incomplete for the rules `decisive`.
    """

    def __init__(
        self, notes: Notes, interpolator: Interpolator, defaults: Mapping[str, Default] | None = None, decisive: Collection[str] = ()
    ) -> None:  # fmt: skip
        self._notes = notes
        self._decisive = decisive
        self._interpolator = interpolator
        self._defaults = defaults or {}
        self._found: dict[tuple[str, ...], Value | None] = {}
        self._by_path: dict[str, Value | None] = {}  # checks look up the same few paths often
        self._said: set[tuple[str, str]] = set()

    @property
    def defaults(self) -> Mapping[str, Default]:
        """Defaults of the framework by dotted path."""
        return self._defaults

    @property
    def asked(self) -> frozenset[str]:
        """Dotted paths looked up so far, with their parents, present or not."""
        return frozenset(".".join(keys) for keys in self._found if keys)

    @property
    def choice(self) -> ReleaseChoice | None:
        """Release that the file is judged for; see `Notes.choice`."""
        return self._notes.choice

    def since(self, name: str) -> bool:
        """Return True if the selected release, by default the newest, is `name` or newer."""
        return self.choice is None or self.choice.since(name)

    def is_older_than(self, name: str) -> bool:
        """Return True if the selected release is older than `name`."""
        return not self.since(name)

    @property
    def top(self) -> Span:
        """Beginning of the file, for findings without a better place."""
        return self._interpolator.root.span

    def resolve_key(self, path: str) -> str:
        """Return the key whose value applies; a framework may refer from one key to another."""
        return path

    def at(self, path: str) -> Value | None:
        """Return the value at a path, or None; unresolved interpolations have tag UNRESOLVED."""
        if path not in self._by_path:
            self._by_path[path] = self._find(tuple(path.split(".")) if path else ())
        return self._by_path[path]

    def _find(self, keys: tuple[str, ...]) -> Value | None:
        if keys not in self._found:
            owner = self._find(keys[:-1]) if keys else None
            value: Value | None = self._interpolator.root if not keys else None
            if isinstance(owner, MapNode):
                value = owner.get(keys[-1])
            elif isinstance(owner, Scalar) and is_unknown(owner):
                value = owner
            if isinstance(value, Scalar) and value is not owner:
                value = self._interpolator.tree(value, keys)
            self._found[keys] = value
        return self._found[keys]

    def note_replaced(self, path: str) -> None:
        """Note that an unknown value decides nothing: the framework replaces it."""
        notes = self._interpolator.unchecked
        notes[:] = [replace(note, rule="PW126") if note.subject == path else note for note in notes]

    def has(self, path: str) -> bool:
        """Return True if a value other than null is written at this path."""
        value = self.at(path)
        return value is not None and not (isinstance(value, Scalar) and value.is_null)

    def is_set(self, path: str, rule: str) -> bool:
        """Return True if there is a value, written or by default, and not null."""
        path = self.resolve_key(path)
        default = self._defaults.get(path) if self.at(path) is None else None
        return self.has(path) or (default is not None and default.value is not None)

    def is_elsewhere(self, path: str) -> bool:
        """Return True if an unread part of the configuration may define this path."""
        return self.at(path) is None and self._notes.partial and path not in self._defaults

    def is_open(self, path: str, rule: str) -> bool:
        """Return True if the value is unknown; `rule` is then recorded as unchecked."""
        value = self.at(path)
        missing = self.is_elsewhere(path)
        if missing or (value is not None and is_unknown(value)):
            why = "is not in this file; it may come from `defaults`" if missing else "is not known here"
            add = "Pass `--config-root DIR` with the folder of its `defaults`" if missing else ""
            decides = rule in self._decisive and isinstance(value, Scalar) and self._is_stated(value)
            self.say(path, rule, f"`{path}` {why}", decides, add)
            return True
        return False

    def _is_stated(self, value: Scalar) -> bool:
        """Return True if the text of the file itself leaves a value unknown."""
        document, text = self._notes.document, value.text
        is_open = holds_interpolation(text) or text == MANDATORY
        return value.span in document.reasons or "${oc.env:" in text or (is_open and not self._notes.partial)

    def say(self, path: str, rule: str, why: str, decides: bool = False, add: str = "") -> None:
        """Note an unknown value once, by default with the advice to set it."""
        if (path, rule) not in self._said:
            self._said.add((path, rule))
            add = add or (f"Pass `--set {path}=VALUE`" if path else "")
            self._notes.unsure(rule, path, why, decides or (bool(path) and rule in PLACEMENT_RULES), add)

    def whole(
        self, path: str, rule: str, default: int | None = None, minimum: int = 1, fits: int | None = None, exact: bool = False
    ) -> Amount | None:
        """Return a whole number of at least `minimum`, or the framework's default.

        An unusable value is a finding; its fix writes `fits` (by default `minimum`). `exact`: the
        framework counts with the number, so `2.0` is refused.
        """
        if self.is_open(path, rule):
            return None
        value = self.at(path)
        if value is None:
            default_value = self._defaults.get(path)
            if default_value is not None and isinstance(default_value.value, int):
                return Amount(int(default_value.value), path, None, default_value.source)
            return None if default is None else Amount(default, path)
        number = value.value if isinstance(value, Scalar) else None
        if isinstance(number, float) and number.is_integer() and not exact:
            number = int(number)
        if not isinstance(value, Scalar) or not isinstance(number, int):
            if (path, "") not in self._said:
                self._said.add((path, ""))
                self.report_type(path, value, max(minimum, 1) if fits is None else fits)
            return None
        if number < minimum:
            if (path, "") not in self._said:
                self._said.add((path, ""))
                message = f"`{path}` is {number}, but it must be at least {minimum}"
                better = -number if -number >= minimum else minimum if fits is None else fits
                edit = None if value.origin else Edit(value.span, str(better))
                self._notes.error("PW105", path, message, value, "too small", f"write `{better}`", edit)
            return None
        return Amount(int(number), path, value)

    def report_type(self, path: str, value: Value, better: int) -> None:
        """Report a value of the wrong type; fix texts and floats of a whole number."""
        text = value.text if isinstance(value, Scalar) and value.origin is None else ""
        got = value.value if isinstance(value, Scalar) else None
        number = str(int(got)) if text and isinstance(got, float) and got.is_integer() else text.removesuffix(".0")
        if number.isascii() and number.isdecimal() and len(number) < 10:
            help = f"write {int(number)} without quotes" if number == text else f"write `{int(number)}`"
            self._notes.report_type(path, path, value, "a whole number", help, Edit(value.span, str(int(number))))
        else:
            self._notes.report_type(path, path, value, "a whole number", f"write a whole number such as `{better}`")

    def flag(self, path: str, rule: str, default: bool = False) -> bool | None:
        """Return the truth of a value as in Python: every text but "" is true."""
        path = self.resolve_key(path)
        if self.is_open(path, rule):
            return None
        value = self.at(path)
        if value is None:
            return bool(self._defaults[path].value) if path in self._defaults else default
        return bool(value.value) if isinstance(value, Scalar) else bool(value.entries if isinstance(value, MapNode) else value.items)

    def spell(self, path: str, value: object) -> str:
        """Return a setting as the user would type it."""
        return f"`{path}: {value}`"

    def becomes(self, path: str, text: str) -> Edit | None:
        """Return the edit that writes another value. None if no value is written at this path."""
        value = self.at(path)
        return Edit(value.span, text) if isinstance(value, Scalar) and value.origin is None else None

    def word(self, path: str, rule: str) -> str | None:
        """Return a text; "" if nothing is written, None if unknown."""
        path = self.resolve_key(path)
        if self.is_open(path, rule):
            return None
        value = self.at(path)
        if not isinstance(value, Scalar):
            default = self._defaults.get(path)
            return kind_of(value) if value is not None else str(default.value or "") if default else ""
        return "" if value.is_null else str(value.value)


Plain = Union[str, int, float, bool]


def plain_value(settings: Settings, path: str, usual: Plain = "") -> Plain:
    """Return the scalar at a path, `usual` if unwritten, "" if null or unknown."""
    value = settings.at(path)
    if value is None:
        return "" if settings.is_elsewhere(path) else usual
    if not isinstance(value, Scalar) or is_unknown(value) or value.is_null:
        return ""
    return value.value if isinstance(value.value, (str, int, float, bool)) else ""


def whole_number(value: Plain) -> int:
    """Return a whole number of at least 1; 0 for any other value."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def percent(value: Plain) -> int:
    """Convert a fraction such as 0.6 to percent; 0 for any other value."""
    return round(100 * value) if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 < value <= 1 else 0
