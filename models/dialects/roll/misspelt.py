"""Keys that ROLL drops or reads otherwise than they look: misspelt ones, keys with dots, commas in flow maps."""

from __future__ import annotations

from dataclasses import replace
from difflib import SequenceMatcher
from typing import Iterable, Iterator

from ...configuration.notes import Notes
from ...configuration.settings import Settings
from ...findings.span import Edit, Span
from ...releases.release import spans_of
from ...text.document import Document
from ...text.interpolation import Interpolator
from ...text.nearest import nearest
from ...text.tree import Entry, Mapping, Scalar, Value
from .blocks import Block, blocks_of, pipeline_of
from .device_mapping import KEY
from .names import AT_CREATION, AT_LOAD
from .names import (
    AGENTIC_REWARD,
    ALL_BLOCKS,
    DEVICES,
    ENVIRONMENT_VARIABLES,
    JOB_KEYS,
    REWARD_MODEL,
    REWARDS,
    TEACHERS,
    TRAIN_ENV,
    VAL_ENV,
    WORLD_SIZE,
)  # fmt: skip
from .profile import Defaults, Pipeline, Profile, profile_of, releases_with_key
from .recognise import HINTS, dotted, holds_workers, is_worker

# Commas in a flow map: `{device_mapping: list(range(0,8))}` is a `device_mapping: list(range(0` and a key `8))` without a value.

COMMA = "PW118"
_STR = "tag:yaml.org,2002:str"


def with_commas(notes: Notes, root: Mapping) -> Mapping:
    """The root with every `device_mapping` as it was meant; a finding for each that a comma ends."""
    entries = []
    for entry in root:
        inner = entry.value
        if isinstance(inner, Mapping) and is_worker(inner, KEY):
            entry = Entry(entry.key, _joined(notes, inner, entry.key.text))
        elif isinstance(inner, Mapping) and entry.key.text in (REWARDS, TEACHERS):
            blocks = [
                Entry(each.key, _joined(notes, each.value, f"{entry.key.text}.{each.key.text}"))
                if isinstance(each.value, Mapping)
                else each
                for each in inner
            ]
            if any(new is not old for new, old in zip(blocks, inner)):
                entry = Entry(entry.key, Mapping(tuple(blocks), inner.span, inner.flow))
        entries.append(entry)
    return Mapping(tuple(entries), root.span, root.flow)


def _joined(notes: Notes, block: Mapping, subject: str) -> Mapping:
    """The block whose `device_mapping` goes on until its brackets are closed."""
    own = block.entry(KEY) if block.flow else None
    if own is None or not isinstance(own.value, Scalar) or own.value.value != own.value.text:
        return block
    source = notes.document.text_of(own.value.span.file)
    start = own.value.span
    if source[start.start : start.end] != own.value.text or not _is_open(own.value.text):
        return block
    at = block.entries.index(own) + 1
    stop = at
    while (
        stop < len(block.entries) and notes.is_bare(block.entries[stop]) and _is_open(source[start.start : _end(block.entries[stop - 1])])
    ):
        stop += 1
    span = Span(start.file, start.start, _end(block.entries[stop - 1]), start.line, start.column)
    text = source[span.start : span.end]
    if stop == at or _is_open(text):
        return block
    keys = ", ".join(f"`{each.key.text}`" for each in block.entries[at:stop])
    message = f"the comma ends `{KEY}` of `{subject}` here: ROLL gets `{own.value.text}`, which is no Python expression, and a key {keys}"
    notes.error(COMMA, subject, message, span, "not one value", f'write "{text}" in quotes', Edit(span, f'"{text}"'), AT_LOAD)
    meant = Scalar(text, _STR, span, span)  # with an origin, so that no other edit is made in it before it has its quotes
    return Mapping((*block.entries[: at - 1], Entry(own.key, meant), *block.entries[stop:]), block.span, block.flow)


def _end(entry: Entry) -> int:
    return entry.value.span.end if isinstance(entry.value, Scalar) and entry.value.span.length else entry.key.span.end


def _is_open(text: str) -> bool:
    """Are there brackets that are not closed?"""
    return sum(map(text.count, "([")) > sum(map(text.count, ")]"))


# The configuration as it was meant: the misspelt keys that ROLL misses count as what they were meant to be, so that they are judged too.
#
# What ROLL ignores and does not miss stays as it is: see `unknown.py`.

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
    if not dotted(root) and not any(_suspects(root, profile_of(document.release))):
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
        close = _close(entry, profile_of(notes.choice).keys_of(block.part), mapping)
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
    settings = Settings(silent, Interpolator.of(document, ENVIRONMENT_VARIABLES), Defaults(profile_of(document.release)))
    pipeline = pipeline_of(silent, settings, document.program)
    return pipeline, [block for block in blocks_of(silent, settings, pipeline, document.root) if block.created]


def _suspects(root: Mapping, profile: Profile) -> Iterator[bool]:
    """Which of its blocks, also inner ones, have keys that could be misspelt?"""
    for entry in root:
        for block in (entry, *(entry.value if isinstance(entry.value, Mapping) else ())):
            if isinstance(block.value, Mapping) and is_worker(block.value):
                known = profile.keys_of(entry.key.text)
                yield any(_close(each, known, block.value) in (DEVICES, WORLD_SIZE) for each in block.value)


def _close(entry: Entry, known: frozenset[str], mapping: Mapping) -> str | None:
    """The key that was probably meant; None for one that ROLL knows."""
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


# Keys that ROLL drops without a word: misspelt ones, roles of other pipelines, keys with dots.

_OPTIONAL = (REWARD_MODEL, REWARDS)
"""Blocks that may be null. Source: ROLL, roll/pipeline/rlvr/rlvr_config.py."""
_MISSPELT = 0.88
"""Least ratio of equal letters; configurations have many keys of their own, which only resemble one."""


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
    profile = profile_of(notes.choice)
    name, known = entry.key.text, profile.blocks(pipeline.config)
    if name in known and pipeline.checks_types and not _is_block(name, entry.value):
        help = "write the map of its workers, or remove it"
        notes.wrong_type(name, name, entry.value, "a map", help, notes.removed(root, entry))
    if name == REWARDS and name in known and isinstance(entry.value, Mapping) and pipeline.checks_types:
        for inner in entry.value:
            if not _is_block(inner.key.text, inner.value):
                path, help = f"{name}.{inner.key.text}", "write the map of its workers, or remove it"
                notes.wrong_type(path, path, inner.value, "a map", help, notes.removed(entry.value, inner))
    if name in known or name in JOB_KEYS or name == HINTS or name in profile.keys(pipeline.config):
        return
    if name in ALL_BLOCKS and (is_worker(entry.value) or holds_workers(entry.value)):
        message = f"`{name}` is no role of ROLL's {pipeline.name} pipeline; ROLL ignores it silently"
        notes.warn(CODE, name, message, entry.key.span, "ignored", "remove it", notes.removed(root, entry))
    elif (is_worker(entry.value) or holds_workers(entry.value)) and name not in ALL_BLOCKS:
        if any(f"${{{name}{end}" in notes.document.source.text for end in (".", "}")):
            return  # its values are used elsewhere
        close, twice = nearest(name, known), False
        if close and root.get(close) is not None:
            close, twice = None, True
        help = "remove it; " + ("its right name is there too" if twice else f"roles are {', '.join(f'`{each}`' for each in known)}")
        help = f"write `{close}`" if close else help
        message = f"`{name}` is no role of ROLL's {pipeline.name} pipeline; ROLL ignores it silently"
        edit = Edit(entry.key.span, close) if close else notes.removed(root, entry)
        notes.warn(CODE, name, message, entry.key.span, "not a role", help, edit)
    elif not isinstance(entry.value, Mapping):
        close = misspelt(name, (*JOB_KEYS, *profile.keys(pipeline.config)))
        if close and f"${{{name}}}" not in notes.document.source.text:
            message = f"ROLL has no key `{name}`; it ignores it silently"
            twice = root.get(close) is not None
            help, edit = (f"remove it: `{close}` is set too", notes.removed(root, entry)) if twice else (f"is `{close}` meant?", None)
            notes.warn(CODE, "", message, entry.key.span, "not a key", help, edit)


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
    known, name = profile_of(notes.choice).keys_of(block.part), entry.key.text
    if name in known:
        return
    close = nearest(name, sorted(known))
    had = releases_with_key(block.part, name)
    only = f" in {notes.choice.release.name}, only in {spans_of(had)}" if had and notes.choice else ""
    message = f"`{block.key}` has no key `{name}`{only}; ROLL ignores it silently"
    help, edit = "remove it", notes.removed(mapping, entry)
    if close and mapping.get(close) is not None:
        help = f"remove it: `{close}` is set too"
    elif close and not had:
        help, edit = f"write `{close}`", notes.renamed(entry, close)
    notes.warn(CODE, block.key, message, entry.key.span, "not a key", help, edit)


def misspelt(name: str, known: Iterable[str]) -> str | None:
    """Known key that is written here with a letter or two wrong; None if the name is known itself or resembles none."""
    near = [each for each in dict.fromkeys(known) if abs(len(each) - len(name)) < 3]
    close = None if name in near else nearest(name, near)
    return close if close and SequenceMatcher(None, name.lower(), close).ratio() >= _MISSPELT else None
