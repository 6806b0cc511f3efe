"""Every edit that a finding offers was tried: what it does not keep."""

from __future__ import annotations

from collections import Counter
from typing import Callable, Iterator

from placewright.models.composition import Composer
from placewright.models.dialects.load import read
from placewright.models.findings.finding import Finding
from placewright.models.findings.span import Edit, apply_edits
from placewright.models.machines.shorthand import read_shorthand
from placewright.models.report import Report
from placewright.models.text.source import Source
from placewright.planner.verify import verify

Judge = Callable[[str], Report]
MACHINES = ("x8", "x4", "1x8", "2x8")
NODES = ("x8", "x4", "1x8", "2x8", "3x4", "1x4+1x2")


def judge(name: str, machines: str, level: str, composer: Composer | None = None, dialect: str = "rlinf") -> Judge:
    """The verdict on a text, which may have been changed."""
    cluster = read_shorthand(machines)
    return lambda text: verify(read(Source(name, text), cluster, dialect, level, composer))


def broken_promises(judged: Judge, text: str) -> list[str]:
    """What the edits of a text's findings do not keep."""
    before = judged(text)
    offered = list(dict.fromkeys(found.edit for found in before.findings if found.edit and found.edit.span.file == before.file))
    tried = [[edit] for edit in offered] + [offered] * (len(offered) > 1)
    return [problem for edits in tried for problem in _broken(judged, text, before, edits)]


def _broken(judged: Judge, text: str, before: Report, edits: list[Edit]) -> Iterator[str]:
    after = judged(apply_edits(text, edits))
    mended = [finding for finding in before.findings if finding.edit in edits]
    reached = any(finding.code == "PW125" for finding in mended)  # a setting that reaches its program now may hold the same fault
    for finding, count in Counter(map(_said, mended)).items():
        if reached and finding[0] == "PW012":
            continue
        if Counter(map(_said, after.findings))[finding] > Counter(map(_said, before.findings))[finding] - count:
            yield f"stays: {finding}"
    left = Counter(finding.code for finding in before.errors)
    left.subtract(finding.code for finding in mended if finding in before.errors)
    left.update(item.rule for item in before.unchecked if item.why.startswith("judged once"))
    for finding in after.errors:
        left[finding.code] -= 1
        if left[finding.code] < 0 and not _shows(mended, finding):
            yield f"new: {finding.code} {finding.message} (after {[edit.text for edit in edits]})"


def _said(finding: Finding) -> tuple[str, str]:
    return finding.code, finding.message


def _shows(mended: list[Finding], fresh: Finding) -> bool:
    """Could the new one not be seen before?

    The rules of modes, placements and shares are judged when what they are about can be read; and what RLinf would have
    ignored or taken for something else is judged when it is what was meant. That what is left open has no place is told of files
    without another error.
    """
    if fresh.code == "PW601" and mended:
        return True
    if any("is not a component of" in finding.message for finding in mended):
        return True
    if any(finding.code in ("PW104", "PW118", "PW125", "PW803") for finding in mended):
        return True
    return (fresh.code > "PW2" or fresh.code in ("PW121", "PW123")) and any(finding.code < "PW2" for finding in mended)
