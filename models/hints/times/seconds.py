"""The key `seconds` of a component: how long an iteration of it takes, where that was measured."""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation
from typing import Annotated, Any, Callable

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema
from pydantic_core import PydanticCustomError

from ...machines.accelerators import NUMBERS
from ...parallel import DEGREES, Parallel
from ...planning.measured import SECOND, Measured
from ...planning.workload import PHASES
from ...text.values import INSIDE, MAX_DIGITS, MAX_TEXT, NAME_PATTERN, Count, Name, Word, shown, whole_schema

MAX_MEASURED = 4096
_OF_NUMBERS = frozenset("-+.0123456789")
RowsOf = Callable[[object, tuple[str, ...]], list[dict[str, object]]]
"""The rows of a value at a place of the short form."""
LONGEST = 10**7
"""Seconds: about four months."""


def duration(value: object) -> int:
    """Nanoseconds of a number of seconds. Raises ValueError with a sentence for a person."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise ValueError(f"{shown(value)} is no number of seconds")
    try:
        seconds = Decimal(str(value))
    except InvalidOperation:
        raise ValueError(f"{shown(value)} is no number of seconds") from None
    if not (seconds.is_finite() and 0 < seconds <= LONGEST):
        raise ValueError(f"{shown(value)} seconds are no time: more than 0 are meant, and at most {LONGEST:,}")
    return max(1, int((seconds * SECOND).to_integral_value()))


_NUMBER: dict[str, Any] = {"type": "number", "exclusiveMinimum": 0, "maximum": LONGEST}
Duration = Annotated[int, BeforeValidator(duration), WithJsonSchema(_NUMBER)]
"""Nanoseconds of a number of seconds such as ``59.9``."""


_COUNTS = "counts of accelerators, such as `{8: 120, 16: 66}`"
_SECONDS, _DEGREE = "a number such as `59.9`", "a whole number such as `2`"


class MeasuredForm(BaseModel):
    """One measurement: on so many accelerators an iteration took so many seconds, with nothing else on them."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    seconds: Duration = Field(description=_SECONDS)
    accelerators: Count | None = Field(
        default=None, title="on how many; as many as the component asks for", description="a whole number such as `8`"
    )
    phase: Word = Field(default="", title="the phase whose work it was; all that the component does", description="a name such as `train`")
    accelerator: Name | None = Field(default=None, title="the model of the accelerators; any", description="a name such as `H100`")
    tp: Count | None = Field(default=None, title="the tensor parallel size that it ran with; any", description=_DEGREE)
    pp: Count | None = Field(default=None, title="the pipeline parallel size that it ran with; any", description=_DEGREE)
    cp: Count | None = Field(default=None, title="the context parallel size that it ran with; any", description=_DEGREE)
    ep: Count | None = Field(default=None, title="the expert parallel size that it ran with; any", description=_DEGREE)
    dp: Count | None = Field(default=None, title="data parallel ranks inside one replica that it ran with; any", description=_DEGREE)

    def measured(self, amount: int) -> Measured:
        """What it says; `amount` is how many accelerators the component asks for."""
        named = {name: degree for name in DEGREES if (degree := getattr(self, name))}
        parallel = Parallel(**named) if named else None
        model, its = self.accelerator or "", tuple(named) or DEGREES
        return Measured(self.accelerators or amount, self.seconds, self.phase, parallel, model, named=its)


def _rows(value: object) -> object:
    """The rows of the short forms: a number, a map from counts to seconds, a map from phases to either or to these by model.

    A map from models alone is read as one from phases until the cluster is known (see models/hints/times/by_model.py). A fault names its place.
    """
    if isinstance(value, dict):
        return _of_map(value)
    if isinstance(value, (list, tuple)):
        if not value:
            raise ValueError(_NOTHING)
        return value
    return _alone(value, ())


_NOTHING = "nothing was measured"


def _of_map(value: dict[object, object]) -> list[dict[str, object]]:
    counts = [_is_count(str(key), inner) for key, inner in value.items()]
    none = next((str(key) for key, inner in value.items() if not (_is_count(str(key)) or set(str(key)) - _OF_NUMBERS)), None)
    if none is not None:
        raise _key_fault(f"`{none[:40]}` is neither a count of accelerators nor a phase", (none,))
    if any(counts) and not all(counts):
        raise ValueError("counts of accelerators stand beside phases, whose own counts stand below them")
    if all(counts):
        return _by_count(value, ())
    return _all(value, "phase", _of_phase, ())


def _all(value: dict[object, object], named: str, rows_of: RowsOf, place: tuple[str, ...]) -> list[dict[str, object]]:
    """The rows of all entries, each row with the key of its entry by this name. Raises one error with the faults of all of them."""
    rows, faults = list[dict[str, object]](), list[dict[str, object]]()
    for key, inner in value.items():
        try:
            rows += [{**row, named: str(key)} for row in rows_of(inner, (*place, str(key)))]
        except PydanticCustomError as wrong:
            faults += (wrong.context or {})["faults"]
    if faults:
        raise _inside(faults)
    return rows


def _of_phase(value: object, place: tuple[str, ...]) -> list[dict[str, object]]:
    if isinstance(value, dict) and value and not any(_is_count(str(inner), its) for inner, its in value.items()):
        return _all(value, "accelerator", _of_model, place)
    return _counted(value, place, "counts of accelerators, such as `{8: 120}`, or models of these, such as `{H100: {8: 120}}`")


def _of_model(value: object, place: tuple[str, ...]) -> list[dict[str, object]]:
    model = place[-1]
    if model in PHASES or not re.fullmatch(NAME_PATTERN, model) or not (set(model) - _OF_NUMBERS or _is_count(model)):
        raise _key_fault(f"`{model[:40]}` is neither a count of accelerators nor a model of these", place)
    return _counted(value, place, "counts of accelerators, such as `{8: 120}`")


def _counted(value: object, place: tuple[str, ...], what: str) -> list[dict[str, object]]:
    """The rows of a number of seconds, or of a map from counts, whose keys are `what` stands at a place of the short form."""
    counts = value.items() if isinstance(value, dict) else ()
    strange = next((str(count) for count, its in counts if not _is_count(str(count), its)), None)
    if strange is not None:
        raise _key_fault(f"below `{place[-1][:40]}` stand {what}", (*place, strange))
    return _by_count(value, place) if isinstance(value, dict) else _alone(value, place)


def _by_count(value: dict[object, object], place: tuple[str, ...]) -> list[dict[str, object]]:
    """The rows of a map from counts to seconds."""
    if not value:
        raise _fault(_NOTHING, place)
    if none := next((str(key) for key in value if not int(str(key))), ""):
        raise _key_fault(f"nothing is measured on {none} accelerators", (*place, none))
    return _all(value, "accelerators", _alone, place)


def _alone(value: object, place: tuple[str, ...]) -> list[dict[str, object]]:
    """The only row of a number of seconds at a place of the short form."""
    try:
        duration(value)
    except ValueError as wrong:
        raise _fault(str(wrong), place) from None
    return [{"seconds": value}]


def _fault(message: str, place: tuple[str, ...]) -> PydanticCustomError:
    """A fault of what stands at a place inside the value."""
    return _inside([{"message": message, "place": place, "takes": _SECONDS if place else ""}])


def _key_fault(message: str, place: tuple[str, ...]) -> PydanticCustomError:
    """A fault of a key inside the value, which should be a count."""
    return _inside([{"message": message, "place": place, "takes": _COUNTS, "of_key": True}])


def _inside(faults: list[dict[str, object]]) -> PydanticCustomError:
    return PydanticCustomError(INSIDE, "{message}", {"message": faults[0]["message"], "faults": faults})


def _is_count(key: str, value: object = None) -> bool:
    """Is a key a count of accelerators? Digits are, but for a model such as ``4090`` above counts of its own."""
    digits = key.isascii() and key.isdigit() and len(key) <= MAX_DIGITS
    return digits and not (isinstance(value, dict) and key in NUMBERS)


_BY_COUNT: dict[str, Any] = {
    "type": "object", "minProperties": 1, "maxProperties": MAX_MEASURED, "additionalProperties": False,
    "patternProperties": {"^0{0,8}[1-9][0-9]{0,8}$": _NUMBER},
}  # fmt: skip
_NUMBERED = f"^({'|'.join(NUMBERS)})$"
_NO_COUNT = f"[^-+.0-9]|{_NUMBERED}"
_BY_MODEL: dict[str, Any] = {
    "type": "object", "minProperties": 1, "maxProperties": MAX_MEASURED, "additionalProperties": {"anyOf": [_NUMBER, _BY_COUNT]},
    "patternProperties": {_NUMBERED: _BY_COUNT}, "propertyNames": {"allOf": [{"pattern": NAME_PATTERN}, {"pattern": _NO_COUNT}]},
}  # fmt: skip
_BY_PHASE: dict[str, Any] = {
    "type": "object", "minProperties": 1, "maxProperties": MAX_MEASURED, "propertyNames": {"maxLength": MAX_TEXT, "pattern": _NO_COUNT},
    "patternProperties": {_NUMBERED: _BY_COUNT}, "additionalProperties": {"anyOf": [_NUMBER, _BY_COUNT, _BY_MODEL]},
}  # fmt: skip
_ROW: dict[str, Any] = {
    "type": "object", "required": ["seconds"], "additionalProperties": False,
    "properties": {
        "seconds": _NUMBER, "phase": {"type": "string", "maxLength": MAX_TEXT}, "accelerator": {"type": "string", "pattern": NAME_PATTERN},
        **{key: whole_schema(1) for key in ("accelerators", "tp", "pp", "cp", "ep", "dp")},
    },
}  # fmt: skip
Seconds = Annotated[
    tuple[MeasuredForm, ...],
    BeforeValidator(_rows),
    Field(min_length=1, max_length=MAX_MEASURED),
    WithJsonSchema({"anyOf": [_NUMBER, _BY_COUNT, _BY_PHASE, {"type": "array", "minItems": 1, "maxItems": MAX_MEASURED, "items": _ROW}]}),
]
"""Measurements: a number of seconds, `{8: 120, 16: 66}`, `{generate: {8: 95}, train: {8: 60}}`, `{H100: {8: 60}, A100: {8: 90}}` or a list of rows in full."""
