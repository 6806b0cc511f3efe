"""Settings of a command line in Hydra's language, one after another.

Source: Hydra, hydra/_internal/config_loader_impl.py (_apply_overrides_to_config).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Callable, Iterator, Mapping, Sequence

from ..findings.span import Span
from ..text.document import Document, Setting, SettingMark
from ..text.interpolation_text import holds_interpolation
from ..text.tree import MapNode, Scalar, Value
from .notes import is_unknown
from .table import Table


def is_key_below(key: str, owner: str) -> bool:
    """Return True if a key is another key or in its section."""
    return key == owner or key.startswith(f"{owner}.")


def find_deleted(settings: Sequence[Setting]) -> Mapping[str, Setting]:
    """Return the keys that settings delete and no later one sets again."""
    deletions: dict[str, Setting] = {}
    for setting in settings:
        deletions = {key: deletion for key, deletion in deletions.items() if not is_key_below(key, setting.key)}
        if setting.kind is SettingMark.DELETE:
            deletions[setting.key] = setting
    return deletions


def settings_in(setting: Setting, table: Table, excerpt: Callable[[Span], str]) -> Iterator[Setting]:
    """Yield the settings of the entries of a map that Hydra merges, else the setting."""
    key, value = setting.key, setting.value
    is_merged = setting.kind is SettingMark.CHANGE and (key in table.sections or table.keys.get(key) == {})
    if not isinstance(value, MapNode) or not is_merged:
        yield setting
        return
    for entry in value:
        name = f"{key}.{entry.key.text}"
        text = f"{name}={excerpt(entry.value.span)}"
        yield from settings_in(replace(setting, text=text, key=name, key_span=entry.key.span, value=entry.value), table, excerpt)


def may_have_folders(document: Document) -> bool:
    """Return True if options may be in folders besides the framework's."""
    program, path = document.program, document.program.config_path if document.program else ""
    flags = {name for name, _ in program.options} if program else set()
    is_own = path.removeprefix("./").rstrip("/") not in ("", "config") or (not path and "--config-path" in flags)
    return is_own or "--config-dir" in flags or any(setting.key == "hydra.searchpath" for setting in document.settings)


def may_be_a_map(value: Value) -> bool:
    """Return True for a map, and for a value that may stand for one."""
    if isinstance(value, Scalar):
        return value.is_null or is_unknown(value) or holds_interpolation(value.text)
    return isinstance(value, MapNode)
