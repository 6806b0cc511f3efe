"""The fields of one robot's configuration, each by itself.

Source: RLinf, rlinf/scheduler/hardware/robots/*.py.
"""

from __future__ import annotations

from ....configuration.notes import Notes, is_unknown
from ....text.nearest import nearest
from ....text.tree import Mapping, Scalar, Value, kind_of
from .hardware_types import HARDWARE_TYPES


def check_fields(notes: Notes, item: Mapping, group: str, kind: str, size: int | None) -> None:
    """Note every value that RLinf refuses, or will stumble over later. `size`: how many nodes there are."""
    table = HARDWARE_TYPES[kind]
    for entry in item:
        key, value = entry.key.text, entry.value
        if is_unknown(value):
            continue
        empty = isinstance(value, Scalar) and value.is_null
        if key in table.strict:
            _one_of(notes, key, value, group, kind, table.strict[key], True)
        if empty:
            continue  # RLinf fills it from a variable of the node, or leaves it
        if key in table.addresses:
            _address(notes, key, value, group)
        if key in table.known:
            _one_of(notes, key, value, group, kind, table.known[key], False)
        number = value.value if isinstance(value, Scalar) else None
        if key in table.controllers and size is not None and isinstance(number, int) and not 0 <= number < size:
            message = f"`{key}` is {number}, but the nodes are 0-{size - 1}; RLinf notices only when it starts the controller"
            edit = notes.instead(value, "0") if size == 1 else None
            notes.warn("PW116", group, message, value, "no such node", f"name a node from 0 to {size - 1}", edit)


def _one_of(notes: Notes, key: str, value: Value, group: str, kind: str, names: tuple[str, ...], refused: bool) -> None:
    text = ("" if value.is_null else value.text) if isinstance(value, Scalar) else kind_of(value)
    if text in names:
        return
    listed = " or ".join(f"`{name}`" for name in names)
    close = nearest(text, names)
    help = f"write `{close}`" if close else f"write {listed}"
    edit = notes.instead(value, close) if close else None
    if refused:
        shown = f"`{text}`" if text else "nothing"
        notes.error("PW116", group, f"`{key}` must be {listed}, but it is {shown}", value, "not one of them", help, edit)
    else:
        notes.warn("PW116", group, f"`{key}` is `{text}`; for a {kind} RLinf knows {listed}", value, "not one of them", help, edit)


def _address(notes: Notes, key: str, value: Value, group: str) -> None:
    from ipaddress import ip_address

    number = value.value if isinstance(value, Scalar) else None
    text = value.text if isinstance(value, Scalar) else kind_of(value)
    try:
        ip_address(number if isinstance(number, int) else text)  # Python takes a whole number for an address, and so does RLinf
    except ValueError:
        message = f"`{key}` must be an IP address, but it is `{text}`"
        notes.error("PW116", group, message, value, "not an address", "write an address such as `10.0.0.2`")
