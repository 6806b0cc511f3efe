"""Who is told to wait for all that another makes, which itself waits for him: in a circle nobody could begin."""

from __future__ import annotations

from typing import Iterator, Mapping, NamedTuple, Sequence

from ..findings.finding import Finding, error
from ..findings.span import Span
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
    circle = _circles(following)
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


def _circles(following: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """Each task with a number that those have in common that can be reached from each other (Kosaraju and Sharir)."""
    before: dict[str, list[str]] = {task: [] for task in following}
    for task, its in following.items():
        for other in its:
            before[other].append(task)
    seen, left = set[str](), set[str]()
    done = [each for task in following for each in _reached(task, following, seen)]
    return {each: number for number, task in enumerate(reversed(done)) for each in _reached(task, before, left)}


def _reached(start: str, following: Mapping[str, Sequence[str]], seen: set[str]) -> list[str]:
    """What is reached from there and was not seen before, each after all that is reached from it."""
    found, way = list[str](), [] if start in seen else [(start, iter(following[start]))]
    seen.add(start)
    while way:
        task, rest = way[-1]
        other = next((each for each in rest if each not in seen), None)
        if other is None:
            found.append(task)
            way.pop()
        else:
            seen.add(other)
            way.append((other, iter(following[other])))
    return found
