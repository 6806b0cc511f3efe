"""Open components around given ones: what they have beside these is placed, and the given ones are put back."""

from __future__ import annotations

from dataclasses import replace
from typing import Iterator

from ....models.answer import IMPOSSIBLE, UNDECIDED, Answer, Solve
from ....models.component import SUBSET, Component
from ....models.findings.finding import error
from ....models.part import among
from ....models.placements.assignment import Assignment
from ....models.placements.plan import FEASIBLE, OPTIMAL, Plan
from ....models.problem import Problem
from ...check import check
from ...layout.layout import Layout
from ...layout.parts import Parts
from ...objectives.tiers import plan_terms, tiers
from ...searching.refused.not_searched import not_searched
from ...searching.standing import errors
from ...unchecked import unchecked
from ...wording import listed
from .in_places import in_places, is_anywhere
from .in_ranges import in_ranges, is_one_range
from .kept import Hosts
from .seats_of import Left
from .split import Split, hosts_of, in_runs, is_separable, splits


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
    return found or _anywhere(parts, hosts, place, left)


def _anywhere(parts: Parts, hosts: Hosts, place: Solve, left: Left) -> Answer | None:
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
    return _first(parts.problem, hosts, in_places(parts, hosts, place, left), beside)


def _first(problem: Problem, hosts: Hosts, ways: Iterator[Split], place: Solve) -> Answer | None:
    """The first of these ways that has a placement, or that none has; None where that is not known."""
    said, exact = list[str](), True
    for parted in ways:
        found = place(parted.rest) if parted.rest is not None else None
        if found is not None and found.plan is not None:
            if (whole := _put_back(problem, parted, found, found.plan)) is not None:
                return whole
            exact = False
        elif found is not None and found.verdict != IMPOSSIBLE:
            exact = False
        else:
            exact = exact and parted.exact
            said.append(found.findings[0].message.removeprefix("impossible: ") if found is not None else parted.short)
    return _impossible(hosts, next(filter(None, said), "")) if exact else None


def lies_around(problem: Problem) -> bool:
    """Does a given component lie within an open one?"""
    return _may_be_around(problem) and bool(hosts_of(Parts(problem)))


def _may_be_around(problem: Problem) -> bool:
    """Is there something open, and does something given lie within others, as far as a look at the relations tells?"""
    given = {each.name for each in problem.components if each.runs is not None}
    return len(given) < len(problem.components) and any(not given.isdisjoint(each.components) for each in problem.related(SUBSET))


def _put_back(problem: Problem, parted: Split, found: Answer, plan: Plan) -> Answer | None:
    """The answer with each component in one piece; None where the problem refuses that."""

    def at(component: Component) -> object:
        if component.name not in parted.kept:
            return plan.assignment.of(component.name)
        return in_runs(problem, component, {*parted.kept[component.name], *plan.assignment.accelerators(parted.beside[component.name])})

    chosen = replace(problem, job=replace(problem.job, choices={}, components=tuple(
        replace(each, parallel=plan.degrees.get(each.name, each.parallel)) for each in problem.components
    )))  # fmt: skip
    assignment = Assignment({each.name: at(each) for each in problem.components})  # type: ignore[misc]
    if errors(check(chosen, assignment)):
        return None
    counted = _counted(chosen)
    proved = [sum(cost * bound for (_, cost), bound in zip(tier.members, its)) for tier, its in zip(tiers(chosen), counted)]
    bound = sum(tier.scale * least for tier, least in zip(tiers(chosen), proved))
    whole = replace(plan, assignment=assignment, terms=plan_terms(chosen, assignment, counted, proved), bound=bound)
    whole = replace(whole, status=OPTIMAL if whole.objective <= bound else FEASIBLE)
    return replace(found, verdict=whole.status, plan=whole, unchecked=tuple(unchecked(problem, assignment)))


def _counted(problem: Problem) -> list[list[int]]:
    """For each tier of the objective, what counting alone proves of its terms, where given components that lie within open ones are not."""
    parts = Parts(problem)
    inside = {component.name for inner in hosts_of(parts).values() for each in inner for component in each.components}
    without = among(problem, {component.name for component in problem.components} - inside)
    links = tuple(link for link in problem.job.links if inside.isdisjoint((link.source, link.target)))
    without = replace(without, job=replace(without.job, links=links))
    layout = Layout(without) if without.hinted and not not_searched(without) else None
    return [[term.bound(layout) if layout else 0 for term, _ in tier.members] for tier in tiers(problem)]


def _impossible(hosts: Hosts, why: str) -> Answer:
    if not any(hosts.values()):
        return Answer(IMPOSSIBLE, findings=(error("PW601", "", f"impossible: {why}"),), how="given")
    names = listed([f"`{each.name}`" for each in hosts])
    given = listed([f"`{each.name}`" for each in dict.fromkeys(inner for its in hosts.values() for inner in its)])
    message = f"impossible with {names} around {given}, whose ranks are given: {why}"
    help_text = f"give {given} other ranks, or none; or leave more open of {names}"
    return Answer(IMPOSSIBLE, findings=(error("PW601", "", message, help=help_text),), how="given")
