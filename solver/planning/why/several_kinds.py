"""Components on several kinds of accelerators: no design has them, so that where one might, nothing is proved to be impossible."""

from __future__ import annotations

from dataclasses import replace
from typing import Sequence

from ....models.answer import IMPOSSIBLE, UNDECIDED, Answer
from ....models.component import Component
from ....models.findings.finding import Finding, error
from ....models.machines.node import Node
from ....models.machines.node_group import ACCELERATOR
from ....models.planning.question import Question
from ....models.problem import Problem
from ...wording import listed
from ..asking.any_model import on_any_model
from ..asking.slowest import on_the_slowest, untimed_on
from .component import Helps, without_options
from .said import model_name


def of_one_kind(problem: Problem, question: Question) -> Problem | None:
    """The problem as if all accelerators of a vendor were of one kind; None where there is one kind already.

    It has every placement that the problem has, and takes no longer: who may use one kind alone is kept off the nodes of the others,
    of times on several kinds the shortest holds, for given ranks on several that of the slowest of these, and each accelerator has as much
    memory as the largest.
    """
    if len(question.kinds) < 2:
        return None
    nodes = tuple(problem.cluster.nodes)
    memories = [node.accelerator_memory for node in nodes if node.accelerators]
    most = None if None in memories else max(memory for memory in memories if memory is not None)
    alike = tuple(
        replace(node, accelerators=tuple(replace(each, model=each.vendor, memory=most) for each in node.accelerators)) for node in nodes
    )
    parts = tuple(_anywhere(problem, each) for each in problem.components)
    return replace(problem, cluster=replace(problem.cluster, nodes=alike), job=replace(problem.job, components=parts))


def in_no_way(problem: Problem, question: Question, alike: Problem | None, wider: Question, helps: Helps | None = None) -> list[Finding]:
    """A reason for each component that can be run in no way, on several kinds at once neither; `wider` is the question of `alike`."""
    found = list(without_options(problem, question, helps))
    if alike is None:
        return found
    wide, may = {each.subject: each for each in without_options(alike, wider, helps)}, on_several(problem, question)
    return [wide[each.subject] if each.subject in may else each for each in found if each.subject not in may or each.subject in wide]


def on_several(problem: Problem, question: Question) -> tuple[str, ...]:
    """The components of a question that may use accelerators of several of its kinds, also where a kind alone has too few for them."""
    searched = (problem[name] for name in question.options if problem[name].runs is None and problem.kind(problem[name]) == ACCELERATOR)
    return tuple(each.name for each in searched if len(_kinds_for(problem, each, question)) > 1)


def _kinds_for(problem: Problem, component: Component, question: Question) -> set[int]:
    """The kinds of the accelerators that a component may use, by where it may be and by which models its times are of."""
    models, nodes = _models(component), (problem.cluster.nodes[rank] for rank in _ranks(problem, component))
    its = (
        question.kind_of(node.accelerator_model, node.accelerator_memory)
        for node in nodes
        if node.accelerators and (not models or node.accelerator_model in models)
    )
    return {kind for kind in its if kind is not None}


def _ranks(problem: Problem, component: Component) -> frozenset[int]:
    """The nodes that it may use, whatever their accelerators are."""
    return frozenset(problem.cluster.members(component.node_groups)) - frozenset(component.excluded)


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


def undecided(helps: Sequence[str], searched: bool = False) -> Answer:
    """The answer where there may be a design with components on several kinds, and there is no other; by `helps` there would be.

    `searched`: it was looked for, and not found as long as there was time.
    """
    several = "on several at once nothing was found in time" if searched else "on several at once was not searched"
    message = f"undecided: no counts and degrees fit together with each component on one kind of accelerators; {several}"
    help_text = ", or ".join([*helps, "give counts that one kind has, or the ranks themselves"])
    return Answer(UNDECIDED, findings=(error("PW602", "", message, help=help_text),), how="search")


def _anywhere(problem: Problem, component: Component) -> Component:
    """The component without models; on nodes of those alone that it may use, and that its times are of."""
    if not untimed_on(problem, component):
        component = on_the_slowest(problem, component)
    models, timed, nodes = _models(component), component.timed, problem.cluster.nodes
    if timed is not None:
        there = {nodes[rank].accelerator_model for rank in _ranks(problem, component) if nodes[rank].accelerators}
        timed = on_any_model(timed, there & models if models else there)
    others = (node.rank for node in nodes if models and node.accelerators and node.accelerator_model not in models)
    return replace(component, accelerator_model="", timed=timed, excluded=tuple(sorted({*component.excluded, *others})))


def _models(component: Component) -> set[str]:
    """The models that it may be on, by its own demand or by its times; none where it may be on any."""
    if component.accelerator_model:
        return {component.accelerator_model}
    models = {each.model for each in component.timed.measured} if component.timed else set()
    return models if "" not in models else set()
