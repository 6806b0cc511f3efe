"""Grouping of findings by cause, and merging of edits."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Iterable, Iterator, Sequence

from ..ranks import merge, write_ranks
from .finding import OF_VALUE, Finding, Severity, Unchecked
from .span import Edit, Span
from .wording import plural

WRITTEN = frozenset({"PW103", "PW104", "PW105", "PW106", "PW112", "PW118", "PW121", "PW803"})
"""Codes for faulty text of a component: the meaning is unknown."""
ABSENT = frozenset({"PW123", "PW209", "PW601"})
"""Codes for a missing or too small component, as long as the text is faulty."""
UNSURE = frozenset({"PW201", "PW208"})
"""Codes for ranks and degrees that a faulty text, but no wrong type, may misstate."""
WRONG_SIZE = frozenset({"PW102", "PW103", "PW110", "PW111", "PW205", "PW208"})
"""Codes for impossible ranks; related components wait for corrected ranks."""
_WRONG_DEGREES = {"PW208": "PW404", "PW111": "PW404"}
"""Code -> code for degrees refused by the model, which must change anyway."""
_OF_DEGREES = {"PW202": frozenset({"PW111", "PW208"}), "PW214": frozenset({"PW111", "PW208"})}
"""Code of a fault of groups -> codes of errors about their degrees."""
_OF_TEXT = frozenset({"PW103", "PW105"})
"""Codes of one wrong text in several places: equal if message and help are, numbers included."""
_SHARES = "PW401"
"""Code of shares that do not divide; the notes say when each component notices it."""
_COMMON = frozenset({"PW102", "PW106", "PW107", "PW114", "PW122", "PW124", "PW126", "PW501", "PW502", "PW503", "PW605", "PW606"})
"""Codes whose cause is not at their places: in the cluster, the framework, or a whole section."""
MOST_LISTED = 6
"""Maximum number of subjects of a finding with a line number."""
_NUMBER = re.compile(r"\d+")


def of_one_use(findings: Sequence[Finding], alias_spans: Sequence[Span]) -> list[Finding]:
    """Return the findings without edits of aliased text, which has further uses."""
    if not alias_spans:
        return list(findings)
    return [
        replace(finding, edit=None) if finding.edit and any(meet(finding.edit.span, span) for span in alias_spans) else finding
        for finding in findings
    ]


def meet(edit: Span, aliased_text: Span) -> bool:
    """Return True if an edit changes a shared text. An insertion at its end extends it."""
    if edit.file != aliased_text.file:
        return False
    return (edit.start < aliased_text.end and edit.end > aliased_text.start) or edit.start == edit.end in (
        aliased_text.start,
        aliased_text.end,
    )


def go_together(findings: Sequence[Finding]) -> list[Finding]:
    """Return the findings with non-overlapping edits.

    Of two edits of the same place that of an error wins, then the later one, which knew more; of two
    insertions at one place the first. Overlapping removals are merged. An edit inside a removal is
    covered by it; an edit inside another edit is dropped until that edit is made.
    """
    by_urgency = sorted(findings, key=lambda finding: finding.severity is Severity.ERROR)
    latest = {finding.edit.span: finding.edit for finding in by_urgency if finding.edit and finding.edit.span.length}
    edits = [latest.get(finding.edit.span, finding.edit) if finding.edit else None for finding in findings]
    instead = _replacements(list(dict.fromkeys(edit for edit in edits if edit)))
    return [replace(finding, edit=instead.get(edit, edit)) if edit else finding for finding, edit in zip(findings, edits)]


def _replacements(edits: list[Edit]) -> dict[Edit, Edit | None]:
    """Return edit -> replacement, for edits that overlap another edit."""
    instead: dict[Edit, Edit | None] = {}
    removals: list[Edit] = []
    last: Edit | None = None
    insertions: dict[tuple[str, int], Edit] = {}
    for edit in sorted(edits, key=lambda edit: (edit.span.file, edit.span.start, bool(edit.span.length), -edit.span.end)):
        if not edit.span.length and insertions.setdefault((edit.span.file, edit.span.start), edit) is not edit:
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


def merge_by_cause(findings: Iterable[Finding], alias_spans: Sequence[Span] = ()) -> list[Finding]:
    """Return the findings, merged by common cause.

    The cause is common if code, severity and help agree, and the message agrees except for the
    subject and its numbers. The findings must also share a place or an edit, unless the cause is
    not at their places. The place of a value with aliases (`alias_spans`), or with interpolations, is
    where it is written.
    """
    groups: dict[object, list[Finding]] = {}
    for finding in _join_nodes(findings):
        cause = _cause(finding, alias_spans)
        if any(member.subject == finding.subject for member in groups.get(cause, ())):
            cause = finding  # the same subject at another place has another fault
        groups.setdefault(cause, []).append(finding)
    return [_list_group(group) for group in groups.values()]


def _join_nodes(findings: Iterable[Finding]) -> Iterator[Finding]:
    """Yield the findings; the same shared accelerators on several nodes are one."""
    groups: dict[object, list[Finding]] = {}
    for finding in findings:
        same = finding.code == "PW201" and len(finding.witnesses) == 2
        key = (finding.subject, skeleton("", finding.message), finding.help, finding.span) if same else finding
        groups.setdefault(key, []).append(finding)
    for first, *rest in groups.values():
        nodes = [finding.witnesses[0] for finding in rest]
        ranges = [range(node, node + 1) for node in nodes if isinstance(node, int)]
        count = first.amount + sum(finding.amount for finding in rest)
        note = f"the same on {plural('node', len(nodes))} {write_ranks(merge(ranges))}: {count} in all"
        yield replace(first, notes=(*first.notes, note), amount=count) if rest else first


def _cause(finding: Finding, alias_spans: Sequence[Span]) -> object:
    if not finding.subject or not finding.help or (finding.edit is None and finding.span is None):
        return finding
    # One wrong text under the same key of several components; a subject that is a key has its own value.
    is_text = finding.code in _OF_TEXT and not finding.message.startswith(f"`{finding.subject}` ")
    location: object = None if finding.code in _COMMON or is_text else finding.span
    location = finding.edit if finding.edit and not is_text else location
    # A number in the name of a group, or in a wrong text, is not an amount.
    mask = _mask_subject if finding.code == "PW107" or is_text else skeleton
    texts = mask(finding.subject, finding.message), _mask_subject(finding.subject, finding.help)
    has_origin = finding.origin is not None and finding.origin_label == OF_VALUE
    places = (finding.origin or finding.span, finding.cause)
    at = next((at for at in places if at and (has_origin or any(meet(at, span) for span in alias_spans))), None)
    if at is not None:
        location = at.file, at.start, at.end
        subject_pattern = re.compile(rf"(?<![\w.]){re.escape(finding.subject)}(?!\w)")  # keys of the subject too
        texts = _NUMBER.sub("#", subject_pattern.sub("@", finding.message)), subject_pattern.sub("@", finding.help)
    return (finding.severity, finding.code, *texts, location, () if finding.code == _SHARES else finding.notes)


def skeleton(subject: str, message: str) -> str:
    """Return the message without subject and numbers."""
    return _NUMBER.sub("#", _mask_subject(subject, message))


def _mask_subject(subject: str, text: str) -> str:
    return re.sub(rf"(?<![\w.]){re.escape(subject)}(?![\w.])", "@", text)


def _list_group(group: list[Finding]) -> Finding:
    first, rest = group[0], group[1:]
    if not rest:
        return first
    names = [_name_subject(finding, first) for finding in rest[:MOST_LISTED]]
    more = f" and {len(rest) - MOST_LISTED} more" if len(rest) > MOST_LISTED else ""
    subjects = tuple(name for finding in rest for name in (finding.subject, *finding.also))
    return replace(first, notes=(*first.notes, f"the same of {', '.join(names)}{more}"), also=subjects)


def _name_subject(finding: Finding, first: Finding) -> str:
    line = f" (line {finding.span.line})" if finding.span and first.span and finding.span.line != first.span.line else ""
    return f"`{finding.subject}`{line}"


def first_causes(findings: Sequence[Finding]) -> tuple[list[Finding], list[Unchecked]]:
    """Return the findings without dependent ones, and these as unchecked."""
    errors = [finding for finding in findings if finding.severity is Severity.ERROR]
    independent, dependent = list[Finding](), list[Unchecked]()
    for finding in findings:
        may_wait = finding.severity is Severity.ERROR or finding.disputed
        premise = (_premise(finding, errors) if may_wait else None) or _wrong_degrees(finding, errors)
        if premise is None:
            independent.append(finding)
        else:
            dependent.append(Unchecked(finding.code, finding.subject, f"judged once {premise.code} of `{premise.subject}` is fixed"))
    return independent, list(dict.fromkeys(dependent))


def _wrong_degrees(finding: Finding, errors: Sequence[Finding]) -> Finding | None:
    """Return the error of the same component about the degrees of a finding."""
    codes = _OF_DEGREES.get(finding.code, frozenset())
    return next((error for error in errors if error.code in codes and error.subject == finding.subject), None)


def _premise(finding: Finding, errors: Sequence[Finding]) -> Finding | None:
    """Return the error to fix before this finding can be judged."""
    for error in errors:
        if error is finding or not error.subject or error.premises:
            continue
        is_written = error.code in WRITTEN and (finding.code in ABSENT or (finding.code in UNSURE and error.code != "PW105"))
        is_written = is_written or _WRONG_DEGREES.get(finding.code) == error.code
        if is_written and error.subject == finding.subject and not finding.premises:
            return error
        of_ranks = error.subject in finding.premises or (finding.code == _SHARES and finding.subject in (error.subject, *error.also))
        if of_ranks and error.code in WRONG_SIZE:
            return error
    return None
