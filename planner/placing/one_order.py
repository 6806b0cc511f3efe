"""Order of ranks of ranges that hand data to each other, also where pins ask for another."""

from __future__ import annotations

from dataclasses import replace
from typing import Iterable, Iterator, Mapping, Sequence

from ...models.answer import IMPOSSIBLE, UNDECIDED, Answer, Solve
from ...models.component import ZERO_COPY, Component
from ...models.findings.finding import error
from ...models.machines.node_group import ACCELERATOR, CLUSTER_LABEL, Numbering
from ...models.placements.assignment import Assignment, Seat, compress, seats
from ...models.placements.plan import FEASIBLE, OPTIMAL, Plan
from ...models.placements.run import Run
from ...models.problem import Problem
from ...models.record import dataclass
from ...solver.check import check
from ...solver.expanding.counts import ExpansionFailed
from ...solver.expanding.ranks import on_nodes
from ...solver.layout.bundle import Allowed, line_of, piece, unit, wholes
from ...solver.objectives import OBJECTIVES
from ...solver.searching.standing import errors

MOST_LOOKED_AT = 4096
"""Pairs of ranges that are looked at by counting, at most."""
MOST_PLACED = 16
"""Pairs of ranges around which all else is placed, at most."""


Ranges = tuple[int, int]
"""(first resource rank of the outer range, resources of it before the inner one begins)."""


def with_one_order(place: Solve) -> Solve:
    """How a problem is placed whose pairs `Job.in_step` are in one order of ranks where they share accelerators, given how any is.

    Both are ranges whose processes may lie in any order, so only pins bring the two out of one. A placement that has them so is put in
    order where it stands, if that can be; else both are given other ranges, and all else is placed around these. Where all ranges are
    looked at and none will do, nothing is possible. Of the objective no more is proved than without the order.
    Source: ROLL, roll/third_party/megatron/model_update.py and roll/third_party/fsdp2/model_update.py: rank k of training hands its
    weights to whom it meets at its place of the range.
    """

    def answer(problem: Problem) -> Answer:
        found = place(problem)
        if found.plan is None or not problem.job.in_step:
            return found
        pairs = [pair for pair in _met(problem, found.plan.assignment) if _is_out(problem, pair, found.plan.assignment)]
        if len(pairs) != 1 or not _is_open(problem, pairs[0]):
            return found
        return _in_order(problem, found, found.plan, PairOfRanges.of(problem, pairs[0], found.plan.assignment), place)

    return answer


def _in_order(problem: Problem, found: Answer, plan: Plan, pair: PairOfRanges, place: Solve) -> Answer:
    """The answer with the pair in one order of ranks."""
    chosen = replace(problem, job=replace(problem.job, choices={}, components=tuple(
        replace(each, parallel=plan.degrees.get(each.name, each.parallel)) for each in problem.components
    )))  # fmt: skip
    exact, tried = pair.is_counted, 0
    for number, ranges in enumerate(pair.every()):
        if number > MOST_LOOKED_AT or tried > MOST_PLACED:
            exact = False
            break
        if not pair.is_whole(ranges[1]):
            exact = False
            continue
        runs = pair.runs(ranges)
        if runs is None:
            continue
        if ranges == pair.now:
            assignment = Assignment({**plan.assignment.runs, **runs})
            if not errors(check(chosen, assignment)):
                return _answered(chosen, found, plan, assignment)
        tried += 1
        beside = place(_with(chosen, runs))
        if beside.plan is not None:
            return _answered(chosen, found, plan, beside.plan.assignment)
        exact = exact and beside.verdict == IMPOSSIBLE
    names = f"`{pair.outer.name}` and `{pair.inner.name}`"
    if exact:
        message = f"impossible: no ranges of {names} have their ranks in one order where they share accelerators, as their pins ask for"
        return Answer(IMPOSSIBLE, findings=(error("PW601", pair.inner.name, message, help="pin both alike, or fewer ranks"),), how="search")
    where = f"the ranks of {names} are in one order where they share accelerators"
    message = f"undecided: no placement was found in which {where}: not all are searched"
    return Answer(UNDECIDED, findings=(error("PW602", pair.inner.name, message, help="pin both alike, or fewer ranks"),), how="search")


def _answered(chosen: Problem, found: Answer, plan: Plan, assignment: Assignment) -> Answer:
    """The answer with another placement; what was proved of any placement holds of those in order too."""
    named = {term.name: term for term in OBJECTIVES}
    terms = tuple(replace(each, value=named[each.name].value(chosen, assignment)) for each in plan.terms)
    whole = replace(plan, assignment=assignment, terms=terms)
    whole = replace(whole, status=OPTIMAL if whole.objective <= whole.bound else FEASIBLE)
    return replace(found, verdict=whole.status, plan=whole)


def _with(problem: Problem, runs: Mapping[str, tuple[Run, ...]]) -> Problem:
    """The problem with these components at these ranks."""
    components = tuple(replace(each, runs=runs.get(each.name, each.runs)) for each in problem.components)
    return replace(problem, job=replace(problem.job, components=components))


def _met(problem: Problem, placed: Assignment) -> Iterator[tuple[str, str]]:
    """The pairs in step that share accelerators in a placement."""
    for one, other in sorted(problem.job.in_step):
        if placed.of(one) and placed.of(other) and placed.accelerators(one) & placed.accelerators(other):
            yield one, other


def _is_open(problem: Problem, pair: tuple[str, str]) -> bool:
    """Are both ranges of the whole cluster that are searched, with nothing but pins and single groups said of their places?"""
    parts = [problem[name] for name in pair]
    if any(each.runs is not None or not each.contiguous or not each.any_order or each.stride > 1 for each in parts):
        return False
    return all(problem.range_in(each) == each.node_groups == (CLUSTER_LABEL,) for each in parts) and not wholes(problem, parts)


def _is_out(problem: Problem, pair: tuple[str, str], placed: Assignment) -> bool:
    """Is a rank of the one, where both are, not at the same place in the order of the other?"""
    numbering = problem.cluster.numbering(problem.range_in(problem[pair[0]]))
    one, other = (resources(numbering, placed, name) for name in pair)
    away = min(one) - min(other)
    return any(0 <= place + away < len(other) and other[place + away] != rank for place, rank in enumerate(one))


@dataclass(frozen=True)
class PairOfRanges:
    """The outer range, the inner one, and where both are in the placement that was found."""

    problem: Problem
    outer: Component
    inner: Component
    sizes: tuple[int, int]
    now: Ranges
    step: int
    numbering: Numbering

    @staticmethod
    def of(problem: Problem, names: tuple[str, str], placed: Assignment) -> PairOfRanges:
        """The pair as it is in a placement, the larger one outside."""
        numbering = problem.cluster.numbering(problem.range_in(problem[names[0]]))
        firsts = {name: min(resources(numbering, placed, name)) for name in names}
        outer, inner = sorted(names, key=lambda name: (-placed.held(name), name))
        sizes, step = (placed.held(outer), placed.held(inner)), problem[names[1]].per_process
        return PairOfRanges(problem, problem[outer], problem[inner], sizes, (firsts[outer], firsts[inner] - firsts[outer]), step, numbering)

    @property
    def is_counted(self) -> bool:
        """Are both sizes decided, and do nodes, pins and whole groups alone say which orders of ranks will do?"""
        named = {each.name: each for part in (self.outer, self.inner) for each in line_of(self.problem, part)}
        line, in_place = tuple(named.values()), {name for relation in self.problem.related(ZERO_COPY) for name in relation.components}
        if self.problem.job.choices or in_place & named.keys() or piece(self.problem, line) > 1 or wholes(self.problem, line):
            return False
        return all((each.least, each.most) == (size, size) for each, size in zip((self.outer, self.inner), self.sizes))

    def every(self) -> Iterator[Ranges]:
        """All places of both ranges, those of the placement first."""
        outer, inner = self.sizes
        rest = outer - inner
        yield self.now
        for first in filter(self._is_free, range(self.numbering.size - outer + 1)):
            for before in range(rest + 1):
                if before % self.step == rest % self.step == 0 and (first, before) != self.now:
                    yield first, before

    def _is_free(self, first: int) -> bool:
        """Is there nothing in the outer range from there on that neither may use?"""
        nodes = self.problem.cluster.nodes
        pieces = self.numbering.pieces(first, first + self.sizes[0])
        return all(
            its.node_rank not in self.outer.excluded
            and nodes[its.node_rank].free(ACCELERATOR) >> start & (1 << count) - 1 == (1 << count) - 1
            for its, start, count in pieces
        )

    def is_whole(self, before: int) -> bool:
        """Do groups of the outer range end where the inner one begins and ends?"""
        size = unit(self.problem, line_of(self.problem, self.outer))
        return before % size == 0 and self.sizes[1] % size == 0

    def runs(self, ranges: Ranges) -> dict[str, tuple[Run, ...]] | None:
        """Both components in these ranges, with one order of ranks; None where pins, or groups that nodes would cut, are in the way."""
        (first, before), (count, inner) = ranges, self.sizes
        ids, inside = range(first, first + count), range(before, before + inner)
        around, within = (line_of(self.problem, each) for each in (self.outer, self.inner))
        pins = _pins(around)
        for position, nodes in _pins(within).items():
            pins[before + position] = pins.get(before + position, nodes) & nodes
        beside = [position for position in range(count) if position not in inside]
        both, alone = unit(self.problem, (*around, *within)), unit(self.problem, around)
        shared = _seated(self.numbering, [ids[position] for position in inside], [pins.get(position) for position in inside], both)
        rest = _seated(self.numbering, [ids[position] for position in beside], [pins.get(position) for position in beside], alone)
        if shared is None or rest is None:
            return None
        return {
            self.outer.name: self._cut(self.outer, [*rest[:before], *shared, *rest[before:]]),
            self.inner.name: self._cut(self.inner, shared),
        }

    def _cut(self, component: Component, order: list[int]) -> tuple[Run, ...]:
        """The runs of a component on these resource ranks, in the order of its ranks."""
        size, held = component.per_process, [_seat(self.numbering, rank) for rank in order]
        return compress((rank, held[rank * size : (rank + 1) * size]) for rank in range(len(held) // size))


def resources(numbering: Numbering, placed: Assignment, name: str) -> list[int]:
    """The resource ranks of a component in the order of its ranks."""
    return [numbering.first[node] + index for _, its in seats(placed.of(name)) for (node, index), _, _ in its]


def _pins(line: Iterable[Component]) -> dict[int, Allowed]:
    """Place in the order of the resources of components with one order of ranks -> the nodes that it may be on."""
    found: dict[int, Allowed] = {}
    for component, pin in ((each, pin) for each in line for pin in each.pins):
        for place in range(pin.ranks.start * component.per_process, pin.ranks.stop * component.per_process):
            found[place] = found.get(place, frozenset(pin.nodes)) & frozenset(pin.nodes)
    return found


def _seated(numbering: Numbering, ids: Sequence[int], asked: Sequence[Allowed | None], size: int) -> list[int] | None:
    """These resource ranks in an order in which each is on the nodes that are asked for at its place; None if there is none.

    Whole groups of `size` change places, each on one node.
    """
    pieces = [ids[start : start + size] for start in range(0, len(ids), size)]
    nodes = [{numbering.locate(rank)[0].node_rank for rank in piece} for piece in pieces]
    if len(ids) % size or any(len(its) > 1 for its in nodes):
        return None
    pinned: dict[int, Allowed] = {}
    for place, allowed in enumerate(asked):
        if allowed is not None:
            pinned[place // size] = pinned.get(place // size, allowed) & allowed
    try:
        order = on_nodes(pinned, [min(its) for its in nodes], range(len(pieces)), range(len(pieces)))
    except ExpansionFailed:
        return None
    return [rank for _, position in sorted(order.items()) for rank in pieces[position]]


def _seat(numbering: Numbering, rank: int) -> Seat:
    """The node and the local index of a resource rank."""
    stretch, index = numbering.locate(rank)
    return stretch.node_rank, index
