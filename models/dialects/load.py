"""A file becomes a Reading, whatever its dialect."""

from __future__ import annotations

import re
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Iterator, cast

from ..composition import Composer
from ..finding import Finding, UnusableInput, error
from ..reading import Reading
from ..text.document import Document
from ..text.source import Source
from ..text.tree import Mapping

if TYPE_CHECKING:
    from .dialect import Dialect, Machines

_FIRST_ADVICE = re.compile(r"write `[^`]*`")

DIALECTS = ("rlinf", "verl", "native")
"""In the order of asking: native files need pydantic, which is not to be loaded for the others."""


def dialect_named(name: str) -> Dialect:
    """The dialect of this name. Raises ValueError if there is none."""
    if name not in DIALECTS:
        raise ValueError(f"there is no dialect `{name}`; there are {', '.join(DIALECTS)}")
    return cast("Dialect", import_module(f".{name}", __package__))


def load(
    path: str | Path, machines: Machines = None, dialect: str = "auto", level: str = "placement", composer: Composer | None = None
) -> Reading:
    """A file, read; a text that cannot be used at all gives a Reading without a problem.

    Parameters
    ----------
    machines : the cluster, or how many accelerators the declared nodes have (see models/shorthand.py), or None.
    dialect : ``native``, ``rlinf``, or ``auto`` to recognise it. Raises ValueError for any other.
    level : ``placement``, or ``training`` to judge the batch arithmetic too.
    composer : where the `defaults` of the file are looked for, and what the command line sets; by default the file's own folder.
    """
    if dialect != "auto":
        dialect_named(dialect)
    try:
        source = Source.read(path)
    except UnusableInput as problem:
        return Reading(Document.unread(str(path)), "unknown", None, problem.findings)
    return read(source, machines, dialect, level, composer)


def read(
    source: Source, machines: Machines = None, dialect: str = "auto", level: str = "placement", composer: Composer | None = None
) -> Reading:
    """A text, read; see `load`."""
    document = Document(source, Mapping((), source.whole()))
    try:
        document = (composer or Composer()).compose(source)
        found = _recognised(document) if dialect == "auto" else dialect_named(dialect)
        reading = found.read(document, machines, level)
    except UnusableInput as problem:
        findings = (*document.findings, *problem.findings)
        reading = Reading(document, "unknown" if dialect == "auto" else dialect, None, findings, document.unchecked)
    return replace(reading, findings=document.environment.concealed(_naming_files(reading)))


def _naming_files(reading: Reading) -> Iterator[Finding]:
    """The findings; a help that edits another text than the file itself says which."""
    for finding in reading.findings:
        if finding.edit and finding.edit.span.file != reading.source.name:
            where, first = f" in `{finding.edit.span.file}`", _FIRST_ADVICE.match(finding.help)
            end = first.end() if first else len(finding.help)
            finding = replace(finding, help=f"{finding.help[:end]}{where}{finding.help[end:]}")
        yield finding


def _recognised(document: Document) -> Dialect:
    root = document.root
    for name in DIALECTS:
        found = dialect_named(name)
        if found.recognises(root):
            return found
    keys = ", ".join(f"`{entry.key.text[:32]}`" for entry in list(root)[:6]) or "none"
    message = f"this is no configuration that is known here (its top-level keys: {keys})"
    advice = "RLinf needs `cluster: {component_placement: ...}`, a native file `components:`; or name it with `--dialect`"
    if document.partial:
        advice = "name the folder of its `defaults` with `--config-root`, or its dialect with `--dialect`"
    raise UnusableInput([error("PW010", "", message, root.span.part(0, min(1, root.span.length)), help=advice)])
