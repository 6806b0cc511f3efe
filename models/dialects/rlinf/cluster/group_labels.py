"""The label of a node group: what it may not be, and what would be a good one.

Source: RLinf, rlinf/scheduler/cluster/config.py (reserved labels) and node.py (NodeProbe: no label twice).
"""

from __future__ import annotations

from ....configuration.notes import Notes, is_unknown
from ....text.tree import Mapping, Scalar, kind_of, plain
from ..capabilities import RESERVED_LABELS


def read_label(notes: Notes, group: Mapping, seen: set[str]) -> str | None:
    """The label, also one that cannot be used; None where there is none. It is added to `seen`."""
    value = group.get("label")
    if value is None:
        notes.missing("node_groups", "label", group.span, "add `label: NAME`", shared=False)
        return None
    if is_unknown(value):
        return None
    if not isinstance(value, Scalar):
        label = str(plain(value))
        message = f"`label` should be a name, but it is {kind_of(value)}: RLinf takes it for the label `{label[:60]}`"
        notes.warn("PW113", "node_groups", message, value, kind_of(value), "write one word, such as `a800`")
        seen.add(label)
        return label
    text = notes.text(value, value.text)
    label = text.text
    if label in RESERVED_LABELS:
        other = _free(f"my_{label}", seen)
        message = f"the label `{label}` is reserved: it names a group that always exists"
        notes.error(
            "PW113", label, message, value, "reserved", f"choose another label, such as `{other}`", text.replaced(other, group.flow)
        )
    elif label in seen:
        other = _free(f"{_without_comma(label)}_2", seen)
        message = f"two node groups have the label `{label}`; RLinf notices only when the cluster starts"
        help = f"choose another label, such as `{other}`"
        notes.error("PW113", label, message, value, "again here", help, text.replaced(other, group.flow))
    elif "," in label:
        other = _free(_without_comma(label), seen)
        message = f"the label `{label}` has a comma: no component can refer to it"
        help = f"choose a label without a comma, such as `{other}`"
        notes.warn("PW113", label, message, value, "a comma", help, text.replaced(other, group.flow))
    seen.add(label)
    return label


def _without_comma(label: str) -> str:
    return "_".join(piece.strip() for piece in label.split(",") if piece.strip()) or "group"


def _free(label: str, seen: set[str]) -> str:
    """The label, with more underscores if it is taken."""
    while label in seen or label in RESERVED_LABELS:
        label += "_"
    return label
