"""How many accelerators are needed at the same time, where there are too few; of which model to add some was tried."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from ....models.findings.wording import are, plural, with_noun
from ....models.planning.question import Question
from ....models.planning.workload import ACCELERATORS, Workload
from ....models.problem import Problem
from ..searching.search import Searched
from .eased import Change, Tried, more_nodes, more_of_a_model
from .relations import Ask
from .said import its_sets, largest

ENOUGH = 64
"""So many times the accelerators that there are."""


def more(problem: Problem, question: Question, workload: Workload, searched: Ask, tried: Tried) -> Change | None:
    """With as many accelerators as anybody wants, each component as it can be now: how many are needed then?

    Where the dialect lays out what was chosen, that says nothing of which nodes help: these are tried.
    """
    have = sum(kind.accelerators for kind in question.kinds) + question.held
    kinds = tuple(replace(kind, accelerators=kind.accelerators * ENOUGH) for kind in question.kinds)
    found = searched(replace(question, aim=ACCELERATORS, kinds=kinds, areas=()))
    if found.best is None:
        return None
    several_models = len({node.accelerator_model for node in problem.cluster.nodes if node.accelerators}) > 1
    least, need, laid_out = at_least(found) + question.held, found.best.design.held(question), problem.job.laying is not None
    if need <= have:
        told = f"{need} {plural('accelerator', need)} would be enough, and those that each component may use do not go together"
        if not laid_out:
            added = more_of_a_model(problem, workload, tried, _missing(problem, question, found, 1)) if several_models else ""
            return Change(told, f"let components use other nodes, or {added or 'add some'}", (need, have))
        return Change(told, more_nodes(problem, workload, tried), (need, have))
    short = need - have
    if laid_out:
        help_text = more_nodes(problem, workload, tried, short)
    elif several_models:
        help_text = more_of_a_model(problem, workload, tried, _missing(problem, question, found, short))
    else:
        help_text = f"add {short} {plural('accelerator', short)}"
    design, where = found.best.design, largest(problem, found.best.design)
    if least <= have:  # more are not proved to be needed
        told = f"{with_noun(need, 'accelerator')} at the same time would be enough{its_sets(design)}; there {are(have)} {have}"
        return Change(told, help_text, (need, have), where)
    told = f"at least {with_noun(least, 'accelerator')} {are(least)} needed at the same time, there {are(have)} {have}"
    return Change(f"{told}{its_sets(design) if least == need else ''}", help_text, (least, have), where)


def _missing(problem: Problem, question: Question, found: Searched, short: int) -> dict[str, int]:
    """Model of accelerators -> how many of it a design has more than there are; `short` of each where it has more of none that is one model."""
    used = Counter[int]()
    for block in found.best.design.blocks if found.best is not None else ():
        used[block.kind] += block.accelerators
    missing = Counter[str]()
    for number, kind in enumerate(question.kinds):
        missing[kind.model] += max(used[number] - kind.accelerators, 0)
    models = dict.fromkeys(node.accelerator_model for node in problem.cluster.nodes if node.accelerators)
    return {model: missing[model] for model in models if missing[model]} or dict.fromkeys(models, short)


def at_least(found: Searched) -> int:
    """What no design of the question has fewer of: of accelerators or nanoseconds, as far as that is proved."""
    return found.bound or 0
