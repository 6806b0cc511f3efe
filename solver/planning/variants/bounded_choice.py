"""What is known of a choice of models before it is planned: what no plan of it costs less than."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from ....models.planning.question import Question
from ....models.planning.workload import SECONDS
from ..searching.price import Price
from .spanning import Models


class Choice(NamedTuple):
    """The models of some components, and what no plan on these costs less than.

    `least` : what is as small as possible and what comes second; None where there is no such plan. `over_nodes` : the first of these, where
    tensor parallel groups may lie over nodes; None where that is nothing else, or there is no such plan.
    """

    models: Models
    least: Price | None
    over_nodes: int | None = None


class Left(NamedTuple):
    """A choice that is left: what it costs at least, how many models it names, and its number."""

    least: Price
    size: int
    number: int
    choice: Choice


def no_dearer(question: Question, known: Price | None) -> Question:
    """The question, of which only what costs no more than is known is an answer."""
    if known is None:
        return question
    budget = question.budget
    most = known[0] if question.aim == SECONDS else known[0] - question.held
    its = budget.nanoseconds if question.aim == SECONDS else budget.accelerators
    most = most if its is None else min(most, its)
    budget = replace(budget, nanoseconds=most) if question.aim == SECONDS else replace(budget, accelerators=most)
    return replace(question, budget=budget)


def least_price(question: Question, bound: int | None, best: Price | None) -> Price | None:
    """What no design costs less than, with accelerators of all components; `best` is one that is proved to be the best."""
    if bound is None:
        return None
    first, second = best or (bound, 0)
    return (first, second + question.held) if question.aim == SECONDS else (first + question.held, second)
