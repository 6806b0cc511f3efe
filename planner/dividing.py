"""Degrees that divide a model, preferred where a plan with them exists."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Iterator, Mapping

from ..models.answer import IMPOSSIBLE, Answer, Solve
from ..models.component import Component
from ..models.findings.finding import Finding, Severity, warning
from ..models.model_cards.card import ModelCard
from ..models.model_cards.use import WORDS, Split
from ..models.parallel import Parallel
from ..models.problem import Problem
from ..solver.rules.amounts.model_divides import is_open
from ..solver.wording import few

if TYPE_CHECKING:
    from ..models.planning.planned import PlanningResult

CODE = "PW404"


def with_even_degrees(plan: Solve) -> Solve:
    """Wrap a planner: degrees without warnings first, all degrees if these allow no plan."""

    def planned(problem: Problem) -> Answer:
        even = evenly(problem)
        answer = plan(even or problem)
        if even is not None and answer.verdict == IMPOSSIBLE:
            even, answer = None, plan(problem)
        if answer.planned is None and answer.plan is None:
            return answer
        findings = (*_torn(problem, answer), *(_left_out(problem, even) if even else ()))
        return replace(answer, findings=(*answer.findings, *findings))

    return planned


def _chosen(problem: Problem, answer: Answer) -> Mapping[str, Parallel]:
    """Return the chosen degrees of components with a choice."""
    if answer.planned is not None:
        return {name: option.parallel for name, option in answer.planned.best.design.options.items() if name in problem.job.choices}
    return {name: degrees for name, degrees in answer.plan.degrees.items() if name in problem.job.choices} if answer.plan else {}


def _torn(problem: Problem, answer: Answer) -> Iterator[Finding]:
    """Yield findings for chosen degrees that do not divide the model."""
    for name, parallel in _chosen(problem, answer).items():
        component, card = problem[name], card_of(problem, name)
        if not (name in problem.job.planning.own and parallel == problem.own_degrees(component)):
            for split in uneven(problem, component, parallel):
                amount, most = getattr(card, split.card_field), problem.cluster.total(problem.kind(component))
                divided, even = f"{amount} {WORDS[split.card_field]}", [size for size in range(1, most + 1) if split.fits(amount, size)]
                message = f"the plan has {split.degree} {split.of(parallel)} for `{name}`, among which its {divided} do not divide"
                advice = f"if what runs it needs them divided evenly, let {split.degree} be one of {few(even)} too"
                yield warning(CODE, name, message, component.span("parallel"), help=advice)


def _left_out(problem: Problem, even: Problem) -> Iterator[Finding]:
    """Yield findings for degrees left out although they only cause a warning."""
    for name, kept in even.job.choices.items():
        component, card = problem[name], card_of(problem, name)
        dropped = (choice for choice in problem.job.choices[name] if choice not in kept)
        torn: dict[Split, dict[int, None]] = {}
        for parallel in dropped:
            splits = list(uneven(problem, component, parallel))
            if card is not None and (card.assumed or not any(split.proved for split in splits)):
                for split in splits:
                    torn.setdefault(split, {})[split.of(parallel)] = None
        for split, sizes in torn.items():
            degrees = " or ".join(f"{split.degree} {size}" for size in sorted(sizes))
            message = f"no plan with {degrees} of `{name}` was looked at: its {getattr(card, split.card_field)} {WORDS[split.card_field]} do not divide so"
            advice = "leave only such degrees open, if what runs it takes them"
            yield Finding(CODE, Severity.NOTE, name, message, component.span("parallel"), help=advice)


def refused_degrees(problem: Problem) -> Iterator[str]:
    """Yield a sentence for each component with degrees refused by its engine."""
    even = evenly(problem)
    left = even.job.choices if even is not None else {}
    for name, kept in left.items():
        card, torn = card_of(problem, name), dict[str, dict[str, None]]()
        for parallel in problem.job.choices.get(name, ()) if card is not None and not card.assumed else ():
            against = [split for split in uneven(problem, problem[name], parallel) if split.proved]
            if against and parallel not in kept:
                degree = f"{against[0].degree} {against[0].of(parallel)}"
                torn.setdefault(f"{getattr(card, against[0].card_field)} {WORDS[against[0].card_field]}", {})[degree] = None
        yield from (
            f"{name}: not with {' or '.join(degrees)}, among which its {divided} do not divide" for divided, degrees in torn.items()
        )


def evenly(problem: Problem) -> Problem | None:
    """Return the problem without open degrees that do not divide a model; None if unchanged."""
    kept_choices = {}
    for component in problem.components:
        choices = problem.job.choices.get(component.name, ())
        runs = component.name in problem.job.planning.own
        kept = tuple(
            choice
            for choice in choices
            if (runs and choice == problem.own_degrees(component)) or not any(uneven(problem, component, choice))
        )
        if kept and len(kept) < len(choices):
            kept_choices[component.name] = kept
    return replace(problem, job=replace(problem.job, choices={**problem.job.choices, **kept_choices})) if kept_choices else None


def as_planned(problem: Problem, planned: PlanningResult) -> Problem:
    """Return the problem with the degrees from which a plan was chosen."""
    even = evenly(problem)
    options = planned.question.options
    if even is None or any(
        option.parallel not in degrees for name, degrees in even.job.choices.items() for option in options.get(name, ())
    ):
        return problem
    return even


def card_of(problem: Problem, name: str) -> ModelCard | None:
    """Return the model card of a component, if known."""
    use = problem.job.models.get(name)
    return use.card if use else None


def uneven(problem: Problem, component: Component, parallel: Parallel) -> Iterator[Split]:
    """Yield the parts of a model that do not divide by open degrees."""
    card = card_of(problem, component.name)
    for split in problem.job.models[component.name].splits if card is not None else ():
        amount = getattr(card, split.card_field)
        if amount and is_open(problem, component, split) and not split.fits(amount, split.of(parallel)):
            yield split
