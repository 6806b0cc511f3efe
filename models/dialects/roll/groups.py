"""Texts of ROLL's own `examples/config`, for a file that was copied without them.

facts/groups.json: name -> runs ``[since, until, content]``; a null stands for a value that decides
no placement, and is unknown.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace

from ...composition.defaults import DefaultsEntry, DefaultsNode, read_entries
from ...composition.settings import NAME as SETTINGS
from ...composition.settings import Unmergeable, merge
from ...findings.finding import Finding, Severity
from ...findings.wording import are
from ...text.document import Document
from ...text.source import Source
from ...text.tree import UNRESOLVED, Entry, MapNode, Scalar, Value, find

_FOLDER = "config"
_OWN = re.compile(rf"(\.\.?/)*(examples/)?{_FOLDER}")


def absent_groups(document: Document) -> dict[str, DefaultsEntry]:
    """Map absent texts, by name, to their entries; {} if any may be the user's."""
    if not document.partial or document.program is not None:
        return {}
    root = document.source.root
    absent = [entry for entry in read_entries(root.get("defaults"), []) if not entry.override]
    absent = absent[:-1] if absent and absent[-1].is_self else absent
    is_own = document.included.keys() <= {SETTINGS} and find(root, "hydra.searchpath") is None
    is_own = is_own and all(entry.package == "" and not entry.optional and _OWN.fullmatch(entry.group) for entry in absent)
    return {str(entry.option).removesuffix(".yaml"): entry for entry in absent} if is_own else {}


def with_own_groups(document: Document, contents: dict[str, object]) -> Document:
    """Merge ROLL's own texts below a document, with a note.

    `contents` has those of the release.
    """
    absent = absent_groups(document)
    if document.release is None or not absent or not absent.keys() <= contents.keys():
        return document
    release = f"ROLL {document.release.release.name}"
    sources = [Source(f"{_FOLDER}/{name}.yaml of {release}", json.dumps(contents[name])) for name in absent]
    root = MapNode((), document.root.span)
    try:
        for above in [*(_open(source.root) for source in sources), document.root]:
            root = merge(root, above, lambda value, path: (value, path)) if isinstance(above, MapNode) else root
    except Unmergeable:
        return document
    paths, spans = [DefaultsNode(entry).path for entry in absent.values()], [entry.span for entry in absent.values()]
    names, verb = ", ".join(f"`{_FOLDER}/{name}`" for name in absent), are(len(absent))
    message = f"{names} {verb} not here, so what {release} itself has of this name is taken"
    note = Finding("PW122", Severity.NOTE, "", message, spans[0], help="name the folder of your own with `--config-root DIR`")
    findings = (*(finding for finding in document.findings if finding.code != "PW122" or finding.span not in spans), note)
    unchecked_items = tuple(item for item in document.unchecked if item.rule != "PW013" or item.subject not in paths)
    included_files = {**document.included, **{source.name: source for source in sources}}
    return replace(document, root=root, partial=False, findings=findings, unchecked=unchecked_items, included=included_files)


def _open(content: Value) -> Value:
    """Return a content with unknown values in place of nulls."""
    if isinstance(content, MapNode):
        return replace(content, entries=tuple(Entry(entry.key, _open(entry.value)) for entry in content))
    return Scalar("", UNRESOLVED, content.span) if isinstance(content, Scalar) and content.is_null else content
