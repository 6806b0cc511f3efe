"""The keys of `cluster` itself. RLinf ignores one that it does not know, so a misspelt one is a key that is missing.

Source: RLinf, rlinf/scheduler/cluster/config.py, ClusterConfig (unknown keys are not checked); the others are read where they are used.
"""

from __future__ import annotations

from dataclasses import replace

from ....configuration.notes import Notes
from ....text.nearest import nearest
from ....text.tree import Entry, Mapping

_REQUIRED = ("num_nodes", "component_placement")
_READ = (*_REQUIRED, "node_groups", "profiling")
_ELSEWHERE = ("auto_scheduler", "use_pre_process_policy", "use_wait_before_last_iter_policy", "net_emulation", "tracer")


def as_meant(notes: Notes, section: Mapping) -> Mapping:
    """The section with each misspelt key that RLinf needs as the one that was meant.

    A misspelt one that it can do without is noted, and left as ignored as it is; other unknown keys may be the user's own.
    """
    open_ = [key for key in (*_READ, *_ELSEWHERE) if section.get(key) is None]
    entries = []
    for entry in section:
        name = entry.key.text
        close = nearest(name, open_) if name not in (*_READ, *_ELSEWHERE) else None
        if close is not None:
            open_.remove(close)
            _misspelt(notes, entry, close)
            if close in _REQUIRED:
                entry = Entry(replace(entry.key, text=close), entry.value)
        entries.append(entry)
    return replace(section, entries=tuple(entries))


def _misspelt(notes: Notes, entry: Entry, meant: str) -> None:
    name, edit = entry.key.text, notes.renamed(entry, meant)
    if meant in _REQUIRED and not notes.partial:
        message = f"`cluster` has no `{meant}`, but `{name}`, which RLinf does not know"
        notes.error("PW101", "cluster", message, entry.key.span, "not a key", f"write `{meant}`", edit)
    else:
        message = f"`cluster` has no key `{name}`; RLinf ignores it silently"
        notes.warn("PW104", "cluster", message, entry.key.span, "not a key", f"write `{meant}`", edit)
