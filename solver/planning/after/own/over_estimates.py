"""What only estimates of memory say against the file's own ranks: it is told, and refuses nothing."""

from __future__ import annotations

from dataclasses import replace
from typing import Iterator

from .....models.memory.bill import DECLARED, BlockBill
from .....models.placements.assignment import Assignment
from .....models.planning.design import Design
from .....models.planning.option import Option
from .....models.planning.question import Question
from .....models.problem import Problem
from .....models.quantity import write_estimate, write_memory
from ....wording import listed
from ...memory.beside import bills


def as_declared(question: Question, design: Design) -> tuple[Question, Design]:
    """Both with the memory that is declared alone."""
    options = {name: tuple(map(_declared, its)) for name, its in question.options.items()}
    return replace(question, options=options), replace(design, options={name: _declared(its) for name, its in design.options.items()})


def _declared(option: Option) -> Option:
    return replace(option, memory=0, kept=0, estimated=False) if option.estimated else option


def over_estimates(problem: Problem, question: Question, design: Design) -> Iterator[str]:
    """Of which accelerators the ranks need more than there is by estimates, with their slack; not of those that what is declared overfills."""
    runs = {each.name: its for each in problem.components if (its := problem.job.own.get(each.name) or each.runs)}
    for each in bills(problem, question, design, Assignment(runs)):
        if each.tight and each.capacity is not None and not _is_overfilled(each, each.capacity):
            need = max(moment.demanded for moment in each.moments)
            names = listed(list(each.block.components))
            verb = "need" if len(each.block.components) > 1 else "needs"
            yield f"{names} {verb} {write_estimate(need)} of an accelerator, a tenth of which is to stay free, and it has {write_memory(each.capacity)}"


def _is_overfilled(bill: BlockBill, capacity: int) -> bool:
    return any(sum(entry.mebibytes for entry in moment.entries if entry.origin == DECLARED) > capacity for moment in bill.moments)
