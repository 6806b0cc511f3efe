"""Where components have whatever degrees another one has: each choice of these is planned by itself, and the best of all is the answer."""

from __future__ import annotations

from dataclasses import replace
from typing import Callable, Sequence

from ....models.answer import IMPOSSIBLE, Answer, Solve
from ....models.planning.planned import AtOnce, Nested, OverNodes, Planned, Priced, Unplaceable
from ....models.planning.question import Question
from ....models.planning.workload import Workload
from ....models.problem import Problem
from ...sandbox.interrupts import was_heard
from ..asking.asked import asked
from ..asking.of_ties import each_choice
from ..loop.beside import ALTERNATIVES
from ..loop.told import not_all_read
from ..variants.merging import of_one_kind, with_models
from ..variants.spanning import spans
from .cheapest_first import cheapest_first
from .told import less_than_each, none_of_choices, not_all_known, of_choices


def tied(
    plan: Solve, only_over_nodes: Callable[[Problem], OverNodes | None], only_inside: Callable[[Problem], Nested | None],
    only_both: Callable[[Problem], AtOnce | None], limit: float = 10.0, seed: int = 1, answer_interrupted: bool = True,
) -> Solve:  # fmt: skip
    """How a problem is planned, given how one is in which nobody's degrees follow from a choice.

    `only_over_nodes` says what a choice comes to with tensor parallel groups over nodes that is impossible without them, `only_inside` where
    a component uses only some of another's accelerators, `only_both` where both may be. Choices of which no plan can be better than one
    with another choice, whatever nobody asked for, are not planned; what they take at least is known in a share of the `limit`.
    """

    def answer(problem: Problem) -> Answer:
        if problem.job.not_read and not problem.job.followed:
            return not_all_read(problem.job.not_read)
        leaders = {leader: problem.job.choices.get(leader, ()) for leader in problem.job.leaders}
        if not any(choices and choices != (problem.own_degrees(problem[name]),) for name, choices in leaders.items()):
            return plan(problem)
        every = list(each_choice(problem))
        some, left, least = cheapest_first(plan, every, limit, seed, answer_interrupted)
        answers = [its for _, its in sorted(some.items())]
        open_ = left or problem.job.not_read > 0
        if all(its.verdict == IMPOSSIBLE for its in answers):
            if open_:
                return not_all_read(problem.job.not_read + len(every) - len(answers))
            named = [" and ".join(f"{each[name].parallel} of `{name}`" for name, its in leaders.items() if its) for each in every]
            return none_of_choices(named, answers)
        any_planned = any(its.planned is not None for its in answers)
        impossible = [every[number] for number, its in sorted(some.items()) if any_planned and its.verdict == IMPOSSIBLE]
        over = [only_over_nodes(each) for each in impossible if not was_heard()]
        inside = [only_inside(each) for each in impossible if not was_heard()]
        both = [only_both(each) for each in impossible if not was_heard()]
        questions = tuple(
            replace(question, leading={leader: each[leader].parallel for leader, choices in leaders.items() if choices})
            for number, each in enumerate(every)
            for question in _questions(each, some[number].planned if number in some else None)
        )
        return _best(answers, problem, open_, questions, over, inside, both, least)

    return answer


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
    both: Sequence[AtOnce | None],
    least: int | None,
) -> Answer:
    """The best of them, with what all of them prove; `left`: some were not planned. `questions`: of all choices.

    `over_nodes`, `nested`, `both`: of the choices that are possible only so. `least`: what those that need not be planned cost at least.
    """
    known = [(each.planned, each) for each in answers if each.planned is not None]
    if not known:
        return next(each for each in answers if each.verdict != IMPOSSIBLE)
    planned, best = min(known, key=lambda its: (its[0].price, not its[0].is_own))

    open_ = left or any(each.planned is None and each.verdict != IMPOSSIBLE for each in answers)
    bound = 0 if open_ else min(each.bound for each, _ in known)
    others = dict[object, Priced]()
    each_beside = [_beside(each, planned.question) for each, _ in known]
    beside = [other for every, _ in each_beside for other in every]
    for other in sorted(beside, key=lambda its: its.price(planned.question)):
        if other.design.structure() != planned.best.design.structure():
            others.setdefault(other.design.structure(), other)
    kept = tuple(others.values())[:ALTERNATIVES]
    left_out = any(not every for every, _ in each_beside) or any(each.others_open for each, _ in known)
    others_open = left_out or (least is not None and (len(kept) < ALTERNATIVES or kept[-1].price(planned.question)[0] >= least))
    unsure = {id(priced) for _, not_placed in each_beside for priced in not_placed}
    proved = bound == planned.price[0]
    ties_open = proved and any(each.ties_open or not each.proved for each, _ in known if each.bound <= bound)
    wider = [each.over_kinds for each, _ in known if each.over_kinds is not None and each.over_kinds < bound]
    every = [each for each, _ in known]
    told = (
        of_choices(planned, every, lambda each: each.nested, nested),
        of_choices(planned, every, lambda each: each.over_nodes, over_nodes),
    )
    merged = replace(
        planned, bound=bound, proved=proved, ties_open=ties_open, others=kept, others_open=others_open, parts=questions,
        over_kinds=min(wider, default=None),
        nested=told[0], over_nodes=told[1], at_once=less_than_each(of_choices(planned, every, lambda each: each.at_once, both), told),
        unplaceable=tuple(_of_its_question(out, each, planned) for each, _ in known for out in each.unplaceable), not_placed=tuple(each for each in kept if id(each) in unsure),
        spent=sum(each.spent for each, _ in known), seen=tuple(design for each, _ in known for design in each.seen),
    )  # fmt: skip
    return replace(best, planned=not_all_known(merged) if open_ else merged)


def _of_its_question(out: Unplaceable, its: Planned, planned: Planned) -> Unplaceable:
    """What one choice found to have no placement, with the question of that one where it is another than that of the best."""
    return out if its is planned else replace(out, question=out.question or its.question)


def _beside(planned: Planned, question: Question) -> tuple[Sequence[Priced], Sequence[Priced]]:
    """What one choice found, by the kinds of a question, and what of that is not placed; nothing where they are other kinds."""
    if planned.question.kinds == question.kinds:
        return with_models(planned)
    return of_one_kind(planned, question) if spans(question) and not spans(planned.question) else ((), ())
