"""Degrees that divide a model or fit the memory, preferred where a plan exists."""

from __future__ import annotations

from dataclasses import replace
from typing import Collection, Iterator, Mapping, Sequence

from ...models.answer import IMPOSSIBLE, Answer, Solve
from ...models.component import Component
from ...models.findings.finding import Finding, Severity, warning
from ...models.memory.estimate import estimate_memory
from ...models.model_cards.card import ModelCard
from ...models.model_cards.use import WORDS, Split
from ...models.parallel import Parallel
from ...models.problem import Problem
from ..rules.model_divides import is_open
from ..wording import few

UNEVEN, TOO_LITTLE_MEMORY = "PW404", "PW805"


def with_even_degrees(problem: Problem, plan: Solve) -> Answer:
    """Plan with degrees without warnings first, with all degrees if these allow no plan."""
    even = evenly(problem)
    answer = plan(even or problem)
    if even is not None and answer.verdict == IMPOSSIBLE:
        even, answer = None, plan(problem)
    if answer.planned is None and answer.plan is None:
        return answer
    findings = (*_torn(problem, answer), *(_report_left_out(problem, even) if even else ()))
    return replace(answer, findings=(*answer.findings, *findings))


def _find_choices(problem: Problem, answer: Answer) -> Mapping[str, Parallel]:
    """Return the chosen degrees of components with a choice."""
    if answer.planned is not None:
        return {name: option.parallel for name, option in answer.planned.best.design.options.items() if name in problem.job.choices}
    return {name: degrees for name, degrees in answer.plan.degrees.items() if name in problem.job.choices} if answer.plan else {}


def _torn(problem: Problem, answer: Answer) -> Iterator[Finding]:
    """Yield findings for chosen degrees that do not divide the model."""
    for name, parallel in _find_choices(problem, answer).items():
        component, card = problem[name], card_of(problem, name)
        if not (name in problem.job.planning.own and parallel == problem.own_degrees(component)):
            for split in uneven(problem, component, parallel):
                amount, most = getattr(card, split.card_field), problem.cluster.total(problem.kind(component))
                quantity, even = f"{amount} {WORDS[split.card_field]}", [size for size in range(1, most + 1) if split.fits(amount, size)]
                message = f"the plan has {split.degree} {split.of(parallel)} for `{name}`, among which its {quantity} do not divide"
                advice = f"if what runs it needs them divided evenly, let {split.degree} be one of {few(even)} too"
                yield warning(UNEVEN, name, message, component.span("parallel"), help=advice)


def _report_left_out(problem: Problem, even: Problem) -> Iterator[Finding]:
    """Yield findings for degrees left out although they only cause a warning."""
    for name, split, sizes in _list_dropped(problem, even, is_refused=False):
        degrees, card = " or ".join(f"{split.degree} {size}" for size in sizes), card_of(problem, name)
        message = f"no plan with {degrees} of `{name}` was looked at: its {getattr(card, split.card_field)} {WORDS[split.card_field]} do not divide so"
        advice = "leave only such degrees open, if what runs it takes them"
        yield Finding(UNEVEN, Severity.NOTE, name, message, problem[name].span("parallel"), help=advice)


def refused_degrees(problem: Problem) -> Iterator[str]:
    """Yield a sentence for each component with degrees refused by its engine."""
    even = evenly(problem)
    for name, split, sizes in _list_dropped(problem, even, is_refused=True) if even is not None else ():
        degrees = " or ".join(f"{split.degree} {size}" for size in sizes)
        quantity = f"{getattr(card_of(problem, name), split.card_field)} {WORDS[split.card_field]}"
        yield f"{name}: not with {degrees}, among which its {quantity} do not divide"


def _list_dropped(problem: Problem, even: Problem, is_refused: bool) -> Iterator[tuple[str, Split, list[int]]]:
    """Yield component, part of its model, and degrees that `even` leaves out.

    `is_refused` : those that the engine refuses, or the others.
    """
    for name, choices in even.job.choices.items():
        card, torn = card_of(problem, name), dict[Split, set[int]]()
        for parallel in problem.job.choices[name] if card is not None else ():
            splits = list(uneven(problem, problem[name], parallel))
            certain_splits = [split for split in splits if split.proved and not (card and card.assumed)]
            if parallel not in choices and bool(certain_splits) == is_refused:
                for split in certain_splits[:1] if is_refused else splits:
                    torn.setdefault(split, set()).add(split.of(parallel))
        yield from ((name, split, sorted(sizes)) for split, sizes in torn.items())


def evenly(problem: Problem) -> Problem | None:
    """Return the problem without open degrees that do not divide a model; None if unchanged."""
    kept_choices = {}
    for component in problem.components:
        choices = problem.job.choices.get(component.name, ())
        runs = component.name in problem.job.planning.own
        even_choices = tuple(
            choice
            for choice in choices
            if (runs and choice == problem.own_degrees(component)) or not any(uneven(problem, component, choice))
        )
        if even_choices and len(even_choices) < len(choices):
            kept_choices[component.name] = even_choices
    return replace(problem, job=replace(problem.job, choices={**problem.job.choices, **kept_choices})) if kept_choices else None


def card_of(problem: Problem, name: str) -> ModelCard | None:
    """Return the model card of a component, if known."""
    use = problem.job.models.get(name)
    return use.card if use else None


def uneven(problem: Problem, component: Component, parallel: Parallel) -> Iterator[Split]:
    """Yield the parts of a model that do not divide by open degrees."""
    card = card_of(problem, component.name)
    for split in problem.job.models[component.name].splits if card is not None else ():
        if card is not None and is_open(problem, component, split) and not split.suits(card, split.of(parallel)):
            yield split


def with_fitting_degrees(problem: Problem, place: Solve) -> Answer:
    """Place without times: degrees that fit first, all degrees if these allow no plan.

    What still may not fit in the answer is a warning.
    """
    if not any(component.estimate for component in problem.hinted):
        return place(problem)
    from ..estimated_bill import check_estimates  # loaded for estimates alone

    choices = {name: _fitting(problem, problem[name], every) or every for name, every in problem.job.choices.items()}
    left_out = {name: {*every} - {*choices[name]} for name, every in problem.job.choices.items()}
    notes = tuple(_note(problem[name], degrees) for name, degrees in left_out.items() if degrees)
    answer = place(replace(problem, job=replace(problem.job, choices=choices)))
    if answer.plan is None and notes:
        answer, notes = place(problem), ()
    if answer.plan is None:
        return answer
    fixed_problem = problem.as_chosen(answer.plan.degrees, answer.plan.assignment)
    tight = (
        replace(finding, severity=Severity.WARNING) for finding in check_estimates(fixed_problem, answer.plan.assignment, TOO_LITTLE_MEMORY)
    )
    return replace(answer, findings=(*answer.findings, *notes, *tight))


def _fitting(problem: Problem, component: Component, choices: Sequence[Parallel]) -> tuple[Parallel, ...]:
    """Return the degrees that fit by the high of the estimate."""
    capacity = max((stretch.node.accelerator_memory or 0 for stretch in problem.cluster.alike), default=0)
    if not capacity or component.estimate is None or component.memory or component.offloaded:
        return tuple(choices)
    use, most = problem.job.models.get(component.name), min(component.most, problem.cluster.total())
    needs = ((parallel, estimate_memory(component, use.card if use else None, parallel, most, capacity)) for parallel in choices)
    return tuple(parallel for parallel, need in needs if need is None or need.high <= capacity)


def _note(component: Component, degrees: Collection[Parallel]) -> Finding:
    text = " or ".join(sorted(map(str, degrees)))
    message = f"no plan with {text} of `{component.name}` was looked at: by the estimate its memory may not suffice"
    advice = "write the `memory` that was measured, if it is less"
    return Finding(TOO_LITTLE_MEMORY, Severity.NOTE, component.name, message, component.span("estimate"), help=advice)
