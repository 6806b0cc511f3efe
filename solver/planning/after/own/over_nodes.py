"""The file's own tensor parallel groups may lie over nodes where the framework lets given ranks do so."""

from __future__ import annotations

from dataclasses import replace

from .....models.planning.question import Question
from .....models.problem import Problem
from ...asking.asked import asked


def given_over_nodes(problem: Problem, question: Question) -> Question:
    """The question with the counts that only groups over nodes allow; as it is where the framework refuses these."""
    workload = problem.job.workload
    if workload is None or not problem.job.capabilities.groups_may_cross:
        return question
    wide = asked(problem, workload, over_nodes=True)
    options = {}
    for name, its in question.options.items():
        known = {(each.kind, each.amount, each.parallel) for each in its}
        more = (each for each in wide.options[name] if (each.kind, each.amount, each.parallel) not in known)
        options[name] = (*its, *more)
    return replace(question, options=options, areas=wide.areas)
