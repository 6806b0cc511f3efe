"""Open components around given ones: the part beside these is placed, then joined with them."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import Iterator, Sequence

from ...models.answer import IMPOSSIBLE, UNDECIDED, Answer, Solve
from ...models.component import SUBSET, Component
from ...models.findings.finding import Severity, error
from ...models.machines.node_group import ACCELERATOR
from ...models.part import among
from ...models.placements.assignment import Assignment, Seat
from ...models.placements.plan import FEASIBLE, OPTIMAL, Plan
from ...models.problem import Problem
from ...solver.check import check
from ...solver.given import check_given
from ...solver.layout.bundle import Bundle
from ...solver.layout.layout import Layout
from ...solver.layout.parts import Parts
from ...solver.objectives import OBJECTIVES
from ...solver.objectives.tiers import plan_terms, tiers
from ...solver.objectives.traffic import BytesAcross
from ...solver.searching.standing import errors
from ...solver.unchecked import unchecked
from ...solver.unsearched import not_searched
from ...solver.wording import listed
from .laying import crosses, weighs
from .seats import Hosts, Left, may_have, others_may_share, seats_of
from .split import Split, hosts_of, in_runs, is_separable, splits

MOST_COMPARED = 32
"""Accelerators of a cluster, at most, on which sets are compared by what crosses."""
MOST_IN_ORDER = 1024
"""Sets of which it is seen what crosses, at most, before any is tried."""
MOST = 32
"""Ranges that are tried at most: each is a placement of all else."""


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


def are_compared(problem: Problem) -> bool:
    """Are all sets compared by what crosses? On larger clusters the first that has a placement is taken: each takes a search."""
    return weighs(problem) and problem.cluster.total() <= MOST_COMPARED


def is_anywhere(problem: Problem, hosts: Hosts) -> bool:
    """Does it follow of each of these components from its accelerators alone whether they will do, whatever else is asked of it?"""
    job, names = problem.job, {component.name for host in hosts for component in host.components}
    if problem.caps or problem.unlike or job.planning.laying is not None or names & set(job.choices):
        return False
    return all(host.kind == ACCELERATOR for host in hosts) and not any(not names.isdisjoint(pair) for pair in job.in_step)


def in_places(parts: Parts, hosts: Hosts, place: Solve, left: Left) -> Iterator[Split]:
    """The problem with the first of these components given, once for each set of accelerators that it may have.

    In what order its ranks lie there is searched of that component alone: nothing else asks for it. Where it is said what traffic
    costs, those come first with which the least of it is known to cross.
    """
    (host, inner), *_ = hosts.items()
    exact, tried = not others_may_share(parts, hosts), 0
    for crosses_there, seats in _sets(parts, host, inner, left):
        least = crosses_there if exact else 0
        if left.number <= 0 or seats is None:
            yield Split(None, exact=False, least=least)
            return
        left.number -= 1
        there = place(_there(parts.problem, host, seats))
        if there.plan is not None:
            tried += 1
            yield Split(_given(parts.problem, host, there.plan.assignment), exact=exact, least=least)
        elif there.verdict != IMPOSSIBLE:
            yield Split(None, exact=False, least=least)
    if not left.listed:
        yield Split(None, exact=False)
    elif not tried:
        yield Split(None, exact=exact, short=f"no accelerators that {host.name.replace('+', ' and ')} may have hold them")


def _sets(parts: Parts, host: Bundle, inner: Sequence[Bundle], left: Left) -> Iterator[tuple[int, frozenset[Seat] | None]]:
    """(what crosses at least, the accelerators) of each set; None for those that are missing: then nothing is known of what crosses."""
    its = seats_of(parts, host, inner, left)
    if not are_compared(parts.problem):
        yield from ((0, seats) for seats in its)
        return
    every = list(islice(its, MOST_IN_ORDER + 1))
    known = sorted(((_crosses(parts.problem, host, seats), seats) for seats in every[:MOST_IN_ORDER]), key=lambda each: each[0])
    if len(every) <= MOST_IN_ORDER and left.listed:
        yield from known
    else:
        yield from ((0, seats) for _, seats in known)
        yield 0, None


def _crosses(problem: Problem, host: Bundle, seats: frozenset[Seat]) -> int:
    return crosses(problem, {each.name: in_runs(problem, each, seats) for each in host.components})


def _there(problem: Problem, host: Bundle, seats: frozenset[Seat]) -> Problem:
    """The problem of one bundle alone, on exactly these accelerators."""
    part = among(problem, {each.name for each in host.components})
    masks: dict[int, int] = {}
    for node, index in seats:
        masks[node] = masks.get(node, 0) | 1 << index
    nodes = tuple(replace(each, taken=each.whole(ACCELERATOR) & ~masks.get(each.rank, 0)) for each in problem.cluster.nodes)
    components = tuple(replace(each, least=len(seats), most=len(seats)) for each in part.components)
    job = replace(part.job, components=components, links=())
    return replace(part, cluster=replace(problem.cluster, nodes=nodes), job=job, previous=None, explained=False)


def _given(problem: Problem, host: Bundle, placed: Assignment) -> Problem:
    """The problem in which a bundle has the ranks of a placement."""
    names = {each.name for each in host.components}
    parts = (
        replace(each, least=(count := placed.held(each.name)), most=count, runs=placed.of(each.name)) if each.name in names else each
        for each in problem.components
    )
    return replace(problem, job=replace(problem.job, components=tuple(parts)))


def is_one_range(problem: Problem, hosts: Hosts) -> bool:
    """Is there one open bundle alone around given ones, and do its accelerators follow from where its range begins and how long it is?"""
    job, (host, *others) = problem.job, hosts
    if others or host.kind != ACCELERATOR or not host.contiguous or problem.caps or problem.unlike or job.planning.laying is not None:
        return False
    return not any(each.stride > 1 or each.any_order or each.pins or each.name in job.choices for each in host.components)


def in_ranges(parts: Parts, hosts: Hosts) -> Iterator[Split]:
    """The problem with each range given that holds what lies within it."""
    problem, (host,) = parts.problem, hosts
    seats = [
        (stretch.node_rank, index) for stretch in problem.cluster.numbering(host.solid_in or ()).stretches for index in range(stretch.count)
    ]
    inside = frozenset(seat for each in hosts[host] for one in each.components for seat in problem.given().accelerators(one.name))
    ranges = list(_ranges(host, seats, inside))
    if seats != sorted(seats) or len(ranges) > MOST:
        yield Split(None, exact=False)
        return
    for its in ranges:
        rest = _in_range(problem, host, its)
        if _is_refused(rest):
            yield Split(None, short=_short(host))
        else:
            yield Split(rest)
    if not ranges:
        yield Split(None, short=_short(host))


def _short(host: Bundle) -> str:
    return f"no range that {host.name.replace('+', ' and ')} may have holds them"


def _ranges(host: Bundle, seats: Sequence[Seat], inside: frozenset[Seat]) -> Iterator[Sequence[Seat]]:
    """The ranges of these accelerators, of all lengths that it may have, that hold all that lies inside; the shortest first."""
    if not inside <= set(seats):
        return
    first, last = min(map(seats.index, inside)), max(map(seats.index, inside))
    for size in range(max(host.least * host.unit, last - first + 1), min(host.most * host.unit, len(seats)) + 1):
        if size % host.unit == 0 and may_have(host, size):
            for start in range(max(last - size + 1, 0), min(first, len(seats) - size) + 1):
                yield seats[start : start + size]


def _in_range(problem: Problem, host: Bundle, seats: Sequence[Seat]) -> Problem:
    """The problem in which all of a bundle is on these accelerators."""
    names = {each.name for each in host.components}
    parts = (
        replace(each, least=len(seats), most=len(seats), runs=in_runs(problem, each, seats)) if each.name in names else each
        for each in problem.components
    )
    return replace(problem, job=replace(problem.job, components=tuple(parts)))


def _is_refused(problem: Problem) -> bool:
    """Do its given ranks break a rule by themselves?"""
    return any(finding.severity is Severity.ERROR for finding in check_given(problem))


def put_back(problem: Problem, parted: Split, found: Answer, plan: Plan) -> Answer | None:
    """The answer with each component in one piece; None where the problem refuses that."""

    def at(component: Component) -> object:
        if component.name not in parted.kept:
            return plan.assignment.of(component.name)
        return in_runs(problem, component, {*parted.kept[component.name], *plan.assignment.accelerators(parted.beside[component.name])})

    assignment = Assignment({each.name: at(each) for each in problem.components})  # type: ignore[misc]
    if errors(check(_chosen(problem, plan), assignment)):
        return None
    return bounded(problem, replace(found, unchecked=tuple(unchecked(problem, assignment))), replace(plan, assignment=assignment))


def bounded(problem: Problem, answer: Answer, plan: Plan, least: int = 0) -> Answer:
    """The answer with this plan, and what counting proves of it; `least`: what it costs at least that something crosses."""
    chosen = _chosen(problem, plan)
    counted, its = _counted(chosen), tiers(chosen)
    proved = [sum(cost * bound for (_, cost), bound in zip(tier.members, bounds)) for tier, bounds in zip(its, counted)]
    if its and all(isinstance(term, BytesAcross) for term, _ in its[0].members):
        proved[0] = max(proved[0], least)
    bound = sum(tier.scale * amount for tier, amount in zip(its, proved))
    whole = replace(plan, terms=plan_terms(chosen, plan.assignment, counted, proved), bound=bound)
    whole = replace(whole, status=OPTIMAL if whole.objective <= bound else FEASIBLE)
    return replace(answer, verdict=whole.status, plan=whole)


def crossing(problem: Problem, plan: Plan) -> tuple[int, int]:
    """What it costs in a plan that something crosses, of what is searched, and what of that is proved, where traffic is weighed."""
    weights = problem.job.preference.weights
    costs = {term.name: weights.get(term.level, 1) for term in OBJECTIVES if isinstance(term, BytesAcross)}
    terms = [term for term in plan.terms if term.name in costs]
    proved = sum(costs[term.name] * term.bound for term in terms if term.tier == 0)
    return sum(costs[term.name] * term.value for term in terms), proved


def _chosen(problem: Problem, plan: Plan) -> Problem:
    """The problem with the degrees that were chosen."""
    components = (replace(each, parallel=plan.degrees.get(each.name, each.parallel)) for each in problem.components)
    return replace(problem, job=replace(problem.job, choices={}, components=tuple(components)))


def _counted(problem: Problem) -> list[list[int]]:
    """For each tier of the objective, what counting alone proves of its terms, where given components that lie within open ones are not."""
    parts = Parts(problem)
    inside = {component.name for inner in hosts_of(parts).values() for each in inner for component in each.components}
    without = among(problem, {component.name for component in problem.components} - inside)
    links = tuple(link for link in problem.job.links if inside.isdisjoint((link.source, link.target)))
    without = replace(without, job=replace(without.job, links=links))
    layout = Layout(without) if without.hinted and not not_searched(without) else None
    return [[term.bound(layout) if layout else 0 for term, _ in tier.members] for tier in tiers(problem)]
