"""Loading of files of any dialect into a Reading."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Callable, Iterator, Sequence

from ..composition import Composer
from ..dialect_names import DIALECTS
from ..findings.finding import Finding, Severity, Unchecked, UnusableInput, warning
from ..level import DEFAULT_LEVEL
from ..machines.cluster import Cluster
from ..machines.node import accelerators, find_vendor, vendor_of
from ..machines.shorthand import DeclaredNodes
from ..reading import Reading
from ..record import dataclass, replace
from ..resolving import with_models
from ..script.recognise import COMMAND_LINE, is_script, is_settings, is_task
from ..text.document import Document
from ..text.source import Source
from ..text.tree import MapNode
from .agreement import with_shared_errors
from .recognition import choose, dialect_named, find_open_argument, is_meant_for
from .released import mismatched_release, release_for

if TYPE_CHECKING:
    from .dialect import Machines

__all__ = ["DIALECTS", "ReadParameters", "dialect_named", "is_meant_for", "load", "load_all", "load_settings", "read", "read_all"]

_SHELL_TEXT_CODES = ("PW012", "PW014", "PW125")
"""Codes whose edits are shell text, ready for the script."""
_MAKERS = {
    "CUDA_VISIBLE_DEVICES": ("NV_GPU", "AMD_GPU"), "HIP_VISIBLE_DEVICES": ("AMD_GPU",), "ROCR_VISIBLE_DEVICES": ("AMD_GPU",),
    "ASCEND_RT_VISIBLE_DEVICES": ("NPU",),
}  # fmt: skip
"""Vendors of the accelerators of a visibility variable.

Source: Ray, python/ray/_private/accelerators.
"""
_OVERRIDE = re.compile(r"set `[\w.]+=")
_FIRST_ADVICE = re.compile(r"write `[^`]*`")


def load(
    path: str | Path | Source,
    machines: Machines = None,
    dialect: str = "auto",
    level: str = DEFAULT_LEVEL,
    composer: Composer | None = None,
) -> Reading:
    """Read a file or a text; unusable input gives a Reading without a problem.

    Parameters
    ----------
    machines : the cluster, or accelerators per declared node (see models/machines/shorthand.py), or
        None.
    dialect : ``native``, ``rlinf``, ``roll``, ``verl``, or ``auto`` to recognise it. Raises
        ValueError for any other.
    level : ``training``, or ``placement``, which leaves out the batch arithmetic.
    composer : folders for the `defaults` of the file, and command-line overrides; default: the
        file's own folder.
    """
    return take_first(load_all(path, machines, dialect, level, composer))


def load_all(
    path: str | Path | Source,
    machines: Machines = None,
    dialect: str = "auto",
    level: str = DEFAULT_LEVEL,
    composer: Composer | None = None,
) -> list[Reading]:
    """Read a file: one Reading, or a Reading per program of a script; see `load`."""
    if dialect != "auto":
        dialect_named(dialect)
    path, composer = _script_started(path, composer)
    try:
        source = path if isinstance(path, Source) else Source.read(path)
    except UnusableInput as problem:
        return [Reading(Document.unread(str(path)), "unknown", None, problem.findings)]
    return read_all(source, machines, dialect, level, composer)


def _script_started(path: str | Path | Source, composer: Composer | None) -> tuple[str | Path | Source, Composer | None]:
    """Return the script that a pasted command line starts, with the command in the composer."""
    if not isinstance(path, Source) or path.name != COMMAND_LINE:
        return path, composer
    from ..script.document import script_started

    script = script_started(path)
    return (script, replace(composer or Composer(), command=path.text)) if script else (path, composer)


def load_settings(
    texts: Sequence[str], machines: Machines = None, dialect: str = "auto", level: str = DEFAULT_LEVEL, composer: Composer | None = None
) -> Reading:
    """Read the settings `key=value` of a command line as a configuration; see `load`."""
    from ..script.document import NAME, document_of_arguments

    source = Source(NAME, "\n".join(texts))
    composer = composer or Composer()
    return _read(source, lambda: document_of_arguments(texts, composer), machines, dialect, level, composer)


def read(
    source: Source, machines: Machines = None, dialect: str = "auto", level: str = DEFAULT_LEVEL, composer: Composer | None = None
) -> Reading:
    """Read a text; see `load`."""
    return take_first(read_all(source, machines, dialect, level, composer))


@dataclass(frozen=True)
class ReadParameters:
    """Parameters of `load` for reading another text of the same file in the same way.

    `number` is the index of the program in a script, from 0; None for the first program, with a
    warning about the others.
    """

    name: str
    machines: Machines
    dialect: str
    level: str
    composer: Composer | None
    number: int | None = None

    def __call__(self, text: str, machines: Machines = None) -> Reading:
        """Read a text as a version of the file, on other machines if given."""
        machines = self.machines if machines is None else machines
        readings = read_all(Source(self.name, text), machines, self.dialect, self.level, self.composer)
        return take_first(readings) if self.number is None else readings[min(self.number, len(readings) - 1)]


def read_all(
    source: Source, machines: Machines = None, dialect: str = "auto", level: str = DEFAULT_LEVEL, composer: Composer | None = None
) -> list[Reading]:
    """Read a text: one Reading, or a Reading per program of a script; see `load`."""
    composer = composer or Composer()
    try:
        vendors = _vendors(machines)
        documents = _documents(source, composer if vendors == composer.vendors else replace(composer, vendors=vendors))
        readings = [_read(source, partial(_same, document), machines, dialect, level, composer) for document in documents]
    except UnusableInput as problem:
        readings = [Reading(_empty(source), "unknown" if dialect == "auto" else dialect, None, problem.findings)]
    parameters = (source.name, machines, dialect, level, composer)
    return [
        replace(reading, session=replace(reading.session, as_before=ReadParameters(*parameters, number)))
        for number, reading in enumerate(_drop_unknown_programs(readings))
    ]


def _drop_unknown_programs(readings: list[Reading]) -> list[Reading]:
    """Drop readings of programs of unknown frameworks, if others remain; note them as unchecked."""
    usable, unknown = list[Reading](), list[Unchecked]()
    for reading in readings:
        program = reading.document.program
        if program is not None and any(finding.code == "PW010" for finding in reading.findings):
            unknown.append(Unchecked("PW122", "", f"`{program.name}` in line {program.span.line} is of no framework that is known here"))
        else:
            usable.append(reading)
    if not usable or not unknown:
        return readings
    return [replace(usable[0], unchecked=(*usable[0].unchecked, *unknown)), *usable[1:]]


def _documents(source: Source, composer: Composer) -> Sequence[Document]:
    """Return the configurations of a text.

    Raises UnusableInput.
    """
    if is_script(source) or is_task(source):
        from ..script.document import documents_of

        return documents_of(source, composer)
    if is_settings(source):
        from ..script.document import document_of_settings

        return [document_of_settings(source, composer)]
    return [composer.compose(source)]


def _read(source: Source, compose: Callable[[], Document], machines: Machines, dialect: str, level: str, composer: Composer) -> Reading:
    document = None
    try:
        document = _drop_foreign_visibility(machines, compose())
        if (lacking := find_open_argument(document)) is not None:
            return Reading(document, "unknown", None, document.findings, (lacking, *document.unchecked))
        file_dialect, is_sure, strays, unsure = choose(document) if dialect == "auto" else (dialect_named(dialect), True, (), ())
        recompose, release = document.compose, release_for(file_dialect, document, composer.frameworks, composer.roots)
        if release is not None:
            document = replace(document, release=release, compose=lambda text: replace(recompose(text), release=release))

        def read_as(document: Document) -> Reading:
            return with_models(file_dialect.read(document, machines, level)).widen()

        reading = with_shared_errors(read_as(document), read_as)
        cluster = machines if isinstance(machines, Cluster) else None
        if not is_sure:  # its errors are warnings
            milder = (finding if finding.unusable else replace(finding, severity=Severity.WARNING) for finding in reading.findings)
            reading = replace(reading, findings=tuple(milder), proves=False)
        reading = _without_strays(reading, (*strays, *mismatched_release(file_dialect, composer.frameworks)))
        unchecked_items = (*unsure, *(_decisive_if_placed(item, file_dialect.PLACES) for item in reading.unchecked))
        reading = replace(reading, unchecked=unchecked_items, level=level, machines=cluster)
    except UnusableInput as problem:
        document = document or _empty(source)
        findings = (*document.findings, *problem.findings)
        reading = Reading(document, "unknown" if dialect == "auto" else dialect, None, findings, document.unchecked)
    if not reading.findings:
        return reading
    findings = document.environment.conceal(_with_file_names(reading))
    return replace(reading, findings=tuple(map(_shell_quoting(source), findings)) if document.program else findings)


def _vendors(machines: Machines) -> frozenset[str]:
    """Return the vendors of all accelerators; empty if a model is unknown."""
    if isinstance(machines, Cluster):
        models = [accelerator for stretch in machines.alike for accelerator in stretch.node.accelerators]
    else:
        models = list(accelerators(1, machines.model)) if isinstance(machines, DeclaredNodes) else []
    is_known = all(find_vendor(accelerator.model) or accelerator.vendor != vendor_of("") for accelerator in models)
    return frozenset(accelerator.vendor for accelerator in models if is_known)


def _drop_foreign_visibility(machines: Machines, document: Document) -> Document:
    """Return the document without the effect of a visibility variable of another vendor."""
    program = document.program
    vendors = _MAKERS.get(program.machine.variable) if program is not None and program.machine is not None else None
    if program is None or program.machine is None or vendors is None:
        return document
    machine_vendors = _vendors(machines)
    if not machine_vendors or machine_vendors & {*vendors}:
        return document
    machine = replace(program.machine, accelerators=None, accelerators_span=None)
    return replace(document, program=replace(program, machine=machine))


def _decisive_if_placed(item: Unchecked, places: Sequence[str]) -> Unchecked:
    """Mark an unresolved interpolation as decisive if its value is part of the placement."""
    if item.rule != "PW120" or item.decides or not any(item.subject == place or item.subject.startswith(f"{place}.") for place in places):
        return item
    return replace(item, decides=True, add=f"Pass `--set {item.subject}=VALUE`")


def _without_strays(reading: Reading, strays: tuple[Finding, ...]) -> Reading:
    """Add warnings about keys of other dialects, in place of findings about unknown keys.

    What the file's own dialect refuses leaves the verdict open.
    """
    if not strays:
        return reading
    stray_by_span = {stray.span: stray for stray in strays}
    unknown_keys = [finding for finding in reading.findings if finding.code == "PW104" and finding.span in stray_by_span]
    errors = [stray_by_span[finding.span] for finding in unknown_keys if finding.severity is Severity.ERROR]
    unsure = (Unchecked(stray.code, "", stray.message, True, stray.help[:1].upper() + stray.help[1:]) for stray in errors)
    remaining = (finding for finding in reading.findings if finding not in unknown_keys)
    return replace(reading, findings=(*remaining, *strays), unchecked=(*reading.unchecked, *unsure))


def _shell_quoting(source: Source) -> Callable[[Finding], Finding]:
    """Return a function that adds shell quotes to the edits of a script."""
    from ..script.arguments import fit_edit
    from ..script.recognise import is_script

    shell = is_script(source)

    def quote(finding: Finding) -> Finding:
        edit = finding.edit
        if not shell or edit is None or edit.span.file != source.name or finding.code in _SHELL_TEXT_CODES:
            return finding
        return replace(finding, edit=fit_edit(source.text, edit))

    return quote


def _same(document: Document) -> Document:
    return document


def _empty(source: Source) -> Document:
    return Document(source, MapNode((), source.whole()))


def take_first(readings: Sequence[Reading]) -> Reading:
    """Return the first reading, with a warning if there are several."""
    reading, program = readings[0], readings[0].document.program
    if program is None:
        return reading
    if isinstance(parameters := reading.session.as_before, ReadParameters):
        reading = replace(reading, session=replace(reading.session, as_before=replace(parameters, number=None)))
    if len(readings) == 1:
        return reading
    message = f"`{reading.source.name}` starts {len(readings)} programs, of which only the first is read: `{program.name}`"
    note = warning("PW122", "", message, program.span, label="the first", help="give each a script of its own")
    return replace(reading, findings=(*reading.findings, note))


def _with_file_names(reading: Reading) -> Iterator[Finding]:
    """Yield the findings; a help for another file gets the name of that file.

    A setting of a command line overrides the value in that file, which may be the framework's own.
    """
    for finding in reading.findings:
        file = finding.edit.span.file if finding.edit else reading.source.name
        if file != reading.source.name and _OVERRIDE.match(finding.help) and file.endswith((".yaml", ".yml")):
            finding = replace(finding, edit=None)
        elif file != reading.source.name:
            first = _FIRST_ADVICE.match(finding.help)
            end = first.end() if first else len(finding.help)
            finding = replace(finding, help=f"{finding.help[:end]} in `{file}`{finding.help[end:]}")
        yield finding
