"""The configuration as it was meant: the misspelt keys that ROLL misses count as what they were meant to be, so that they are judged too.

What ROLL ignores and does not miss stays as it is: see `unknown.py`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Iterator

from ....configuration.notes import Notes
from ....configuration.settings import Settings
from ....text.document import Document
from ....text.interpolation import Interpolator
from ....text.nearest import nearest
from ....text.tree import Entry, Mapping
from ..mapping.evaluate import AT_CREATION
from ..recognise import dotted, holds_workers, is_worker
from ..roles.defaults import Defaults
from ..roles.known_keys import ALL_BLOCKS, DEVICES, WORLD_SIZE, keys_of
from ..roles.parts import AGENTIC_REWARD, REWARD_MODEL, TRAIN_ENV, VAL_ENV
from ..roles.pipelines import Pipeline
from ..variables import ENVIRONMENT
from .blocks import Block, blocks_of
from .commas import with_commas
from .pipeline_of import pipeline_of

CODE = "PW104"
_NOT_MISSED = (AGENTIC_REWARD, REWARD_MODEL, TRAIN_ENV, VAL_ENV)
"""Blocks without which ROLL goes on."""


def as_meant(notes: Notes, document: Document, hinted: frozenset[str]) -> Document:
    """The document with these keys put right; an error for each of them. `hinted` are the roles whose place is left to solve."""
    document = replace(document, root=with_commas(notes, document.root))
    if notes.partial:  # then ROLL may have from elsewhere what it seems to miss
        return document
    root = _with_roles(notes, document)
    return replace(document, root=_with_keys(notes, replace(document, root=root), hinted))


def _with_roles(notes: Notes, document: Document) -> Mapping:
    """With the names of misspelt roles that ROLL starts."""
    root = document.root
    meant: dict[str, str] = {}
    for entry in root:
        name = entry.key.text
        if name not in ALL_BLOCKS and "." not in name and (is_worker(entry.value) or holds_workers(entry.value)):
            close = nearest(name, [each for each in ALL_BLOCKS if root.get(each) is None and each not in meant.values()])
            if close is not None and close not in _NOT_MISSED:
                meant[name] = close
    if not meant:
        return root
    renamed = _renamed(root, meant)
    pipeline, blocks = _started(replace(document, root=renamed))
    missed = {name: close for name, close in meant.items() if any(block.key.partition(".")[0] == close for block in blocks)}
    for entry in root:
        name = entry.key.text
        if close := missed.get(name):
            message = f"`{name}` is no role of ROLL's {pipeline.name} pipeline; ROLL ignores it, and misses `{close}`"
            notes.error(CODE, close, message, entry.key.span, "not a role", f"write `{close}`", notes.renamed(entry, close), AT_CREATION)
    return _renamed(root, missed)


def _with_keys(notes: Notes, document: Document, hinted: frozenset[str]) -> Mapping:
    """With the names of misspelt keys of roles that ROLL starts and that would have no workers without them."""
    root = document.root
    if not dotted(root) and not any(_suspects(root)):
        return root
    for block in _started(document)[1]:
        if block.part in (REWARD_MODEL, TRAIN_ENV, VAL_ENV) or block.key in hinted:
            continue
        mapping = block.mapping
        if mapping is not None and not any(mapping.entry(key) for key in (DEVICES, WORLD_SIZE)):
            root = _with_workers(notes, root, block, mapping)
    return root


def _with_workers(notes: Notes, root: Mapping, block: Block, mapping: Mapping) -> Mapping:
    """With what gives a block workers under another name, if something does."""
    for entry in mapping:
        close = _close(entry, block.part, mapping)
        if close == DEVICES or (close == WORLD_SIZE and block.part != AGENTIC_REWARD):
            message = f"`{block.key}` has no key `{entry.key.text}`; ROLL ignores it, and misses `{close}`"
            notes.error(CODE, block.key, message, entry.key.span, "not a key", f"write `{close}`", notes.renamed(entry, close), AT_CREATION)
            return _within(root, block.key, _renamed(mapping, {entry.key.text: close}))
    for entry in dotted(root):
        role, _, key = entry.key.text.rpartition(".")
        if role == block.key and key in (DEVICES, WORLD_SIZE):
            message = f"`{entry.key.text}` is one key with a dot in its name; ROLL ignores it, and misses `{key}` of `{role}`"
            notes.error(CODE, role, message, entry.key.span, "not a path", f"write `{key}:` below `{role}:`", None, AT_CREATION)
            moved = Entry(replace(entry.key, text=key), entry.value)
            others = Mapping(tuple(each for each in root if each is not entry), root.span, root.flow)
            return _within(others, block.key, Mapping((*mapping.entries, moved), mapping.span, mapping.flow))
    return root


def _started(document: Document) -> tuple[Pipeline, list[Block]]:
    """The pipeline that the document is for, and the blocks that it starts; what is found out besides is told by the reading itself."""
    silent = Notes(document, "")
    settings = Settings(silent, Interpolator.of(document, ENVIRONMENT), Defaults())
    pipeline = pipeline_of(silent, settings, document.program)
    return pipeline, [block for block in blocks_of(silent, settings, pipeline, document.root) if block.created]


def _suspects(root: Mapping) -> Iterator[bool]:
    """Which of its blocks, also inner ones, have keys that could be misspelt?"""
    for entry in root:
        for block in (entry, *(entry.value if isinstance(entry.value, Mapping) else ())):
            if isinstance(block.value, Mapping) and is_worker(block.value):
                yield any(_close(each, entry.key.text, block.value) in (DEVICES, WORLD_SIZE) for each in block.value)


def _close(entry: Entry, part: str, mapping: Mapping) -> str | None:
    """The key that was probably meant; None for one that ROLL knows."""
    known = keys_of(part)
    return None if entry.key.text in known else nearest(entry.key.text, [key for key in sorted(known) if mapping.get(key) is None])


def _renamed(mapping: Mapping, names: dict[str, str]) -> Mapping:
    entries = (Entry(replace(each.key, text=names.get(each.key.text, each.key.text)), each.value) for each in mapping)
    return Mapping(tuple(entries), mapping.span, mapping.flow)


def _within(root: Mapping, key: str, mapping: Mapping) -> Mapping:
    """The root with another map at a path of one or two keys."""
    group, _, inner = key.partition(".")
    owner = root.get(group)
    if inner and isinstance(owner, Mapping):
        mapping = _within(owner, inner, mapping)
    entries = (Entry(entry.key, mapping) if entry.key.text == group else entry for entry in root)
    return Mapping(tuple(entries), root.span, root.flow)
