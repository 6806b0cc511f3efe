"""Which table of defaults goes with a document."""

from __future__ import annotations

from ....text.document import Document
from ....text.tree import Mapping, Scalar, Sequence, Value, find
from ..entries.entry import Entry
from .tables import Table, table_of

_OWN = ("_self_", "hydra")


def table_for(document: Document, entry: Entry) -> Table | None:
    """The table of the configuration that is named; None where that one is not known, so that its defaults are not either.

    A file that names none is taken to be merged onto the configuration that its program begins with.
    """
    program = document.program
    if program is not None and program.config_name:
        return table_of(program.config_name) or _of_defaults(document)
    if program is not None:
        unsaid = any(name == "--config-name" for name, _ in program.options)  # it is named, and not known here
        return table_of(entry.configuration) if entry.configuration and not unsaid else None
    if document.source.root.get("defaults") is not None:
        return _of_defaults(document) or table_of(document.source.name)
    if _word(document.root, "actor_rollout_ref.actor.strategy") == "megatron":
        return table_of(entry.configuration.replace("ppo_trainer", "ppo_megatron_trainer"))
    return table_of(document.source.name) or table_of(entry.configuration)


def _of_defaults(document: Document) -> Table | None:
    """The one known configuration that the lists of `defaults` of its texts name, if nothing else is named there."""
    found: list[Table] = []
    for source in (document.source, *document.others.values()):
        listed = source.value if source.name.endswith((".yaml", ".yml")) else None
        defaults = listed.get("defaults") if isinstance(listed, Mapping) else None
        for item in defaults.items if isinstance(defaults, Sequence) else ():
            name = _name(item)
            if name in _OWN:
                continue
            table = table_of(name)
            if table is None:
                return None
            found.append(table)
    return found[-1] if found else None


def _name(item: Value) -> str:
    """What an entry of `defaults` names: a configuration, or the top of a group."""
    if isinstance(item, Mapping) and item.entries:
        return item.entries[0].key.text.removeprefix("override ").split("/")[0]
    return item.text if isinstance(item, Scalar) else ""


def _word(root: Mapping, path: str) -> str:
    value = find(root, path)
    return value.text if isinstance(value, Scalar) else ""
