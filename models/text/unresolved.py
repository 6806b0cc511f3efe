"""Why an interpolation has no value: it is not known here, or none can be."""

from __future__ import annotations

MANDATORY = "???"
"""OmegaConf's mark of a value that must be given when the job is started."""
UNRESOLVED = "unresolved"
"""The tag of a Scalar whose value is not known here."""


class Unknown(Exception):
    """The value is not known here, but may well be when the job runs."""


class Unread(Unknown):
    """A variable of the environment is not known here; the message tells nothing of its value."""


class Impossible(Exception):
    """No value can be there: the chain of references ends nowhere or runs in a circle."""


class Missing(Impossible):
    """There is no such key in this file."""
