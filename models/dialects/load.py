"""A file becomes a Reading, whatever its dialect."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Callable, Iterator, Sequence, cast

from ..composition import Composer
from ..findings.finding import Finding, Unchecked, UnusableInput, error, warning
from ..level import DEFAULT_LEVEL
from ..machines.cluster import Cluster
from ..reading import Reading
from ..resolving.resolve import with_models
from ..text.document import Document
from ..text.source import Source
from ..text.tree import Mapping
from .released import release_for
from .signs import Signs

if TYPE_CHECKING:
    from ..releases.choice import Choice
    from .dialect import Dialect, Machines

_ABOUT_THE_SCRIPT = ("PW012", "PW014", "PW125")
"""Codes whose edits are text of a shell as it is to stand in the script."""
_FIRST_ADVICE = re.compile(r"write `[^`]*`")

DIALECTS = ("rlinf", "roll", "verl", "native")
"""In the order of asking: native files need pydantic, which is not to be loaded for the others."""


_TOP_KEYS = {
    "rlinf": ("cluster",),
    "verl": ("actor_rollout_ref", "resource_pool_spec", "topology", "trainer"),
    "native": ("components",),
}
"""Keys at the top of a file, one of which every file of a dialect has."""


def dialect_named(name: str) -> Dialect:
    """The dialect of this name. Raises ValueError if there is none."""
    if name not in DIALECTS:
        raise ValueError(f"there is no dialect `{name}`; there are {', '.join(DIALECTS)}")
    return cast("Dialect", import_module(f".{name}", __package__))


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
    return replace(_first(readings), again=AsRead(str(path), machines, dialect, level, composer))


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
    return read_all(source, machines, dialect, level, composer)


def load_settings(
    texts: Sequence[str], machines: Machines = None, dialect: str = "auto", level: str = DEFAULT_LEVEL, composer: Composer | None = None
) -> Reading:
    """The settings `key=value` of one command line, read as a configuration; see `load`."""
    from ..script.listed import NAME, document_of_arguments

    source = Source(NAME, "\n".join(texts))
    composer = composer or Composer()
    return _read(source, lambda: document_of_arguments(texts, composer), machines, dialect, level, composer)


def read(
    source: Source, machines: Machines = None, dialect: str = "auto", level: str = DEFAULT_LEVEL, composer: Composer | None = None
) -> Reading:
    """A text, read; see `load`."""
    found = _first(read_all(source, machines, dialect, level, composer))
    return replace(found, again=AsRead(source.name, machines, dialect, level, composer))


@dataclass(frozen=True)
class AsRead:
    """How a file was read, by which another text of it is read in the same way: the parameters of `load`."""

    name: str
    machines: Machines
    dialect: str
    level: str
    composer: Composer | None

    def __call__(self, text: str, machines: Cluster | None = None) -> Reading:
        """The text, read as one of this file; on other machines where these are named."""
        return read(Source(self.name, text), self.machines if machines is None else machines, self.dialect, self.level, self.composer)


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
    from ..script.recognise import is_script, is_settings

    if is_script(source):
        from ..script.document import documents_of

        return documents_of(source, composer)
    if is_settings(source):
        from ..script.listed import document_of_settings

        return [document_of_settings(source, composer)]
    return [composer.compose(source)]


def _read(source: Source, compose: Callable[[], Document], machines: Machines, dialect: str, level: str, composer: Composer) -> Reading:
    document = _empty(source)
    try:
        document = compose()
        found, strays, unsure = _chosen(document) if dialect == "auto" else (dialect_named(dialect), (), ())
        document = _released(document, release_for(found, document, composer.frameworks, composer.roots))
        reading = with_models(found.read(document, machines, level))
        named = machines if isinstance(machines, Cluster) else None
        reading = replace(_without_strays(reading, strays), unchecked=(*unsure, *reading.unchecked), level=level, machines=named)
    except UnusableInput as problem:
        findings = (*document.findings, *problem.findings)
        reading = Reading(document, "unknown" if dialect == "auto" else dialect, None, findings, document.unchecked)
    findings = document.environment.concealed(_naming_files(reading))
    return replace(reading, findings=tuple(map(_quoted_in(source), findings)) if document.program else findings)


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
    from ..script.quoting import fitted
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
    return Document(source, Mapping((), source.whole()))


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


def is_meant_for(dialect: Dialect, document: Document) -> bool:
    """True if a document is surely one of this dialect, by its keys or by the program that a script starts."""
    return bool(dialect.signs(document.root).sure) or _starts(dialect, document)


def _starts(dialect: Dialect, document: Document) -> bool:
    return document.program is not None and document.program.name.startswith(dialect.PROGRAMS)


def _candidates(document: Document) -> dict[str, Signs]:
    """Dialects that something speaks for, in the order of asking; the program of a script decides alone."""
    root, found = document.root, dict[str, Signs]()
    # What is set on a command line is verl's, most of the time: asked first, the others need not be loaded.
    order = DIALECTS if document.program is None else sorted(DIALECTS, key=lambda name: name != "verl")
    for name in order:
        decided = any(signs.sure for signs in found.values())
        if decided and (document.program is not None or not _may_be(name, document)):
            continue
        dialect = dialect_named(name)
        if _starts(dialect, document):
            return {name: Signs((document.program.name if document.program else "",))}
        signs = dialect.signs(root)
        if signs.any:
            found[name] = signs
    return found


def _may_be(name: str, document: Document) -> bool:
    """True if a file has a key at its top that a dialect's files have; it is asked only then, besides the one that is decided."""
    if name == "roll":
        return "device_mapping" in document.source.text
    return any(document.root.get(key) is not None for key in _TOP_KEYS[name])


def _chosen(document: Document) -> tuple[Dialect, tuple[Finding, ...], tuple[Unchecked, ...]]:
    """Dialect that a document is read in, with what speaks for others. Raises UnusableInput where nothing speaks for any."""
    found = _candidates(document)
    if not found:
        raise UnusableInput([_unknown(document)])
    sure = [name for name, signs in found.items() if signs.sure]
    chosen = sure[0] if sure else next(iter(found))
    if not sure:
        why = f"only `{found[chosen].weak[0]}` speaks for a {chosen} file"
        return dialect_named(chosen), (), (Unchecked("PW010", "", why, True, f"Pass `--dialect {chosen}` if it is one"),)
    findings = tuple(_stray(document, chosen, name, signs) for name, signs in found.items() if name != chosen)
    if len(sure) == 1:
        return dialect_named(chosen), findings, ()
    why = f"the file has keys of {' and of '.join(sure)}; it was read as {chosen}"
    add = " or ".join(f"`--dialect {name}`" for name in sure)
    return dialect_named(chosen), findings, (Unchecked("PW010", "", why, True, f"Pass {add}"),)


def _stray(document: Document, chosen: str, other: str, signs: Signs) -> Finding:
    """A warning about keys of another dialect than the one that a file is read in."""
    key = signs.any[0]
    entry = document.root.entry(key.split(".")[0])
    message = f"`{key}` is a key of {other}, but this file is read as {chosen}"
    at = entry.key.span if entry else None
    return warning("PW122", "", message, at, label=f"a key of {other}", help=f"remove it, or pass `--dialect {other}`")


def _unknown(document: Document) -> Finding:
    """An error for a document that nothing speaks for."""
    root = document.root
    keys = ", ".join(f"`{entry.key.text[:32]}`" for entry in list(root)[:6]) or "none"
    message = f"this is no configuration that is known here (its top-level keys: {keys})"
    needs = "RLinf needs `cluster: {component_placement: ...}`, ROLL roles with `device_mapping:`, "
    needs += "verl `actor_rollout_ref:`, a native file `components:`"
    advice = f"{needs}; or name it with `--dialect`"
    if document.partial:
        advice = "name the folder of its `defaults` with `--config-root`, or its dialect with `--dialect`"
    return error("PW010", "", message, root.span.part(0, min(1, root.span.length)), help=advice)
