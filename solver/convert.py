"""Conversion of a file to another dialect: render, reread, verify, compare per process."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Iterator, Sequence

from ..models.composition import Composer
from ..models.conversion import LOSS, differences, lost_settings, lost_times, note_loss, refusal, renaming_notes, warn_of_loss
from ..models.dialects.dialect import Dialect, JobBatch, Rendering
from ..models.dialects.load import read
from ..models.dialects.recognition import dialect_named
from ..models.findings.finding import Finding, Severity, UnusableInput, error
from ..models.problem import Problem
from ..models.reading import Reading
from ..models.releases.choice import ReleaseChoice, newest, state_release
from ..models.releases.release import read_releases
from ..models.report import EXACT, INCOMPLETE, LOSSY, REFUSED, UNUSABLE, Converted
from ..models.report import UNUSABLE as UNUSABLE_FILE
from ..models.text.source import Source
from ..models.text.tree import MapNode
from .verify import verify

MAX_KEYS = 24
"""Largest number of dropped keys named."""
MAX_INNER = 2
"""Largest number of dropped keys named per map; beyond it only the map is named."""
_OF_PLACES = ("PW013", "PW102", "PW107", "PW120", "PW122", "PW202", "PW208")
"""Rules for unknown placements and degrees; other unread settings are not converted anyway."""


def convert(reading: Reading, target: str, strict: bool = False, frameworks: Sequence[str] = ()) -> Converted:
    """Convert the file to a dialect; with `strict` a loss is a refusal.

    The new text is for the release in `frameworks`, by default the newest. Raises ValueError for an unknown dialect.
    """
    reading = reading.for_one_release()
    dialect, problem = dialect_named(target), reading.problem
    release = _release_of(dialect, frameworks)
    bare = Converted(reading.source.name, reading.dialect, target, REFUSED, release=release)
    report = verify(reading)
    if report.verdict == INCOMPLETE and (problem is None or not problem.components):
        return replace(bare, verdict=INCOMPLETE, findings=report.reasons)
    if report.errors or problem is None:
        unusable = report.verdict == UNUSABLE_FILE or problem is None
        findings = report.findings or report.reasons
        if release is not None and release.is_stated:  # it is the release of the new text
            findings = tuple(finding for finding in findings if finding.code != "PW015" or finding.severity is not Severity.WARNING)
        return replace(bare, verdict=UNUSABLE if unusable else REFUSED, findings=findings)
    if not problem.cluster.counted:
        unknown = error("PW011", "", "the number of accelerators is unknown", help="name the cluster, such as `--cluster 2x8xH100`")
        return replace(bare, verdict=UNUSABLE, findings=(unknown,))
    if not problem.components:
        return replace(bare, findings=(refusal("", "the file places nothing", "name a file that places something"),))
    try:
        for batch in dict.fromkeys((_batch_of(reading), None)):  # without a batch that the dialect refuses
            rendering = dialect.render(problem, release, batch)
            faults = tuple(_faults(problem, rendering, bare, reading.level))
            if not faults:
                break
    except UnusableInput as failure:
        return replace(bare, findings=failure.findings, cluster=problem.cluster)
    settings = lost_settings(reading.document.root, problem, rendering.text)
    losses = (*_list_left_behind(reading), *settings, *lost_times(problem), *rendering.losses)
    reasons = (*_secrets(reading, rendering), *faults)
    if strict and losses and not reasons:
        reasons = tuple(replace(loss, severity=Severity.ERROR) for loss in losses)
    result = replace(bare, findings=reasons, losses=losses, renames=tuple(renaming_notes(rendering.names)), cluster=problem.cluster)
    return result if reasons else replace(result, verdict=LOSSY if losses else EXACT, text=rendering.text)


def _secrets(reading: Reading, rendering: Rendering) -> Iterator[Finding]:
    """Refuse text with a value of an environment variable; numbers and ranks are allowed."""
    environment = reading.document.environment
    if any(value in rendering.text for value in environment.values.values() if value.strip() and not environment.may_be_judged(value)):
        message = "the new text would hold a value of an environment variable, which is never shown"
        yield refusal("", message, "write it into the file, or leave it out")


def _list_left_behind(reading: Reading) -> Iterator[Finding]:
    """Yield the settings without relation to placement, and the unread parts of the file."""
    places = dialect_named(reading.dialect).PLACES
    inner = {place.split(".")[0] for place in places if "." in place}
    keys = []
    for entry in reading.document.root:
        name = entry.key.text
        if name in inner and isinstance(entry.value, MapNode):
            inner_paths = [path for inner_entry in entry.value if (path := f"{name}.{inner_entry.key.text}") not in places]
            keys += inner_paths if len(inner_paths) <= MAX_INNER else [name]
        elif name not in places:
            keys.append(name)
    program = reading.document.program
    if program is not None and program.count > 1:
        message = f"only program {program.number} of {program.count} in the script is carried over: `{program.name}`"
        yield warn_of_loss("", f"{message} in line {program.span.line}")
    if keys:
        more = f" and {len(keys) - MAX_KEYS} more" if len(keys) > MAX_KEYS else ""
        text = ", ".join(f"`{key}`" for key in keys[:MAX_KEYS]) + more
        finding = note_loss("", "settings without relation to placement are not carried over", "add the settings that the job needs")
        yield replace(finding, notes=(f"only placement is carried over of {text}",))
    for rule in _OF_PLACES:
        unread = list(dict.fromkeys((item.subject, item.why) for item in reading.unchecked if item.rule == rule))
        if unread:
            more = f" (and {len(unread) - 1} more like this)" if len(unread) > 1 else ""
            about = f"{unread[0][0]}: " if unread[0][0] and f"`{unread[0][0]}`" not in unread[0][1] else ""
            yield replace(
                warn_of_loss(unread[0][0], "the placement of the file is not fully known"), notes=(f"{about}{unread[0][1]}{more}",)
            )


def _release_of(dialect: Dialect, frameworks: Sequence[str]) -> ReleaseChoice | None:
    """Return the stated release of a dialect, else the newest; None for a native file."""
    if dialect.RELEASES is None:
        return None
    table = read_releases(dialect.RELEASES)
    versions = [text.partition("==")[2] for text in frameworks if text.startswith(f"{dialect.NAME}==")]
    release = table.find(versions[0]) if versions else None
    return newest(table) if release is None else state_release(table, release)


def _batch_of(reading: Reading) -> JobBatch | None:
    """Return the batch of a job that trains on samples of prompts; None if unknown."""
    amounts = {derivation.name: derivation for derivation in reading.derivations if derivation.component == "actor"}
    step, update = amounts.get("samples per step"), amounts.get("samples per update")
    match = re.match(r"(\d+) prompts?(?: x (\d+) .*)?$", step.formula) if step is not None else None
    if match is None or update is None or not isinstance(update.value, int):
        return None
    return JobBatch(int(match[1]), int(match[2] or 1), update.value)


def _faults(problem: Problem, rendering: Rendering, conversion: Converted, level: str) -> Iterator[Finding]:
    """Yield reasons against the new text: refused by its dialect, or a changed placement."""
    target, release = conversion.target, conversion.release
    composer = Composer(frameworks=(f"{target}=={release.release.name}",) if release is not None else ())
    source = Source(f"{conversion.file} as {target}", rendering.text)
    reread = read(source, replace(problem.cluster, declared=()), target, level, composer)
    errors = verify(reread).errors
    for fault in errors:
        yield refusal(fault.subject, f"{target} refuses it: {fault.message} ({fault.code})", fault.help if not fault.edit else "")
    if errors:
        return
    if reread.problem is None:
        yield refusal("", f"the text that was made for {target} cannot be read, which is a fault of placewright: please report it")
        return
    announcements = {name: False for name, new in rendering.names.items() if name != new}
    for loss in rendering.losses:
        if loss.code == LOSS:
            announcements[loss.subject] = announcements.get(loss.subject, False) or loss.severity is Severity.WARNING
    for difference in differences(problem, reread.problem, rendering.names):
        if difference.component not in announcements or (difference.moves and not announcements[difference.component]):
            message = f"in the text that was made for {target} `{difference.component}` {difference.loss}"
            yield refusal(difference.component, f"{message}, which is a fault of placewright: please report it")
