"""Which ranks are taken already: each can be claimed once."""

from __future__ import annotations

from bisect import bisect_left, bisect_right


class Claims:
    """Disjoint, non-adjacent ranges in ascending order. All claims together cost what the ranges are, not the ranks."""

    def __init__(self) -> None:
        self._starts: list[int] = []
        self._stops: list[int] = []

    def claim(self, ranks: range) -> tuple[range, ...]:
        """The parts of these ranks that were taken before; all of them are from now on."""
        low = bisect_left(self._stops, ranks.start)
        high = bisect_right(self._starts, ranks.stop)
        spans = list(zip(self._starts[low:high], self._stops[low:high]))
        if ranks:
            self._starts[low:high] = [min([ranks.start, *self._starts[low:high]])]
            self._stops[low:high] = [max([ranks.stop, *self._stops[low:high]])]
        parts = (range(max(start, ranks.start), min(stop, ranks.stop)) for start, stop in spans)
        return tuple(part for part in parts if part)
