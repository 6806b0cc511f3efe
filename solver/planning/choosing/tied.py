"""Where components have whatever degrees another one has: each choice of these is planned by itself, and the best of all is the answer."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain, product
from typing import Callable, Iterator, Mapping, Sequence

from ....models.answer import IMPOSSIBLE, Answer, Solve
from ....models.parallel import Parallel
from ....models.planning.planned import Nested, OverNodes, Planned, Priced
from ....models.planning.question import Question
from ....models.planning.workload import SECONDS, Workload
from ....models.problem import Problem
from ...sandbox.interrupts import was_heard
from ..asking.asked import asked
from ..asking.of_ties import followed, with_degrees
from ..loop.beside import ALTERNATIVES
from ..variants.merging import of_one_kind
from ..variants.spanning import spans
from .told import of_choices


def tied(plan: Solve, only_over_nodes: Callable[[Problem], OverNodes | None], only_inside: Callable[[Problem], Nested | None]) -> Solve:
    """How a problem is planned, given how one is in which nobody's degrees follow from a choice.

    `only_over_nodes` says what a choice comes to with tensor parallel groups over nodes that is impossible without them, `only_inside` where
    a component uses only some of another's accelerators.
    """

    def answer(problem: Problem) -> Answer:
        leaders = {leader: problem.job.choices.get(leader, ()) for leader in problem.job.leaders}
        if not any(choices and choices != (problem.own_degrees(problem[name]),) for name, choices in leaders.items()):
            return plan(problem)
        answers, left = list[Answer](), False
        every = list(_each(problem, {leader: choices for leader, choices in leaders.items() if choices}))
        for each in every:
            if answers and was_heard():
                left = True
                break
            answers.append(plan(each))
        any_planned = any(its.planned is not None for its in answers)
        impossible = [each for each, its in zip(every, answers) if any_planned and its.verdict == IMPOSSIBLE]
        over = [only_over_nodes(each) for each in impossible if not was_heard()]
        inside = [only_inside(each) for each in impossible if not was_heard()]
        planned = [its.planned for its in answers] + [None] * (len(every) - len(answers))
        questions = tuple(chain.from_iterable(map(_questions, every, planned)))
        return _best(answers, problem, left, questions, over, inside)

    return answer


def _each(problem: Problem, leaders: Mapping[str, tuple[Parallel, ...]]) -> Iterator[Problem]:
    """The problem with each choice of these, but for those that its framework refuses."""
    each = (dict(zip(leaders, chosen)) for chosen in product(*leaders.values()))
    return (with_degrees(problem, degrees) for degrees in each if not problem.job.followed or followed(problem, degrees))


def _questions(problem: Problem, planned: Planned | None) -> tuple[Question, ...]:
    """The questions of one choice, as they were answered in the end."""
    if planned is None:
        return (asked(problem, problem.job.workload or Workload()),)
    return planned.parts or (planned.question,)


def _best(
    answers: list[Answer],
    problem: Problem,
    left: bool,
    questions: tuple[Question, ...],
    over_nodes: Sequence[OverNodes | None],
    nested: Sequence[Nested | None],
) -> Answer:
    """The best of them, with what all of them prove; `left`: some were not planned any more. `questions`: of all choices.

    `over_nodes`, `nested`: of the choices that are possible only so.
    """
    known = [(each.planned, each) for each in answers if each.planned is not None]
    if not known:
        return next((each for each in answers if each.verdict != IMPOSSIBLE), answers[0])
    by_time = problem.job.workload is None or problem.job.workload.aim == SECONDS
    planned, best = min(known, key=lambda its: (its[0].price, not its[0].is_own))

    def price(priced: Priced) -> tuple[int, int]:
        takes, used = priced.nanoseconds + priced.traffic, priced.design.held(planned.question)
        return (takes, used) if by_time else (used, takes)

    open_ = left or any(each.planned is None and each.verdict != IMPOSSIBLE for each in answers)
    bound = 0 if open_ else min(each.bound for each, _ in known)
    others = dict[object, Priced]()
    each_beside = [_beside(each, planned.question) for each, _ in known]
    beside = [other for every, _ in each_beside for other in every if other is not planned.best]
    for other in sorted(beside, key=price):
        if other.design.structure() != planned.best.design.structure():
            others.setdefault(other.design.structure(), other)
    kept = tuple(others.values())[:ALTERNATIVES]
    unsure = {id(priced) for _, not_placed in each_beside for priced in not_placed}
    proved = bound == planned.price[0]
    ties_open = proved and any(each.ties_open or not each.proved for each, _ in known if each.bound <= bound)
    wider = [each.over_kinds for each, _ in known if each.over_kinds is not None and each.over_kinds < bound]
    every = [each for each, _ in known]
    merged = replace(
        planned, bound=bound, proved=proved, ties_open=ties_open, others=kept, parts=questions,
        over_kinds=min(wider, default=None),
        at_once=of_choices(planned, every, lambda each: each.at_once), nested=of_choices(planned, every, lambda each: each.nested, nested),
        over_nodes=of_choices(planned, every, lambda each: each.over_nodes, over_nodes),
        unplaceable=tuple(out for each, _ in known for out in each.unplaceable), not_placed=tuple(each for each in kept if id(each) in unsure),
        spent=sum(each.spent for each, _ in known), seen=tuple(design for each, _ in known for design in each.seen),
    )  # fmt: skip
    return replace(best, planned=merged)


def _beside(planned: Planned, question: Question) -> tuple[Sequence[Priced], Sequence[Priced]]:
    """What one choice found, by the kinds of a question, and what of that is not placed; nothing where they are other kinds."""
    if planned.question.kinds == question.kinds:
        return (planned.best, *planned.others), planned.not_placed
    return of_one_kind(planned, question) if spans(question) and not spans(planned.question) else ((), ())
