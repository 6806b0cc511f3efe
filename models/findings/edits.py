"""The edits of many findings, so that all of them can be made together."""

from __future__ import annotations

from dataclasses import replace
from typing import Sequence

from .finding import Finding
from .span import Edit


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
