"""Components that are rank aligned have the same accelerators in the same order of ranks."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Iterable, Iterator

from ....models.component import RANK_ALIGNED, Relation
from ....models.demand import Clause, Demand
from ....models.findings.finding import Finding, error
from ....models.machines.node_group import NODE
from ....models.placements.assignment import Assignment
from ....models.problem import Problem
from ...wording import demanded
from ..sharing.colocated import in_one_order
from .rank_lists import Chunk, chunks

if TYPE_CHECKING:
    from ...model.variables import Variables


class RankAligned:
    """Two components that are rank aligned use the same accelerators in the same order of ranks.

    Their processes may have different sizes: one after the other, the accelerators of all processes are the same list. So what rank i of
    the one leaves on an accelerator, the same rank of the other finds there.
    """

    code: ClassVar[str] = "PW219"
    packs: ClassVar[bool] = True

    def subjects(self, problem: Problem) -> Iterable[Relation]:
        return [r for r in problem.related(RANK_ALIGNED) if all(problem.kind(problem[name]) != NODE for name in r.components)]

    def encode(self, problem: Problem, relation: Relation, variables: Variables) -> None:
        """They are one bundle, and expansion gives them one order; a stride of one of them, or given ranks, may leave none."""
        in_one_order(problem, relation, variables)

    def check(self, problem: Problem, relation: Relation, assignment: Assignment) -> Iterator[Finding]:
        one, other = relation.components
        position, mine, theirs = _first_difference(chunks(assignment, one), chunks(assignment, other))
        if position < 0:
            return
        where = [f"{name} has {_place(seat)} there" for name, seat in ((one, mine), (other, theirs))]
        message = (
            f"{one} and {other} have their ranks in one order, but differ from accelerator number {position} on: {where[0]}, {where[1]}"
        )
        span = relation.span or problem[one].span("placement")
        yield error(
            self.code, one, f"{message}{demanded(relation)}", span, label=f"not in the order of {other}",
            help="give both the same ranks in the same order", witnesses=(position,), amount=1,
        )  # fmt: skip

    def explain(self, problem: Problem, relation: Relation) -> Clause:
        one, other = relation.components
        strides = [f"{name} has stride {problem[name].stride}" for name in relation.components if problem[name].stride > 1]
        text = f"{one} has its ranks on the accelerators of {other} in the same order" + (f" ({', '.join(strides)})" if strides else "")
        return Clause(text + demanded(relation), (Demand(f"{one}+{other}", RANK_ALIGNED, relation.span),))


Seat = tuple[int, int]


def _first_difference(mine: list[Chunk], theirs: list[Chunk]) -> tuple[int, Seat | None, Seat | None]:
    """(position, what the first has there, what the second has): where two lists differ first; position -1 if they do not."""
    for number in range(max(len(mine), len(theirs))):
        pair = [each[number] if number < len(each) else None for each in (mine, theirs)]
        if pair[0] != pair[1]:
            start = max(chunk.position for chunk in pair if chunk)
            stop = max(chunk.position + len(chunk.nodes) * len(chunk.order) for chunk in pair if chunk)
            for position in range(start, stop + 1):
                seats = (_at(pair[0], position), _at(pair[1], position))
                if seats[0] != seats[1]:
                    return position, *seats
    return -1, None, None


def _at(chunk: Chunk | None, position: int) -> Seat | None:
    """(node, local index) at a position of the list, if it is in this chunk."""
    if chunk is None or not chunk.position <= position < chunk.position + len(chunk.nodes) * len(chunk.order):
        return None
    node, index = divmod(position - chunk.position, len(chunk.order))
    return chunk.nodes[node], chunk.order[index]


def _place(seat: Seat | None) -> str:
    return "none" if seat is None else f"accelerator {seat[1]} of node {seat[0]}"
