"""A `device_mapping`: its text, read as Python reads it but never run, and every fault at its character with what mends it.

ROLL gives the text to `eval` (roll/configs/worker_config.py, WorkerConfig.__post_init__). Of that language only what names
device ids is read: whole numbers, lists, tuples, `list()`, `tuple()`, `range()`, `+`, `*`, slices, and a comprehension.
"""

from __future__ import annotations

import ast
import operator
import re
import warnings
from collections import Counter
from typing import Iterable, NamedTuple, Union

from ...configuration.notes import Notes, Text, is_unknown
from ...findings.span import Edit, Span
from ...record import dataclass
from ...text.nearest import nearest
from ...text.scalar_text import plain_or_quoted
from ...text.tree import Entry, Mapping, Scalar, Sequence, Value, kind_of
from .ids import Ids, text_of
from .names import AT_CREATION, AT_LOAD, DEVICES

MAX_TEXT, MAX_NESTING, MAX_BRACKETS, MAX_OPERATORS = 65_536, 16, 1_024, 256
"""Own limits on a text, before Python's parser sees it."""
MAX_IDS, MAX_PARTS, MAX_COMPREHENDED = 1 << 18, 1 << 14, 1 << 12
"""Own limits on the ids of a role, on their progressions, and on the elements of a comprehension."""
MAX_ID = 1 << 31
"""Numbers from here on are no device ids."""
_OPERATOR = re.compile(r"[-+*~^|&%/<>=@.!:]|\b(?:not|if|else|lambda|await|yield|for|or|and|in|is)\b")
_RANKS = re.compile(r"\s*\d{1,9}(?:\s*-\s*\d{1,9})?(?:\s*,\s*\d{1,9}(?:\s*-\s*\d{1,9})?)*\s*", re.ASCII)
"""Ranks as other frameworks write them: `0-7,16-23`."""
_ARITHMETIC = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod,
}  # fmt: skip
_SUMS = ("list", "tuple")
"""Types that `+` and `*` take."""
_OF_ELEMENT = (ast.Name, ast.Constant, ast.BinOp, ast.UnaryOp, ast.operator, ast.unaryop, ast.expr_context)
"""Nodes in the element of a comprehension."""


class Place(NamedTuple):
    """Characters `start` to `end` (exclusive) of a text."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong: its label, `better` text for its place ("" if unknown), and when ROLL notices."""

    place: Place
    message: str
    label: str
    better: str = ""
    when: str = ""


@dataclass(frozen=True, slots=True)
class Expression:
    """The ids that a text names, as far as they are known, and what is wrong with it."""

    ids: Ids | None
    fault: Fault | None = None


@dataclass(frozen=True, slots=True)
class Listed:
    """Several numbers in order; `kind` is Python's name of their type."""

    ids: Ids
    kind: str


class Refused(Exception):
    """Raised where a text cannot be read on."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.message)
        self.fault = fault


def read_expression(text: str) -> Expression:
    """The ids of a text. Never raises; the cost grows with its length and with the progressions in it."""
    whole, shift = Place(0, len(text)), len(text) - len(text.lstrip(" \t"))
    if not text.strip():
        return _faulty(whole, "nothing is written here, and ROLL's `eval` of nothing is a SyntaxError", "empty", when=AT_LOAD)
    if is_too_much(text):
        return _faulty(whole, "a `device_mapping` of this length or nesting is not read", "not read")
    if strange := re.search(r"[^\x01-\x7f]", text):
        return _faulty(Place(*strange.span()), f"{strange.group()!a} is no ASCII character", "not read")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text[shift:], mode="eval")
        value = _Evaluation(text, shift).value(tree.body)
    except SyntaxError as problem:
        return _no_python(text, shift, problem)
    except Refused as refused:
        return Expression(None, refused.fault)
    except (ValueError, MemoryError, RecursionError):
        return _faulty(whole, "this is no Python expression that can be read", "not Python")
    if not isinstance(value, Listed):
        message = f"this is the number {value}, and ROLL takes `len()` of it, which is a TypeError"
        return _faulty(whole, message, "no list", _from_ranks(text) or f"[{value}]", AT_LOAD)
    if value.kind in ("set", "generator"):
        message = f"ROLL cuts the ids of each worker out of this {value.kind}, which is a TypeError"
        when = AT_LOAD if value.kind == "generator" else AT_CREATION
        return Expression(value.ids, Fault(whole, message, f"a {value.kind}", text_of(value.ids), when))
    if value.ids.lowest < 0:
        message = f"{value.ids.lowest} is no device id: ROLL looks for a node of that number, which is a KeyError"
        ids = Ids.of(range(each, each + 1) for each in value.ids if each >= 0)
        return Expression(ids, Fault(whole, message, "below 0", _from_ranks(text), AT_CREATION))
    return Expression(value.ids)


def _faulty(place: Place, message: str, label: str, better: str = "", when: str = "") -> Expression:
    return Expression(None, Fault(place, message, label, better, when))


def is_too_much(text: str) -> bool:
    """True if a text is too long or nested for Python's parser to be safe."""
    depth = deepest = 0
    for letter in text[:MAX_TEXT]:
        depth += (letter in "([{") - (letter in ")]}")
        deepest = max(deepest, depth)
    operators = sum(1 for _ in _OPERATOR.finditer(text[:MAX_TEXT]))
    brackets = sum(map(text.count, "([{"))
    return len(text) > MAX_TEXT or deepest > MAX_NESTING or brackets > MAX_BRACKETS or operators > MAX_OPERATORS


def _no_python(text: str, shift: int, problem: SyntaxError) -> Expression:
    """Text that Python cannot parse; a missing bracket and ranks such as `0-7,9` are put right."""
    message = f"this is no Python expression: {problem.msg[:80]}"
    closing = {"(": ")", "[": "]", "{": "}"}
    open_: list[str] = []
    for letter in text:
        if letter in closing:
            open_.append(closing[letter])
        elif letter in closing.values() and open_:
            open_.pop()
    closed = text.rstrip() + "".join(reversed(open_))
    better = closed if open_ and read_expression(closed).fault is None else _from_ranks(text)
    if better:
        return _faulty(Place(0, len(text)), message, "not Python", better, AT_LOAD)
    lines = _line_starts(text, shift)
    start = min(lines[min(problem.lineno or 1, len(lines)) - 1] + max((problem.offset or 1) - 1, 0), len(text) - 1)
    return _faulty(Place(start, start + 1), message, "not Python", when=AT_LOAD)


def _from_ranks(text: str) -> str:
    """`list(range(0,8))` for `0-7`, which means -7 to Python; "" for anything else."""
    if not _RANKS.fullmatch(text) or "-" not in text:
        return ""
    pieces = [piece.partition("-") for piece in text.split(",")]
    parts = [range(int(first), int(last or first) + 1) for first, _, last in pieces]
    return text_of(Ids.of(parts)) if all(parts) and max(part[-1] for part in parts) < MAX_ID else ""


def _line_starts(text: str, shift: int) -> list[int]:
    """Positions of the first characters of its lines, blanks before the expression left out."""
    return [shift, *(each.end() for each in re.finditer(r"\r\n|\r|\n", text))]


class _Evaluation:
    """Values of the nodes of one text; whatever is not on the whitelist is Refused."""

    def __init__(self, text: str, shift: int) -> None:
        self.text, self.lines = text, _line_starts(text, shift)
        self.variables: dict[str, int] = {}

    def value(self, node: ast.expr) -> Union[int, Listed]:
        """The number, or the numbers, that a node stands for."""
        if isinstance(node, ast.Constant):
            return self._constant(node)
        if isinstance(node, ast.Name) and node.id in self.variables:
            return self.variables[node.id]
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
            return self._number(node.operand) * (-1 if isinstance(node.op, ast.USub) else 1)
        if isinstance(node, ast.BinOp):
            return self._operation(node)
        if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
            parts = [part for item in node.elts for part in self._item(item)]
            found = self._held(node, parts, type(node).__name__.lower())
            return Listed(Ids(found.ids.ranges), "set") if found.kind == "set" else found
        if isinstance(node, ast.Call):
            return self._call(node)
        if isinstance(node, (ast.ListComp, ast.GeneratorExp)):
            return self._comprehension(node)
        if isinstance(node, ast.Subscript):
            return self._subscript(node)
        raise self._unread(node)

    def _number(self, node: ast.expr) -> int:
        value = self.value(node)
        if isinstance(value, Listed):
            raise self._fails(node, f"is a {value.kind} where one whole number must be: a TypeError in Python")
        return value

    def _several(self, node: ast.expr) -> Listed:
        value = self.value(node)
        if isinstance(value, Listed):
            return value
        raise self._fails(node, "is one number where several ids must be", f"[{value}]")

    def _constant(self, node: ast.Constant) -> int:
        value = node.value
        if isinstance(value, int):
            return self._limited(node, int(value))
        number = str(value).removesuffix(".0") if isinstance(value, (str, float)) else ""
        better = str(int(number)) if number.isascii() and number.isdecimal() and len(number) < 9 else ""
        raise self._fails(node, "is no device id: ids are whole numbers", better, AT_CREATION if isinstance(value, float) else AT_LOAD)

    def _limited(self, node: ast.expr, number: int) -> int:
        if abs(number) < MAX_ID:
            return number
        raise self._fails(node, "is larger than any device id", when="")

    def _operation(self, node: ast.BinOp) -> Union[int, Listed]:
        left, right = self.value(node.left), self.value(node.right)
        if isinstance(left, int) and isinstance(right, int):
            compute = _ARITHMETIC.get(type(node.op))
            if compute is None:
                raise self._unread(node)
            if not right and isinstance(node.op, (ast.FloorDiv, ast.Mod)):
                raise self._fails(node, "divides by zero")
            return self._limited(node, compute(left, right))
        if isinstance(left, Listed) and isinstance(right, Listed):
            kinds = {left.kind, right.kind}
            if isinstance(node.op, ast.Add) and len(kinds) == 1 and left.kind in _SUMS:
                return self._held(node, (*left.ids.parts, *right.ids.parts), left.kind)
            if isinstance(node.op, ast.Add) and len(kinds) == 2 and "list" in kinds:
                other = node.right if left.kind == "list" else node.left
                message = "cannot be added to a list: a TypeError in Python"
                raise self._fails(other, message, f"list({self._written(other)})")
            raise self._fails(node, "is a TypeError in Python")
        listed, times = (left, right) if isinstance(left, Listed) else (right, left)
        if not isinstance(node.op, ast.Mult) or not isinstance(listed, Listed) or not isinstance(times, int) or listed.kind not in _SUMS:
            raise self._fails(node, "is a TypeError in Python")
        if listed.ids.count * times > MAX_IDS:
            raise self._fails(node, f"names more than {MAX_IDS:,} device ids, which are not read", when="")
        return self._held(node, listed.ids.parts * max(times, 0), listed.kind)

    def _item(self, node: ast.expr) -> Iterable[range]:
        """Progressions of an item of a list."""
        if isinstance(node, ast.Starred):
            return self._several(node.value).ids.parts
        value = self.value(node)
        if isinstance(value, Listed):
            message = "is a list inside of a list: ROLL compares it with numbers, which is a TypeError"
            raise self._fails(node, message, f"*{self._written(node)}")
        return (range(value, value + 1),)

    def _call(self, node: ast.Call) -> Listed:
        name, args = node.func.id if isinstance(node.func, ast.Name) else "", node.args
        if name not in ("list", "tuple", "range"):
            close = nearest(name, ("list", "range")) if name else None
            raise self._unread(node.func if close else node, close or "")
        if node.keywords or any(isinstance(each, ast.Starred) for each in args):
            raise self._unread(node)
        if name != "range":
            if len(args) > 1:
                inner = ", ".join(map(self._written, args))
                raise self._fails(node, f"has {len(args)} arguments where `{name}()` takes one", f"{name}([{inner}])")
            return Listed(self._several(args[0]).ids if args else Ids(), name)
        if not 1 <= len(args) <= 3:
            raise self._fails(node, f"has {len(args)} arguments where `range()` takes 1 to 3")
        numbers = [self._number(each) for each in args]
        if len(numbers) == 3 and not numbers[2]:
            raise self._fails(args[2], "is no step of a range: a ValueError in Python", "1")
        return self._held(node, (range(*numbers),), "range")

    def _comprehension(self, node: ast.ListComp | ast.GeneratorExp) -> Listed:
        loop, target = node.generators[0], node.generators[0].target
        plain = all(isinstance(each, _OF_ELEMENT) for each in ast.walk(node.elt))
        if len(node.generators) > 1 or loop.ifs or loop.is_async or not isinstance(target, ast.Name) or not plain:
            raise self._unread(node)
        source, numbers = self._several(loop.iter).ids, list[int]()
        if source.count > MAX_COMPREHENDED:
            raise self._fails(node, f"names more than {MAX_COMPREHENDED:,} device ids one by one, which are not read", when="")
        for each in source:
            self.variables = {target.id: each}
            numbers.append(self._number(node.elt))
        self.variables = {}
        kind = "list" if isinstance(node, ast.ListComp) else "generator"
        return self._held(node, [range(each, each + 1) for each in numbers], kind)

    def _subscript(self, node: ast.Subscript) -> Union[int, Listed]:
        listed = self._several(node.value)
        if listed.kind in ("set", "generator"):
            raise self._fails(node, f"indexes a {listed.kind}: a TypeError in Python")
        if isinstance(node.slice, ast.Slice):
            bounds = (node.slice.lower, node.slice.upper, node.slice.step)
            numbers = [None if each is None else self._number(each) for each in bounds]
            if numbers[2] == 0:
                raise self._fails(node, "has a step of 0: a ValueError in Python")
            return Listed(listed.ids.sliced(slice(*numbers)), listed.kind)
        position = self._number(node.slice)
        if not -listed.ids.count <= position < listed.ids.count:
            raise self._fails(node, f"names an item beyond the {listed.ids.count} that exist: an IndexError in Python")
        return listed.ids.listed[position]

    def _held(self, node: ast.expr, parts: Iterable[range], kind: str) -> Listed:
        pieces = tuple(parts)
        if sum(max(0, -(-(part.stop - part.start) // part.step)) for part in pieces) > MAX_IDS:
            raise self._fails(node, f"names more than {MAX_IDS:,} device ids, which are not read", when="")
        ids = Ids.of(pieces)
        if len(ids.parts) > MAX_PARTS:
            raise self._fails(node, f"has more than {MAX_PARTS:,} ranges of ids, which are not read", when="")
        return Listed(ids, kind)

    def _place(self, node: ast.expr) -> Place:
        lines, end = self.lines, node.end_lineno or node.lineno
        start, stop = lines[node.lineno - 1] + node.col_offset, lines[end - 1] + (node.end_col_offset or 0)
        return Place(min(start, len(self.text)), min(stop, len(self.text)))

    def _written(self, node: ast.expr) -> str:
        start, end = self._place(node)
        return self.text[start:end]

    def _fails(self, node: ast.expr, message: str, better: str = "", when: str = AT_LOAD) -> Refused:
        """What Python or ROLL refuses: `message` goes on after the text of the node."""
        text = " ".join(self._written(node).split())
        shown = text if len(text) <= 40 else f"{text[:37]}..."
        return Refused(Fault(self._place(node), f"`{shown}` {message}", "refused" if when else "not read", better, when))

    def _unread(self, node: ast.expr, better: str = "") -> Refused:
        message = "is not read: only `list()`, `range()`, lists, `+`, `*` and slices are, and `eval` would run it"
        return self._fails(node, message, better, "")


# What stands under `device_mapping` in a file.

_HELP = "write the device ids: `list(range(0,8))`, `list([0,2])`, or several with `+`"


@dataclass(frozen=True, slots=True)
class Given:
    """The devices of one role: `given` if anything but null is written, `ids` where they are known."""

    given: bool = False
    ids: Ids | None = None


def read_devices(notes: Notes, subject: str, owner: Mapping, entry: Entry, value: Value, checks_types: bool, created: bool) -> Given:
    """The devices that a `device_mapping` names.

    `value` is the value of the entry with its interpolations resolved. ROLL accepts a text alone: its type also admits a list
    of whole numbers, but `eval` does not (roll/configs/worker_config.py). `checks_types`: a null is refused too. `created`: the
    workers are started, so that what fails then is an error.
    """
    if is_unknown(value):
        notes.unsure("PW103", subject, f"`{subject}.{DEVICES}` is not known here", True, f"Pass `--set {subject}.{DEVICES}=VALUE`")
        return Given(True)
    if isinstance(value, Scalar) and value.is_null:
        if checks_types:
            message = f"`{DEVICES}` of `{subject}` is null, which ROLL refuses: for CPUs alone the key is left out"
            alone = created and owner.get("world_size") is None  # without either ROLL would have no workers to start
            help, edit = ("name devices", None) if alone else (f"remove `{DEVICES}`, or name devices", notes.removed(owner, entry))
            notes.error("PW105", subject, message, value, "null", help, edit, AT_LOAD)
        return Given(checks_types)
    if isinstance(value, Scalar) and isinstance(value.value, str):
        return Given(True, _of_text(notes, subject, value, created))
    return Given(True, _of_another_type(notes, subject, entry, value))


def _of_text(notes: Notes, subject: str, scalar: Scalar, created: bool) -> Ids | None:
    text = notes.text(scalar, subject)
    found = read_expression(text.text)
    fault, ids = found.fault, found.ids
    if fault is not None:
        start, end = fault.place
        better = fault.better and text.text[:start] + fault.better + text.text[end:]
        meant = read_expression(better) if better else None
        help, edit = _HELP, None
        if meant is not None and meant.fault is None:
            edit, ids = rewritten(text, better), ids or meant.ids  # what was meant is judged too
            help = f"write `{better}`" if len(better) <= 200 else _HELP
        tell = notes.error if created or fault.when != AT_CREATION else notes.warn
        when = (fault.when,) if fault.when else ()
        tell("PW103", subject, f"`{subject}`: {fault.message}", text.part(start, end), fault.label, help, edit, *when)
    elif ids is not None and ids.distinct < ids.count:
        twice = next(each for each, count in Counter(ids.listed).items() if count > 1)
        message = f"`{subject}` names device {twice} more than once: {ids.count} ids, {ids.distinct} of them different"
        notes.warn("PW108", subject, message, text.part(0, len(text.text)), "named twice", "name each device once")
    return ids


def _of_another_type(notes: Notes, subject: str, entry: Entry, value: Value) -> Ids | None:
    """A list, a number or a map, none of which ROLL takes; what a list or a number means is plain."""
    items = value.items if isinstance(value, Sequence) else (value,)
    numbers = [item.value for item in items if isinstance(item, Scalar) and type(item.value) is int]
    plain = len(numbers) == len(items) <= MAX_IDS and all(0 <= number < MAX_ID for number in numbers)
    ids = Ids.of(range(number, number + 1) for number in numbers) if plain else None
    better = text_of(ids) if ids is not None else ""
    edit, quoted = None, f'"{better}"'
    if isinstance(value, Sequence):
        message = f"`{DEVICES}` of `{subject}` is a YAML list; ROLL gives it to `eval`, which takes text alone: a TypeError"
        key = entry.key.span
        if better and key.file == value.span.file and entry.value is value:
            edit = Edit(Span(key.file, key.end, value.span.end, key.line, key.column + key.length), f": {quoted}")
    else:
        message = f"`{DEVICES}` of `{subject}` is {kind_of(value)}; ROLL takes a text that names a list of device ids"
        edit = notes.instead(value, quoted) if better else None
    help = f"write `{better}`" if better and len(better) <= 200 else _HELP
    notes.error("PW105", subject, message, value, kind_of(value), help, edit, AT_LOAD)
    return ids


def other_ids(notes: Notes, subject: str, value: Value | None, ids: Ids) -> tuple[str, Edit | None]:
    """(what to write, the edit) that makes a `device_mapping` name other ids; no edit where it is written elsewhere."""
    better = text_of(ids)
    edit = rewritten(notes.text(value, subject), better) if isinstance(value, Scalar) else None
    return better, edit


def rewritten(text: Text, better: str) -> Edit | None:
    """The edit that writes another expression, in the quotes that are there or, where YAML lets it, without any."""
    scalar = text.scalar
    if scalar.origin is not None or text.shift is None:
        return None
    if text.shift == 1:
        return text.replaced(better)
    plain = better[:1].isalpha() and not set(better) & set("#:{}&!|>'\"%@`") and ("," in text.text or "," not in better)
    return Edit(scalar.span, better if plain else plain_or_quoted(better))


def stands_alone(notes: Notes, edit: Edit) -> bool:
    """True if no other finding changes what an edit spans."""
    spans, span = [each.edit.span for each in notes.findings if each.edit is not None], edit.span
    return not any(other.file == span.file and other.start < span.end and span.start < other.end for other in spans)
