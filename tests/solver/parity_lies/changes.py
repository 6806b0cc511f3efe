"""What a lie does to a face of a rule."""

from __future__ import annotations

from typing import Any, Callable

Lie = Callable[[Any], Any]
"""A function or a class -> what stands in its place."""


def silent(*arguments: Any) -> tuple[()]:
    """A check that finds nothing; an encoding that says nothing."""
    return ()


def instead(replacement: Any) -> Callable[[Any], Any]:
    """Something else altogether."""
    return lambda original: replacement
