"""The whitelist: what each node of Python's syntax tree stands for in a `device_mapping`, and the faults in it."""

from __future__ import annotations

import ast
import re
from typing import Iterable, NamedTuple, Union

from ...record import dataclass
from ...text.nearest import nearest
from .ids import Ids

# How much of a `device_mapping` is looked at, before Python's parser sees any of it.

MAX_TEXT = 65_536
MAX_NESTING = 16
MAX_BRACKETS = 1_024
MAX_OPERATORS = 256
MAX_IDS = 1 << 18
"""The most device ids of one role; an own limit, no cluster is near it."""
MAX_PARTS = 1 << 14
"""The most progressions that they are put together of."""
MAX_ID = 1 << 31
"""Numbers from here on are no device ids."""

_OPERATOR = re.compile(r"[-+*~^|&%/<>=@.!:]|\b(?:not|if|else|lambda|await|yield|for|or|and|in|is)\b")


def too_much(text: str) -> str:
    """What is too much about a text to be parsed, as the rest of the sentence "it ..."; "" if nothing is."""
    if len(text) > MAX_TEXT:
        return f"is longer than {MAX_TEXT:,} characters"
    depth = deepest = 0
    for letter in text:
        if letter in "([{":
            depth += 1
            deepest = max(deepest, depth)
        elif letter in ")]}":
            depth -= 1
    if deepest > MAX_NESTING:
        return f"nests {deepest} brackets in each other, more than {MAX_NESTING}"
    if sum(map(text.count, "([{")) > MAX_BRACKETS:
        return f"has more than {MAX_BRACKETS:,} brackets"
    if sum(1 for _ in _OPERATOR.finditer(text)) > MAX_OPERATORS:
        return f"has more than {MAX_OPERATORS} operators"
    return ""


# What a part of a `device_mapping` stands for: a number, or a list of device ids that is not expanded.


@dataclass(frozen=True, slots=True)
class Number:
    """A whole number."""

    number: int


@dataclass(frozen=True, slots=True)
class Listed:
    """Several numbers in order; `kind` is Python's name for what holds them."""

    ids: Ids
    kind: str


Evaluated = Union[Number, Listed]


# What is wrong with a part of a `device_mapping`, and where in the text it stands.


class Place(NamedTuple):
    """The characters `start` to `end` (exclusive) of a text."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is wrong.

    `label` is what stands there, `better` what could stand there instead, "" if that is not known; `fails` tells whether ROLL is
    proved to fail or the text is not read at all, else it is a warning; `when` is when ROLL notices, as a sentence.
    """

    place: Place
    message: str
    label: str
    better: str = ""
    fails: bool = True
    when: str = ""


class Refused(Exception):
    """Raised where a text cannot be read on."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.message)
        self.fault = fault


class Written:
    """The text that a syntax tree was made of; `shift` characters before it were left out."""

    def __init__(self, text: str, shift: int) -> None:
        self.text = text
        self._shift = shift
        self._lines = text[shift:].splitlines(keepends=True)
        self._starts = [shift]
        for line in self._lines:
            self._starts.append(self._starts[-1] + len(line))

    def line_start(self, line: int) -> int:
        """The first character of a line (from 1)."""
        return self._starts[min(max(line, 1), len(self._starts)) - 1]

    def at(self, line: int, column: int) -> int:
        """The character at a line (from 1) and a column in bytes, as Python's parser counts them."""
        if not 1 <= line <= len(self._lines):
            return len(self.text)
        return self._starts[line - 1] + len(self._lines[line - 1].encode()[:column].decode(errors="ignore"))

    def place(self, node: ast.expr) -> Place:
        """Where a node stands."""
        return Place(self.at(node.lineno, node.col_offset), self.at(node.end_lineno or node.lineno, node.end_col_offset or 0))

    def of(self, node: ast.expr) -> str:
        """The text of a node, cut short."""
        start, end = self.place(node)
        text = " ".join(self.text[start:end].split())
        return text if len(text) <= 40 else f"{text[:37]}..."


# Whole numbers in a `device_mapping`: never so large that computing with them costs anything.


def number_of(value: Evaluated, node: ast.expr, written: Written) -> int:
    """The number that a node stands for. Raises Refused where it is a list, or no number below the limit."""
    if not isinstance(value, Number):
        message = f"`{written.of(node)}` is a {value.kind} where one whole number must be: a TypeError in Python"
        raise Refused(Fault(written.place(node), message, f"a {value.kind}"))
    if abs(value.number) >= MAX_ID:
        raise Refused(Fault(written.place(node), f"`{written.of(node)}` is larger than any device id", "too large"))
    return value.number


def computed(node: ast.BinOp, left: int, right: int, written: Written) -> int:
    """`+`, `-`, `*`, `//` and `%` of two numbers. Raises Refused for any other operator."""
    if isinstance(node.op, ast.Add):
        found = left + right
    elif isinstance(node.op, ast.Sub):
        found = left - right
    elif isinstance(node.op, ast.Mult):
        found = left * right
    elif isinstance(node.op, (ast.FloorDiv, ast.Mod)) and right:
        found = left // right if isinstance(node.op, ast.FloorDiv) else left % right
    elif isinstance(node.op, (ast.FloorDiv, ast.Mod)):
        raise Refused(Fault(written.place(node), f"`{written.of(node)}` divides by zero", "a ZeroDivisionError"))
    else:
        message = f"`{written.of(node)}` is not computed: of numbers only `+`, `-`, `*`, `//` and `%` are"
        raise Refused(Fault(written.place(node), message, "not read"))
    return number_of(Number(found), node, written)


# `[i + 8 for i in range(8)]`: a progression again, where the element grows evenly with the variable.

_Line = tuple[int, int]
"""(by how much it grows with the variable, what it is where the variable is 0)."""


def comprehended(element: ast.expr, variable: str, parts: Iterable[range]) -> list[range] | None:
    """What the element is for every value of the variable, in order; None where it does not grow evenly."""
    line = _line(element, variable)
    if line is None or max(map(abs, line)) >= MAX_ID:
        return None
    slope, start = line
    found: list[range] = []
    for part in parts:
        if not slope:
            found += [range(start, start + 1)] * len(part)
        elif part:
            step = part.step * slope
            found.append(range(part[0] * slope + start, part[-1] * slope + start + (1 if step > 0 else -1), step))
    return found


def _line(node: ast.expr, variable: str) -> _Line | None:
    if isinstance(node, ast.Name) and node.id == variable:
        return 1, 0
    if isinstance(node, ast.Constant) and type(node.value) is int and abs(node.value) < MAX_ID:
        return 0, node.value
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = _line(node.operand, variable)
        return (-inner[0], -inner[1]) if inner else None
    if isinstance(node, ast.BinOp):
        left, right = _line(node.left, variable), _line(node.right, variable)
        if left is None or right is None:
            return None
        if isinstance(node.op, ast.Add):
            return left[0] + right[0], left[1] + right[1]
        if isinstance(node.op, ast.Sub):
            return left[0] - right[0], left[1] - right[1]
        if isinstance(node.op, ast.Mult) and not (left[0] and right[0]):
            return left[0] * right[1] + right[0] * left[1], left[1] * right[1]
    return None


# The whitelist: what each node of Python's syntax tree stands for in a `device_mapping`. Everything else is refused.

AT_LOAD = "ROLL fails when it loads the configuration"
AT_CREATION = "ROLL notices this only when it creates the workers, after Ray is up and the nodes are reserved"
_HOLDERS = ("list", "tuple")
_READ = "`list()`, `range()`, lists, `+`, `*` and slices"


class Evaluation:
    """One text; `faults` gets what can be read past."""

    def __init__(self, written: Written) -> None:
        self.written = written
        self.faults: list[Fault] = []

    def value(self, node: ast.expr) -> Evaluated:
        """What a node stands for. Raises Refused."""
        if isinstance(node, ast.Constant):
            return self._constant(node)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
            return Number(number_of(self.value(node.operand), node, self.written) * (-1 if isinstance(node.op, ast.USub) else 1))
        if isinstance(node, ast.BinOp):
            return self._operation(node)
        if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
            return self._display(node)
        if isinstance(node, ast.Call):
            return self._call(node)
        if isinstance(node, (ast.ListComp, ast.GeneratorExp)):
            return self._comprehension(node)
        if isinstance(node, ast.Subscript):
            return self._subscript(node)
        raise self.refused(node)

    def listed(self, node: ast.expr, what: str) -> Listed:
        """The list that a node stands for. Raises Refused where it is none."""
        found = self.value(node)
        if isinstance(found, Listed):
            return found
        raise self.wrong(
            node, f"`{what}` needs several ids, but `{self.written.of(node)}` is one number", "one number", f"[{found.number}]"
        )

    def refused(self, node: ast.expr, better: str = "") -> Refused:
        """What is not on the whitelist."""
        text = self.written.of(node)
        message = f"`{text}` is not read: only {_READ} are, and ROLL's `eval` would run it as code"
        return Refused(Fault(self.written.place(node), message, "not read", better))

    def wrong(self, node: ast.expr, message: str, label: str, better: str = "") -> Refused:
        """What Python itself refuses, so that ROLL fails too."""
        return Refused(Fault(self.written.place(node), message, label, better, when=AT_LOAD))

    # -- one node

    def _constant(self, node: ast.Constant) -> Evaluated:
        value = node.value
        if isinstance(value, bool):
            message = f"`{value}` is no device id; Python counts it as {int(value)}"
            self.faults.append(Fault(self.written.place(node), message, f"this is {int(value)}", str(int(value)), fails=False))
            return Number(int(value))
        if isinstance(value, int):
            return Number(number_of(Number(value), node, self.written))
        if isinstance(value, float) and value.is_integer() and abs(value) < MAX_IDS:
            message = f"`{self.written.of(node)}` is no device id: ids are whole numbers, and ROLL would name the device `{value}`"
            self.faults.append(Fault(self.written.place(node), message, "no whole number", str(int(value)), when=AT_CREATION))
            return Number(int(value))
        if isinstance(value, str) and not value:
            return Listed(Ids(), "str")
        if isinstance(value, str):
            number = value if value.isascii() and value.isdecimal() and len(value) < 9 else ""
            message = f"`{self.written.of(node)}` is text: ROLL compares it with numbers, which is a TypeError"
            raise self.wrong(node, message, "text", str(int(number)) if number else "")
        if value is None:
            raise self.wrong(node, "ROLL takes `len()` of `None`, which is a TypeError", "no list")
        raise self.wrong(node, f"`{self.written.of(node)}` is no device id", "no device id")

    def _operation(self, node: ast.BinOp) -> Evaluated:
        """Sums are taken from the left without recursion."""
        chain: list[ast.BinOp] = []
        first: ast.expr = node
        while isinstance(first, ast.BinOp):
            chain.append(first)
            first = first.left
        found = self.value(first)
        for each in reversed(chain):
            found = self._combined(each, found, self.value(each.right))
        return found

    def _combined(self, node: ast.BinOp, left: Evaluated, right: Evaluated) -> Evaluated:
        if isinstance(left, Number) and isinstance(right, Number):
            return Number(computed(node, left.number, right.number, self.written))
        if isinstance(node.op, ast.Add) and isinstance(left, Listed) and isinstance(right, Listed):
            if left.kind == right.kind and left.kind in _HOLDERS:
                return self._held(node, (*left.ids.parts, *right.ids.parts), left.kind)
            operand = node.right if left.kind == "list" else node.left
            better = (
                f"list({self.written.of(operand)})" if "list" in (left.kind, right.kind) and "..." not in self.written.of(operand) else ""
            )
            message = f"a {left.kind} and a {right.kind} cannot be added: a TypeError in Python"
            raise self.wrong(operand, message, f"a {right.kind if operand is node.right else left.kind}", better)
        if isinstance(node.op, ast.Mult):
            held, times = (left, right) if isinstance(left, Listed) else (right, left)
            if isinstance(held, Listed) and isinstance(times, Number) and held.kind in _HOLDERS:
                count = max(times.number, 0)
                if held.ids.count * count > MAX_IDS:
                    raise self._too_many(node, held.ids.count * count)
                return self._held(node, held.ids.parts * count, held.kind)
        raise self.wrong(node, f"`{self.written.of(node)}` is a TypeError in Python", "cannot be computed")

    def _display(self, node: ast.List | ast.Tuple | ast.Set) -> Evaluated:
        parts: list[range] = []
        for item in node.elts:
            if isinstance(item, ast.Starred):
                parts += self.listed(item.value, "*").ids.parts
                continue
            found = self.value(item)
            if isinstance(found, Listed):
                message = f"`{self.written.of(item)}` is a list inside of a list: ROLL compares it with numbers, which is a TypeError"
                fault = Fault(self.written.place(item), message, "a list", f"*{self.written.of(item)}", when=AT_LOAD)
                self.faults.append(fault)
                parts += found.ids.parts
            else:
                parts.append(range(found.number, found.number + 1))
        if isinstance(node, ast.Set):
            ids = self._held(node, parts, "set").ids
            return Listed(Ids(ids.ranges), "set")
        return self._held(node, parts, "tuple" if isinstance(node, ast.Tuple) else "list")

    def _call(self, node: ast.Call) -> Evaluated:
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if name not in (*_HOLDERS, "range") or node.keywords or any(isinstance(each, ast.Starred) for each in node.args):
            close = nearest(name, ("list", "range")) if name and name not in (*_HOLDERS, "range") else None
            raise self.refused(node.func if close else node, close or "")
        if name == "range":
            return self._range(node)
        if len(node.args) > 1:
            better = f"{name}([{', '.join(map(self._whole_text, node.args))}])"
            raise self.wrong(node, f"`{name}()` takes one argument, but {len(node.args)} are given", "a TypeError", better)
        inner = self.listed(node.args[0], f"{name}()") if node.args else Listed(Ids(), name)
        return Listed(inner.ids, name)

    def _whole_text(self, node: ast.expr) -> str:
        start, end = self.written.place(node)
        return self.written.text[start:end]

    def _range(self, node: ast.Call) -> Evaluated:
        if not 1 <= len(node.args) <= 3:
            raise self.wrong(node, f"`range()` takes 1 to 3 numbers, but {len(node.args)} are given", "a TypeError")
        before = len(self.faults)
        numbers = [number_of(self.value(each), each, self.written) for each in node.args]
        if floats := [fault for fault in self.faults[before:] if fault.fails]:
            raise Refused(Fault(floats[0].place, "`range()` takes whole numbers alone", "no whole number", floats[0].better, when=AT_LOAD))
        if len(numbers) == 3 and not numbers[2]:
            raise self.wrong(node.args[2], "the step of a range cannot be 0: a ValueError in Python", "a step of 0", "1")
        return self._held(node, (range(*numbers),), "range")

    def _comprehension(self, node: ast.ListComp | ast.GeneratorExp) -> Evaluated:
        (one, *more) = node.generators
        if more or one.ifs or one.is_async or not isinstance(one.target, ast.Name):
            raise self.refused(node)
        source = self.listed(one.iter, "for")
        parts = comprehended(node.elt, one.target.id, source.ids.parts)
        if parts is None:
            raise self.refused(node.elt)
        return self._held(node, parts, "list" if isinstance(node, ast.ListComp) else "generator")

    def _subscript(self, node: ast.Subscript) -> Evaluated:
        held = self.listed(node.value, "[]")
        if held.kind in ("set", "generator"):
            raise self.wrong(node, f"a {held.kind} cannot be indexed: a TypeError in Python", f"a {held.kind}")
        if isinstance(node.slice, ast.Slice):
            bounds = [
                None if each is None else number_of(self.value(each), each, self.written)
                for each in (node.slice.lower, node.slice.upper, node.slice.step)
            ]
            if bounds[2] == 0:
                raise self.wrong(node, "the step of a slice cannot be 0: a ValueError in Python", "a step of 0")
            return Listed(held.ids.sliced(slice(*bounds)), held.kind)
        position = number_of(self.value(node.slice), node.slice, self.written)
        if not -held.ids.count <= position < held.ids.count:
            raise self.wrong(node, f"there is no item {position} among {held.ids.count}: an IndexError in Python", "no such item")
        return Number(held.ids.listed[position])

    def _held(self, node: ast.expr, parts: Iterable[range], kind: str) -> Listed:
        each = tuple(parts)
        count = sum(map(_length, each))
        if count > MAX_IDS:
            raise self._too_many(node, count)
        ids = Ids.of(each)
        if len(ids.parts) > MAX_PARTS:
            message = (
                f"`{self.written.of(node)}` is put together of {len(ids.parts):,} stretches of ids; more than {MAX_PARTS:,} are not read"
            )
            raise Refused(Fault(self.written.place(node), message, "too many"))
        return Listed(ids, kind)

    def _too_many(self, node: ast.expr, count: int) -> Refused:
        message = f"`{self.written.of(node)}` names {count:,} device ids; more than {MAX_IDS:,} are not read"
        return Refused(Fault(self.written.place(node), message, "too many"))


def _length(part: range) -> int:
    return max(0, -(-(part.stop - part.start) // part.step))
