"""Why no design keeps to everything that is asked: what is needed and what there is, and changes that were each searched."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import partial
from typing import Callable, Iterator

from ...models.answer import IMPOSSIBLE, Answer
from ...models.findings.finding import Finding, error
from ...models.findings.wording import are, plural, with_noun
from ...models.planning.option import Kind
from ...models.planning.question import Question
from ...models.planning.workload import ACCELERATORS, RLINF, RLINF_EMBODIED, SECONDS, STREAM, Workload
from ...models.problem import Problem
from ...models.quantity import write_memory
from ...solver.durations import exactly_in_seconds, in_seconds, with_unit
from ...solver.refuting.contradicted import contradicted
from ...solver.wording import listed
from ..costs import cost_model
from ..costs.cost_model import CostModel
from ..search.found import Searched
from .component import without_options
from .demands import demanded_by, its_sets, largest, most_memory, nothing_in_common, place_of
from .eased import Change, Tried, Tries, more_accelerators, more_nodes, more_of_a_model, more_seconds, of_other_models, wider
from .several import Ask, several, without_relations

ENOUGH = 64
"""So many times the accelerators that there are."""


def why_none(problem: Problem, workload: Workload, question: Question, model: CostModel, seed: int, tried: Tried) -> Answer:
    """The answer to a question for which a search proved that it has no design. By `tried` it is known which changes help."""
    reasons = list(without_options(problem, question, partial(_helps, problem, workload, tried)))
    if not reasons and (shared := contradicted(problem)):
        reasons = [shared]
    if reasons:
        change = wider(problem, tried, question.left_out)
        if change is not None:
            reasons[0] = replace(reasons[0], help=f"{reasons[0].help}, or {change.help}")
        reasons = _on_other_models(problem, reasons, tried)
    else:
        searched = Tries(model, seed)
        changes = list(_changes(problem, workload, question, searched, tried)) or list(_of_model(workload, question, model, seed))
        reasons = [(None if changes else several(problem, workload, question, searched)) or _told(changes)]
    return Answer(IMPOSSIBLE, findings=tuple(reasons), how="search")


def _helps(problem: Problem, workload: Workload, tried: Tried, name: str, count: int) -> bool:
    """Is there a plan, placed, in which a component has so many accelerators?"""
    components = tuple(replace(each, least=count, most=count, counts=()) if each.name == name else each for each in problem.components)
    return tried(replace(problem, job=replace(problem.job, components=components)), workload) is not None


def _on_other_models(problem: Problem, reasons: list[Finding], tried: Tried) -> list[Finding]:
    """The reasons, with that help where some component that it is about may use one model of accelerators alone."""
    there = {node.accelerator_model for node in problem.cluster.nodes if node.accelerators}
    first = next((each for each in reasons if each.subject and problem[each.subject].accelerator_model in there - {""}), None)
    if first is None or (change := of_other_models(problem, tried)) is None:
        return reasons
    return [replace(each, help=f"{each.help}, or {change.help}") if each is first else each for each in reasons]


def _told(changes: list[Change]) -> Finding:
    if not changes:
        told = "impossible: no counts and degrees keep to everything that is asked, and no single change was found that would help"
        return error("PW601", "", told, help="loosen several demands at once, or add nodes")
    first = changes[0]
    return error(
        "PW601", "", f"impossible: {first.told}", first.span, help=", or ".join(each.help for each in changes if each.help), witnesses=first.witnesses or (),
        amount=abs(first.witnesses[0] - first.witnesses[1]) if first.witnesses else 0,
    )  # fmt: skip


def _changes(problem: Problem, workload: Workload, question: Question, searched: Ask, tried: Tried) -> Iterator[Change]:
    """One demand or fact at a time, changed so little that there is a design; each was searched."""
    for change in (_seconds, _accelerators, more):
        if found := change(problem, question, workload, searched, tried):
            yield found
    if found := _memory(question, searched):
        yield replace(found, span=most_memory(problem, question))
    if found := wider(problem, tried, question.left_out):
        yield found
    if found := of_other_models(problem, tried):
        yield found
    for told, help_text, changed in without_relations(question, searched):
        if searched(changed).best is not None:
            place = place_of(problem, question, changed)
            if theirs := demanded_by(problem, question, changed):  # which nobody can drop
                fewer = nothing_in_common(question) if question.together != changed.together else ""
                yield Change(f"{told} ({theirs})", "leave more of their counts and degrees open" if fewer else "", span=place)
            else:
                yield Change(told, help_text, span=place)


def _of_model(workload: Workload, question: Question, model: CostModel, seed: int) -> Iterator[Change]:
    """Another cost model, where this one knows some arrangements only."""
    if model.name in (RLINF, RLINF_EMBODIED) and Tries(cost_model(STREAM), seed)(question).best is not None:
        told = f"the cost model `{model.name}` has a time for none of the arrangements that keep to everything that is asked"
        yield Change(told, f"take `cost_model: {STREAM}`", span=workload.place("cost_model"))


def _seconds(problem: Problem, question: Question, workload: Workload, searched: Ask, tried: Tried) -> Change | None:
    most = question.budget.nanoseconds
    if most is None:
        return None
    found = searched(replace(question, aim=SECONDS, budget=replace(question.budget, nanoseconds=None)))
    if found.best is None:
        return None
    need = max(most + 1, found.best.price[0] if found.bound is None else found.bound)
    told = f"an iteration takes at least {with_unit(in_seconds(need))}, {exactly_in_seconds(most)} {are(exactly_in_seconds(most))} allowed"
    return Change(told, more_seconds(problem, workload, tried), (need, most), workload.place("budget.seconds"))


def _accelerators(problem: Problem, question: Question, workload: Workload, searched: Ask, tried: Tried) -> Change | None:
    most = question.budget.accelerators
    if most is None:
        return None
    found = searched(replace(question, aim=ACCELERATORS, budget=replace(question.budget, accelerators=None)))
    if found.best is None:
        return None
    need, most = max(most + 1, at_least(found)) + question.held, most + question.held
    within = " for that time" if question.budget.nanoseconds is not None else ""
    return Change(
        f"at least {need} {plural('accelerator', need)} {are(need)} needed{within}, {most} may be used",
        more_accelerators(problem, workload, tried),
        (need, most),
        workload.place("budget.accelerators"),
    )


def _memory(question: Question, searched: Ask) -> Change | None:
    """With how much memory on each accelerator would there be a design?"""
    limits = [kind.memory for kind in question.kinds if kind.memory is not None]
    if not limits or searched(_with_memory(question, None)).best is None:
        return None
    needs = sum(max((option.memory for option in its), default=0) for its in question.options.values())
    low, high, proved = max(limits), max(needs, max(limits) + 1), True
    while high - low > 1:
        middle = (low + high) // 2
        found = searched(_with_memory(question, middle))
        if found.best is None:
            low, proved = middle, found.proved
        else:
            high = middle
    enough = f"needs at least {write_memory(high)}" if proved else f"would do with {write_memory(high)}"
    told = f"whoever shares accelerators {enough} on each of them, there are {write_memory(max(limits))}"
    return Change(told, less_at_once(question, searched), (high, max(limits)))


def _with_memory(question: Question, memory: int | None) -> Question:
    def changed(kind: Kind) -> Kind:
        return kind if kind.memory is None else replace(kind, memory=memory if memory is None else max(kind.memory, memory))

    return replace(question, kinds=tuple(map(changed, question.kinds)))


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
    least, need, laid_out = at_least(found) + question.held, found.best.design.held(question), problem.job.planning.laying is not None
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


def less_at_once(question: Question, searched: Callable[[Question], Searched]) -> str:
    """What lets components share that need too much memory together: each advice was searched, as far as it can go."""
    residents = [f"`{name}`" for name in question.options if name in question.resident and _needs(question, name)]
    in_turn = replace(question, resident=frozenset())
    emptied = replace(question, options={name: tuple(replace(each, kept=0) for each in its) for name, its in question.options.items()})
    if residents and searched(in_turn).best is not None:
        return f"say the `phase` in which each needs its memory, of {listed(residents)}, so that they take turns"
    if searched(emptied).best is not None:
        return "keep less of one while others work (`offloaded`)"
    if residents and searched(replace(emptied, resident=frozenset())).best is not None:
        return f"say the `phase` of {listed(residents)}, and keep less while others work (`offloaded`)"
    if question.turns and searched(replace(emptied, resident=frozenset(), turns={})).best is not None:
        return "let them work in other phases (`phase`)"
    return "let them need less `memory`"


def _needs(question: Question, name: str) -> bool:
    return any(option.memory for option in question.options[name])
