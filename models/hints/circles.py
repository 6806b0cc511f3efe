"""Who is told to wait for all that another makes, which itself waits for him: in a circle nobody could begin."""

from __future__ import annotations

from typing import Iterator, NamedTuple, Sequence

from ..findings.finding import Finding, error
from ..findings.span import Span
from ..planning.circles import circles
from ..planning.workload import After

ARROW, WHOLE = "->", "=>"


class Wait(NamedTuple):
    """One arrow of a chain: what it says, the tasks at both ends, and where it stands."""

    after: After
    ones: frozenset[str]
    others: frozenset[str]
    arrow: Span

    def pairs(self) -> Iterator[tuple[str, str]]:
        """(task, task that works on what it makes)."""
        return ((one, other) for one in sorted(self.ones) for other in sorted(self.others) if one != other)


def waits_in_circles(waits: Sequence[Wait], section: str) -> Iterator[Finding]:
    """An error for each arrow that asks for the whole of what comes round in a circle."""
    following: dict[str, list[str]] = {}
    for one, other in (pair for wait in waits for pair in wait.pairs()):
        following.setdefault(one, []).append(other)
        following.setdefault(other, [])
    circle = circles(following)
    names: dict[int, dict[str, None]] = {}
    inside: list[tuple[Wait, int]] = []
    for wait in waits:
        its = next((circle[one] for one, other in wait.pairs() if circle[one] == circle[other]), None)
        if its is not None:
            names.setdefault(its, {}).update({wait.after.earlier: None, wait.after.later: None})
            inside.append((wait, its))
    for wait, its in inside:
        if wait.after.whole:
            whose = [f"`{name}`" for name in names[its]]
            between = f"{', '.join(whose[:-1])} and {whose[-1]}" if len(whose) > 1 else f"the phases of {whose[0]}"
            message = f"`{section}` has `{wait.after.later}` begin when all of `{wait.after.earlier}` is there"
            message += f", and {between} wait for each other in a circle"
            help_ = f"write `{ARROW}`: a batch goes through a circle in the written order; or drop the arrow that leads back"
            yield error("PW121", wait.after.later, message, wait.arrow, label="never all there", help=help_)
