"""What is told of several choices: that not all are known, and why none of them is possible."""

from __future__ import annotations

from dataclasses import replace
from typing import Sequence

from ....models.answer import IMPOSSIBLE, Answer
from ....models.findings.finding import Finding, error
from ....models.planning.planned import Planned

MOST_TOLD = 4
"""Reasons that are told, and choices that one of them is told of."""


def not_all_known(planned: Planned) -> Planned:
    """A plan where not every choice of degrees or not every size was read, or planned: of what no plan takes less nothing is known."""
    return replace(planned, bound=0, proved=False, ties_open=False, others_open=True)


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
