"""Sections `allow` and `work` of a native file."""

from __future__ import annotations

from typing import Collection, Iterator

from ...findings.finding import Finding, error
from ...findings.span import Edit
from ...hints.relations import entries, span_in, unknown
from ...job import Capabilities, Share
from ...level import LEVELS, PLACEMENT
from ...text.form import Form, key
from ...text.nearest import nearest
from ...text.tree import ListNode, Scalar, Value
from ...text.values import Boolean, Count, OneOfValues, Word

ALLOWED = {"overlap": "shares_accelerators", "groups_across_nodes": "groups_may_cross", "processes_across_nodes": "processes_may_cross"}
"""Word -> capability of the job.

By default a native file refuses everything that at least one framework refuses.
"""


def read_allowed(value: Value | None, findings: list[Finding]) -> Capabilities:
    """Return the capabilities in `allow`, a word or a list of words."""
    if value is None:
        return Capabilities()
    items = value.items if isinstance(value, ListNode) else (value,)
    capabilities = []
    for item in items:
        word = item.text if isinstance(item, Scalar) else ""
        if word in ALLOWED:
            capabilities.append(ALLOWED[word])
            continue
        close = nearest(word, ALLOWED)
        edit = Edit(item.span, close) if close else None
        choices = ", ".join(f"`{choice}`" for choice in ALLOWED)
        advice = f"write `{close}`" if close else f"known are {choices}"
        message = f"`{word[:60]}` is nothing that a native file can allow" if word else "`allow` is a list of words"
        findings.append(error("PW105", "", message, item.span, label="not known", help=advice, edit=edit))
    return Capabilities(**dict.fromkeys(capabilities, True))  # type: ignore[arg-type]


_Level = OneOfValues("level", LEVELS)


class WorkForm(Form):
    """Work in equal shares for the processes of a component: environments, samples of a batch."""

    component = key(Word, description="the name of a component such as `env`")
    what = key(Word, description="what is dealt out, in the plural, such as `environments`")
    amount = key(Count, description="how many in all, such as `512`")
    multiple = key(Count, default=1, description="what the share of one process must be a multiple of, such as `8`")
    required = key(Boolean, default=True, description="`false` to be only warned where given ranks do not divide it")
    level = key(_Level, default=PLACEMENT, description="`training` to judge it with `--level training` only, else `placement`")
    reason = key(Word, default="", description="who demands it, such as `the trainer drops what is left`")


def read_work(value: Value | None, names: Collection[str], level: str, findings: list[Finding]) -> Iterator[Share]:
    """Yield the shares of the section that `level` judges."""
    for position, (form, item) in enumerate(
        entries(WorkForm, value, "work", "{component: env, what: environments, amount: 512}", findings)
    ):
        if form.component not in names:
            findings.append(unknown("work", form.component, names, span_in(item, "component")))
        elif form.level == level or form.level == "placement":
            yield Share(
                form.component, form.amount, form.multiple, form.what, f"work.{position}.amount", "", span_in(item, "amount"), form.reason,
                form.required,
            )  # fmt: skip
