"""The section `work` of a native file."""

from __future__ import annotations

from typing import Collection, Iterator

from ...findings.finding import Finding
from ...hints.entries import entries, span_in, unknown
from ...share import Share
from ...text.tree import Value
from .form import WorkForm


def read_work(written: Value | None, names: Collection[str], level: str, findings: list[Finding]) -> Iterator[Share]:
    """The shares of the section that this level judges."""
    for position, (form, item) in enumerate(
        entries(WorkForm, written, "work", "{component: env, what: environments, amount: 512}", findings)
    ):
        if form.component not in names:
            findings.append(unknown("work", form.component, names, span_in(item, "component")))
        elif form.level == level or form.level == "placement":
            yield Share(
                form.component, form.amount, form.multiple, form.what, f"work.{position}.amount", "", span_in(item, "amount"), form.reason,
                form.required,
            )  # fmt: skip
