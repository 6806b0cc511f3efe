"""Permissions of a native file for explicit ranks: `allow: [overlap, ...]`."""

from __future__ import annotations

from ...findings.finding import Finding, error
from ...findings.span import Edit
from ...job import Capabilities
from ...text.nearest import nearest
from ...text.tree import ListNode, Scalar, Value

ALLOWED = {"overlap": "shares_accelerators", "groups_across_nodes": "groups_may_cross", "processes_across_nodes": "processes_may_cross"}
"""Word -> capability of the job.

By default a native file refuses everything that at least one framework refuses.
"""


def read_allowed(written: Value | None, findings: list[Finding]) -> Capabilities:
    """Return the capabilities in `allow`, a word or a list of words."""
    if written is None:
        return Capabilities()
    items = written.items if isinstance(written, ListNode) else (written,)
    named = []
    for item in items:
        word = item.text if isinstance(item, Scalar) else ""
        if word in ALLOWED:
            named.append(ALLOWED[word])
            continue
        close = nearest(word, ALLOWED)
        edit = Edit(item.span, close) if close else None
        listed = ", ".join(f"`{allowed}`" for allowed in ALLOWED)
        advice = f"write `{close}`" if close else f"known are {listed}"
        message = f"`{word[:60]}` is nothing that a native file can allow" if word else "`allow` is a list of words"
        findings.append(error("PW105", "", message, item.span, label="not known", help=advice, edit=edit))
    return Capabilities(**dict.fromkeys(named, True))  # type: ignore[arg-type]
