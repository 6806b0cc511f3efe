"""What the named interpolations compute: `${multiply:2,${a}}`, `${not:...}`, `${oc.decode:...}`. A list, not a language.

Sources: OmegaConf (oc.* resolvers and the grammar of primitives); RLinf, rlinf/scheduler/worker/worker.py and rlinf/utils (multiply, subtract, int_div, not).
"""

from __future__ import annotations

import re
from typing import Callable, Mapping, Union

from ..findings.span import Span
from ..findings.wording import with_noun
from .tree import Scalar

Plain = Union[int, float, bool, str, None]
MAX_NUMBER = 10**18
_CORE = "tag:yaml.org,2002:"
_INTEGER = re.compile(r"[+-]?(0|[1-9](_?[0-9])*)", re.ASCII)
_FLOAT = re.compile(r"[+-]?([0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))([eE][+-]?[0-9]+)?", re.ASCII)
_WORDS: Mapping[str, Plain] = {"true": True, "false": False, "null": None}


class CannotCompute(ValueError):
    """The arguments do not fit what is known of the resolver; the message is for a person."""


class ProvedWrong(CannotCompute):
    """The resolver itself must fail on these arguments."""


def primitive(text: str) -> Plain:
    """The value of an unquoted argument: a number, true, false, null, else text."""
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    if len(text) <= 18 and _INTEGER.fullmatch(text):
        return int(text)
    if len(text) <= 64 and _FLOAT.fullmatch(text):
        return float(text)
    return text


def as_scalar(value: Plain, span: Span, origin: Span | None = None) -> Scalar:
    """The value as a leaf of the tree."""
    if value is None:
        return Scalar("null", _CORE + "null", span, origin)
    name = type(value).__name__
    return Scalar(str(value).lower() if isinstance(value, bool) else str(value), _CORE + name, span, origin)


def _arity(name: str, arguments: tuple[Plain, ...], count: int) -> None:
    if len(arguments) != count:
        raise CannotCompute(f"`{name}` is known with {with_noun(count, 'argument')}, not {len(arguments)}")


def _numbers(name: str, arguments: tuple[Plain, ...]) -> tuple[int | float, int | float]:
    _arity(name, arguments, 2)
    one, other = arguments
    if not isinstance(one, (int, float)) or not isinstance(other, (int, float)):
        raise CannotCompute(f"`{name}` is known for numbers, not for {one!r} and {other!r}")
    return one, other


def _multiply(arguments: tuple[Plain, ...]) -> Plain:
    one, other = _numbers("multiply", arguments)
    return one * other


def _subtract(arguments: tuple[Plain, ...]) -> Plain:
    one, other = _numbers("subtract", arguments)
    return one - other


def _int_div(arguments: tuple[Plain, ...]) -> Plain:
    one, other = _numbers("int_div", arguments)
    if not other:
        raise ProvedWrong(f"`int_div` divides {one} by zero")
    return one // other


def _not(arguments: tuple[Plain, ...]) -> Plain:
    _arity("not", arguments, 1)
    return not arguments[0]


def _decode(arguments: tuple[Plain, ...]) -> Plain:
    _arity("oc.decode", arguments, 1)
    value = arguments[0]
    if value is not None and not isinstance(value, str):
        raise ProvedWrong(f"`oc.decode` takes text, not {value!r}")
    if isinstance(value, str) and value[:1] in ("'", '"', "[", "{"):
        raise CannotCompute("`oc.decode` of quoted text, a list or a map is not computed")
    return primitive(value) if isinstance(value, str) else value


RESOLVERS: Mapping[str, Callable[[tuple[Plain, ...]], Plain]] = {
    "multiply": _multiply,
    "subtract": _subtract,
    "int_div": _int_div,
    "not": _not,
    "oc.decode": _decode,
}


def compute(name: str, arguments: tuple[Plain, ...]) -> Plain:
    """What a resolver of RESOLVERS gives. Raises CannotCompute, or ProvedWrong where it must fail."""
    value = RESOLVERS[name](arguments)
    if isinstance(value, (int, float)) and not abs(value) <= MAX_NUMBER:
        raise CannotCompute(f"`{name}` gives a number beyond {MAX_NUMBER:,}")
    return value
