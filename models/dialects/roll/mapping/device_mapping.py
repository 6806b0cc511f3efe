"""What stands under `device_mapping` in a file: its text read, every fault at its character, with what would mend it."""

from __future__ import annotations

from dataclasses import dataclass

from ....configuration.notes import Notes, Text, is_unknown
from ....findings.span import Edit, Span
from ....text.scalar_text import plain_or_quoted
from ....text.tree import Entry, Mapping, Scalar, Sequence, Value, kind_of
from .evaluate import AT_CREATION, AT_LOAD
from .expression import Expression, read_expression
from .ids import Ids
from .limits import MAX_ID, MAX_IDS
from .written import text_of

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
