"""Finding for an impossible problem: reason, minimal conflict and fixes."""

from __future__ import annotations

from dataclasses import field, replace
from typing import Iterator, Sequence

from ...models.component import RELATION_KINDS, SUBSET, TOGETHER
from ...models.findings.finding import Finding, Severity, error
from ...models.findings.wording import plural, with_noun
from ...models.machines.node_group import ACCELERATOR
from ...models.problem import AMOUNT, ConflictClause, Demand, Problem
from ...models.quantity import write_memory
from ...models.record import dataclass
from ...models.sharing import given_part, restrict
from ..check import check
from ..enumeration import MOST_CONFIRMING, combinations, place
from ..layout.bundle import Bundle
from ..layout.layout import Layout
from ..memory import peak
from ..rules.amounts import AllPlaced
from ..search_scope import find_unsupported
from ..session import Session
from ..wording import join_names
from .census import Census, CountingProblem, CountingRow, ResourceKind
from .certificate import counting_row
from .conflict import (
    changeable_first,
    clauses,
    decides_resource_kind,
    find_contradiction,
    list_briefly,
    merge_clauses,
    minimal_with_sharing,
    with_line,
)
from .fix_choice import combine_changes, find_given_beside, rank_changes
from .fixes import Change, FixTrial
from .oracle import Oracle, Verdict

COUNTING, SEARCH = "counting", "search"
"""Proofs of a conflict: a sum, or two searches that agree."""
OPEN = "that these are the fewest is not proved: some tests were left open"
SHARING = (*TOGETHER, SUBSET)
"""Relations that permit sharing of accelerators: without them more is needed, not less."""
NO_CHANGE = "no small change was found that helps: loosen several demands, or add nodes"
"""Help without any fix."""
MAX_TEXTS = 2
"""Largest number of different histograms shown."""


@dataclass(frozen=True)
class Conflict:
    """Demands that are infeasible together.

    Attributes
    ----------
    demands : the conflict; without any one of them there is an answer.
    clauses : the demands in the user's words with the cluster's numbers; equal ones are merged.
    row : a sum that proves the conflict; None without one.
    minimal : True if every demand is proved necessary.
    fixes : changes that make the whole problem feasible, smallest first; each was solved.
    how : ``counting`` or ``search``.
    problem : the problem reduced to these demands, at the degrees of the sum.
    tried : number of ways to place the components of the conflict, if all were tried.
    notes : further facts, such as why nodes are excluded.
    """

    demands: tuple[Demand, ...]
    clauses: tuple[ConflictClause, ...]
    row: CountingRow | None
    minimal: bool
    fixes: tuple[Change, ...]
    how: str
    problem: Problem = field(repr=False)
    notes: tuple[str, ...] = ()
    tried: int | None = None


def impossible(alternatives: Sequence[Problem], proof: str = "", session: Session | None = None) -> Finding:
    """Return the finding for a problem without feasible alternatives.

    The message is a checkable sum if there is one; the notes are a minimal conflict; the help lists
    changes, smallest first, all solved. `proof` names an independent proof, such as an enumeration.
    Without it, a sum or an enumeration of the conflict, two searches of the same model are no proof:
    the finding is PW602.
    """
    without = [replace(problem, caps=()) for problem in alternatives]
    if alternatives[0].caps and Oracle(Census(without[0]), session).judge(without) is Verdict.POSSIBLE:
        return _report_limit(alternatives[0])
    conflict = find_conflict(alternatives, session)
    return finding_of(conflict, alternatives, proof or ("" if conflict.tried is None else describe_enumeration(conflict.tried)))


def describe_enumeration(count: int) -> str:
    """Return the proof by an enumeration, in words."""
    return f"{count:,} {plural('way', count)} tried, all that there are"


def report_contradiction(problem: Problem, session: Session) -> Finding | None:
    """Return the finding of relations that contradict each other, with solved fixes; None without any."""
    contradiction = find_contradiction(problem)
    if contradiction is None:
        return None
    demands = [
        demand for demand in problem.demands if demand.field in RELATION_KINDS and demand.span in (contradiction.span, contradiction.origin)
    ]
    changes = rank_changes(FixTrial([problem], Oracle(Census(problem), session)), demands, None)
    return replace(contradiction, help="; or ".join(change.text for change in changes) or NO_CHANGE)


def _report_limit(problem: Problem) -> Finding:
    """Return the finding for a problem that only objective limits make impossible."""
    limits = join_names([f"`{' + '.join(name for name, _ in cap.terms)}` <= {cap.most}" for cap in problem.caps])
    note = f"a placement without {'this limit' if len(problem.caps) == 1 else 'these limits'} exists"
    advice = "write a larger number in `--at-most`, or leave it out to see what can be had"
    return error("PW601", "", f"impossible: {limits}", help=advice, notes=(note,))


# -- the conflict


def find_conflict(alternatives: Sequence[Problem], session: Session | None = None) -> Conflict:
    """Return the conflict of a problem that is impossible for all choices of degrees.

    The problem must be impossible. Every test solves a fresh problem without the dropped demands;
    an undecided test counts as possible, and then `minimal` is False.
    """
    census = Census(alternatives[0])
    oracle = Oracle(census, session)
    every = changeable_first(alternatives[0], [demand for problem in alternatives for demand in problem.demands])
    core, sharing = _core(every, alternatives, oracle)
    questions, minimal = _only(alternatives, [*core, *sharing]), not oracle.undecided
    if oracle.searched and not oracle.is_confirmed(questions):
        core, sharing, minimal = every, [], False
        questions = _only(alternatives, core)
    rows = [oracle.row(problem) for problem in questions]
    number = next((number for number, row in enumerate(rows) if row), 0)
    problem, core_row = questions[number], rows[number]
    row = core_row and _as_written(core_row, alternatives, [*core, *sharing], oracle)
    choice = alternatives[min(number, len(alternatives) - 1)]
    trial = FixTrial([choice, *(alternative for alternative in alternatives if alternative is not choice)], oracle)
    near = _touching(sharing, {name for demand in core for name in demand.component.split("+")})
    selection = [demand for demand in every if demand in core or demand in near]
    more = (*_even_less(problem, alternatives[0], row), *_list_unshared(problem, row)) if row else ()
    return Conflict(
        tuple(core), tuple(merge_clauses([*clauses(problem, selection), *more])), row, minimal, rank_changes(trial, selection, row) or combine_changes(trial, every),
        COUNTING if all(rows) else SEARCH, problem,
        (*_histograms(CountingProblem(problem, census), row), *_also_short(alternatives[0], row, oracle), *([OPEN] if not minimal else [])),
        None if all(rows) else try_all(questions, core),
    )  # fmt: skip


def try_all(questions: Sequence[Problem], demands: Sequence[Demand]) -> int | None:
    """Return the number of ways to place a conflict's components, if none holds.

    None if one holds, or if there are too many. The other components only take room, so what has no place without them has none beside them.
    """
    names, total = {name for demand in demands for name in demand.component.split("+")}, 0
    for question in questions:
        case = restrict(question, names)
        shares = tuple(share for share in case.job.shares if share.component in names)
        case = replace(case, job=replace(case.job, links=(), shares=shares), previous=None, caps=(), unlike=())
        layout = Layout(case)
        every = None if case.job.pools or case.job.in_turn or find_unsupported(case) else combinations(layout, MOST_CONFIRMING)
        if every is None or any(place(layout, values) is not None for values in every):
            return None
        total += len(every)
    return total


def _core(every: list[Demand], alternatives: Sequence[Problem], oracle: Oracle) -> tuple[list[Demand], list[Demand]]:
    """Return a minimal conflict, and the sharing demands outside the conflict."""

    def is_refuted(subset: Sequence[Demand]) -> bool:
        return oracle.judge(_only(alternatives, subset)) is Verdict.REFUTED

    rows = [oracle.row(problem) for problem in alternatives]
    names = {component.name for row in rows if row for component in row.components}
    near = [demand for demand in every if names.intersection(demand.component.split("+"))] if all(rows) else every
    sharing = [demand for demand in every if demand.field in SHARING]
    core = minimal_with_sharing(near if is_refuted(near) else every, sharing, is_refuted)
    return core, [demand for demand in sharing if demand not in core]


def _only(alternatives: Sequence[Problem], demands: Sequence[Demand]) -> list[Problem]:
    """Return the distinct alternatives reduced to these demands."""
    demand_set = set(demands)
    relaxations: list[Problem] = []
    for problem in alternatives:
        drops = (demand for demand in problem.demands if demand not in demand_set and not decides_resource_kind(problem, demand))
        relaxation = problem.without(*drops)
        if not any(relaxation.job == candidate.job for candidate in relaxations):
            relaxations.append(relaxation)
    return relaxations


def _touching(relations: Sequence[Demand], names: set[str]) -> list[Demand]:
    """Return the relations reachable from these components."""
    remaining = list(relations)
    while more := [demand for demand in remaining if names.intersection(demand.component.split("+"))]:
        remaining = [demand for demand in remaining if demand not in more]
        names = names.union(*(demand.component.split("+") for demand in more))
    return [demand for demand in relations if demand not in remaining]


def _as_written(row: CountingRow, alternatives: Sequence[Problem], demands: Sequence[Demand], oracle: Oracle) -> CountingRow:
    """Return the same sum at the written amounts; `row` if there is none."""
    names = {component.name for component in row.components}
    amounts = [demand for demand in alternatives[0].demands if demand.field == AMOUNT and demand.component in names]
    for problem in _only(alternatives, [*demands, *amounts]):
        original = oracle.row(problem)
        same_piece = original and (original.size, original.level) == (row.size, row.level)
        if original and same_piece and {component.name for component in original.components} == names:
            return original
    return row


# -- clauses and notes


def _even_less(problem: Problem, whole: Problem, row: CountingRow) -> Iterator[ConflictClause]:
    """Yield clauses for components whose minimum amount is already too much."""
    for component in row.components:
        if component.runs is None and component.least != problem[component.name].least == 1 and row.size:
            request, smallest = whole[component.name], max(component.unit, 1)
            clause = AllPlaced().explain(whole, request)
            text = f"{clause.text.split(' (')[0]}; even {smallest} does not fit"
            yield ConflictClause(text, clause.demands) if smallest < request.least else clause


def _list_unshared(problem: Problem, row: CountingRow) -> Iterator[ConflictClause]:
    """Yield the resources of explicit components that the row's components cannot use."""
    if holders := find_given_beside(problem, row):
        names = [component.name for component in holders]
        counts = {kind: problem.build_given().count_held_together(names, kind) for kind in map(problem.kind, holders)}
        amounts = join_names([with_noun(count, "accelerator" if kind == ACCELERATOR else kind) for kind, count in counts.items()])
        verb = "holds" if len(holders) == 1 else "hold"
        advice = "placed components are shared only if you add `colocate_with:` or `within:`"
        yield ConflictClause(f"{join_names(names)} {verb} {amounts}; {advice}")


def _histograms(question: CountingProblem, row: CountingRow | None) -> tuple[str, ...]:
    """Return the usable nodes of a row's bundles, with the reasons that exclude the rest."""
    row_names = {component.name for component in row.components} if row else set()
    groups: dict[tuple[int, str], list[str]] = {}
    for bundle in question.open:
        if any(component.name in row_names for component in bundle.components):
            counts: dict[str, int] = {}
            for kind in question.census.kinds:
                reason = _reason(question, bundle, kind)
                counts[reason] = counts.get(reason, 0) + kind.count
            usable = counts.pop("", 0)
            reasons = sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))
            text = ", ".join(f"{count} {reason}" for reason, count in reasons)
            groups.setdefault((usable, text), []).append(bundle.components[0].name)
    total = len(question.problem.cluster.nodes)
    lines = [
        f"{usable}/{total} {plural('node', total)} can hold {'each of ' if len(names) > 1 else ''}{list_briefly(names)}: {text}"
        for (usable, text), names in groups.items()
        if text
    ]
    return tuple(lines[:MAX_TEXTS])


def _also_short(problem: Problem, row: CountingRow | None, oracle: Oracle) -> Iterator[str]:
    """Yield the sums of other components that do not fit either."""
    sharing = [demand for demand in problem.demands if demand.field in SHARING]
    names = {component.name for component in row.components} if row else set()
    for component in problem.hinted if row else ():
        amounts = [demand for demand in problem.demands if demand.field == AMOUNT and demand.component == component.name]
        short_row = oracle.row(_only([problem], [*amounts, *sharing])[0]) if component.name not in names else None
        short_names = {member.name for member in short_row.components} if short_row else set()
        if component.name in short_names and not names & short_names:
            names |= short_names
            yield f"also: {short_row}"


def _reason(question: CountingProblem, bundle: Bundle, kind: ResourceKind) -> str:
    """Return the first reason against a kind of nodes; "" if usable."""
    members, on_accelerators = question.company(bundle), bundle.kind == ACCELERATOR
    groups = [labels for labels in dict.fromkeys(component.node_groups for component in members) if not kind.groups.intersection(labels)]
    models = sorted({component.accelerator_model for component in members if component.accelerator_model} - {kind.model})
    need, free = peak(members, kind.memory), kind.count_unused(bundle.kind)
    if on_accelerators and not kind.accelerators:
        return "without accelerators"
    if groups:
        return f"outside node group `{', '.join(groups[0])}`"
    if kind.out & {component.name for component in members if component.excluded}:
        return "excluded"
    if on_accelerators and models:
        return f"without {join_names(models)}"
    if on_accelerators and kind.memory is not None and kind.memory < need:
        return f"with too little memory ({write_memory(kind.memory)}, {write_memory(need)} are needed)"
    if free < bundle.unit:
        return f"with less than {bundle.unit} free" if free else "taken"
    return ""


# -- the finding


def finding_of(conflict: Conflict, alternatives: Sequence[Problem] = (), proof: str = "") -> Finding:
    """Return the finding of a conflict of all alternatives; `proof` as in `impossible`."""
    row, problem = conflict.row, conflict.problem
    contradiction = find_contradiction(problem) if row is None else None
    is_proved = bool(proof) or conflict.how == COUNTING or (contradiction is not None and len(alternatives) < 2)
    if not is_proved:
        row = contradiction = None
    name = next((demand.component for demand in conflict.demands), "")
    if contradiction is not None:
        message, name, span = contradiction.message, contradiction.subject, contradiction.span
    elif row is not None:
        message, name, span = f"impossible: {row}", row.components[0].name, row.span
    elif is_proved:
        message, span = f"impossible: no placement satisfies these demands together ({proof})", None
    else:
        searches = "two searches found no placement that satisfies these demands together"
        message, span = f"undecided: {searches}, which is not proof: they share a model", None
    subject = problem[name.split("+")[0]] if name else problem.components[0]
    if contradiction is None:
        span = span or subject.span(AMOUNT)
    return error(
        "PW601" if is_proved else "PW602", subject.name, message + open_choices_text(alternatives, problem), span,
        notes=(*(with_line(clause, span) for clause in conflict.clauses), *conflict.notes),
        help="; or ".join(change.text for change in conflict.fixes) or NO_CHANGE,
        witnesses=(row.need, row.have) if row else (), amount=row.need - row.have if row else 0,
        **({"label": contradiction.label, "origin": contradiction.origin, "origin_label": contradiction.origin_label} if contradiction else {}),
    )  # fmt: skip


def open_choices_text(alternatives: Sequence[Problem], problem: Problem | None = None) -> str:
    """Return the open choices of the alternatives as the end of a message.

    `problem` is the alternative that the message describes.
    """
    choices = []
    if len({tuple(component.parallel for component in alternative.components) for alternative in alternatives}) > 1:
        replicas = [component for component in problem.hinted if component.parallel.replica > 1] if problem else []
        degrees = ", ".join(f"{component.name} {component.parallel}" for component in replicas)
        choices = [f"with {degrees}, and with all other parallel degrees" if degrees else "with all parallel degrees"]
    kinds: dict[tuple[str, ...], set[str]] = {}
    for relation in (relation for alternative in alternatives for relation in alternative.job.relations if relation.demanded):
        kinds.setdefault(relation.components, set()).add(relation.kind)
    choices += [f"whether or not {join_names(names)} share accelerators" for names, sides in kinds.items() if len(sides) > 1]
    return f" ({'; '.join(choices)})" if choices else ""


def shortage(problem: Problem) -> Finding | None:
    """Return a sum that proves the problem impossible with all degrees; None without one."""
    rows, problems = [], []
    for alternative in problem.alternatives():
        if any(finding.severity is Severity.ERROR for finding in check(given_part(alternative), problem.build_given())):
            continue  # given ranks rule these degrees out
        if (row := counting_row(alternative)) is None:
            return None
        rows.append(row)
        problems.append(alternative)
    if not rows or find_unsupported(problem):
        return None
    subject, row = rows[0].components[0], rows[0]
    return error(
        "PW601", subject.name, f"impossible: {row}{open_choices_text(problems)}", row.span or subject.span(AMOUNT),
        witnesses=(row.need, row.have), amount=row.need - row.have,
    )  # fmt: skip
