"""What stands under `device_mapping` in a file: its ids, and every fault at its character with what mends it."""

from __future__ import annotations

from collections import Counter

from ...configuration.notes import Notes, Text, is_unknown
from ...findings.span import Edit, Span
from ...record import dataclass
from ...text.scalar_text import plain_or_quoted
from ...text.tree import Entry, Mapping, Scalar, Sequence, Value, kind_of
from .expression import MAX_ID, MAX_IDS, read_expression
from .ids import Ids, text_of
from .names import AT_CREATION, AT_LOAD

KEY = "device_mapping"
_HELP = "write the device ids: `list(range(0,8))`, `list([0,2])`, or several with `+`"


@dataclass(frozen=True, slots=True)
class Devices:
    """The devices of one role: `given` if anything but null is written, `ids` where they are known."""

    given: bool = False
    ids: Ids | None = None


def read_devices(notes: Notes, subject: str, owner: Mapping, entry: Entry, value: Value, checks_types: bool, created: bool) -> Devices:
    """The devices that a `device_mapping` names.

    `value` is the value of the entry with its interpolations resolved. ROLL accepts a text alone: its type also admits a list
    of whole numbers, but `eval` does not (roll/configs/worker_config.py). `checks_types`: a null is refused too. `created`: the
    workers are started, so that what fails then is an error.
    """
    if is_unknown(value):
        notes.unsure("PW103", subject, f"`{subject}.{KEY}` is not known here", True, f"Pass `--set {subject}.{KEY}=VALUE`")
        return Devices(True)
    if isinstance(value, Scalar) and value.is_null:
        if checks_types:
            message = f"`{KEY}` of `{subject}` is null, which ROLL refuses: for CPUs alone the key is left out"
            alone = created and owner.get("world_size") is None  # without either ROLL would have no workers to start
            help, edit = ("name devices", None) if alone else (f"remove `{KEY}`, or name devices", notes.removed(owner, entry))
            notes.error("PW105", subject, message, value, "null", help, edit, AT_LOAD)
        return Devices(checks_types)
    if isinstance(value, Scalar) and isinstance(value.value, str):
        return Devices(True, _of_text(notes, subject, value, created))
    return Devices(True, _of_another_type(notes, subject, entry, value))


def _of_text(notes: Notes, subject: str, scalar: Scalar, created: bool) -> Ids | None:
    text = notes.text(scalar, subject)
    found = read_expression(text.text)
    fault, ids = found.fault, found.ids
    if fault is not None:
        start, end = fault.place
        better = fault.better and text.text[:start] + fault.better + text.text[end:]
        meant = read_expression(better) if better else None
        help, edit = _HELP, None
        if meant is not None and meant.fault is None:
            edit, ids = rewritten(text, better), ids or meant.ids  # what was meant is judged too
            help = f"write `{better}`" if len(better) <= 200 else _HELP
        tell = notes.error if created or fault.when != AT_CREATION else notes.warn
        when = (fault.when,) if fault.when else ()
        tell("PW103", subject, f"`{subject}`: {fault.message}", text.part(start, end), fault.label, help, edit, *when)
    elif ids is not None and ids.distinct < ids.count:
        twice = next(each for each, count in Counter(ids.listed).items() if count > 1)
        message = f"`{subject}` names device {twice} more than once: {ids.count} ids, {ids.distinct} of them different"
        notes.warn("PW108", subject, message, text.part(0, len(text.text)), "named twice", "name each device once")
    return ids


def _of_another_type(notes: Notes, subject: str, entry: Entry, value: Value) -> Ids | None:
    """A list, a number or a map, none of which ROLL takes; what a list or a number means is plain."""
    items = value.items if isinstance(value, Sequence) else (value,)
    numbers = [item.value for item in items if isinstance(item, Scalar) and type(item.value) is int]
    plain = len(numbers) == len(items) <= MAX_IDS and all(0 <= number < MAX_ID for number in numbers)
    ids = Ids.of(range(number, number + 1) for number in numbers) if plain else None
    better = text_of(ids) if ids is not None else ""
    edit, quoted = None, f'"{better}"'
    if isinstance(value, Sequence):
        message = f"`{KEY}` of `{subject}` is a YAML list; ROLL gives it to `eval`, which takes text alone: a TypeError"
        key = entry.key.span
        if better and key.file == value.span.file and entry.value is value:
            edit = Edit(Span(key.file, key.end, value.span.end, key.line, key.column + key.length), f": {quoted}")
    else:
        message = f"`{KEY}` of `{subject}` is {kind_of(value)}; ROLL takes a text that names a list of device ids"
        edit = notes.instead(value, quoted) if better else None
    help = f"write `{better}`" if better and len(better) <= 200 else _HELP
    notes.error("PW105", subject, message, value, kind_of(value), help, edit, AT_LOAD)
    return ids


def other_ids(notes: Notes, subject: str, value: Value | None, ids: Ids) -> tuple[str, Edit | None]:
    """(what to write, the edit) that makes a `device_mapping` name other ids; no edit where it is written elsewhere."""
    better = text_of(ids)
    edit = rewritten(notes.text(value, subject), better) if isinstance(value, Scalar) else None
    return better, edit


def rewritten(text: Text, better: str) -> Edit | None:
    """The edit that writes another expression, in the quotes that are there or, where YAML lets it, without any."""
    scalar = text.scalar
    if scalar.origin is not None or text.shift is None:
        return None
    if text.shift == 1:
        return text.replaced(better)
    plain = better[:1].isalpha() and not set(better) & set("#:{}&!|>'\"%@`") and ("," in text.text or "," not in better)
    return Edit(scalar.span, better if plain else plain_or_quoted(better))


def stands_alone(notes: Notes, edit: Edit) -> bool:
    """True if no other finding changes what an edit spans."""
    spans, span = [each.edit.span for each in notes.findings if each.edit is not None], edit.span
    return not any(other.file == span.file and other.start < span.end and span.start < other.end for other in spans)
