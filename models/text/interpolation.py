"""Interpolations, resolved on reading: `${a.b}`, `${.a}`, `${oc.env:NAME,default}`.

An unresolved interpolation keeps its text and is recorded as unchecked. A resolved value keeps two
places: `span` is the place of `${...}`, `origin` the place of the value itself. A relative path
counts from the map or list that holds the value. Nothing is passed to `eval`: a resolver out of
`RESOLVERS` is unknown.

Sources: OmegaConf 2.3 (semantics, oc.* resolvers and the grammar of primitives); RLinf,
rlinf/scheduler/worker/worker.py and rlinf/utils (multiply, subtract, int_div, not).
"""

from __future__ import annotations

import re
from dataclasses import replace
from operator import mul, sub
from typing import TYPE_CHECKING, Callable, Collection, Iterable, Iterator, Mapping, Union

from ..findings.finding import Finding, Unchecked, error
from ..findings.span import Span
from ..findings.wording import with_noun
from .environment import Environment, taken_as_not_set
from .interpolation_text import BadInterpolation, Call, Part, Reference, check_unquoted, holds_interpolation, split
from .tree import MANDATORY, UNRESOLVED, Entry, Impossible, ListNode, MapNode, Scalar, Unknown, Unread, UnresolvedKey, Value

if TYPE_CHECKING:
    from .document import Document

Plain = Union[int, float, bool, str, None]
MAX_NUMBER = 10**18
_CORE = "tag:yaml.org,2002:"
_INTEGER = re.compile(r"[+-]?(0|[1-9](_?[0-9])*)", re.ASCII)
_FLOAT = re.compile(r"[+-]?([0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))([eE][+-]?[0-9]+)?|[+-]?(?i:inf|nan)", re.ASCII)
_WORDS: Mapping[str, Plain] = {"true": True, "false": False, "null": None}
MAX_LEVELS = 64
MAX_CHAIN = 32
MAX_VALUES = 100_000
MAX_TEXT = 4_096
Path = tuple[str, ...]
_KEY = re.compile(r"[^.\[\]]+")


class CannotCompute(ValueError):
    """Arguments out of the known use of a resolver; the message is for users."""


class ProvedWrong(CannotCompute):
    """Arguments on which the resolver itself must fail."""


def primitive(text: str) -> Plain:
    """Parse an unquoted argument: a number, true, false, null, else text."""
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    if len(text) <= 18 and _INTEGER.fullmatch(text):
        return int(text)
    if len(text) <= 64 and _FLOAT.fullmatch(text):
        return float(text)
    return text


def as_scalar(value: Plain, span: Span, origin: Span | None = None) -> Scalar:
    """Return the value as a leaf of the tree."""
    if value is None:
        return Scalar("null", _CORE + "null", span, origin)
    name = type(value).__name__
    return Scalar(str(value).lower() if isinstance(value, bool) else str(value), _CORE + name, span, origin)


def _arity(name: str, arguments: tuple[Plain, ...], count: int) -> None:
    if len(arguments) != count:
        raise CannotCompute(f"`{name}` is known with {with_noun(count, 'argument')}, not {len(arguments)}")


def _numbers(name: str, arguments: tuple[Plain, ...]) -> tuple[int | float, int | float]:
    _arity(name, arguments, 2)
    first, second = arguments
    if not isinstance(first, (int, float)) or not isinstance(second, (int, float)):
        raise CannotCompute(f"`{name}` is known for numbers, not for {first!r} and {second!r}")
    return first, second


def _int_div(arguments: tuple[Plain, ...]) -> Plain:
    dividend, divisor = _numbers("int_div", arguments)
    if not divisor:
        raise ProvedWrong(f"`int_div` divides {dividend} by zero")
    return dividend // divisor


def _negate(arguments: tuple[Plain, ...]) -> Plain:
    _arity("not", arguments, 1)
    return not arguments[0]


def _decode(arguments: tuple[Plain, ...]) -> Plain:
    _arity("oc.decode", arguments, 1)
    value = arguments[0]
    if value is not None and not isinstance(value, str):
        raise ProvedWrong(f"`oc.decode` takes text, not {value!r}")
    if isinstance(value, str) and value[:1] in ("'", '"', "[", "{"):
        raise CannotCompute("`oc.decode` of quoted text, a list or a map is not computed")
    if value is None:
        return None
    try:
        check_unquoted(value)
    except BadInterpolation as problem:
        raise ProvedWrong(str(problem)) from None
    if not value:
        raise ProvedWrong("`oc.decode` cannot read an empty text")
    return primitive(value)


RESOLVERS: Mapping[str, Callable[[tuple[Plain, ...]], Plain]] = {
    "multiply": lambda arguments: mul(*_numbers("multiply", arguments)),
    "subtract": lambda arguments: sub(*_numbers("subtract", arguments)),
    "int_div": _int_div,
    "not": _negate,
    "oc.decode": _decode,
}
_STANDARD = re.compile(r"oc\.(create|decode|deprecated|dict\.keys|dict\.values|env|select)|hydra|now|python_version")
"""Resolvers of OmegaConf and Hydra, which every program has."""


class Interpolator:
    """Resolver of the interpolations of one configuration.

    Attributes
    ----------
    may_be_given : False if the program takes no settings, so that `???` remains a text.
    partial : True if a missing key may stand in an unread part: it is unknown, not impossible.
    findings, unchecked : collected results.
    followed : maps and lists reached by reference: their span, and the span of the reference.
    resolvers : further resolvers that the program registers; None if unknown.
    default_of : value of a key outside of the tree, or the key that it refers to; None without either. It raises Unknown.
    """

    def __init__(self, root: MapNode, environment: Environment | Mapping[str, str] | None = None, partial: bool = False) -> None:
        self.root = root
        self.environment = environment if isinstance(environment, Environment) else Environment(environment or {})
        self.partial = partial
        self.may_be_given = True
        self._open: list[int] = []
        self._depth = 0
        self._made = 0
        self._read: list[str] = []
        self._unread: frozenset[str] = frozenset()
        self._leaf_at: Path = ()
        self._reasons: Mapping[Span, str] = {}
        self.findings: list[Finding] = []
        self.unchecked: list[Unchecked] = []
        self.followed: list[tuple[Span, Span]] = []
        self._expanding: list[int] = []
        self._assumes_unset = False
        self.resolvers: Collection[str] | None = None
        self.default_of: Callable[[str], Value | str | None] | None = None
        self._assumed: Mapping[Span, frozenset[str]] = {}
        self._is_plain = False

    @staticmethod
    def of(document: Document, names: Collection[str] = (), unread: Iterable[str] = ()) -> Interpolator:
        """Return the resolver of a document; `names` may be read, but not below `unread` keys."""
        resolver = Interpolator(document.root, document.environment.extend(names), document.partial)
        resolver._unread, resolver._assumes_unset = frozenset(unread), True
        resolver._reasons, resolver._assumed = document.reasons, document.assumed
        source = document.source
        has_marks = "$" in source.text or MANDATORY in source.text or "\\" in source.text
        resolver._is_plain = not has_marks and source.holds(document.root)
        return resolver

    def tree(self, value: Value, path: Path) -> Value:
        """Resolve all interpolations in a value; unknown ones become Scalars of tag UNRESOLVED."""
        return value if self._is_plain else self._tree(value, path, 0)

    def target(self, scalar: Scalar, path: Path) -> tuple[Value, Path]:
        """Return the target of a scalar and its path. Both its own if it is unknown."""
        try:
            return self._resolve(scalar, path)
        except (Unknown, Impossible, BadInterpolation):
            return scalar, path

    def _tree(self, value: Value, path: Path, level: int) -> Value:
        if isinstance(value, Scalar):
            if self._assumed:
                notes = map(taken_as_not_set, sorted(self._assumed.get(value.span, ())))
                self.unchecked += [note for note in notes if note not in self.unchecked]
            return self._leaf(value, path, level) if stands_for_another(value) else value
        if isinstance(value, ListNode):
            items = tuple(self._tree(item, (*path, str(i)), level + 1) for i, item in enumerate(value.items))
            return value if all(new is old for new, old in zip(items, value.items)) else ListNode(items, value.span)
        values = [self._tree(entry.value, (*path, entry.key.text), level + 1) for entry in value]
        if all(new is entry.value for new, entry in zip(values, value)):
            return value
        return replace(value, entries=tuple(Entry(entry.key, new) for new, entry in zip(values, value)))

    def _leaf(self, scalar: Scalar, path: Path, level: int) -> Value:
        subject = ".".join(path)
        self._read, self._leaf_at = [], path
        try:
            target, target_path = self._resolve(scalar, path)
            if self._read:
                self.environment.places[scalar.span] = scalar.text
            if isinstance(target, Scalar):
                return target
            self.followed.append((target.span, scalar.span))
            self._spend(_size(target))
            if level > MAX_LEVELS or id(scalar) in self._expanding:
                raise Unknown("the map or list that it refers to holds itself, or is nested too deeply")
            self._expanding.append(id(scalar))
            try:
                return self._tree(target, target_path, level + 1)
            finally:
                self._expanding.pop()
        except Unknown as problem:
            self.unchecked.append(Unchecked("PW120", subject, self._reason(problem)))
        except (Impossible, BadInterpolation) as problem:
            self.findings.append(self._fault(scalar, subject, problem))
        return Scalar(scalar.text, UNRESOLVED, scalar.span)

    def _fault(self, scalar: Scalar, subject: str, problem: Exception) -> Finding:
        message = f"`{scalar.text[:60]}` cannot be resolved: {self._reason(problem)}"
        return error("PW120", subject, message, scalar.span, help="write the value, or refer to a key that this file has")

    def faults(self, value: Value, path: Path, added_keys: Collection[str] = ()) -> Iterator[Finding]:
        """Yield a finding for each value that cannot be resolved without `added_keys`."""
        if not isinstance(value, Scalar):
            items = enumerate(value.items) if isinstance(value, ListNode) else ((entry.key.text, entry.value) for entry in value)
            for key, child in items:
                yield from self.faults(child, (*path, str(key)), added_keys)
        elif holds_interpolation(value.text):
            count, self._read, self._leaf_at = len(self.unchecked), [], path
            try:
                self._resolve(value, path)
            except Unknown:
                pass
            except (Impossible, BadInterpolation) as problem:
                if not (isinstance(problem, UnresolvedKey) and problem.key in added_keys):
                    yield self._fault(value, ".".join(path), problem)
            del self.unchecked[count:]

    def _reason(self, problem: Exception) -> str:
        """Return the message of a problem, unless it could show the value of a variable."""
        if isinstance(problem, Unread) or not self._read:
            return str(problem)
        return f"it depends on the environment variable `{self._read[-1][:60]}`, whose value is not shown"

    # -- references

    def _resolve(self, scalar: Scalar, path: Path) -> tuple[Value, Path]:
        """Return the value behind a scalar, and its real path."""
        if not stands_for_another(scalar) or (scalar.text == MANDATORY and not self.may_be_given):
            return scalar, path
        if scalar.tag == UNRESOLVED:
            raise Unknown(self._reasons.get(scalar.span, "a text that could not be read may replace it"))
        if scalar.text == MANDATORY:
            raise Unknown(f"`{MANDATORY}` is to be given when the job is started")
        if id(scalar) in self._open:
            raise Impossible("it refers to itself")
        if len(scalar.text) > MAX_TEXT:
            raise Unknown(f"the text is longer than {MAX_TEXT:,} characters")
        self._open.append(id(scalar))
        try:
            parts = split(scalar.text)
            if len(parts) == 1:
                return self._part(parts[0], scalar, path)
            pieces = [self._part(part, scalar, path)[0] for part in parts]
            origin = next((piece.origin for piece in pieces if isinstance(piece, Scalar) and piece.origin), None)
            return as_scalar(_join(pieces), scalar.span, origin), path
        finally:
            self._open.pop()

    def _spend(self, amount: int) -> None:
        self._made += amount
        if self._made > MAX_VALUES:
            raise Unknown("the interpolations of this file are too many to follow")

    def _part(self, part: Part, scalar: Scalar, path: Path) -> tuple[Value, Path]:
        if isinstance(part, str):
            return as_scalar(part, scalar.span), path
        self._spend(1)
        if self._depth >= MAX_CHAIN:
            raise Unknown(f"the chain of references is longer than {MAX_CHAIN}")
        self._depth += 1
        try:
            if isinstance(part, Call):
                return as_scalar(self._call(part, scalar, path), scalar.span), path
            value, value_path = self._refer(part, scalar, path)
        finally:
            self._depth -= 1
        if isinstance(value, Scalar):
            value = Scalar(value.text, value.tag, scalar.span, value.origin or value.span)
        return value, value_path

    def _refer(self, reference: Reference, scalar: Scalar, path: Path) -> tuple[Value, Path]:
        pieces = [self._part(part, scalar, path)[0] for part in reference.parts]
        for piece in pieces:
            if isinstance(piece, Scalar) and not isinstance(_plain(piece), str):
                raise Impossible(f"a part of its key is `{piece.text[:60]}`, which is not a text")
        text = _join(pieces)
        keys = text.lstrip(".")
        if ".." in keys:
            raise Impossible(f"`{text[:60]}` has an empty key")
        dots = len(text) - len(keys)
        if dots > len(path):
            raise Impossible(f"`{text[:60]}` leads above the top of the file")
        return self._follow_path((*(path[:-dots] if dots else ()), *_KEY.findall(keys)))

    def _follow_path(self, keys: Path) -> tuple[Value, Path]:
        value, value_path = self._resolve_value(self.root, ())
        for position, key in enumerate(keys):
            child: Value | None = None
            if isinstance(value, MapNode):
                child = value.get(key)
            elif isinstance(value, ListNode) and key.isascii() and key.isdecimal() and len(key) < 9:
                child = value.items[int(key)] if int(key) < len(value.items) else None
            if child is None:
                name = ".".join(keys)
                if self.partial:
                    raise Unknown(f"`{name[:80]}` is not in this file; it may come from `defaults`")
                default = self.default_of(".".join((*value_path, *keys[position:]))) if self.default_of else None
                if default is None:
                    raise UnresolvedKey(name)
                return self._follow_path(tuple(default.split("."))) if isinstance(default, str) else (default, keys)
            value, value_path = self._resolve_value(child, (*value_path, key))
        return value, value_path

    def _resolve_value(self, value: Value, path: Path) -> tuple[Value, Path]:
        return self._resolve(value, path) if isinstance(value, Scalar) else (value, path)

    # -- resolvers

    def _call(self, call: Call, scalar: Scalar, path: Path) -> Plain:
        if call.name == "oc.env":
            return self._variable(call, scalar, path)
        if call.name == "oc.select":
            return self._select(call, scalar, path)
        if self.resolvers is not None and call.name not in self.resolvers and not _STANDARD.fullmatch(call.name):
            raise Impossible(f"its program registers no resolver `{call.name[:60]}`")
        if call.name not in RESOLVERS:
            raise Unknown(f"`{call.name[:60]}` is not among the resolvers that are computed")
        try:
            value = RESOLVERS[call.name](tuple(self._argument(call, i, scalar, path) for i in range(len(call.arguments))))
            if isinstance(value, (int, float)) and not abs(value) <= MAX_NUMBER:
                raise CannotCompute(f"`{call.name}` gives a number beyond {MAX_NUMBER:,}")
            return value
        except ProvedWrong as problem:
            raise Impossible(str(problem)) from None
        except CannotCompute as problem:
            raise Unknown(str(problem)) from None

    def _argument(self, call: Call, position: int, scalar: Scalar, path: Path) -> Plain:
        parts = call.arguments[position]
        if not call.quoted[position] and parts and isinstance(parts[0], str) and parts[0][0] in "[{":
            raise Unknown(f"`{call.name}` of a map or a list is not computed")
        if len(parts) == 1 and isinstance(parts[0], str):
            return parts[0] if call.quoted[position] else primitive(parts[0])
        pieces = [self._part(part, scalar, path)[0] for part in parts]
        if len(pieces) != 1 or call.quoted[position]:
            return _join(pieces)
        if not isinstance(pieces[0], Scalar):
            raise Unknown(f"`{call.name}` of a map or a list is not computed")
        return _plain(pieces[0])

    def _variable(self, call: Call, scalar: Scalar, path: Path) -> Plain:
        if not call.arguments or not all(isinstance(part, str) for part in call.arguments[0]):
            raise Unread("an environment variable whose name is not written out is not read")
        name = str(self._argument(call, 0, scalar, path))
        is_readable = self._unread.isdisjoint(self._leaf_at)
        if self._assumes_unset and name not in self.environment.values and len(call.arguments) == 2 and is_readable:
            note = taken_as_not_set(name, "its default counts")
            self.unchecked += [note] if note not in self.unchecked else []
            default = self._argument(call, 1, scalar, path)
            return None if default is None else str(default)
        if name not in self.environment.values or not is_readable:
            raise Unread(f"the environment variable `{name[:60]}` is not read: `--allow-env` does not name it, or it is not set")
        self._read.append(name)
        value = self.environment.values[name]
        if not Environment.may_be_judged(value):
            raise Unread(f"the environment variable `{name[:60]}` holds text, which is not shown and so not judged")
        return value

    def _select(self, call: Call, scalar: Scalar, path: Path) -> Plain:
        key = self._argument(call, 0, scalar, path) if call.arguments else ""
        if not isinstance(key, str) or len(call.arguments) > 2:
            raise Impossible("`oc.select` takes a key and a default")
        try:
            value, _ = self._refer(Reference((key,)), scalar, path)
        except UnresolvedKey as problem:
            if not problem.key.endswith(".".join(_KEY.findall(key))):  # a key behind it
                raise
            return self._argument(call, 1, scalar, path) if len(call.arguments) > 1 else None
        if not isinstance(value, Scalar):
            raise Unknown("`oc.select` of a map or a list is not followed")
        return _plain(value)


def stands_for_another(scalar: Scalar) -> bool:
    """Return True if the value of a scalar differs from its text."""
    return scalar.tag == UNRESOLVED or holds_interpolation(scalar.text) or scalar.text == MANDATORY


def _plain(scalar: Scalar) -> Plain:
    value = scalar.value
    return value if isinstance(value, (int, float, str)) or value is None else scalar.text


def _join(pieces: list[Value]) -> str:
    texts = []
    for piece in pieces:
        if not isinstance(piece, Scalar):
            raise Unknown("a map or a list inside a text is not followed")
        texts.append(str(_plain(piece)))
    if sum(map(len, texts)) > MAX_TEXT:
        raise Unknown(f"the text becomes longer than {MAX_TEXT:,} characters")
    return "".join(texts)


def _size(value: Value) -> int:
    if isinstance(value, Scalar):
        return 1
    children = value.items if isinstance(value, ListNode) else [entry.value for entry in value]
    return 1 + sum(map(_size, children))
