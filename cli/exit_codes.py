"""What the verbs return to the shell."""

from __future__ import annotations

OK = 0
FINDINGS = 1
"""Findings, or nothing is possible."""
UNUSABLE = 2
"""The input cannot be used."""
UNDECIDED = 3
"""Undecided in the time."""
DIFFERENT = 4
"""The world differs from the plan."""
INCOMPLETE = 5
"""Something that decides the placement is unknown."""
OUR_FAULT = 70
SIGNALLED = 128
"""And the number of the signal."""
INTERRUPTED = SIGNALLED + 2
BROKEN_PIPE = SIGNALLED + 13
