"""How components could need less memory at the same time."""

from __future__ import annotations

from dataclasses import replace
from typing import Callable

from ....models.planning.question import Question
from ...wording import listed
from ..searching.search import Searched


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
