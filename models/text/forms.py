"""Values of a text against a form: every fault becomes a Finding at its place."""

from __future__ import annotations

from typing import Collection, Sequence, TypeVar

from ..findings.finding import Finding, UnusableInput, error
from ..findings.span import Edit, Span
from .form import MISSING, UNKNOWN_KEY, UNKNOWN_WORD, Fault, Form, described, faults_at, form_at, holder_of, known_keys
from .nearest import nearest, nearest_few
from .tree import MapNode, Scalar, Value, find, plain

AnyForm = TypeVar("AnyForm", bound=Form)


def fill(form: type[AnyForm], value: Value, subject: str, where: str, code: str = "") -> AnyForm:
    """The form with what a value says. Raises UnusableInput with a Finding for every fault.

    `subject` is what the value is about and `where` how to call it in messages, such as "the hints of actor". The codes are
    PW101, PW104 and PW105, or all of them `code`. What a form advises for words that are none of its keys are its `other_words`.
    """
    data = plain(value)
    try:
        return form.read(data)
    except ValueError as wrong:
        faults = [*faults_at(wrong, data)]
        told = [fault for fault in faults if fault.kind != MISSING or not _is_told(form, fault, faults, value)]
        raise UnusableInput(_finding(form, value, fault, subject, where, code) for fault in told) from None


def _is_told(form: type[Form], missing: Fault, faults: Sequence[Fault], root: Value) -> bool:
    """Is it one fault with a key beside it, which nobody knows: that looks like the one that is missing, or all keys there are like none?"""
    *around, key = missing.place
    beside = [fault.place[-1] for fault in faults if fault.kind == UNKNOWN_KEY and [*fault.place[:-1]] == around]
    place = _written(root, missing.place)
    known = known_keys(form, place)
    like_none = bool(beside) and _none_known(root, place, known) and not any(nearest(str(each), known) for each in beside)
    return like_none or any(nearest(str(each), [str(key)]) for each in beside)


def _finding(form: type[Form], value: Value, fault: Fault, subject: str, where: str, code: str) -> Finding:
    place = _written(value, fault.place)
    takes = fault.advice or (f"write {fault.takes}" if fault.takes else described(form, place))
    place = (*place, *fault.inside)
    path = ".".join(map(str, place[:-1] if _alone(value, place) else place))
    if fault.kind == UNKNOWN_KEY:
        advice, edit = _instead(form, value, place)
        message = f"`{path}` is no key of {where}"
        return error(code or "PW104", subject, message, _key(value, place), label="not known", help=advice, edit=edit)
    if fault.kind == MISSING:
        return error(code or "PW101", subject, f"`{path}` of {where} is missing", _deepest(value, place), help=f"add `{path}:`")
    reason = fault.message
    message = f"`{path}` of {where}: {reason[:1].lower()}{reason[1:]}" if path else f"{where}: {reason[:1].lower()}{reason[1:]}"
    if fault.kind == UNKNOWN_WORD and (close := nearest(str(fault.value), fault.words)):
        span = _deepest(value, place)
        return error(code or "PW105", subject, message, span, label="not known", help=f"write `{close}`", edit=Edit(span, close))
    span = _key(value, place) if fault.of_key else _deepest(value, place)
    return error(code or "PW105", subject, message, span, help=takes)


def _instead(form: type[Form], value: Value, place: Sequence[int | str]) -> tuple[str, Edit | None]:
    """What is advised instead of a key that nobody knows, and the edit that makes it so.

    For another word no edit is made, since its value may have another form there.
    """
    key, known, holder = str(place[-1]), known_keys(form, place), form_at(form, place)
    if key.lower() in _ACCELERATORS and "accelerators" in known:
        return "write `accelerators`", None
    if said := holder.other_words.get(key.lower()):
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


def _written(root: Value, place: Sequence[int | str]) -> tuple[int | str, ...]:
    """The place without the position in a list whose only map was written alone."""
    found: list[int | str] = []
    for part in place:
        if not (isinstance(part, int) and isinstance(find(root, ".".join(map(str, found))), MapNode)):
            found.append(part)
    return tuple(found)


def _none_known(root: Value, place: Sequence[int | str], known: Collection[str]) -> bool:
    """Has the map that holds the last key of a place no key that is known there?"""
    holder = find(root, ".".join(map(str, place[:-1])))
    return isinstance(holder, MapNode) and not any(entry.key.text in known for entry in holder)


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
    entry = holder.entry(str(place[-1])) if isinstance(holder, MapNode) else None
    return entry.key.span if entry else _deepest(root, place)
