"""How ROLL's roles lie to each other: what each pipeline demands of them."""

from __future__ import annotations

from ..roles.setup import Setup


def read_modes(setup: Setup) -> None:
    """Add to the setup what the pipeline demands of its roles: degrees of parallelism, relations, findings."""
