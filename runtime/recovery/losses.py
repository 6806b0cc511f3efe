"""Which failures a restart can mend."""

from __future__ import annotations

from ..failure import LaunchFailed
from .given_up import NOT_RECOVERED

LOST = frozenset({"PW704", "PW713"})
"""A worker that died, a node that is gone."""
NO_ROOM = "PW702"
"""The nodes differ from the plan, or others hold what it needs: there may be room elsewhere."""


def is_lost(failure: LaunchFailed) -> bool:
    """Is it a failure that a restart can mend, and none that tells that there is none any more?"""
    codes = {finding.code for finding in failure.findings}
    return bool(codes & LOST) and NOT_RECOVERED not in codes
