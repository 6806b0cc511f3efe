"""RLinf's placement algorithm, from its formulas: the best of each part of the chain on each count, put together from two parts.

Source: RLinf, toolkits/auto_placement/{auto_placement_worker,placement,workflow}.py: only the least total of a part is kept, a part that
mixes shared and own accelerators is discarded (reasoning), the later part never gets a single accelerator, and of shared accelerators
within shared accelerators beside a pipeline there is no time of a batch: there the tool ends in a TypeError.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Mapping

from auto.cases import Case

ALONE, SHARED, APART = "alone", "shared", "apart"


class Crashes(Exception):
    """The tool ends in a TypeError."""


@dataclass(frozen=True)
class Part:
    """The best way to run a part of the chain; times in ns, `batch` None where it has none. `ends` are the batches of its first and last."""

    mode: str
    accelerators: int
    total: Fraction
    batch: Fraction | None
    counts: Mapping[str, int]
    warm: Fraction = Fraction()
    ends: tuple[Fraction | None, Fraction | None] = (None, None)
    hybrid: bool = False

    def first(self) -> Fraction | None:
        """The time of a batch as the later of two parts."""
        return self.ends[0] if self.mode == SHARED else self.batch

    def last(self) -> Fraction | None:
        """The time of a batch as the earlier of two parts."""
        return self.ends[1] if self.mode == SHARED else self.batch


class Restated:
    """The search of one case."""

    def __init__(self, case: Case) -> None:
        self._case, self._tables = case, case.tables()
        self._embodied = case.task == "embodied"
        self._handed = 1 if self._embodied else case.batch.prompts
        self._known: dict[tuple[int, int, int], Part | None] = {}

    def best(self) -> Part | None:
        """The answer, on all accelerators. Raises Crashes."""
        return self._part(0, len(self._case.chain), self._case.accelerators)

    def _part(self, start: int, stop: int, count: int) -> Part | None:
        """The best way for a part of the chain on exactly so many accelerators."""
        key = (start, stop, count)
        if key not in self._known:
            self._known[key] = self._alone(start, count) if stop - start == 1 else self._of_two(start, stop, count)
        return self._known[key]

    def _alone(self, place: int, count: int) -> Part | None:
        name = self._case.chain[place]
        row = self._tables[name].get(count)
        if row is None:
            return None
        time = Fraction(row.nanoseconds)
        return Part(ALONE, count, time, time / self._case.batches, {name: count})

    def _of_two(self, start: int, stop: int, count: int) -> Part | None:
        best: Part | None = None
        for cut in range(start + 1, stop):
            best = self._better(best, self._shared(self._part(start, cut, count), self._part(cut, stop, count)))
            for earlier in range(1, count - 1):
                best = self._better(best, self._apart(self._part(start, cut, earlier), self._part(cut, stop, count - earlier)))
        return best

    def _shared(self, one: Part | None, other: Part | None) -> Part | None:
        if one is None or other is None:
            return None
        hybrid = APART in (one.mode, other.mode)
        counts = {**one.counts, **other.counts}
        part = Part(SHARED, one.accelerators, one.total + other.total, None, counts, ends=(one.batch, other.batch), hybrid=hybrid)
        return self._kept(part)

    def _apart(self, one: Part | None, other: Part | None) -> Part | None:
        if one is None or other is None:
            return None
        early, late = one.last(), other.first()
        warm_early = one.warm if one.mode == APART else early
        warm_late = other.warm if other.mode == APART else late
        if early is None or late is None or warm_early is None or warm_late is None:
            raise Crashes
        batch, warm = max(early, late), warm_early + warm_late
        hybrid = SHARED in (one.mode, other.mode)
        counts = {**one.counts, **other.counts}
        both = one.accelerators + other.accelerators
        return self._kept(Part(APART, both, warm + batch * (self._handed - 1), batch, counts, warm, hybrid=hybrid))

    def _kept(self, part: Part) -> Part | None:
        """The part, if the tool keeps it: of embodied jobs only with training on everything."""
        if not self._embodied:
            return None if part.hybrid else part
        last = list(part.counts)[-1]
        return None if last == "actor" and part.counts[last] != part.accelerators else part

    @staticmethod
    def _better(one: Part | None, other: Part | None) -> Part | None:
        """The one with the smaller total, the later of equals."""
        if one is None or other is None:
            return one or other
        return one if one.total < other.total else other
