"""Messages between two processes: values as JSON lines, guided by types.

Nothing is unpickled and no name in the data selects a class: data from another process becomes a
value of an expected type or is refused. A new field of a class needs no change here if its type is
supported.
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
from ...models.machines.node import EqualNodes, Node, Nodes
from ...models.placements.run import Repeat, Run, Runs
from ...models.planning.planned import PlanningResult
from ...models.problem import Problem
from ...models.record import dataclass
from ..searching.progress import Incumbents

SCALARS = (int, float, str, bool, type(None))
"""Types of plain values."""
COMPACT: Mapping[type, tuple[Any, str, Any]] = {Run: (Runs, "repeats", tuple[Repeat, ...]), Node: (Nodes, "alike", tuple[EqualNodes, ...])}
"""Member type -> (compact sequence class, attribute with the compact form, type of the form)."""


def line_of(data: object) -> bytes:
    """Return the data as a JSON line."""
    return json.dumps(data, separators=(",", ":")).encode() + b"\n"


def data_of(line: bytes) -> object:
    """Parse a JSON line. Raises NotOurs."""
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        raise NotOurs("it is not JSON") from None


class NotOurs(ValueError):
    """Data is not a value of the expected type."""


@dataclass(frozen=True)
class MessageForm:
    """Conversion of values of a type to JSON data and back; `read` raises NotOurs."""

    write: Callable[[Any], Any]
    read: Callable[[Any], Any]


def scalar(kind: type) -> MessageForm:
    """Return the form of a plain value, written unchanged; an int is accepted as float."""

    def write(value: object) -> object:
        if type(value) is not kind and not (kind is float and type(value) is int):
            raise TypeError(f"{value!r} is not {kind}")
        return value

    def read(data: object) -> object:
        if type(data) is not kind and not (kind is float and type(data) is int):
            raise NotOurs(f"{data!r:.40} is not {kind}")
        return data

    return MessageForm(write, read)


def enumeration(kind: type[Enum]) -> MessageForm:
    """Return the form of an enumeration, written by member name."""
    names = {member.name: member for member in kind}

    def read(data: object) -> Enum:
        if not isinstance(data, str) or data not in names:
            raise NotOurs(f"{data!r:.40} is not {kind}")
        return names[data]

    return MessageForm(lambda value: value.name, read)


def list_of(data: object, length: int | None = None) -> list[Any]:
    """Return the data as a list of the given length, None for any. Raises NotOurs."""
    if not isinstance(data, list) or (length is not None and len(data) != length):
        raise NotOurs(f"{data!r:.40} is not a list of {'any' if length is None else length}")
    return data


def integers(kind: Any, *names: str) -> MessageForm:
    """Return the form of a value made of integers, the last of them not 0."""

    def read(data: object) -> object:
        numbers = list_of(data, len(names))
        if not all(type(number) is int for number in numbers) or not numbers[-1]:
            raise NotOurs(f"{data!r:.40} is no {kind.__name__}")
        return kind(*numbers)

    return MessageForm(lambda value: [getattr(value, name) for name in names], read)


RANGE = integers(range, "start", "stop", "step")
FRACTION = integers(Fraction, "numerator", "denominator")


class Codec:
    """Writer and reader of typed values.

    Types are built from dataclasses, enumerations, sequences, sets, maps, ranges, fractions and
    plain values.

    Parameters
    ----------
    left_out : types that are not written; the reader substitutes its own value. Functions are
        always left out: the reader takes the default of the field.
    compact : True to keep the compact form of sequences. A reader that distrusts the writer wants
        plain tuples, whose size is that of the data.
    names : classes besides Fraction that fields name and only type checkers import.
    """

    def __init__(
        self, left_out: Mapping[type, object] | None = None, compact: bool = True, names: Mapping[str, type] | None = None
    ) -> None:
        self._left_out, self._names = dict(left_out or {}), {"Fraction": Fraction, **(names or {})}
        self._compact = compact
        self._forms: dict[Any, MessageForm] = {}

    def write(self, value: object, kind: Any) -> Any:
        """Convert a value of the type to JSON data. Raises TypeError on a mismatch, a bug."""
        return self.form(kind).write(value)

    def read(self, data: object, kind: Any) -> Any:
        """Convert JSON data to a value of the type. Raises NotOurs."""
        return self.form(kind).read(data)

    def form(self, kind: Any) -> MessageForm:
        """Return the cached form of a type. Raises TypeError for unsupported types."""
        if kind not in self._forms:
            self._forms[kind] = self._make_form(kind)
        return self._forms[kind]

    def _make_form(self, kind: Any) -> MessageForm:
        if kind in self._left_out:
            substitute = self._left_out[kind]
            return MessageForm(lambda value: None, lambda data: substitute)
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
            # Sorted by their text: members of a set may have no order.
            return MessageForm(
                lambda value: sorted(map(form.write, value), key=repr), lambda data: frozenset(map(form.read, list_of(data)))
            )
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

    def _dataclass(self, kind: Any) -> MessageForm:
        hints = typing.get_type_hints(kind, localns=self._names)
        names = [field.name for field in fields(kind) if typing.get_origin(hints[field.name]) is not collections.abc.Callable]
        forms = [self.form(hints[name]) for name in names]

        def write(value: Any) -> Any:
            if type(value) is not kind:
                raise TypeError(f"{type(value)} is not {kind}")
            return [form.write(getattr(value, name)) for name, form in zip(names, forms)]

        def read(data: Any) -> Any:
            values = list_of(data, len(names))
            return kind(**{name: form.read(value) for name, form, value in zip(names, forms, values)})

        return MessageForm(write, read)

    def _pieces(self, kinds: tuple[Any, ...]) -> MessageForm:
        forms = [self.form(kind) for kind in kinds]
        return MessageForm(
            lambda value: [form.write(item) for form, item in zip(forms, value)],
            lambda data: tuple(form.read(item) for form, item in zip(forms, list_of(data, len(forms)))),
        )

    def _sequence(self, kind: Any, plain: bool) -> MessageForm:
        """Return the form of a sequence; its kind is written unless a plain tuple."""
        form = self.form(kind)
        compact, attribute, compact_form = COMPACT.get(kind, (None, "", None))

        def write(value: Any) -> Any:
            sequence_type = type(value)
            if sequence_type is compact and self._compact and not plain:
                return {"short": self.write(getattr(value, attribute), compact_form)}
            if sequence_type is range and not plain:
                return {"range": RANGE.write(value)}
            if sequence_type is list and not plain:
                return {"list": [form.write(item) for item in value]}
            if sequence_type is tuple or sequence_type is compact:
                return [form.write(item) for item in value]
            raise TypeError(f"{sequence_type} is not a sequence that can cross to another process")

        def read(data: Any) -> Any:
            if not plain and isinstance(data, dict) and len(data) == 1:
                ((name, inner),) = data.items()
                if name == "range" and kind is int:
                    return RANGE.read(inner)
                if name == "list":
                    return [form.read(item) for item in list_of(inner)]
                if name == "short" and compact and self._compact:
                    return compact(self.read(inner, compact_form))
            return tuple(form.read(item) for item in list_of(data))

        return MessageForm(write, read)

    def _map(self, key: Any, value: Any) -> MessageForm:
        """Return the form of a map: pairs in order, so keys may have any type."""
        keys, values = self.form(key), self.form(value)
        return MessageForm(
            lambda mapping: [[keys.write(key), values.write(value)] for key, value in mapping.items()],
            lambda data: {keys.read(key): values.read(value) for key, value in (list_of(pair, 2) for pair in list_of(data))},
        )

    def _one_of(self, kinds: tuple[Any, ...]) -> MessageForm:
        """Return the form of a union; values beyond plain ones carry a type number."""
        plain = [kind for kind in kinds if kind in SCALARS]
        classes = [kind for kind in kinds if kind not in SCALARS]
        forms = [self.form(kind) for kind in classes]

        def write(value: Any) -> Any:
            if type(value) in plain:
                return value
            if len(classes) == 1:
                return {"0": forms[0].write(value)}
            index = next((number for number, kind in enumerate(classes) if type(value) is kind), -1)
            if index < 0:
                raise TypeError(f"{type(value)} is none of {kinds}")
            return {str(index): forms[index].write(value)}

        def read(data: Any) -> Any:
            if type(data) in plain:
                return data
            if isinstance(data, dict) and len(data) == 1:
                ((name, inner),) = data.items()
                if name.isdecimal() and int(name) < len(forms):
                    return forms[int(name)].read(inner)
            raise NotOurs(f"none of {kinds}")

        return MessageForm(write, read)


@dataclass(frozen=True)
class SolveRequest:
    """Question for the child: the parameters of `solve`."""

    problem: Problem
    limit: float
    seed: int


@dataclass(frozen=True)
class ChildFailure:
    """The child's code raised an exception: a bug. `memory` is True if memory ran out."""

    reason: str
    memory: bool = False


Message = Union[Incumbents, Answer, ChildFailure]
"""Progress of a search, its answer, or its failure."""


def write_question(question: SolveRequest) -> bytes:
    """Return the question as a line."""
    return line_of(_words().write(question, SolveRequest))


def read_question(line: bytes) -> SolveRequest:
    """Parse a question. Raises NotOurs."""
    question: SolveRequest = _words().read(data_of(line), SolveRequest)
    return question


class Messages:
    """Writer and reader of the child's messages about a problem.

    Both processes know the cluster and the problem, so neither is sent back.
    """

    def __init__(self, cluster: Cluster) -> None:
        self._codec = Codec({Cluster: cluster, object: None}, compact=False, names={"PlanningResult": PlanningResult})

    def write(self, message: Message) -> bytes:
        """Return the message as a line."""
        return line_of(self._codec.write(message, Message))

    def read(self, line: bytes) -> Message:
        """Parse a message. Raises NotOurs."""
        message: Message = self._codec.read(data_of(line), Message)
        return message


@cache
def _words() -> Codec:
    return Codec()
