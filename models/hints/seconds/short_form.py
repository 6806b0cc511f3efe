"""Short forms of `seconds`: a number, or maps by count, model and phase, read as rows; every fault names its place."""

from __future__ import annotations

import re
from typing import Callable

from ...machines.accelerators import NUMBERS
from ...planning.workload import PHASES
from ...quantity import Advised
from ...text.form import Fault, Faults
from ...text.values import MAX_DIGITS, NAME_PATTERN
from .duration import WRITTEN, duration

RowsOf = Callable[[object, tuple[str, ...]], list[dict[str, object]]]
"""The rows of a value at a place of the short form."""
_OF_NUMBERS = frozenset("-+.0123456789")
_COUNTS = "counts of accelerators, such as `{8: 120, 16: 66}`"


def rows_of(value: object) -> object:
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
        raise Faults([_beside_counts(str(key)) for key, is_count in zip(value, counts) if not is_count])
    if all(counts):
        return _by_count(value, ())
    return _all(value, "phase", _of_phase, ())


def _all(value: dict[object, object], named: str, its_rows: RowsOf, place: tuple[str, ...]) -> list[dict[str, object]]:
    """The rows of all entries, each row with the key of its entry by this name. Raises one error with the faults of all of them."""
    rows, faults = list[dict[str, object]](), list[Fault]()
    for key, inner in value.items():
        try:
            rows += [{**row, named: str(key)} for row in its_rows(inner, (*place, str(key)))]
        except Faults as wrong:
            faults += wrong.faults
    if faults:
        raise Faults(faults)
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
        raise _fault(str(wrong), place, wrong.advice if isinstance(wrong, Advised) else "") from None
    return [{"seconds": value}]


def _fault(message: str, place: tuple[str, ...], advice: str = "") -> Faults:
    """A fault of what stands at a place inside the value, and what to write instead where that is known."""
    return Faults([Fault(message, inside=place, takes=advice.removeprefix("write ") or (WRITTEN if place else ""))])


def _beside_counts(key: str) -> Fault:
    """The fault of a key that stands beside counts and is none: a phase, or what was meant for a count."""
    if key in PHASES:
        message = "counts of accelerators stand beside phases, whose own counts stand below them"
        return _of_key(message, (key,), f"counts below each phase, such as `{{{key}: {{8: 120}}}}`")
    return _of_key(f"`{key[:40]}` stands beside counts of accelerators, and is no whole number", (key,), _COUNTS)


def _key_fault(message: str, place: tuple[str, ...]) -> Faults:
    """A fault of a key inside the value, which should be a count."""
    return Faults([_of_key(message, place, _COUNTS)])


def _of_key(message: str, place: tuple[str, ...], takes: str) -> Fault:
    return Fault(message, inside=place, takes=takes, of_key=True)


def _is_count(key: str, value: object = None) -> bool:
    """Is a key a count of accelerators? Digits are, but for a model such as ``4090`` above counts of its own."""
    digits = key.isascii() and key.isdigit() and len(key) <= MAX_DIGITS
    return digits and not (isinstance(value, dict) and key in NUMBERS)
