"""Keys that ROLL drops silently: misspelt keys, roles of other pipelines, keys with dots."""

from __future__ import annotations

from ...findings.causes import meet
from ...releases.release import spans_of
from ...text.nearest import SLIP, closest, nearest
from ...text.tree import Entry, MapNode
from ..unread import counting_keys, report_unread
from . import names
from .findings import report
from .job import Role, RollChecks
from .names import ALL_BLOCKS, AT_CREATION, DEVICES, HINTS, WORLD_SIZE
from .profile import releases_with_key

CODE = "PW104"
_WORKERS = (DEVICES, WORLD_SIZE)


class KeyChecks(RollChecks):
    """Findings of placement keys that ROLL does not know or cannot use."""

    def check(self, roles: tuple[Role, ...]) -> None:
        """Add warnings of ignored keys, and errors where ROLL misses the role that was meant."""
        root = self.settings.at("")
        if not isinstance(root, MapNode):
            return
        for entry in names.dotted_keys(root):
            name, _, key = entry.key.text.rpartition(".")
            is_missed = any(role.key == name and role.created and not any(map((role.block or root).get, _WORKERS)) for role in roles)
            severity = "error" if is_missed and key in _WORKERS else "warning"
            report(self.notes, "dotted_key", name, entry.key.span, None, severity, path=entry.key.text, key=key, role=name)
        environments = (names.TRAIN_ENV, names.VAL_ENV)  # ROLL can do without the blocks
        missing_roles = [role.key for role in roles if role.created and role.block is None and role.key not in environments]
        # Without the reward of a domain rlvr_pipeline.py fails: `self.rewards[domain]`.
        if names.REWARDS in self.pipeline.creates and self.pipeline.updates_models and root.get(names.REWARDS) is None:
            missing_roles.append(names.REWARDS)
        for entry in root:
            if "." not in entry.key.text:
                self._top_level(root, entry, [] if self.notes.partial else missing_roles)
        for role in roles:
            for entry in role.block or ():
                if role.key != names.AGENTIC_REWARD or names.REWARDS not in missing_roles:
                    self._check_key(role, role.block or root, entry)

    def _top_level(self, root: MapNode, entry: Entry, missing_roles: list[str]) -> None:
        notes, pipeline, source = self.notes, self.pipeline, self.notes.document.source.text
        block_names, keys = self.setup.profile.blocks(pipeline.config), self.setup.profile.keys(pipeline.config)
        name, value = entry.key.text, entry.value
        is_rewards = name == names.AGENTIC_REWARD and names.REWARDS in missing_roles and names.has_worker_blocks(value)
        if (name in block_names or name == HINTS or name in keys) and not is_rewards:
            return
        if names.is_worker(value) or names.has_worker_blocks(value):
            is_aliased = any(meet(value.span, span) for span in notes.document.shared)
            if name not in ALL_BLOCKS and (is_aliased or any(f"${{{name}{end}" in source for end in (".", "}"))):
                return  # its values are used elsewhere
            close = names.REWARDS if is_rewards else nearest(name, block_names) if name not in ALL_BLOCKS else None
            self._no_role(root, entry, close, close in missing_roles)
            if name not in ALL_BLOCKS and not close and isinstance(value, MapNode) and (devices := value.get(DEVICES)) is not None:
                report_unread(notes, CODE, [(f"{name}.{DEVICES}", devices.span)], "a role that ROLL starts")
        elif isinstance(value, MapNode) and (close := closest(name, [block for block in block_names if root.get(block) is None], SLIP)):
            self._no_role(root, entry, close, close in missing_roles)
        elif not isinstance(value, MapNode):
            near = [key for key in keys if abs(len(key) - len(name)) <= SLIP]  # no whole word more or less
            close = closest(name, near, min(SLIP, len(name) // 8))
            if close and f"${{{name}}}" not in source:
                is_twice = root.get(close) is not None
                help, edit = notes.to_rename(root, entry, close) if is_twice else (f"is `{close}` meant?", None)
                report(notes, "no_key", "", entry.key.span, edit, key=name, help=help)
                return
        report_unread(notes, CODE, counting_keys(entry, name), "a role that ROLL starts")

    def _no_role(self, root: MapNode, entry: Entry, close: str | None, is_missed: bool) -> None:
        help, edit = self.notes.to_rename(root, entry, close) if close else ("remove it", self.notes.remove(root, entry))
        role, severity, moment = entry.key.text, "error" if is_missed else "warning", AT_CREATION if is_missed else ""
        report(self.notes, "no_role", role, entry.key.span, edit, severity, role=role, pipeline=self.pipeline, help=help, moment=moment)

    def _check_key(self, role: Role, block: MapNode, entry: Entry) -> None:
        keys, name, choice = self.setup.profile.keys_of(role.part), entry.key.text, self.notes.choice
        if name in keys or (")" in name and self.notes.is_bare(entry)):  # the rest of a text that a comma splits
            return
        close, had = nearest(name, sorted(keys)), releases_with_key(name, role.part)
        scope = f" in {choice.release.name}, only in {spans_of(had)}" if had and choice else ""
        is_meant = close and (block.get(close) is not None or not had)
        help, edit = self.notes.to_rename(block, entry, close) if close and is_meant else ("remove it", self.notes.remove(block, entry))
        report(self.notes, "no_key_of_role", role.key, entry.key.span, edit, role=role, key=name, scope=scope, help=help)
        if choice is not None and choice.differs and close in names.SIZE_KEYS and block.get(close) is None:
            why = f"`{role.key}.{name}` may be a size in the code of the {choice.reason}"
            self.notes.unsure(CODE, f"{role.key}.{name}", why, True, f"Write the size as `{close}`, too")
