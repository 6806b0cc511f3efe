"""Findings of one cause as one, and edits of many findings together."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Iterable, Sequence

from .finding import Finding, Severity, Unchecked
from .span import Edit, Span

WRITTEN = frozenset({"PW103", "PW104", "PW105", "PW106", "PW112", "PW118", "PW121", "PW803"})
"""Codes of how a component is written: with one of them it is not known what was meant."""
ABSENT = frozenset({"PW123", "PW209", "PW601"})
"""Codes of a component that is not there, or not as large as asked, as long as it is written wrongly."""
UNSURE = frozenset({"PW201", "PW208"})
"""Codes of ranks and degrees that may not be those that were meant; a wrong type of another setting leaves them as they are."""
WRONG_SIZE = frozenset({"PW102", "PW103", "PW110", "PW111", "PW208"})
"""Codes of ranks that a component cannot have: what relates it to others is judged by the ranks that it will have."""
_WRONG_DEGREES = {"PW208": "PW404", "PW111": "PW404"}
"""Code -> the code of degrees that the model refuses: whatever they are, they are to be changed."""
_COMMON = frozenset({"PW102", "PW114", "PW122", "PW124", "PW126", "PW501", "PW502", "PW503", "PW605", "PW606"})
"""Codes whose cause lies in the machines or in the framework, and not at the place of each subject."""
MOST_LISTED = 6
"""Of so many subjects of one finding the lines are named."""
_NUMBER = re.compile(r"\d+")


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


def by_cause(findings: Iterable[Finding]) -> list[Finding]:
    """The findings, those of one cause as the first of them with its list.

    Their cause is the same where code, severity and help are, and the message is but for the subject and its numbers: at one place, with
    one edit, or where the cause is not at their places.
    """
    groups: dict[object, list[Finding]] = {}
    for finding in findings:
        cause = _cause(finding)
        if any(each.subject == finding.subject for each in groups.get(cause, ())):
            cause = finding  # the same subject at another place has another fault
        groups.setdefault(cause, []).append(finding)
    return [_listed(group) for group in groups.values()]


def _cause(finding: Finding) -> object:
    if not finding.subject or not finding.help or (finding.edit is None and finding.span is None):
        return finding
    where = finding.edit or (None if finding.code in _COMMON else finding.span)
    said = skeleton(finding.subject, finding.message), _named_otherwise(finding.subject, finding.help)
    return (finding.severity, finding.code, *said, where, finding.notes)


def skeleton(subject: str, message: str) -> str:
    """A message as it is of any subject, with any numbers of it."""
    return _NUMBER.sub("#", _named_otherwise(subject, message))


def _named_otherwise(subject: str, text: str) -> str:
    return re.sub(rf"(?<![\w.]){re.escape(subject)}(?![\w.])", "@", text)


def _listed(group: list[Finding]) -> Finding:
    first, others = group[0], group[1:]
    if not others:
        return first
    names = [_named(each, first) for each in others[:MOST_LISTED]]
    more = f" and {len(others) - MOST_LISTED} more" if len(others) > MOST_LISTED else ""
    subjects = tuple(name for each in others for name in (each.subject, *each.also))
    return replace(first, notes=(*first.notes, f"the same of {', '.join(names)}{more}"), also=subjects)


def _named(finding: Finding, first: Finding) -> str:
    line = f" (line {finding.span.line})" if finding.span and first.span and finding.span.line != first.span.line else ""
    return f"`{finding.subject}`{line}"


def first_causes(findings: Sequence[Finding]) -> tuple[list[Finding], list[Unchecked]]:
    """The findings without errors whose premise is another error; those are said to be unchecked until that one is mended."""
    errors = [each for each in findings if each.severity is Severity.ERROR]
    kept, held = list[Finding](), list[Unchecked]()
    for finding in findings:
        premise = _premise(finding, errors) if finding.severity is Severity.ERROR else None
        if premise is None:
            kept.append(finding)
        else:
            held.append(Unchecked(finding.code, finding.subject, f"judged once {premise.code} of `{premise.subject}` is mended"))
    return kept, list(dict.fromkeys(held))


def _premise(finding: Finding, errors: Sequence[Finding]) -> Finding | None:
    """The error that must be mended before this one can be judged."""
    for error in errors:
        if error is finding or not error.subject or error.premises:
            continue
        written = error.code in WRITTEN and (finding.code in ABSENT or (finding.code in UNSURE and error.code != "PW105"))
        written = written or _WRONG_DEGREES.get(finding.code) == error.code
        if written and error.subject == finding.subject and not finding.premises:
            return error
        if error.subject in finding.premises and error.code in WRONG_SIZE:
            return error
    return None
