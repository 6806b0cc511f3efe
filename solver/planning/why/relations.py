"""Relations as the reason why there is no design: one kind of them at a time is left out, and what then is possible is searched."""

from __future__ import annotations

from dataclasses import replace
from typing import Callable, Iterator

from ....models.findings.wording import with_noun
from ....models.planning.question import Question
from ..searching.search import Searched
from .common import nothing_in_common

Ask = Callable[[Question], Searched]
"""How a question is searched."""
Pairs = frozenset[tuple[str, str]]
FEW = 3
"""So many pairs are told."""


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
