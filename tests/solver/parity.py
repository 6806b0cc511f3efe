"""Exhaustive parity: which values does CP-SAT accept, and which do the Assignments have that the checks accept?

The enumerator knows nothing: components are arbitrary groups of arbitrary resources, over nodes, overlapping, colocated
ones apart, too few or too many. So a fault in a rule, in the layout or in the variables shows as a difference.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import combinations, permutations, product
from math import comb, perm
from typing import Any, Iterable, Iterator, Mapping, Sequence

from ortools.sat.python import cp_model
from placewright.models.component import BETWEEN_DOMAINS, RANK_ALIGNED, ZERO_COPY, Component
from placewright.models.findings.finding import Severity
from placewright.models.machines.node_group import NODE
from placewright.models.placements.assignment import Assignment, compress
from placewright.models.placements.run import Run
from placewright.models.problem import Problem
from placewright.models.record import replace
from placewright.solver import compile as compile_module
from placewright.solver import objectives as objectives_module
from placewright.solver.check import check
from placewright.solver.cuts import Cut
from placewright.solver.expanding import expand as expand_module
from placewright.solver.layout.layout import Layout, Values
from placewright.solver.objectives import tiers
from placewright.solver.rule import Rule
from placewright.solver.rules import RULES

from . import project
from .combined import Combined
from .enumerated import arranged, arrangements, blocks_of, group_of
from .judging import Judge
from .project import may_be_said
from .weighed import weighed

PACK = {
    "PW201",
    "PW202",
    "PW203",
    "PW204",
    "PW205",
    "PW206",
    "PW207",
    "PW210",
    "PW211",
    "PW212",
    "PW213",
    "PW214",
    "PW217",
    "PW218",
    "PW219",
    "PW220",
}
"""Rules whose verdict depends on the accelerators chosen; the decision values alone decide the others."""
PACKING = tuple(rule for rule in RULES if rule.code in PACK)
COUNTING = tuple(rule for rule in RULES if rule.code not in PACK)
REACH = tuple(rule for rule in RULES if rule.code in ("PW301", "PW302", "PW303"))
"""Rules that say on which nodes a component may be at all: cells hold nodes together on which they let nothing meet that others count."""
SHAPE = {"PW202", "PW203", "PW204", "PW214"}
"""Rules that the shape of the variables holds: what they refuse of a searched component, no values can say."""

MANY = 200
"""Assignments beyond which those are left out that are wrong for the same reason whatever they are combined with."""
Key = frozenset[tuple[str, object]]


def objective(problem: Problem, assignment: Assignment) -> int:
    """What an answer costs, all tiers in one number in which no later tier outweighs an earlier one."""
    return sum(tier.scale * tier.value(problem, assignment) for tier in tiers.tiers(problem))


def key_of(values: Values) -> Key:
    """Values in a form that can be compared between two compilations of one problem."""
    return frozenset((_name(key), value) for key, value in values.items())


def _name(key: Any) -> str:
    return f"{key.bundle.name} in {key.cell.index}" if hasattr(key, "cell") else str(key.name)


class _All(cp_model.CpSolverSolutionCallback):
    def __init__(self, variables: Any) -> None:
        super().__init__()
        self.variables, self.seen = variables, set[Key]()

    def on_solution_callback(self) -> None:
        self.seen.add(key_of(self.variables.values(lambda variable: self.value(variable))))


def encoded(problem: Problem, rules: Iterable[Rule[Any]], cuts: Iterable[Cut] = (), layout: Layout | None = None) -> set[Key]:
    """Every value of the decision variables that the encodings of these rules accept, among those that are enumerated."""
    variables = compile_module.compile(problem, layout, rules)
    for cut in cuts:
        cut(variables)
    surplus = space(problem, surplus=True) <= SURPLUS
    for bundle in variables.layout.counted:
        room = min(_most(problem, component, surplus) for component in bundle.components) // bundle.unit
        variables.model.add(variables.units(bundle) <= room)
    solver = cp_model.CpSolver()
    solver.parameters.enumerate_all_solutions = True
    solver.parameters.num_workers = 1
    solver.parameters.keep_all_feasible_solutions_in_presolve = True
    keep = _All(variables)
    status = solver.solve(variables.model, keep)
    assert status in (cp_model.OPTIMAL, cp_model.INFEASIBLE), solver.status_name(status)
    return keep.seen


SURPLUS = 4_000
"""Problems below this size are also enumerated with one group more than each component may have."""


def options(problem: Problem, component: Component, surplus: bool) -> list[tuple[Run, ...]]:
    """Every way to put a component somewhere: 0 to `most` accelerators in groups, made of nothing but its sizes."""
    if component.runs is not None:
        return [component.runs]
    kind = problem.kind(component)
    if kind == NODE:
        return _processes(problem, component)
    seats = [(node.rank, index) for node in problem.cluster.nodes for index in range(node.count(kind))]
    size, found = group_of(component), []
    ways = list(permutations(seats, size) if _ordered(problem, component) else combinations(seats, size))
    for count in range(_most(problem, component, surplus) // size + 1):
        for groups in product(ways, repeat=count) if _ordered(problem, component) else arranged(ways, blocks_of(component), count):
            held = [group[start : start + component.per_process] for group in groups for start in range(0, size, component.per_process)]
            found.append(compress(enumerate(held), kind, component.node_groups[0]))
    return found


def _processes(problem: Problem, component: Component) -> list[tuple[Run, ...]]:
    """Processes without accelerators: evenly over their nodes, or where that is searched on any nodes."""
    layout = Layout(problem)
    compared = (component.name in relation.components for kind in BETWEEN_DOMAINS for relation in problem.find_relations(kind))
    asked = component.pins or component.spread or component.keep or any(compared)
    if component.name not in layout.dealt and not (asked and layout.on_nodes[component.name]):
        return [tuple(layout.on_nodes[component.name])]
    count, found = component.most, []
    for nodes in product([node.rank for node in problem.cluster.nodes], repeat=count):
        if component.pins or list(nodes) == sorted(nodes):
            found.append(tuple(Run(range(rank, rank + 1), node, NODE, each=0, pitch=0) for rank, node in enumerate(nodes)))
    return found


def _ordered(problem: Problem, component: Component) -> bool:
    """Does something depend on the order of its ranks, so that every order is to be tried?"""
    related = any(component.name in relation.components for kind in (RANK_ALIGNED, ZERO_COPY) for relation in problem.find_relations(kind))
    pairs = [pair for pair in problem.job.in_step if component.name in pair]
    return related or bool(component.pins) or any(problem[name].pins for pair in pairs for name in pair)


def _most(problem: Problem, component: Component, surplus: bool) -> int:
    """What may be, or one group more, or what a given partner has, but never more than the cluster has."""
    partners = next(members for members in problem.colocated_sets if component in members)
    held = max((sum(run.amount for run in c.runs) for c in partners if c.runs is not None), default=0)
    most = max(component.most + group_of(component) if surplus else component.most, held)
    return min(most, problem.cluster.total(problem.kind(component)))


def space(problem: Problem, surplus: bool = False) -> int:
    """How many Assignments there are."""
    result = 1
    for component in problem.components:
        kind = problem.kind(component)
        if component.runs is None and kind != NODE:
            seats, size = problem.cluster.total(kind), group_of(component)
            counts = range(_most(problem, component, surplus) // size + 1)
            if _ordered(problem, component):
                result *= sum(perm(seats, size) ** count for count in counts)
                continue
            result *= sum(arrangements(comb(seats, size), blocks_of(component), count) for count in counts)
    return result


def assignments(problem: Problem) -> Iterator[Assignment]:
    """Every Assignment of the enumerator."""
    return combined(every_option(problem))


def every_option(problem: Problem) -> dict[Component, list[tuple[Run, ...]]]:
    """Every way to put each component somewhere."""
    surplus = space(problem, surplus=True) <= SURPLUS
    return {component: options(problem, component, surplus) for component in problem.components}


def combined(of_each: Mapping[Component, Sequence[tuple[Run, ...]]]) -> Iterator[Assignment]:
    """Every combination of ways to put the components somewhere."""
    names, known = [component.name for component in of_each], Combined({})
    for choice in product(*of_each.values()):
        yield replace(known, runs=dict(zip(names, choice)))


def telling(problem: Problem, layout: Layout, judge: Judge) -> dict[Component, list[tuple[Run, ...]]]:
    """Every way to put each component somewhere, but of those that are wrong whatever the others do one for each reason and amount.

    Whatever they are combined with, a rule of packing refuses it, and if that is a rule of shape, no values say it: the theorems hold.
    """
    of_each = every_option(problem)
    first, left = {component.name: runs[0] for component, runs in of_each.items()}, dict[Component, list[tuple[Run, ...]]]()
    for component, every in of_each.items():
        known, left[component] = set[object](), []
        for runs in every:
            assignment = Combined({**first, component.name: runs})
            met = _shared_first(runs) if component.runs is None else None
            wrong = judge.codes_of(component.name, assignment) if met is None else frozenset({"PW201"})
            reason = wrong, sum(run.amount for run in runs), met
            refused = wrong & PACK and not (wrong & SHAPE and may_be_said(layout, component, assignment))
            if not refused or reason not in known:
                left[component].append(runs)
            known.add(reason)
    return left


def _shared_first(runs: Sequence[Run]) -> tuple[int, str, int] | None:
    """The first accelerators that two processes, or one twice, hold: node, kind, mask; None without any."""
    for (node, kind), its in sorted(_by_place(runs).items()):
        held = 0
        for run in sorted(its, key=lambda run: run.mask):
            if run.mask.bit_count() < run.amount or held & run.mask:
                return node, kind, held & run.mask or run.mask
            held |= run.mask
    return None


def _by_place(runs: Sequence[Run]) -> dict[tuple[int, str], list[Run]]:
    places = defaultdict[tuple[int, str], list[Run]](list)
    for run in runs:
        places[run.node, run.kind].append(run)
    return places


def compare(problem: Problem, costs: list[int] | None = None) -> Counter[str]:
    """The five theorems, of each alternative. Returns counts: assignments compared, values accepted, and how often each rule alone refused.

    `costs` gets the objective of each Assignment that every check accepts.
    """
    alternatives, counts = list(problem.alternatives()), Counter[str]()
    if len(alternatives) > 1:  # what the checks accept of the question, they accept of one of its alternatives, and the other way round
        for assignment in assignments(problem):
            accepted = [not _errors(each, assignment) for each in (problem, *alternatives)]
            assert accepted[0] == any(accepted[1:]), ("alternatives", accepted, assignment)
            refused = {finding.code for finding in check(problem, assignment) if finding.severity is Severity.ERROR}
            counts.update(f"{code} refused" for code in refused)
    return sum((_compare(each, costs) for each in alternatives), counts)


def _errors(problem: Problem, assignment: Assignment) -> bool:
    return any(finding.severity is Severity.ERROR for finding in check(problem, assignment))


def _compare(problem: Problem, costs: list[int] | None) -> Counter[str]:
    layout, counts = Layout(problem), Counter[str]()
    verdicts = set[tuple[Key | None, frozenset[str]]]()
    said: dict[Key, Values] = {}
    judge, projector = Judge(problem), project.Projector(layout)
    for assignment in combined(telling(problem, layout, judge)) if space(problem) > MANY else assignments(problem):
        values = projector.values(assignment)
        refused = judge.codes(assignment)
        if costs is not None and not refused:
            costs.append(objective(problem, assignment))
        key = None if values is None else key_of(values)
        verdicts.add((key, refused))
        if key is not None and values is not None:
            said.setdefault(key, values)
        counts["assignments"] += 1
        counts.update(f"{code} refused" for code in refused)
        counts.update(f"only {code} refused" for code in refused if len(refused) == 1)
        # 1: what every check accepts can be said; what a rule of shape refuses cannot.
        assert values is not None or refused, ("accepted by every check, but no values say it", assignment)
        assert values is None or not _shape(problem, refused), ("refused by a rule of shape, but values say it", assignment, refused)
    # 2: the packing rules together; 3: each counting rule on top of them, and of those of reach; 4: all rules.
    packing = _agree(layout, verdicts, PACKING, "packing rules")
    reach = _agree(layout, verdicts, (*PACKING, *REACH), "packing rules and reach")
    for rule in COUNTING:
        if list(rule.subjects(problem)):
            without_rule = packing if rule in REACH else reach
            with_rule = _agree(layout, verdicts, (*PACKING, *(() if rule in REACH else REACH), rule), rule.code)
            counts[f"{rule.code} alone"] += len(without_rule - with_rule)
            counts["comparisons"] += 1
    whole = _agree(layout, verdicts, RULES, "all rules")
    counts["accepted"] += len(whole)
    assert whole <= said.keys()
    if whole:
        _round_trips(layout, [values for key, values in said.items() if key in whole])
    return counts


def _shape(problem: Problem, refused: frozenset[str]) -> bool:
    """Did a rule of shape refuse, in a problem without given parts (whose own faults no value can mend)?"""
    return bool(refused & SHAPE) and not any(component.runs is not None for component in problem.components)


def _agree(layout: Layout, verdicts: set[tuple[Key | None, frozenset[str]]], rules: Iterable[Rule[Any]], what: str) -> set[Key]:
    rules = tuple(rules)
    codes = {rule.code for rule in rules}
    checked = {values for values, refused in verdicts if values is not None and not refused & codes}
    said = encoded(layout.problem, rules, layout=layout)
    assert said == checked, (what, "encode accepts, check refuses", said - checked, "check accepts, encode refuses", checked - said)
    return said


def _round_trips(layout: Layout, accepted: Iterable[Values]) -> None:
    """Accepted values expand into an answer that passes, says these values again, and has the model's objective."""
    problem, variables, solver = layout.problem, weighed(layout.problem, layout), cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.fix_variables_to_their_hinted_value = True
    for values in accepted:
        by_name = {_name(key): value for key, value in values.items()}
        mine = {key: by_name[_name(key)] for key in _keys(variables)}
        answer = expand_module.expand(variables.layout, mine)
        faults = [finding for finding in check(problem, answer) if finding.severity is Severity.ERROR]
        assert not faults, (mine, faults)
        again = project.project(variables.layout, answer)
        assert again is not None and key_of(again) == key_of(mine)
        variables.model.clear_hints()
        variables.hint(mine)
        assert solver.solve(variables.model) == cp_model.OPTIMAL
        value = objective(problem, answer)
        assert round(solver.objective_value) == value, ("objective", solver.objective_value, value)
        for term in objectives_module.OBJECTIVES:
            least, most = term.bound(variables.layout), term.most(problem)
            assert least <= term.value(problem, answer) <= most, ("bound of a term above its value", term.name, least, most)


def _keys(variables: Any) -> list[Any]:
    return [*variables._counts, *variables._ranges]
