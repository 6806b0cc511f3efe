"""Forms of maps in a file, with a validator and a JSON Schema.

pydantic did the same, but loading it and building its validators took half of `verify` of a small
file.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Callable, ClassVar, Generic, Iterable, Iterator, Mapping, Sequence, TypeVar, overload

from ..findings.causes import MOST_LISTED
from ..findings.finding import Finding, UnusableInput, error
from ..findings.span import Edit, Span
from ..record import dataclass
from .nearest import nearest
from .tree import MapNode, Scalar, Value, find, plain

T = TypeVar("T")
AnyForm = TypeVar("AnyForm", bound="Form")
Place = tuple["int | str", ...]
Schema = dict[str, Any]
VALUE, UNKNOWN_KEY, MISSING, UNKNOWN_WORD = "value", "unknown key", "missing", "unknown word"
"""Kinds of faults: wrong value, unknown key, missing key, value out of a list of words."""
REQUIRED: Any = object()
"""Default of a required key."""
MAX_TEXT = 256
MANY = 10
"""Largest number of known keys in a message."""
_ACCELERATORS = re.compile(r"(n|num_|n_|number_of_|total_)?(gpus?|npus?|devices?)", re.IGNORECASE)
"""Common names for accelerators, in any form with a key `accelerators`."""


def shown_value(value: object) -> str:
    """Format a value for a message: text and numbers as they are, the rest by kind."""
    if isinstance(value, str):
        return f"`{value[:40]}`"
    if isinstance(value, (bool, int, float)):
        return str(value).lower()
    return "nothing" if value is None else "a map" if isinstance(value, dict) else "a list"


@dataclass(frozen=True, slots=True)
class FormFault:
    """Fault at a place of a form, or `inside` a value read as a whole."""

    message: str
    value: object = None
    place: Place = ()
    kind: str = VALUE
    words: Sequence[str] = ()
    inside: Place = ()
    takes: str = ""
    """Expected text at `inside`."""
    of_key: bool = False
    """True if the key at `inside` is wrong, not its value."""


class Faults(ValueError):
    """All faults of a value; the message is that of the first fault."""

    def __init__(self, faults: Iterable[FormFault]) -> None:
        self.faults = tuple(faults)
        super().__init__(self.faults[0].message)


def faults_at(wrong: ValueError, value: object, *place: int | str) -> Iterator[FormFault]:
    """Yield the faults of an error raised by reading the value at a place."""
    if isinstance(wrong, Faults):
        yield from (replace(fault, place=(*place, *fault.place)) for fault in wrong.faults)
    else:
        yield FormFault(str(wrong), value, place)


class ValueKind(Generic[T]):
    """Kind of value of a key.

    Attributes
    ----------
    read : converts plain data, or raises ValueError with a sentence for users.
    schema : the same rule as JSON Schema, with the name of a form as its `$ref`.
    form : form inside; `is_listed` is True if it is inside a list or a map.
    description : the values, for keys that describe none.
    """

    def __init__(
        self, read: Callable[[Any], T], schema: Schema, form: type[Form] | None = None, is_listed: bool = False, description: str = ""
    ) -> None:
        self.read, self.schema, self.form, self.is_listed, self.description = read, schema, form, is_listed, description


class Key:
    """Key of a form; `name_in_file` is the name in files if not a Python name."""

    __slots__ = ("default", "description", "kind", "name_in_file", "title")

    def __init__(self, kind: ValueKind[Any], default: Any, description: str, title: str, name_in_file: str) -> None:
        self.kind, self.default, self.description, self.title, self.name_in_file = kind, default, description, title, name_in_file


@overload
def key(kind: ValueKind[T], *, description: str = "", title: str = "", name_in_file: str = "") -> T: ...
@overload
def key(kind: ValueKind[T], *, default: None, description: str = "", title: str = "", name_in_file: str = "") -> T | None: ...
@overload
def key(kind: ValueKind[T], *, default: T, description: str = "", title: str = "", name_in_file: str = "") -> T: ...
def key(kind: ValueKind[Any], *, default: Any = REQUIRED, description: str = "", title: str = "", name_in_file: str = "") -> Any:
    """Declare a key: `title` is its meaning, `description` its values (default: those of the kind). None allows null."""
    return Key(kind, default, description or kind.description, title, name_in_file)


class Form:
    """Map with certain keys: an instance holds written values, its class the defaults."""

    keys: ClassVar[Mapping[str, Key]] = {}
    _names: ClassVar[Mapping[str, str]] = {}
    """Written name -> name in Python."""
    _needed: ClassVar[tuple[str, ...]] = ()
    is_open: ClassVar[bool] = False
    """True if unknown keys are accepted; they are in `extra`."""

    def __init_subclass__(cls) -> None:
        new_keys = {name: value for name, value in vars(cls).items() if isinstance(value, Key)}
        key_maps = (vars(base).get("keys", {}) for base in reversed(cls.__mro__[1:]))
        cls.keys = {**{name: value for keys in key_maps for name, value in keys.items()}, **new_keys}
        for name, value in new_keys.items():
            value.name_in_file = value.name_in_file or name
            if value.default is REQUIRED:
                delattr(cls, name)
            else:
                setattr(cls, name, value.default)
        cls._names = {entry.name_in_file: name for name, entry in cls.keys.items()}
        cls._needed = tuple(entry.name_in_file for entry in cls.keys.values() if entry.default is REQUIRED)

    def __init__(self, **values: Any) -> None:
        self.__dict__.update(values)
        self.extra: Mapping[str, Any] = {}

    @property
    def written_keys(self) -> frozenset[str]:
        """Names of the written keys."""
        return frozenset(self.keys.keys() & self.__dict__.keys())

    def change(self: AnyForm, **values: Any) -> AnyForm:
        """Return a copy with changed values."""
        return type(self)(**{**{name: getattr(self, name) for name in self.written_keys}, **values})

    def check(self) -> None:
        """Check that values of keys agree. Raises ValueError with a sentence for users."""

    @classmethod
    def read(cls: type[AnyForm], value: object) -> AnyForm:
        """Read plain data as the form. Raises Faults, or ValueError if the data is not a map."""
        if not isinstance(value, dict):
            raise ValueError(f"{shown_value(value)} is not a map")
        values, faults, extra = dict[str, Any](), list[FormFault](), dict[str, Any]()
        for key_text, inner in value.items():
            name = cls._names.get(key_text)
            if name is None:
                extra[key_text] = inner
                continue
            entry = cls.keys[name]
            try:
                values[name] = None if inner is None and entry.default is None else entry.kind.read(inner)
            except ValueError as wrong:
                faults += faults_at(wrong, inner, key_text)
        faults += [FormFault("", None, (key_text,), MISSING) for key_text in cls._needed if key_text not in value]
        if not cls.is_open:
            faults += [FormFault("", inner, (name,), UNKNOWN_KEY) for name, inner in extra.items()]
        if faults:
            raise Faults(faults)
        form = cls(**values)
        form.extra = extra
        form.check()
        return form


def form_of(form: type[AnyForm]) -> ValueKind[AnyForm]:
    """Return the kind of a map in the form."""
    return ValueKind(form.read, {"$ref": form.__name__}, form)


def _read_each(items: Iterable[tuple[int | str, Any]], read: Callable[[Any], T]) -> list[T]:
    """Return the values at places of a list or a map, as `read` gives them. Raises Faults of all."""
    values, faults = list[T](), list[FormFault]()
    for place, item in items:
        try:
            values.append(read(item))
        except ValueError as wrong:
            faults += faults_at(wrong, item, place)
    if faults:
        raise Faults(faults)
    return values


def list_of(
    items: ValueKind[T], minimum: int = 0, maximum: int = 0, unpack: Callable[[Any], object] = lambda value: value,
    check: Callable[[tuple[T, ...]], tuple[T, ...]] = lambda values: values, schema: Schema | None = None,
) -> ValueKind[tuple[T, ...]]:  # fmt: skip
    """Return the kind of a list of `minimum` to `maximum` (0: any) items, once unpacked."""

    def read(value: object) -> tuple[T, ...]:
        sequence = unpack(value)
        if not isinstance(sequence, (list, tuple)):
            raise ValueError(f"{shown_value(sequence)} is not a list")
        if maximum and len(sequence) > maximum:
            raise ValueError(f"the list has more than {maximum}")
        try:
            values = _read_each(enumerate(sequence), items.read)
        except Faults as faults:
            if items.form and len(faults.faults) == len(sequence) > 1 and not any(isinstance(item, dict) for item in sequence):
                raise ValueError(f"{shown_value(sequence[0])} is not a map, nor are the other items") from None
            raise
        if len(values) < minimum:
            raise ValueError("the list is empty" if minimum == 1 else f"the list has fewer than {minimum}")
        return check(tuple(values))

    limits = {word: limit for word, limit in (("minItems", minimum), ("maxItems", maximum)) if limit}
    return ValueKind(read, schema or {"type": "array", "items": items.schema, **limits}, items.form, is_listed=True)


def as_items(value: object) -> object:
    """Return a list unchanged, and another value as a list of one item."""
    return value if isinstance(value, (list, tuple)) else [value]


def one_or_list_of(items: ValueKind[T]) -> ValueKind[tuple[T, ...]]:
    """Return the kind of a list whose only item may be written without brackets."""
    list_kind = list_of(items, unpack=as_items)
    return ValueKind(list_kind.read, {"anyOf": [items.schema, list_kind.schema]}, items.form, is_listed=True)


def map_of(values: ValueKind[T]) -> ValueKind[dict[str, T]]:
    """Return the kind of a map from names to values."""

    def read(value: object) -> dict[str, T]:
        if not isinstance(value, dict):
            raise ValueError(f"{shown_value(value)} is not a map")
        if long := next((name for name in value if len(name) > MAX_TEXT), ""):
            raise Faults(faults_at(ValueError(f"the text is longer than {MAX_TEXT} characters"), value[long], long))
        return dict(zip(value, _read_each(value.items(), values.read)))

    return ValueKind(read, {"type": "object", "additionalProperties": values.schema}, values.form, is_listed=True)


def form_at(form: type[Form], place: Sequence[int | str]) -> type[Form]:
    """Return the form of the map around the last key of a place."""
    current = form
    for name in place[:-1]:
        current = _inner(current, name) or current
    return current


def known_keys(form: type[Form], place: Sequence[int | str]) -> list[str]:
    """Return the keys that the form knows at a place."""
    return [entry.name_in_file for entry in form_at(form, place).keys.values()]


def holder_of(form: type[Form], place: Sequence[int | str]) -> str:
    """Return the key whose map knows an unknown key beside, as `parallel` knows `tp`. Else ""."""
    siblings = form_at(form, place).keys.values()
    holders = (
        entry.name_in_file for entry in siblings if not entry.kind.is_listed and entry.kind.form and str(place[-1]) in entry.kind.form.keys
    )
    return next(holders, "")


def _inner(form: type[Form], name: int | str) -> type[Form] | None:
    """Return the form inside a key."""
    entry = form.keys.get(str(name))
    return entry.kind.form if entry else None


def describe(form: type[Form], place: Sequence[int | str]) -> str:
    """Describe the accepted values of the innermost described key at a place."""
    current = form
    advice = "write a value of the right kind" if place else f"write a map; its keys are {', '.join(known_keys(form, ('',)))}"
    for name in place:
        if entry := current.keys.get(str(name)):
            advice = f"write {entry.description}"
        current = _inner(current, name) or current
    return advice


def fill(form: type[AnyForm], value: Value, subject: str, where: str, code: str = "") -> AnyForm:
    """Fill a form from a value. Raises UnusableInput with a Finding for every fault.

    `subject` is the subject of the findings, and `where` names the value in messages, such as "the
    hints of actor". The codes are PW101, PW104 and PW105, or always `code`.
    """
    data = plain(value)
    try:
        return form.read(data)
    except ValueError as wrong:
        faults = [*faults_at(wrong, data)]
        visible_faults = [fault for fault in faults if not _is_consequence(form, fault, faults)]
        causes: dict[object, list[FormFault]] = {}
        for fault in visible_faults:
            place = tuple("" if isinstance(key_text, int) else key_text for key_text in (*fault.place, *fault.inside))
            causes.setdefault((fault.kind, place, re.sub(r"\d+", "#", fault.message)), []).append(fault)
        raise UnusableInput(_finding(form, value, first, subject, where, code, rest) for first, *rest in causes.values()) from None


def _is_consequence(form: type[Form], fault: FormFault, faults: Sequence[FormFault]) -> bool:
    """Return True if a fault follows from a misspelt key or a wrong map beside."""
    if fault.kind == MISSING:
        return _is_misspelt(fault, faults)
    holder = holder_of(form, fault.place) if fault.kind == UNKNOWN_KEY else ""
    return bool(holder) and any((*fault.place[:-1], holder) == peer.place for peer in faults)


def _is_misspelt(missing: FormFault, faults: Sequence[FormFault]) -> bool:
    """Return True if an unknown key beside a missing key is like it."""
    *parents, key = missing.place
    unknown_keys = [fault.place[-1] for fault in faults if fault.kind == UNKNOWN_KEY and [*fault.place[:-1]] == parents]
    return any(nearest(str(name), [str(key)]) for name in unknown_keys)


def _finding(form: type[Form], value: Value, fault: FormFault, subject: str, where: str, code: str, peers: Sequence[FormFault]) -> Finding:
    finding = _find_fault(form, value, fault, subject, where, code)
    paths = [f"`{'.'.join(map(str, (*peer.place, *peer.inside)))}`" for peer in peers[:MOST_LISTED]]
    more = f" and {len(peers) - MOST_LISTED} more" if len(peers) > MOST_LISTED else ""
    return replace(finding, notes=(*finding.notes, f"the same of {', '.join(paths)}{more}")) if paths else finding


def _find_fault(form: type[Form], value: Value, fault: FormFault, subject: str, where: str, code: str) -> Finding:
    place = _shorten_place(value, fault.place)
    takes = f"write {fault.takes}" if fault.takes else describe(form, place)
    place = (*place, *fault.inside)
    path = ".".join(map(str, place[:-1] if _is_alone(value, place) else place))
    if fault.kind == UNKNOWN_KEY:
        advice, edit = _advise_unknown(form, value, place)
        message = f"unknown key `{path}` in {where}"
        return error(code or "PW104", subject, message, _key(value, place), label="not known", help=advice, edit=edit)
    if fault.kind == MISSING:
        return error(code or "PW101", subject, f"`{path}` of {where} is missing", _nearest_span(value, place), help=f"add `{path}:`")
    reason = fault.message
    message = f"`{path}` of {where}: {reason[:1].lower()}{reason[1:]}" if path else f"{where}: {reason[:1].lower()}{reason[1:]}"
    if fault.kind == UNKNOWN_WORD and (close := nearest(str(fault.value), fault.words)):
        span = _nearest_span(value, place)
        return error(code or "PW105", subject, message, span, label="not known", help=f"write `{close}`", edit=Edit(span, close))
    span = _key(value, place) if fault.of_key else _nearest_span(value, place)
    return error(code or "PW105", subject, message, span, help=takes)


def _advise_unknown(form: type[Form], value: Value, place: Sequence[int | str]) -> tuple[str, Edit | None]:
    """Return the advice for an unknown key, and an edit if the key is misspelt."""
    key, form_keys = str(place[-1]), known_keys(form, place)
    if _ACCELERATORS.fullmatch(key) and "accelerators" in form_keys:
        return "write `accelerators`", None
    if advice := next(filter(None, (_other_words(kind.__name__).get(key.lower()) for kind in form_at(form, place).__mro__)), ""):
        return advice, None
    inner_key = holder_of(form, place)
    holder = find(value, ".".join(map(str, (*place[:-1], inner_key)))) if inner_key else None
    if inner_key and (holder is None or (isinstance(holder, MapNode) and holder.get(key) is None)):
        return f"write `{inner_key}: {{{key}: ...}}`", None
    if close := nearest(key, form_keys):
        return f"write `{close}`", Edit(_key(value, place), close)
    if len(form_keys) <= MANY:
        return f"known keys are {', '.join(form_keys)}", None
    return f"no key is like it; `placewright schema` has all {len(form_keys)}", None


@lru_cache
def _other_words(form: str) -> dict[str, str]:
    """Return unknown key -> advice, for the keys that people write in this form."""
    path = Path(__file__).parent / "facts" / "other_words.json"
    words_of_forms: Mapping[str, Mapping[str, Sequence[str]]] = json.loads(path.read_text(encoding="utf-8"))
    return {word: advice for advice, words in words_of_forms.get(form, {}).items() for word in words}


def _shorten_place(root: Value, place: Sequence[int | str]) -> tuple[int | str, ...]:
    """Return the place without the index of a list whose only map is written alone."""
    parts: list[int | str] = []
    for part in place:
        if not (isinstance(part, int) and isinstance(find(root, ".".join(map(str, parts))), MapNode)):
            parts.append(part)
    return tuple(parts)


def _is_alone(root: Value, place: Sequence[int | str]) -> bool:
    """Return True if the place is in a list whose only value is written alone."""
    return len(place) > 1 and isinstance(place[-1], int) and isinstance(find(root, ".".join(map(str, place[:-1]))), Scalar)


def _nearest_span(root: Value, place: Sequence[int | str]) -> Span:
    """Return the span of the value at a place, or of the nearest written parent."""
    value = root
    for position in range(1, len(place) + 1):
        inner = find(root, ".".join(map(str, place[:position])))
        if inner is None:
            break
        value = inner
    return value.span


def _key(root: Value, place: Sequence[int | str]) -> Span:
    """Return the span of the key at the end of a place."""
    holder = find(root, ".".join(map(str, place[:-1])))
    entry = holder.entry(str(place[-1])) if isinstance(holder, MapNode) else None
    return entry.key.span if entry else _nearest_span(root, place)
