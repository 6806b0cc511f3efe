"""Whether a question is possible at all: by a sum, by a first look, by a greedy answer, by a search without an objective.

Each next way is asked only where the one before could not tell. A search is never believed at its word: what it finds is
checked, and that it finds nothing is asked again before it is shown (or-tools 5274, 5295).
"""

from __future__ import annotations

from enum import Enum
from typing import Sequence

from ...models.answer import Solve
from ...models.findings.finding import Severity
from ...models.placements.assignment import Assignment
from ...models.problem import Problem
from ..check import check
from ..expanding.count_out import ExpansionFailed
from ..expanding.expand import expand
from ..greedy.greedy import greedy
from ..layout.layout import Layout
from ..layout.ranges.thinned import refutable
from ..model.permission import about_to_search
from ..unsearched.not_searched import not_searched
from .certificate import row_of
from .packing import packs
from .rows.census import Census
from .rows.question import Question
from .rows.row import Row

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


class Verdict(Enum):
    """What is known of a question."""

    POSSIBLE = "possible"
    REFUTED = "refuted"
    OPEN = "open"


class Oracle:
    """Judges questions about one cluster, whose nodes it has counted.

    `searched` says whether a search had the last word on any of them, `undecided` whether one was left open.
    """

    def __init__(self, census: Census, solve: Solve) -> None:
        self.census, self._solve = census, solve
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
        about_to_search()
        from ..compile import compile
        from ..model.engine import Status, run
        from ..patterns.applies import pays
        from ..patterns.possible import possible

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
