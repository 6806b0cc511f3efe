"""The key `objective`, of a native file and of the block `placewright:`: what makes one answer better than another."""

from __future__ import annotations

from ..findings.finding import Finding, UnusableInput, error
from ..machines.topology import LEVELS
from ..preference import LEXICOGRAPHIC, ORDERS, WEIGHTED, Preference
from ..text.form import Form, form_of, key
from ..text.forms import fill
from ..text.tree import Entry, MapNode, Scalar, Value, find, leaves
from ..text.unresolved import UNRESOLVED
from ..text.values import Index, OneOf, word_or_map

_Order = OneOf("order", ORDERS)


class WeightsForm(Form):
    """What a MiB across each level of the topology costs in the weighted sum."""

    zone = key(Index, default=1, description="a whole number such as `100`")
    rack = key(Index, default=1, description="a whole number such as `10`")
    nvlink_domain = key(Index, default=1, description="a whole number such as `1`")


class ObjectiveForm(Form):
    """How bytes at different levels of the topology are compared."""

    order = key(
        _Order,
        default=None,
        description=f"`{LEXICOGRAPHIC}`: the widest level first; `{WEIGHTED}`: all levels in one sum, the default with `weights`",
    )
    weights = key(form_of(WeightsForm), default=None, description="a map such as `{rack: 10, nvlink_domain: 1}`")


Objective = word_or_map(_Order, ObjectiveForm)


def read_preference(written: Value | None, findings: list[Finding], key: str = "objective") -> Preference:
    """What the key says; the usual preference where there is none, or, with findings, where it is faulty."""
    if written is None:
        return Preference()
    if open_values := [value for value in leaves(written) if value.tag == UNRESOLVED]:
        message = f"`{key}` needs a value that is not known here: `{open_values[0].text}`"
        findings.append(error("PW120", "", message, open_values[0].span, help="write the value"))
        return Preference()
    alone = MapNode((Entry(Scalar("order", "", written.span), written),), written.span) if isinstance(written, Scalar) else written
    try:
        form = fill(ObjectiveForm, alone, "", f"`{key}`")
    except UnusableInput as problem:
        findings += problem.findings
        return Preference()
    weights = {level: getattr(form.weights, level) for level in LEVELS if form.weights and level in form.weights.said}
    order = form.order or (WEIGHTED if weights else LEXICOGRAPHIC)
    if weights and order != WEIGHTED:
        message = f"weights count in one sum, but the order is `{order}`"
        found = find(written, "weights")
        findings.append(
            error(
                "PW121", "", message, found.span if found else written.span, label="not used", help="write `order: weighted`, or drop them"
            )
        )
    return Preference(order, weights)
