"""Finding for an impossible problem: reason, minimal conflict and fixes."""

from __future__ import annotations

from dataclasses import replace
from typing import Iterator, Sequence

from ...models.answer import Solve
from ...models.component import SUBSET, TOGETHER
from ...models.demand import ConflictClause, Demand
from ...models.findings.finding import Finding, error
from ...models.problem import AMOUNT, Problem
from ..rules.amounts.all_placed import AllPlaced
from ..session import Session
from ..wording import listed
from .census import Census, CountingProblem, CountingRow
from .conflict import (
    COUNTING,
    SEARCH,
    Conflict,
    changeable_first,
    clauses,
    decides_resource_kind,
    histograms,
    merged,
    minimal_with_sharing,
    with_line,
)
from .contradicted import find_contradiction
from .fixes import FixTrial
from .more_fixes import holders_of_room, ranked, together
from .oracle import Oracle, Verdict

OPEN = "that these are the fewest is not proved: some tests were left open"
SHARING = (*TOGETHER, SUBSET)
"""Relations that permit sharing of accelerators: without them more is needed, not less."""


NO_CHANGE = "no small change was found that helps: loosen several demands, or add nodes"
"""Help without any fix."""


def find_conflict(alternatives: Sequence[Problem], solve: Solve, session: Session | None = None) -> Conflict:
    """Return the conflict of a problem that is impossible for all choices of degrees.

    The problem must be impossible. Every test solves a fresh problem without the dropped demands;
    an undecided test counts as possible, and then `minimal` is False.
    """
    census = Census(alternatives[0])
    oracle = Oracle(census, solve, session)
    every = _by_blame(alternatives)
    core, company = _core(every, alternatives, oracle)
    questions = _only(alternatives, [*core, *company])
    minimal = not oracle.undecided
    if oracle.searched and not oracle.confirmed(questions):
        core, company, minimal = every, [], False
        questions = _only(alternatives, core)
    rows = [oracle.row(problem) for problem in questions]
    problem, least = next(((question, row) for question, row in zip(questions, rows) if row), (questions[0], None))
    row, counted = _as_written(least, problem, alternatives, [*core, *company], oracle) if least else (None, problem)
    trial = FixTrial(_first(alternatives, questions.index(problem)), oracle)
    near = _touching(company, {name for demand in core for name in demand.component.split("+")})
    shown = [demand for demand in every if demand in core or demand in near]
    fixes = ranked(trial, shown, row) or together(trial, every)
    extra_clauses = (*_even_less(problem, alternatives[0], row), *holders_of_room(problem, row)) if row else ()
    notes = histograms(CountingProblem(problem, census), row) + (() if minimal else (OPEN,))
    how = COUNTING if all(rows) else SEARCH
    return Conflict(
        tuple(core), tuple(merged([*clauses(problem, shown), *extra_clauses])), row, minimal, fixes, how, problem, counted, notes
    )


def _as_written(
    row: CountingRow, question: Problem, alternatives: Sequence[Problem], demands: Sequence[Demand], oracle: Oracle
) -> tuple[CountingRow, Problem]:
    """Return the sum at the written amounts, and the problem of that sum.

    Smaller amounts would already be too much. Falls back to `row` and `question`.
    """
    names = {component.name for component in row.components}
    amounts = [demand for demand in alternatives[0].demands if demand.field == AMOUNT and demand.component in names]
    for problem in _only(alternatives, [*demands, *amounts]):
        written = oracle.row(problem)
        if (
            written
            and {component.name for component in written.components} == names
            and (written.size, written.level) == (row.size, row.level)
        ):
            return written, problem
    return row, question


def _even_less(problem: Problem, whole: Problem, row: CountingRow) -> Iterator[ConflictClause]:
    """Yield clauses for components whose minimum amount is already too much."""
    for component in row.components:
        if component.runs is None and component.least != problem[component.name].least == 1 and row.size:
            clause = next(AllPlaced().explain(whole, candidate) for candidate in whole.components if candidate.name == component.name)
            least = max(component.unit, 1)
            text = f"{clause.text.split(' (')[0]}; even {least} would be too much"
            yield ConflictClause(text, clause.demands) if least < whole[component.name].least else clause


def _core(every: list[Demand], alternatives: Sequence[Problem], oracle: Oracle) -> tuple[list[Demand], list[Demand]]:
    """Return a minimal conflict, and the sharing demands outside the conflict."""

    def refuted(subset: Sequence[Demand]) -> bool:
        return oracle.judge(_only(alternatives, subset)) is Verdict.REFUTED

    sharing = [demand for demand in every if demand.field in SHARING]
    near = _near(every, alternatives, oracle)
    blamed = minimal_with_sharing(near if refuted(near) else every, sharing, refuted)
    return blamed, [demand for demand in sharing if demand not in blamed]


def _touching(relations: Sequence[Demand], names: set[str]) -> list[Demand]:
    """Return the relations reachable from these components."""
    reached: list[Demand] = []
    left = list(relations)
    while more := [demand for demand in left if names.intersection(demand.component.split("+"))]:
        reached += more
        left = [demand for demand in left if demand not in more]
        names = names.union(*(demand.component.split("+") for demand in more))
    return [demand for demand in relations if demand in reached]


def _by_blame(alternatives: Sequence[Problem]) -> list[Demand]:
    """Return all demands of the alternatives, changeable demands first."""
    return changeable_first(alternatives[0], [demand for problem in alternatives for demand in problem.demands])


def _only(alternatives: Sequence[Problem], demands: Sequence[Demand]) -> list[Problem]:
    """Return the distinct alternatives reduced to these demands."""
    wanted = set(demands)
    reduced: list[Problem] = []
    for problem in alternatives:
        changed = problem.without(
            *(demand for demand in problem.demands if demand not in wanted and not decides_resource_kind(problem, demand))
        )
        if not any(changed.job == known.job for known in reduced):
            reduced.append(changed)
    return reduced


def _first(alternatives: Sequence[Problem], position: int) -> list[Problem]:
    """Return the alternatives, reordered to start at this position."""
    chosen = alternatives[min(position, len(alternatives) - 1)]
    return [chosen, *(problem for problem in alternatives if problem is not chosen)]


def _near(demands: list[Demand], alternatives: Sequence[Problem], oracle: Oracle) -> list[Demand]:
    """Return the demands on components of the refuting rows.

    All demands if some alternative has no row.
    """
    names: set[str] = set()
    for problem in alternatives:
        row = oracle.row(problem)
        if row is None:
            return demands
        names |= {component.name for component in row.components}
    return [demand for demand in demands if names.intersection(demand.component.split("+"))]


def impossible(alternatives: Sequence[Problem], solve: Solve, proof: str = "", session: Session | None = None) -> Finding:
    """Return the finding for a problem without feasible alternatives.

    The message is a checkable sum if there is one; the notes are a minimal conflict; the help lists
    changes, smallest first, all solved. `proof` names an independent proof, such as an enumeration.
    Without it and without a sum, two searches of the same model are no proof: the finding is PW602.
    """
    without = [replace(problem, caps=()) for problem in alternatives]
    if alternatives[0].caps and Oracle(Census(without[0]), solve, session).judge(without) is Verdict.POSSIBLE:
        return _limited(alternatives[0])
    return finding_of(find_conflict(alternatives, solve, session), alternatives, proof)


def open_choices_text(alternatives: Sequence[Problem], problem: Problem | None = None) -> str:
    """Return the open choices of the alternatives as the end of a message.

    `problem` is the alternative that the message describes.
    """
    choices = []
    if len({tuple(component.parallel for component in problem.components) for problem in alternatives}) > 1:
        replicas = [component for component in problem.hinted if component.parallel.replica > 1] if problem else []
        degrees = ", ".join(f"{component.name} {component.parallel}" for component in replicas)
        choices = ["whatever the parallel degrees are"]
        if degrees:
            choices = [f"with {degrees}; so too with every other choice of parallel degrees"]
    kinds: dict[tuple[str, ...], set[str]] = {}
    for relation in (relation for problem in alternatives for relation in problem.job.relations if relation.demanded):
        kinds.setdefault(relation.components, set()).add(relation.kind)
    shared = [names for names, sides in kinds.items() if len(sides) > 1]
    choices += [f"whether or not {listed(names)} share accelerators" for names in shared]
    return f" ({'; '.join(choices)})" if choices else ""


def _limited(problem: Problem) -> Finding:
    """Return the finding for a problem that only objective limits make impossible."""
    limits = listed([f"`{' + '.join(name for name, _ in cap.terms)}` at most {cap.most}" for cap in problem.caps])
    message = f"impossible: no placement has {limits}; without {'this limit' if len(problem.caps) == 1 else 'these limits'} there is one"
    return error("PW601", "", message, help="write a larger number in `--at-most`, or leave it out to see what can be had")


def finding_of(conflict: Conflict, alternatives: Sequence[Problem] = (), proof: str = "") -> Finding:
    """Return the finding of a conflict of all alternatives; `proof` as in `impossible`."""
    row, problem = conflict.row, conflict.problem
    contradiction = find_contradiction(problem) if row is None else None
    is_proved = bool(proof) or conflict.how == COUNTING or (contradiction is not None and len(alternatives) < 2)
    if not is_proved:
        row = contradiction = None
        message = "undecided: two searches found no placement that satisfies these demands together, which is no proof: they share a model"
    elif contradiction is not None:
        message = contradiction.message
    elif row is not None:
        message = f"impossible: {row}"
    else:
        message = f"impossible: no placement satisfies these demands together ({proof})"
    blamed = (
        contradiction.subject
        if contradiction
        else row.components[0].name
        if row
        else next((demand.component for demand in conflict.demands), "")
    )
    subject = problem[blamed.split("+")[0]] if blamed else problem.components[0]
    message += open_choices_text(alternatives, problem)
    span = contradiction.span if contradiction else row.span if row is not None and row.span else subject.span(AMOUNT)
    notes = (*(with_line(clause, span) for clause in conflict.clauses), *conflict.notes)
    advice = "; or ".join(change.text for change in conflict.fixes)
    return error(
        "PW601" if is_proved else "PW602", subject.name, message, span, notes=notes,
        help=advice or NO_CHANGE,
        witnesses=(row.need, row.have) if row else (), amount=row.need - row.have if row else 0,
        **({"label": contradiction.label, "origin": contradiction.origin, "origin_label": contradiction.origin_label} if contradiction else {}),
    )  # fmt: skip
