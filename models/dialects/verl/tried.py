"""Edits of numbers that were tried: one that does not mend its finding, or breaks something else, is not offered.

The numbers of a verl job hang together: a batch that divides among agents may be too small for an update. So each change is made
in thought, alone and with those before it, and the job is judged again.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Callable, Iterable, Mapping

from ...findings.finding import Finding, Severity
from ...findings.span import Edit
from .job import Setup
from .room import ROOM

Again = Callable[[Mapping[str, int]], Setup]
"""The job with other numbers in the place of those that are written."""
MOST_TRIED = 12
"""So many edits are tried; more are not offered."""


def keep_what_works(setup: Setup, again: Again) -> None:
    """Takes the edits that do not keep their promise from the findings and the components of a job.

    Where the sizes of pools are to be changed, only that is offered, which was tried before: all else is right for these sizes alone.
    """
    findings = setup.settings.notes.findings
    sizes = {finding.edit for finding in findings if finding.edit and finding.code in ROOM}
    kept: dict[str, int] = {}
    mended: list[Finding] = []
    refused: set[Edit] = set()
    for edit, (path, value) in _numbers(setup).items():
        if sizes:
            refused |= {edit} - sizes
            continue
        promised = [finding for finding in findings if finding.edit == edit]
        tries = [({path: value}, promised)] + [({**kept, path: value}, [*mended, *promised])] * bool(kept)
        if len(kept) + len(refused) < MOST_TRIED and path not in kept and all(_works(setup, again(to), its, edit) for to, its in tries):
            kept[path] = value
            mended += promised
        elif kept.get(path) != value:
            refused.add(edit)
    setup.settings.notes.findings = [replace(finding, edit=None) if finding.edit in refused else finding for finding in findings]
    for component in setup.components:
        fixes = {code: replace(fix, edit=None) if fix.edit in refused else fix for code, fix in component.fixes.items()}
        setup.change(component, replace(component, fixes=fixes))


def _numbers(setup: Setup) -> dict[Edit, tuple[str, int]]:
    """Every edit that writes a number in the place of a value, with the key of that."""
    edits = [finding.edit for finding in setup.settings.notes.findings]
    edits += [fix.edit for component in setup.components for fix in component.fixes.values()]
    found = {}
    for edit in dict.fromkeys(edit for edit in edits if edit is not None and edit.text.isdecimal()):
        path = setup.settings.key_at(edit.span)
        if path is not None:
            found[edit] = (path, int(edit.text))
    return found


def _works(setup: Setup, tried: Setup, promised: Iterable[Finding], edit: Edit) -> bool:
    """True if the findings are gone that were promised to go, without new errors, and the components are whole."""
    for severities in ((Severity.ERROR,), (Severity.ERROR, Severity.WARNING, Severity.INFO)):
        left = _codes(setup.settings.notes.findings, severities)
        left.subtract(_codes(promised, severities))
        after, compared = _codes(tried.settings.notes.findings, severities), {finding.code for finding in promised}
        if any(count > left[code] for code, count in after.items() if code in compared or len(severities) == 1):
            return False
    fixed = [(each.name, code) for each in setup.components for code, fix in each.fixes.items() if fix.edit == edit]
    broken = {(each.name, code) for each in tried.components for code in each.fixes}
    before = {(each.name, code) for each in setup.components for code in each.fixes}
    return not broken.intersection(fixed) and broken <= before


def _codes(findings: Iterable[Finding], severities: tuple[Severity, ...]) -> Counter[str]:
    return Counter(finding.code for finding in findings if finding.severity in severities)
