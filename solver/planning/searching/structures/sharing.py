"""Which components the relations let use the same accelerators."""

from __future__ import annotations

from .....models.planning.question import Question


def may_share(question: Question, one: str, other: str) -> bool:
    """May two components use an accelerator both?"""
    pairs = {(one, other), (other, one)}
    if pairs & question.apart:
        return False
    return question.alone.isdisjoint((one, other)) or bool(pairs & (question.together | question.within))


def may_nest(question: Question, one: str, other: str) -> bool:
    """May one use some of the accelerators of the other, and not all?"""
    return not {(one, other), (other, one)} & question.whole
