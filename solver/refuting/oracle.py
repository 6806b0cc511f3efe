"""Whether a question is possible: by a sum, by packing, by a greedy answer, by a search.

What finds room here has room: it is an answer, only written by kinds of nodes. What finds none may still have some.

Each next way is asked only where the one before could not tell. A search is never believed at its word: what it finds is
checked, and that it finds nothing is asked again before it is shown (or-tools 5274, 5295).
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
from ..unsearched import not_searched
from .census import Census, Question, Row
from .certificate import row_of

_BEYOND = (COLOCATED_OR_DISJOINT, SUBSET, IN_ORDER, NOT_FEWER, RANK_ALIGNED, ZERO_COPY, *BETWEEN_DOMAINS)
"""Relations of which this simple way knows nothing."""


LIMIT = 1.0
"""Deterministic seconds for one search."""
SEARCHES = 60
"""So many searches may be made for one explanation; questions that come after are left open."""
EXPLAINING = SEARCHES * LIMIT
"""Deterministic seconds that saying why something is impossible may take."""
SEED = 1
WRITTEN = 4096
"""Nodes of the answers that are written out, node by node, and checked for one explanation; the first one always is."""
MAX_OTHERS = 8
"""Of so many other sets of nodes the census is kept."""


def packs(question: Question) -> bool:
    """Was room found for everything that is searched? False too where a question has demands that are not looked at here."""
    if not looks(question):
        return False
    apart = any(_domain(bundle) for bundle in question.open)
    left = _Left(question, apart)
    order = sorted(question.open, key=lambda its: (-_piece(its), -its.unit, left.may(its).bit_count()))
    return all(left.place(bundle) for bundle in order)


def looks(question: Question) -> bool:
    """Has a question no demands but those that are looked at here?"""
    return _simple(question) and all(_plain(question, bundle) for bundle in question.open)


def _simple(question: Question) -> bool:
    """Has the question nothing but amounts, groups, and where they may be?"""
    problem = question.problem
    if problem.shares or problem.job.models or any(map(is_uneven, problem.components)) or any(problem.related(kind) for kind in _BEYOND):
        return False
    together = [{component.name for component in bundle.components} for bundle in question.bundles]
    if any(names.issuperset(relation.components) for relation in problem.related(DISJOINT) for names in together):
        return False
    fixed = any(bundle.fixed and len(bundle.components) > 1 for bundle in question.bundles)
    on_nodes = (c for c in problem.hinted if problem.kind(c) == NODE and (c.excluded or c.keep or c.spread))
    return not fixed and not any(on_nodes) and not any(c.pins or c.cpus or c.host_memory for c in problem.components)


def _plain(question: Question, bundle: Bundle) -> bool:
    """Is it counted, and held together or spread at one level of the topology at most?"""
    for component in bundle.components:
        for keep in component.keep:
            if keep.required and keep.what == WHOLE and (keep.domains > 1 or component.least < component.most):
                return False
    levels = _levels(bundle)
    ordered = question.problem.job.capabilities.nodes_in_order and bool(levels)
    counted = bundle.kind != NODE and not bundle.contiguous and bundle.piece == 1
    return counted and len(levels) <= 1 and levels <= set(LEVELS) and not ordered


def _levels(bundle: Bundle) -> set[str]:
    """The levels of the topology whose domains matter to a bundle."""
    return {level for level, _ in bundle.wholes} | {spread.level for component in bundle.components for spread in component.spread}


def _domain(bundle: Bundle) -> str:
    """The one level whose domains matter to it; "" if none does."""
    return "".join(_levels(bundle))


def _piece(bundle: Bundle) -> int:
    """Resources that must lie together."""
    return max(bundle.unit, *(size for _, size in bundle.wholes), 1)


class _Left:
    """What is left on the nodes while bundles are put on them."""

    def __init__(self, question: Question, apart: bool) -> None:
        self.question, self.census, self.apart = question, question.census, apart
        self.kinds = self.census.placed if apart else self.census.kinds
        resources = dict.fromkeys(bundle.kind for bundle in question.open)
        self.free = {kind: [{its.free.get(kind, 0): its.count} for its in self.kinds] for kind in resources}
        masks = [self.may(bundle) for bundle in question.open]
        self._wanted = [sum(mask >> index & 1 for mask in masks) for index in range(len(self.kinds))]

    def may(self, bundle: Bundle) -> int:
        """Which kinds of nodes the bundle may use."""
        return self.census.may_placed(bundle.components) if self.apart else self.census.may(bundle.components)

    def place(self, bundle: Bundle) -> bool:
        """Take the room of the fewest units that satisfy a bundle; False if there is too little."""
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
        inside = [self._indices(mask & its) for its in self.census.places[level].values() if mask & its]
        rooms = [(min(most, self._room(bundle, its)) // piece * piece, its) for its in inside]
        rooms.sort(key=lambda its: -its[0])
        # One piece in each of as many domains as it must lie in, then the rest where most has room.
        least = max((spread.domains for spread in spreads), default=1)
        takes = [piece if number < least and room and need >= piece * least else 0 for number, (room, _) in enumerate(rooms)]
        if sum(take > 0 for take in takes) < least:
            return False
        left = need - sum(takes)
        for number, (room, _) in enumerate(rooms):
            more = min(room - takes[number], left) // piece * piece
            takes[number] += more
            left -= more
        return left == 0 and all(self._take(bundle, its, take) == 0 for take, (_, its) in zip(takes, rooms))

    @staticmethod
    def _most(bundle: Bundle, spread: Spread, need: int) -> int:
        """The units that one domain may hold, by the member with the largest groups."""
        size = max(component.group_size for component in bundle.components)
        return -(-need * bundle.unit * spread.percent // (100 * size)) * size // bundle.unit

    def _indices(self, mask: int) -> list[int]:
        """The kinds in a mask, those that the fewest bundles may use first."""
        return sorted(_bits(mask), key=lambda index: (self._wanted[index], index))

    def _room(self, bundle: Bundle, indices: list[int]) -> int:
        free = self.free[bundle.kind]
        return sum(count * (left // bundle.unit) for index in indices for left, count in free[index].items())

    def _take(self, bundle: Bundle, indices: list[int], need: int) -> int:
        """Takes room on these kinds of nodes, the fullest nodes first; what is still needed."""
        for index in indices:
            free = self.free[bundle.kind][index]
            for left in sorted(free):
                each = left // bundle.unit
                if not each or not need:
                    continue
                whole = min(free[left], need // each)
                _move(free, left, left - each * bundle.unit, whole)
                need -= whole * each
                if need and free.get(left):
                    part = min(need, each)
                    _move(free, left, left - part * bundle.unit, 1)
                    need -= part
            if not need:
                return 0
        return need


def _move(free: dict[int, int], before: int, after: int, nodes: int) -> None:
    """So many nodes have other room than before."""
    if nodes:
        free[before] -= nodes
        free[after] = free.get(after, 0) + nodes


def _bits(mask: int) -> Iterator[int]:
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest


class Verdict(Enum):
    """What is known of a question."""

    POSSIBLE = "possible"
    REFUTED = "refuted"
    OPEN = "open"


class Oracle:
    """Judges questions about one cluster, whose nodes it has counted.

    `searched` says whether a search had the last word on any of them, `undecided` whether one was left open.
    """

    def __init__(self, census: Census, solve: Solve, session: Session | None = None) -> None:
        self.census, self._solve, self.session = census, solve, session or Session()
        self._others: list[Census] = []
        self.searched = self.undecided = False
        self._searches = self._written = 0

    def judge(self, alternatives: Sequence[Problem]) -> Verdict:
        """Possible if one of the alternatives is, refuted if all are."""
        left: list[Problem] = []
        for problem in alternatives:
            question = Question(problem, self._census(problem))
            if row_of(question) is None:
                if packs(question):
                    return Verdict.POSSIBLE
                left.append(problem)
        verdict = Verdict.REFUTED
        for problem in left:
            verdict = self._sought(problem)
            if verdict is Verdict.POSSIBLE:
                return verdict
            if verdict is Verdict.OPEN:
                self.undecided = True
                return verdict
        return verdict

    def solved(self, alternatives: Sequence[Problem]) -> bool:
        """Was an answer to one of the alternatives found, and did it pass every check?

        Answers on very many nodes take long to write out: after the first ones it is enough that there is room for everything.
        """
        self._written += sum(len(problem.cluster.nodes) for problem in alternatives[:1])
        if self._written > WRITTEN and self._written > len(alternatives[0].cluster.nodes):
            return self.judge(alternatives) is Verdict.POSSIBLE
        return any(self.row(problem) is None and self._sought(problem) is Verdict.POSSIBLE for problem in alternatives)

    def confirmed(self, alternatives: Sequence[Problem]) -> bool:
        """Is each alternative refuted by a sum, or by a search that does without presolve?"""
        return all(self.row(problem) is not None or self._searched(problem, presolve=False) is Verdict.REFUTED for problem in alternatives)

    def row(self, problem: Problem) -> Row | None:
        """A sum that refutes a question, if there is one."""
        return row_of(Question(problem, self._census(problem)))

    def _census(self, problem: Problem) -> Census:
        """The census of the question: that of all, unless it has other nodes or other given parts."""
        for census in (self.census, *self._others):
            if census.is_of(problem):
                return census
        self._others = [*self._others[-MAX_OTHERS + 1 :], Census(problem)]
        return self._others[-1]

    def _sought(self, problem: Problem) -> Verdict:
        if not_searched(problem):
            return Verdict.OPEN
        layout = Layout(problem)
        values = greedy(layout)
        if values is not None:
            try:
                assignment = expand(layout, values, self._solve)
            except ExpansionFailed:  # a guess that does not fit; the search knows better
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
