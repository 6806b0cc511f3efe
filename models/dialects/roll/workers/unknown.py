"""Keys that ROLL drops without a word: misspelt ones, roles of other pipelines, keys with dots."""

from __future__ import annotations

from ....configuration.notes import Notes
from ....configuration.settings import Settings
from ....span import Edit
from ....text.nearest import nearest
from ....text.tree import Entry, Mapping, Scalar, Value
from ..mapping.evaluate import AT_CREATION
from ..recognise import HINTS, dotted, is_worker
from ..roles.known_keys import ALL_BLOCKS, BLOCKS, DEVICES, JOB_KEYS, WORLD_SIZE, keys_of
from ..roles.parts import REWARD_MODEL, REWARDS, TRAIN_ENV, VAL_ENV
from ..roles.pipelines import Pipeline
from .blocks import Block

CODE = "PW104"
_OPTIONAL = (REWARD_MODEL, REWARDS)
"""Blocks that may be null. Source: ROLL, roll/pipeline/rlvr/rlvr_config.py."""


def unknown_keys(notes: Notes, settings: Settings, pipeline: Pipeline, root: Mapping, blocks: tuple[Block, ...]) -> None:
    """A finding for every key that decides where things run, or was meant to, and that ROLL does not know or cannot use.

    An error where ROLL fails for want of it: a role that is started and has neither devices nor a number of workers.
    """
    for entry in dotted(root):
        _dotted(notes, root, entry)
    for entry in root:
        if "." not in entry.key.text:
            _top_level(notes, pipeline, root, entry, blocks)
    for block in blocks:
        if block.mapping is not None:
            for entry in block.mapping:
                _of_block(notes, settings, block, block.mapping, entry)


def _top_level(notes: Notes, pipeline: Pipeline, root: Mapping, entry: Entry, blocks: tuple[Block, ...]) -> None:
    name, known = entry.key.text, BLOCKS[pipeline.config]
    if name in known and pipeline.checks_types and not _is_block(name, entry.value):
        help = "write the map of its workers, or remove it"
        notes.wrong_type(name, name, entry.value, "a map", help, notes.removed(root, entry))
    if name in known or name in JOB_KEYS or name == HINTS:
        return
    if name in ALL_BLOCKS and (is_worker(entry.value) or _holds_workers(entry.value)):
        message = f"`{name}` is no role of ROLL's {pipeline.name} pipeline; ROLL ignores it silently"
        notes.warn(CODE, name, message, entry.key.span, "ignored", "remove it", notes.removed(root, entry))
    elif is_worker(entry.value) and name not in ALL_BLOCKS:
        close = nearest(name, [each for each in known if root.get(each) is None])
        missed = close and any(block.key == close and block.created and block.mapping is None for block in blocks)
        ignored = f"ROLL ignores it, and misses `{close}`" if missed else "ROLL ignores it silently"
        help = f"write `{close}`" if close else f"remove it; roles are {', '.join(f'`{each}`' for each in known)}"
        message = f"`{name}` is no role of ROLL's {pipeline.name} pipeline; {ignored}"
        edit = Edit(entry.key.span, close) if close else notes.removed(root, entry)
        notes.warn(CODE, name, message, entry.key.span, "not a role", help, edit)
    elif not isinstance(entry.value, Mapping):
        close = nearest(name, [each for each in JOB_KEYS if root.get(each) is None and abs(len(each) - len(name)) <= 2])
        if close:
            message = f"ROLL has no key `{name}`; it ignores it silently"
            notes.warn(CODE, "", message, entry.key.span, "not a key", f"is `{close}` meant?")


def _is_block(name: str, value: Value) -> bool:
    """May this stand where a block of workers does: a map, what is not known here, or a null where ROLL takes one?"""
    if isinstance(value, Mapping) or (isinstance(value, Scalar) and value.is_null and name in _OPTIONAL):
        return True
    return isinstance(value, Scalar) and "${" in value.text


def _holds_workers(value: Value) -> bool:
    return isinstance(value, Mapping) and any(is_worker(entry.value, DEVICES, WORLD_SIZE) for entry in value)


def _dotted(notes: Notes, root: Mapping, entry: Entry) -> None:
    """`actor_train.device_mapping: ...` is one key with a dot in it."""
    role, _, key = entry.key.text.rpartition(".")
    message = f"`{entry.key.text}` is one key with a dot in its name, which ROLL ignores silently"
    notes.warn(CODE, role, message, entry.key.span, "not a path", f"write `{key}:` below `{role}:`")


def _of_block(notes: Notes, settings: Settings, block: Block, mapping: Mapping, entry: Entry) -> None:
    known, name = keys_of(block.part), entry.key.text
    if name in known:
        return
    close = nearest(name, [each for each in sorted(known) if mapping.get(each) is None])
    environment = block.part in (TRAIN_ENV, VAL_ENV)
    lost = close == DEVICES and not environment and not settings.has(f"{block.key}.{WORLD_SIZE}") and bool(block.created)
    ignored = f"ROLL ignores it, and misses `{close}`" if lost else "ROLL ignores it silently"
    message = f"`{block.key}` has no key `{name}`; {ignored}"
    help, edit = (f"write `{close}`", notes.renamed(entry, close)) if close else ("remove it", notes.removed(mapping, entry))
    if lost:
        notes.error(CODE, block.key, message, entry.key.span, "not a key", help, edit, AT_CREATION)
    else:
        notes.warn(CODE, block.key, message, entry.key.span, "not a key", help, edit)
