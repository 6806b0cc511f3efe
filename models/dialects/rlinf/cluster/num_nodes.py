"""`num_nodes` of the section `cluster`."""

from __future__ import annotations

from ....configuration.notes import Notes, is_unknown
from ....findings.finding import error
from ....machines.shorthand import MAX_NODES
from ....text.tree import Mapping, Scalar, Value


def read_num_nodes(notes: Notes, section: Mapping, value: Value | None) -> int | None:
    """How many nodes `cluster` has, or was meant to have; None where that is not known (the reason is noted)."""
    if value is None:
        notes.missing("cluster", "num_nodes", section.span, "add `num_nodes: 1`")
        return None
    if is_unknown(value):
        return None
    number = value.value if isinstance(value, Scalar) else None
    if not isinstance(value, Scalar) or not isinstance(number, int) or isinstance(number, bool):
        meant = _whole(value)
        edit = notes.instead(value, str(meant)) if meant is not None else None
        help = f"write `{meant}`, without quotes" if edit else "write a whole number such as `2`"
        notes.wrong_type("cluster", "num_nodes", value, "a whole number", help, edit)
        return meant
    if number < 1:
        message = f"`num_nodes` is {number}, but there must be at least 1 node"
        meant = min(-number, MAX_NODES) or 1
        notes.error("PW105", "cluster", message, value, "too few", f"write `{meant}`", notes.instead(value, str(meant)))
        return meant
    if number > MAX_NODES:
        message = f"`num_nodes` is {number:,}; more than {MAX_NODES:,} nodes are not read"
        notes.findings.append(error("PW002", "cluster", message, value.span, label="too many", help="is this number meant?"))
        return None
    notes.text(value, "cluster", quoted=False)
    return number


def _whole(value: Value) -> int | None:
    """The number of nodes that `"2"` or `2.0` was meant to be."""
    text = (value.text[:-2] if value.text.endswith(".0") else value.text) if isinstance(value, Scalar) else ""
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 8 and 1 <= int(text) <= MAX_NODES else None
