"""Which demands have to give way: one, one kind of relations, or the fewest found together, each with its line."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import Callable, Iterator

from ...models.component import UNBOUNDED
from ...models.findings.finding import Finding, error
from ...models.findings.span import Span
from ...models.findings.wording import with_noun
from ...models.machines.node_group import ACCELERATOR
from ...models.planning.option import Kind, Option
from ...models.planning.question import Question
from ...models.planning.workload import ACCELERATORS, Workload
from ...models.problem import Problem
from ...models.record import dataclass
from ...solver.durations import in_seconds
from ...solver.rules.amounts.all_placed import asked_for
from ..problem import asked
from ..search.found import Searched
from .demands import most_memory, nothing_in_common, place_of_pair
from .eased import Tries

MOST = 24
"""So many demands are looked at, at most."""


Ask = Callable[[Question], Searched]
"""How a question is searched."""
Pairs = frozenset[tuple[str, str]]
FEW = 3
"""So many pairs are told."""


@dataclass(frozen=True)
class Demand:
    """One thing that is asked for: in words, how it is loosened, where it stands, and the question without it."""

    told: str
    help: str
    span: Span | None
    eased: Callable[[Question], Question]


def several(problem: Problem, workload: Workload, question: Question, searched: Tries) -> Finding | None:
    """Demands without which there is a design, and with any one of them none was found; None where not even that was found.

    What else is asked was loosened one by one before, but for counts: where one of these is enough, it is told by itself. That
    none is enough by itself is said where every such search, those before too, was decided.
    """
    counts = islice(_counts(problem, workload, question), MOST)
    if alone := [each for each in counts if _has_some(question, [each], searched)]:
        told = f"impossible: {alone[0].told}, with which nothing keeps to all else that is asked"
        return error("PW601", "", told, alone[0].span, help=", or ".join(each.help for each in alone))
    alone_is_none = searched.decided
    left = list(islice(_demands(problem, workload, question), MOST + 1))
    if len(left) > MOST or not _has_some(question, left, searched):
        return None
    for each in list(left):
        fewer = [other for other in left if other is not each]
        if _has_some(question, fewer, searched):
            left = fewer
    if len(left) < 2:  # a single one was tried already: a search for it did not end
        return None
    first, second = left[0], left[1]
    single = "giving up one demand is not enough" if alone_is_none else "giving up one demand was not found to be enough"
    told = f": {first.told}, and {second.told}" if len(left) == 2 else ""
    notes = tuple((f"line {each.span.line}: " if each.span else "") + each.told for each in left) if len(left) > 2 else ()
    return error(
        "PW601", "", f"impossible: {single}, {len(left)} together would be{told}", first.span,
        help=_budgets(question, left, searched) or ", and ".join(each.help for each in left), origin=None if notes else second.span, origin_label="and with it", notes=notes,
    )  # fmt: skip


def _budgets(question: Question, left: list[Demand], searched: Tries) -> str:
    """What to allow where both budgets are short and nothing else is: what the plan on the fewest accelerators takes."""
    if [each.eased for each in left] != [_without_seconds, _without_accelerators] or question.crossing is not None:
        return ""
    best = searched(replace(_without_accelerators(_without_seconds(question)), aim=ACCELERATORS)).best
    if best is None:
        return ""
    return f"allow `seconds: {in_seconds(best.price[1])}`, and allow `accelerators: {best.design.held(question)}`"


def _has_some(question: Question, without: list[Demand], searched: Tries) -> bool:
    for each in without:
        question = each.eased(question)
    return searched(question).best is not None


def _demands(problem: Problem, workload: Workload, question: Question) -> Iterator[Demand]:
    """Counts, budgets, memory, and who shares with whom: of several sets that would do, the one with the later ones is found."""
    yield from _counts(problem, workload, question)
    if question.budget.nanoseconds is not None:
        yield Demand("the time that is allowed", "allow more `seconds`", workload.place("budget.seconds"), _without_seconds)
    if question.budget.accelerators is not None:
        span = workload.place("budget.accelerators")
        yield Demand("the accelerators that may be used", "allow more `accelerators`", span, _without_accelerators)
    if any(kind.memory is not None for kind in question.kinds):
        place = most_memory(problem, question)
        yield Demand(
            "the memory of an accelerator", "need less of it at the same time (`memory`, `phase`, `offloaded`)", place, _without_memory
        )
    for field, told, help in (
        ("apart", "{} and {} share none", "let {} and {} share"),
        ("together", "{} and {} are on the same accelerators", "let {} and {} be on others"),
        ("within", "{} lies within {}", "let {} lie outside {}"),
    ):
        for pair in sorted(getattr(question, field)):
            names = [f"`{name}`" for name in pair]
            place = place_of_pair(problem, field, pair)
            yield Demand(told.format(*names), help.format(*names), place, _without_pair(field, pair))


def _counts(problem: Problem, workload: Workload, question: Question) -> Iterator[Demand]:
    """The counts that components are to have."""
    for each in problem.components:
        if each.name not in question.options or each.runs is not None or "amount" not in each.spans or problem.kind(each) != ACCELERATOR:
            continue
        others = tuple(replace(one, least=1, most=UNBOUNDED, counts=()) if one is each else one for one in problem.components)
        wider = asked(replace(problem, job=replace(problem.job, components=others)), workload, question.barred).options[each.name]
        told, help = f"`{each.name}` has {asked_for(each, 'accelerator')}", f"leave more counts of `{each.name}` open"
        yield Demand(told, help, each.spans.get("amount"), _with_options(each.name, wider))


def _with_options(name: str, wider: tuple[Option, ...]) -> Callable[[Question], Question]:
    return lambda question: replace(question, options={**question.options, name: wider})


def _without_pair(field: str, pair: tuple[str, str]) -> Callable[[Question], Question]:
    def eased(question: Question) -> Question:
        left: frozenset[tuple[str, str]] = getattr(question, field) - {pair}
        if field == "apart":
            return replace(question, apart=left, filling=tuple(its for its in question.filling if not its.issuperset(pair)))
        return replace(question, together=left) if field == "together" else replace(question, within=left)

    return eased


def _without_seconds(question: Question) -> Question:
    return replace(question, budget=replace(question.budget, nanoseconds=None))


def _without_accelerators(question: Question) -> Question:
    return replace(question, budget=replace(question.budget, accelerators=None))


def _without_memory(question: Question) -> Question:
    def unlimited(kind: Kind) -> Kind:
        return replace(kind, memory=None)

    return replace(question, kinds=tuple(map(unlimited, question.kinds)))


def without_relations(question: Question, searched: Ask) -> Iterator[tuple[str, str, Question]]:
    """Relations one kind at a time: what is told if they are the reason, what helps, and the question without them."""
    if question.apart:
        told = f"{named(question.apart)} must not share accelerators"
        for dropped, rest in _enough(question.apart, lambda rest: replace(question, apart=rest, filling=()), searched):
            yield told, f"let {named(dropped)} share", rest
    if question.together:
        told = f"no count fits {named(question.together)} on the same accelerators{nothing_in_common(question)}"
        for dropped, rest in _enough(question.together, lambda rest: replace(question, together=rest), searched):
            yield told, f"let {named(dropped)} be on others, or leave more of their counts and degrees open", rest
    if question.within:
        told = f"no counts fit {named(question.within)}, the one within the other"
        for dropped, rest in _enough(question.within, lambda rest: replace(question, within=rest), searched):
            yield told, f"let {named(dropped)} be on others", rest
    if question.not_fewer:
        pairs = named(question.not_fewer)
        yield f"of {pairs}, the first cannot have as many processes", "loosen their counts", replace(question, not_fewer=frozenset())
    if question.in_step:
        pairs = named(question.in_step)
        told = f"no counts fit {pairs}, the first in whole groups for the processes of the second where they share"
        yield told, "loosen their counts", replace(question, in_step=frozenset())
    if any(way.multiples for way in question.ways):
        pairs = named(frozenset((each.one, each.other) for way in question.ways for each in way.multiples))
        ways = tuple(replace(way, multiples=()) for way in question.ways)
        yield f"no counts fit {pairs}, the first a multiple of the second", "loosen their counts", replace(question, ways=ways)
    if any(way.least for way in question.ways):
        least = {name: count for way in question.ways for name, count in way.least.items()}
        told = ", ".join(f"`{name}` has at least {with_noun(count, 'accelerator')}" for name, count in sorted(least.items()))
        ways = tuple(replace(way, least={}) for way in question.ways)
        yield f"no counts fit where {told}, which others need", "lower the degrees of what gets its weights", replace(question, ways=ways)
    if question.alone:
        names = ", ".join(f"`{name}`" for name in sorted(question.alone))
        untimed = ", ".join(f"`{name}`" for name in sorted(question.alone) if not question.tasks_of[name])
        help_text = (
            f"say `seconds` of {untimed}, or whom it may share with" if untimed else f"say whom {names} may share with, or leave ranks open"
        )
        yield f"{names} shares with nobody", help_text, replace(question, alone=frozenset())


def _enough(pairs: Pairs, without: Callable[[Pairs], Question], searched: Ask) -> Iterator[tuple[Pairs, Question]]:
    """Each pair without which alone there is a design, or all of them where no single one is enough; with the question without it."""
    single = [(frozenset({pair}), without(pairs - {pair})) for pair in sorted(pairs)] if 1 < len(pairs) <= 2 * FEW else []
    helps = [each for each in single if searched(each[1]).best is not None]
    yield from helps[:FEW] or [(pairs, without(frozenset()))]


def named(pairs: frozenset[tuple[str, str]]) -> str:
    """The first of them; the others are counted."""
    told = [f"`{one}` and `{other}`" for one, other in sorted(pairs)]
    more = len(told) - FEW
    return ", ".join(told if more <= 1 else [*told[:FEW], f"{more} more pairs"])
