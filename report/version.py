"""Version of the installed package."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as version_of


def version() -> str:
    """Return the version; "" for a checkout on the path without an installation."""
    try:
        return version_of("placewright")
    except PackageNotFoundError:
        return ""
