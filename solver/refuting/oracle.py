"""Feasibility oracle: a sum, packing, a greedy answer, then an enumeration or a search.

A successful packing is an answer, written by kinds of nodes; a failed packing proves nothing. A
later method runs only if earlier ones are undecided. Searches are not trusted: answers are checked,
and infeasibility is confirmed by a second search before it is shown (or-tools 5274, 5295).
"""

from __future__ import annotations

from enum import Enum
from math import lcm
from typing import Sequence

from ...models.component import COLOCATED, DISJOINT, RELATION_KINDS, WHOLE, Spread
from ...models.machines.node_group import NODE
from ...models.machines.topology import LEVELS
from ...models.problem import Problem
from ..enumeration import place, small_combinations
from ..greedy import greedy
from ..layout.bundle import Bundle
from ..layout.layout import Layout, is_uneven
from ..layout.parts import bits
from ..layout.ranges import refutable
from ..search_scope import find_unsupported
from ..session import Session
from .census import Census, CountingProblem, CountingRow
from .certificate import row_of

_BEYOND = tuple(kind for kind in RELATION_KINDS if kind not in (COLOCATED, DISJOINT))
"""Relations outside the scope of packing."""
LIMIT = 1.0
"""Deterministic seconds of a search."""
SEARCHES = 60
"""Largest number of searches per explanation; later questions stay open."""
EXPLAINING = SEARCHES * LIMIT
"""Deterministic seconds of an explanation."""
SEED = 1
WRITTEN = 4096
"""Budget of nodes in expanded and checked answers per explanation; the first answer is free."""


def can_pack(question: CountingProblem) -> bool:
    """Return True if all searched components were packed; False for unsupported demands too."""
    if not _is_in_scope(question):
        return False
    packing = _Packing(question)
    order = sorted(question.open, key=lambda bundle: (-_piece(bundle), -bundle.unit, packing.masks[bundle].bit_count()))
    return all(packing.place(bundle) for bundle in order)


def _is_in_scope(question: CountingProblem) -> bool:
    """Return True if packing covers all demands of the question."""
    problem = question.problem
    if (
        problem.shares
        or problem.job.models
        or any(map(is_uneven, problem.components))
        or any(problem.find_relations(kind) for kind in _BEYOND)
    ):
        return False
    name_sets = [{component.name for component in bundle.components} for bundle in question.bundles]
    if any(names.issuperset(relation.components) for relation in problem.find_relations(DISJOINT) for names in name_sets):
        return False
    on_nodes = (component for component in problem.hinted if problem.kind(component) == NODE)
    return not (
        any(bundle.fixed and len(bundle.components) > 1 for bundle in question.bundles)
        or any(component.excluded or component.keep or component.spread for component in on_nodes)
        or any(component.pins or component.cpus or component.host_memory for component in problem.components)
    ) and all(_is_plain(problem, bundle) for bundle in question.open)


def _is_plain(problem: Problem, bundle: Bundle) -> bool:
    """Return True if the bundle is counted and bound to one topology level at most."""
    for component in bundle.components:
        for keep in component.keep:
            if keep.required and keep.unit == WHOLE and (keep.domains > 1 or component.least < component.most):
                return False
    levels = _levels(bundle)
    is_counted = bundle.kind != NODE and not bundle.contiguous and bundle.piece == 1
    return is_counted and len(levels) <= 1 and levels <= set(LEVELS) and not (levels and problem.job.capabilities.nodes_in_order)


def _levels(bundle: Bundle) -> set[str]:
    """Return the topology levels relevant to a bundle."""
    return {level for level, _ in bundle.wholes} | {spread.level for component in bundle.components for spread in component.spread}


def _piece(bundle: Bundle) -> int:
    """Return the resources of a bundle that must lie together."""
    return max(bundle.unit, *(size for _, size in bundle.wholes), 1)


class _Packing:
    """Remaining capacity: resource -> per kind of nodes, free resources -> number of nodes."""

    def __init__(self, question: CountingProblem) -> None:
        self.census, by_domain = question.census, any(map(_levels, question.open))
        kinds = self.census.placed if by_domain else self.census.kinds
        may = self.census.may_placed if by_domain else self.census.may
        self.masks = {bundle: may(bundle.components) for bundle in question.open}
        self.free = {
            resource: [{kind.count_unused(resource): kind.count} for kind in kinds] for resource in {bundle.kind for bundle in self.masks}
        }
        self._wanted = [sum(mask >> index & 1 for mask in self.masks.values()) for index in range(len(kinds))]

    def place(self, bundle: Bundle) -> bool:
        """Take capacity for the smallest feasible amount; False if there is too little."""
        step = lcm(bundle.unit, _piece(bundle), *(component.step for component in bundle.components)) // bundle.unit
        need = -(-bundle.least // step) * step
        if need > bundle.most:
            return False
        if levels := _levels(bundle):
            return self._over_domains(bundle, min(levels), need)
        return self._take(bundle, self._indices(self.masks[bundle]), need) == 0

    def _over_domains(self, bundle: Bundle, level: str, need: int) -> bool:
        """Take one piece per required domain, then the rest where capacity is largest."""
        piece, mask = _piece(bundle) // bundle.unit, self.masks[bundle]
        spreads = [spread for component in bundle.components for spread in component.spread]
        most = min((_most(bundle, spread, need) for spread in spreads), default=need)
        domains = [self._indices(mask & inner) for inner in self.census.places[level].values() if mask & inner]
        fits = [(min(most, self._capacity(bundle, indices)) // piece * piece, indices) for indices in domains]
        fits.sort(key=lambda entry: -entry[0])
        fewest = max((spread.domains for spread in spreads), default=1)
        takes = [piece if number < fewest and capacity and need >= piece * fewest else 0 for number, (capacity, _) in enumerate(fits)]
        if sum(take > 0 for take in takes) < fewest:
            return False
        remaining = need - sum(takes)
        for number, (capacity, _) in enumerate(fits):
            more = min(capacity - takes[number], remaining) // piece * piece
            takes[number] += more
            remaining -= more
        return remaining == 0 and all(self._take(bundle, indices, take) == 0 for take, (_, indices) in zip(takes, fits))

    def _indices(self, mask: int) -> list[int]:
        """Return the kinds in a mask, least wanted first."""
        return sorted(bits(mask), key=lambda index: (self._wanted[index], index))

    def _capacity(self, bundle: Bundle, indices: list[int]) -> int:
        free = self.free[bundle.kind]
        return sum(count * (amount // bundle.unit) for index in indices for amount, count in free[index].items())

    def _take(self, bundle: Bundle, indices: list[int], need: int) -> int:
        """Take capacity on these kinds, fullest nodes first; return the units not placed."""
        for index in indices:
            free = self.free[bundle.kind][index]
            for amount in sorted(free):
                per_node = amount // bundle.unit
                whole = min(free[amount], need // per_node) if per_node else 0
                # A last node takes the rest.
                for nodes, units in ((whole, per_node), (min(1, free[amount] - whole), min(need - whole * per_node, per_node))):
                    if nodes and units:
                        free[amount] -= nodes
                        free[amount - units * bundle.unit] = free.get(amount - units * bundle.unit, 0) + nodes
                        need -= nodes * units
        return need


def _most(bundle: Bundle, spread: Spread, need: int) -> int:
    """Return the units permitted in a domain, by the member with the largest groups."""
    size = max(component.group_size for component in bundle.components)
    return -(-need * bundle.unit * spread.percent // (100 * size)) * size // bundle.unit


class Verdict(Enum):
    """Result of a test."""

    POSSIBLE = "possible"
    REFUTED = "refuted"
    OPEN = "open"


class Oracle:
    """Judge of questions about a cluster with counted nodes.

    `searched` is True if a search decided some question, `undecided` if some question stayed open.
    """

    def __init__(self, census: Census, session: Session | None = None) -> None:
        self.census, self.session = census, session or Session()
        self.searched = self.undecided = False
        self._searches = self._written = 0

    def judge(self, alternatives: Sequence[Problem]) -> Verdict:
        """Return POSSIBLE if an alternative is possible, REFUTED if all are refuted."""
        open_problems: list[Problem] = []
        for problem in alternatives:
            question = self._question(problem)
            if row_of(question) is None:
                if can_pack(question):
                    return Verdict.POSSIBLE
                open_problems.append(problem)
        for problem in open_problems:
            if (verdict := self._by_answer(problem)) is not Verdict.REFUTED:
                self.undecided = self.undecided or verdict is Verdict.OPEN
                return verdict
        return Verdict.REFUTED

    def is_solved(self, alternatives: Sequence[Problem]) -> bool:
        """Return True if an answer to an alternative was found and verified.

        Answers on very many nodes are slow to expand: after the first ones a packing suffices.
        """
        self._written += sum(len(problem.cluster.nodes) for problem in alternatives[:1])
        if self._written > WRITTEN and self._written > len(alternatives[0].cluster.nodes):
            return self.judge(alternatives) is Verdict.POSSIBLE
        return any(self.row(problem) is None and self._by_answer(problem) is Verdict.POSSIBLE for problem in alternatives)

    def is_confirmed(self, alternatives: Sequence[Problem]) -> bool:
        """Return True if a sum or a search without presolve refutes every alternative."""
        return all(self.row(problem) is not None or self._search(problem, presolve=False) is Verdict.REFUTED for problem in alternatives)

    def row(self, problem: Problem) -> CountingRow | None:
        """Return a sum that refutes the problem, or None."""
        return row_of(self._question(problem))

    def _question(self, problem: Problem) -> CountingProblem:
        return CountingProblem(problem, self.census if self.census.is_of(problem) else None)

    def _by_answer(self, problem: Problem) -> Verdict:
        if find_unsupported(problem):
            return Verdict.OPEN
        layout = Layout(problem)
        values = greedy(layout)
        if values is not None and place(layout, values) is not None:
            return Verdict.POSSIBLE
        return self._search(problem, presolve=True)

    def _search(self, problem: Problem, presolve: bool) -> Verdict:
        self._searches += 1
        if self._searches > SEARCHES:
            return Verdict.OPEN
        layout = Layout(problem)
        if (every := small_combinations(layout)) is not None:
            return Verdict.REFUTED if all(place(layout, values) is None for values in every) else Verdict.POSSIBLE
        self.session.must_search()
        from ..compile import compile
        from ..model.engine import Status, run
        from ..patterns.applicability import pays
        from ..patterns.master import Master, uses_of

        uses = uses_of(layout, ()) if pays(layout, ()) else None
        if uses and run(Master(uses), LIMIT, SEED, presolve).status is Status.INFEASIBLE:
            self.searched = True
            return Verdict.REFUTED
        outcome = run(compile(problem, layout), LIMIT, SEED, presolve)
        if outcome.values is not None:
            return Verdict.POSSIBLE if place(layout, outcome.values) is not None else Verdict.OPEN
        if outcome.status is Status.INFEASIBLE and refutable(layout):
            self.searched = True
            return Verdict.REFUTED
        return Verdict.OPEN
