"""A file becomes a Reading, whatever its dialect."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Callable, Iterator, Sequence

from ..composition import Composer
from ..findings.finding import Finding, Unchecked, UnusableInput, warning
from ..level import DEFAULT_LEVEL
from ..machines.accelerators import GENERIC, accelerators
from ..machines.cluster import Cluster
from ..machines.shorthand import AsDeclared
from ..reading import Reading
from ..record import dataclass
from ..resolving import with_models
from ..text.document import Document
from ..text.source import Source
from ..text.tree import MapNode
from .recognition import DIALECTS, choose, dialect_named, is_meant_for
from .released import release_for, unfit

if TYPE_CHECKING:
    from ..releases.choice import Choice
    from .dialect import Machines

__all__ = ["DIALECTS", "AsRead", "dialect_named", "is_meant_for", "load", "load_all", "load_settings", "read", "read_all"]

_ABOUT_THE_SCRIPT = ("PW012", "PW014", "PW125")
"""Codes whose edits are text of a shell as it is to stand in the script."""
_MAKERS = {
    "CUDA_VISIBLE_DEVICES": ("NV_GPU", "AMD_GPU"), "HIP_VISIBLE_DEVICES": ("AMD_GPU",), "ROCR_VISIBLE_DEVICES": ("AMD_GPU",),
    "ASCEND_RT_VISIBLE_DEVICES": ("NPU",),
}  # fmt: skip
"""Whose accelerators a variable names. Source: Ray, python/ray/_private/accelerators."""
_FIRST_ADVICE = re.compile(r"write `[^`]*`")


def load(
    path: str | Path, machines: Machines = None, dialect: str = "auto", level: str = DEFAULT_LEVEL, composer: Composer | None = None
) -> Reading:
    """A file, read; a text that cannot be used at all gives a Reading without a problem.

    Parameters
    ----------
    machines : the cluster, or how many accelerators the declared nodes have (see models/machines/shorthand.py), or None.
    dialect : ``native``, ``rlinf``, ``roll``, ``verl``, or ``auto`` to recognise it. Raises ValueError for any other.
    level : ``training``, or ``placement``, which leaves out the batch arithmetic.
    composer : where the `defaults` of the file are looked for, and what the command line sets; by default the file's own folder.
    """
    readings = load_all(path, machines, dialect, level, composer)
    return _readable(_first(readings), AsRead(str(path), machines, dialect, level, composer))


def load_all(
    path: str | Path, machines: Machines = None, dialect: str = "auto", level: str = DEFAULT_LEVEL, composer: Composer | None = None
) -> list[Reading]:
    """A file, read: one Reading, or one for each program that a script starts; see `load`."""
    if dialect != "auto":
        dialect_named(dialect)
    try:
        source = Source.read(path)
    except UnusableInput as problem:
        return [Reading(Document.unread(str(path)), "unknown", None, problem.findings)]
    readings = read_all(source, machines, dialect, level, composer)
    how = AsRead(source.name, machines, dialect, level, composer)
    return [_readable(each, replace(how, number=number)) for number, each in enumerate(readings)]


def load_settings(
    texts: Sequence[str], machines: Machines = None, dialect: str = "auto", level: str = DEFAULT_LEVEL, composer: Composer | None = None
) -> Reading:
    """The settings `key=value` of one command line, read as a configuration; see `load`."""
    from ..script.document import NAME, document_of_arguments

    source = Source(NAME, "\n".join(texts))
    composer = composer or Composer()
    return _read(source, lambda: document_of_arguments(texts, composer), machines, dialect, level, composer)


def read(
    source: Source, machines: Machines = None, dialect: str = "auto", level: str = DEFAULT_LEVEL, composer: Composer | None = None
) -> Reading:
    """A text, read; see `load`."""
    found = _first(read_all(source, machines, dialect, level, composer))
    return _readable(found, AsRead(source.name, machines, dialect, level, composer))


def _readable(reading: Reading, how: AsRead) -> Reading:
    """The reading, of whose file another text is read in this way."""
    return replace(reading, session=replace(reading.session, as_before=how))


@dataclass(frozen=True)
class AsRead:
    """How a file was read, by which another text of it is read in the same way: the parameters of `load`.

    `number` is that of the program in a script, from 0; None for the first, which says that there are others.
    """

    name: str
    machines: Machines
    dialect: str
    level: str
    composer: Composer | None
    number: int | None = None

    def __call__(self, text: str, machines: Machines = None) -> Reading:
        """The text, read as one of this file; on other machines where these are named."""
        source, machines = Source(self.name, text), self.machines if machines is None else machines
        if self.number is None:
            return read(source, machines, self.dialect, self.level, self.composer)
        readings = read_all(source, machines, self.dialect, self.level, self.composer)
        return readings[min(self.number, len(readings) - 1)]


def read_all(
    source: Source, machines: Machines = None, dialect: str = "auto", level: str = DEFAULT_LEVEL, composer: Composer | None = None
) -> list[Reading]:
    """A text, read: one Reading, or one for each program that a script starts; see `load`."""
    composer = composer or Composer()
    try:
        made = _documents(source, composer)
    except UnusableInput as problem:
        return [Reading(_empty(source), "unknown" if dialect == "auto" else dialect, None, problem.findings)]
    return _of_frameworks([_read(source, partial(_same, document), machines, dialect, level, composer) for document in made])


def _of_frameworks(readings: list[Reading]) -> list[Reading]:
    """The readings of a script without those of programs that are of no framework, where others are: that is noted as unchecked."""
    known, told = list[Reading](), list[Unchecked]()
    for reading in readings:
        program = reading.document.program
        if program is not None and any(finding.code == "PW010" for finding in reading.findings):
            told.append(Unchecked("PW122", "", f"`{program.name}` in line {program.span.line} is of no framework that is known here"))
        else:
            known.append(reading)
    if not known or not told:
        return readings
    return [replace(known[0], unchecked=(*known[0].unchecked, *told)), *known[1:]]


def _documents(source: Source, composer: Composer) -> Sequence[Document]:
    """The configurations of a text. Raises UnusableInput."""
    from ..script.recognise import is_script, is_settings, is_task

    if is_script(source) or is_task(source):
        from ..script.document import documents_of

        return documents_of(source, composer)
    if is_settings(source):
        from ..script.document import document_of_settings

        return [document_of_settings(source, composer)]
    return [composer.compose(source)]


def _read(source: Source, compose: Callable[[], Document], machines: Machines, dialect: str, level: str, composer: Composer) -> Reading:
    document = _empty(source)
    try:
        document = _on(machines, compose())
        found, strays, unsure = choose(document) if dialect == "auto" else (dialect_named(dialect), (), ())
        document = _released(document, release_for(found, document, composer.frameworks, composer.roots))
        reading = with_models(found.read(document, machines, level)).in_scope()
        named = machines if isinstance(machines, Cluster) else None
        unchecked = (*unsure, *(_decides(item, found.PLACES) for item in reading.unchecked))
        reading = _without_strays(reading, (*strays, *unfit(found, composer.frameworks)))
        reading = replace(reading, unchecked=unchecked, level=level, machines=named)
    except UnusableInput as problem:
        findings = (*document.findings, *problem.findings)
        reading = Reading(document, "unknown" if dialect == "auto" else dialect, None, findings, document.unchecked)
    findings = document.environment.concealed(_naming_files(reading))
    return replace(reading, findings=tuple(map(_quoted_in(source), findings)) if document.program else findings)


def _on(machines: Machines, document: Document) -> Document:
    """The document; a variable for accelerators of another maker than those of the machines says nothing."""
    program = document.program
    of = _MAKERS.get(program.machine.variable) if program is not None and program.machine is not None else None
    if program is None or program.machine is None or of is None:
        return document
    if isinstance(machines, Cluster):
        models = [each for stretch in machines.alike for each in stretch.node.accelerators]
    else:
        models = list(accelerators(1, machines.model)) if isinstance(machines, AsDeclared) else []
    if not models or any(each.model == GENERIC or each.vendor in of for each in models):
        return document
    machine = replace(program.machine, accelerators=None, accelerators_span=None)
    return replace(document, program=replace(program, machine=machine))


def _decides(item: Unchecked, places: Sequence[str]) -> Unchecked:
    """The same; an interpolation without a value decides where it is a part of what is placed."""
    if item.rule != "PW120" or item.decides or not any(item.subject == place or item.subject.startswith(f"{place}.") for place in places):
        return item
    return replace(item, decides=True, add=f"Pass `--set {item.subject}=VALUE`")


def _without_strays(reading: Reading, strays: tuple[Finding, ...]) -> Reading:
    """The reading with warnings about keys of other dialects, which are not unknown keys then."""
    if not strays:
        return reading
    places = {stray.span for stray in strays}
    kept = (finding for finding in reading.findings if finding.code != "PW104" or finding.span not in places)
    return replace(reading, findings=(*kept, *strays))


def _released(document: Document, release: Choice | None) -> Document:
    """The document for a release; another text of it is for the same one."""
    compose = document.compose
    return replace(document, release=release, compose=lambda text: replace(compose(text), release=release))


def _quoted_in(source: Source) -> Callable[[Finding], Finding]:
    """Gives an edit of a script the quotes that its text needs there."""
    from ..script.arguments import fitted
    from ..script.recognise import is_script

    shell = is_script(source)

    def quoted(finding: Finding) -> Finding:
        """The finding with such an edit."""
        edit = finding.edit
        if not shell or edit is None or edit.span.file != source.name or finding.code in _ABOUT_THE_SCRIPT:
            return finding
        return replace(finding, edit=fitted(source.text, edit))

    return quoted


def _same(document: Document) -> Document:
    return document


def _empty(source: Source) -> Document:
    return Document(source, MapNode((), source.whole()))


def _first(readings: Sequence[Reading]) -> Reading:
    """The first of several, which says that it is not the only one."""
    reading, program = readings[0], readings[0].document.program
    if len(readings) == 1 or program is None:
        return reading
    message = f"`{reading.source.name}` starts {len(readings)} programs; this is about the first, `{program.name}`"
    told = warning("PW122", "", message, program.span, label="the first", help="give each a script of its own")
    return replace(reading, findings=(*reading.findings, told))


def _naming_files(reading: Reading) -> Iterator[Finding]:
    """The findings; a help that edits another text than the file itself says which."""
    for finding in reading.findings:
        if finding.edit and finding.edit.span.file != reading.source.name:
            where, first = f" in `{finding.edit.span.file}`", _FIRST_ADVICE.match(finding.help)
            end = first.end() if first else len(finding.help)
            finding = replace(finding, help=f"{finding.help[:end]}{where}{finding.help[end:]}")
        yield finding
