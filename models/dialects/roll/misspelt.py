"""Keys ignored or misread by ROLL: misspelt keys, keys with dots, commas in flow maps."""

from __future__ import annotations

from dataclasses import replace

from ...configuration.notes import Notes
from ...configuration.settings import Settings
from ...findings.causes import meet
from ...findings.span import Edit, Span
from ...releases.release import spans_of
from ...text.document import Document
from ...text.interpolation import Interpolator
from ...text.nearest import SLIP, closest, nearest
from ...text.tree import Entry, MapNode, Scalar, with_value
from ..unread import counting_keys, report_unread
from . import names
from .blocks import ConfigurationBlocks, pipeline_of
from .job import Role, RollChecks, RollSetup
from .names import ALL_BLOCKS, AT_CREATION, AT_LOAD, DEVICES, HINTS, IGNORED, REWARD_MODEL, TRAIN_ENV, VAL_ENV, WORLD_SIZE
from .profile import Defaults, Pipeline, maps, profile_of, releases_with_key

CODE = "PW104"

# Commas in a flow map: `{device_mapping: list(range(0,8))}` parses as
# `device_mapping: list(range(0` and a key `8))`.


def _with_commas(notes: Notes, root: MapNode, path: str = "") -> MapNode:
    """Repair `device_mapping` values with a comma in a flow map, with findings."""
    entries = []
    for entry in root:
        block, key = entry.value, f"{path}{entry.key.text}"
        mapping = block.entry(DEVICES) if isinstance(block, MapNode) and block.flow else None
        if isinstance(block, MapNode) and (mapping or not path):
            new_block = _extend_mapping(notes, block, mapping, key) if mapping else _with_commas(notes, block, f"{key}.")
            entry = entry if new_block is block else Entry(entry.key, new_block)
        entries.append(entry)
    return root if entries == list(root) else replace(root, entries=tuple(entries))


def _extend_mapping(notes: Notes, block: MapNode, mapping: Entry, subject: str) -> MapNode:
    """Extend the `device_mapping` of a block to the closing bracket."""
    value, start = mapping.value, mapping.value.span
    source = notes.document.text_of(start.file)
    if not isinstance(value, Scalar) or source[start.start : start.end] != value.value or not _is_open(str(value.value)):
        return block
    at = stop = block.entries.index(mapping) + 1
    span = start
    while stop < len(block.entries) and notes.is_bare(block.entries[stop]) and _is_open(source[span.start : span.end]):
        span = Span(start.file, start.start, block.entries[stop].key.span.end, start.line, start.column)
        stop += 1
    text = source[span.start : span.end]
    if stop == at or _is_open(text):
        return block
    message = f"the comma ends `{DEVICES}` of `{subject}` here: ROLL gets `{value.value}`, which is no Python expression"
    notes.error("PW118", subject, message, span, "not one value", f'write "{text}" in quotes', Edit(span, f'"{text}"'), AT_LOAD)
    whole = Scalar(text, "tag:yaml.org,2002:str", span, span)  # with an origin: no other edit before it has its quotes
    return MapNode((*block.entries[: at - 1], Entry(mapping.key, whole), *block.entries[stop:]), block.span, block.flow)


def _is_open(text: str) -> bool:
    """Return True if brackets are not closed."""
    return sum(map(text.count, "([")) > sum(map(text.count, ")]"))


# Repaired configuration: misspelt keys that ROLL misses are judged under the name that was meant.
# What ROLL ignores and does not miss stays as it is.

_NOT_MISSED = (names.AGENTIC_REWARD, REWARD_MODEL, TRAIN_ENV, VAL_ENV)
"""Blocks that ROLL can do without."""


def as_meant(notes: Notes, document: Document, hinted_names: frozenset[str]) -> Document:
    """Correct the misspelt keys that ROLL misses, with an error for each. Roles in `hinted_names` miss none."""
    document = replace(document, root=_with_commas(notes, document.root))
    if notes.partial:  # other files may supply what seems to be missing
        return document
    document = replace(document, root=_with_roles(notes, document))
    return replace(document, root=_with_keys(notes, document, hinted_names))


def _with_roles(notes: Notes, document: Document) -> MapNode:
    """Correct the names of misspelt roles that ROLL starts."""
    root = document.root
    fixes: dict[str, str] = {}
    for entry in root:
        name = entry.key.text
        has_blocks = names.has_worker_blocks(entry.value)
        is_strange = name not in ALL_BLOCKS or (name == names.AGENTIC_REWARD and has_blocks)
        if is_strange and "." not in name and (names.is_worker(entry.value) or has_blocks):
            close = nearest(name, [role for role in ALL_BLOCKS if root.get(role) is None and role not in fixes.values()])
            if close is not None and close not in _NOT_MISSED:
                fixes[name] = close
    if not fixes:
        return root
    pipeline, blocks = _find_started(replace(document, root=_rename_keys(root, fixes)))
    if not {block.key for block in _find_started(document)[1] if block.block is not None} <= {block.key for block in blocks}:
        return root  # another pipeline, which would not start what is configured
    renames = {name: close for name, close in fixes.items() if any(block.key.partition(".")[0] == close for block in blocks)}
    for entry in root:
        if close := renames.get(entry.key.text):
            message = f"`{entry.key.text}` is no role of ROLL's {pipeline.name} pipeline"
            edit, why = notes.rename(entry, close), (f"ROLL ignores it, and misses `{close}`", AT_CREATION)
            notes.error(CODE, close, message, entry.key.span, "not a role", f"write `{close}`", edit, *why)
    return _rename_keys(root, renames)


def _with_keys(notes: Notes, document: Document, hinted_names: frozenset[str]) -> MapNode:
    """Correct misspelt keys of started roles that would have no workers otherwise."""
    root, workers = document.root, (DEVICES, WORLD_SIZE)
    suspects = (entry.key.text for block in maps(root) for entry in block)
    if not names.dotted_keys(root) and not any(key not in workers and nearest(key, workers) for key in suspects):
        return root
    for block in _find_started(document)[1]:
        mapping = block.block
        if mapping is None or block.part in (REWARD_MODEL, TRAIN_ENV, VAL_ENV) or block.key in hinted_names:
            continue
        if not any(mapping.entry(key) for key in workers):
            root = _with_workers(notes, root, block, mapping)
    return root


def _with_workers(notes: Notes, root: MapNode, block: Role, mapping: MapNode) -> MapNode:
    """Correct the misspelt key that gives a block its workers, if any."""
    keys = profile_of(notes.choice).keys_of(block.part)
    missing = [key for key in sorted(keys) if mapping.get(key) is None]
    for entry in mapping:
        close = None if entry.key.text in keys else nearest(entry.key.text, missing)
        if close == DEVICES or (close == WORLD_SIZE and block.part != names.AGENTIC_REWARD):
            message = f"`{block.key}` has no key `{entry.key.text}`"
            edit, why = notes.rename(entry, close), (f"ROLL ignores it, and misses `{close}`", AT_CREATION)
            notes.error(CODE, block.key, message, entry.key.span, "not a key", f"write `{close}`", edit, *why)
            return with_value(root, block.key, _rename_keys(mapping, {entry.key.text: close}))
    for entry in names.dotted_keys(root):
        role, _, key = entry.key.text.rpartition(".")
        if role == block.key and key in (DEVICES, WORLD_SIZE):
            message = f"`{entry.key.text}` is one key with a dot in its name"
            why = (f"ROLL ignores it, and misses `{key}` of `{role}`", AT_CREATION)
            notes.error(CODE, role, message, entry.key.span, "not a path", f"write `{key}:` below `{role}:`", None, *why)
            new_entry = Entry(replace(entry.key, text=key), entry.value)
            remaining = MapNode(tuple(line for line in root if line is not entry), root.span, root.flow)
            return with_value(remaining, block.key, MapNode((*mapping.entries, new_entry), mapping.span, mapping.flow))
    return root


def _find_started(document: Document) -> tuple[Pipeline, list[Role]]:
    silent = Notes(document, "")
    settings = Settings(silent, Interpolator.of(document, names.ENVIRONMENT_VARIABLES), Defaults(profile_of(document.release)))
    setup = RollSetup(silent, settings, pipeline_of(silent, settings, document.program))
    return setup.pipeline, [role for role in ConfigurationBlocks(setup).roles() if role.created]


def _rename_keys(mapping: MapNode, new_names: dict[str, str]) -> MapNode:
    entries = (Entry(replace(entry.key, text=new_names.get(entry.key.text, entry.key.text)), entry.value) for entry in mapping)
    return replace(mapping, entries=tuple(entries))


# Keys that ROLL drops silently: misspelt keys, roles of other pipelines, keys with dots.


class KeyChecks(RollChecks):
    """Warnings of placement keys that ROLL does not know or cannot use."""

    def check(self, roles: tuple[Role, ...]) -> None:
        """Warn of placement keys that ROLL ignores and does not miss."""
        root = self.settings.at("")
        if not isinstance(root, MapNode):
            return
        for entry in names.dotted_keys(root):
            role, _, key = entry.key.text.rpartition(".")
            message = f"`{entry.key.text}` is one key with a dot in its name, which ROLL ignores silently"
            self.notes.warn(CODE, role, message, entry.key.span, "not a path", f"write `{key}:` below `{role}:`")
        for entry in root:
            if "." not in entry.key.text:
                self._top_level(root, entry)
        for block in roles:
            for entry in block.block or ():
                if block.block is not None:
                    self._check_key(block, block.block, entry)

    def _top_level(self, root: MapNode, entry: Entry) -> None:
        notes, pipeline, source = self.notes, self.pipeline, self.notes.document.source.text
        block_names, keys = self.setup.profile.blocks(pipeline.config), self.setup.profile.keys(pipeline.config)
        name, value = entry.key.text, entry.value
        if name in block_names or name in names.JOB_KEYS or name == HINTS or name in keys:
            return
        if names.is_worker(value) or names.has_worker_blocks(value):
            is_aliased = any(meet(value.span, span) for span in notes.document.shared)
            if name not in ALL_BLOCKS and (is_aliased or any(f"${{{name}{end}" in source for end in (".", "}"))):
                return  # its values are used elsewhere
            close = nearest(name, block_names) if name not in ALL_BLOCKS else None
            self._no_role(root, entry, close)
            if name not in ALL_BLOCKS and not close and isinstance(value, MapNode) and (devices := value.get(DEVICES)) is not None:
                report_unread(notes, CODE, [(f"{name}.{DEVICES}", devices.span)], "a role that ROLL starts")
        elif isinstance(value, MapNode) and (close := closest(name, [block for block in block_names if root.get(block) is None], SLIP)):
            self._no_role(root, entry, close)
        elif not isinstance(value, MapNode):
            near = [key for key in (*names.JOB_KEYS, *keys) if abs(len(key) - len(name)) <= SLIP]  # no whole word more or less
            close = closest(name, near, min(SLIP, len(name) // 8))
            if close and f"${{{name}}}" not in source:
                is_twice = root.get(close) is not None
                help, edit = notes.to_rename(root, entry, close) if is_twice else (f"is `{close}` meant?", None)
                notes.warn(CODE, "", f"ROLL has no key `{name}`", entry.key.span, "not a key", help, edit, IGNORED)
                return
        report_unread(notes, CODE, counting_keys(entry, name), "a role that ROLL starts")

    def _no_role(self, root: MapNode, entry: Entry, close: str | None) -> None:
        help, edit = self.notes.to_rename(root, entry, close) if close else ("remove it", self.notes.remove(root, entry))
        message = f"`{entry.key.text}` is no role of ROLL's {self.pipeline.name} pipeline"
        self.notes.warn(CODE, entry.key.text, message, entry.key.span, "not a role", help, edit, IGNORED)

    def _check_key(self, role: Role, block: MapNode, entry: Entry) -> None:
        keys, name, choice = self.setup.profile.keys_of(role.part), entry.key.text, self.notes.choice
        if name in keys:
            return
        close, had = nearest(name, sorted(keys)), releases_with_key(name, role.part)
        scope = f" in {choice.release.name}, only in {spans_of(had)}" if had and choice else ""
        message = f"`{role.key}` has no key `{name}`{scope}"
        is_meant = close and (block.get(close) is not None or not had)
        help, edit = self.notes.to_rename(block, entry, close) if close and is_meant else ("remove it", self.notes.remove(block, entry))
        self.notes.warn(CODE, role.key, message, entry.key.span, "not a key", help, edit, IGNORED)
        if choice is not None and choice.differs and close in names.SIZE_KEYS and block.get(close) is None:
            why = f"`{role.key}.{name}` may be a size in the code of the {choice.reason}"
            self.notes.unsure(CODE, f"{role.key}.{name}", why, True, f"Write the size as `{close}`, too")
