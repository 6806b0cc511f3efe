"""Evaluator of `device_mapping`: ids of a text, and faults with places and fixes.

ROLL passes the text to `eval` (roll/configs/worker_config.py, WorkerConfig.__post_init__). Nothing
is run here. The supported subset names device ids: numbers, lists and tuples, their operators,
slices, `[... for i in ...]` and a few functions. Anything else, or anything that takes many steps,
is unknown.
"""

from __future__ import annotations

import ast
import builtins
import operator
import re
import warnings
from collections import Counter
from functools import lru_cache
from typing import Any, Callable, NamedTuple

from ...configuration.notes import Notes, ScalarText, is_unknown
from ...findings.span import Edit, Span
from ...record import dataclass
from ...text.edit import plain_or_quoted
from ...text.nearest import nearest
from ...text.tree import Entry, ListNode, MapNode, Scalar, Value, kind_of
from .findings import report
from .ids import Ids, text_of
from .job import Role
from .names import AT_CREATION, AT_LOAD, DEVICES

MAX_TEXT, MAX_SIGNS = 65_536, 768
"""Limits on a text, its operators and brackets, before Python's parser; our own."""
MAX_IDS, MAX_PARTS, MAX_STEPS = 1 << 18, 1 << 14, 1 << 16
"""Limits on ids, progressions and evaluated nodes; our own. 64 ids of a list count as a node."""
MAX_ID, MAX_NUMBER = 1 << 31, 1 << 61
"""Bounds of device ids and of evaluated numbers."""
_SIGN = re.compile(r"[-+*~^|&%/<>=@.!:(\[{]|\b(?:not|if|else|lambda|await|yield|for|or|and|in|is)\b")
_RANKS = re.compile(r"\s*\d{1,9}(?:\s*-\s*\d{1,9})?(?:\s*,\s*\d{1,9}(?:\s*-\s*\d{1,9})?)*\s*", re.ASCII)
"""Ranks in the notation of different frameworks: `0-7,16-23`."""
_OPERATORS: dict[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.FloorDiv: operator.floordiv,
    ast.UAdd: operator.pos, ast.USub: operator.neg,
}  # fmt: skip
_FUNCTIONS: dict[str, Any] = {function.__name__: function for function in (list, range, tuple)}
_NAMES = {*dir(builtins), "self", "logger", "dataclass", "field", "Dict", "List", "Literal", "Optional", "Union"} | {
    "strategy_config", "tensor_parallel_size", "pipeline_parallel_size",
}  # fmt: skip
"""Names in ROLL's scope of `eval`."""
_LISTS, _NUMBERS = (list, tuple), (int, float)


class Place(NamedTuple):
    """Characters `start` to `end` (exclusive) of a text."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class MappingFault:
    """Fault of a text.

    `better` replaces the text at the place ("" if unknown). `when` is the moment when ROLL notices;
    "" if the text may be right.
    """

    place: Place
    message: str
    label: str
    better: str = ""
    when: str = AT_LOAD


class Expression(NamedTuple):
    """Known ids of a text, and the fault of the text."""

    ids: Ids | None
    fault: MappingFault | None = None


class RefusedMapping(Exception):
    """Raised with a Fault if a text cannot be evaluated."""


@lru_cache(maxsize=16)
def read_expression(text: str) -> Expression:
    """Evaluate a text to ids, in bounded time; never raises."""
    whole = Place(0, len(text))
    unread = _faulty(whole, "so long an expression is not worked out", "not worked out", when="")
    if not text.strip():
        return _faulty(whole, "nothing is written here, and ROLL's `eval` of nothing is a SyntaxError", "empty")
    if len(text) > MAX_TEXT or len(_SIGN.findall(text)) > MAX_SIGNS:
        return unread
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text.lstrip(" \t"), mode="eval")
        if isinstance(tree.body, ast.Name) and tree.body.id in dir(builtins):
            return _faulty(whole, f"`{tree.body.id}` is not a list: ROLL takes `len()` of it, which is a TypeError", "no list")
        value = _Evaluation(text).value(tree.body)
    except SyntaxError as problem:
        return _report_syntax(text, problem)
    except RefusedMapping as refused:
        return Expression(None, refused.args[0])
    except (ValueError, MemoryError, RecursionError):
        return unread
    return unread if operator.length_hint(value, 0) > MAX_IDS else _read_value(text, value)


def _read_value(text: str, value: Any) -> Expression:
    whole = Place(0, len(text))
    if not isinstance(value, (*_LISTS, range, str)):
        message = f"this is of the type `{type(value).__name__}`, and ROLL takes `len()` of it, which is a TypeError"
        return _faulty(whole, message, "no list", _from_ranks(text))
    items: list[Any] = list(value)
    if wrong := [item for item in items if not isinstance(item, int)]:
        message = f"an item of the type `{type(wrong[0]).__name__}` is not a device id: ids are whole numbers"
        return _faulty(whole, message, "refused", when=AT_CREATION if isinstance(wrong[0], float) else AT_LOAD)
    ids = Ids(items)
    if len(ids.parts) > MAX_PARTS:
        return _faulty(whole, "so many device ids are not worked out", "not worked out", when="")
    if ids.lowest < 0:
        message = f"{ids.lowest} is not a device id: ROLL looks for a node of that number, which is a KeyError"
        return Expression(Ids(id_ for id_ in ids if id_ >= 0), MappingFault(whole, message, "below 0", _from_ranks(text), AT_CREATION))
    return Expression(ids)


def _faulty(place: Place, message: str, label: str, better: str = "", when: str = AT_LOAD) -> Expression:
    return Expression(None, MappingFault(place, message, label, better, when))


def _report_syntax(text: str, problem: SyntaxError) -> Expression:
    """Report text that Python cannot parse. The fix converts ranks such as `0-7,9`."""
    message = f"this is no Python expression: {problem.msg[:80]}"
    if better := _from_ranks(text):
        return _faulty(Place(0, len(text)), message, "not Python", better)
    lines = _line_starts(text)
    start = min(lines[min(problem.lineno or 1, len(lines)) - 1] + max((problem.offset or 1) - 1, 0), len(text) - 1)
    return _faulty(Place(start, start + 1), message, "not Python")


def _from_ranks(text: str) -> str:
    """Convert `0-7`, which means -7 to Python, to `list(range(0,8))`; "" for other texts."""
    if not _RANKS.fullmatch(text) or "-" not in text:
        return ""
    pieces = [piece.partition("-") for piece in text.split(",")]
    ranges = [range(int(first), int(last or first) + 1) for first, _, last in pieces]
    return text_of(Ids.join(*ranges)) if all(ranges) and max(interval[-1] for interval in ranges) < MAX_ID else ""


def _line_starts(text: str) -> list[int]:
    """Return the positions of the first characters of lines, leading blanks skipped."""
    return [len(text) - len(text.lstrip(" \t")), *(match.end() for match in re.finditer(r"\r\n|\r|\n", text))]


class _Evaluation:
    """Evaluator of a text's nodes; raises Refused for nodes off the whitelist."""

    def __init__(self, text: str) -> None:
        self.text, self.lines, self.steps = text, _line_starts(text), 0
        self.variables: dict[str, Any] = {}

    def value(self, node: ast.expr) -> Any:
        """Return the value of a node: number, text, list, tuple, range, set, or iterator."""
        try:
            value = self._compute(node)
        except (TypeError, ValueError, ArithmeticError, LookupError) as problem:
            raise self._fails(node, f"raises {type(problem).__name__} in Python") from None
        if isinstance(value, _NUMBERS) and abs(value) > MAX_NUMBER:
            raise self._unread(node)
        self.steps += 1 + (0 if isinstance(value, range) else operator.length_hint(value, 0) >> 6)
        if self.steps > MAX_STEPS:
            raise self._unread(node, "takes more steps than are worked out")
        return value

    def _compute(self, node: ast.expr) -> Any:
        if isinstance(node, ast.Constant) and isinstance(node.value, (str, int, float, type(None))):
            return node.value
        if isinstance(node, ast.Name) and node.id in self.variables:
            return self.variables[node.id]
        if isinstance(node, ast.Name) and node.id not in _NAMES:
            raise self._fails(node, "raises NameError in Python", nearest(node.id, tuple(_FUNCTIONS)) or "")
        if isinstance(node, (ast.UnaryOp, ast.BinOp)) and type(node.op) not in _OPERATORS:
            raise self._unread(node)
        if isinstance(node, ast.UnaryOp):
            return _OPERATORS[type(node.op)](self.value(node.operand))
        if isinstance(node, ast.BinOp):
            return self._operation(node, self.value(node.left), self.value(node.right))
        if isinstance(node, (ast.List, ast.Tuple)):
            items = self._items(node.elts)
            return items if isinstance(node, ast.List) else tuple(items)
        if isinstance(node, ast.ListComp):
            return self._evaluate_loop(node, node.generators[0])
        if isinstance(node, ast.Call):
            return self._evaluate_call(node)
        if isinstance(node, ast.Subscript):
            return self.value(node.value)[self._index(node.slice)]
        raise self._unread(node)

    def _operation(self, node: ast.BinOp, left: Any, right: Any) -> Any:
        for items, times in ((left, right), (right, left)):
            if isinstance(node.op, ast.Mult) and isinstance(items, (*_LISTS, str)) and isinstance(times, int):
                self._limit(node, len(items) * times)
        return _OPERATORS[type(node.op)](left, right)

    def _items(self, nodes: list[ast.expr]) -> list[Any]:
        """Return the items of a display or a call, starred ones unpacked."""
        items: list[Any] = []
        for node in nodes:
            value = self.value(node.value) if isinstance(node, ast.Starred) else [self.value(node)]
            self._limit(node, len(items) + operator.length_hint(value, 0))
            items += value
        return items

    def _evaluate_loop(self, node: ast.ListComp, loop: ast.comprehension) -> list[Any]:
        if len(node.generators) > 1 or loop.ifs or loop.is_async or not isinstance(loop.target, ast.Name):
            raise self._unread(node)
        before, items = self.variables, list[Any]()
        for item in self.value(loop.iter):
            self.variables = {**before, loop.target.id: item}
            items.append(self.value(node.elt))
        self.variables = before
        return items

    def _evaluate_call(self, node: ast.Call) -> Any:
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        function = None if name in self.variables else _FUNCTIONS.get(name)
        if function is None:
            self.value(node.func)
            raise TypeError
        arguments = self._items(node.args)
        if node.keywords:
            raise self._unread(node)
        if function is not range:
            self._limit(node, max((operator.length_hint(argument, 0) for argument in arguments), default=0))
        return function(*arguments)

    def _index(self, node: ast.expr) -> Any:
        if not isinstance(node, ast.Slice):
            return self.value(node)
        return slice(*(None if bound is None else self.value(bound) for bound in (node.lower, node.upper, node.step)))

    def _limit(self, node: ast.expr, count: int) -> None:
        if count > MAX_IDS:
            raise self._unread(node, f"names more than {MAX_IDS:,} device ids")

    def _place(self, node: ast.expr) -> Place:
        positions = ((node.lineno, node.col_offset), (node.end_lineno or node.lineno, node.end_col_offset or 0))
        starts = [(self.lines[line - 1], column) for line, column in positions]
        return Place(*(start + len(self.text[start:].encode()[:column].decode()) for start, column in starts))

    def _fails(self, node: ast.expr, message: str, better: str = "", when: str = AT_LOAD) -> RefusedMapping:
        """Build the refusal of a node. `message` continues the sentence after the text of the node."""
        place = self._place(node)
        text = " ".join(self.text[place.start : place.end].split())
        excerpt = text if len(text) <= 40 else f"{text[:37]}..."
        return RefusedMapping(MappingFault(place, f"`{excerpt}` {message}", "refused" if when else "not worked out", better, when))

    def _unread(self, node: ast.expr, message: str = "is not worked out here, and ROLL's `eval` would run it") -> RefusedMapping:
        return self._fails(node, message, when="")


# Value of `device_mapping` in a file.

_IN_QUOTES = "write the text in quotes: in a flow map a comma ends it"
_HELP = "write the device ids: `list(range(0,8))`, `list([0,2])`, or several with `+`"


def read_devices(notes: Notes, role: Role, owner: MapNode, entry: Entry, value: Value, checks_types: bool) -> tuple[bool, Ids | None]:
    """Return whether a `device_mapping` gives devices (null may not), and the ids; None if unknown.

    `value` is the entry's value with resolved interpolations. ROLL accepts text alone: the type of
    the key also admits a list of whole numbers, but `eval` does not
    (roll/configs/worker_config.py). `checks_types`: null is refused too.
    """
    subject = role.key
    if is_unknown(value):
        notes.unsure("PW103", subject, f"`{subject}.{DEVICES}` is not known here", True, f"Pass `--set {subject}.{DEVICES}=VALUE`")
        return True, None
    if isinstance(value, Scalar) and value.is_null:
        if checks_types:
            # Without both keys ROLL has no workers to start.
            is_required = role.created and owner.get("world_size") is None
            help, edit = ("name devices", None) if is_required else (f"remove `{DEVICES}`, or name devices", notes.remove(owner, entry))
            report(notes, "null_devices", subject, value, edit, subject=subject, help=help)
        return checks_types, None
    if isinstance(value, Scalar) and isinstance(value.value, str):
        return True, _text_ids(notes, role, value)
    return True, _meant_ids(notes, subject, entry, value)


def _text_ids(notes: Notes, role: Role, scalar: Scalar) -> Ids | None:
    text = notes.text(scalar, role.key)
    ids, fault = read_expression(text.text)
    if fault is not None and not fault.when:
        notes.unsure("PW103", role.key, f"`{DEVICES}`: {fault.message}", True, f"{_HELP[0].upper()}{_HELP[1:]}")
    elif fault is not None:
        start, end = fault.place
        better = fault.better and text.text[:start] + fault.better + text.text[end:]
        correction = read_expression(better) if better else None
        help, edit = _IN_QUOTES if role.block is not None and role.block.flow and text.shift != 1 else _HELP, None
        if correction is not None and correction.fault is None:
            edit, ids = rewritten(text, better), correction.ids if ids is None else ids  # the fixed text is judged too
            help = f"write `{better}`" if len(better) <= 200 else _HELP
        # A failure at the start of workers is an error only if they are started.
        severity = "error" if role.created or fault.when != AT_CREATION else "warning"
        report(notes, "no_devices_in_text", role.key, text.part(start, end), edit, severity, role=role, fault=fault, help=help)
    elif ids is not None and ids.distinct < len(ids):
        duplicate = next(id_ for id_, count in Counter(ids).items() if count > 1)
        report(notes, "named_twice", role.key, text.part(0, len(text.text)), role=role, id=duplicate, count=len(ids), ids=ids)
    return ids


def _meant_ids(notes: Notes, subject: str, entry: Entry, value: Value) -> Ids | None:
    """Refuse a list, a number or a map; return the ids that a list means."""
    items = value.items if isinstance(value, ListNode) else (value,)
    ids = Ids(item.value for item in items if isinstance(item, Scalar) and type(item.value) is int)
    better = text_of(ids) if isinstance(value, ListNode) and len(ids) == len(items) and ids.lowest >= 0 else ""
    edit, key = None, entry.key.span
    if better and key.file == value.span.file and entry.value is value:
        edit = Edit(Span(key.file, key.end, value.span.end, key.line, key.column + key.length), f': "{better}"')
    name = "listed_devices" if isinstance(value, ListNode) else "no_text"
    help = f"write `{better}`" if better and len(better) <= 200 else _HELP
    report(notes, name, subject, value, edit, subject=subject, kind=kind_of(value), help=help)
    return ids if better else None


def ids_edit(notes: Notes, role: Role, ids: Ids) -> tuple[str, Edit | None]:
    """Return text and edit for different ids of a role. No edit if the text stands elsewhere."""
    better = text_of(ids)
    return better, rewritten(notes.text(role.mapping, role.key), better) if isinstance(role.mapping, Scalar) else None


def rewritten(text: ScalarText, better: str) -> Edit | None:
    """Return the edit that replaces an expression in its quotes; None if it stands elsewhere."""
    scalar = text.scalar
    if scalar.origin is not None or text.shift is None:
        return None
    if text.shift == 1:
        return text.replace(better)
    plain = better[:1].isalpha() and not set(better) & set("#:{}&!|>'\"%@`") and ("," in text.text or "," not in better)
    return Edit(scalar.span, better if plain else plain_or_quoted(better))
