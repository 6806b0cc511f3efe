"""The file's own ranks on several kinds of accelerators: what shares such ranks is on a kind of its own, with the times that it has there."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Collection, Iterator, Mapping, NamedTuple

from .....models.planning.option import Option
from .....models.planning.question import Question
from .....models.problem import Problem
from ...asking.asked import counted, in_order
from ...asking.options import options
from ...asking.own_kinds import OwnKind, own_kind
from ...asking.room import Room
from .seats import Seat, Seats, kind_of_seat, runs_of


class Lies(NamedTuple):
    """A problem and its question for the ranks of a file, and the kind of each accelerator that these hold."""

    problem: Problem
    question: Question
    kinds: Mapping[Seat, int]


def as_it_lies(problem: Problem, question: Question, seats: Seats) -> Lies:
    """Where components lie on several kinds: all that shares accelerators with these has a kind of its own, one of the last.

    There its ranks are given, and its options are those that its hints allow. Who is on several models takes as long as on the slowest of
    them, see solver/planning/asking/slowest.py. Raises NoPrice for an accelerator that no component may be planned on.
    """
    kinds = _kinds(problem, question, seats)
    groups = [names for names in _groups(seats) if _strays(problem, question, names, {kinds[seat] for seat in _held(seats, names)})]
    if not groups:
        return Lies(problem, question, kinds)
    placed = _given(problem, question, frozenset[str]().union(*groups))
    used = Counter(kinds[seat] for names in groups for seat in _held(seats, names))
    left = [replace(kind, accelerators=kind.accelerators - used[number]) for number, kind in enumerate(question.kinds)]
    every = dict(question.options)
    for number, names in enumerate(groups, len(left)):
        own = own_kind(placed, names, {name: _masks(seats[name]) for name in names})
        left.append(own.kind)
        kinds.update(dict.fromkeys(_held(seats, names), number))
        for name in names:
            every[name] = (*every[name], *(replace(each, kind=number) for each in _options(problem, placed, question, name, own)))
    return Lies(placed, replace(question, kinds=tuple(left), options=every), kinds)


def _kinds(problem: Problem, question: Question, seats: Seats) -> dict[Seat, int]:
    """The kind of each accelerator; of those that are a kind of given ranks, this one."""
    found: dict[Seat, int] = {}
    for number, kind in enumerate(question.kinds):
        given = (name for name in kind.holders if problem[name].runs is not None)
        found.update((seat, number) for name in given for seat in seats.get(name, ()))
    others = (seat for its in seats.values() for seat in its)
    return found | {seat: kind_of_seat(problem, question, seat) for seat in others if seat not in found}


def _strays(problem: Problem, question: Question, names: Collection[str], kinds: Collection[int]) -> bool:
    """Are these components on several kinds, or ranks that a plan need not keep to on the kind of given ones?"""
    held = any(question.kinds[number].holders for number in kinds)
    return len(kinds) > 1 or (held and any(problem[name].runs is None for name in names))


def _groups(seats: Seats) -> Iterator[tuple[str, ...]]:
    """The components that share accelerators with each other, directly or through others."""
    left = list(seats)
    while left:
        names, before = {left[0]}, set[str]()
        while names != before:
            before = set(names)
            names |= {name for name in left if not seats[name].isdisjoint(_held(seats, before))}
        yield tuple(name for name in left if name in names)
        left = [name for name in left if name not in names]


def _held(seats: Seats, names: Collection[str]) -> frozenset[Seat]:
    """All that these components hold."""
    return frozenset[Seat]().union(*(seats[name] for name in names))


def _given(problem: Problem, question: Question, names: Collection[str]) -> Problem:
    """The problem in which these components have the ranks of the file."""
    parts = tuple(
        replace(each, runs=tuple(runs_of(problem, question, each.name))) if each.name in names else each for each in problem.components
    )
    return replace(problem, job=replace(problem.job, components=parts))


def _masks(seats: Collection[Seat]) -> dict[int, int]:
    """Node rank -> bit mask of the accelerators."""
    found: dict[int, int] = {}
    for node, index in seats:
        found[node] = found.get(node, 0) | 1 << index
    return found


def _options(problem: Problem, placed: Problem, question: Question, name: str, own: OwnKind) -> tuple[Option, ...]:
    """What a component may have on its own kind: with its own count, where its hints allow that, any degrees that they offer."""
    component = counted(placed, placed[name])
    amount = component.least
    if problem[name].runs is None and not problem[name].may_have(amount):
        return ()
    timed = in_order(component.timed, name, question.tasks)
    return options(placed, component, timed, Room((own.kind,), (own.nodes,), {}, owned=(own,)), question.batches)
