"""Forms of maps in a file, and values of a text against them.

pydantic did the same. Loading it and building its validators took half of `verify` of a small file.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Callable, ClassVar, Collection, Generic, Iterable, Iterator, Mapping, Sequence, TypeVar, overload

from ..findings.finding import Finding, UnusableInput, error
from ..findings.span import Edit, Span
from ..quantity import Advised
from ..record import dataclass
from .nearest import nearest, nearest_few
from .tree import MapNode, Scalar, Value, find, plain

T = TypeVar("T")
AnyForm = TypeVar("AnyForm", bound="Form")
Place = tuple["int | str", ...]
Schema = dict[str, Any]
VALUE, UNKNOWN_KEY, MISSING, UNKNOWN_WORD = "value", "unknown key", "missing", "unknown word"
"""Kinds of faults: of a value, of a key, of a key that is not there, of a value that is none of a few words."""
REQUIRED: Any = object()
"""Default of a key that must be written."""
MAX_TEXT = 256


MANY = 10
"""Of more keys only those are named that are like what was written."""
_ACCELERATORS = ("gpus", "gpu", "num_gpus", "n_gpus", "devices")
"""What people write for accelerators, in any form that has a key of that name."""


def shown(value: object) -> str:
    """A value in a message: text and numbers as they are, anything else by what it is."""
    if isinstance(value, str):
        return f"`{value[:40]}`"
    if isinstance(value, (bool, int, float)):
        return str(value).lower()
    return "nothing" if value is None else "a map" if isinstance(value, dict) else "a list"


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong at a place of a form; `inside` is the place in a value that is read as a whole."""

    message: str
    value: object = None
    place: Place = ()
    kind: str = VALUE
    advice: str = ""
    words: Sequence[str] = ()
    inside: Place = ()
    takes: str = ""
    """What stands at `inside`."""
    of_key: bool = False
    """True if the key at `inside` is wrong, not its value."""


class Faults(ValueError):
    """Everything that is wrong with a value; the message is that of the first fault."""

    def __init__(self, faults: Iterable[Fault]) -> None:
        self.faults = tuple(faults)
        super().__init__(self.faults[0].message)


def faults_at(wrong: ValueError, value: object, *place: int | str) -> Iterator[Fault]:
    """The faults of an error that reading the value at a place raised."""
    if isinstance(wrong, Faults):
        yield from (replace(fault, place=(*place, *fault.place)) for fault in wrong.faults)
    else:
        yield Fault(str(wrong), value, place, advice=wrong.advice if isinstance(wrong, Advised) else "")


class Kind(Generic[T]):
    """What a key takes.

    `read` makes a value of plain data, or raises ValueError with a sentence for a person. `schema` says the same as JSON Schema,
    with the name of a form as its `$ref`. `form` is the form inside, and `is_listed` says whether it is inside a list or a map.
    """

    def __init__(self, read: Callable[[Any], T], schema: Schema, form: type[Form] | None = None, is_listed: bool = False) -> None:
        self.read, self.schema, self.form, self.is_listed = read, schema, form, is_listed


class Key:
    """A key of a form; `written` is how files call it, where that is no name in Python."""

    __slots__ = ("default", "description", "kind", "title", "written")

    def __init__(self, kind: Kind[Any], default: Any, description: str, title: str, written: str) -> None:
        self.kind, self.default, self.description, self.title, self.written = kind, default, description, title, written


@overload
def key(kind: Kind[T], *, description: str, title: str = "", written: str = "") -> T: ...
@overload
def key(kind: Kind[T], *, default: None, description: str, title: str = "", written: str = "") -> T | None: ...
@overload
def key(kind: Kind[T], *, default: T, description: str, title: str = "", written: str = "") -> T: ...
def key(kind: Kind[Any], *, default: Any = REQUIRED, description: str, title: str = "", written: str = "") -> Any:
    """Key of a form: `title` says what it means, `description` what it takes. With None as default it may be null."""
    return Key(kind, default, description, title, written)


class Form:
    """A map with certain keys. An instance holds what was written; for other keys its class holds the defaults."""

    keys: ClassVar[Mapping[str, Key]] = {}
    other_words: ClassVar[Mapping[str, str]] = {}
    """What people write for a key -> what is advised then."""
    is_open: ClassVar[bool] = False
    """True if other keys are passed over; they are in `extra`."""

    def __init_subclass__(cls) -> None:
        own = {name: value for name, value in vars(cls).items() if isinstance(value, Key)}
        inherited = (vars(base).get("keys", {}) for base in reversed(cls.__mro__[1:]))
        cls.keys = {**{name: value for keys in inherited for name, value in keys.items()}, **own}
        for name, value in own.items():
            value.written = value.written or name
            if value.default is REQUIRED:
                delattr(cls, name)
            else:
                setattr(cls, name, value.default)

    def __init__(self, **said: Any) -> None:
        self.__dict__.update(said)
        self.extra: Mapping[str, Any] = {}

    @property
    def said(self) -> frozenset[str]:
        """Names of the keys that were written."""
        return frozenset(self.keys.keys() & self.__dict__.keys())

    def changed(self: AnyForm, **values: Any) -> AnyForm:
        """The same with other values."""
        return type(self)(**{**{name: getattr(self, name) for name in self.said}, **values})

    def check(self) -> None:
        """Raise ValueError with a sentence for a person where values of keys do not agree."""

    @classmethod
    def read(cls: type[AnyForm], value: object) -> AnyForm:
        """The form of plain data. Raises Faults with all that is wrong, ValueError where the data is no map."""
        if not isinstance(value, dict):
            raise ValueError(f"{shown(value)} is no map")
        said, faults, known = dict[str, Any](), list[Fault](), set[str]()
        for name, its in cls.keys.items():
            known.add(its.written)
            inner = value.get(its.written, REQUIRED)
            if inner is REQUIRED:
                if its.default is REQUIRED:
                    faults.append(Fault("", None, (its.written,), MISSING))
            elif inner is None and its.default is None:
                said[name] = None
            else:
                try:
                    said[name] = its.kind.read(inner)
                except ValueError as wrong:
                    faults += faults_at(wrong, inner, its.written)
        extra = {name: inner for name, inner in value.items() if name not in known}
        if not cls.is_open:
            faults += [Fault("", inner, (name,), UNKNOWN_KEY) for name, inner in extra.items()]
        if faults:
            raise Faults(faults)
        form = cls(**said)
        form.extra = extra
        form.check()
        return form


def form_of(form: type[AnyForm]) -> Kind[AnyForm]:
    """A map in the form."""
    return Kind(form.read, {"$ref": form.__name__}, form)


def list_of(
    items: Kind[T], least: int = 0, most: int = 0, unpack: Callable[[Any], object] = lambda value: value,
    check: Callable[[tuple[T, ...]], tuple[T, ...]] = lambda values: values, schema: Schema | None = None,
) -> Kind[tuple[T, ...]]:  # fmt: skip
    """A list of `least` to `most` items (0: any number). `unpack` makes a list of another value, `check` may refuse the items."""

    def read(value: object) -> tuple[T, ...]:
        listed, found, faults = unpack(value), list[T](), list[Fault]()
        if not isinstance(listed, (list, tuple)):
            raise ValueError(f"{shown(listed)} is no list")
        if most and len(listed) > most:
            raise ValueError(f"the list has more than {most}")
        for position, item in enumerate(listed):
            try:
                found.append(items.read(item))
            except ValueError as wrong:
                faults += faults_at(wrong, item, position)
        if faults:
            raise Faults(faults)
        if len(found) < least:
            raise ValueError("the list is empty" if least == 1 else f"the list has fewer than {least}")
        return check(tuple(found))

    limits = {word: limit for word, limit in (("minItems", least), ("maxItems", most)) if limit}
    return Kind(read, schema or {"type": "array", "items": items.schema, **limits}, items.form, is_listed=True)


def several(value: object) -> object:
    """The items of a list, or one value as the only one."""
    return value if isinstance(value, (list, tuple)) else [value]


def one_or_list_of(items: Kind[T]) -> Kind[tuple[T, ...]]:
    """A list, whose only item may be written alone."""
    listed = list_of(items, unpack=several)
    return Kind(listed.read, {"anyOf": [items.schema, listed.schema]}, items.form, is_listed=True)


def map_of(values: Kind[T]) -> Kind[dict[str, T]]:
    """A map from names to values of a kind."""

    def read(value: object) -> dict[str, T]:
        if not isinstance(value, dict):
            raise ValueError(f"{shown(value)} is no map")
        found, faults = dict[str, T](), list[Fault]()
        for name, inner in value.items():
            try:
                if len(name) > MAX_TEXT:
                    raise ValueError(f"the text is longer than {MAX_TEXT} characters")
                found[name] = values.read(inner)
            except ValueError as wrong:
                faults += faults_at(wrong, inner, name)
        if faults:
            raise Faults(faults)
        return found

    return Kind(read, {"type": "object", "additionalProperties": values.schema}, values.form, is_listed=True)


def form_at(form: type[Form], place: Sequence[int | str]) -> type[Form]:
    """The form of the map that holds the last key of a place."""
    current = form
    for name in place[:-1]:
        current = _inner(current, name) or current
    return current


def known_keys(form: type[Form], place: Sequence[int | str]) -> list[str]:
    """The keys that the form knows at a place."""
    return [its.written for its in form_at(form, place).keys.values()]


def holder_of(form: type[Form], place: Sequence[int | str]) -> str:
    """The first key beside an unknown one whose own map knows it, as `parallel` knows `tp`; "" if there is none."""
    beside = form_at(form, place).keys.values()
    holders = (its.written for its in beside if not its.kind.is_listed and its.kind.form and str(place[-1]) in its.kind.form.keys)
    return next(holders, "")


def _inner(form: type[Form], name: int | str) -> type[Form] | None:
    """The form inside a key."""
    found = form.keys.get(str(name))
    return found.kind.form if found else None


def described(form: type[Form], place: Sequence[int | str]) -> str:
    """What the innermost described key at a place takes."""
    current = form
    said = "write a value of the right kind" if place else f"write a map; its keys are {', '.join(known_keys(form, ('',)))}"
    for name in place:
        if found := current.keys.get(str(name)):
            said = f"write {found.description}"
        current = _inner(current, name) or current
    return said


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


def _among(key: str, known: Sequence[str]) -> str:
    """What is advised where a key is none of these, and near to none."""
    if len(known) <= MANY:
        return f"known keys are {', '.join(known)}"
    few = [f"`{each}`" for each in nearest_few(key, known)]
    if not few:
        return f"no key is like it; `placewright schema` has all {len(known)}"
    return f"the nearest {'key is' if len(few) == 1 else 'keys are'} {', '.join(few)}; `placewright schema` has all"


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
