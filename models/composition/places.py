"""Folders where Hydra looks up the texts of groups, and the texts read so far.

Source of the order: Hydra, hydra/_internal/config_loader_impl.py (_process_config_searchpath):
first the folder of the file, then the entries of `hydra.searchpath`. The folders that the user
allows come last.
"""

from __future__ import annotations

import os
import re
from dataclasses import field, replace
from typing import TYPE_CHECKING, Sequence

from ..dialect_names import DIALECTS
from ..findings.finding import Finding, Unchecked, error
from ..record import dataclass
from ..text.environment import Environment
from ..text.files import is_below
from ..text.source import Source
from ..text.tree import UNRESOLVED, ListNode, MapNode, Scalar, Value, kind_of

if TYPE_CHECKING:
    from .defaults import DefaultsEntry

_ENDINGS = (".yaml", ".yml")
_UNREADABLE = re.compile(r"[\x00-\x1f]")
_VARIABLE = re.compile(r"\$\{oc\.env:\s*([^,{}]+?)\s*\}")
_FILE, _MODULE = "file://", "pkg://"
_FRAMEWORK_MODULE = "pkg://verl."
_MARKS = (".git", "pyproject.toml", "setup.py", "setup.cfg")
_PACKAGES = tuple(package for dialect in DIALECTS.values() for package in dialect.packages)
_VARIABLES = {name: folder for dialect in DIALECTS.values() for name, folder in dialect.variables.items()}
MAX_UP = 6


def repository_of(file: str) -> str:
    """Return the folder of a file's repository, never home or root; its own without one."""
    folder = start = os.path.dirname(os.path.abspath(file))
    signs = (*_MARKS, *(os.path.join(package, "__init__.py") for package in _PACKAGES))
    private = (os.path.realpath(os.sep), os.path.realpath(os.path.expanduser("~")))
    for _ in range(MAX_UP):
        if os.path.realpath(folder) in private:
            break
        if any(os.path.exists(os.path.join(folder, sign)) for sign in signs):
            return folder
        folder = os.path.dirname(folder)
    return start


@dataclass(frozen=True)
class PathPart:
    """Text as a part of a configuration.

    Attributes
    ----------
    content : its value without `defaults`.
    entries : entries of its `defaults`; `findings` has the faults in them.
    package : package of its header; None without a header.
    """

    source: Source
    content: Value
    entries: tuple[DefaultsEntry, ...] = ()
    findings: tuple[Finding, ...] = ()
    package: str | None = None


def part_of(source: Source) -> PathPart:
    """Split a text into content and defaults. Raises UnusableInput if it is not YAML."""
    from .defaults import package_header, read_entries

    is_blank = all(not line.strip() or line.strip().startswith("#") for line in source.lines)
    root = MapNode((), source.whole()) if is_blank else source.value
    findings: list[Finding] = []
    entries: list[DefaultsEntry] = []
    if isinstance(root, MapNode):
        entries = read_entries(root.get("defaults"), findings)
        root = replace(root, entries=tuple(entry for entry in root if entry.key.text != "defaults"))
    return PathPart(source, root, tuple(entries), tuple(findings), package_header(source.text))


@dataclass
class Library:
    """Cache of the texts and parts of one command, by file name."""

    sources: dict[str, Source] = field(default_factory=dict)
    parts: dict[str, PathPart] = field(default_factory=dict)

    def source(self, path: str, name: str) -> Source:
        """Read the text at a path. Raises UnusableInput."""
        if name not in self.sources:
            self.sources[name] = Source.read(path, name)
        return self.sources[name]

    def part(self, source: Source) -> PathPart:
        """Return a text of this library as a part. Raises UnusableInput."""
        if source.name not in self.parts:
            self.parts[source.name] = part_of(source)
        return self.parts[source.name]


@dataclass(frozen=True, slots=True)
class NamedPath:
    """Path of a folder or a text; its shown `name` hides values from the environment."""

    path: str
    name: str


@dataclass(frozen=True, slots=True)
class OutsideRoots:
    """Text outside of the allowed folders; `root` is the folder to allow, "" if unknown."""

    why: str
    root: str = ""


@dataclass(frozen=True)
class SearchPath:
    """Folders in search order, and the real paths of the allowed roots and the repository.

    Nothing outside of the roots is read. `unseen` has the reason for each folder that Hydra
    searches and this program does not; `outside_folders` has those of them that exist here.
    """

    folders: tuple[NamedPath, ...]
    roots: tuple[str, ...]
    unseen: tuple[str, ...] = ()
    outside_folders: tuple[str, ...] = ()

    @staticmethod
    def of(folder: str, folders: Sequence[NamedPath | str], roots: Sequence[str], main: str = "") -> SearchPath:
        """Build the search path of a file; unknown or outside folders become `unseen` reasons.

        The repository of a `main` file may be read, but is not a place to search. Programs start in
        it or beside the folder of configurations: a relative folder is below one of them, wherever
        this command runs.
        """
        starts = (repository_of(main), os.path.normpath(os.path.join(folder, os.pardir))) if os.path.isfile(main) else ()
        real = tuple(dict.fromkeys(os.path.realpath(root) for root in (folder, *roots, *starts[:1])))
        usable, unseen, outside_folders = [NamedPath(folder, folder)], [], []
        for entry in (_resolve_below(folder, (*starts, *roots), real) for folder in folders):
            if isinstance(entry, str):
                unseen.append(entry)
            elif is_below(os.path.realpath(entry.path), real):
                usable.append(entry)
            else:
                unseen.append(f"`{entry.name}` is outside of what may be read")
                outside_folders += [entry.name] * os.path.isdir(entry.path)
        usable += [NamedPath(root, root) for root in roots]
        return SearchPath(tuple(dict.fromkeys(usable)), real, tuple(unseen), tuple(outside_folders))

    def find(self, path: str) -> NamedPath | OutsideRoots | None:
        """Return the first text of a path such as ``env/libero``."""
        if path.startswith("/") or os.path.isabs(path) or _UNREADABLE.search(path):
            return OutsideRoots(f"`{path}` is a path from the top of the file system")
        file = path if path.endswith(_ENDINGS) else f"{path}.yaml"
        refusal: OutsideRoots | None = None
        for folder in self.folders:
            whole = os.path.join(folder.path, file)
            real = os.path.realpath(whole)
            if not is_below(real, self.roots):
                if ".." in path.split("/") and folder is not self.folders[0] and os.path.realpath(folder.path) in self.roots:
                    continue  # a root of the user, which Hydra does not search
                if ".." not in path.split("/"):
                    return OutsideRoots(f"`{path}` in `{folder.name}` is a link that leads out of it")
                root = _common(folder.path, whole) if folder.name == folder.path else ""
                refusal = refusal or OutsideRoots(f"`{path}` leads out of `{folder.name or '.'}`", root)
            elif os.path.isfile(real):
                return NamedPath(real, os.path.normpath(os.path.join(folder.name, file)))
        return refusal

    def is_group(self, path: str) -> bool:
        """Return True if a folder of this name exists."""
        if not path or path.startswith("/") or _UNREADABLE.search(path):
            return False
        places = (os.path.join(folder.path, path) for folder in self.folders)
        return any(is_below(os.path.realpath(place), self.roots) and os.path.isdir(place) for place in places)

    @property
    def why_not_found(self) -> str:
        """Searched folders and skipped folders, as a text for messages."""
        places = ", ".join(f"`{folder.name or '.'}`" for folder in self.folders)
        return "; ".join([f"it is not in {places}", *self.unseen, "`--config-root DIR` names another folder"])


def _resolve_below(folder: NamedPath | str, places: Sequence[str], roots: Sequence[str]) -> NamedPath | str:
    """Resolve a relative folder below the first place where it exists and may be read."""
    if isinstance(folder, str) or os.path.isabs(folder.path):
        return folder
    name = folder.name if "://" in folder.name else ""  # of a module, which stays
    candidates = (
        NamedPath(os.path.join(place, folder.path), name or os.path.normpath(os.path.join(place, folder.name))) for place in places
    )
    readable = (place for place in (*candidates, folder) if os.path.isdir(place.path) and is_below(os.path.realpath(place.path), roots))
    return next(readable, folder)


def _common(folder: str, whole: str) -> str:
    """Return the common folder, as it is written on the command line."""
    parent = os.path.commonpath([os.path.abspath(folder), os.path.dirname(os.path.abspath(whole))])
    return os.path.relpath(parent) if not os.path.isabs(folder) else parent


@dataclass(frozen=True)
class AddedFolders:
    """Configuration folders added by a command line.

    `folders`: those of `--config-dir`, or why a folder is unknown. `below`: folders that may contain
    a relative one: the folder of the script and its repository.
    """

    folders: tuple[NamedPath | str, ...] = ()
    below: tuple[str, ...] = ()

    def search(self, folders: Sequence[NamedPath | str], roots: tuple[str, ...]) -> tuple[SearchPath, list[Unchecked]]:
        """Return the search path of the added folders alone, and notes on missing ones."""
        bases = (*self.below, *roots)
        whole = SearchPath.of(bases[0] if bases else "", folders, bases)
        base_folders = {NamedPath(root, root) for root in bases}
        candidates = [folder for folder in whole.folders if folder not in base_folders]
        absent = [folder for folder in candidates if not os.path.isdir(folder.path)]
        missing = [f"`{folder.name}` is not found" for folder in absent if _FRAMEWORK_MODULE not in folder.name]
        reasons = [f"the command line adds configurations: {why}" for why in (*whole.unseen, *missing)]
        notes = [Unchecked("PW122", "", why, True, "Name the folder that holds it with `--config-root DIR`") for why in reasons]
        return replace(whole, folders=tuple(folder for folder in candidates if folder not in absent)), notes


def read_search_path(value: Value | None, environment: Environment, findings: list[Finding], main: str = "") -> list[NamedPath | str]:
    """Convert the search path of a main file into folders, or into reasons to skip."""
    if value is None or (isinstance(value, Scalar) and value.is_null):
        return []
    if isinstance(value, Scalar) and value.tag == UNRESOLVED:
        return [f"`{value.text[:80]}` is not known"]
    if not isinstance(value, ListNode) or not all(isinstance(item, Scalar) and isinstance(item.value, str) for item in value.items):
        message = f"`hydra.searchpath` must be a list of texts, but it is {kind_of(value)}"
        findings.append(error("PW013", "", message, value.span, label=kind_of(value), help="write `searchpath: [file://FOLDER]`"))
        return []
    return [_folder(item.text, environment, main) for item in value.items if isinstance(item, Scalar)]


def _folder(text: str, environment: Environment, main: str) -> NamedPath | str:
    # a module stands for its folder, below a folder that programs are started from
    if text.startswith(_MODULE) and "${" not in text:
        return NamedPath(text.removeprefix(_MODULE).replace(".", "/"), text)
    if "://" in text and not text.startswith(_FILE):
        return f"`{text[:80]}` is not a folder"
    name = text.removeprefix(_FILE)
    unset = [variable for variable in _VARIABLE.findall(name) if variable not in environment.values]
    if unset:
        usual = os.path.normpath(_VARIABLE.sub(lambda match: environment.values.get(match[1], _VARIABLES.get(match[1], "$")), name))
        place = os.path.join(repository_of(main), usual) if main and "$" not in usual else ""
        # launchers beside a folder `config` name its parent, which is searched in any case
        if os.path.isdir(place) and (os.path.basename(os.path.dirname(main)) != "config" or "EMBODIED_PATH" not in unset):
            return NamedPath(place, place)
        return f"`{text[:80]}` depends on the environment variable `{unset[0]}`, which is not read"
    path = _VARIABLE.sub(lambda match: environment.values[match[1]], name)
    if "${" in path or "\0" in path:
        return f"`{text[:80]}` cannot be resolved here"
    return NamedPath(path, name)
