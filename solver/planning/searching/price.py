"""What a search compares."""

from __future__ import annotations

Price = tuple[int, int]
"""What is as small as possible, and what comes second: ns and accelerators, in the order of the aim."""
ENDLESS = 1 << 62
"""More ns, and more MiB, than anything takes."""
