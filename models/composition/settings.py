"""Settings of a command line, and merging of trees, before interpolations are resolved.

Source of the semantics: Hydra, hydra/_internal/config_loader_impl.py (_apply_overrides_to_config);
OmegaConf.update.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Callable, Iterable, Iterator, Sequence

from ..findings.finding import Finding, UnusableInput, error
from ..findings.span import Edit, Span
from ..findings.wording import with_noun
from ..record import dataclass
from ..text.document import Setting, SettingMark
from ..text.interpolation import stands_for_another
from ..text.interpolation_text import holds_interpolation
from ..text.nearest import closest
from ..text.source import Source
from ..text.tree import MANDATORY, UNRESOLVED, Entry, ListNode, MapNode, Scalar, Value, find, kind_of, plain
from .setting import read_setting

Path = tuple[str, ...]
Resolve = Callable[[Scalar, Path], tuple[Value, Path]]
"""Resolver: scalar and its path -> target value and path; a plain scalar maps to itself."""


class Unmergeable(Exception):
    """A map meets a list; `above` cannot be merged onto `below`."""

    def __init__(self, path: Path, below: Value, above: Value) -> None:
        self.path, self.below, self.above = path, below, above
        super().__init__(".".join(path))


def merge(below: MapNode, above: MapNode, follow: Resolve, path: Path = ()) -> MapNode:
    """Merge `above`, with its places, onto `below`, whose keys come first. Raises Unmergeable."""
    entries = {entry.key.text: entry for entry in below}
    for entry in above:
        old = entries.get(entry.key.text)
        if old is not None:
            value = _value(old.value, entry.value, follow, (*path, entry.key.text))
            entry = old if value is old.value else Entry(entry.key, value)
        entries[entry.key.text] = entry
    return MapNode(tuple(entries.values()), above.span, above.flow, below.merged or above.merged)


def _value(below: Value, above: Value, follow: Resolve, path: Path) -> Value:
    if isinstance(above, Scalar):
        return below if above.text == MANDATORY else above
    if isinstance(below, Scalar) and holds_interpolation(below.text) and below.tag != UNRESOLVED:
        below, _ = follow(below, path)
    if isinstance(below, MapNode) and isinstance(above, MapNode):
        return merge(below, above, follow, path)
    if isinstance(below, Scalar) or isinstance(below, ListNode) == isinstance(above, ListNode):
        return above
    raise Unmergeable(path, below, above)


def embed(value: Value, package: str, span: Span) -> Value:
    """Wrap a value in maps for a dotted path; the new keys get `span`."""
    for name in reversed(package.split(".") if package else []):
        value = MapNode((Entry(Scalar(name, "tag:yaml.org,2002:str", span), value),), value.span)
    return value


def mark_unknown(root: MapNode) -> MapNode:
    """Return the map with all scalars and lists unknown: an unread part may replace them."""

    def copy(value: Value) -> Value:
        text = value.text if isinstance(value, Scalar) else ""
        return mark_unknown(value) if isinstance(value, MapNode) else Scalar(text, UNRESOLVED, value.span)

    return MapNode(tuple(Entry(entry.key, copy(entry.value)) for entry in root), root.span, root.flow)


_OF_HYDRA = {
    "run": "dir", "sweep": "dir subdir", "job": "name chdir override_dirname id num config_name env_set env_copy config",
    "help": "app_name header footer template", "hydra_help": "hydra_help template", "overrides": "hydra task",
    "runtime": "version version_base cwd config_sources output_dir choices",
    **dict.fromkeys(("mode", "searchpath", "hydra_logging", "job_logging", "sweeper", "launcher", "callbacks", "output_subdir", "verbose"), ""),
}  # fmt: skip
"""Section of Hydra's own settings -> its keys; "" if any."""
NAME = "--set"
"""Name of the text with all settings, one a line."""
_CHOOSE = "choose a configuration with"
_TEXT = "tag:yaml.org,2002:str"


@dataclass(frozen=True)
class CommandSettings:
    """Settings of a command, and the faults in their syntax."""

    source: Source
    settings: tuple[Setting, ...] = ()
    findings: tuple[Finding, ...] = ()

    @staticmethod
    def read(texts: Sequence[str]) -> CommandSettings:
        """Parse the settings of a command line; spans point into their joint text."""
        source = Source(NAME, "\n".join(f"{NAME} {text}" for text in texts))
        settings, findings, position, line = [], list[Finding](), 0, 1
        for text in texts:
            start = position + len(NAME) + 1
            try:
                settings.append(read_setting(text, Span(NAME, start, start + len(text), line, len(NAME) + 2)))
            except UnusableInput as problem:
                findings += problem.findings
            position = start + len(text) + 1
            line += 1 + text.count("\n")
        return CommandSettings(source, tuple(settings), tuple(findings))


class RefusedSetting(Exception):
    """Setting that Hydra refuses; carries the Finding."""

    def __init__(self, finding: Finding) -> None:
        self.finding = finding
        super().__init__(finding.message)


def apply_setting(root: MapNode, setting: Setting, partial: bool, follow: Resolve) -> MapNode:
    """Apply a setting; a `partial` tree may hold a missing key. Raises RefusedSetting."""
    path, current = _locate(root, setting.names, follow)
    value = setting.value
    if isinstance(current, Scalar) and setting.kind in (SettingMark.ADD, SettingMark.DELETE):
        current = follow(current, path)[0]  # Hydra compares what it refers to
    has_value = current is not None and not (isinstance(current, Scalar) and stands_for_another(current))
    if not path or (value is None and setting.kind is not SettingMark.DELETE):
        raise RefusedSetting(_build_error(setting, "it names no key", "write the key of a value, such as `cluster.num_nodes`"))
    if setting.kind is SettingMark.DELETE:
        if current is None and partial:
            return root
        if current is None or _is_null(current):
            raise RefusedSetting(_build_error(setting, f"there is no `{setting.key}` that could be deleted", _suggest_key(root, setting)))
        if value is not None and has_value and plain(value) not in (None, plain(current)):
            why = f"`{setting.key}` has another value, so Hydra refuses to delete it"
            raise RefusedSetting(_build_error(setting, why, f"write `~{setting.key}`", current.span))
        value = None
    elif setting.kind is SettingMark.ADD and isinstance(value, Scalar) and has_value and current is not None and not _is_null(current):
        why = f"`{setting.key}` is there already, so Hydra refuses to add it"
        raise RefusedSetting(_build_error(setting, why, f"write `{setting.text[1:]}` to change it", current.span))
    elif setting.kind is SettingMark.CHANGE and not partial:
        _must_exist(root, path, setting)
    strict = setting.kind is SettingMark.CHANGE and not partial
    new_root = _set(root, path, _Change(setting, value, strict, follow))
    return new_root if isinstance(new_root, MapNode) else root


@dataclass(frozen=True, slots=True)
class _Change:
    """Change at the end of a path: a value, or None to delete; `strict` refuses new keys."""

    setting: Setting
    value: Value | None
    strict: bool
    follow: Resolve


def _locate(root: MapNode, names: tuple[str, ...], follow: Resolve) -> tuple[Path, Value | None]:
    """Return the real path of a key and its value, with interpolations followed."""
    value: Value | None = root
    path: Path = ()
    for name in names:
        if isinstance(value, Scalar):
            value, path = follow(value, path)
        value, path = find(value, name), (*path, name)
    return path, value


def _must_exist(root: MapNode, path: Path, setting: Setting) -> None:
    owner = find(root, ".".join(path[:-1]))
    exists = isinstance(owner, MapNode) and owner.entry(path[-1]) is not None
    if not exists and not (isinstance(owner, ListNode) and path[-1].isdecimal() and int(path[-1]) < len(owner.items)):
        why = f"there is no `{setting.key}` in the configuration, so Hydra refuses it"
        raise RefusedSetting(_build_error(setting, why, _suggest_key(root, setting)))


def _set(value: Value | None, path: Path, change: _Change) -> MapNode | ListNode:
    """Return a copy of the value with the change made at a path below it."""
    name, setting = path[0], change.setting
    if isinstance(value, ListNode):
        if not name.isdecimal() or int(name) >= len(value.items):
            why = f"the list before `{name}` has {with_noun(len(value.items), 'item')}"
            raise RefusedSetting(_build_error(setting, why, "name one of its items", value.span))
        items = list(value.items)
        old_item = items[int(name)]
        new_item = _set(old_item, path[1:], change) if len(path) > 1 else _put(old_item, change, path)
        items[int(name) : int(name) + 1] = [] if new_item is None else [new_item]
        return ListNode(tuple(items), value.span)
    if not isinstance(value, MapNode):  # Hydra replaces another value by a map
        value = MapNode((), setting.key_span)
    old = value.entry(name)
    current = old.value if old else None
    new = _set(current, path[1:], change) if len(path) > 1 else _put(current, change, path)
    entries = [entry for entry in value if new is not None or entry.key.text != name]
    if new is not None:
        entry = Entry(old.key if old else Scalar(name, _TEXT, setting.key_span), new)
        entries = [entry if existing is old else existing for existing in entries] if old else [*entries, entry]
    return replace(value, entries=tuple(entries))


def _put(current: Value | None, change: _Change, path: Path) -> Value | None:
    """Return the new value at the end of a path; maps are merged."""
    value, setting = change.value, change.setting
    if value is None or current is None or isinstance(value, Scalar) or isinstance(current, Scalar):
        return value
    if isinstance(value, MapNode) and isinstance(current, MapNode):
        owner, new = _find_new(current, value, setting.key) if change.strict else ("", None)
        if new is not None:
            why = f"there is no `{new.text}` in `{owner}`, so Hydra refuses it"
            raise RefusedSetting(_build_error(setting, why, f"write `+{setting.text}` to add it", current.span, new.span))
        try:
            return merge(current, value, change.follow, path)
        except Unmergeable as problem:
            why = f"`{problem}` is {kind_of(problem.below)}, and cannot become {kind_of(problem.above)}"
            raise RefusedSetting(_build_error(setting, why, f"give it {kind_of(problem.below)}", problem.below.span)) from None
    if isinstance(value, MapNode) or isinstance(current, MapNode):
        why = f"`{setting.key}` is {kind_of(current)}, and cannot become {kind_of(value)}"
        raise RefusedSetting(_build_error(setting, why, f"give it {kind_of(current)}", current.span))
    return value


def _find_new(current: MapNode, value: MapNode, path: str) -> tuple[str, Scalar | None]:
    """Return the first key that the current map lacks, at any depth, behind its owner."""
    for entry in value:
        below = current.entry(entry.key.text)
        if below is None:
            return path, entry.key
        if isinstance(below.value, MapNode) and isinstance(entry.value, MapNode):
            owner, new = _find_new(below.value, entry.value, f"{path}.{entry.key.text}")
            if new is not None:
                return owner, new
    return path, None


def _suggest_key(root: MapNode, setting: Setting) -> tuple[str, Edit | None]:
    """Return help and edit for a missing key."""
    owner: Value | None = root
    start = 0
    for name in setting.names:
        inner = find(owner, name)
        if inner is None:
            break
        owner, start = inner, start + len(name) + 1
    close = closest(name, [entry.key.text for entry in owner]) if isinstance(owner, MapNode) else None
    if close:
        key = f"{setting.key[:start]}{close}{setting.key[start + len(name) :]}"
        return f"write `{key}`", Edit(setting.key_span, key)
    if setting.kind is SettingMark.DELETE:
        return "leave it out", None
    owner_key = setting.key[: start + len(name)]
    if owner_key != setting.key and isinstance(owner, MapNode):  # a section may belong to another choice of the configuration
        return f"{_CHOOSE} `{owner_key}`, or write `+{setting.text}` to add it", None
    return f"write `+{setting.text}` to add it", Edit(setting.key_span.part(0, 0), "+")


def join_missing(findings: Iterable[Finding]) -> Iterator[Finding]:
    """Yield the findings; keys below one missing section are one finding."""
    groups = dict[object, list[Finding]]()
    for finding in findings:
        groups.setdefault(finding.help.partition(", or ")[0] if finding.help.startswith(_CHOOSE) else len(groups), []).append(finding)
    for first, *rest in groups.values():
        keys = tuple(f"the same of `{finding.message.split('`')[1]}`" for finding in rest)
        yield replace(first, notes=(*first.notes, *keys)) if rest else first


def _is_null(value: Value) -> bool:
    """Return True for a value that OmegaConf selects as None."""
    return isinstance(value, Scalar) and (value.is_null or value.text == MANDATORY)


def find_hydra_refusal(setting: Setting) -> Finding | None:
    """Return the finding on a setting of Hydra itself that Hydra does not have.

    Source: Hydra, hydra/conf/__init__.py (HydraConf).
    """
    names, owner = setting.names, "hydra"
    if setting.kind is not SettingMark.CHANGE or names[:1] != (owner,) or len(names) < 2:
        return None
    for name, keys in zip(names[1:], (_OF_HYDRA, _OF_HYDRA.get(names[1], "").split())):
        if keys and name not in keys:
            return _build_error(
                setting, f"there is no `{owner}.{name}` in Hydra, so Hydra refuses it", f"write `+{setting.text}` to add it"
            )
        owner = f"{owner}.{name}"
    return None


def _build_error(
    setting: Setting, why: str, help_: str | tuple[str, Edit | None], origin: Span | None = None, at: Span | None = None
) -> Finding:
    words, edit = help_ if isinstance(help_, tuple) else (help_, None)
    span = at or (setting.key_span if setting.key else setting.span)
    return error("PW012", "", why, span, help=words, edit=edit, origin=origin, origin_label="what is there")
