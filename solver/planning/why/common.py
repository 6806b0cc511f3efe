"""Components that must be on the same accelerators, and that no count suits all of: which each can have."""

from __future__ import annotations

from typing import Iterator, Sequence

from ....models.parallel import Parallel
from ....models.planning.kind import NO_KIND
from ....models.planning.question import Question

MOST_TOLD = 6


def nothing_in_common(question: Question) -> str:
    """Such as ``: `rollout` (tp 3) can have 3, 6, 12, `actor` 1, 2, 4, 8``; "" where each set of them has a count in common."""
    for names in _sets(question):
        amounts = {name: {(its.kind, its.amount) for its in question.options[name]} for name in names}
        if not set.intersection(*amounts.values()):
            return f": {', '.join(_told(question, name, first=name == names[0]) for name in names)}"
    return ""


def _sets(question: Question) -> Iterator[list[str]]:
    """The components that are on the same accelerators, those on one set together, in the order of the question."""
    left = [name for name in question.components if any(name in pair for pair in question.together)]
    while left:
        reached, before = {left[0]}, set[str]()
        while reached != before:
            before = set(reached)
            reached |= {name for pair in question.together if not reached.isdisjoint(pair) for name in pair}
        yield [name for name in left if name in reached]
        left = [name for name in left if name not in reached]


def _told(question: Question, name: str, first: bool) -> str:
    options = [each for each in question.options[name] if each.kind != NO_KIND]
    counts = sorted({each.amount for each in options})
    degrees = {each.parallel for each in options}
    said = f" ({degrees.pop()})" if len(degrees) == 1 and degrees != {Parallel()} else ""
    return f"`{name}`{said}{' can have' if first else ''} {few(counts)}"


def few(counts: Sequence[int]) -> str:
    """Of many counts, in order, the first and the last; `1-8` where none between them is missing."""
    if len(counts) <= MOST_TOLD:
        return ", ".join(map(str, counts))
    if counts[-1] - counts[0] < len(counts):
        return f"{counts[0]}-{counts[-1]}"
    return f"{', '.join(map(str, counts[:5]))}, ... {counts[-1]}"
