"""Key `seconds` of a component: time of an iteration, in all forms."""

from __future__ import annotations

import re
from typing import Callable

from ..machines.node import NUMBERS
from ..parallel import DEGREES, Parallel
from ..planning.workload import PHASES, SECOND, Measurement
from ..text.form import MAX_TEXT, Faults, Form, FormFault, Schema, ValueKind, form_of, key, list_of, shown_value
from ..text.values import MAX_DIGITS, NAME_PATTERN, Name, Word, count_key

LONGEST = 10**7
"""Maximum time in seconds: about four months."""
NUMBER_OF_SECONDS: Schema = {
    "anyOf": [
        {"type": "number", "exclusiveMinimum": 0, "maximum": LONGEST},
        {"type": "string", "pattern": r"^\+?(?=[^eE]*[1-9])([0-9]{1,8}(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]{1,2})?$"},
    ]
}
"""Schema of a time, also in digits as YAML reads `1e3`, without an upper limit."""
WRITTEN = "a number such as `59.9`"
"""Example of a number of seconds."""
RowsOf = Callable[[object, tuple[str, ...]], list[dict[str, object]]]
"""Function that returns the rows of a value at a place of the short form."""
_OF_NUMBERS = frozenset("-+.0123456789")
_COUNTS = "counts of accelerators, such as `{8: 120, 16: 66}`"
_NOTHING = "nothing was measured"
MAX_MEASURED = 4096
_BY_COUNT: Schema = {
    "type": "object", "minProperties": 1, "maxProperties": MAX_MEASURED, "additionalProperties": False,
    "patternProperties": {"^0{0,8}[1-9][0-9]{0,8}$": NUMBER_OF_SECONDS},
}  # fmt: skip
_NUMBERED = f"^({'|'.join(NUMBERS)})$"
_NO_COUNT = f"[^-+.0-9]|{_NUMBERED}"
_BY_MODEL: Schema = {
    "type": "object", "minProperties": 1, "maxProperties": MAX_MEASURED, "additionalProperties": {"anyOf": [NUMBER_OF_SECONDS, _BY_COUNT]},
    "patternProperties": {_NUMBERED: _BY_COUNT}, "propertyNames": {"allOf": [{"pattern": NAME_PATTERN}, {"pattern": _NO_COUNT}]},
}  # fmt: skip
_BY_PHASE: Schema = {
    "type": "object", "minProperties": 1, "maxProperties": MAX_MEASURED, "propertyNames": {"maxLength": MAX_TEXT, "pattern": _NO_COUNT},
    "patternProperties": {_NUMBERED: _BY_COUNT}, "additionalProperties": {"anyOf": [NUMBER_OF_SECONDS, _BY_COUNT, _BY_MODEL]},
}  # fmt: skip


def duration(value: object) -> int:
    """Return the nanoseconds of a number of seconds. Raises ValueError."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise ValueError(f"{shown_value(value)} is not a number of seconds")
    from decimal import Decimal, InvalidOperation

    try:
        seconds = Decimal(str(value))
    except InvalidOperation:
        raise ValueError(f"{shown_value(value)} is not a number of seconds") from None
    if not (seconds.is_finite() and 0 < seconds <= LONGEST):
        raise ValueError(f"{shown_value(value)} seconds are no time: more than 0 are meant, and at most {LONGEST:,}")
    return max(1, int((seconds * SECOND).to_integral_value()))


Duration = ValueKind(duration, NUMBER_OF_SECONDS)
"""Nanoseconds of a number of seconds like ``59.9``."""


def rows_of(value: object) -> object:
    """Return the rows of the short forms: a number, or maps by count, phase or model.

    Maps go from counts to seconds, or from phases to seconds, counts or models. A map from models
    alone is read as a map from phases until the cluster is known (see models/hints/times.py). A
    fault names its place.
    """
    if isinstance(value, dict):
        return _map_rows(value)
    if isinstance(value, (list, tuple)):
        if not value:
            raise ValueError(_NOTHING)
        return value
    return _read_alone(value, ())


def _map_rows(value: dict[object, object]) -> list[dict[str, object]]:
    counts = [_is_count(str(key), inner) for key, inner in value.items()]
    none = next((str(key) for key, inner in value.items() if not (_is_count(str(key)) or set(str(key)) - _OF_NUMBERS)), None)
    if none is not None:
        raise _key_fault(f"`{none[:40]}` is neither a count of accelerators nor a phase", (none,))
    if any(counts) and not all(counts):
        strange = [str(key) for key, is_count in zip(value, counts) if not is_count]
        raise _key_fault(f"`{strange[0][:40]}` is beside counts of accelerators, and is not a whole number", (strange[0],))
    if all(counts):
        return _count_rows(value, ())
    return _read_all(value, "phase", _phase_rows, ())


def _read_all(value: dict[object, object], key_name: str, rows_below: RowsOf, place: tuple[str, ...]) -> list[dict[str, object]]:
    """Return the rows of all entries, with their key as `key_name`. Raises Faults of all entries."""
    rows, faults = list[dict[str, object]](), list[FormFault]()
    for entry, inner in value.items():
        try:
            rows += [{**row, key_name: str(entry)} for row in rows_below(inner, (*place, str(entry)))]
        except Faults as problem:
            faults += problem.faults
    if faults:
        raise Faults(faults)
    return rows


def _phase_rows(value: object, place: tuple[str, ...]) -> list[dict[str, object]]:
    if isinstance(value, dict) and value and not any(_is_count(str(inner), below) for inner, below in value.items()):
        return _read_all(value, "accelerator", _model_rows, place)
    return _read_counts(value, place, "counts (`8`) or models (`H100`)")


def _model_rows(value: object, place: tuple[str, ...]) -> list[dict[str, object]]:
    model = place[-1]
    if model in PHASES or not re.fullmatch(NAME_PATTERN, model) or not (set(model) - _OF_NUMBERS or _is_count(model)):
        raise _key_fault(f"`{model[:40]}` is neither a count of accelerators nor a model of these", place)
    return _read_counts(value, place, "counts of accelerators, such as `8`")


def _read_counts(value: object, place: tuple[str, ...], key_form: str) -> list[dict[str, object]]:
    """Return the rows of seconds, or of a map from counts; `key_form` describes its keys."""
    counts = value.items() if isinstance(value, dict) else ()
    strange = next((str(count) for count, below in counts if not _is_count(str(count), below)), None)
    if strange is not None:
        raise _key_fault(f"keys are {key_form}", (*place, strange))
    return _count_rows(value, place) if isinstance(value, dict) else _read_alone(value, place)


def _count_rows(value: dict[object, object], place: tuple[str, ...]) -> list[dict[str, object]]:
    """Return the rows of a map from counts to seconds."""
    if not value:
        raise _fault(_NOTHING, place)
    if zero := next((str(key) for key in value if not int(str(key))), ""):
        raise _key_fault(f"nothing is measured on {zero} accelerators", (*place, zero))
    return _read_all(value, "accelerators", _read_alone, place)


def _read_alone(value: object, place: tuple[str, ...]) -> list[dict[str, object]]:
    """Return the only row of a number of seconds in the short form."""
    try:
        duration(value)
    except ValueError as problem:
        raise _fault(str(problem), place) from None
    return [{"seconds": value}]


def _fault(message: str, place: tuple[str, ...]) -> Faults:
    """Return the fault at a place inside the value."""
    return Faults([FormFault(message, inside=place, takes=WRITTEN if place else "")])


def _key_fault(message: str, place: tuple[str, ...]) -> Faults:
    """Return the fault of a key that should be a count."""
    return Faults([FormFault(message, inside=place, takes=_COUNTS, of_key=True)])


def _is_count(key: str, value: object = None) -> bool:
    """Return True if a key is a count: digits, unless a model like ``4090`` above counts."""
    digits = key.isascii() and key.isdigit() and len(key) <= MAX_DIGITS
    return digits and not (isinstance(value, dict) and key in NUMBERS)


class MeasuredForm(Form):
    """Measurement: seconds of an iteration on some accelerators, with nothing else on them."""

    seconds = key(Duration, description=WRITTEN)
    accelerators = count_key(8, "on how many; as many as the component asks for")
    phase = key(Word, default="", title="the phase whose work it was; all that the component does", description="a name such as `train`")
    accelerator = key(Name, default=None, title="the model of the accelerators; any", description="a name such as `H100`")
    tp = count_key(2, "the tensor parallel size that it ran with; any")
    pp = count_key(2, "the pipeline parallel size that it ran with; any")
    cp = count_key(2, "the context parallel size that it ran with; any")
    ep = count_key(2, "the expert parallel size that it ran with; any")
    dp = count_key(2, "data parallel ranks inside one replica that it ran with; any")

    def build_measured(self, amount: int) -> Measurement:
        """Return the measurement; `amount` is the component's number of accelerators."""
        degrees = {name: degree for name in DEGREES if (degree := getattr(self, name))}
        parallel = Parallel(**degrees) if degrees else None
        model, names = self.accelerator or "", tuple(degrees) or DEGREES
        return Measurement(self.accelerators or amount, self.seconds, self.phase, parallel, model, named=names)


Seconds = list_of(
    form_of(MeasuredForm), 1, MAX_MEASURED, rows_of,
    schema={"anyOf": [NUMBER_OF_SECONDS, _BY_COUNT, _BY_PHASE, {"type": "array", "minItems": 1, "maxItems": MAX_MEASURED, "items": {"$ref": MeasuredForm.__name__}}]},
)  # fmt: skip
"""Measurements: a number of seconds, a map, or a list of rows in full.

Maps: `{8: 120, 16: 66}`, `{generate: {8: 95}, train: {8: 60}}` or `{H100: {8: 60}}`.
"""
