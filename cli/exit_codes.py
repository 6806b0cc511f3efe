"""Exit codes of the verbs."""

from __future__ import annotations

OK = 0
FINDINGS = 1
"""Findings, or an infeasible problem."""
UNUSABLE = 2
"""Unusable input."""
UNDECIDED = 3
"""Time limit reached before a verdict."""
DIFFERENT = 4
"""Cluster that does not match the plan."""
INCOMPLETE = 5
"""Unknown value that decides the placement."""
OUR_FAULT = 70
SIGNALLED = 128
"""Base of the exit codes of signals; the number of the signal is added."""
INTERRUPTED = SIGNALLED + 2
BROKEN_PIPE = SIGNALLED + 13
