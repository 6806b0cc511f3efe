"""`[i + 8 for i in range(8)]`: a progression again, where the element grows evenly with the variable."""

from __future__ import annotations

import ast
from typing import Iterable

from .limits import MAX_ID

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
