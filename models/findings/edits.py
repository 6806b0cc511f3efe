"""The edits of many findings, so that all of them can be made together."""

from __future__ import annotations

from dataclasses import replace
from typing import Sequence

from .finding import Finding
from .span import Edit, Span


def of_one_use(findings: Sequence[Finding], shared: Sequence[Span]) -> list[Finding]:
    """The findings, without edits of a text that aliases use at other places too: these would change with it."""
    if not shared:
        return list(findings)
    return [replace(each, edit=None) if each.edit and any(meet(each.edit.span, its) for its in shared) else each for each in findings]


def meet(edit: Span, shared: Span) -> bool:
    """Does an edit change a shared text? What is put in at the end of a map or a list makes it longer."""
    if edit.file != shared.file:
        return False
    return (edit.start < shared.end and edit.end > shared.start) or edit.start == edit.end in (shared.start, shared.end)


def go_together(findings: Sequence[Finding]) -> list[Finding]:
    """The findings, with edits of which no two overlap.

    Of two for the same place the later one is taken, which knew more; of two insertions at one place the first. Removals that overlap become one. What lies within a
    removal is mended by it; what lies within another edit has none of its own until that one is made.
    """
    latest = {finding.edit.span: finding.edit for finding in findings if finding.edit and finding.edit.span.length}
    chosen = [latest.get(finding.edit.span, finding.edit) if finding.edit else None for finding in findings]
    instead = _instead_of(list(dict.fromkeys(edit for edit in chosen if edit)))
    return [replace(finding, edit=instead.get(edit, edit)) if edit else finding for finding, edit in zip(findings, chosen)]


def _instead_of(edits: list[Edit]) -> dict[Edit, Edit | None]:
    """What takes the place of every edit that overlaps another one."""
    instead: dict[Edit, Edit | None] = {}
    removals: list[Edit] = []
    last: Edit | None = None
    inserted: dict[tuple[str, int], Edit] = {}
    for edit in sorted(edits, key=lambda edit: (edit.span.file, edit.span.start, bool(edit.span.length), -edit.span.end)):
        if not edit.span.length and inserted.setdefault((edit.span.file, edit.span.start), edit) is not edit:
            instead[edit] = None
        elif last is None or last.span.file != edit.span.file or edit.span.start >= last.span.end:
            if edit.span.length:
                last, removals = edit, [edit]
        elif last.text or (edit.text and edit.span.end > last.span.end):
            instead[edit] = None
        else:
            removals.append(edit)
            last = Edit(replace(last.span, end=max(last.span.end, edit.span.end)), "")
            instead.update(dict.fromkeys(removals, last))
    return instead
