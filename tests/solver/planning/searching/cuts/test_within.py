"""Cuts that keep to a time, by the pairs that run together in them: the same as each cut looked at by itself."""

from __future__ import annotations

from itertools import combinations
from random import Random
from typing import Iterator, Sequence

import pytest
from placewright.models.parallel import Parallel
from placewright.models.planning.kind import Kind
from placewright.models.planning.option import Option
from placewright.models.planning.question import Question, Task
from placewright.solver.planning.searching.cuts.within import Within
from placewright.solver.planning.searching.structures.at_once import Tasks


def question(random: Random) -> Question:
    """Five to seven tasks of a few components, of which one may have two."""
    names = "abcdef"[: random.randint(4, 6)]
    tasks = [Task(name, "infer") for name in names]
    if random.random() < 0.5:
        tasks.append(Task("a", "train"))
    options = {name: (Option(0, 1, Parallel(), (1,) * sum(task.component == name for task in tasks)),) for name in names}
    return Question((Kind("H100", 8),), tuple(tasks), options)


def every_cut(tasks: int) -> Iterator[tuple[Tasks, ...]]:
    if not tasks:
        yield ()
        return
    first, others = tasks & -tasks, tasks & tasks - 1
    some = others
    while True:
        for cut in every_cut(others & ~some):
            yield (first | some, *cut)
        if not some:
            return
        some = some - 1 & others


def allows(question: Question, users: Sequence[Sequence[str]], cuts: Sequence[Sequence[Tasks]]) -> bool:
    """Is there a cut in which no part has tasks of two that share?"""
    mask = {name: sum(1 << task for task in its) for name, its in question.tasks_of.items()}
    pairs = [pair for its in users for pair in combinations(its, 2)]
    return any(not any(part & mask[one] and part & mask[other] for part in cut for one, other in pairs) for cut in cuts)


@pytest.mark.parametrize("seed", range(20))
def test_the_same_is_allowed_as_by_each_cut_itself(seed: int) -> None:
    random, both = Random(seed), set[bool]()
    asked = question(random)
    every = list(every_cut((1 << len(asked.tasks)) - 1))
    for count in (0, 1, 3, len(every) // 4, len(every)):
        cuts = random.sample(every, count)
        within = Within(asked, cuts, lambda seconds: True)
        for _ in range(40):
            users = [random.sample(asked.components, random.randint(1, 3)) for _ in range(random.randint(1, 2))]
            both.add(allows(asked, users, cuts))
            assert within.allows(users) == allows(asked, users, cuts)
    assert both == {False, True}
