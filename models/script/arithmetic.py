"""Bash arithmetic on whole numbers of 64 bits, as in `$((a * 8))`.

The grammar is Python's where it agrees with bash's (the Bash Reference Manual, 6.5); the text is
parsed, never evaluated. Assignments, operators on bits, powers, `!` and `a ? b : c` are out of
scope.
"""

from __future__ import annotations

import ast
import operator
import re
from typing import Callable

MAX_LENGTH = 512
_NOT_FOLLOWED = "it is no arithmetic expression that is followed"
_LETTERS = re.compile(r"(?:[0-9]+\b|[A-Za-z_]\w*\b|[\s+\-*/%()<>=&|!])*", re.ASCII)
_OPERATE: dict[type[ast.AST], Callable[[int, int], int]] = {
    ast.Add: operator.add, ast.UAdd: operator.add, ast.Sub: operator.sub, ast.USub: operator.sub, ast.Mult: operator.mul,
    ast.Div: lambda left, right: abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1),
    ast.Mod: lambda left, right: abs(left) % abs(right) * (-1 if left < 0 else 1),
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le,
    ast.Gt: operator.gt, ast.GtE: operator.ge,
}  # fmt: skip


class NotComputed(Exception):
    """Expression without a value; the message is a reason, as the end of a sentence."""


def calculated(text: str, lookup: Callable[[str], int]) -> int:
    """Compute an expression, with variables through `lookup`. Raises NotComputed."""
    if len(text) > MAX_LENGTH or not _LETTERS.fullmatch(text) or "++" in text or "--" in text:
        raise NotComputed(_NOT_FOLLOWED)
    written = text.replace("&&", " and ").replace("||", " or ")
    try:
        return _value(ast.parse(f"({written})" if text.strip() else "0", mode="eval").body, lookup)
    except ZeroDivisionError as problem:
        raise NotComputed("it divides by zero") from problem
    except (SyntaxError, ValueError, LookupError, MemoryError, RecursionError) as problem:
        raise NotComputed(_NOT_FOLLOWED) from problem


def _value(node: ast.AST, lookup: Callable[[str], int]) -> int:
    """Compute a node of an expression. Raises NotComputed, LookupError or ZeroDivisionError."""
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return _wrapped(node.value)
    if isinstance(node, ast.Name):
        return lookup(node.id)
    if isinstance(node, ast.UnaryOp):
        return _wrapped(_OPERATE[type(node.op)](0, _value(node.operand, lookup)))
    if isinstance(node, ast.BoolOp):
        values = [_value(operand, lookup) for operand in node.values]
        return int(all(values) if isinstance(node.op, ast.And) else any(values))
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        return int(_OPERATE[type(node.ops[0])](_value(node.left, lookup), _value(node.comparators[0], lookup)))
    if isinstance(node, ast.BinOp):
        return _wrapped(_OPERATE[type(node.op)](_value(node.left, lookup), _value(node.right, lookup)))
    raise NotComputed(_NOT_FOLLOWED)


def _wrapped(value: int) -> int:
    """Wrap a value to a signed number of 64 bits."""
    value &= (1 << 64) - 1
    return value - (1 << 64) if value >> 63 else value
