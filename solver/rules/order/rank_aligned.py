"""Rule PW219: rank aligned components have the same accelerators in rank order."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Iterable, Iterator

from ....models.component import RANK_ALIGNED, Relation
from ....models.findings.finding import Finding, error
from ....models.machines.node_group import NODE
from ....models.placements.assignment import Assignment
from ....models.problem import ConflictClause, Demand, Problem
from ...wording import demanded, demanding
from ..sharing.colocated import in_one_order
from .rank_lists import Chunk, chunks

if TYPE_CHECKING:
    from ...model.variables import Variables


class RankAligned:
    """Rank aligned components use the same accelerators in the same order of ranks.

    Their processes may have different sizes: the accelerators of all processes, one after the
    other, are the same list. So a rank of one component finds on its accelerator what the same rank
    of the other left there.
    """

    code: ClassVar[str] = "PW219"

    def subjects(self, problem: Problem) -> Iterable[Relation]:
        return [r for r in problem.related(RANK_ALIGNED) if all(problem.kind(problem[name]) != NODE for name in r.components)]

    def encode(self, problem: Problem, relation: Relation, variables: Variables) -> None:
        """Require a common order of ranks; strides or given ranks may exclude it.

        The components are one bundle, and expansion gives them one order.
        """
        in_one_order(problem, relation, variables)

    def check(self, problem: Problem, relation: Relation, assignment: Assignment) -> Iterator[Finding]:
        first_name, second_name = relation.components
        position, first_seat, second_seat = _first_difference(chunks(assignment, first_name), chunks(assignment, second_name))
        if position < 0:
            return
        where = [f"{name} has {_place(seat)} there" for name, seat in ((first_name, first_seat), (second_name, second_seat))]
        message = f"{first_name} and {second_name} must have the same rank order, but differ from accelerator number {position} on"
        span = relation.span or problem[first_name].span("placement")
        yield error(
            self.code, first_name, message, span, label=f"not in the order of {second_name}", witnesses=(position,), amount=1,
            help="give both the same ranks in the same order", notes=(" and ".join(where), *demanding(relation)),
        )  # fmt: skip

    def explain(self, problem: Problem, relation: Relation) -> ConflictClause:
        first_name, second_name = relation.components
        strides = [f"{name} has stride {problem[name].stride}" for name in relation.components if problem[name].stride > 1]
        text = f"{first_name} has its ranks on the accelerators of {second_name} in the same order" + (
            f" ({', '.join(strides)})" if strides else ""
        )
        return ConflictClause(text + demanded(relation), (Demand(f"{first_name}+{second_name}", RANK_ALIGNED, relation.span),))


Seat = tuple[int, int]


def _first_difference(first_chunks: list[Chunk], second_chunks: list[Chunk]) -> tuple[int, Seat | None, Seat | None]:
    """Return the first position of a difference, and the seats of both there.

    Position -1 if the lists are equal.
    """
    for number in range(max(len(first_chunks), len(second_chunks))):
        pair = [chunk_list[number] if number < len(chunk_list) else None for chunk_list in (first_chunks, second_chunks)]
        if pair[0] != pair[1]:
            start = max(chunk.position for chunk in pair if chunk)
            stop = max(chunk.position + len(chunk.nodes) * len(chunk.order) for chunk in pair if chunk)
            for position in range(start, stop + 1):
                seats = (_at(pair[0], position), _at(pair[1], position))
                if seats[0] != seats[1]:
                    return position, *seats
    return -1, None, None


def _at(chunk: Chunk | None, position: int) -> Seat | None:
    """Return (node, local index) at a position; None outside the chunk."""
    if chunk is None or not chunk.position <= position < chunk.position + len(chunk.nodes) * len(chunk.order):
        return None
    node, index = divmod(position - chunk.position, len(chunk.order))
    return chunk.nodes[node], chunk.order[index]


def _place(seat: Seat | None) -> str:
    return "none" if seat is None else f"accelerator {seat[1]} of node {seat[0]}"
