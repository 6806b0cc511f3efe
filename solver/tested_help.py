"""Tested help: every edit is applied alone, and the file is read and verified again."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from typing import Callable, Collection, Sequence

from ..models.findings.causes import WRITTEN, skeleton
from ..models.findings.finding import Finding, Severity
from ..models.findings.span import Edit, apply_edits
from ..models.findings.wording import with_noun
from ..models.reading import Reading

MOST_TRIED = 8
"""Largest number of edits tested per file.

Further edits are shown untested. A test costs as much as reading the file.
"""
MOST_VALUES = 4
"""Largest number of values tested per edit."""
MOST_TOLD = 2
"""Largest number of follow-up errors listed in a cause's notes."""
_VALUE_PATTERN = re.compile(r"write (`[^`]+`)(?: for `[^`]+`)?")
_VALUES_PATTERN = re.compile(r"((?:set|write) `(?:[^`:=]+(?:: |=))?)([^`:= ]+)`((?: or `[^`:= ]+`)*)")
_NUMBERS_PATTERN = re.compile(r"(set `[^`]+` to )(\d+(?: or \d+)*)(.*)")
"""Helps with a value, or several."""
_WORK = 4
"""Last stage of detection; see `_phase`."""
MISSPELT = frozenset({"PW104", "PW118", "PW125", "PW803"})
"""Codes of texts that are ignored or misread."""
UNREAD = WRITTEN | {"PW107", "PW108", "PW109", "PW110", "PW111"}
"""Codes of unreadable placements, which no rule judges."""
Errors = Callable[[Reading], Sequence[Finding]]
"""Callback for all findings of a file, without tests."""


def with_tested_edits(reading: Reading, findings: Sequence[Finding], found_in: Errors) -> list[Finding]:
    """Return the findings of a file, with only tested edits offered.

    Edits that repair nothing or cause new errors are removed with their help; of several values in a
    help those that work stay. Errors that disappear with the edit of an earlier cause become notes of
    that cause.
    """
    if reading.session.as_before is None:
        return list(findings)
    remaining = list(findings)
    for edit in _select_edits(reading, findings):
        repairs = sorted(
            (finding for finding in remaining if finding.edit == edit), key=lambda finding: finding.severity is not Severity.ERROR
        )
        if not repairs:
            continue  # repaired by another edit
        works = _try_values(reading, edit, repairs, findings, found_in)
        if not works:
            remaining = [
                replace(finding, edit=None, help=_without_edit(finding)) if finding.edit == edit else finding for finding in remaining
            ]
            continue
        value = edit.text if edit.text in works else next(iter(works))
        after, new_edit = works[value], replace(edit, text=value)
        changes = {finding: replace(finding, edit=new_edit, help=_name_values(finding.help, edit, works)) for finding in repairs}
        remaining = [changes.get(finding, finding) for finding in remaining]
        repairs = [changes[finding] for finding in repairs]
        errors_after = {(finding.code, finding.subject) for finding in after if finding.severity is Severity.ERROR}
        # Errors may follow from errors, and from warnings of misread text.
        is_cause = repairs[0].severity is Severity.ERROR or repairs[0].code in MISSPELT
        follows = [finding for finding in remaining if is_cause and _follows(finding, repairs[0], errors_after)]
        if follows:
            remaining = [
                _because(finding, follows) if finding is repairs[0] else finding for finding in remaining if finding not in follows
            ]
    return remaining


def _try_values(
    reading: Reading, edit: Edit, repairs: Sequence[Finding], findings: Sequence[Finding], found_in: Errors
) -> dict[str, Sequence[Finding]]:  # fmt: skip
    """Return the working texts of an edit, each with the findings after it.

    Of several texts, those with the fewest errors count. Candidates are the values of its help and, if none works, that of an error which a value leads to.
    """
    values = _list_values(repairs[0].help)
    outcomes = dict[str, Sequence[Finding]]()
    pending = list(dict.fromkeys(values if edit.text in values else [edit.text]))
    works = dict[str, Sequence[Finding]]()
    while pending and len(outcomes) < MOST_VALUES:
        value = pending.pop(0)
        after = outcomes[value] = found_in(reading.session.read(apply_edits(reading.source.text, [replace(edit, text=value)])))
        if _repairs_all(repairs, findings, after):
            works[value] = after
        elif not pending and not works and edit.text in values:
            next_edits = [finding.edit for finding in after if finding.edit and finding.severity is Severity.ERROR]
            next_values = [candidate.text for candidate in next_edits if candidate.span.start == edit.span.start]
            pending = [text for text in next_values if text not in outcomes][:1]
    counts = {value: sum(finding.severity is Severity.ERROR for finding in after) for value, after in works.items()}
    return {value: after for value, after in works.items() if counts[value] == min(counts.values())}


def _list_values(help: str) -> list[str]:
    """Return the values that a help names."""
    match, numbers = _VALUES_PATTERN.fullmatch(help), _NUMBERS_PATTERN.fullmatch(help)
    if numbers:
        return numbers[2].split(" or ")
    return [match[2], *re.findall(r"`([^`]+)`", match[3])] if match else []


def _name_values(help: str, edit: Edit, values: Collection[str]) -> str:
    """Return the help with these values alone, if it names that of the edit."""
    match, numbers = _VALUES_PATTERN.fullmatch(help), _NUMBERS_PATTERN.fullmatch(help)
    if edit.text not in _list_values(help):
        return help
    return f"{numbers[1]}{' or '.join(values)}{numbers[3]}" if numbers else f"{match[1]}{'` or `'.join(values)}`" if match else help


def _without_edit(finding: Finding) -> str:
    """Return the help for a failed edit: of ranks, the alternative without an edit; "" if there is none.

    An ignored key is removed, a refused key has a nearest one.
    """
    if finding.code == "PW104":
        return "remove it"
    match = _VALUE_PATTERN.fullmatch(finding.help) if finding.code == "PW012" else None
    if match:
        return f"did you mean {match[1]}? Other errors follow with this value"
    if finding.help.endswith(" or more"):
        return finding.help  # a bound, whatever else is wrong
    return finding.help.partition(", or ")[2] if finding.code < "PW3" else re.sub(r".*?, or (?=set `|$)|.*", "", finding.help, count=1)


def _select_edits(reading: Reading, findings: Sequence[Finding]) -> list[Edit]:
    """Return the edits of the file itself, spelling and errors first."""
    of_file = [finding for finding in findings if finding.edit is not None and finding.edit.span.file == reading.source.name]
    of_file.sort(key=lambda finding: (_phase(finding), finding.severity is not Severity.ERROR))
    return list(dict.fromkeys(finding.edit for finding in of_file if finding.edit is not None))[:MOST_TRIED]


def _identity(finding: Finding) -> tuple[str, str, str]:
    """Return the identity of a finding, without its numbers."""
    return finding.code, finding.subject, skeleton(finding.subject, finding.message) if finding.subject else finding.message


def _repairs_all(repairs: Sequence[Finding], findings: Sequence[Finding], after: Sequence[Finding]) -> bool:
    """Return True if an edit repairs its findings without new errors."""
    counts, before = Counter(map(_identity, after)), Counter(map(_identity, findings))
    return all(counts[_identity(finding)] < before[_identity(finding)] for finding in repairs) and not _fresh(repairs, findings, after)


def _fresh(repairs: Sequence[Finding], before: Sequence[Finding], after: Sequence[Finding]) -> bool:
    """Return True if new errors appear after an edit.

    A repaired misspelling may reveal errors in the newly read text: these do not count. A number
    instead of one that is too small is no text of the user.
    """
    codes = Counter(finding.code for finding in before if finding.severity is Severity.ERROR)
    codes.subtract(finding.code for finding in repairs if finding.severity is Severity.ERROR)
    misspelt = any(finding.code in MISSPELT for finding in repairs)
    unread = any(finding.code in UNREAD and finding.label != "too small" for finding in repairs)
    for finding in after:
        if finding.severity is Severity.ERROR:
            codes[finding.code] -= 1
            unseen = not finding.unusable and (
                misspelt or (unread and (finding.code > "PW2" or finding.code in ("PW101", "PW102", "PW121", "PW123")))
            )
            if codes[finding.code] < 0 and not unseen:
                return True
    return False


def _phase(finding: Finding) -> int:
    """Return the stage of detection: spelling, request, machines, ranks, work."""
    code = finding.code
    if code in WRITTEN or code < "PW1":
        return 0
    if code in ("PW101", "PW123"):
        return 1
    if code < "PW2" or code in ("PW215", "PW404"):
        return 2
    return 3 if code < "PW4" else _WORK


def _follows(finding: Finding, cause: Finding, errors_after: Collection[tuple[str, str]]) -> bool:
    """Return True if an error disappears, with all alike, once an earlier cause is repaired.

    An error of work with another edit, or another message, follows from one of work if no error is left.
    So does a warning with the edit of an error.
    """
    gone = (finding.code, finding.subject) not in errors_after
    if finding.severity is Severity.WARNING:
        return finding.edit == cause.edit and cause.severity is Severity.ERROR
    texts = [skeleton(error.subject, error.message) for error in (finding, cause)]
    is_distinct = finding.edit != cause.edit or (finding.code == cause.code and texts[0] != texts[1])
    is_work = _phase(cause) == _phase(finding) == _WORK and not errors_after and is_distinct
    is_later = _phase(cause) < _phase(finding) or is_work
    return finding.severity is Severity.ERROR and gone and is_later


def _because(cause: Finding, follows: Sequence[Finding]) -> Finding:
    """Return the cause as an error; follow-up errors at other places are notes."""
    follows = [finding for finding in follows if (finding.code, finding.span) != (cause.code, cause.span)]
    notes = tuple(f"this fixes {finding.code} too: {finding.message}" for finding in follows[:MOST_TOLD])
    more = (f"and {with_noun(len(follows) - MOST_TOLD, 'error')} more",) if len(follows) > MOST_TOLD else ()
    return replace(cause, severity=Severity.ERROR, notes=(*cause.notes, *notes, *more))
