"""Arithmetic on whole numbers of 64 bits, as in `$((a * 8))`.

The grammar is Python's where it agrees with bash's (the Bash Reference Manual, 6.5); the text is
parsed, never evaluated. Operators on bits, powers, `!` and `a ? b : c` are out of scope.
"""

from __future__ import annotations

import ast
import operator
import re
from typing import Callable

MAX_LENGTH = 512
_LETTERS = re.compile(r"(?:[0-9]+(?![A-Za-z_0-9])|[A-Za-z_]\w*|[\s+\-*/%()<>=&|!])*", re.ASCII)
_ASSIGNMENT = re.compile(r"\s*([A-Za-z_]\w*)\s*(?:([+-]?)=(?!=)(.*)|(\+\+|--))\s*", re.ASCII | re.DOTALL)
_OPERATE: dict[type[ast.AST], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: lambda left, right: abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1),
    ast.Mod: lambda left, right: abs(left) % abs(right) * (-1 if left < 0 else 1),
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


class NotComputed(Exception):
    """The expression has no value here; the message says why, as the end of a sentence."""


def calculated(text: str, lookup: Callable[[str], int], store: Callable[[str, int], None]) -> int:
    """The value of an expression; variables through `lookup` and `store`. Raises NotComputed."""
    if len(text) > MAX_LENGTH or not _LETTERS.fullmatch(text):
        raise NotComputed("it is no arithmetic expression that is followed")
    if match := _ASSIGNMENT.fullmatch(text):
        name, sign, value, step = match.groups()
        before = lookup(name) if sign or step else 0
        amount = 1 if step else calculated(value, lookup, store)
        after = before - amount if (step or sign) in ("--", "-") else before + amount
        store(name, _wrapped(after))
        return before if step else _wrapped(after)
    if "++" in text or "--" in text:
        raise NotComputed("it is no arithmetic expression that is followed")
    written = text.replace("&&", " and ").replace("||", " or ")
    try:
        tree = ast.parse(f"({written})" if text.strip() else "0", mode="eval")
    except (SyntaxError, ValueError, MemoryError, RecursionError) as problem:
        raise NotComputed("it is no arithmetic expression that is followed") from problem
    return _value(tree.body, lookup)


def _value(node: ast.AST, lookup: Callable[[str], int]) -> int:
    """The value of a part of an expression. Raises NotComputed."""
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return _wrapped(node.value)
    if isinstance(node, ast.Name):
        return lookup(node.id)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.UAdd, ast.USub)):
        value = _value(node.operand, lookup)
        return _wrapped(-value) if isinstance(node.op, ast.USub) else value
    if isinstance(node, ast.BoolOp):
        values = [_value(operand, lookup) for operand in node.values]
        return int(all(values) if isinstance(node.op, ast.And) else any(values))
    sign: type[ast.AST]
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        sign, left, right = type(node.ops[0]), node.left, node.comparators[0]
    elif isinstance(node, ast.BinOp):
        sign, left, right = type(node.op), node.left, node.right
    else:
        raise NotComputed("it is no arithmetic expression that is followed")
    values = [_value(operand, lookup) for operand in (left, right)]
    if sign not in _OPERATE:
        raise NotComputed("it is no arithmetic expression that is followed")
    if sign in (ast.Div, ast.Mod) and not values[1]:
        raise NotComputed("it divides by zero")
    return _wrapped(_OPERATE[sign](*values))


def _wrapped(value: int) -> int:
    """The value as a signed number of 64 bits."""
    value &= (1 << 64) - 1
    return value - (1 << 64) if value >> 63 else value
