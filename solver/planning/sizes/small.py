"""Few accelerators: every combination of choices, without those that cannot be better than the best so far."""

from __future__ import annotations

from typing import Sequence

from ....models.planning.workload import SECONDS
from .choices import Choice, needed
from .sizing import Sizing

Price = tuple[int, int]


def enumerate_sizes(sizing: Sizing, below: Price | None) -> tuple[Price, tuple[Choice, ...]] | None:
    """The best choices, if they are better than `below`: ns and accelerators, in the order of the aim."""
    structure, question, sets = sizing.structure, sizing.question, sizing.choices
    if not all(sets):
        return None
    order = sorted(range(len(sets)), key=lambda number: len(structure.around[number]))  # a set after the one that it lies in
    quickest = [tuple(min(choice.times[place] for choice in its) for place in range(len(its[0].times))) for its in sets]
    best: tuple[Price, tuple[Choice, ...]] | None = None
    chosen: list[Choice | None] = [None] * len(sets)
    limit = question.budget.nanoseconds

    def at_least() -> int:
        def time(task: int) -> int:
            number, place = sizing.place[task]
            choice = chosen[number]
            return quickest[number][place] if choice is None else choice.times[place]

        return sum(each.weight * max(sum(map(time, its)) for its in each.sums) for each in sizing.maxima)

    def price(time: int, used: int) -> Price:
        return (time, used) if question.aim == SECONDS else (used, time)

    def extend(position: int, used: int) -> None:
        nonlocal best
        time = at_least()
        bar = best[0] if best else below
        if (limit is not None and time > limit) or (bar is not None and price(time, used) >= bar):
            return
        if position == len(order):
            best = (price(time, used), tuple(choice for choice in chosen if choice is not None))
            return
        number = order[position]
        for choice in sets[number]:
            added = choice.accelerators if number in sizing.roots else 0
            if used + added <= sizing.most and _goes(sizing, chosen, number, choice):
                chosen[number] = choice
                extend(position + 1, used + added)
                chosen[number] = None

    extend(0, 0)
    return best


def _goes(sizing: Sizing, chosen: Sequence[Choice | None], number: int, choice: Choice) -> bool:
    """Is there room for it: of its kind, inside the set around it, and in the memory of the accelerators?"""
    question, structure = sizing.question, sizing.structure
    outer = structure.inside[number]
    beside = [each for each, its in enumerate(structure.inside) if its == outer and each != number and not sizing.is_bare(each)]
    taken = sum(its.accelerators for each in beside if (its := chosen[each]) is not None and its.kind == choice.kind)
    if outer < 0:
        return choice.kind < 0 or taken + choice.accelerators <= question.kinds[choice.kind].accelerators
    around = [chosen[each] for each in structure.around[number][1:]]
    held = [each for each in around if each is not None]
    if held[0].kind != choice.kind or taken + choice.accelerators > held[0].accelerators:
        return False
    members = structure.users[number]
    options = [option for each in (choice, *held) for option in each.options]
    memory = question.kinds[choice.kind].memory
    return memory is None or needed(question, structure, members, options) <= memory
