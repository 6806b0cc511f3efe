"""Reasons for an interpolation without a value: unknown or impossible."""

from __future__ import annotations

MANDATORY = "???"
"""OmegaConf's mark of a value that must be given at the start of the job."""
UNRESOLVED = "unresolved"
"""Tag of a Scalar with an unknown value."""


class Unknown(Exception):
    """Value that is unknown here, but possibly known at run time."""


class Unread(Unknown):
    """Unknown environment variable; the message does not reveal its value."""


class Impossible(Exception):
    """Value that cannot exist: the chain of references is broken or circular."""


class Unresolved(Impossible):
    """Key that does not exist in this file."""
