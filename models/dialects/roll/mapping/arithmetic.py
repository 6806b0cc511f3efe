"""Whole numbers in a `device_mapping`: never so large that computing with them costs anything."""

from __future__ import annotations

import ast

from .fault import Fault, Refused, Written
from .limits import MAX_ID
from .values import Number, Value


def number_of(value: Value, node: ast.expr, written: Written) -> int:
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
