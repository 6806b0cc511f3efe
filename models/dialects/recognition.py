"""Which dialect a file is read in: by the keys that speak for it, or by the program that a script starts."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, cast

from ..findings.finding import Finding, Unchecked, UnusableInput, error, warning
from ..text.document import Document
from .signs import Signs

if TYPE_CHECKING:
    from .dialect import Dialect

DIALECTS = ("rlinf", "roll", "verl", "native")
"""In the order of asking."""


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


def choose(document: Document) -> tuple[Dialect, tuple[Finding, ...], tuple[Unchecked, ...]]:
    """Dialect that a document is read in, with what speaks for others. Raises UnusableInput where nothing speaks for any."""
    found = _candidates(document)
    program = document.program
    if not found and program is not None and program.missing[0]:
        message = f"`{program.name}` {program.missing[0]}"
        raise UnusableInput([error("PW001", "", message, program.span, help=program.missing[1])])
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
