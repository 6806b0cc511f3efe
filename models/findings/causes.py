"""One cause, one finding: findings of the same cause become one with its list, and what follows from an error is held back."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Iterable, Sequence

from .finding import Finding, Severity, Unchecked

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
