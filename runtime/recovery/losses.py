"""Failures that a restart can repair."""

from __future__ import annotations

from ..failure import LaunchFailed
from .given_up import NOT_RECOVERED

LOST = frozenset({"PW704", "PW713"})
"""Codes of a dead worker and of a lost node."""
NO_ROOM = "PW702"
"""Code of a cluster that differs from the plan or lacks capacity: capacity elsewhere may
suffice.
"""


def is_lost(failure: LaunchFailed) -> bool:
    """Return True if a restart can repair the failure, unless the launch is given up."""
    codes = {finding.code for finding in failure.findings}
    return bool(codes & LOST) and NOT_RECOVERED not in codes
