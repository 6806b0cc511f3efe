"""What is told of several choices: the best of the plans that nobody asked for, beside the best plan, and why none of them is possible."""

from __future__ import annotations

from dataclasses import replace
from typing import Callable, Sequence, TypeVar

from ....models.answer import IMPOSSIBLE, Answer
from ....models.findings.finding import Finding, error
from ....models.planning.planned import AtOnce, Nested, OverNodes, Planned, Priced

MOST_TOLD = 4
"""Reasons that are told, and choices that one of them is told of."""
Sort = TypeVar("Sort", OverNodes, Nested, AtOnce)


def of_choices(
    planned: Planned, every: Sequence[Planned], told: Callable[[Planned], Sort | None], others: Sequence[Sort | None] = ()
) -> Sort | None:
    """What is told of one sort beside `planned`, the best of `every` choice; None where none of them can be better than that.

    `others` is what is told of choices that nothing is planned of.
    """
    found = [each for each in others if each is not None]
    for each in every:
        its = told(each)
        found += [_with_question(planned, each, its)] if its is not None else []
    less = [its for its in found if its.bound < planned.price[0]]
    if not less:
        return None
    lowest = min(less, key=lambda its: its.bound)
    known = [(cost, its) for its in less if its.best is not None and (cost := _cost(planned, its, its.best))[0] < planned.price[0]]
    return replace(min(known, key=lambda its: its[0])[1], bound=lowest.bound) if known else _unknown(lowest)


def less_than_each(several: AtOnce | None, told: Sequence[Nested | OverNodes | None]) -> AtOnce | None:
    """What is told of several sorts at once, where that is less than what is told of each."""
    return several if several is not None and all(each is None or several.bound < each.bound for each in told) else None


def _with_question(planned: Planned, its: Planned, told: Sort) -> Sort:
    """What is told of a choice, with the question of that one where it is another."""
    if told.best is None or told.question is not None or its.question is planned.question:
        return told
    return replace(told, question=its.question)


def _cost(planned: Planned, told: OverNodes | Nested | AtOnce, best: Priced) -> tuple[int, int]:
    return best.price(told.question or planned.question)


def _unknown(told: Sort) -> Sort:
    """The bound alone, where what is known of them is no better than the best plan."""
    return replace(told, best=None, question=None) if isinstance(told, Nested) else replace(told, best=None, question=None, components=())


def not_all_known(planned: Planned) -> Planned:
    """A plan where not every choice of degrees or not every size was read, or planned: of what no plan takes less nothing is known.

    Of what nobody asked for, that is told of which a plan is known.
    """
    return replace(
        planned, bound=0, proved=False, ties_open=False, others_open=True, over_kinds=None, over_nodes=_unbounded(planned.over_nodes),
        nested=_unbounded(planned.nested), at_once=_unbounded(planned.at_once),
    )  # fmt: skip


def _unbounded(told: Sort | None) -> Sort | None:
    return replace(told, bound=0) if told is not None and told.best is not None else None


def none_of_choices(chosen: Sequence[str], answers: Sequence[Answer]) -> Answer:
    """The answer where nothing is possible with any choice: the reason of each, with what helps there, unless all have the same.

    What one choice needs at least says nothing of another.
    """
    why = dict[str, tuple[Finding, list[str]]]()
    for name, its in zip(chosen, answers):
        for finding in its.findings[:1]:
            why.setdefault(finding.message, (finding, []))[1].append(name)
    if len(why) < 2:
        return answers[0]
    told = [(_any_of(names), finding) for finding, names in why.values()][:MOST_TOLD]
    more = f"; and so on, {len(chosen)} choices in all" if len(why) > MOST_TOLD else ""
    message = "; ".join(f"with {names}, {finding.message.removeprefix('impossible: ')}" for names, finding in told)
    helps = "; ".join(f"with {names}, {finding.help}" for names, finding in told if finding.help)
    span = next((finding.span for _, finding in told if finding.span is not None), None)
    return Answer(IMPOSSIBLE, findings=(error("PW601", "", f"impossible: {message}{more}", span, help=helps),), how="search")


def _any_of(names: Sequence[str]) -> str:
    more = len(names) - MOST_TOLD
    return " or ".join(names[:MOST_TOLD]) + (f" or {more} more" if more > 0 else "")
