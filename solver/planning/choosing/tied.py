"""Each choice of degrees that others follow, and of models in a heterogeneous plan, is planned by itself: the best of all is the answer."""

from __future__ import annotations

from dataclasses import replace
from typing import Sequence

from ....models.answer import IMPOSSIBLE, Answer, Solve
from ....models.planning.planned import Planned, Priced, Unplaceable
from ....models.planning.question import Question
from ....models.planning.workload import Workload
from ....models.problem import Problem
from ...wording import listed
from ..asking.asked import asked
from ..asking.of_ties import each_choice
from ..asking.spanning import choices_of_models
from ..loop.beside import ALTERNATIVES
from ..loop.told import not_all_read
from .cheapest_first import cheapest_first
from .told import none_of_choices, not_all_known


def tied(plan: Solve, limit: float = 10.0, seed: int = 1, answer_interrupted: bool = True) -> Solve:
    """How a problem is planned, given how one is in which nobody's degrees follow from a choice, and who is on which models is chosen.

    Choices of which no plan can be better than one with another choice are not planned; what they take at least is known in a share of
    the `limit`.
    """

    def answer(problem: Problem) -> Answer:
        if problem.job.not_read and not problem.job.followed:
            return not_all_read(problem.job.not_read)
        leaders = {leader: problem.job.choices.get(leader, ()) for leader in problem.job.leaders}
        is_open = any(choices and choices != (problem.own_degrees(problem[name]),) for name, choices in leaders.items())
        of_models = [choices_of_models(each) for each in (each_choice(problem) if is_open else [problem])]
        every = [each for its, _ in of_models for each in its]
        if len(every) == 1 and not is_open:
            return plan(every[0])
        some, left, least = cheapest_first(plan, every, limit, seed, answer_interrupted)
        answers = [its for _, its in sorted(some.items())]
        unread = problem.job.not_read + sum(count for _, count in of_models)
        open_ = left or unread > 0
        if all(its.verdict == IMPOSSIBLE for its in answers):
            if open_:
                return not_all_read(unread + len(every) - len(answers))
            return none_of_choices([_named(each, [name for name, its in leaders.items() if its]) for each in every], answers)
        questions = tuple(
            replace(question, leading={leader: each[leader].parallel for leader, choices in leaders.items() if choices})
            for number, each in enumerate(every)
            for question in _questions(each, some[number].planned if number in some else None)
        )
        return _best(answers, open_, questions, least)

    return answer


def _named(choice: Problem, leaders: Sequence[str]) -> str:
    """A choice in words: its degrees of leaders, and its models of components."""
    models = choice.job.workload.on_models if choice.job.workload else {}
    degrees = [f"{choice[name].parallel} of `{name}`" for name in leaders]
    return listed([*degrees, *(f"`{name}` on {listed(its)}" for name, its in models.items())])


def _questions(problem: Problem, planned: Planned | None) -> tuple[Question, ...]:
    """The questions of one choice, as they were answered in the end."""
    if planned is None:
        return (asked(problem, problem.job.workload or Workload()),)
    return planned.parts or (planned.question,)


def _best(
    answers: list[Answer],
    left: bool,
    questions: tuple[Question, ...],
    least: int | None,
) -> Answer:
    """The best of them, with what all of them prove; `left`: some were not planned. `questions`: of all choices.

    `least`: what those that need not be planned cost at least.
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
    merged = replace(
        planned, bound=bound, proved=proved, ties_open=ties_open, others=kept, others_open=others_open, parts=questions,
        unplaceable=tuple(_of_its_question(out, each, planned) for each, _ in known for out in each.unplaceable), not_placed=tuple(each for each in kept if id(each) in unsure),
        spent=sum(each.spent for each, _ in known), seen=tuple(design for each, _ in known for design in each.seen),
    )  # fmt: skip
    return replace(best, planned=not_all_known(merged) if open_ else merged)


def _of_its_question(out: Unplaceable, its: Planned, planned: Planned) -> Unplaceable:
    """What one choice found to have no placement, with the question of that one where it is another than that of the best."""
    return out if its is planned else replace(out, question=out.question or its.question)


def _beside(planned: Planned, question: Question) -> tuple[Sequence[Priced], Sequence[Priced]]:
    """What one choice found, by the kinds of a question, and what of that is not placed; nothing where they are other kinds."""
    if planned.question.kinds != question.kinds:
        return (), ()
    unsure = {id(each) for each in planned.not_placed}
    every = [planned.best, *planned.others]
    found = [replace(each, models=each.models or planned.question.on_models) for each in every]
    return found, [its for its, each in zip(found, every) if id(each) in unsure]
