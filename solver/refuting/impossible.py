"""Finding that says why nothing works, and which changes would make it work."""

from __future__ import annotations

from dataclasses import replace
from typing import Iterator, Sequence

from ...models.answer import Solve
from ...models.component import SUBSET, TOGETHER
from ...models.demand import Clause, Demand
from ...models.findings.finding import Finding, error
from ...models.problem import AMOUNT, Problem
from ..rules.amounts.all_placed import AllPlaced
from ..session import Session
from ..wording import listed
from .census import Census, Question, Row
from .conflict import COUNTING, SEARCH, Conflict, clauses, facts_last, histograms, merged, says_the_kind, to_blame, with_line
from .contradicted import contradicted
from .fixes import Trial
from .more_fixes import holders_of_room, ranked, together
from .oracle import Oracle, Verdict

OPEN = "that these are the fewest is not proved: some tests were left open"
SHARING = (*TOGETHER, SUBSET)
"""Relations that let components share accelerators: without them more is needed, not less."""


NO_CHANGE = "no small change was found that helps: loosen several demands, or add nodes"
"""The help where none was found."""


def find_conflict(alternatives: Sequence[Problem], solve: Solve, session: Session | None = None) -> Conflict:
    """Why a question is impossible by every choice of parallel degrees.

    The question must be impossible. Each test asks a fresh question without the demands that are left out; a test that is left
    open counts as possible, and then `minimal` is False.
    """
    census = Census(alternatives[0])
    oracle = Oracle(census, solve, session)
    every = _by_blame(alternatives)
    found, company = _core(every, alternatives, oracle)
    questions = _only(alternatives, [*found, *company])
    minimal = not oracle.undecided
    if oracle.searched and not oracle.confirmed(questions):
        found, company, minimal = every, [], False
        questions = _only(alternatives, found)
    rows = [oracle.row(problem) for problem in questions]
    problem, least = next(((its, row) for its, row in zip(questions, rows) if row), (questions[0], None))
    row, counted = _as_written(least, problem, alternatives, [*found, *company], oracle) if least else (None, problem)
    trial = Trial(_first(alternatives, questions.index(problem)), oracle)
    near = _touching(company, {name for demand in found for name in demand.component.split("+")})
    said = [demand for demand in every if demand in found or demand in near]
    fixes = ranked(trial, said, row) or together(trial, every)
    beside = (*_even_less(problem, alternatives[0], row), *holders_of_room(problem, row)) if row else ()
    notes = histograms(Question(problem, census), row) + (() if minimal else (OPEN,))
    how = COUNTING if all(rows) else SEARCH
    return Conflict(tuple(found), tuple(merged([*clauses(problem, said), *beside])), row, minimal, fixes, how, problem, counted, notes)


def _as_written(
    row: Row, question: Problem, alternatives: Sequence[Problem], kept: Sequence[Demand], oracle: Oracle
) -> tuple[Row, Problem]:
    """The same sum with the amounts that were written for all its components, though less would be too much; and where it holds."""
    names = {component.name for component in row.components}
    amounts = [demand for demand in alternatives[0].demands if demand.field == AMOUNT and demand.component in names]
    for problem in _only(alternatives, [*kept, *amounts]):
        other = oracle.row(problem)
        if other and {component.name for component in other.components} == names and (other.size, other.level) == (row.size, row.level):
            return other, problem
    return row, question


def _even_less(problem: Problem, whole: Problem, row: Row) -> Iterator[Clause]:
    """Components of a sum whose amounts are not to blame: the least that they can be is already too much."""
    for component in row.components:
        if component.runs is None and component.least != problem[component.name].least == 1 and row.size:
            asked = next(AllPlaced().explain(whole, its) for its in whole.components if its.name == component.name)
            least = max(component.unit, 1)
            less = f"{asked.text.split(' (')[0]}; even {least} would be too much"
            yield Clause(less, asked.demands) if least < whole[component.name].least else asked


def _core(every: list[Demand], alternatives: Sequence[Problem], oracle: Oracle) -> tuple[list[Demand], list[Demand]]:
    """The fewest demands that are impossible together, and all sharing that is none of them."""

    def refuted(kept: Sequence[Demand]) -> bool:
        return oracle.judge(_only(alternatives, kept)) is Verdict.REFUTED

    sharing = [demand for demand in every if demand.field in SHARING]
    near = _near(every, alternatives, oracle)
    blamed = to_blame(near if refuted(near) else every, sharing, refuted)
    return blamed, [demand for demand in sharing if demand not in blamed]


def _touching(relations: Sequence[Demand], names: set[str]) -> list[Demand]:
    """The relations of these components, and those of the components that they lead to."""
    found: list[Demand] = []
    left = list(relations)
    while more := [demand for demand in left if names.intersection(demand.component.split("+"))]:
        found += more
        left = [demand for demand in left if demand not in more]
        names = names.union(*(demand.component.split("+") for demand in more))
    return [demand for demand in relations if demand in found]


def _by_blame(alternatives: Sequence[Problem]) -> list[Demand]:
    """All demands of these alternatives, those that the user can change first."""
    return facts_last(alternatives[0], [demand for each in alternatives for demand in each.demands])


def _only(alternatives: Sequence[Problem], kept: Sequence[Demand]) -> list[Problem]:
    """Each alternative with these demands alone, and what is counted; equal ones once."""
    wanted = set(kept)
    found: list[Problem] = []
    for problem in alternatives:
        changed = problem.without(*(d for d in problem.demands if d not in wanted and not says_the_kind(problem, d)))
        if not any(changed.job == other.job for other in found):
            found.append(changed)
    return found


def _first(alternatives: Sequence[Problem], position: int) -> list[Problem]:
    """The alternatives, the one at this position first."""
    chosen = alternatives[min(position, len(alternatives) - 1)]
    return [chosen, *(problem for problem in alternatives if problem is not chosen)]


def _near(demands: list[Demand], alternatives: Sequence[Problem], oracle: Oracle) -> list[Demand]:
    """The demands on the components of the rows that refute each alternative; all where one has no row."""
    names: set[str] = set()
    for problem in alternatives:
        row = oracle.row(problem)
        if row is None:
            return demands
        names |= {component.name for component in row.components}
    return [demand for demand in demands if names.intersection(demand.component.split("+"))]


def impossible(alternatives: Sequence[Problem], solve: Solve, proof: str = "", session: Session | None = None) -> Finding:
    """The Finding for a problem of which these alternatives are all, and of which a search found none possible.

    `proof` says how that was proved beside the search, such as by trying all ways. Without that, and without a sum, two searches of one
    model are no proof: the Finding is PW602 then.

    Its message is a sum that a person can check, where there is one; its notes are the fewest demands that cannot hold together,
    its help are changes, the smallest first, each of which was solved.
    """
    without = [replace(problem, caps=()) for problem in alternatives]
    if alternatives[0].caps and Oracle(Census(without[0]), solve, session).judge(without) is Verdict.POSSIBLE:
        return _limited(alternatives[0])
    return finding_of(find_conflict(alternatives, solve, session), alternatives, proof)


def anyhow(alternatives: Sequence[Problem], problem: Problem | None = None) -> str:
    """What was open in alternatives that are all impossible, as the end of a message; `problem`: the one that it tells of."""
    said = []
    if len({tuple(each.parallel for each in problem.components) for problem in alternatives}) > 1:
        replicas = [each for each in problem.hinted if each.parallel.replica > 1] if problem else []
        degrees = ", ".join(f"{each.name} {each.parallel}" for each in replicas)
        said = ["whatever the parallel degrees are"]
        if degrees:
            said = [f"with {degrees}; so too with every other choice of parallel degrees"]
    kinds: dict[tuple[str, ...], set[str]] = {}
    for each in (relation for problem in alternatives for relation in problem.job.relations if relation.demanded):
        kinds.setdefault(each.components, set()).add(each.kind)
    shared = [names for names, sides in kinds.items() if len(sides) > 1]
    said += [f"whether or not {listed(names)} share accelerators" for names in shared]
    return f" ({'; '.join(said)})" if said else ""


def _limited(problem: Problem) -> Finding:
    """What to say where nothing but limits on the objective stands in the way."""
    limits = listed([f"`{' + '.join(name for name, _ in cap.terms)}` at most {cap.most}" for cap in problem.caps])
    message = f"impossible: no placement has {limits}; without {'this limit' if len(problem.caps) == 1 else 'these limits'} there is one"
    return error("PW601", "", message, help="write a larger number in `--at-most`, or leave it out to see what can be had")


def finding_of(conflict: Conflict, alternatives: Sequence[Problem] = (), proof: str = "") -> Finding:
    """A conflict as a Finding, which holds for each of these alternatives; `proof` as in `impossible`."""
    row, problem = conflict.row, conflict.problem
    both = contradicted(problem) if row is None else None
    is_proved = bool(proof) or conflict.how == COUNTING or (both is not None and len(alternatives) < 2)
    if not is_proved:
        row = both = None
        message = "undecided: two searches found no placement that satisfies these demands together, which is no proof: they share a model"
    elif both is not None:
        message = both.message
    elif row is not None:
        message = f"impossible: {row}"
    else:
        message = f"impossible: no placement satisfies these demands together ({proof})"
    blamed = both.subject if both else row.components[0].name if row else next((each.component for each in conflict.demands), "")
    subject = problem[blamed.split("+")[0]] if blamed else problem.components[0]
    message += anyhow(alternatives, problem)
    span = both.span if both else row.span if row is not None and row.span else subject.span(AMOUNT)
    notes = (*(with_line(clause, span) for clause in conflict.clauses), *conflict.notes)
    advice = "; or ".join(change.text for change in conflict.fixes)
    return error(
        "PW601" if is_proved else "PW602", subject.name, message, span, notes=notes,
        help=advice or NO_CHANGE,
        witnesses=(row.need, row.have) if row else (), amount=row.need - row.have if row else 0,
        **({"label": both.label, "origin": both.origin, "origin_label": both.origin_label} if both else {}),
    )  # fmt: skip
