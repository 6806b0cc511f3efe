"""Feasibility oracle: a sum, packing, a greedy answer, then a search.

A successful packing is an answer, written by kinds of nodes; a failed packing proves nothing. A
later method runs only if earlier ones are undecided. Searches are not trusted: answers are checked,
and infeasibility is confirmed by a second search before it is shown (or-tools 5274, 5295).
"""

from __future__ import annotations

from enum import Enum
from math import lcm
from typing import Iterator, Sequence

from ...models.answer import Solve
from ...models.component import BETWEEN_DOMAINS, COLOCATED_OR_DISJOINT, DISJOINT, IN_ORDER, NOT_FEWER, RANK_ALIGNED, SUBSET, ZERO_COPY
from ...models.findings.finding import Severity
from ...models.locality import WHOLE, Spread
from ...models.machines.node_group import NODE
from ...models.machines.topology import LEVELS
from ...models.placements.assignment import Assignment
from ...models.problem import Problem
from ..check import check
from ..expanding.counts import ExpansionFailed
from ..expanding.expand import expand
from ..greedy import greedy
from ..layout.bundle import Bundle
from ..layout.layout import Layout, is_uneven
from ..layout.ranges import refutable
from ..session import Session
from ..unsearched import unsupported
from .census import Census, CountingProblem, CountingRow
from .certificate import row_of

_BEYOND = (COLOCATED_OR_DISJOINT, SUBSET, IN_ORDER, NOT_FEWER, RANK_ALIGNED, ZERO_COPY, *BETWEEN_DOMAINS)
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
MAX_OTHERS = 8
"""Number of additional censuses in the cache."""


def can_pack(question: CountingProblem) -> bool:
    """Return True if all searched components were packed; False for unsupported demands too."""
    if not is_in_packing_scope(question):
        return False
    apart = any(_domain(bundle) for bundle in question.open)
    left = _Left(question, apart)
    order = sorted(question.open, key=lambda bundle: (-_piece(bundle), -bundle.unit, left.may(bundle).bit_count()))
    return all(left.place(bundle) for bundle in order)


def is_in_packing_scope(question: CountingProblem) -> bool:
    """Return True if packing covers all demands of the question."""
    return _simple(question) and all(_plain(question, bundle) for bundle in question.open)


def _simple(question: CountingProblem) -> bool:
    """Return True if all relations and per-node demands are in the scope of packing."""
    problem = question.problem
    if problem.shares or problem.job.models or any(map(is_uneven, problem.components)) or any(problem.related(kind) for kind in _BEYOND):
        return False
    together = [{component.name for component in bundle.components} for bundle in question.bundles]
    if any(names.issuperset(relation.components) for relation in problem.related(DISJOINT) for names in together):
        return False
    fixed = any(bundle.fixed and len(bundle.components) > 1 for bundle in question.bundles)
    on_nodes = (
        component
        for component in problem.hinted
        if problem.kind(component) == NODE and (component.excluded or component.keep or component.spread)
    )
    return (
        not fixed
        and not any(on_nodes)
        and not any(component.pins or component.cpus or component.host_memory for component in problem.components)
    )


def _plain(question: CountingProblem, bundle: Bundle) -> bool:
    """Return True if the bundle is counted and bound to one topology level at most."""
    for component in bundle.components:
        for keep in component.keep:
            if keep.required and keep.what == WHOLE and (keep.domains > 1 or component.least < component.most):
                return False
    levels = _levels(bundle)
    ordered = question.problem.job.capabilities.nodes_in_order and bool(levels)
    counted = bundle.kind != NODE and not bundle.contiguous and bundle.piece == 1
    return counted and len(levels) <= 1 and levels <= set(LEVELS) and not ordered


def _levels(bundle: Bundle) -> set[str]:
    """Return the topology levels relevant to a bundle."""
    return {level for level, _ in bundle.wholes} | {spread.level for component in bundle.components for spread in component.spread}


def _domain(bundle: Bundle) -> str:
    """Return the single level relevant to the bundle; "" without any."""
    return "".join(_levels(bundle))


def _piece(bundle: Bundle) -> int:
    """Return the resources of a bundle that must lie together."""
    return max(bundle.unit, *(size for _, size in bundle.wholes), 1)


class _Left:
    """Remaining capacity while bundles are packed."""

    def __init__(self, question: CountingProblem, apart: bool) -> None:
        self.question, self.census, self.apart = question, question.census, apart
        self.kinds = self.census.placed if apart else self.census.kinds
        resources = dict.fromkeys(bundle.kind for bundle in question.open)
        self.free = {kind: [{node_kind.free.get(kind, 0): node_kind.count} for node_kind in self.kinds] for kind in resources}
        masks = [self.may(bundle) for bundle in question.open]
        self._wanted = [sum(mask >> index & 1 for mask in masks) for index in range(len(self.kinds))]

    def may(self, bundle: Bundle) -> int:
        """Return the mask of node kinds open to the bundle."""
        return self.census.may_placed(bundle.components) if self.apart else self.census.may(bundle.components)

    def place(self, bundle: Bundle) -> bool:
        """Take capacity for the smallest feasible amount; False if there is too little."""
        step = lcm(bundle.unit, _piece(bundle), *(component.step for component in bundle.components)) // bundle.unit
        need = -(-bundle.least // step) * step
        if need > bundle.most:
            return False
        level, mask = _domain(bundle), self.may(bundle)
        if not level:
            return self._take(bundle, self._indices(mask), need) == 0
        return self._over_domains(bundle, level, mask, need)

    def _over_domains(self, bundle: Bundle, level: str, mask: int, need: int) -> bool:
        piece = _piece(bundle) // bundle.unit
        spreads = [spread for component in bundle.components for spread in component.spread]
        most = min((self._most(bundle, spread, need) for spread in spreads), default=need)
        domain_indices = [self._indices(mask & domain_mask) for domain_mask in self.census.places[level].values() if mask & domain_mask]
        capacities = [(min(most, self._room(bundle, indices)) // piece * piece, indices) for indices in domain_indices]
        capacities.sort(key=lambda entry: -entry[0])
        # A piece in as many domains as required, then the rest where capacity is largest.
        least = max((spread.domains for spread in spreads), default=1)
        takes = [piece if number < least and capacity and need >= piece * least else 0 for number, (capacity, _) in enumerate(capacities)]
        if sum(take > 0 for take in takes) < least:
            return False
        left = need - sum(takes)
        for number, (capacity, _) in enumerate(capacities):
            more = min(capacity - takes[number], left) // piece * piece
            takes[number] += more
            left -= more
        return left == 0 and all(self._take(bundle, indices, take) == 0 for take, (_, indices) in zip(takes, capacities))

    @staticmethod
    def _most(bundle: Bundle, spread: Spread, need: int) -> int:
        """Return the units permitted in a domain, by the member with the largest groups."""
        size = max(component.group_size for component in bundle.components)
        return -(-need * bundle.unit * spread.percent // (100 * size)) * size // bundle.unit

    def _indices(self, mask: int) -> list[int]:
        """Return the kinds in a mask, least wanted first."""
        return sorted(_bits(mask), key=lambda index: (self._wanted[index], index))

    def _room(self, bundle: Bundle, indices: list[int]) -> int:
        free = self.free[bundle.kind]
        return sum(count * (left // bundle.unit) for index in indices for left, count in free[index].items())

    def _take(self, bundle: Bundle, indices: list[int], need: int) -> int:
        """Take capacity on these kinds, fullest nodes first; return the units not placed."""
        for index in indices:
            free = self.free[bundle.kind][index]
            for left in sorted(free):
                per_node = left // bundle.unit
                if not per_node or not need:
                    continue
                whole = min(free[left], need // per_node)
                _move(free, left, left - per_node * bundle.unit, whole)
                need -= whole * per_node
                if need and free.get(left):
                    part = min(need, per_node)
                    _move(free, left, left - part * bundle.unit, 1)
                    need -= part
            if not need:
                return 0
        return need


def _move(free: dict[int, int], before: int, after: int, nodes: int) -> None:
    """Change the free capacity of some nodes."""
    if nodes:
        free[before] -= nodes
        free[after] = free.get(after, 0) + nodes


def _bits(mask: int) -> Iterator[int]:
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest


class Verdict(Enum):
    """Result of a test."""

    POSSIBLE = "possible"
    REFUTED = "refuted"
    OPEN = "open"


class Oracle:
    """Judge of questions about a cluster with counted nodes.

    `searched` is True if a search decided some question, `undecided` if some question stayed open.
    """

    def __init__(self, census: Census, solve: Solve, session: Session | None = None) -> None:
        self.census, self._solve, self.session = census, solve, session or Session()
        self._more_censuses: list[Census] = []
        self.searched = self.undecided = False
        self._searches = self._written = 0

    def judge(self, alternatives: Sequence[Problem]) -> Verdict:
        """Return POSSIBLE if an alternative is possible, REFUTED if all are refuted."""
        left: list[Problem] = []
        for problem in alternatives:
            question = CountingProblem(problem, self._census(problem))
            if row_of(question) is None:
                if can_pack(question):
                    return Verdict.POSSIBLE
                left.append(problem)
        verdict = Verdict.REFUTED
        for problem in left:
            verdict = self._by_answer(problem)
            if verdict is Verdict.POSSIBLE:
                return verdict
            if verdict is Verdict.OPEN:
                self.undecided = True
                return verdict
        return verdict

    def solved(self, alternatives: Sequence[Problem]) -> bool:
        """Return True if an answer to an alternative was found and verified.

        Answers on very many nodes are slow to expand: after the first ones a packing suffices.
        """
        self._written += sum(len(problem.cluster.nodes) for problem in alternatives[:1])
        if self._written > WRITTEN and self._written > len(alternatives[0].cluster.nodes):
            return self.judge(alternatives) is Verdict.POSSIBLE
        return any(self.row(problem) is None and self._by_answer(problem) is Verdict.POSSIBLE for problem in alternatives)

    def confirmed(self, alternatives: Sequence[Problem]) -> bool:
        """Return True if a sum or a search without presolve refutes every alternative."""
        return all(self.row(problem) is not None or self._searched(problem, presolve=False) is Verdict.REFUTED for problem in alternatives)

    def row(self, problem: Problem) -> CountingRow | None:
        """Return a sum that refutes the problem, or None."""
        return row_of(CountingProblem(problem, self._census(problem)))

    def _census(self, problem: Problem) -> Census:
        """Return a cached census of the problem's nodes and explicit components."""
        for census in (self.census, *self._more_censuses):
            if census.is_of(problem):
                return census
        self._more_censuses = [*self._more_censuses[-MAX_OTHERS + 1 :], Census(problem)]
        return self._more_censuses[-1]

    def _by_answer(self, problem: Problem) -> Verdict:
        if unsupported(problem):
            return Verdict.OPEN
        layout = Layout(problem)
        values = greedy(layout)
        if values is not None:
            try:
                assignment = expand(layout, values, self._solve)
            except ExpansionFailed:  # a heuristic answer that does not fit; the search decides
                pass
            else:
                if _holds(problem, assignment):
                    return Verdict.POSSIBLE
        return self._searched(problem, presolve=True)

    def _searched(self, problem: Problem, presolve: bool) -> Verdict:
        self._searches += 1
        if self._searches > SEARCHES:
            return Verdict.OPEN
        self.session.must_search()
        from ..compile import compile
        from ..model.engine import Status, run
        from ..patterns.applies import pays
        from ..patterns.master import possible

        layout = Layout(problem)
        outcome = possible(layout, LIMIT, SEED, presolve) if pays(layout, ()) else None
        if outcome is None:
            variables = compile(problem, minimise=False)
            layout, outcome = variables.layout, run(variables, LIMIT, SEED, presolve)
        if outcome.values is not None:
            return Verdict.POSSIBLE if _holds(problem, expand(layout, outcome.values, self._solve)) else Verdict.OPEN
        if outcome.status is Status.INFEASIBLE and refutable(layout):
            self.searched = True
            return Verdict.REFUTED
        return Verdict.OPEN


def _holds(problem: Problem, assignment: Assignment) -> bool:
    return not any(finding.severity is Severity.ERROR for finding in check(problem, assignment))
