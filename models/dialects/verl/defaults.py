"""Configurations of verl by release: keys, defaults, and releases that fit a document."""

from __future__ import annotations

from functools import lru_cache
from typing import Iterator, Sequence

from ...configuration.table import Table, make_table
from ...releases.choice import ReleaseChoice, newest
from ...releases.evidence import choose_by_masks
from ...text.document import Document
from ...text.document import SettingMark as Mark
from ...text.interpolation_text import holds_interpolation
from ...text.tree import UNRESOLVED, ListNode, MapNode, Scalar, find
from ..released import infer_release
from .programs import FOLDER, EntryPoint, configurations, entry_of_keys, facts, find_program, names_in, releases, table

_OWN = ("_self_", "hydra")


def table_for(document: Document, entry: EntryPoint) -> Table | None:
    """Return the table of the document's configuration in the selected release; None if unknown."""
    name = configuration_of(document, entry)
    index = document.release.release.index if document.release else len(releases().names) - 1
    return table_of(name, index, find_choices(document, name)) if name else None


def bare(name: str) -> str:
    """Return the name of a configuration without folder and ending."""
    return name.rpartition("/")[2].removesuffix(".yaml")


@lru_cache(maxsize=32)
def table_of(name: str, index: int, choices: tuple[tuple[str, str | None], ...] = ()) -> Table | None:
    """Return the table of a configuration in the release at an index; None if unknown."""
    name, catalog = bare(name), configurations()
    tree = catalog.compose(name, index, dict(choices))
    if tree is None:
        return None
    path = catalog.path(name, index)
    release = releases().names[index]
    source = f"verl {release}, {path}" if path.startswith(("verl/", "examples/", "recipe/")) else f"verl-recipe, {path}"
    return make_table(name, tree, source, choices)


def configuration_of(document: Document, entry: EntryPoint) -> str:
    """Return the name of a document's base configuration; "" if unknown.

    A file that names none is taken to be merged onto the configuration of its program.
    """
    program, index = document.program, configurations().index
    if program is not None and program.config_name:
        name = bare(program.config_name)
        return name if name in index else _of_defaults(document)
    if program is not None:
        # The name is given, but unknown.
        unsaid = any(name == "--config-name" for name, _ in program.options)
        return "" if unsaid else entry.configuration
    name = bare(document.source.name)
    if document.source.root.get("defaults") is not None:
        return _of_defaults(document) or (name if name in index else "")
    strategy = find(document.root, "actor_rollout_ref.actor.strategy")
    if isinstance(strategy, Scalar) and strategy.text == "megatron":
        return entry.configuration.replace("ppo_trainer", "ppo_megatron_trainer")
    return name if name in index else entry.configuration


def _of_defaults(document: Document) -> str:
    """Return the only known configuration in the `defaults` lists of all texts."""
    configuration = ""
    for source in (document.source, *document.included.values()):
        tree = source.value if source.name.endswith((".yaml", ".yml")) else None
        defaults = tree.get("defaults") if isinstance(tree, MapNode) else None
        for item in defaults.items if isinstance(defaults, ListNode) else ():
            name = item.text if isinstance(item, Scalar) else ""
            if isinstance(item, MapNode) and item.entries:
                name = item.entries[0].key.text.removeprefix("override ").split("/")[0]
            if name in _OWN:
                continue
            if name not in configurations().index:
                return ""
            configuration = name
    return configuration


def find_choices(document: Document, name: str) -> tuple[tuple[str, str | None], ...]:
    """Return the groups with an option on the command line; None for an unknown option."""
    if not document.settings or document.is_composed:
        return ()
    groups = configurations().groups(name)
    options: dict[str, str | None] = {}
    for setting in document.settings:
        group = setting.key if setting.package is None or setting.package == setting.key else f"{setting.key}@{setting.package}"
        if group in groups and isinstance(setting.value, Scalar):
            is_known = setting.value.tag != UNRESOLVED and not holds_interpolation(setting.value.text)
            options[group] = setting.value.text if is_known else None
    return tuple(options.items())


def guess_release(document: Document) -> ReleaseChoice:
    """Return the newest release consistent with a document; the newest for an unknown program."""
    program = document.program
    entry = find_program(program.name) if program is not None and program.name else entry_of_keys(document.root, document.source.name)
    if entry is None:
        return newest(table())
    masks: dict[str, int] = {}
    if program is not None and (names := names_in(program.name)):
        masks[program.name] = names
    name = configuration_of(document, entry)
    if name:
        masks[name] = configurations().mask(name)
        masks.update(_of_settings(document, name) if document.settings else _of_keys(document.root, name))
    for text, runs in facts("evidence").items():  # values that only some releases accept
        path, _, value = text.partition("=")
        scalar = find(document.root, path)
        if isinstance(scalar, Scalar) and scalar.text == value:
            masks[text] = releases().mask(runs)
    return choose_by_masks(table(), {sign: mask for sign, mask in masks.items() if mask})


def release_of(document: Document, roots: Sequence[str] = ()) -> ReleaseChoice | None:
    """See `Dialect.release_of`."""
    return infer_release(FOLDER / "releases.json", document, roots, guess_release)


def _of_settings(document: Document, name: str) -> Iterator[tuple[str, int]]:
    """Yield required keys, and keys with `+` that must be missing, with their releases."""
    catalog, all_releases = configurations(), (1 << len(releases().names)) - 1
    for group, option in find_choices(document, name):
        yield f"{group}={option}", catalog.option_in(name, group, option) if option is not None else 0
    seen = set[str]()
    for setting in document.settings:
        if "/" in setting.key or setting.package is not None or setting.key in seen:
            continue
        seen.add(setting.key)
        if setting.kind is Mark.CHANGE or setting.kind is Mark.DELETE:
            yield setting.key, catalog.find_releases(name, setting.key)
        # Hydra adds a key only if it is missing.
        elif setting.kind is Mark.ADD and isinstance(setting.value, Scalar):
            yield f"+{setting.key}", all_releases & ~catalog.find_valued(name, setting.key)


def _of_keys(root: MapNode, name: str, path: str = "") -> Iterator[tuple[str, int]]:
    for entry in root:
        key = f"{path}.{entry.key.text}".lstrip(".")
        if isinstance(entry.value, MapNode) and entry.value.entries:
            yield from _of_keys(entry.value, name, key)
        else:
            yield key, configurations().find_releases(name, key)
