"""Values of a text against a pydantic form: every fault becomes a Finding at its place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Collection, Iterator, Sequence, TypeVar

from pydantic import BaseModel, ValidationError

from ..findings.finding import Finding, UnusableInput, error
from ..findings.span import Edit, Span
from ..quantity import Advised
from .form_keys import described, form_at, holder_of, known_keys
from .nearest import nearest, nearest_few
from .tree import Mapping, Scalar, Value, find, plain
from .values import INSIDE, TAGS, TEXT, UNKNOWN_WORD, WORD, shown

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

Form = TypeVar("Form", bound=BaseModel)


def fill(form: type[Form], value: Value, subject: str, where: str, code: str = "") -> Form:
    """The form with what a value says. Raises UnusableInput with a Finding for every fault.

    `subject` is what the value is about and `where` how to call it in messages, such as "the hints of actor". The codes are
    PW101, PW104 and PW105, or all of them `code`. What a form advises for words that are none of its keys are its `other_words`.
    """
    try:
        return form.model_validate(plain(value))
    except ValidationError as problem:
        details = [each for each in problem.errors(include_url=False) if each["type"] != "too_short" or not _holds_faults(each, problem)]
        told = [each for each in details if each["type"] != "missing" or not _is_told(form, each, details, value)]
        raise UnusableInput(_finding(form, value, one, subject, where, code) for each in told for one in _each(each)) from None


def _holds_faults(short: ErrorDetails, problem: ValidationError) -> bool:
    """Is a list too short only because what it holds is faulty, so that pydantic did not count it?"""
    place = short["loc"]
    return any(len(each["loc"]) > len(place) and each["loc"][: len(place)] == place for each in problem.errors(include_url=False))


def _is_told(form: type[BaseModel], missing: ErrorDetails, details: Sequence[ErrorDetails], root: Value) -> bool:
    """Is it one fault with a key beside it, which nobody knows: that looks like the one that is missing, or all keys there are like none?"""
    *around, key = missing["loc"]
    beside = [each["loc"][-1] for each in details if each["type"] == "extra_forbidden" and [*each["loc"][:-1]] == around]
    place = _written(root, [part for part in missing["loc"] if part not in TAGS])
    known = known_keys(form, place)
    like_none = bool(beside) and _none_known(root, place, known) and not any(nearest(str(each), known) for each in beside)
    return like_none or any(nearest(str(each), [str(key)]) for each in beside)


def _each(details: ErrorDetails) -> Iterator[ErrorDetails]:
    """The faults of what stands inside a value that is read as a whole, one by one."""
    if details["type"] != INSIDE:
        yield details
        return
    for fault in details["ctx"]["faults"]:
        one = details.copy()
        one["msg"], one["ctx"] = fault["message"], fault
        yield one


def _finding(form: type[BaseModel], value: Value, details: ErrorDetails, subject: str, where: str, code: str) -> Finding:
    place, kind = tuple(part for part in details["loc"] if part not in TAGS), details["type"]
    place = _written(value, place)
    takes = described(form, place)
    if kind == INSIDE:
        place = (*place, *details["ctx"]["place"])
        takes = f"write {details['ctx']['takes']}" if details["ctx"]["takes"] else takes
    path = ".".join(map(str, place[:-1] if _alone(value, place) else place))
    if kind == "extra_forbidden":
        advice, edit = _instead(form, value, place)
        message = f"`{path}` is no key of {where}"
        return error(code or "PW104", subject, message, _key(value, place), label="not known", help=advice, edit=edit)
    if kind == "missing":
        return error(code or "PW101", subject, f"`{path}` of {where} is missing", _deepest(value, place), help=f"add `{path}:`")
    reason, wrong = _reason(details), details.get("ctx", {}).get("error")
    takes = wrong.advice if isinstance(wrong, Advised) else takes
    message = f"`{path}` of {where}: {reason[:1].lower()}{reason[1:]}" if path else f"{where}: {reason[:1].lower()}{reason[1:]}"
    if kind == UNKNOWN_WORD and (close := nearest(str(details["input"]), details["ctx"]["words"])):
        span = _deepest(value, place)
        return error(code or "PW105", subject, message, span, label="not known", help=f"write `{close}`", edit=Edit(span, close))
    of_key = kind == INSIDE and details["ctx"].get("of_key")
    return error(code or "PW105", subject, message, _key(value, place) if of_key else _deepest(value, place), help=takes)


def _instead(form: type[BaseModel], value: Value, place: Sequence[int | str]) -> tuple[str, Edit | None]:
    """What is advised instead of a key that nobody knows, and the edit that makes it so.

    For another word no edit is made, since its value may have another form there.
    """
    key, known, holder = str(place[-1]), known_keys(form, place), form_at(form, place)
    if key.lower() in _ACCELERATORS and "accelerators" in known:
        return "write `accelerators`", None
    if said := getattr(holder, "other_words", {}).get(key.lower()):
        return said, None
    if inside := holder_of(form, place):
        return f"write `{inside}: {{{key}: ...}}`", None
    if close := nearest(key, known):
        return f"write `{close}`", Edit(_key(value, place), close)
    if len(place) > 1 and _none_known(value, place, known):
        return described(form, place[:-1]), None
    return _among(key, known), None


MANY = 10
"""Of more keys only those are named that are like what was written."""


def _among(key: str, known: Sequence[str]) -> str:
    """What is advised where a key is none of these, and near to none."""
    if len(known) <= MANY:
        return f"known keys are {', '.join(known)}"
    few = [f"`{each}`" for each in nearest_few(key, known)]
    if not few:
        return f"no key is like it; `placewright schema` has all {len(known)}"
    return f"the nearest {'key is' if len(few) == 1 else 'keys are'} {', '.join(few)}; `placewright schema` has all"


_ACCELERATORS = ("gpus", "gpu", "num_gpus", "n_gpus", "devices")
"""What people write for accelerators, in any form that has a key of that name."""

_REASONS = {
    "string_type": "{value} is no text", "tuple_type": "{value} is no list", "list_type": "{value} is no list", "model_type": "{value} is no map",
    "model_attributes_type": "{value} is no map", "dict_type": "{value} is no map", "bool_type": "{value} is neither true nor false",
    "greater_than_equal": "{value} is less than {ge}", "less_than_equal": "{value} is more than {le:,}", "too_long": "the list has more than {max_length}", "string_too_long": "the text is longer than {max_length} characters",
    "string_pattern_mismatch": "{value} is no name of at most 64 letters, digits and `_ . : -`",
}  # fmt: skip
"""What pydantic found wrong, in the words of this house."""


def _reason(details: ErrorDetails) -> str:
    said = _REASONS.get(details["type"])
    if details["type"] == "string_type" and details["loc"][-1:] == (TEXT,):
        said = "{value} is neither a text nor a list"
    elif details["type"] == "string_type" and details["loc"][-1:] == (WORD,):
        said = "{value} is neither a word nor a map"
    elif details["type"] == "too_short":
        least = details["ctx"]["min_length"]
        said = "the list is empty" if least == 1 else "the list has fewer than {min_length}"
    return said.format(value=shown(details["input"]), **details.get("ctx", {})) if said else details["msg"].removeprefix("Value error, ")


def _written(root: Value, place: Sequence[int | str]) -> tuple[int | str, ...]:
    """The place without the position in a list whose only map was written alone."""
    found: list[int | str] = []
    for part in place:
        if not (isinstance(part, int) and isinstance(find(root, ".".join(map(str, found))), Mapping)):
            found.append(part)
    return tuple(found)


def _none_known(root: Value, place: Sequence[int | str], known: Collection[str]) -> bool:
    """Has the map that holds the last key of a place no key that is known there?"""
    holder = find(root, ".".join(map(str, place[:-1])))
    return isinstance(holder, Mapping) and not any(entry.key.text in known for entry in holder)


def _alone(root: Value, place: Sequence[int | str]) -> bool:
    """Does a place count in a list where one value was written alone?"""
    return len(place) > 1 and isinstance(place[-1], int) and isinstance(find(root, ".".join(map(str, place[:-1]))), Scalar)


def _deepest(root: Value, place: Sequence[int | str]) -> Span:
    """The span of the value at a place, or of the nearest one around it that was written."""
    value = root
    for position in range(1, len(place) + 1):
        inner = find(root, ".".join(map(str, place[:position])))
        if inner is None:
            break
        value = inner
    return value.span


def _key(root: Value, place: Sequence[int | str]) -> Span:
    """The span of the key that ends a place."""
    holder = find(root, ".".join(map(str, place[:-1])))
    entry = holder.entry(str(place[-1])) if isinstance(holder, Mapping) else None
    return entry.key.span if entry else _deepest(root, place)
