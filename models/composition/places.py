"""Places where texts of groups are looked up, and the texts that were read.

Source of the order: Hydra, hydra/_internal/config_loader_impl.py (_process_config_searchpath): first the folder of the
file, then the entries of `hydra.searchpath`. The folders that the user allows come last.
"""

from __future__ import annotations

import os
import re
from dataclasses import field, replace
from typing import TYPE_CHECKING, Sequence

from ..findings.finding import Finding, Unchecked, error
from ..record import dataclass
from ..text.environment import Environment
from ..text.source import Source
from ..text.tree import ListNode, MapNode, Scalar, Value, kind_of
from ..text.unresolved import UNRESOLVED

if TYPE_CHECKING:
    from .defaults import Entry


_ENDINGS = (".yaml", ".yml")
_UNREADABLE = re.compile(r"[\x00-\x1f]")
_VARIABLE = re.compile(r"\$\{oc\.env:\s*([^,{}]+?)\s*\}")
_FILE, _MODULE = "file://", "pkg://"
_OF_FRAMEWORK = "pkg://verl."


@dataclass(frozen=True)
class Part:
    """A text as a part of a configuration.

    Attributes
    ----------
    content : its value without its `defaults`.
    entries : its `defaults`; `findings` say what is wrong with them.
    package : what its header asks for, None if it asks for nothing.
    """

    source: Source
    content: Value
    entries: tuple[Entry, ...] = ()
    findings: tuple[Finding, ...] = ()
    package: str | None = None


def part_of(source: Source) -> Part:
    """A text, taken apart. Raises UnusableInput if it is not YAML within the limits."""
    from .defaults import package_header, read_entries

    root = _blank(source) or source.value
    findings: list[Finding] = []
    entries: list[Entry] = []
    if isinstance(root, MapNode):
        entries = read_entries(root.get("defaults"), findings)
        root = replace(root, entries=tuple(entry for entry in root if entry.key.text != "defaults"))
    return Part(source, root, tuple(entries), tuple(findings), package_header(source.text))


def _blank(source: Source) -> MapNode | None:
    """An empty map if nothing but comments is written."""
    if any((line := text.strip()) and not line.startswith("#") for text in source.lines):
        return None
    return MapNode((), source.whole())


@dataclass
class Library:
    """The texts of one command and what they are as parts, by the name that their spans carry."""

    sources: dict[str, Source] = field(default_factory=dict)
    parts: dict[str, Part] = field(default_factory=dict)

    def source(self, path: str, name: str) -> Source:
        """The text at a path. Raises UnusableInput."""
        if name not in self.sources:
            self.sources[name] = Source.read(path, name)
        return self.sources[name]

    def part(self, source: Source) -> Part:
        """A text of this library, taken apart. Raises UnusableInput."""
        if source.name not in self.parts:
            self.parts[source.name] = part_of(source)
        return self.parts[source.name]


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder to look in; `name` is how it is shown, which hides what came from the environment."""

    path: str
    name: str


@dataclass(frozen=True, slots=True)
class Located:
    """A text that is there and may be read."""

    path: str
    name: str


@dataclass(frozen=True, slots=True)
class Refused:
    """A text that is not read because it lies outside of what may be; `why` says so, `root` is the folder that would allow it."""

    why: str
    root: str = ""


@dataclass(frozen=True)
class SearchPath:
    """Folders in the order of looking, and the real paths of the folders outside of which nothing is read.

    `unseen` are the folders that Hydra would look in as well, each with the reason why nobody looked there.
    """

    folders: tuple[Folder, ...]
    roots: tuple[str, ...]
    unseen: tuple[str, ...] = ()

    @staticmethod
    def of(folder: str, searched: Sequence[Folder | str], roots: Sequence[str]) -> SearchPath:
        """The search path of a file in `folder`; of `searched`, folders outside of all roots are not looked in, nor are reasons."""
        real = tuple(dict.fromkeys(os.path.realpath(root) for root in (folder, *roots)))
        every, unseen = [Folder(folder, folder)], []
        for each in (_below(folder, roots) for folder in searched):
            if isinstance(each, str):
                unseen.append(each)
            elif _inside(os.path.realpath(each.path), real):
                every.append(each)
            else:
                unseen.append(f"`{each.name}` is outside of what may be read")
        every += [Folder(root, root) for root in roots]
        return SearchPath(tuple(dict.fromkeys(every)), real, tuple(unseen))

    def find(self, path: str) -> Located | Refused | None:
        """The text of a path such as ``env/libero``, where it is first found."""
        if path.startswith("/") or os.path.isabs(path) or _UNREADABLE.search(path):
            return Refused(f"`{path}` is a path from the top of the file system")
        file = path if path.endswith(_ENDINGS) else f"{path}.yaml"
        refused: Refused | None = None
        for folder in self.folders:
            whole = os.path.join(folder.path, file)
            real = os.path.realpath(whole)
            if not _inside(real, self.roots):
                if ".." in path.split("/") and folder is not self.folders[0] and os.path.realpath(folder.path) in self.roots:
                    continue  # the user allows this folder; to Hydra it is no place that a path could lead out of
                if ".." not in path.split("/"):
                    return Refused(f"`{path}` in `{folder.name}` is a link that leads out of it")
                root = _common(folder.path, whole) if folder.name == folder.path else ""
                refused = refused or Refused(f"`{path}` leads out of `{folder.name or '.'}`", root)
            elif os.path.isfile(real):
                return Located(real, os.path.normpath(os.path.join(folder.name, file)))
        return refused

    def is_group(self, path: str) -> bool:
        """Is there a folder of this name?"""
        if not path or path.startswith("/") or _UNREADABLE.search(path):
            return False
        places = (os.path.join(folder.path, path) for folder in self.folders)
        return any(_inside(os.path.realpath(place), self.roots) and os.path.isdir(place) for place in places)

    @property
    def why_not_found(self) -> str:
        """Where was looked, and where not."""
        places = ", ".join(f"`{folder.name or '.'}`" for folder in self.folders)
        return "; ".join([f"it is not in {places}", *self.unseen, "`--config-root DIR` names another folder"])


def _below(folder: Folder | str, roots: Sequence[str]) -> Folder | str:
    """A relative folder below one of the roots, where it is not below the one that this is called from: Hydra counts from where a program is started."""
    if isinstance(folder, str) or os.path.isabs(folder.path) or os.path.isdir(folder.path):
        return folder
    places = (os.path.join(root, folder.path) for root in roots)
    return next((Folder(place, os.path.join(root, folder.name)) for root, place in zip(roots, places) if os.path.isdir(place)), folder)


def _inside(path: str, roots: Sequence[str]) -> bool:
    return any(path == root or path.startswith(root.rstrip(os.sep) + os.sep) for root in roots)


def _common(folder: str, whole: str) -> str:
    """The folder that holds both, as it would be written on the command line."""
    shared = os.path.commonpath([os.path.abspath(folder), os.path.dirname(os.path.abspath(whole))])
    return os.path.relpath(shared) if not os.path.isabs(folder) else shared


@dataclass(frozen=True)
class Added:
    """Folders of configurations that a command line adds.

    Attributes
    ----------
    folders : what `--config-dir` names, or why it is unknown.
    below : folders that a relative one may lie in: the script's own, its repository.
    """

    folders: tuple[Folder | str, ...] = ()
    below: tuple[str, ...] = ()

    def search(self, folders: Sequence[Folder | str], roots: tuple[str, ...]) -> tuple[SearchPath, list[Unchecked]]:
        """The folders that a command line adds, alone, and what of them is not found."""
        every = (*self.below, *roots)
        whole = SearchPath.of(every[0] if every else "", folders, every)
        own = {Folder(root, root) for root in every}
        there = [folder for folder in whole.folders if folder not in own]
        gone = [f"`{folder.name}` is not found" for folder in there if not os.path.isdir(folder.path) and _OF_FRAMEWORK not in folder.name]
        whys = [f"the command line adds configurations: {why}" for why in (*whole.unseen, *gone)]
        unchecked = [Unchecked("PW122", "", why, True, "Name the folder that holds it with `--config-root DIR`") for why in whys]
        return replace(whole, folders=tuple(folder for folder in there if os.path.isdir(folder.path))), unchecked


def searched(value: Value | None, environment: Environment, findings: list[Finding]) -> list[Folder | str]:
    """Every entry of a search path as a folder, or as the reason why it is not looked in.

    A folder's name hides the values of variables.
    """
    if value is None or (isinstance(value, Scalar) and value.is_null):
        return []
    if isinstance(value, Scalar) and value.tag == UNRESOLVED:
        return [f"`{value.text[:80]}` is not known"]
    if not isinstance(value, ListNode) or not all(isinstance(item, Scalar) and isinstance(item.value, str) for item in value.items):
        message = f"`hydra.searchpath` must be a list of texts, but it is {kind_of(value)}"
        findings.append(error("PW013", "", message, value.span, label=kind_of(value), help="write `searchpath: [file://FOLDER]`"))
        return []
    return [_folder(item.text, environment) for item in value.items if isinstance(item, Scalar)]


def _folder(text: str, environment: Environment) -> Folder | str:
    if text.startswith(_MODULE) and "${" not in text:  # a module: its folder below one that programs are started from
        return Folder(text.removeprefix(_MODULE).replace(".", "/"), text)
    if "://" in text and not text.startswith(_FILE):
        return f"`{text[:80]}` is no folder"
    name = text.removeprefix(_FILE)
    unset = [variable for variable in _VARIABLE.findall(name) if variable not in environment.values]
    if unset:
        return f"`{text[:80]}` depends on the environment variable `{unset[0]}`, which is not read"
    path = _VARIABLE.sub(lambda found: environment.values[found[1]], name)
    if "${" in path or "\0" in path:
        return f"`{text[:80]}` cannot be resolved here"
    return Folder(path, name)
