"""All rules against one Assignment of a problem after the other: what they are about is asked once, and what they say of the same runs."""

from __future__ import annotations

from typing import Any, Container, Iterator, Sequence

from placewright.models.component import Component
from placewright.models.findings.finding import Finding, Severity
from placewright.models.placements.assignment import Assignment
from placewright.models.placements.run import Run
from placewright.models.problem import Problem
from placewright.models.record import replace
from placewright.solver.rule import Rule
from placewright.solver.rules import RULES
from placewright.solver.rules.no_overlap import NoOverlap

from .combined import Heard

Codes = frozenset[str]
PATIENCE = 20
"""Assignments in turn, about each of which a rule looks at all components, before it is taken to always do."""


class Judge:
    """What `check` says of Assignments that have the same components, but for warnings."""

    def __init__(self, problem: Problem) -> None:
        self._asked = [_Asked(problem, rule, subject) for rule in RULES for subject in rule.subjects(problem)]

    def refuses(self, assignment: Assignment, but: Container[str] = ()) -> bool:
        """Has any rule an error against it, but for rules of these codes? The one that had the last is asked first."""
        for number, asked in enumerate(self._asked):
            if any(code not in but for code in asked.errors(assignment)):
                self._asked.insert(0, self._asked.pop(number))
                return True
        return False

    def codes(self, assignment: Assignment) -> Codes:
        """The codes of all errors against it. Of Assignments whose runs are the same objects, each rule is asked once about those it looks at."""
        return frozenset().union(*[asked.codes(assignment) for asked in self._asked])

    def codes_of(self, name: str, assignment: Assignment) -> Codes:
        """The codes of errors against one component whatever the others do: the rules that have them look at nothing else."""
        heard = [asked.heard(assignment) for asked in self._asked]
        return frozenset().union(*[codes for names, codes in heard if names <= {name}])


class _Asked:
    """One rule about one subject. What it said holds for every Assignment that has the same runs where it looked."""

    def __init__(self, problem: Problem, rule: Rule[Any], subject: Any) -> None:
        self._problem, self._rule, self._subject = problem, _Overlap() if type(rule) is NoOverlap else rule, subject
        self._said: dict[tuple[str, ...], dict[tuple[int, ...], tuple[Codes, list[Sequence[Run]]]]] = {}
        """Where it looked -> the identities of the runs there -> what it said, and these runs, so that no others get their identities."""
        self._in_vain = 0
        """How often in turn it looked everywhere; where that is its way, nobody listens any more."""

    def errors(self, assignment: Assignment) -> Iterator[str]:
        """The code of each of its errors."""
        found = self._rule.check(self._problem, self._subject, assignment)
        return (finding.code for finding in found if finding.severity is Severity.ERROR)

    def codes(self, assignment: Assignment) -> Codes:
        """The codes of its errors, as it was heard before where that can be known."""
        runs = assignment.runs
        for names, said in self._said.items():
            known = said.get(tuple([id(runs[name]) for name in names]))
            if known is not None:
                return known[0]
        if self._in_vain == PATIENCE:
            return frozenset(self.errors(assignment))
        looked, codes = self.heard(assignment)
        names = tuple(sorted(looked))
        self._in_vain += 1
        if len(names) < len(runs):  # else it is never asked about the same again
            self._in_vain = 0
            its = [runs[name] for name in names]
            self._said.setdefault(names, {})[tuple(map(id, its))] = codes, its
        return codes

    def heard(self, assignment: Assignment) -> tuple[set[str], Codes]:
        """The components that it looked at, and the codes of its errors."""
        heard = Heard(assignment.runs)
        codes = frozenset(self.errors(replace(assignment, runs=heard)))
        return heard.names & assignment.runs.keys(), codes


class _Overlap(NoOverlap):
    """The rule that looks at all components of every Assignment: what it finds in the runs of one alone is found once."""

    def __init__(self) -> None:
        super().__init__()
        self._found: dict[tuple[str, str, int], tuple[list[Finding], Sequence[Run]]] = {}

    def _exists(self, problem: Problem, component: Component, assignment: Assignment) -> Iterator[Finding]:
        return self._once("exists", component, assignment, super()._exists(problem, component, assignment))

    def _within(self, component: Component, assignment: Assignment) -> Iterator[Finding]:
        return self._once("within", component, assignment, super()._within(component, assignment))

    def _once(self, what: str, component: Component, assignment: Assignment, findings: Iterator[Finding]) -> Iterator[Finding]:
        runs = assignment.of(component.name)
        key = what, component.name, id(runs)
        if key not in self._found:
            self._found[key] = list(findings), runs
        return iter(self._found[key][0])
