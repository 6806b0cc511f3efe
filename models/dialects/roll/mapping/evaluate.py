"""The whitelist: what each node of Python's syntax tree stands for in a `device_mapping`. Everything else is refused."""

from __future__ import annotations

import ast
from typing import Iterable

from ....text.nearest import nearest
from .arithmetic import computed, number_of
from .comprehension import comprehended
from .fault import Fault, Refused, Written
from .ids import Ids
from .limits import MAX_IDS, MAX_PARTS
from .values import Listed, Number, Value

AT_LOAD = "ROLL fails when it loads the configuration"
AT_CREATION = "ROLL notices this only when it creates the workers, after Ray is up and the nodes are reserved"
_HOLDERS = ("list", "tuple")
_READ = "`list()`, `range()`, lists, `+`, `*` and slices"


class Evaluation:
    """One text; `faults` gets what can be read past."""

    def __init__(self, written: Written) -> None:
        self.written = written
        self.faults: list[Fault] = []

    def value(self, node: ast.expr) -> Value:
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

    def _constant(self, node: ast.Constant) -> Value:
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

    def _operation(self, node: ast.BinOp) -> Value:
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

    def _combined(self, node: ast.BinOp, left: Value, right: Value) -> Value:
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

    def _display(self, node: ast.List | ast.Tuple | ast.Set) -> Value:
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

    def _call(self, node: ast.Call) -> Value:
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

    def _range(self, node: ast.Call) -> Value:
        if not 1 <= len(node.args) <= 3:
            raise self.wrong(node, f"`range()` takes 1 to 3 numbers, but {len(node.args)} are given", "a TypeError")
        before = len(self.faults)
        numbers = [number_of(self.value(each), each, self.written) for each in node.args]
        if floats := [fault for fault in self.faults[before:] if fault.fails]:
            raise Refused(Fault(floats[0].place, "`range()` takes whole numbers alone", "no whole number", floats[0].better, when=AT_LOAD))
        if len(numbers) == 3 and not numbers[2]:
            raise self.wrong(node.args[2], "the step of a range cannot be 0: a ValueError in Python", "a step of 0", "1")
        return self._held(node, (range(*numbers),), "range")

    def _comprehension(self, node: ast.ListComp | ast.GeneratorExp) -> Value:
        (one, *more) = node.generators
        if more or one.ifs or one.is_async or not isinstance(one.target, ast.Name):
            raise self.refused(node)
        source = self.listed(one.iter, "for")
        parts = comprehended(node.elt, one.target.id, source.ids.parts)
        if parts is None:
            raise self.refused(node.elt)
        return self._held(node, parts, "list" if isinstance(node, ast.ListComp) else "generator")

    def _subscript(self, node: ast.Subscript) -> Value:
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
        return Number(held.ids.at(position))

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
