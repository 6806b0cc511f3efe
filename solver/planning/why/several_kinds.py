"""Given ranks on several kinds of accelerators of which nobody knows who shares them, or how long they take."""

from __future__ import annotations

from typing import Sequence

from ....models.answer import IMPOSSIBLE, UNDECIDED, Answer
from ....models.component import Component
from ....models.findings.finding import Finding, error
from ....models.machines.node import Node
from ....models.machines.node_group import ACCELERATOR
from ....models.planning.question import Question
from ....models.problem import Problem
from ...wording import listed
from ..asking.slowest import untimed_on
from .said import model_name


def by_given_ranks(problem: Problem, question: Question) -> Answer | None:
    """The answer where ranks with times are given on kinds that something tells apart, and who shares them, or for how long, nobody knows."""
    known = {name for kind in question.kinds for name in kind.holders}
    for component in problem.components if len(question.kinds) > 1 else ():
        if component.name in question.options and component.name not in known and _is_given(problem, component):
            its = [problem.cluster.nodes[node] for node, _ in problem.given().masks(component.name)]
            models = dict.fromkeys(model_name(node.accelerator_model) for node in its)
            if len({question.kind_of(node.accelerator_model, node.accelerator_memory) for node in its}) > 1:
                if finding := _around_of_one_model(problem, question, component, its):
                    return Answer(IMPOSSIBLE, findings=(finding,), how="given")
                where = f"by its ranks `{component.name}` is on several kinds of accelerators ({listed(list(models))})"
                missing = untimed_on(problem, component)
                message = f"undecided: {where}, and {f'nothing says how long {missing}' if missing else 'no plan has that'}"
                help_text = f"give it {'that time, ' if missing else ''}ranks of one kind, or no ranks"
                return Answer(UNDECIDED, findings=(error("PW602", component.name, message, help=help_text),), how="given")
    return None


def _is_given(problem: Problem, component: Component) -> bool:
    return component.runs is not None and problem.kind(component) == ACCELERATOR


def _around_of_one_model(problem: Problem, question: Question, given: Component, nodes: Sequence[Node]) -> Finding | None:
    """Why given ranks have no place within a component, or with it, that may use one model alone; None where they have."""
    around = {other: "within" for one, other in question.within if one == given.name}
    around.update((name, "colocated with") for pair in question.together if given.name in pair for name in pair)
    for name, how in around.items():
        model = problem[name].accelerator_model
        strange = [node for node in nodes if model not in ("", node.accelerator_model)]
        if strange and problem[name].runs is None:
            others = listed(list(dict.fromkeys(model_name(node.accelerator_model) for node in strange)))
            message = f"impossible: `{given.name}` is {how} `{name}`, which may use {model} alone, and by its ranks it is on {others} too"
            help_text = f"give `{given.name}` ranks on {model}, or let `{name}` use other models"
            return error("PW601", name, message, problem[name].span("accelerator_model"), help=help_text)
    return None
