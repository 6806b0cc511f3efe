"""Bash arithmetic on whole numbers of 64 bits, as in `$((a * 8))`.

The grammar is Python's where it agrees with bash's (the Bash Reference Manual, 6.5); the text is
parsed, never evaluated. Out of scope: an assignment within another expression, `!`, `a ? b : c`,
powers and operators on bits.
"""

from __future__ import annotations

import ast
import operator
import re
from typing import Callable

MAX_LENGTH = 512
_NOT_FOLLOWED = "it is not an arithmetic expression that is followed"
_LETTERS = re.compile(r"(?:[0-9]+\b|0[xX][0-9a-fA-F]+\b|[A-Za-z_]\w*\b|[\s+\-*/%()<>=!]|&&|\|\|)*", re.ASCII)
_STEP = re.compile(r"\s*(?P<name>[A-Za-z_]\w*)\s*(?:(?P<twice>\+\+|--)\s*|(?P<sign>[-+*/%]|)=(?!=)(?P<amount>.*))", re.ASCII | re.DOTALL)
_STEP_FIRST = re.compile(r"\s*(?P<twice>\+\+|--)\s*(?P<name>[A-Za-z_]\w*)(?P<sign>)(?P<amount>)\s*", re.ASCII)
_OPERATE: dict[type[ast.AST], Callable[[int, int], int]] = {
    ast.Add: operator.add, ast.UAdd: operator.add, ast.Sub: operator.sub, ast.USub: operator.sub, ast.Mult: operator.mul,
    ast.Div: lambda left, right: abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1),
    ast.Mod: lambda left, right: abs(left) % abs(right) * (-1 if left < 0 else 1),
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le,
    ast.Gt: operator.gt, ast.GtE: operator.ge,
}  # fmt: skip


class NotComputed(Exception):
    """Expression without a value; the message is a reason, as the end of a sentence."""


def calculate(text: str, lookup: Callable[[str], int], assign: Callable[[str, int], None]) -> int:
    """Compute an expression, with variables through `lookup` and `assign`. Raises NotComputed."""
    try:
        return [_step(step, lookup, assign) for step in text.split(",")][-1]
    except ZeroDivisionError as problem:
        raise NotComputed("it divides by zero") from problem
    except (SyntaxError, ValueError, LookupError, MemoryError, RecursionError) as problem:
        raise NotComputed(_NOT_FOLLOWED) from problem


def _step(text: str, lookup: Callable[[str], int], assign: Callable[[str, int], None]) -> int:
    """Compute `i++`, `++i`, `a += sum` or a sum."""
    if match := _STEP.fullmatch(text) or _STEP_FIRST.fullmatch(text):
        name, sign = match["name"], match["twice"][0] if match["twice"] else match["sign"]
        amount = 1 if match["twice"] else _step(match["amount"], lookup, assign)
        before = lookup(name) if sign else amount
        after = _compute(f"({before}) {sign} ({amount})", lookup) if sign else amount
        assign(name, after)
        return before if match["twice"] and match.start("twice") > match.start("name") else after
    return _compute(text, lookup)


def _compute(text: str, lookup: Callable[[str], int]) -> int:
    """Compute a sum. Raises NotComputed, and SyntaxError and its like for another text."""
    if len(text) > MAX_LENGTH or not _LETTERS.fullmatch(text) or "++" in text or "--" in text:
        raise NotComputed(_NOT_FOLLOWED)
    expression = text.replace("&&", " and ").replace("||", " or ")
    return _value(ast.parse(f"({expression})" if text.strip() else "0", mode="eval").body, lookup)


def _value(node: ast.AST, lookup: Callable[[str], int]) -> int:
    """Compute a node of an expression. Raises NotComputed, LookupError or ZeroDivisionError."""
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return _wrap(node.value)
    if isinstance(node, ast.Name):
        return lookup(node.id)
    if isinstance(node, ast.UnaryOp):
        return _wrap(_OPERATE[type(node.op)](0, _value(node.operand, lookup)))
    if isinstance(node, ast.BoolOp):
        values = (_value(operand, lookup) for operand in node.values)
        return int(all(values) if isinstance(node.op, ast.And) else any(values))
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        return int(_OPERATE[type(node.ops[0])](_value(node.left, lookup), _value(node.comparators[0], lookup)))
    if isinstance(node, ast.BinOp):
        return _wrap(_OPERATE[type(node.op)](_value(node.left, lookup), _value(node.right, lookup)))
    raise NotComputed(_NOT_FOLLOWED)


def _wrap(value: int) -> int:
    """Wrap a value to a signed number of 64 bits."""
    value &= (1 << 64) - 1
    return value - (1 << 64) if value >> 63 else value
