"""How much memory a component may need so that it fits beside the others, however these run: less than that is no better."""

from __future__ import annotations

from functools import cached_property
from typing import Mapping, Sequence

from ....models.planning.kind import Kind
from ....models.planning.option import Option

Turn = tuple[str, str]


class Ample:
    """The room that the others leave a component on accelerators of a kind, whatever their options are.

    Parameters
    ----------
    options : every option of each component.
    resident : components that hold their memory all the time.
    turns : the phases in which each of the others needs all of its memory; one that is not named has a turn of its own.
    packed : may components share accelerators that have not the same number of them?
    """

    def __init__(
        self, kinds: Sequence[Kind], options: Mapping[str, Sequence[Option]], resident: frozenset[str], turns: Mapping[str, tuple[str, ...]],
        packed: bool,
    ) -> None:  # fmt: skip
        self._kinds, self._resident, self._packed = kinds, resident, packed
        self._turns = {name: _turns(name, turns) for name in options if name not in resident}
        self._rooms: dict[tuple[str, int, int], tuple[int, int]] = {}
        self._options = options

    @cached_property
    def _most(self) -> dict[tuple[str, int, int], tuple[int, int]]:
        """(component, kind, amount) -> the most MiB that it needs there, and the most that it keeps."""
        found: dict[tuple[str, int, int], tuple[int, int]] = {}
        for name, options in self._options.items():
            for option in options:
                limit, full, kept = self._limit(option.kind), max(option.memory, option.kept), option.kept
                if limit is None or full <= limit:  # what does not fit alone is in nobody's way
                    key = (name, *self._place(option))
                    for its in option.on_sizes:
                        full, kept = max(full, its.memory, its.kept), max(kept, its.kept)
                    most = found.get(key, (0, 0))
                    found[key] = max(most[0], full), max(most[1], kept)
        return found

    def needs(self, name: str, option: Option) -> tuple[int, int]:
        """(MiB while it works, MiB while others do) of an option; what is there for it anyhow, where that is more."""
        limit = self._kinds[option.kind].floor if option.kind >= 0 else None
        if limit is None:
            return 0, 0
        key = (name, *self._place(option))
        if key not in self._rooms:
            self._rooms[key] = self._room(name, limit, *key[1:])
        working, resting = self._rooms[key]
        return max(option.memory, working), max(option.kept, resting)

    def _room(self, name: str, limit: int, kind: int, amount: int) -> tuple[int, int]:
        """MiB that are left to it while it works, and while others do."""
        beside = dict.fromkeys((turn for its in self._turns.values() for turn in its), 0)
        always = 0
        for other in self._options:
            full, kept = self._most.get((other, kind, amount), (0, 0)) if other != name else (0, 0)
            always += full if other in self._resident else kept
            for turn in self._turns.get(other, ()):
                beside[turn] += full - kept
        mine = self._turns.get(name, tuple(beside))
        working = max((taken for turn, taken in beside.items() if turn in mine), default=0)
        resting = max((taken for turn, taken in beside.items() if turn not in mine), default=0)
        return limit - always - working, limit - always - resting

    def _place(self, option: Option) -> tuple[int, int]:
        """What others must have in common with it, to share its accelerators."""
        return option.kind, 0 if self._packed else option.amount

    def _limit(self, kind: int) -> int | None:
        return self._kinds[kind].memory if kind >= 0 else None


def _turns(name: str, turns: Mapping[str, tuple[str, ...]]) -> tuple[Turn, ...]:
    phases = turns.get(name, ())
    return tuple((phase, "") for phase in phases) if phases else (("", name),)
