"""A `device_mapping` text, read as Python reads it, but never run: a whitelist over Python's own syntax tree.

ROLL gives the text to `eval` (roll/configs/worker_config.py, WorkerConfig.__post_init__). Of that language only what names
device ids is read here: whole numbers, lists and tuples, `list()`, `tuple()`, `range()`, `+`, `*`, slices, and a comprehension
over one range. Nothing is expanded: ids stay progressions, and how many there are is known before any is made.
"""

from __future__ import annotations

import ast
import re
import warnings
from dataclasses import dataclass

from .evaluate import AT_CREATION, AT_LOAD, Evaluation
from .fault import Fault, Place, Refused, Written
from .ids import Ids
from .limits import MAX_ID, too_much
from .values import Listed, Value
from .written import text_of

_SLICED = ("list", "tuple", "range", "str")
"""What ROLL can cut the ids of a worker out of."""
_RANKS = re.compile(r"\s*\d{1,9}(?:\s*-\s*\d{1,9})?(?:\s*,\s*\d{1,9}(?:\s*-\s*\d{1,9})?)*\s*", re.ASCII)
"""Ranks as other frameworks write them: `0-7,16-23`."""


@dataclass(frozen=True)
class Expression:
    """What a text says: its ids, None where it says none; and what is wrong with it.

    `kind` is Python's name for what ROLL gets: ``list``, ``tuple``, ``range``, ``set`` and so on; "" if it is not known.
    """

    ids: Ids | None
    kind: str = ""
    faults: tuple[Fault, ...] = ()

    @property
    def good(self) -> bool:
        """Does ROLL take it as it is?"""
        return self.ids is not None and not any(fault.fails for fault in self.faults)


def read_expression(text: str) -> Expression:
    """The ids of a text. Never raises; the cost grows with its length and with the progressions in it."""
    whole = Place(0, len(text))
    if why := too_much(text):
        return Expression(None, faults=(Fault(whole, f"a `device_mapping` that {why} is not read", "not read"),))
    shift = len(text) - len(text.lstrip(" \t"))  # as `eval` does
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text[shift:], mode="eval")
    except SyntaxError as problem:
        return Expression(None, faults=(_no_python(text, shift, problem),))
    except (ValueError, MemoryError, RecursionError):
        return Expression(None, faults=(Fault(whole, "this is no Python expression that can be read", "not Python"),))
    evaluation = Evaluation(Written(text, shift))
    try:
        found = evaluation.value(tree.body)
    except Refused as refused:
        return Expression(None, faults=(*evaluation.faults, refused.fault))
    return _judged(text, found, whole, evaluation.faults)


def _judged(text: str, found: Value, whole: Place, faults: list[Fault]) -> Expression:
    """What ROLL makes of a value."""
    if not isinstance(found, Listed):
        message = f"this is the number {found.number}, and ROLL takes `len()` of it, which is a TypeError"
        better = _from_ranks(text) or f"[{found.number}]"
        return Expression(None, "int", (*faults, Fault(whole, message, "no list", better, when=AT_LOAD)))
    ids, kind = found.ids, found.kind
    if kind not in _SLICED:
        when = AT_LOAD if kind == "generator" else AT_CREATION
        message = f"ROLL cuts the ids of each worker out of this {kind}, which is a TypeError"
        faults.append(Fault(whole, message, f"a {kind}", text_of(ids), when=when))
    elif ids.lowest < 0:
        message = f"{ids.lowest} is no device id: ROLL looks for a node of that number, which is a KeyError"
        faults.append(Fault(whole, message, "below 0", _from_ranks(text), when=AT_CREATION))
        ids = Ids.of(_from_zero(part) for part in ids.parts)
    return Expression(ids, kind, tuple(faults))


def _from_zero(part: range) -> range:
    """The ids of a progression that are not negative."""
    if min(part[0], part[-1]) >= 0:
        return part
    below = sum(1 for each in part if each < 0)
    return part[below:] if part.step > 0 else part[: len(part) - below]


def _no_python(text: str, shift: int, problem: SyntaxError) -> Fault:
    """Text that Python cannot parse."""
    if not text.strip():
        return Fault(Place(0, len(text)), "nothing is written here, and ROLL's `eval` of nothing is a SyntaxError", "empty", when=AT_LOAD)
    written = Written(text, shift)
    line, column = problem.lineno or 1, max((problem.offset or 1) - 1, 0)
    start = min(written.line_start(line) + column, len(text) - 1)
    message = f"this is no Python expression: {problem.msg[:80]}"
    fault = Fault(Place(start, start + 1), message, "not Python", when=AT_LOAD)
    for better in (_closed(text), _from_ranks(text)):
        if better:
            return Fault(Place(0, len(text)), message, "not Python", better, when=AT_LOAD)
    return fault


def _closed(text: str) -> str:
    """The text with the brackets closed that are open; "" if that does not make it right."""
    open_: list[str] = []
    for letter in text:
        if letter in "([{":
            open_.append({"(": ")", "[": "]", "{": "}"}[letter])
        elif letter in ")]}" and (not open_ or open_.pop() != letter):
            return ""
    better = text.rstrip() + "".join(reversed(open_))
    return better if open_ and read_expression(better).good else ""


def _from_ranks(text: str) -> str:
    """`list(range(0,8))` for `0-7`, which means -7 to Python; "" if the text is nothing of that kind."""
    if not _RANKS.fullmatch(text) or "-" not in text:
        return ""
    parts = []
    for piece in text.split(","):
        first, _, last = piece.partition("-")
        parts.append(range(int(first), int(last or first) + 1))
    return text_of(Ids.of(parts)) if all(parts) and max(part[-1] for part in parts) < MAX_ID else ""
