"""The folders that a file names in `hydra.searchpath`, as far as they can be known."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from typing import Sequence

from ..findings.finding import Finding, Unchecked, error
from ..record import dataclass
from ..text.environment import Environment
from ..text.tree import ListNode, Scalar, Value, kind_of
from ..text.unresolved import UNRESOLVED
from .search_path import Folder, SearchPath

_VARIABLE = re.compile(r"\$\{oc\.env:\s*([^,{}]+?)\s*\}")
_FILE, _MODULE = "file://", "pkg://"
_OF_FRAMEWORK = "pkg://verl."


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
