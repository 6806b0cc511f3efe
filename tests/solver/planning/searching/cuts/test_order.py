"""The cuts of an iteration: each once, in whatever order its parts may come, and none of which two parts could be one."""

from __future__ import annotations

from typing import Iterator

from placewright.models.planning.question import Question
from placewright.solver.planning.searching.cuts.order import After, after, beginnings, within

from .test_every import SEEDS, asked_for

MANY = 1 << 9


def every(ways: After, at: int = 0, parts: frozenset[int] = frozenset()) -> Iterator[frozenset[int]]:
    """The parts of every cut, in every order of them."""
    if not ways[at]:
        yield parts
    for beyond in ways[at]:
        yield from every(ways, beyond, parts | {beyond & ~at})


def ways_of(asked: Question) -> After:
    return after(asked, beginnings(asked, MANY))


def test_each_comes_once() -> None:
    for seed in range(SEEDS):
        ways = ways_of(asked_for(seed))
        found = [frozenset(parts) for _, parts in within(ways, lambda part: 1, MANY)]
        assert len(found) == len(set(found)) and set(found) == set(every(ways)), seed


def test_of_what_may_run_at_once_no_two_parts_could_be_one() -> None:
    """Each other cut comes to one that is left, by joining parts: none of those is more."""
    left_out = 0
    for seed in range(SEEDS):
        ways = ways_of(asked_for(seed))
        joinable = {beyond & ~at for at, its in ways.items() for beyond in its}
        found = {frozenset(parts) for _, parts in within(ways, lambda part: 1, MANY, joinable.__contains__)}
        cuts = set(every(ways))
        assert found <= cuts
        for cut in cuts - found:
            left_out += 1
            joined = {frozenset((cut - {one, other}) | {one | other}) for one in cut for other in cut if one < other}
            assert joined & cuts, seed
    assert left_out
