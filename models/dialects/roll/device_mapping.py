"""What stands under `device_mapping`: its text read as Python reads it, but never run; every fault with its mend."""

from __future__ import annotations

import ast
import re
import typing
import warnings

from ...configuration.notes import Notes, Text, is_unknown
from ...findings.span import Edit, Span, apply_edits
from ...record import dataclass
from ...text.scalar_text import plain_or_quoted
from ...text.tree import Entry, Mapping, Scalar, Sequence, Value, kind_of
from .evaluation import AT_CREATION, AT_LOAD, MAX_ID, MAX_IDS, Evaluated, Evaluation, Fault, Listed, Place, Refused, Written, too_much
from .ids import Ids, text_of

# A `device_mapping` text, read as Python reads it, but never run: a whitelist over Python's own syntax tree.
#
# ROLL gives the text to `eval` (roll/configs/worker_config.py, WorkerConfig.__post_init__). Of that language only what names
# device ids is read here: whole numbers, lists and tuples, `list()`, `tuple()`, `range()`, `+`, `*`, slices, and a comprehension
# over one range. Nothing is expanded: ids stay progressions, and how many there are is known before any is made.

_SLICED = ("list", "tuple", "range", "str")
"""What ROLL can cut the ids of a worker out of."""
_RANKS = re.compile(r"\s*\d{1,9}(?:\s*-\s*\d{1,9})?(?:\s*,\s*\d{1,9}(?:\s*-\s*\d{1,9})?)*\s*", re.ASCII)
"""Ranks as other frameworks write them: `0-7,16-23`."""


@dataclass(frozen=True)
class Expression:
    """What a text says: its ids, None where it says none; and what is wrong with it.

    `kind` is Python's name for what ROLL gets: ``list``, ``tuple``, ``range``, ``set`` and so on; "" if it is not known.
    """

    ids: Ids | None
    kind: str = ""
    faults: tuple[Fault, ...] = ()

    @property
    def good(self) -> bool:
        """Does ROLL take it as it is?"""
        return self.ids is not None and not any(fault.fails for fault in self.faults)


def read_expression(text: str) -> Expression:
    """The ids of a text. Never raises; the cost grows with its length and with the progressions in it."""
    whole = Place(0, len(text))
    if why := too_much(text):
        return Expression(None, faults=(Fault(whole, f"a `device_mapping` that {why} is not read", "not read"),))
    shift = len(text) - len(text.lstrip(" \t"))  # as `eval` does
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text[shift:], mode="eval")
    except SyntaxError as problem:
        return Expression(None, faults=(_no_python(text, shift, problem),))
    except (ValueError, MemoryError, RecursionError):
        return Expression(None, faults=(Fault(whole, "this is no Python expression that can be read", "not Python"),))
    evaluation = Evaluation(Written(text, shift))
    try:
        found = evaluation.value(tree.body)
    except Refused as refused:
        return Expression(None, faults=(*evaluation.faults, refused.fault))
    return _judged(text, found, whole, evaluation.faults)


def _judged(text: str, found: Evaluated, whole: Place, faults: list[Fault]) -> Expression:
    """What ROLL makes of a value."""
    if not isinstance(found, Listed):
        message = f"this is the number {found.number}, and ROLL takes `len()` of it, which is a TypeError"
        better = _from_ranks(text) or f"[{found.number}]"
        return Expression(None, "int", (*faults, Fault(whole, message, "no list", better, when=AT_LOAD)))
    ids, kind = found.ids, found.kind
    if kind not in _SLICED:
        when = AT_LOAD if kind == "generator" else AT_CREATION
        message = f"ROLL cuts the ids of each worker out of this {kind}, which is a TypeError"
        faults.append(Fault(whole, message, f"a {kind}", text_of(ids), when=when))
    elif ids.lowest < 0:
        message = f"{ids.lowest} is no device id: ROLL looks for a node of that number, which is a KeyError"
        faults.append(Fault(whole, message, "below 0", _from_ranks(text), when=AT_CREATION))
        ids = Ids.of(_from_zero(part) for part in ids.parts)
    return Expression(ids, kind, tuple(faults))


def _from_zero(part: range) -> range:
    """The ids of a progression that are not negative."""
    if min(part[0], part[-1]) >= 0:
        return part
    below = sum(1 for each in part if each < 0)
    return part[below:] if part.step > 0 else part[: len(part) - below]


def _no_python(text: str, shift: int, problem: SyntaxError) -> Fault:
    """Text that Python cannot parse."""
    if not text.strip():
        return Fault(Place(0, len(text)), "nothing is written here, and ROLL's `eval` of nothing is a SyntaxError", "empty", when=AT_LOAD)
    written = Written(text, shift)
    line, column = problem.lineno or 1, max((problem.offset or 1) - 1, 0)
    start = min(written.line_start(line) + column, len(text) - 1)
    message = f"this is no Python expression: {problem.msg[:80]}"
    fault = Fault(Place(start, start + 1), message, "not Python", when=AT_LOAD)
    for better in (_closed(text), _from_ranks(text)):
        if better:
            return Fault(Place(0, len(text)), message, "not Python", better, when=AT_LOAD)
    return fault


def _closed(text: str) -> str:
    """The text with the brackets closed that are open; "" if that does not make it right."""
    open_: list[str] = []
    for letter in text:
        if letter in "([{":
            open_.append({"(": ")", "[": "]", "{": "}"}[letter])
        elif letter in ")]}" and (not open_ or open_.pop() != letter):
            return ""
    better = text.rstrip() + "".join(reversed(open_))
    return better if open_ and read_expression(better).good else ""


def _from_ranks(text: str) -> str:
    """`list(range(0,8))` for `0-7`, which means -7 to Python; "" if the text is nothing of that kind."""
    if not _RANKS.fullmatch(text) or "-" not in text:
        return ""
    parts = []
    for piece in text.split(","):
        first, _, last = piece.partition("-")
        parts.append(range(int(first), int(last or first) + 1))
    return text_of(Ids.of(parts)) if all(parts) and max(part[-1] for part in parts) < MAX_ID else ""


# What stands under `device_mapping` in a file: its text read, every fault at its character, with what would mend it.

KEY, _WORKERS = "device_mapping", "world_size"
_HELP = "write the device ids: `list(range(0,8))`, `list([0,2])`, or several with `+`"


@dataclass(frozen=True, slots=True)
class Devices:
    """The devices of one role: `given` if anything but null is written, `ids` where they are known."""

    given: bool = False
    ids: Ids | None = None


def read_devices(notes: Notes, subject: str, owner: Mapping, entry: Entry, value: Value, checks_types: bool, created: bool) -> Devices:
    """The devices that a `device_mapping` names.

    `value` is the value of the entry with its interpolations resolved. ROLL accepts a text alone: its type also admits a list
    of whole numbers, but `eval` does not (roll/configs/worker_config.py). `checks_types`: a null is refused too. `created`: the workers are started, so that what fails then is an error.
    """
    if is_unknown(value):
        notes.unsure("PW103", subject, f"`{subject}.{KEY}` is not known here", True, f"Pass `--set {subject}.{KEY}=VALUE`")
        return Devices(True)
    if isinstance(value, Sequence):
        return _of_list(notes, subject, entry, value)
    if isinstance(value, Scalar) and value.is_null:
        if checks_types:
            message = f"`{KEY}` of `{subject}` is null, which ROLL refuses: for CPUs alone the key is left out"
            alone = created and owner.get(_WORKERS) is None  # without either ROLL would have no workers to start
            help, edit = ("name devices", None) if alone else (f"remove `{KEY}`, or name devices", notes.removed(owner, entry))
            notes.error("PW105", subject, message, value, "null", help, edit, AT_LOAD)
            return Devices(True)
        return Devices()
    if not isinstance(value, Scalar) or not isinstance(value.value, str):
        return Devices(True, _no_text(notes, subject, value))
    return Devices(True, _of_text(notes, subject, value, created))


def _of_text(notes: Notes, subject: str, scalar: Scalar, created: bool) -> Ids | None:
    text = notes.text(scalar, subject)
    found = read_expression(text.text)
    mended, ids = _mended(text.text, found), found.ids
    for fault in found.faults:
        start, end = fault.place
        better = fault.better and text.text[:start] + fault.better + text.text[end:]
        best = better if better and read_expression(better).good else mended
        edit = rewritten(text, best) if best else None
        ids = ids or read_expression(best).ids  # what was meant is judged too
        help = f"write `{best}`" if best and len(best) <= 200 else _HELP
        tell = notes.error if fault.fails and (created or fault.when != AT_CREATION) else notes.warn
        tell(
            "PW103", subject, f"`{subject}`: {fault.message}", text.part(start, end), fault.label, help, edit, *filter(None, (fault.when,))
        )
    if found.ids is not None and found.good and found.ids.distinct < found.ids.count:
        _twice(notes, subject, text, found.ids)
    return ids


def other_ids(notes: Notes, subject: str, value: Value | None, ids: Ids) -> tuple[str, Edit | None]:
    """(what to write, the edit) that makes a `device_mapping` name other ids; no edit where it is written elsewhere."""
    better = text_of(ids)
    edit = rewritten(notes.text(value, subject), better) if isinstance(value, Scalar) else None
    return better, edit


def joined(notes: Notes, edits: typing.Sequence[Edit]) -> Edit:
    """Several edits of one file as one; what stands between them stays."""
    first, last = (sorted(edits, key=lambda edit: edit.span.start)[index] for index in (0, -1))
    text = notes.document.text_of(first.span.file)
    span = Span(first.span.file, first.span.start, last.span.end, first.span.line, first.span.column)
    changed = apply_edits(text, list(dict.fromkeys(edits)))
    return Edit(span, changed[span.start : len(changed) - (len(text) - span.end)])


def stands_alone(notes: Notes, edit: Edit, own: typing.Sequence[Edit] = ()) -> bool:
    """True if no other finding changes what an edit spans."""
    spans = [each.edit.span for each in notes.findings if each.edit is not None and each.edit not in own]
    span = edit.span
    return not any(other.file == span.file and other.start < span.end and span.start < other.end for other in spans)


def _mended(text: str, found: Expression) -> str:
    """The text with everything mended that is known how to; "" if that does not make it right."""
    better = text
    for fault in sorted(found.faults, key=lambda fault: -fault.place.start):
        if fault.better:
            better = better[: fault.place.start] + fault.better + better[fault.place.end :]
    return better if better != text and read_expression(better).good else ""


def rewritten(text: Text, better: str) -> Edit | None:
    """The edit that writes another expression, in the quotes that are there or, where YAML lets it, without any."""
    scalar = text.scalar
    if scalar.origin is not None or text.shift is None:
        return None
    if text.shift == 1:
        return text.replaced(better)
    plain = better[:1].isalpha() and not set(better) & set("#:{}&!|>'\"%@`") and ("," in text.text or "," not in better)
    return Edit(scalar.span, better if plain else plain_or_quoted(better))


def _twice(notes: Notes, subject: str, text: Text, ids: Ids) -> None:
    """Two workers on one device, or one worker that holds it twice."""
    seen: set[int] = set()
    twice = next((each for each in ids if each in seen or seen.add(each)), 0)  # type: ignore[func-returns-value]
    message = f"`{subject}` names device {twice} more than once: {ids.count} ids, {ids.distinct} of them different"
    notes.warn("PW108", subject, message, text.part(0, len(text.text)), "named twice", "name each device once")


def _of_list(notes: Notes, subject: str, entry: Entry, value: Sequence) -> Devices:
    """A YAML list: what it means is plain, but ROLL gives it to `eval`."""
    numbers = [item.value for item in value.items if isinstance(item, Scalar)]
    whole = [number for number in numbers if isinstance(number, int) and not isinstance(number, bool) and number >= 0]
    message = f"`{KEY}` of `{subject}` is a YAML list; ROLL gives it to `eval`, which takes text alone: a TypeError"
    if len(whole) < len(value.items) or len(whole) > MAX_IDS:
        notes.error("PW105", subject, message, value, "a list", _HELP, None, AT_LOAD)
        return Devices(True)
    ids = Ids.of(range(number, number + 1) for number in whole)
    better = text_of(ids)
    key, same = entry.key.span, entry.key.span.file == value.span.file and entry.value is value
    edit = Edit(Span(key.file, key.end, value.span.end, key.line, key.column + key.length), f": {_quoted(better)}") if same else None
    notes.error("PW105", subject, message, value, "a list", f"write `{better}`" if len(better) <= 200 else _HELP, edit, AT_LOAD)
    return Devices(True, ids)


def _quoted(text: str) -> str:
    return f'"{text}"'


def _no_text(notes: Notes, subject: str, value: Value) -> Ids | None:
    """A number, a map: neither of the types that ROLL's configuration takes."""
    kind = kind_of(value)
    message = f"`{KEY}` of `{subject}` is {kind}; ROLL takes a text that names a list of device ids"
    number = value.value if isinstance(value, Scalar) else None
    ids = Ids.of([range(number, number + 1)]) if type(number) is int and 0 <= number < MAX_ID else None
    better = text_of(ids) if ids else ""
    advice = f"write `{better}` for this one device" if better else _HELP
    notes.error("PW105", subject, message, value, kind, advice, notes.instead(value, _quoted(better)) if better else None, AT_LOAD)
    return ids
