"""What the components are called in another dialect: they are known there by their roles."""

from __future__ import annotations

from collections import Counter
from typing import Iterator, Mapping, Sequence

from ..component import Component
from ..findings.finding import Finding
from ..roles import role_of
from .losses import dropped


def renamed(components: Sequence[Component], known: Mapping[str, str]) -> dict[str, str]:
    """The name of each of these components in another dialect, which knows these roles by these names.

    A component keeps its name where it has no such role, where several have it, and where another one keeps that name.
    """
    roles = Counter(map(role_of, components))
    own = {component.name: component.name for component in components}
    names = {c.name: known.get(role_of(c), c.name) if roles[role_of(c)] == 1 else c.name for c in components}
    while len(set(names.values())) < len(names):
        claims = Counter(names.values())
        names = {name: its if claims[its] == 1 else own[name] for name, its in names.items()}
    return names


def said_of_names(names: Mapping[str, str]) -> Iterator[Finding]:
    """A remark for every component that is called otherwise now."""
    for before, after in names.items():
        if before != after:
            yield dropped(before, f"`{before}` is called `{after}` now")
