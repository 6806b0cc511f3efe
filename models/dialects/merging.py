"""Keys of a framework merged into a rendered file."""

from __future__ import annotations

from typing import Any, Mapping

import yaml

from ..text.edit import to_yaml

Data = dict[str, Any]


def put(tree: Data, keys: Mapping[str, object]) -> Data:
    """Set dotted keys in a tree, and return the tree."""
    for path, value in keys.items():
        *owners, last = path.split(".")
        section = tree
        for owner in owners:
            section = section.setdefault(owner, {})
        section[last] = value
    return tree


def merged(text: str, keys: Mapping[str, object], without: tuple[str, ...] = ()) -> Data:
    """Return the tree of a file with dotted keys set, `without` some sections."""
    return put({name: value for name, value in yaml.safe_load(text).items() if name not in without}, keys)


def flat(tree: Mapping[str, Any], before: str = "") -> dict[str, object]:
    """Return dotted key -> value of every leaf."""
    leaves: dict[str, object] = {}
    for name, value in tree.items():
        if isinstance(value, dict):
            leaves |= flat(value, f"{before}{name}.")
        else:
            leaves[f"{before}{name}"] = value
    return leaves


def titled(title: str, tree: Data) -> str:
    """Return a YAML text with a comment at its head."""
    return f"# {title}\n{to_yaml(tree)}"
