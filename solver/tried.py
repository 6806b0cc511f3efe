"""Helps that were tried: each edit is made alone, and the file is read and verified again."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Callable, Collection, Sequence

from ..models.findings.causes import WRITTEN, skeleton
from ..models.findings.finding import Finding, Severity
from ..models.findings.span import Edit, apply_edits
from ..models.findings.wording import with_noun
from ..models.reading import Reading

MOST_TRIED = 8
"""So many edits of one file are tried; of more, the later ones are shown as they are. Each costs as much as reading the file."""
MOST_TOLD = 2
"""So many of the errors that follow from a cause are told in its notes."""
_INSTEAD = {"PW104": "remove it"}
"""What helps where an edit does not, as beside the right key."""
MISSPELT = frozenset({"PW104", "PW118", "PW125", "PW803"})
"""Codes of texts that are not read, or read otherwise than they look."""
UNREAD = WRITTEN | {"PW107", "PW108", "PW109", "PW110", "PW111"}
"""Codes of placements of which it is not known what they are, so that no rule judges them."""
Errors = Callable[[Reading], Sequence[Finding]]
"""What is found in a file, without trying anything."""


def tried(reading: Reading, findings: Sequence[Finding], found_in: Errors) -> list[Finding]:
    """The findings of a file with errors: edits that do not mend, or make other errors, are not offered, nor their helps.

    What is gone with the edit of an earlier cause follows from that, and is one of its notes.
    """
    if reading.session.as_before is None or not any(finding.severity is Severity.ERROR for finding in findings):
        return list(findings)
    kept = list(findings)
    before = Counter(map(_said, findings))
    for edit in _offered(reading, findings):
        after = found_in(reading.session.read(_with(reading, edit)))
        left = Counter(map(_said, after))
        mended = [each for each in kept if each.edit == edit]
        if not mended:
            continue  # all that it mends follows from another one
        works = all(left[_said(each)] < before[_said(each)] for each in mended) and not _fresh(mended, findings, after)
        if not works:
            kept = [replace(each, edit=None, help=_INSTEAD.get(each.code, "")) if each.edit == edit else each for each in kept]
            continue
        still = {(each.code, each.subject) for each in after if each.severity is Severity.ERROR}
        follows = [each for each in kept if _follows(each, mended[0], still)] if _is_cause(mended[0]) else []
        if follows:
            kept = [_because(each, follows) if each is mended[0] else each for each in kept if each not in follows]
    return kept


def _offered(reading: Reading, findings: Sequence[Finding]) -> list[Edit]:
    """The edits of the file itself, those of errors and of how things are written first."""
    own = [each for each in findings if each.edit is not None and each.edit.span.file == reading.source.name]
    own.sort(key=lambda each: (_phase(each), each.severity is not Severity.ERROR))
    return list(dict.fromkeys(each.edit for each in own if each.edit is not None))[:MOST_TRIED]


def _with(reading: Reading, edit: Edit) -> str:
    return apply_edits(reading.source.text, [edit])


def _said(finding: Finding) -> tuple[str, str, str]:
    """What is found, whatever the numbers are: with others it is the same fault."""
    return finding.code, finding.subject, skeleton(finding.subject, finding.message) if finding.subject else finding.message


def _fresh(mended: Sequence[Finding], before: Sequence[Finding], after: Sequence[Finding]) -> bool:
    """Are there errors that were not there before?

    What is written wrongly is not read: what is wrong in it, or with it, can be found as soon as it is what was meant.
    """
    codes = Counter(each.code for each in before if each.severity is Severity.ERROR)
    codes.subtract(each.code for each in mended if each.severity is Severity.ERROR)
    misspelt = any(each.code in MISSPELT for each in mended)
    unread = any(each.code in UNREAD for each in mended)
    for each in after:
        if each.severity is Severity.ERROR:
            codes[each.code] -= 1
            unseen = not each.unusable and (
                misspelt or (unread and (each.code > "PW2" or each.code in ("PW101", "PW102", "PW121", "PW123")))
            )
            if codes[each.code] < 0 and not unseen:
                return True
    return False


def _phase(finding: Finding) -> int:
    """How early something is known to be wrong: as it is written, as it is asked for, with its machines, with its ranks, with its work."""
    code = finding.code
    if code in WRITTEN or code < "PW1":
        return 0
    if code in ("PW101", "PW123"):
        return 1
    if code < "PW2" or code in ("PW215", "PW404"):
        return 2
    return 3 if code < "PW4" else 4


def _is_cause(finding: Finding) -> bool:
    """True if errors may follow from a finding: a warning only where a text is not what it looks like."""
    return finding.severity is Severity.ERROR or finding.code in MISSPELT


def _follows(finding: Finding, cause: Finding, still: Collection[tuple[str, str]]) -> bool:
    """True if an error is gone, with all of its kind about the same, as soon as an earlier cause is mended."""
    gone = (finding.code, finding.subject) not in still
    return finding.severity is Severity.ERROR and gone and _phase(cause) < _phase(finding)


def _because(cause: Finding, follows: Sequence[Finding]) -> Finding:
    """The cause, which is an error if what follows from it is, with what follows."""
    notes = tuple(f"this mends {each.code} too: {each.message}" for each in follows[:MOST_TOLD])
    more = (f"and {with_noun(len(follows) - MOST_TOLD, 'error')} more",) if len(follows) > MOST_TOLD else ()
    return replace(cause, severity=Severity.ERROR, notes=(*cause.notes, *notes, *more))
