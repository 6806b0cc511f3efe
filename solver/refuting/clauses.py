"""What a conflict says in the user's words: one clause for each demand, equal ones said once."""

from __future__ import annotations

import re
from typing import Iterable, Iterator, Sequence

from ...models.demand import Clause, Demand
from ...models.findings.span import Span
from ...models.problem import Problem
from ..rules import RULES
from ..wording import listed

MAX_NAMES = 6
"""So many components are named in one clause."""


def clauses(problem: Problem, demands: Iterable[Demand]) -> tuple[Clause, ...]:
    """What every rule says of these demands, in the order of the rules.

    `problem` is the question with these demands alone.
    """
    wanted, found = set(demands), dict[str, Clause]()
    for rule in RULES:
        for subject in rule.subjects(problem):
            clause = rule.explain(problem, subject)
            if wanted & set(clause.demands):
                found.setdefault(clause.text, clause)
    return tuple(found.values())


def merged(its: Sequence[Clause]) -> Iterator[Clause]:
    """Clauses that differ only in the name of the component at one place become one about each of them."""
    alike: dict[object, list[Clause]] = {}
    for position, clause in enumerate(its):
        names = {demand.component for demand in clause.demands}
        name = names.pop() if len(names) == 1 else ""
        parts = _around(name, clause.text) if name else []
        alike.setdefault(tuple(parts) if len(parts) == 2 else position, []).append(clause)
    for members in alike.values():
        if len(members) == 1:
            yield members[0]
            continue
        names_of = [clause.demands[0].component for clause in members]
        before, after = _around(names_of[0], members[0].text)
        yield Clause(f"{before}each of {few(names_of)}{after}", tuple(demand for clause in members for demand in clause.demands))


def _around(name: str, text: str) -> list[str]:
    """The text without a name, where that stands as a word of its own."""
    return re.split(rf"(?<![\w.-]){re.escape(name)}(?![\w-])", text)


def few(names: Sequence[str]) -> str:
    """The names as they stand in a sentence; of very many the first ones and how many more."""
    if len(names) <= MAX_NAMES:
        return listed(list(names))
    return f"{len(names)} components ({', '.join(names[:3])}, ...)"


def with_line(clause: Clause, here: Span | None) -> str:
    """The clause with the lines where its demands stand; the file too where it is another one than `here` is in."""
    spans = dict.fromkeys((demand.span.file, demand.span.line) for demand in clause.demands if demand.span)
    if not spans:
        return clause.text
    places: list[str] = []
    for file, line in spans:
        places.append(f"line {line}" if here and file == here.file else f"{file}:{line}")
    shown = places if len(places) <= MAX_NAMES else [*places[:3], "..."]
    return f"{', '.join(shown)}: {clause.text}"
