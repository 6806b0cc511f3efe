"""Open components around given ones: what they have beside these is placed, and the given ones are put back."""

from __future__ import annotations

from dataclasses import replace
from typing import Iterator, Sequence

from ....models.answer import IMPOSSIBLE, UNDECIDED, Answer, Solve
from ....models.component import SUBSET
from ....models.findings.finding import error
from ....models.placements.plan import FEASIBLE
from ....models.problem import Problem
from ...layout.parts import Parts
from ...wording import listed
from .in_places import are_compared, in_places, is_anywhere
from .in_ranges import in_ranges, is_one_range
from .kept import Hosts
from .put_back import bounded, crossing, put_back
from .seats_of import Left
from .split import Split, hosts_of, is_separable, splits


def around_given(place: Solve) -> Solve:
    """How a problem is placed in which given components lie within open ones, given how any problem is.

    An open component has all that lies within it by given ranks, and beside that whole groups on each node. So what it has there is
    given too, and the rest of it is placed like any component, disjoint from that. The answer is checked against the problem as it was.
    The best placement is not looked for, only one that holds; of its objective no more is proved than counting shows.
    One component that is one range is tried on each that holds them. Where more is asked of such a component than that (an order of
    ranks, a place for each of its groups), each set of accelerators that it may have is tried; where that are too many, the problem is
    placed as it is.
    """

    def answer(problem: Problem) -> Answer:
        hosts = hosts_of(parts := Parts(problem)) if _may_be_around(problem) else {}
        return (_around(parts, hosts, place, Left()) if hosts else None) or place(problem)

    return answer


def _around(parts: Parts, hosts: Hosts, place: Solve, left: Left) -> Answer | None:
    """The answer with something given within each of these; None where it is not known: what is not searched is told of the file's own components."""
    problem, found = parts.problem, None
    if is_one_range(problem, hosts):
        found = _first(problem, hosts, in_ranges(parts, hosts), place)
    elif is_separable(problem, hosts):
        found = _first(problem, hosts, splits(parts, hosts), place)
    if found is None or (found.verdict == FEASIBLE and are_compared(problem)):
        found = _anywhere(parts, hosts, place, left, found) or found
    return found


def _anywhere(parts: Parts, hosts: Hosts, place: Solve, left: Left, first: Answer | None = None) -> Answer | None:
    """The same with each set of accelerators that these may have, one after the other, and with those of others where that is not searched."""

    def beside(problem: Problem) -> Answer:
        its = Parts(problem)
        if further := hosts_of(its):
            return _around(its, further, place, left) or place(problem)
        found = place(problem)
        if found.verdict != UNDECIDED or found.how != "given":
            return found
        outermost = sorted(its.searched, key=lambda each: sum(not host.fixed for host in its.hosts[each]))
        return _anywhere(its, {each: [] for each in outermost[:1]}, place, left) or found

    if not is_anywhere(parts.problem, hosts):
        return None
    ways = in_places(parts, hosts, place, left)
    return (
        _lightest(parts.problem, hosts, ways, beside, first) if are_compared(parts.problem) else _first(parts.problem, hosts, ways, beside)
    )


def _first(problem: Problem, hosts: Hosts, ways: Iterator[Split], place: Solve) -> Answer | None:
    """The first of these ways that has a placement, or that none has; None where that is not known."""
    refused, exact = list[Split](), True
    for parted in ways:
        found = place(replace(parted.rest, explained=False)) if parted.rest is not None else None
        if found is not None and found.plan is not None:
            if (whole := put_back(problem, parted, found, found.plan)) is not None:
                return whole
            exact = False
        elif found is not None and found.verdict != IMPOSSIBLE:
            exact = False
        else:
            exact = exact and parted.exact
            refused.append(parted)
    return _impossible(hosts, _why(problem, refused, place)) if exact else None


def _lightest(problem: Problem, hosts: Hosts, ways: Iterator[Split], place: Solve, best: Answer | None) -> Answer | None:
    """The placement of all ways with which the least crosses; these come in the order of what crosses at least. `best`: one that is known."""
    refused, exact, open_ = list[Split](), True, list[int]()
    for parted in ways:
        if best is not None and best.plan is not None and parted.least >= crossing(problem, best.plan)[0]:
            open_.append(parted.least)
            break
        found = place(replace(parted.rest, explained=False)) if parted.rest is not None else None
        whole = put_back(problem, parted, found, found.plan) if found is not None and found.plan is not None else None
        if whole is not None and whole.plan is not None and parted.rest is not None and found is not None and found.plan is not None:
            value, proved = crossing(parted.rest, found.plan)
            open_.append(max(parted.least, crossing(problem, whole.plan)[0] - value + proved) if parted.exact else parted.least)
            if best is None or best.plan is None or whole.plan.objective < best.plan.objective:
                best = whole
        elif found is not None and found.verdict != IMPOSSIBLE:
            open_.append(parted.least)
        elif parted.exact:
            refused.append(parted)
        else:
            open_.append(parted.least)
        exact = exact and parted.exact
    if best is not None and best.plan is not None:
        return bounded(problem, best, best.plan, min([crossing(problem, best.plan)[0], *open_]))
    return _impossible(hosts, _why(problem, refused, place)) if exact and not open_ else None


def _why(problem: Problem, refused: Sequence[Split], place: Solve) -> str:
    """Why the first of these ways has no placement that says so: each was only asked whether it has one."""
    for parted in refused if problem.explained else ():
        if parted.rest is None and parted.short:
            return parted.short
        if parted.rest is not None and (findings := place(parted.rest).findings):
            return findings[0].message.removeprefix("impossible: ")
    return ""


def lies_around(problem: Problem) -> bool:
    """Does a given component lie within an open one?"""
    return _may_be_around(problem) and bool(hosts_of(Parts(problem)))


def _may_be_around(problem: Problem) -> bool:
    """Is there something open, and does something given lie within others, as far as a look at the relations tells?"""
    given = {each.name for each in problem.components if each.runs is not None}
    return len(given) < len(problem.components) and any(not given.isdisjoint(each.components) for each in problem.related(SUBSET))


def _impossible(hosts: Hosts, why: str) -> Answer:
    if not any(hosts.values()):
        return Answer(IMPOSSIBLE, findings=(error("PW601", "", f"impossible: {why}"),), how="given")
    names = listed([f"`{each.name}`" for each in hosts])
    given = listed([f"`{each.name}`" for each in dict.fromkeys(inner for its in hosts.values() for inner in its)])
    message = f"impossible with {names} around {given}, whose ranks are given: {why}"
    help_text = f"give {given} other ranks, or none; or leave more open of {names}"
    return Answer(IMPOSSIBLE, findings=(error("PW601", "", message, help=help_text),), how="given")
