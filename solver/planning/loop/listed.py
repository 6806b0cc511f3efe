"""Of degrees with which a design is as good, those that are listed first: what is ruled out elsewhere does not choose them."""

from __future__ import annotations

from dataclasses import replace
from typing import Iterator

from ....models.planning.design import Design
from ....models.planning.option import Option
from ....models.planning.question import Question
from ..check import faults
from ..costs.cost_model import CostModel


def as_listed(design: Design, question: Question, model: CostModel, first: Question) -> Design:
    """The design with those degrees of the question in which nothing is ruled out (`first`), wherever it is an answer with them too.

    There the file's own come before the others, and these in the order in which they are listed. A search takes others as well where
    the first ones are ruled out with sizes that this design has not.
    """
    if not question.barred and question.crossing is not None:
        return design  # less of what they exchange may cross the topology with those that were found
    for name in question.components:
        for option in _before(design.options[name], first.options[name]):
            options = {**question.options, name: (*question.options[name], option)}
            tried = replace(design, options={**design.options, name: option})
            if not any(faults(replace(question, options=options), model, tried)):
                question, design = replace(question, options=options), tried
                break
    return design


def _before(mine: Option, options: tuple[Option, ...]) -> Iterator[Option]:
    """Those that are as good and come before it; all of them where it is only looked at since others are ruled out."""
    for each in options:
        if each == mine:
            return
        if (each.kind, each.amount, each.nanoseconds) == (mine.kind, mine.amount, mine.nanoseconds):
            yield each
