"""Where the texts of groups are looked up, and which of those places may be read at all.

Source of the order: Hydra, hydra/_internal/config_loader_impl.py (_process_config_searchpath): first the folder of the
file, then the entries of `hydra.searchpath`. The folders that the user allows come last.
"""

from __future__ import annotations

import os
import re
from typing import Sequence

from ..record import dataclass

_ENDINGS = (".yaml", ".yml")
_UNREADABLE = re.compile(r"[\x00-\x1f]")


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
