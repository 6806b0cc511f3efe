"""Policies between plans of variants: memory estimates, untimed components, unread sizes, leading degrees, models."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Sequence

from ..models.account import BlockBill
from ..models.answer import IMPOSSIBLE, Answer, Solve
from ..models.component import COLOCATED, SUBSET, Component
from ..models.findings.finding import Finding, error
from ..models.planning.option import NO_KIND
from ..models.planning.planned import CostedDesign, PlanningResult
from ..models.planning.problem import PlanningProblem
from ..models.planning.workload import SECONDS
from ..models.problem import Problem
from ..models.tied_degrees import each_choice
from ..solver.session import Session
from ..solver.wording import join_names
from .benders import ALTERNATIVES
from .bills import bills, decides, none_fits
from .costs import cost_model
from .memory import without_estimates
from .problem import planning_problem
from .scope import choices_of_models, find_nested_pairs
from .search.found import ENDLESS
from .search.search import search
from .unplaced import not_all_read


def fit_estimates(problem: Problem, plan: Solve, session: Session) -> Answer:
    """Return the best plan within all memory estimates; without one, the best regardless.

    Estimates are not demands: they never make a problem infeasible. A finding names the plan that
    would win without them.
    """
    open_, answer = without_estimates(problem), plan(problem)
    if open_ is None or (answer.planned is None and answer.verdict != IMPOSSIBLE):
        return answer  # without a plan, one within the estimates may still exist
    best = answer.planned
    relaxed_answer = plan(open_) if best is None else session.unless_cancelled(partial(plan, open_), lambda: answer)
    without = relaxed_answer.planned
    if best is None or without is None:
        findings = (none_fits(problem, _bills(problem, without, relaxed_answer)),) if without is not None else ()
        return replace(relaxed_answer, findings=(*relaxed_answer.findings, *findings)) if best is None else answer
    if without.price >= best.price:
        return answer
    result = replace(best, without_estimates=without.best, without_question=without.question)
    finding = decides(problem, best.question, best.best, without.best, _bills(problem, without, relaxed_answer))
    return replace(answer, planned=result, findings=(*answer.findings, finding))


def _bills(problem: Problem, result: PlanningResult, answer: Answer) -> tuple[BlockBill, ...]:
    """Return the memory bills of all planned blocks of accelerators."""
    assignment = answer.plan.assignment if answer.plan else None
    return tuple(bill for bill in bills(problem, result.question, result.best.design, assignment) if bill.block.kind != NO_KIND)


def with_companions(problem: Problem, plan: Solve, session: Session) -> Answer:
    """Plan so that an untimed companion uses all accelerators of its timed component.

    Other plans count only if an iteration takes less: the companion's own time is unknown, and it
    is no longer on more accelerators.
    """
    answer = plan(problem)
    for variant in (may_lie_inside(problem), may_be_apart(problem)):
        is_open = answer.planned is None and answer.verdict != IMPOSSIBLE
        if variant is not None and not is_open and not session.cancelled:
            answer = _better(plan, answer, variant)
    return answer


def _better(plan: Solve, answer: Answer, problem: Problem) -> Answer:
    """Return the better answer of both problems, with the weaker of both lower bounds."""
    rival, result = plan(problem), answer.planned
    if rival.planned is None:
        if rival.verdict == IMPOSSIBLE:
            return answer
        return rival if result is None else _weaken_bound(answer, 0)
    if result is None or rival.planned.price[0] < result.price[0]:
        answer = _widen_companions(plan, problem, rival)
    return _weaken_bound(answer, rival.planned.bound if result is None else min(result.bound, rival.planned.bound))


def _weaken_bound(answer: Answer, bound: int) -> Answer:
    """Return the answer with this lower bound; its alternatives stay open."""
    result = answer.planned
    if result is None:
        return answer
    is_proved = result.proved and bound == result.price[0]
    return replace(answer, planned=replace(result, bound=bound, proved=is_proved, alternatives_open=True))


def _widen_companions(plan: Solve, problem: Problem, answer: Answer) -> Answer:
    """Return the plan with companions widened as far as the iteration takes no longer."""
    if answer.planned is None:
        return answer
    options, most = answer.planned.best.design.options, dict[str, int]()
    for inner, outer in find_nested_pairs(problem):
        counts = [option.amount for option in answer.planned.question.options[inner] if option.amount <= options[outer].amount]
        most |= {inner: max(counts)} if max(counts, default=0) > options[inner].amount else {}
    if not most:
        return answer
    components = tuple(part.narrow_counts(most[part.name], part.most) if part.name in most else part for part in problem.components)
    more = plan(replace(problem, job=replace(problem.job, components=components)))
    if more.planned is None or more.planned.price[0] > answer.planned.price[0]:
        return answer
    question = answer.planned.question  # what was asked: that it is on no fewer is not a demand
    has_options = all(option in question.options[name] for name, option in more.planned.best.design.options.items())
    result = replace(more.planned, bound=answer.planned.bound, proved=answer.planned.proved)
    return replace(more, planned=replace(result, question=question) if has_options else result)


def may_lie_inside(problem: Problem) -> Problem | None:
    """Return the problem with companions inside their component; None if they always fill it."""
    going = [relation for relation in problem.find_relations(COLOCATED) if relation.proposed]
    if not going:
        return None
    every = [planning_problem(variant).options for variant in each_choice(problem)]

    def has_fewer(leader: str, follower: str) -> bool:
        counts = ({option.amount for option in options.get(follower, ())} for options in every)
        return any(option.amount not in amounts for options, amounts in zip(every, counts) for option in options.get(leader, ()))

    relations_open = [relation for relation in going if has_fewer(*relation.components)]
    if not relations_open:
        return None
    relations = tuple(
        replace(relation, kind=SUBSET, components=relation.components[::-1]) if relation in relations_open else relation
        for relation in problem.job.relations
    )
    return replace(problem, job=replace(problem.job, relations=relations))


def may_be_apart(problem: Problem) -> Problem | None:
    """Return the problem with separate companions that need memory; None without any."""

    def needs(component: Component) -> bool:
        return bool(component.memory or component.offloaded or component.estimate)

    going = [relation for relation in problem.find_relations(COLOCATED) if relation.proposed and needs(problem[relation.components[-1]])]
    if not going:
        return None
    relations = tuple(relation for relation in problem.job.relations if relation not in going)
    return replace(problem, job=replace(problem.job, relations=relations))


SHARE = 0.1
"""Share of the search time for lower bounds."""
MOST_BESIDE = 8
"""Maximum number of choices planned only for alternatives beside the best plan."""
MOST_TOLD = 4
"""Maximum number of reasons, and of choices listed for a reason."""


def plan_leading_choices(problem: Problem, plan: Solve, limit: float, session: Session) -> Answer:
    """Plan every choice of leading degrees and models; unread pool sizes stay open."""
    if problem.job.planning.unread_choices and not problem.job.planning.followed:
        return not_all_read(problem.job.planning.unread_choices)
    leaders = {leader: problem.job.choices.get(leader, ()) for leader in problem.job.leaders}
    is_open = any(choices and choices != (problem.own_degrees(problem[name]),) for name, choices in leaders.items())
    of_models = [choices_of_models(variant) for variant in (each_choice(problem) if is_open else [problem])]
    every = [variant for problems, _ in of_models for variant in problems]
    unread = problem.job.planning.unread_choices + problem.job.planning.sizes_not_read + sum(count for _, count in of_models)
    if len(every) == 1 and not is_open and not unread:
        return plan(every[0])
    some, was_interrupted, lower_bound = cheapest_first(plan, every, limit, session)
    answers = [result for _, result in sorted(some.items())]
    open_ = was_interrupted or unread > 0
    if all(result.verdict == IMPOSSIBLE for result in answers):
        if open_:
            return not_all_read(unread + len(every) - len(answers))
        return none_of_choices(every, [name for name, choices in leaders.items() if choices], answers)
    questions = list[PlanningProblem]()  # as answered in the end
    for number, variant in enumerate(every):
        result = some[number].planned if number in some else None
        questions += [planning_problem(variant)] if result is None else result.parts or [result.question]
    return _best(answers, open_, tuple(questions), lower_bound)


def _best(answers: list[Answer], was_interrupted: bool, questions: tuple[PlanningProblem, ...], lower_bound: int | None) -> Answer:
    """Return the best answer with the proof over all choices."""
    results = [(answer.planned, answer) for answer in answers if answer.planned is not None]
    if not results:
        return next(answer for answer in answers if answer.verdict != IMPOSSIBLE)
    winner, best = min(results, key=lambda entry: (entry[0].price, not entry[0].is_own))
    open_ = was_interrupted or any(answer.planned is None and answer.verdict != IMPOSSIBLE for answer in answers)
    bound = 0 if open_ else min(result.bound for result, _ in results)
    rivals, unsure, left_out = list[CostedDesign](), set[int](), open_ or any(result.alternatives_open for result, _ in results)
    for result, _ in results:
        is_alike = result.question.kinds == winner.question.kinds
        left_out = left_out or not is_alike
        for candidate in (result.best, *result.alternatives) if is_alike else ():
            rivals.append(replace(candidate, models=candidate.models or result.question.scope.on_models))
            unsure |= {id(rivals[-1])} if any(candidate is original for original in result.not_placed) else set()
    by_structure = dict[object, CostedDesign]()
    for rival in sorted(rivals, key=lambda candidate: candidate.price(winner.question)):
        by_structure.setdefault(rival.design.structure(), rival)
    by_structure.pop(winner.best.design.structure(), None)
    alternatives = tuple(by_structure.values())[:ALTERNATIVES]
    alternatives_open = left_out or (
        lower_bound is not None and (len(alternatives) < ALTERNATIVES or alternatives[-1].price(winner.question)[0] >= lower_bound)
    )
    is_proved = bound == winner.price[0]
    ties_open = is_proved and any(result.ties_open or not result.proved for result, _ in results if result.bound <= bound)
    unplaceable = tuple(
        out if result is winner else replace(out, question=out.question or result.question)
        for result, _ in results
        for out in result.unplaceable
    )
    merged_result = replace(
        winner, bound=bound, proved=is_proved, ties_open=ties_open, alternatives=alternatives, alternatives_open=alternatives_open, parts=questions,
        unplaceable=unplaceable, not_placed=tuple(alternative for alternative in alternatives if id(alternative) in unsure),
        spent=sum(result.spent for result, _ in results),
    )  # fmt: skip
    return replace(best, planned=merged_result)


def cheapest_first(plan: Solve, every: Sequence[Problem], limit: float, session: Session) -> tuple[dict[int, Answer], bool, int | None]:
    """Return answers by number, whether interrupted, and a lower bound of the rest, if any."""
    bounds, answers, count_beyond = lower_bounds(every, SHARE * limit, session), dict[int, Answer](), 0
    for number in sorted(range(len(every)), key=lambda index: bounds[index]):
        if answers and session.cancelled:
            return answers, True, None
        results, lower_bound = [answer.planned for answer in answers.values() if answer.planned is not None], bounds[number]
        if results and lower_bound > min(result.price[0] for result in results):
            count_beyond += 1
            if lower_bound >= ENDLESS:
                break
            if count_beyond > MOST_BESIDE or _are_known(results, lower_bound):
                return answers, False, lower_bound
        answers[number] = plan(every[number])
    return answers, False, None


def _are_known(results: Sequence[PlanningResult], lower_bound: int) -> bool:
    """Return True if the best other structures are known, given the bound of the rest."""
    best = min(results, key=lambda result: result.price)
    rivals = (candidate for result in results for candidate in (result.best, *result.alternatives))
    less = (candidate for candidate in rivals if candidate.price(best.question)[0] < lower_bound)
    return len({candidate.design.structure() for candidate in less} - {best.best.design.structure()}) >= ALTERNATIVES


def lower_bounds(every: Sequence[Problem], limit: float, session: Session) -> list[int]:
    """Return a lower bound of every problem, in ns or accelerators, within `limit` deterministic seconds.

    It is 0 if unknown, as with the file's own ranks.
    """
    bounds, spent = list[int](), 0.0
    for problem in every:
        question, bound = planning_problem(problem), 0
        if not (problem.job.planning.own or spent >= limit or session.cancelled):
            outcome = (
                search(question, cost_model(problem.workload.model), limit - spent, session=session)
                if all(question.options.values())
                else None
            )
            spent += outcome.spent if outcome is not None else 0.0
            if outcome is None or (outcome.best is None and outcome.proved):
                bound = ENDLESS
            elif outcome.best is not None and outcome.bound is not None:
                bound = outcome.bound + (0 if question.aim == SECONDS else question.given.held)
        bounds.append(bound)
    return bounds


def none_of_choices(every: Sequence[Problem], leaders: Sequence[str], answers: Sequence[Answer]) -> Answer:
    """Return the infeasible answer with the reason and helps of every choice."""
    why = dict[tuple[str, ...], tuple[Finding, list[str]]]()
    for choice, answer in zip(every, answers):
        degrees = [f"{choice[name].parallel} of `{name}`" for name in leaders]
        models = [f"`{name}` on {join_names(names)}" for name, names in choice.workload.on_models.items()]
        for finding in answer.findings[:1]:
            why.setdefault((finding.message, *finding.notes), (finding, []))[1].append(join_names([*degrees, *models]))
    if len(why) < 2:
        return answers[0]
    reasons = [(_any_of(names), finding) for finding, names in why.values()][:MOST_TOLD]
    common = [note for note in reasons[0][1].notes if all(note in finding.notes for _, finding in reasons)]
    notes = list[str]()
    for names, finding in reasons:
        own = "; ".join(note for note in finding.notes if note not in common)
        notes.append(f"with {names}, {finding.message.removeprefix('impossible: ')}" + (f": {own}" if own else ""))
    notes += common
    notes += [f"{len(why) - MOST_TOLD} more reasons"] if len(why) > MOST_TOLD else []
    message = f"impossible: no plan with any of {len(every)} choices of degrees and models"
    helps = "; ".join(f"with {names}, {finding.help}" for names, finding in reasons if finding.help)
    span = next((finding.span for _, finding in reasons if finding.span is not None), None)
    return Answer(IMPOSSIBLE, findings=(error("PW601", "", message, span, help=helps, notes=tuple(notes)),), how="search")


def _any_of(names: Sequence[str]) -> str:
    more = len(names) - MOST_TOLD
    return " or ".join(names[:MOST_TOLD]) + (f" or {more} more" if more > 0 else "")
