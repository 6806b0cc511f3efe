"""Choice of a file's dialect, by keys or by the program of a script."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, cast

from ..dialect_names import DIALECTS
from ..findings.finding import Finding, Unchecked, UnusableInput, error, warning
from ..text.document import Document
from ..text.nearest import SLIP, closest
from ..text.tree import ListNode, Scalar
from .signs import Signs

if TYPE_CHECKING:
    from .dialect import Dialect


@cache
def dialect_named(name: str) -> Dialect:
    """Return the dialect of this name; raise ValueError if unknown."""
    if name not in DIALECTS:
        raise ValueError(f"there is no dialect `{name}`; there are {', '.join(DIALECTS)}")
    return cast("Dialect", import_module(f".{name}", __package__))


def is_meant_for(dialect: Dialect, document: Document) -> bool:
    """Return True if keys or the program of a script identify the dialect for sure."""
    return bool(_signs(dialect, document).sure) or _starts(dialect, document)


def _starts(dialect: Dialect, document: Document) -> bool:
    program = document.program
    return program is not None and program.name.startswith(tuple(name for name in dialect.PROGRAMS if name.endswith(".")))


def _signs(dialect: Dialect, document: Document) -> Signs:
    """Return the evidence for a dialect.

    With a program of the framework, or as several settings of a command line, weak keys are sure too.
    """
    signs, program = dialect.signs(document.root), document.program
    is_own = program is not None and program.name.rpartition("/")[2].startswith(dialect.PROGRAMS)
    is_set = len(signs.weak) > 1 and {setting.key for setting in document.settings} >= set(signs.weak)
    return Signs(signs.any) if is_own or is_set else signs


def _candidates(document: Document) -> dict[str, Signs]:
    """Return dialects with evidence, in recognition order; a script's program decides alone."""
    candidates = dict[str, Signs]()
    # Command-line settings are verl's most of the time, and a file with `components` is native: with
    # these first, the others need not be loaded.
    likely, keys, is_known = "native" if document.program is None else "verl", {entry.key.text for entry in document.root}, False
    default_names = _find_defaults(document)
    for name in (likely, *(name for name in DIALECTS if name != likely)):
        # A dialect is loaded only if a top-level key may be its own.
        entry = DIALECTS[name]
        if not default_names.isdisjoint(entry.defaults):
            return {name: Signs(tuple(sorted(default_names.intersection(entry.defaults))))}
        if document.program is None and entry.keys and keys.isdisjoint(entry.keys):
            continue
        if is_known and (document.program is not None or entry.text not in document.source.text):
            continue
        dialect = dialect_named(name)
        if _starts(dialect, document):
            return {name: Signs((document.program.name if document.program else "",))}
        signs = _signs(dialect, document)
        if signs.any:
            candidates[name] = signs
            is_known = is_known or bool(signs.sure)
    return {name: candidates[name] for name in (DIALECTS if document.program is None else candidates) if name in candidates}


def _find_defaults(document: Document) -> set[str]:
    """Return the texts in the list of defaults of a partial file."""
    entries = document.source.root.get("defaults") if document.program is None and document.partial else None
    return {item.text for item in entries.items if isinstance(item, Scalar)} if isinstance(entries, ListNode) else set()


def find_open_argument(document: Document) -> Unchecked | None:
    """Return what a script without evidence lacks if its argument names the configuration; else None."""
    program = document.program
    if program is None or not program.is_open or _candidates(document):
        return None
    message, help_ = program.missing
    return Unchecked("PW013", "", f"`{program.name}` {message}", True, help_[:1].upper() + help_[1:])


def choose(document: Document) -> tuple[Dialect, bool, tuple[Finding, ...], tuple[Unchecked, ...]]:
    """Return the dialect of a document, if it is sure, and findings about other evidence.

    Raises UnusableInput without any evidence.
    """
    candidates = _candidates(document)
    program = document.program
    if not candidates and program is not None and program.missing[0]:
        message = f"`{program.name}` {program.missing[0]}"
        raise UnusableInput([error("PW001", "", message, program.span, help=program.missing[1])])
    if not candidates:
        raise UnusableInput([_unknown(document)])
    sure = [name for name, signs in candidates.items() if signs.sure]
    dialect = sure[0] if sure else next(iter(candidates))
    if not sure:
        why = f"only `{candidates[dialect].weak[0]}` speaks for a {dialect} file"
        return dialect_named(dialect), False, (), (Unchecked("PW010", "", why, True, f"Pass `--dialect {dialect}` if it is one"),)
    findings = tuple(_stray(document, dialect, name, signs) for name, signs in candidates.items() if name != dialect)
    if len(sure) == 1:
        return dialect_named(dialect), True, findings, ()
    why = f"the file has keys of {' and of '.join(sure)}; it was read as {dialect}"
    add = " or ".join(f"`--dialect {name}`" for name in sure)
    return dialect_named(dialect), True, findings, (Unchecked("PW010", "", why, True, f"Pass {add}"),)


def _stray(document: Document, dialect: str, other_dialect: str, signs: Signs) -> Finding:
    """Return a warning about keys of a dialect that was not chosen."""
    key = signs.any[0]
    entry = document.root.entry(key.split(".")[0])
    message = f"`{key}` is a key of {other_dialect}, but this file is read as {dialect}"
    span = entry.key.span if entry else None
    return warning("PW122", "", message, span, label=f"a key of {other_dialect}", help=f"remove it, or pass `--dialect {other_dialect}`")


def _unknown(document: Document) -> Finding:
    """Return an error for a document without evidence for any dialect."""
    root, name = document.root, document.source.name
    if all(root.get(key) is not None for key in ("schema", "status", "digest")):
        advice = f"`placewright show {name}` draws it, `placewright launch {name}` starts it; verify the file that it is for"
        return error("PW010", "", "this is a plan of placewright, not a configuration", root.span.part(0, 1), help=advice)
    keys = ", ".join(f"`{entry.key.text[:32]}`" for entry in list(root)[:6]) or "none"
    message = f"this is not a configuration that is known here (its top-level keys: {keys})"
    needs = "RLinf needs `cluster: {component_placement: ...}`, ROLL roles with `device_mapping:`, "
    needs += "verl `actor_rollout_ref:`, a native file `components:`"
    advice = f"{needs}; or name it with `--dialect`"
    all_keys = [key for facts in DIALECTS.values() for key in facts.keys]
    for entry in root:
        if entry.key.text not in all_keys and (close := closest(entry.key.text, all_keys, SLIP)):
            advice = f"write `{close}` for `{entry.key.text}`"
    if document.partial:
        advice = "name the folder of its `defaults` with `--config-root`, or its dialect with `--dialect`"
    return error("PW010", "", message, root.span.part(0, min(1, root.span.length)), help=advice)
