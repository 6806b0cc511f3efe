"""Which components may be on the same accelerators, of those that have to be somewhere: looked at before all of them are."""

from __future__ import annotations

from operator import add
from typing import NamedTuple, Sequence

from ...costs.cost_model import CostModel
from ..price import ENDLESS, Price
from .busy import Busy, Room

ROUNDS = 3
"""Times that it is looked how few accelerators each set can have beside the others."""
Loads = tuple[int, ...]
"""ns of a set in each stage, or of each of its tasks, the longest first: in every design, the iteration takes at least as long as the
longest of all sets in the first place, and of all sets in the second, and so on, one after the other."""


class Need(NamedTuple):
    """What a set takes of a room at least: accelerators, accelerators x ns (of all it does, and by stages), and loads."""

    accelerators: int
    area: int
    areas: Loads
    loads: Loads


class Keeping:
    """What sets of components take at least in the rooms in which a design can still be better than what is known.

    Of a model whose phases are stages, loads are those of the stages. Of others, in which no accelerator works on two tasks at once, they
    are the tasks of a set by their length: with the parts of an iteration by their time, the longest first, part k takes no less than the
    k-th longest task of any set.
    """

    def __init__(self, busy: Busy, model: CostModel) -> None:
        self._busy, self._model = busy, model
        self._bit = {name: 1 << number for number, name in enumerate(busy.of)}
        self._stages = sorted({model.segment(busy.question, task) for task in range(len(busy.question.tasks))}) if model.by_phase else []
        self._loads: dict[int, tuple[Loads | None, ...]] = {bit: self._of_one(name) for name, bit in self._bit.items()}
        self._all = (1 << len(self._bit)) - 1
        self._counts = [amount for _, amount in busy.amounts]
        self.rooms: list[Known] = []
        self.below(None)

    def below(self, price: Price | None) -> None:
        """From now on only what costs less is of interest."""
        rooms = list(self._busy.rooms(price))
        if rooms != [known.room for known in self.rooms]:
            self.rooms = [Known(room) for room in rooms]

    @property
    def order(self) -> tuple[str, ...]:
        """The components, those that take most first: what they leave is soon known."""
        known = self.rooms[0]
        areas = {name: need.area if (need := self.need(bit, known, 0, known.room.accelerators)) else 0 for name, bit in self._bit.items()}
        return tuple(sorted(self._bit, key=lambda name: (-areas[name], self._bit[name])))

    def can_be(self, sets: Sequence[Sequence[str]]) -> bool:
        """Could these be the sets, with all other components wherever they like, in a design that is better?"""
        masks = self.masks(sets)
        return any(self._fits(masks, known) for known in self.rooms)

    def masks(self, sets: Sequence[Sequence[str]]) -> list[int]:
        """The components of each set as bits."""
        return [sum(self._bit[name] for name in its) for its in sets]

    def _fits(self, masks: Sequence[int], known: Known) -> bool:
        room, rest = known.room, self._all & ~sum(masks)
        others = self._apart(rest, known)
        if self._busy.beside > room.nanoseconds or others is None:
            return False
        fewest = [0] * len(masks)
        for _ in range(ROUNDS):
            needs = self._needs(masks, known, fewest)
            if needs is None or sum(need.area for need in needs) + others.area > room.nanoseconds * room.accelerators:
                return False
            longest = self.longest([need.loads for need in needs], [others.areas, *(need.areas for need in needs)], room.accelerators)
            if sum(longest) > room.nanoseconds:
                return False
            before = [need.accelerators for need in needs]
            fewest = [self.fewest(mask, least, longest, room) for mask, least in zip(masks, before)]
            if fewest == before:
                break
        return True

    def _needs(self, masks: Sequence[int], known: Known, fewest: Sequence[int]) -> list[Need] | None:
        """What each set takes on at least so many accelerators and what the others leave; None where there are too few."""
        most, needs = known.room.accelerators, []
        for mask, least in zip(masks, fewest):
            need = self.need(mask, known, least, most)
            if need is None:
                return None
            needs.append(need)
        if self._busy.question.nested:
            return needs
        left = most - sum(need.accelerators for need in needs)
        if left < 0:
            return None
        ends = [its.accelerators for its in needs]
        return [need for mask, least in zip(masks, ends) if (need := self.need(mask, known, least, least + left)) is not None]

    def fewest(self, mask: int, least: int, longest: Sequence[int], room: Room, around: Loads = ()) -> int:
        """The fewest accelerators from `least` on with which a set keeps to the room, however quick the others are in each place.

        `around`: what those take that lie around it, or inside it, or around these, at the same time as none of its own.
        """
        for accelerators, its in zip(self._counts, self._of(mask)):
            if accelerators >= least and its is not None:
                loads = self.joined(its, around) if around else its
                time = sum(map(max, loads, longest)) + sum(longest[len(loads) :])
                if time <= room.nanoseconds:
                    return accelerators
        return room.accelerators + 1

    def longest(self, loads: Sequence[Loads], areas: Sequence[Loads], accelerators: int) -> list[int]:
        """ns of each place of the loads, by the longest of them and by what they all take of so many accelerators."""
        longest = [0] * max(map(len, loads))
        for its in loads:
            for place, load in enumerate(its):
                if load > longest[place]:
                    longest[place] = load
        if not self._stages:
            return longest
        return [max(load, -(-sum(its) // accelerators)) for load, its in zip(longest, zip(*areas))]

    def _apart(self, mask: int, known: Known) -> Need | None:
        """What so many components take, each by itself."""
        if mask not in known.apart:
            found: Need | None = Need(0, 0, (0,) * len(self._stages), ())
            if mask:
                first = mask & -mask
                rest, need = self._apart(mask ^ first, known), self.need(first, known, 0, known.room.accelerators)
                found = None if rest is None or need is None else _both(rest, need)
            known.apart[mask] = found
        return known.apart[mask]

    def need(self, mask: int, known: Known, least: int, most: int) -> Need | None:
        """What a set takes on so many accelerators; None where it does not fit in the room."""
        key = mask, least, most
        if key not in known.needs:
            fewest, area, areas, loads = 0, ENDLESS, None, None
            for accelerators, its in zip(self._counts, self._of(mask)):
                if accelerators > most:
                    break
                if accelerators < least or its is None or (total := sum(its)) > known.room.nanoseconds:
                    continue
                fewest, area = fewest or accelerators, min(area, total * accelerators)
                loads = its if loads is None else tuple(map(min, loads, its))
                if self._stages:
                    here = tuple(load * accelerators for load in its)
                    areas = here if areas is None else tuple(map(min, areas, here))
            known.needs[key] = Need(fewest, area, areas or (), loads) if loads is not None else None
        return known.needs[key]

    def _of(self, mask: int) -> tuple[Loads | None, ...]:
        """The loads of a set on each amount; None where it cannot be run so."""
        if mask not in self._loads:
            first = mask & -mask
            pairs = zip(self._of(mask ^ first), self._loads[first])
            self._loads[mask] = tuple(None if one is None or other is None else self.joined(one, other) for one, other in pairs)
        return self._loads[mask]

    def joined(self, one: Loads, other: Loads) -> Loads:
        """The loads of all of these together, where none of them works at the same time as another."""
        return tuple(map(add, one, other)) if self._stages else tuple(sorted(one + other, reverse=True))

    def _of_one(self, name: str) -> tuple[Loads | None, ...]:
        question, best = self._busy.question, dict[tuple[int, int], Loads]()
        for option in question.options[name]:
            its = zip(question.tasks_of[name], option.nanoseconds)
            if self._stages:
                stages = [(self._model.segment(question, task), time) for task, time in its]
                loads = tuple(sum(time for stage, time in stages if stage == each) for each in self._stages)
            else:
                loads = tuple(sorted((time for _, time in its), reverse=True))
            key = option.kind, option.amount
            best[key] = tuple(map(min, best.get(key, loads), loads))
        return tuple(best.get(amount) for amount in self._busy.amounts)


class Known:
    """What is known of a room: of sets on at most so many accelerators, and of components by themselves."""

    def __init__(self, room: Room) -> None:
        self.room = room
        self.needs: dict[tuple[int, int, int], Need | None] = {}
        self.apart: dict[int, Need | None] = {}


def _both(one: Need, other: Need) -> Need:
    return Need(0, one.area + other.area, tuple(map(add, one.areas, other.areas)), ())
