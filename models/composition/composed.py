"""Whole configuration of a main file: defaults and settings merged.

Sources: OmegaConf, omegaconf/basecontainer.py (_map_merge); Hydra, hydra/_internal/defaults_list.py
(Overrides: a setting is about a group if a folder has its name; _create_defaults_tree_impl: the
entries of a list are visited from the last to the first, so that an override is known before the
entry that it overrides; their parts are merged from the first to the last).
"""

from __future__ import annotations

import os
import re
from dataclasses import field, replace
from typing import Iterable, Sequence, Union

from ..findings.finding import Finding, Unchecked, UnusableInput, error, warning
from ..findings.span import Span
from ..record import dataclass
from ..text.document import Document, Setting, SettingMark
from ..text.environment import Environment
from ..text.interpolation import Interpolator
from ..text.source import MAX_BYTES, Source
from ..text.tree import MANDATORY, MapNode, Scalar, find, kind_of
from .defaults import SELF, DefaultsEntry, DefaultsNode, GroupChoice, GroupChoices, option_of, word
from .places import AddedFolders, Library, NamedPath, OutsideRoots, PathPart, SearchPath, part_of, read_search_path
from .settings import (
    CommandSettings,
    RefusedSetting,
    Resolve,
    Unmergeable,
    apply_setting,
    embed,
    find_hydra_refusal,
    join_missing,
    mark_unknown,
    merge,
)


@dataclass
class GroupSettings:
    """Settings of a command, sorted by purpose.

    Attributes
    ----------
    choices : overrides and deletions of entries of the file.
    appended : entries to append to the `defaults` list.
    value_settings : settings of values, in the order of the command line.
    """

    choices: GroupChoices = field(default_factory=GroupChoices)
    appended: list[DefaultsEntry] = field(default_factory=list)
    value_settings: list[Setting] = field(default_factory=list)

    @staticmethod
    def of(settings: Sequence[Setting], search: SearchPath, findings: list[Finding]) -> GroupSettings:
        """Sort the settings; faults in group settings are added to `findings`."""
        groups = GroupSettings()
        for setting in settings:
            if setting.key == "hydra" or setting.key.startswith(("hydra.", "hydra/")):
                continue  # about Hydra itself
            is_group = "." not in setting.key and search.is_group(setting.key)
            looks_like = "/" in setting.key or setting.package is not None
            if not isinstance(setting.value, MapNode) and (is_group or (looks_like and search.unseen)):
                groups._sort(setting, findings)
            elif looks_like:
                message = f"there is no folder `{setting.key}`, so it is not a group that could be chosen"
                findings.append(_build_error(setting, message, search.why_not_found))
            else:
                groups.value_settings.append(setting)
        return groups

    def _sort(self, setting: Setting, findings: list[Finding]) -> None:
        key = setting.key if setting.package is None else f"{setting.key}@{setting.package}"
        is_null = isinstance(setting.value, Scalar) and setting.value.is_null and setting.kind is SettingMark.DELETE
        value = None if is_null else setting.value
        option = option_of(value)
        if setting.kind is SettingMark.FORCE:
            findings.append(_build_error(setting, "a group cannot be added with `++`", f"write `{setting.text[1:]}`"))
        elif setting.kind is SettingMark.DELETE and value is not None and not isinstance(option, str):
            findings.append(_build_error(setting, f"the option of `~{key}` must be a name, but it is {kind_of(value)}", f"write `~{key}`"))
        elif setting.kind is SettingMark.DELETE:
            self.choices.deletions[key] = GroupChoice(option, setting.key_span, "PW012")
        elif value is None or option is None:
            message = f"what is chosen for the group `{key}` must be a name or a list of names, but it is {kind_of(value) if value else 'nothing'}"
            findings.append(_build_error(setting, message, f"write `{key}=OPTION`; `~{key}` takes the group out"))
        elif setting.kind is SettingMark.ADD:
            self.appended.append(DefaultsEntry(setting.key, option, value.span, True, setting.package, appended=True))
        else:
            self.choices.overrides[key] = GroupChoice(option, value.span, "PW012")


def _build_error(setting: Setting, message: str, help_: str) -> Finding:
    return error("PW012", "", message, setting.key_span, label="a group", help=help_)


MAX_PARTS = 200
MAX_LEVELS = 32
MAX_TOTAL = 8 * MAX_BYTES
MAX_VISITS = 2_000
_REFUSED_BY_ALL = {"PW003", "PW006"}
"""Codes of faults that Hydra refuses too; other limits are this program's own."""
_CHOICE = re.compile(r"\$\{([^${}]*)\}")


@dataclass(frozen=True, slots=True)
class ConfigPiece:
    """Part to merge under a package."""

    part: PathPart
    package: str
    span: Span


@dataclass(frozen=True, slots=True)
class Gap:
    """Part that could not be read; may replace everything merged before."""


Step = Union[ConfigPiece, Gap]


@dataclass
class Walk:
    """Walk from one main file; `texts`, `findings` and `unchecked` are collected."""

    search: SearchPath
    library: Library
    choices: GroupChoices
    findings: list[Finding] = field(default_factory=list)
    unchecked: list[Unchecked] = field(default_factory=list)
    partial: bool = False
    texts: dict[str, Source] = field(default_factory=dict)
    _reported: set[str] = field(default_factory=set)
    _outside: dict[str, tuple[int, list[str]]] = field(default_factory=dict)
    _length: int = 0
    _visits: int = 0

    def from_(self, main: PathPart, extra_entries: Sequence[DefaultsEntry] = ()) -> list[Step]:
        """Return the merge steps of a main file; `extra_entries` entries come from the command line."""
        top = DefaultsNode(DefaultsEntry("", "", main.source.whole()), header=main.package)
        steps = self._list_below(top, main, {main.source.name: None}, extra_entries)
        if not self.partial:
            self.findings += self.choices.find_unused()
        return steps

    def _visit(self, node: DefaultsNode, trail: dict[str, Span | None], is_deferred: bool) -> list[Step]:
        """Return the merge steps of a subtree; `trail` has the parts above and their places."""
        entry = node.entry
        if node.group == "hydra" or node.group.startswith("hydra/") or self.choices.is_deleted(node):
            return []  # Hydra's own settings do not reach the program
        if problem := self.choices.record_option(node):
            self.findings.append(problem)
        if entry.option is None:
            return []
        if entry.option == MANDATORY:
            self._refuse(f"`{node.key}` must be chosen, or Hydra refuses to start", entry.span, f"choose one: `--set {node.key}=OPTION`")
            return []
        part = self._part(node)
        if not isinstance(part, PathPart):
            return [part] if part else []
        name = part.source.name
        if name in trail:
            message = f"`{node.path}` is one of the texts that it is a part of, so Hydra never ends"
            self._refuse(message, entry.span, "take this entry out", trail[name], "it becomes a part here")
            return [self._gap()]
        self._visits += 1
        if len(trail) >= MAX_LEVELS or self._visits > MAX_VISITS:
            return [self._report_excess(entry.span)]
        return self._list_below(replace(node, header=part.package), part, {**trail, name: entry.span}, (), is_deferred)

    def _list_below(
        self, node: DefaultsNode, part: PathPart, trail: dict[str, Span | None], extra_entries: Sequence[DefaultsEntry] = (),
        is_deferred: bool = False,
    ) -> list[Step]:  # fmt: skip
        self_piece = ConfigPiece(part, node.package, node.entry.span)
        if part.findings and part.source.name not in self._reported:
            self._reported.add(part.source.name)
            self.findings += part.findings
        entries = self._with_self(part.entries, bool(extra_entries))
        children = [DefaultsNode(entry, node.group, node.package) for entry in (*entries, *extra_entries)]
        self._override(children, is_deferred)
        children = [child for child in children if not child.entry.override]
        if not children:
            if problem := self.choices.record_leaf(node):
                self.findings.append(problem)
            return [self_piece]
        steps: list[list[Step]] = [[]] * len(children)
        late = []
        for position in range(len(children) - 1, -1, -1):
            child = self.choices.choose(children[position])
            if child.entry.is_self:
                steps[position] = [self_piece]
            elif isinstance(child.entry.option, tuple):
                singles = (replace(child.entry, option=name, keyed=False, override=False, appended=False) for name in child.entry.option)
                option_nodes = [DefaultsNode(entry, node.group, node.package) for entry in singles]
                steps[position] = _flat(reversed([self._visit(option_node, trail, is_deferred) for option_node in reversed(option_nodes)]))
            elif child.entry.interpolated:
                late.append((position, child))
            else:
                steps[position] = self._visit(child, trail, is_deferred)
        for position, child in late:
            target = self._resolve(child)
            steps[position] = [self._gap()] if target is None else self._visit(target, trail, True)
        return _flat(steps)

    def _with_self(self, entries: Sequence[DefaultsEntry], has_extra: bool) -> tuple[DefaultsEntry, ...]:
        """Add `_self_` at the end of the entries if it is not written."""
        selves = [entry for entry in entries if entry.is_self]
        for duplicate in selves[1:]:
            message = "`_self_` appears twice in one list of defaults, which Hydra refuses"
            self._refuse(message, duplicate.span, "remove one of the two", selves[0].span, "first here")
        entries = tuple(entry for entry in entries if entry not in selves[1:])
        if selves or (entries and all(entry.override for entry in entries)) or not (entries or has_extra):
            return entries
        return (*entries, DefaultsEntry("", SELF, Span("", 0, 0, 1, 1)))

    def _override(self, children: Iterable[DefaultsNode], is_deferred: bool) -> None:
        """Record the overrides of a list, which must stand at the end."""
        last: DefaultsNode | None = None
        for child in children:
            entry = child.entry
            if entry.override and is_deferred:
                message = f"`override {child.key}` is below a choice that depends on others, where Hydra allows none"
                self._refuse(message, entry.span, "take it out")
            elif entry.override:
                last = child
                self.choices.override(child)
            elif last and not entry.is_self and not entry.appended and not child.group.startswith("hydra/"):
                message = f"`{child.key}` is after `override {last.key}`, which Hydra refuses: overrides are the end of a list"
                self._refuse(message, entry.span, f"move it before `override {last.key}`", last.entry.span, "the override")

    def _resolve(self, node: DefaultsNode) -> DefaultsNode | None:
        """Fill in the choices in a node's name. None, with a note, if a choice is unknown."""
        entry = node.entry
        text = str(entry.option) if entry.keyed else "/".join(part for part in (entry.group, str(entry.option)) if part)
        missing: list[str] = []

        def fill(match: re.Match[str]) -> str:
            choice = self.choices.made.get(match[1].strip())
            if not isinstance(choice, str):
                missing.append(match[1])
            return str(choice)

        text = _CHOICE.sub(fill, text)
        if missing or "${" in text:
            self.unchecked.append(Unchecked("PW013", text[:80], f"`{entry.option}` depends on what no entry of `defaults` chooses"))
            return None
        if entry.keyed:
            return replace(node, entry=entry.choosing(text))
        return replace(node, entry=replace(word(text, entry.span), package=entry.package))

    def _part(self, node: DefaultsNode) -> PathPart | Gap | None:
        """Read the text of a node. A Gap if it cannot be read, None if Hydra goes on without it."""
        entry = node.entry
        location = self.search.find(node.path)
        if isinstance(location, NamedPath):
            return self._read(location, entry.span)
        if isinstance(location, OutsideRoots):
            help_ = f"allow its folder: `--config-root {location.root}`" if location.root else "name a text inside of the configurations"
            self._note_outside(
                warning("PW122", "", f"{location.why}, where nothing is read", entry.span, label="not read", help=help_), node.path
            )
        elif entry.optional and not self.search.unseen:
            return None
        else:
            folders = self.search.outside_folders  # what the user's own folder holds may differ from the framework's
            add = f"Pass `--config-root {folders[0]}`" if folders and "$" not in folders[0] else _HELP * bool(folders)
            self.unchecked.append(Unchecked("PW013", node.path, self.search.why_not_found, bool(folders), add))
        return self._gap()

    def _note_outside(self, finding: Finding, path: str) -> None:
        """Add a finding about a text outside the roots: one for all with the same help."""
        index, paths = self._outside.setdefault(finding.help, (len(self.findings), []))
        verb = "does" if len(paths) == 1 else "do"  # Hydra visits the entries from the last to the first
        notes = (f"so {verb} {', '.join(f'`{later}`' for later in reversed(paths))}",) if paths else ()
        self.findings[index : index + 1] = [replace(finding, notes=notes)]
        paths.append(path)

    def _read(self, location: NamedPath, span: Span) -> PathPart | Gap:
        try:
            source = self.library.source(location.path, location.name)
            if source.name not in self.texts:
                self._length += len(source.text)
                if len(self.texts) >= MAX_PARTS or self._length > MAX_TOTAL:
                    return self._report_excess(span)
            self.texts[source.name] = source
            return self.library.part(source)
        except UnusableInput as failure:
            for finding in failure.findings:
                if finding.code not in _REFUSED_BY_ALL:
                    self.unchecked.append(Unchecked("PW013", location.name, finding.message))
                elif finding not in self.findings:
                    self.findings.append(finding)
            return self._gap()

    def _gap(self) -> Gap:
        self.partial = True
        return Gap()

    def _refuse(self, message: str, span: Span, help_: str, origin: Span | None = None, origin_label: str = "") -> None:
        self.findings.append(error("PW013", "", message, span, help=help_, origin=origin, origin_label=origin_label))

    def _report_excess(self, span: Span) -> Gap:
        if not any(finding.code == "PW002" for finding in self.findings):
            message = f"more than {MAX_PARTS} texts, {MAX_TOTAL:,} characters, {MAX_LEVELS} levels or {MAX_VISITS:,} entries of `defaults`"
            self.findings.append(error("PW002", "", message, span, help="real configurations are made of about ten texts"))
        return self._gap()


def _flat(steps: Iterable[list[Step]]) -> list[Step]:
    return [step for group in steps for step in group]


_HELP = "Name the folder that holds it with `--config-root DIR`"


def compose(
    source: Source, main: Source | None, program_settings: Sequence[Setting], command: CommandSettings, environment: Environment,
    roots: tuple[str, ...], library: Library, additions: AddedFolders | None = None,
) -> Document:  # fmt: skip
    """Compose a main file with settings; see `Composer.compose_program`.

    `program_settings` are the settings of a program's command line, `command` those of `--set`. Without a main
    file, settings alone make the tree.
    """
    findings, settings = list(command.findings), (*program_settings, *command.settings)
    findings += [finding for setting in settings if (finding := find_hydra_refusal(setting)) is not None]
    searchpath = next((setting.value for setting in reversed(settings) if setting.key == "hydra.searchpath"), None)
    additions, missing, walk = additions or AddedFolders(), list[Unchecked](), None
    folders = [*read_search_path(searchpath, environment, findings), *additions.folders]
    if folders:
        added_search, missing = additions.search(folders, roots)
    if main is None:
        root = MapNode((), source.whole())
        additions_of_keys = [setting for setting in settings if setting.kind is SettingMark.ADD] if folders else []
        group_settings = [setting for setting in additions_of_keys if added_search.is_group(setting.key)]
        values = [setting for setting in settings if "/" not in setting.key and setting.package is None and setting not in group_settings]
        value_settings = [setting for setting in values if not _is_choice(setting, settings)]
        if group_settings:
            choices = GroupSettings.of(group_settings, added_search, findings)
            walk = Walk(added_search, library, choices.choices, findings)
            root = _merge(source, root, walk.from_(PathPart(source, root), choices.appended), environment, findings)
    else:
        part = part_of(main)
        if searchpath is None:
            folders = [*read_search_path(find(main.root, "hydra.searchpath"), environment, findings, main.name), *folders]
        search = SearchPath.of(os.path.dirname(main.name), folders, (*roots, *additions.below) if additions.folders else roots, main.name)
        choices = GroupSettings.of(settings, search, findings)
        walk = Walk(search, library, choices.choices, findings)
        empty = MapNode((), main.root.span, main.root.flow)
        root = _merge(main, empty, walk.from_(part, choices.appended), environment, findings)
        value_settings = choices.value_settings
    partial = main is None or walk is None or walk.partial
    for setting in value_settings:
        try:
            root = apply_setting(root, setting, partial, _follow(root, environment, partial))
        except RefusedSetting as refusal:
            findings.append(refusal.finding)
    span = main.root.span if main else root.span
    root = replace(root, entries=tuple(entry for entry in root if entry.key.text != "hydra"), span=span)
    texts = {**(walk.texts if walk else {}), **({main.name: main} if main else {})}
    if command.source.text:
        texts[command.source.name] = command.source
    texts.pop(source.name, None)
    reasons = [*missing, *(walk.unchecked if walk else ())]
    if main is None:
        reasons = [replace(reason, decides=True, add=reason.add or _HELP) for reason in reasons]
        why = "it chooses among texts that are not here; `--config-root DIR` names their folder"
        reasons += [Unchecked("PW013", setting.key, why) for setting in settings if setting not in (*value_settings, *group_settings)]
    document = Document(source, root, texts, walk is not None and walk.partial, tuple(join_missing(findings)), tuple(reasons), environment)
    return replace(document, settings=settings)


def _merge(source: Source, root: MapNode, steps: Sequence[Step], environment: Environment, findings: list[Finding]) -> MapNode:
    for step in steps:
        if isinstance(step, Gap):
            root = mark_unknown(root)
            continue
        value = embed(step.part.content, step.package, step.span)
        if not isinstance(value, MapNode):
            message = f"`{step.part.source.name}` holds {kind_of(value)}, which cannot be the whole configuration"
            findings.append(error("PW013", "", message, value.span, help="write a map, or merge it under a package"))
            continue
        search_path = find(value, "hydra.searchpath") if step.part.source.name != source.name else None
        if search_path is not None:
            message = f"`hydra.searchpath` is in `{step.part.source.name}`, but Hydra takes it from the first file alone"
            findings.append(error("PW013", "", message, search_path.span, help=f"move it to `{source.name}`"))
        try:
            root = merge(root, value, _follow(root, environment))
        except Unmergeable as conflict:
            message = f"`{conflict}` is {kind_of(conflict.above)} here and {kind_of(conflict.below)} before, which Hydra cannot merge"
            places = {"origin": conflict.below.span, "origin_label": "what it was to be merged with"}
            findings.append(error("PW013", "", message, conflict.above.span, help="make both the same", **places))
    return root


def _is_choice(setting: Setting, settings: Sequence[Setting]) -> bool:
    """Return True if a setting chooses an option of a group: more settings set keys below it."""
    prefix = f"{setting.key}."
    plain = isinstance(setting.value, Scalar) and isinstance(setting.value.value, str) and "." not in setting.key
    return plain and any(candidate.key.startswith(prefix) for candidate in settings)


def _follow(root: MapNode, environment: Environment, partial: bool = True) -> Resolve:
    """Return a resolver of interpolations in a tree; an unknown target resolves to itself."""
    return lambda scalar, path: Interpolator(root, environment, partial).target(scalar, path)
