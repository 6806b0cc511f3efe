"""The best of the plans on one kind of accelerators and of those of each choice of models, with what all of them prove."""

from __future__ import annotations

from dataclasses import replace
from typing import Sequence

from ....models.answer import Answer
from ....models.planning.kind import NO_KIND
from ....models.planning.planned import OverNodes, Planned, Priced
from ....models.planning.question import Question
from ....models.problem import Problem
from ..loop.beside import ALTERNATIVES
from ..searching.price import Price
from .choices_of_models import questions_of
from .choosing_models import Choosing


def merged(problem: Problem, found: Answer, every: Choosing, least: int) -> Answer:
    """The better of the answer with each component on one kind, and the best of all choices, of which all cost `least` at least.

    What is proved of the second is proved of all plans on any kinds.
    """
    best = every.best
    if best is None:
        return found if found.planned is None else replace(found, planned=_on_one_kind(found.planned, every, least))
    answer = next(each for each in every.answers if each.planned is best)
    planned = tuple(each.planned for each in every.answers if each.planned is not None)
    bound, price = max(least, min(every.bounds)), best.price
    proved = best.proved and bound == price[0]
    if len(planned) == 1 and not best.question.on_models:
        return answer
    beside, not_placed = ([], []) if found.planned is None else of_one_kind(found.planned, best.question)
    told = [with_models(each) for each in planned]
    others = _others(best, [*beside, *(other for every, _ in told for other in every)])
    unsure = {id(priced) for priced in (*not_placed, *(priced for _, out in told for priced in out))}
    its = replace(
        best, bound=bound, proved=proved, ties_open=proved and (best.ties_open or _may_have_fewer(every, price)),
        parts=questions_of(problem, [each.question for each in planned]), others=others,
        not_placed=tuple(each for each in others if id(each) in unsure), over_nodes=_over_nodes(best, planned, every.only_over_nodes),
        spent=every.spent + (found.planned.spent if found.planned is not None else 0.0),
    )  # fmt: skip
    return replace(answer, planned=its)


def _on_one_kind(planned: Planned, every: Choosing, least: int) -> Planned:
    """The plan with each component on one kind, with what is told of others: with groups over nodes too where nothing is told of these."""
    told = [each.planned for each in every.answers if each.planned is not None]
    over_nodes = _over_nodes(planned, [planned, *told], [max(bound, least) for bound in every.only_over_nodes])
    less = [each for bound in every.bounds if (each := max(bound, least)) < planned.price[0]]
    ties = planned.proved and _may_have_fewer(every, planned.price)
    return replace(planned, over_kinds=min(less, default=None), over_nodes=over_nodes, ties_open=planned.ties_open or ties)


def _may_have_fewer(every: Choosing, price: Price) -> bool:
    """May a choice have a plan with as much of what is as small as possible, where none has less, and less of what comes second?"""
    planned = (each.planned for each in every.answers if each.planned is not None)
    open_ = any(its.bound <= price[0] and (its.ties_open or not its.proved) for its in planned)
    return open_ or any(each < price for each in every.left)


def _over_nodes(best: Planned, told: Sequence[Planned], bounds: Sequence[int]) -> OverNodes | None:
    """What is told of groups over nodes, of all choices: what may cost less than the best of these."""
    every = [_by_its_question(best.question, each.question, each.over_nodes) for each in told if each.over_nodes is not None]
    less = [bound for bound in (*bounds, *(each.bound for each in every)) if bound < best.price[0]]
    if not less:
        return None
    known = [(cost, each) for each in every if each.best is not None and (cost := each.best.price(best.question)) < best.price]
    return replace(min(known, key=lambda its: its[0])[1], bound=min(less)) if known else OverNodes(min(less))


def _by_its_question(question: Question, its: Question, told: OverNodes) -> OverNodes:
    """What is told of an answer to one question beside an answer to another."""
    alike = (its.kinds, its.on_models) == (question.kinds, question.on_models)
    return told if alike or told.best is None or told.question is not None else replace(told, question=its)


def _others(best: Planned, beside: Sequence[Priced]) -> tuple[Priced, ...]:
    """The best designs of other structures than that of the best."""
    found: dict[object, Priced] = {}
    for other in sorted(beside, key=lambda priced: priced.price(best.question)):
        if other.design.structure() != best.best.design.structure():
            found.setdefault(other.design.structure(), other)
    return tuple(found.values())[:ALTERNATIVES]


def with_models(planned: Planned) -> tuple[list[Priced], list[Priced]]:
    """The designs of an answer, each with the models that its components are on; and those of them that are not placed."""
    unsure = {id(each) for each in planned.not_placed}
    found = [
        (replace(each, models=each.models or planned.question.on_models), id(each) in unsure) for each in (planned.best, *planned.others)
    ]
    return [each for each, _ in found], [each for each, out in found if out]


def of_one_kind(planned: Planned, question: Question) -> tuple[list[Priced], list[Priced]]:
    """What was planned with each component on one kind, by the kinds of a question in which each is of a vendor; and what of it is not placed."""
    kinds = {NO_KIND: NO_KIND}
    for number, kind in enumerate(planned.question.kinds):
        its = question.kind_of(kind.models[0] if kind.models else kind.model, kind.memory) if len(question.kinds) > 1 else 0
        kinds.update({} if its is None else {number: its})

    def mixed(priced: Priced) -> Priced:
        design = priced.design
        blocks = tuple(replace(block, kind=kinds[block.kind]) for block in design.blocks)
        options = {name: replace(option, kind=kinds[option.kind]) for name, option in design.options.items()}
        its = {name: planned.question.kinds[option.kind].named for name, option in design.options.items() if option.kind != NO_KIND}
        models = {name: on for name, on in its.items() if all(on)}
        return replace(priced, design=replace(design, blocks=blocks, options=options), models=models)

    every = [each for each in (planned.best, *planned.others) if all(its.kind in kinds for its in each.design.options.values())]
    unsure = {id(each) for each in planned.not_placed}
    found = [(mixed(each), id(each) in unsure) for each in every]
    return [each for each, _ in found], [each for each, out in found if out]
