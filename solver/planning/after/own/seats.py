"""The accelerators that components hold by the file's own ranks."""

from __future__ import annotations

from typing import Mapping, Sequence

from .....models.machines.node_group import ACCELERATOR
from .....models.placements.assignment import Assignment
from .....models.placements.run import Run
from .....models.planning.question import Question
from .....models.problem import Problem

Seat = tuple[int, int]
"""(node rank, local index) of an accelerator."""

Seats = Mapping[str, frozenset[Seat]]


class NoPrice(Exception):
    """Why a placement has no price: a sentence."""


def seats_of(problem: Problem, question: Question) -> Seats:
    """The accelerators of each component that has some. Raises NoPrice where the file gives no ranks."""
    return {name: its for name in question.components if (its := _seats(problem, question, name))}


def runs_of(problem: Problem, question: Question, name: str) -> Sequence[Run]:
    """The runs of a component in the file, or of who does its work. Raises NoPrice."""
    runs = problem.job.own.get(name) or problem[name].runs
    if runs is None:
        runs = next((problem.job.own[other] for other in _stand_ins(question, name) if other in problem.job.own), None)
    if runs is None:
        raise NoPrice(f"the file gives no ranks of `{name}` on these nodes")
    return runs


def kind_of_seat(problem: Problem, question: Question, seat: Seat) -> int:
    """The kind of an accelerator, whoever holds it. Raises NoPrice for one that no component may be planned on."""
    node = problem.cluster.nodes[seat[0]]
    kind = question.kind_of(node.accelerator_model, node.accelerator_memory)
    if kind is None:
        raise NoPrice(f"`{node.name}` has no accelerator that is free")
    return kind


def _seats(problem: Problem, question: Question, name: str) -> frozenset[Seat]:
    """The accelerators of one component; none for one on other resources."""
    if problem.kind(problem[name]) != ACCELERATOR:
        return frozenset()
    masks = Assignment({name: runs_of(problem, question, name)}).masks(name)
    return frozenset(
        (node, index)
        for (node, kind), mask in masks.items()
        if kind == ACCELERATOR
        for index in range(mask.bit_length())
        if mask >> index & 1
    )


def _stand_ins(question: Question, name: str) -> list[str]:
    """Who does the work of a component that the framework does not start, in a way that it allows."""
    pairs = [pair for way in question.ways if name in way.without for pair in sorted(way.together) if name in pair]
    return [other for pair in pairs for other in pair if other != name]
