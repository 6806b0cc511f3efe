"""Messages between two processes: values as lines of JSON and back, guided by types.

Nothing is unpickled and no name in the data chooses a class, so that data from another process can only become values of the types that
are expected, or be refused. A new field of a class needs nothing here as long as its type is one of those that are known.
"""

from __future__ import annotations

import collections.abc
import json
import types
import typing
from dataclasses import fields, is_dataclass
from enum import Enum
from fractions import Fraction
from functools import cache
from typing import Any, Callable, Mapping, Union

from ...models.answer import Answer
from ...models.machines.cluster import Cluster
from ...models.machines.node import Node
from ...models.machines.nodes import Alike, Nodes
from ...models.placements.plan import Plan
from ...models.placements.run import Repeat, Run, Runs
from ...models.planning.planned import Planned
from ...models.problem import Problem
from ...models.record import dataclass

SCALARS = (int, float, str, bool, type(None))
"""The types of plain values."""
COMPACT: Mapping[type, tuple[Any, str, Any]] = {Run: (Runs, "repeats", tuple[Repeat, ...]), Node: (Nodes, "alike", tuple[Alike, ...])}
"""Type of the members -> a sequence of them that is kept in a shorter form, the attribute that holds that form, and its type."""


def line_of(data: object) -> bytes:
    """The line that says it."""
    return json.dumps(data, separators=(",", ":")).encode() + b"\n"


def data_of(line: bytes) -> object:
    """What a line says. Raises NotOurs where it is not JSON."""
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        raise NotOurs("it is not JSON") from None


class NotOurs(ValueError):
    """Data that is no value of the type that is expected."""


@dataclass(frozen=True)
class Form:
    """How values of one type are written as JSON data and read back; `read` raises NotOurs."""

    write: Callable[[Any], Any]
    read: Callable[[Any], Any]


def scalar(kind: type) -> Form:
    """Of a plain value, which is written as it is; a whole number is a float too."""

    def write(value: object) -> object:
        if type(value) is not kind and not (kind is float and type(value) is int):
            raise TypeError(f"{value!r} is not {kind}")
        return value

    def read(data: object) -> object:
        if type(data) is not kind and not (kind is float and type(data) is int):
            raise NotOurs(f"{data!r:.40} is not {kind}")
        return data

    return Form(write, read)


def enumeration(kind: type[Enum]) -> Form:
    """Of a member of an enumeration, which is written by its name."""
    names = {member.name: member for member in kind}

    def read(data: object) -> Enum:
        if not isinstance(data, str) or data not in names:
            raise NotOurs(f"{data!r:.40} is not {kind}")
        return names[data]

    return Form(lambda value: value.name, read)


def list_of(data: object, length: int | None = None) -> list[Any]:
    """The data, which is a list of so many members, or of any number. Raises NotOurs for anything else."""
    if not isinstance(data, list) or (length is not None and len(data) != length):
        raise NotOurs(f"{data!r:.40} is no list of {'any' if length is None else length}")
    return data


def _read_fraction(data: object) -> Fraction:
    over, under = list_of(data, 2)
    if type(over) is not int or type(under) is not int or under < 1:
        raise NotOurs(f"{data!r:.40} is no fraction")
    return Fraction(over, under)


def _write_range(value: range) -> list[int]:
    return [value.start, value.stop, value.step]


def _read_range(data: object) -> range:
    its = list_of(data, 3)
    if not all(type(each) is int for each in its) or not its[2]:
        raise NotOurs(f"{data!r:.40} is no range")
    return range(*its)


RANGE = Form(_write_range, _read_range)
"""Of a range: [first, one after the last, step]."""
FRACTION = Form(lambda value: [value.numerator, value.denominator], _read_fraction)
"""Of a fraction: [numerator, denominator]."""


class Codec:
    """Writes and reads values of any type that is made of dataclasses, enumerations, sequences, sets, maps, ranges, fractions and plain values.

    Parameters
    ----------
    left_out : types whose values are not written; the reader puts in its own value instead. So a function is always left out: the
        reader takes the default of the field.
    compact : whether sequences that are kept in a shorter form stay in it. A reader that does not trust the writer wants them as
        plain tuples, as long as the data is.
    names : classes besides Fraction that are imported for type checkers alone where a field names them.
    """

    def __init__(
        self, left_out: Mapping[type, object] | None = None, compact: bool = True, names: Mapping[str, type] | None = None
    ) -> None:
        self._left_out, self._names = dict(left_out or {}), {"Fraction": Fraction, **(names or {})}
        self._compact = compact
        self._forms: dict[Any, Form] = {}

    def write(self, value: object, kind: Any) -> Any:
        """The value, which is one of the type, as JSON data. Raises TypeError for what is none: a fault of ours."""
        return self.form(kind).write(value)

    def read(self, data: object, kind: Any) -> Any:
        """The value of the type. Raises NotOurs."""
        return self.form(kind).read(data)

    def form(self, kind: Any) -> Form:
        """How values of the type are written and read. Raises TypeError for a type that is not known."""
        if kind not in self._forms:
            self._forms[kind] = self._made(kind)
        return self._forms[kind]

    def _made(self, kind: Any) -> Form:
        if kind in self._left_out:
            own = self._left_out[kind]
            return Form(lambda value: None, lambda data: own)
        if kind in SCALARS:
            return scalar(kind)
        origin, arguments = typing.get_origin(kind), typing.get_args(kind)
        if origin in (Union, types.UnionType):
            return self._one_of(arguments)
        if origin is tuple and (len(arguments) != 2 or arguments[1] is not Ellipsis):
            return self._pieces(arguments)
        if origin in (tuple, collections.abc.Sequence):
            return self._sequence(arguments[0], origin is tuple)
        if origin is frozenset:
            form = self.form(arguments[0])
            # Sorted as it is written: not all that a set may hold has an order.
            return Form(lambda value: sorted(map(form.write, value), key=repr), lambda data: frozenset(map(form.read, list_of(data))))
        if origin is collections.abc.Mapping:
            return self._map(*arguments)
        if kind is range:
            return RANGE
        if kind is Fraction:
            return FRACTION
        if isinstance(kind, type) and issubclass(kind, Enum):
            return enumeration(kind)
        if is_dataclass(kind):
            return self._dataclass(kind)
        raise TypeError(f"values of {kind} cannot cross to another process")

    def _dataclass(self, kind: Any) -> Form:
        hints = typing.get_type_hints(kind, localns=self._names)
        names = [field.name for field in fields(kind) if typing.get_origin(hints[field.name]) is not collections.abc.Callable]
        forms = [self.form(hints[name]) for name in names]

        def write(value: Any) -> Any:
            if type(value) is not kind:
                raise TypeError(f"{type(value)} is not {kind}")
            return [form.write(getattr(value, name)) for name, form in zip(names, forms)]

        def read(data: Any) -> Any:
            its = list_of(data, len(names))
            return kind(**{name: form.read(each) for name, form, each in zip(names, forms, its)})

        return Form(write, read)

    def _pieces(self, kinds: tuple[Any, ...]) -> Form:
        forms = [self.form(kind) for kind in kinds]
        return Form(
            lambda value: [form.write(each) for form, each in zip(forms, value)],
            lambda data: tuple(form.read(each) for form, each in zip(forms, list_of(data, len(forms)))),
        )

    def _sequence(self, kind: Any, plain: bool) -> Form:
        """Of a plain tuple a list; of another sequence which one it is, too, so that it is read as it was."""
        form = self.form(kind)
        short, attribute, shorter = COMPACT.get(kind, (None, "", None))

        def write(value: Any) -> Any:
            its = type(value)
            if its is short and self._compact and not plain:
                return {"short": self.write(getattr(value, attribute), shorter)}
            if its is range and not plain:
                return {"range": RANGE.write(value)}
            if its is list and not plain:
                return {"list": [form.write(each) for each in value]}
            if its is tuple or its is short:
                return [form.write(each) for each in value]
            raise TypeError(f"{its} is no sequence that can cross to another process")

        def read(data: Any) -> Any:
            if not plain and isinstance(data, dict) and len(data) == 1:
                ((name, inner),) = data.items()
                if name == "range" and kind is int:
                    return RANGE.read(inner)
                if name == "list":
                    return [form.read(each) for each in list_of(inner)]
                if name == "short" and short and self._compact:
                    return short(self.read(inner, shorter))
            return tuple(form.read(each) for each in list_of(data))

        return Form(write, read)

    def _map(self, key: Any, value: Any) -> Form:
        """Pairs in their order, so that keys may be of any type."""
        keys, values = self.form(key), self.form(value)
        return Form(
            lambda its: [[keys.write(key), values.write(value)] for key, value in its.items()],
            lambda data: {keys.read(key): values.read(value) for key, value in (list_of(pair, 2) for pair in list_of(data))},
        )

    def _one_of(self, kinds: tuple[Any, ...]) -> Form:
        """A value of one of several types: plain values show theirs, of others it is said which one."""
        plain = [kind for kind in kinds if kind in SCALARS]
        others = [kind for kind in kinds if kind not in SCALARS]
        forms = [self.form(kind) for kind in others]

        def write(value: Any) -> Any:
            if type(value) in plain:
                return value
            if len(others) == 1:
                return {"0": forms[0].write(value)}
            which = next((number for number, kind in enumerate(others) if type(value) is kind), -1)
            if which < 0:
                raise TypeError(f"{type(value)} is none of {kinds}")
            return {str(which): forms[which].write(value)}

        def read(data: Any) -> Any:
            if type(data) in plain:
                return data
            if isinstance(data, dict) and len(data) == 1:
                ((name, inner),) = data.items()
                if name.isdecimal() and int(name) < len(forms):
                    return forms[int(name)].read(inner)
            raise NotOurs(f"none of {kinds}")

        return Form(write, read)


@dataclass(frozen=True)
class Question:
    """What the child is to search: the parameters of `solve`."""

    problem: Problem
    limit: float
    seed: int


@dataclass(frozen=True)
class Standing:
    """A Progress: a better answer, or a better bound; `plan` is None as long as there is no answer."""

    plan: Plan | None
    proved: int
    seconds: float
    refuted: bool


@dataclass(frozen=True)
class Done:
    """The answer. Nothing follows until the next question."""

    answer: Answer


@dataclass(frozen=True)
class Failed:
    """The child's own code raised something: a fault of ours, told in one line. `memory`: there was not enough of it."""

    what: str
    memory: bool = False


Message = Union[Standing, Done, Failed]


def write_question(question: Question) -> bytes:
    """The line that asks it."""
    return line_of(_words().write(question, Question))


def read_question(line: bytes) -> Question:
    """The question in a line. Raises NotOurs."""
    found: Question = _words().read(data_of(line), Question)
    return found


class Messages:
    """Writes and reads what the child says about a problem on one cluster, which both know: it is never sent back."""

    def __init__(self, cluster: Cluster) -> None:
        self._codec = Codec({Cluster: cluster}, compact=False, names={"Planned": Planned})

    def write(self, message: Message) -> bytes:
        """The line that says it."""
        return line_of(self._codec.write(message, Message))

    def read(self, line: bytes) -> Message:
        """What a line says. Raises NotOurs."""
        found: Message = self._codec.read(data_of(line), Message)
        return found


@cache
def _words() -> Codec:
    return Codec()
