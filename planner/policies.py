"""Which of several plans of one problem is the answer: with degrees that divide, memory by estimates or none, sets inside others or none."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Callable, Iterator, Mapping, NamedTuple, Sequence

from ..models.answer import IMPOSSIBLE, Answer, Solve
from ..models.findings.finding import Finding, Severity, warning
from ..models.memory.bill import BlockBill
from ..models.model_cards.use import WORDS, Split
from ..models.parallel import Parallel
from ..models.placements.assignment import Assignment
from ..models.placements.plan import Plan
from ..models.planning.design import Design
from ..models.planning.kind import NO_KIND
from ..models.planning.planned import Planned, Priced
from ..models.planning.question import Question
from ..models.planning.workload import SECONDS, Workload
from ..models.problem import Problem
from ..solver.sandbox.interrupts import unless_heard, was_heard
from ..solver.wording import few
from .check import price
from .costs import cost_model
from .costs.cost_model import iteration, segment_times
from .memory import bills, decides, none_fits, without_estimates
from .problem import asked
from .profile import as_planned, card_of, evenly, uneven
from .search.search import search
from .tied import not_all_known
from .unplaced import not_all_sizes

CODE = "PW404"


Refused = Callable[[Plan, Design], Sequence[Finding]]


def dividing(plan: Solve) -> Solve:
    """How problems are planned: with degrees of which nothing would be warned, and with all of them where these allow no plan."""

    def planned(problem: Problem) -> Answer:
        even = evenly(problem)
        answer = plan(even or problem)
        if even is not None and answer.verdict == IMPOSSIBLE:
            even, answer = None, plan(problem)
        if answer.planned is None and answer.plan is None:
            return answer
        told = (*_torn(problem, answer), *(_left_out(problem, even) if even else ()))
        return replace(answer, findings=(*answer.findings, *told))

    return planned


def _chosen(problem: Problem, answer: Answer) -> Mapping[str, Parallel]:
    """The degrees of an answer, of components that had others to choose from."""
    if answer.planned is not None:
        return {name: option.parallel for name, option in answer.planned.best.design.options.items() if name in problem.job.choices}
    return {name: its for name, its in answer.plan.degrees.items() if name in problem.job.choices} if answer.plan else {}


def _torn(problem: Problem, answer: Answer) -> Iterator[Finding]:
    """What does not divide by the degrees that were chosen; of one that is not open `verify` says it of the file."""
    for name, parallel in _chosen(problem, answer).items():
        component, card = problem[name], card_of(problem, name)
        if not (name in problem.job.own and parallel == problem.own_degrees(component)):
            for split in uneven(problem, component, parallel):
                amount, most = getattr(card, split.what), problem.cluster.total(problem.kind(component))
                what, even = f"{amount} {WORDS[split.what]}", [size for size in range(1, most + 1) if split.fits(amount, size)]
                message = f"the plan has {split.degree} {split.of(parallel)} for `{name}`, among which its {what} do not divide"
                advice = f"if what runs it needs them divided evenly, let {split.degree} be one of {few(even)} too"
                yield warning(CODE, name, message, component.span("parallel"), help=advice)


def _left_out(problem: Problem, even: Problem) -> Iterator[Finding]:
    """What was not planned, though only a warning would be said of it."""
    for name, kept in even.job.choices.items():
        component, card = problem[name], card_of(problem, name)
        dropped = (each for each in problem.job.choices[name] if each not in kept)
        torn: dict[Split, dict[int, None]] = {}
        for parallel in dropped:
            splits = list(uneven(problem, component, parallel))
            if card is not None and (card.assumed or not any(split.proved for split in splits)):
                for split in splits:
                    torn.setdefault(split, {})[split.of(parallel)] = None
        for split, sizes in torn.items():
            degrees = " or ".join(f"{split.degree} {size}" for size in sorted(sizes))
            message = (
                f"no plan with {degrees} of `{name}` was looked at: its {getattr(card, split.what)} {WORDS[split.what]} do not divide so"
            )
            advice = "leave only such degrees open, if what runs it takes them"
            yield Finding(CODE, Severity.INFO, name, message, component.span("parallel"), help=advice)


def refused_degrees(problem: Problem) -> Iterator[str]:
    """One sentence for each component of which open degrees are in no plan, since what runs its model refuses them."""
    even = evenly(problem)
    left = even.job.choices if even is not None else {}
    for name, kept in left.items():
        card, torn = card_of(problem, name), dict[str, dict[str, None]]()
        for parallel in problem.job.choices.get(name, ()) if card is not None and not card.assumed else ():
            against = [split for split in uneven(problem, problem[name], parallel) if split.proved]
            if against and parallel not in kept:
                degree = f"{against[0].degree} {against[0].of(parallel)}"
                torn.setdefault(f"{getattr(card, against[0].what)} {WORDS[against[0].what]}", {})[degree] = None
        yield from (f"{name}: not with {' or '.join(degrees)}, among which its {what} do not divide" for what, degrees in torn.items())


def preferring(problem: Problem, plan: Solve, limit: float, seed: int) -> Answer:
    """The best plan that fits by every estimate, with what would win without them; where none fits, the best without them.

    An estimate is no demand: alone it makes nothing impossible, and it never decides without a word.
    """
    open_ = without_estimates(problem)
    if open_ is None:
        return plan(problem)
    answer = plan(problem)
    if answer.planned is None:
        if answer.verdict != IMPOSSIBLE:
            return answer  # something that fits may still be there
        other = plan(open_)
        if other.planned is None:
            return other
        its = _bills(problem, _Without(other.planned.best, other.planned.question, other.plan.assignment if other.plan else None))
        return replace(other, findings=(*other.findings, none_fits(problem, its)))
    better = unless_heard(partial(_better, open_, answer.planned, plan, limit, seed), lambda: None)
    if better is None:
        return answer
    planned = replace(answer.planned, without_estimates=better.priced, without_question=better.question)
    finding = decides(problem, planned.question, planned.best, better.priced, _bills(problem, better))
    return replace(answer, planned=planned, findings=(*answer.findings, finding))


class _Without(NamedTuple):
    """What wins without estimates, of which question it is a design, and where it was placed, if it was."""

    priced: Priced
    question: Question
    placed: Assignment | None = None


def _better(open_: Problem, planned: Planned, plan: Solve, limit: float, seed: int) -> _Without | None:
    """What wins without estimates, if that is better than what was planned.

    It is placed only where traffic counts as time, degrees follow others, or a component may be on several kinds of accelerators at once.
    """
    workload = open_.job.workload
    if workload is None:
        return None
    if workload.bandwidth or planned.in_part or planned.question.over_kinds:
        answer = plan(open_)
        other = answer.planned
        if other is None or answer.plan is None or other.price >= planned.price:
            return None
        return _Without(other.best, other.question, answer.plan.assignment)
    question, model = asked(as_planned(open_, planned), workload, planned.question.barred), cost_model(workload.model)
    found = search(question, model, limit, seed).best
    if found is None or found.price >= price(planned.question, model, planned.compared):
        return None
    priced = Priced(found.design, iteration(model, question, found.design), tuple(segment_times(model, question, found.design)))
    return _Without(priced, question)


def _bills(problem: Problem, its: _Without) -> tuple[BlockBill, ...]:
    """For each set that is planned, what its components need."""
    return tuple(each for each in bills(problem, its.question, its.priced.design, its.placed) if each.block.kind != NO_KIND)


def nesting(plan: Solve, refused: Refused) -> Solve:
    """How a problem is planned, given how any is; what is proved of the answer holds for both sorts of designs.

    One that is `refused` is the answer only where one without others inside is refused too, or there is none.
    """

    def is_worse(found: Answer, flat: Planned, workload: Workload) -> bool:
        if found.planned is None or found.plan is None:
            return True
        out = any(refused(found.plan, found.planned.best.design))
        return out or _price(found.planned, workload) > _price(flat, workload)

    def answer(problem: Problem) -> Answer:
        found, workload = plan(problem), problem.job.workload
        if workload is None or not workload.nested or found.verdict == IMPOSSIBLE or (found.planned is not None and found.planned.proved):
            return found
        if was_heard():
            return found
        flat = plan(replace(problem, job=replace(problem.job, workload=replace(workload, nested=False))))
        if flat.planned is None or not is_worse(found, flat.planned, workload):
            return found
        bound = found.planned.bound if found.planned is not None else 0
        question = replace(flat.planned.question, nested=True, only_within=False)
        planned = replace(flat.planned, question=question, bound=min(bound, flat.planned.bound), proved=False)
        return replace(flat, planned=planned)

    return answer


def _price(planned: Planned, workload: Workload) -> int:
    best = planned.best
    return best.nanoseconds + best.traffic if workload.aim == SECONDS else best.accelerators(planned.question)


def unless_all_sizes_are_read(plan: Solve) -> Solve:
    """How a problem is planned, given how one is of whose pools every size is known."""

    def answer(problem: Problem) -> Answer:
        found, left = plan(problem), problem.job.sizes_not_read
        if not left:
            return found
        if found.planned is not None:
            return replace(found, planned=not_all_known(found.planned))
        return not_all_sizes(left) if found.verdict == IMPOSSIBLE else found

    return answer
