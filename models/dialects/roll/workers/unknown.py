"""Keys that ROLL drops without a word: misspelt ones, roles of other pipelines, keys with dots."""

from __future__ import annotations

from difflib import SequenceMatcher

from ....configuration.notes import Notes
from ....findings.span import Edit
from ....text.nearest import nearest
from ....text.tree import Entry, Mapping, Scalar, Value
from ..recognise import HINTS, dotted, holds_workers, is_worker
from ..roles.known_keys import ALL_BLOCKS, BLOCKS, JOB_KEYS, keys_of
from ..roles.parts import REWARD_MODEL, REWARDS
from ..roles.pipelines import Pipeline
from .blocks import Block

CODE = "PW104"
_OPTIONAL = (REWARD_MODEL, REWARDS)
"""Blocks that may be null. Source: ROLL, roll/pipeline/rlvr/rlvr_config.py."""
_RESEMBLING = ("use_topr_loss",)
"""Keys that ROLL has and that resemble one of JOB_KEYS. Source: ROLL, roll/pipeline/rlvr/rlvr_config.py."""


def unknown_keys(notes: Notes, pipeline: Pipeline, root: Mapping, blocks: tuple[Block, ...]) -> None:
    """A finding for every key that decides where things run, or was meant to, and that ROLL does not know or cannot use.

    Where ROLL fails for want of such a key, `meant.py` has told it before.
    """
    for entry in dotted(root):
        _dotted(notes, entry)
    for entry in root:
        if "." not in entry.key.text:
            _top_level(notes, pipeline, root, entry)
    for block in blocks:
        if block.mapping is not None:
            for entry in block.mapping:
                _of_block(notes, block, block.mapping, entry)


def _top_level(notes: Notes, pipeline: Pipeline, root: Mapping, entry: Entry) -> None:
    name, known = entry.key.text, BLOCKS[pipeline.config]
    if name in known and pipeline.checks_types and not _is_block(name, entry.value):
        help = "write the map of its workers, or remove it"
        notes.wrong_type(name, name, entry.value, "a map", help, notes.removed(root, entry))
    if name == REWARDS and name in known and isinstance(entry.value, Mapping) and pipeline.checks_types:
        for inner in entry.value:
            if not _is_block(inner.key.text, inner.value):
                path, help = f"{name}.{inner.key.text}", "write the map of its workers, or remove it"
                notes.wrong_type(path, path, inner.value, "a map", help, notes.removed(entry.value, inner))
    if name in known or name in JOB_KEYS or name == HINTS:
        return
    if name in ALL_BLOCKS and (is_worker(entry.value) or holds_workers(entry.value)):
        message = f"`{name}` is no role of ROLL's {pipeline.name} pipeline; ROLL ignores it silently"
        notes.warn(CODE, name, message, entry.key.span, "ignored", "remove it", notes.removed(root, entry))
    elif is_worker(entry.value) and name not in ALL_BLOCKS:
        close = nearest(name, [each for each in known if root.get(each) is None])
        help = f"write `{close}`" if close else f"remove it; roles are {', '.join(f'`{each}`' for each in known)}"
        message = f"`{name}` is no role of ROLL's {pipeline.name} pipeline; ROLL ignores it silently"
        edit = Edit(entry.key.span, close) if close else notes.removed(root, entry)
        notes.warn(CODE, name, message, entry.key.span, "not a role", help, edit)
    elif not isinstance(entry.value, Mapping):
        close = _misspelt(name, [each for each in JOB_KEYS if root.get(each) is None])
        if close:
            message = f"ROLL has no key `{name}`; it ignores it silently"
            notes.warn(CODE, "", message, entry.key.span, "not a key", f"is `{close}` meant?")


def _is_block(name: str, value: Value) -> bool:
    """May this stand where a block of workers does: a map, what is not known here, or a null where ROLL takes one?"""
    if isinstance(value, Mapping) or (isinstance(value, Scalar) and value.is_null and name in _OPTIONAL):
        return True
    return isinstance(value, Scalar) and "${" in value.text


def _dotted(notes: Notes, entry: Entry) -> None:
    """`actor_train.device_mapping: ...` is one key with a dot in it."""
    role, _, key = entry.key.text.rpartition(".")
    message = f"`{entry.key.text}` is one key with a dot in its name, which ROLL ignores silently"
    notes.warn(CODE, role, message, entry.key.span, "not a path", f"write `{key}:` below `{role}:`")


def _of_block(notes: Notes, block: Block, mapping: Mapping, entry: Entry) -> None:
    known, name = keys_of(block.part), entry.key.text
    if name in known:
        return
    close = nearest(name, [each for each in sorted(known) if mapping.get(each) is None])
    message = f"`{block.key}` has no key `{name}`; ROLL ignores it silently"
    help, edit = (f"write `{close}`", notes.renamed(entry, close)) if close else ("remove it", notes.removed(mapping, entry))
    notes.warn(CODE, block.key, message, entry.key.span, "not a key", help, edit)


def _misspelt(name: str, known: list[str]) -> str | None:
    """The key that is written here with a letter or two wrong; configurations have many keys of their own, which only resemble one."""
    close = None if name in _RESEMBLING else nearest(name, known)
    return close if close and SequenceMatcher(None, name.lower(), close).ratio() >= 0.88 else None
