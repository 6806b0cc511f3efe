"""The folders that a file names in `hydra.searchpath`, as far as they can be known."""

from __future__ import annotations

import re

from ..findings.finding import Finding, error
from ..text.environment import Environment
from ..text.tree import Scalar, Sequence, Value, kind_of
from .search_path import Folder

_VARIABLE = re.compile(r"\$\{oc\.env:\s*([^,{}]+?)\s*\}")
_FILE, _MODULE = "file://", "pkg://"


def searched(value: Value | None, environment: Environment, findings: list[Finding]) -> list[Folder | str]:
    """Every entry of a search path as a folder, or as the reason why it is not looked in.

    A folder's name hides the values of variables.
    """
    if value is None or (isinstance(value, Scalar) and value.is_null):
        return []
    if not isinstance(value, Sequence) or not all(isinstance(item, Scalar) and isinstance(item.value, str) for item in value.items):
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
