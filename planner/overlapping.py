"""Given ranks that overlap in part, planned as equal or disjoint ranks and restored afterwards."""

from __future__ import annotations

from dataclasses import field, replace
from itertools import combinations
from typing import Callable, Collection, Iterator, Mapping, Sequence

from ..models.answer import Answer, Solve
from ..models.component import COLOCATED_OR_DISJOINT, DISJOINT, IN_ORDER, SUBSET, TOGETHER, Component
from ..models.machines.node_group import CLUSTER_LABEL, NODE_LABEL
from ..models.parallel import UNDIVIDED
from ..models.placements.run import Run
from ..models.planning.design import Block, Design
from ..models.planning.measured import TABLE, Measured
from ..models.planning.option import Option
from ..models.planning.planned import Planned, Priced
from ..models.planning.problem import PlanningProblem, Task
from ..models.planning.way import Way
from ..models.planning.workload import RLINF, RLINF_EMBODIED, SECONDS, STEADY, STREAM, Budget, Timed, Workload
from ..models.problem import Problem
from ..models.record import dataclass
from ..solver.unchecked import unchecked
from .costs import cost_model
from .costs.cost_model import iteration
from .problem import asked, is_resident
from .related import hold, overlaps
from .search.search import search
from .times import on_the_slowest, time_of
from .unplaced import around_nothing
from .why.changes import EACH

SHARED = (*TOGETHER, SUBSET, IN_ORDER)
"""Relations by which others are on the same accelerators, or which these are depends on theirs."""
NONE_SHARED = (DISJOINT, COLOCATED_OR_DISJOINT)
"""Relations that hold of components whose ranks are given and others that may not use their accelerators."""


Seat = tuple[int, int]
"""(node rank, local index) of an accelerator."""
Seats = Mapping[str, frozenset[Seat]]
Times = Mapping[str, int]
"""Phase -> ns."""
HELD = "accelerators of given ranks"
Plans = Callable[[Problem, Solve], Answer]
"""How a problem is planned, given how designs are placed."""


def around_overlapping(plans: Plans, place: Solve, problem: Problem, limit: float, seed: int) -> Answer | None:
    """The answer where given ranks overlap in part; None where none do."""
    pair = overlaps(problem, [each for each in problem.components if each.timed])
    if pair is None:
        return None
    turned, ranks = taking_turns(problem), RanksPutBack.of(problem)
    if turned is not None and ranks is not None:
        found = with_ranks_put_back(problem, ranks, plans(turned, around_own_ranks(place, problem, ranks)))
        if found is not None:
            return found
    model = problem.job.planning.workload.model if problem.job.planning.workload else ""
    if model in (RLINF, RLINF_EMBODIED):
        return around_nothing(*pair, model=model)
    return around_nothing(*pair, least=_least(problem, min(limit, EACH), seed))


def _least(problem: Problem, limit: float, seed: int) -> int | None:
    """What an iteration takes at least in any plan of the scope, ns, as far as a search shows that; None where it does not."""
    free = freed(problem)
    if free is None or free.job.planning.workload is None:
        return None
    return search(asked(free, free.job.planning.workload), cost_model(free.job.planning.workload.model), limit, seed).bound


def taking_turns(problem: Problem) -> Problem | None:
    """The problem with ranks that are the same or apart instead of those that overlap in part; None where these say something else.

    An iteration takes as long. Who cannot work at the same time is said beside these ranks (`Job.one_at_a_time`); where the cost model
    adds up what works on each accelerator, those have their times that are on the busiest. It is so only where nobody else may use these
    accelerators. What else is asked of given ranks, such as their memory, is left out: designs are placed around the ranks of the file.
    """
    workload, job = problem.job.planning.workload, problem.job
    if workload is None or workload.model in (RLINF, RLINF_EMBODIED) or problem.previous is not None:
        return None
    if job.planning.laying is not None or job.planning.followed:  # more is said of them than how long they take
        return None
    parts, pairs = {each.name: each for each in problem.components}, set[tuple[str, str]]()
    for names, seats in overlapping(problem):
        times = {name: its for name in names if (its := times_of(problem, problem[name]))}
        if len(times) < len(names) or any(_is_concerned(problem, problem[name]) for name in names):
            return None
        kept = times if workload.model == STREAM else of_the_busiest(seats, times, workload.model)
        pairs |= sharing(seats) if workload.model == STREAM else set()
        for users, where in places(problem, seats, workload.model == STREAM):
            parts.update((name, on(problem[name], where, kept[name])) for name in users)
    turned = frozenset(name for name, its in parts.items() if its is not problem[name])
    ways = tuple(way.among(frozenset(parts) - turned) for way in job.planning.ways if _may_be(problem, way, turned))
    if job.planning.ways and not ways:
        return None
    held = replace(job, components=tuple(parts.values()), relations=tuple(each for each in job.relations if turned.isdisjoint(each.components)), shares=tuple(each for each in job.shares if each.component not in turned), links=tuple(each for each in job.links if turned.isdisjoint((each.source, each.target))), planning=replace(job.planning, one_at_a_time=frozenset(pairs), ways=ways, accepted={name: its for name, its in job.planning.accepted.items() if name not in turned}))  # fmt: skip
    return replace(problem, job=held)


def overlapping(problem: Problem) -> Iterator[tuple[tuple[str, ...], Seats]]:
    """Given components that share some accelerators with each other, directly or through others, where any two of these overlap in part."""
    seats = {each.name: problem.given().accelerators(each.name) for each in problem.components if each.runs and hold(problem, each.name)}
    left = [name for name, its in seats.items() if its]
    while left:
        names, before = {left[0]}, set[str]()
        while names != before:
            before = set(names)
            names |= {name for name in left if any(seats[name] & seats[other] for other in before)}
        its = {name: seats[name] for name in left if name in names}
        left = [name for name in left if name not in names]
        if any(one & other and not (one <= other or other <= one) for one, other in combinations(its.values(), 2)):
            yield tuple(its), its


def _is_concerned(problem: Problem, component: Component) -> bool:
    """Does anything of it matter to the designs of others, beside its accelerators and its times?

    What matters only to where these lie does where the file's own ranks are compared, or what crosses the topology counts as time.
    """
    job, name, workload = problem.job, component.name, problem.job.planning.workload
    related = [each for each in job.relations if name in each.components and any(problem[its].runs is None for its in each.components)]
    chosen = name in job.choices or name in job.planning.tied or name in job.planning.tied.values()
    placed = bool(
        component.traffic or component.cpus or component.host_memory or [each for each in related if each.kind not in NONE_SHARED]
    )
    placed = placed or any(name in (each.source, each.target) for each in job.links)
    return may_be_shared(problem, component) or chosen or (placed and bool(job.planning.own or (workload and workload.bandwidth)))


def may_be_shared(problem: Problem, component: Component) -> bool:
    """May others whose place is open be on accelerators of a component whose ranks are given?"""
    said = (each for each in problem.job.relations if component.name in each.components and each.kind in SHARED)
    return component.name in problem.job.overlaps or any(problem[name].runs is None for each in said for name in each.components)


def _may_be(problem: Problem, way: Way, turned: frozenset[str]) -> bool:
    """Are the given ranks of these as a way has them, others on none of their accelerators?"""
    given = problem.given()

    def shared(one: str, other: str) -> tuple[bool, bool]:
        """Do they share some accelerators, and all of them?"""
        if any(problem[name].runs is None for name in (one, other)):
            return False, False
        its, theirs = given.accelerators(one), given.accelerators(other)
        return bool(its & theirs), its == theirs

    together = (shared(*pair)[1] for pair in way.together if not turned.isdisjoint(pair))
    apart = (not shared(*pair)[0] for pair in way.apart if not turned.isdisjoint(pair))
    return all(together) and all(apart)


def times_of(problem: Problem, component: Component) -> Times:
    """How long each phase of a component takes by its given ranks; none where one of these times is not known, or it has none."""
    timed, amount = on_the_slowest(problem, component).timed, problem.given().amount(component.name)
    if timed is None:
        return {}
    models = {problem.cluster.nodes[node].accelerator_model for node, _ in problem.given().masks(component.name)}
    model = min(models) if len(models) == 1 else ""
    found = {phase: time_of(timed, phase, amount, component.parallel, model) for phase in timed.phases}
    return {phase: time.nanoseconds for phase, time in found.items() if time is not None} if all(found.values()) else {}


def sharing(seats: Seats) -> set[tuple[str, str]]:
    """Pairs that share accelerators."""
    return {(one, other) for one, other in combinations(seats, 2) if seats[one] & seats[other]}


def of_the_busiest(seats: Seats, times: Mapping[str, Times], model: str) -> Mapping[str, Times]:
    """The times of those that are on the accelerator that works longest, of each phase by itself unless all of them run at once; 0 of all others."""
    found: dict[str, dict[str, int]] = {name: dict.fromkeys(its, 0) for name, its in times.items()}
    users = {frozenset(name for name, its in seats.items() if seat in its) for each in seats.values() for seat in each}
    for stage in stages(times, model):
        works = {its: sum(times[name][phase] for name, phase in stage if name in its) for its in users}
        busiest = min(users, key=lambda its: (-works[its], sorted(its)))
        for name, phase in stage:
            found[name][phase] = times[name][phase] if name in busiest else 0
    return found


def stages(times: Mapping[str, Times], model: str) -> Sequence[Sequence[tuple[str, str]]]:
    """(component, phase) of what runs at the same time, in a cost model that adds up what works on each accelerator."""
    tasks = [(name, phase) for name, its in times.items() for phase in its]
    if model == STEADY:
        return [tasks]
    return [[task for task in tasks if task[1] == phase] for phase in dict.fromkeys(phase for _, phase in tasks)]


def places(problem: Problem, seats: Seats, in_pairs: bool) -> Iterator[tuple[Collection[str], Collection[Seat]]]:
    """All of these components, and their accelerators: some components that share one, with those that they get between them.

    Unless it matters which two of them share any (`in_pairs`), all share all.
    """
    every = sorted(frozenset[Seat]().union(*seats.values()))
    if not in_pairs:
        yield list(seats), every
        return
    left, found = list(seats), dict[Seat, list[str]]()
    while left:
        most = max(every, key=lambda seat: sum(seat in seats[name] for name in left))
        found[most] = [name for name in left if most in seats[name]]
        left = [name for name in left if name not in found[most]]
    rest, nodes = [seat for seat in every if seat not in found], problem.cluster.nodes
    of = {rank: (nodes[rank].accelerator_model, nodes[rank].accelerator_memory) for rank, _ in every}
    strange = {of[rank] for rank, _ in every} - {of[rank] for rank, _ in found}
    last = max(found, key=lambda seat: of[seat[0]] not in strange)
    for seat, its in found.items():
        yield its, [seat, *(rest if seat == last else [])]


def on(component: Component, seats: Collection[Seat], times: Times) -> Component:
    """The component on these accelerators, with these times and of which nothing more is asked."""
    rows = tuple(Measured(len(seats), time, phase) for phase, time in times.items())
    runs = tuple(Run(range(rank, rank + 1), node, first=index) for rank, (node, index) in enumerate(sorted(seats)))
    return replace(
        component, least=len(seats), most=len(seats), counts=(), per_process=1, parallel=UNDIVIDED, stride=1, contiguous=False, runs=runs,
        timed=Timed(rows, TABLE), estimate=None, memory=0, offloaded=0, on_sizes=(), keep=(), spread=(), pins=(), shards=0, host_memory=0, cpus=0, traffic=0, excluded=(),
        accelerator_model="", node_groups=(CLUSTER_LABEL,),
    )  # fmt: skip


def freed(problem: Problem) -> Problem | None:
    """The problem, of which no plan takes longer; None where nothing is known of that.

    Nobody else uses their accelerators, unless something lets others do so. Who shares some takes turns, for as long as each takes with the
    quickest of its degrees; where the cost model adds up what works on an accelerator, one of them has the times of all on the busiest.
    """
    job, workload = problem.job, problem.job.planning.workload
    if workload is None or workload.model in (RLINF, RLINF_EMBODIED) or workload.aim != SECONDS or job.planning.followed:
        return None
    parts, pairs, held = {each.name: each for each in problem.components}, set[tuple[str, str]](), frozenset[Seat]()
    for names, seats in overlapping(problem):
        timed = [name for name in names if problem[name].timed is not None]
        times = {name: its for name in timed if (its := _quickest(problem, problem[name]))}
        if len(times) < len(timed) or any(leader in names for leader in job.planning.tied.values()):
            return None
        seats = {name: seats[name] for name in timed}
        held |= frozenset[Seat]().union(*seats.values())
        pairs |= sharing(seats) if workload.model == STREAM else set()
        kept = times if workload.model == STREAM else _as_one(seats, times, workload.model)
        parts.update((name, _without_accelerators(problem[name], kept[name])) for name in timed)
    gone = {name for name, its in parts.items() if its is not problem[name]}
    if not any(may_be_shared(problem, problem[name]) for name in gone):
        runs = tuple(Run(range(place, place + 1), node, first=index) for place, (node, index) in enumerate(sorted(held)))
        parts[HELD] = Component(HELD, least=len(runs), most=len(runs), runs=runs)
    without = replace(job, components=tuple(parts.values()), relations=tuple(each for each in job.relations if gone.isdisjoint(each.components)), overlaps={name: others for name, others in job.overlaps.items() if name not in gone}, choices={name: its for name, its in job.choices.items() if name not in gone}, shares=tuple(each for each in job.shares if each.component not in gone), links=tuple(each for each in job.links if gone.isdisjoint((each.source, each.target))), planning=replace(job.planning, one_at_a_time=frozenset(pairs), own={}, own_faults=(), ways=tuple(way.among(frozenset(parts) - gone) for way in job.planning.ways), accepted={name: its for name, its in job.planning.accepted.items() if name not in gone}, tied={name: its for name, its in job.planning.tied.items() if name not in gone}, workload=replace(workload, heeds_estimates=False, budget=Budget(accelerators=workload.budget.accelerators))))  # fmt: skip
    return replace(problem, job=without, previous=None)


def _quickest(problem: Problem, component: Component) -> Times:
    """Of each phase, the least time that it takes with any of its degrees by its given ranks; none where one is not known."""
    its = (replace(component, parallel=each) for each in problem.job.choices.get(component.name, (component.parallel,)))
    known = [times for each in its if (times := times_of(problem, each))]
    return {phase: min(times[phase] for times in known) for phase in known[0]} if known else {}


def _as_one(seats: Seats, times: Mapping[str, Times], model: str) -> Mapping[str, Times]:
    """Times of which those that run at once come to what works on the accelerator that is busiest then."""
    busiest = of_the_busiest(seats, times, model)
    found: dict[str, dict[str, int]] = {name: dict.fromkeys(its, 0) for name, its in times.items()}
    for stage in stages(times, model):
        name, phase = stage[0]
        found[name][phase] = sum(busiest[name][phase] for name, phase in stage)
    return found


def _without_accelerators(component: Component, times: Times) -> Component:
    """One process on a node, with these times and of which nothing more is asked."""
    rows = tuple(Measured(1, time, phase) for phase, time in times.items())
    return Component(component.name, (NODE_LABEL,), most=1, phases=component.phases, timed=Timed(rows, TABLE))


def around_own_ranks(place: Solve, problem: Problem, ranks: RanksPutBack) -> Solve:
    """How designs of a problem of which `taking_turns` was planned are placed: around the ranks of the file."""
    options, job = ranks.options, problem.job
    names = options.keys()

    def placed(asked_for: Problem) -> Answer:
        its = asked_for.job
        there = {each.name for each in its.components}
        parts = tuple(_decided(problem[each.name], options[each.name]) if each.name in names else each for each in its.components)
        relations = (each for each in its.relations if names.isdisjoint(each.components))
        said = (each for each in job.relations if not names.isdisjoint(each.components) and there.issuperset(each.components))
        links = (each for each in job.links if not names.isdisjoint((each.source, each.target)) and there >= {each.source, each.target})
        shares = (each for each in job.shares if each.component in names & there)
        its = replace(its, components=parts, relations=(*relations, *said), links=(*its.links, *links), shares=(*its.shares, *shares), planning=replace(its.planning, one_at_a_time=frozenset()))  # fmt: skip
        return place(replace(asked_for, job=its))

    return placed


def _decided(component: Component, option: Option) -> Component:
    """The component as it runs; where it does not say when it needs its memory, and that is estimated, it has a turn of its own."""
    own = () if component.phases or is_resident(component) else (f"turn of {component.name}",)
    amount = option.amount
    return replace(component, least=amount, most=amount, parallel=option.parallel, timed=None, phases=component.phases or own)


def with_ranks_put_back(problem: Problem, ranks: RanksPutBack, found: Answer) -> Answer | None:
    """The answer to a problem of which `taking_turns` was planned; None where that is of its own ranks, or the price of those of the file is another."""
    if found.planned is None or found.plan is None:
        return None if found.how == "given" else found
    planned, model = ranks.planned(found.planned), cost_model(found.planned.model)
    if iteration(model, planned.question, planned.best.design) != planned.best.nanoseconds:
        return None
    degrees = {name: its for name, its in found.plan.degrees.items() if name not in ranks.options}
    told = tuple(unchecked(problem, found.plan.assignment))
    return replace(found, planned=planned, plan=replace(found.plan, degrees=degrees), unchecked=told)


@dataclass(frozen=True)
class RanksPutBack:
    """What is said of the components whose ranks overlap in part.

    Attributes
    ----------
    groups : the accelerators of those that share some, directly or through others.
    options : how each of them runs.
    """

    groups: tuple[Seats, ...]
    options: Mapping[str, Option]
    _known: dict[int, tuple[Priced, Priced]] = field(default_factory=dict, compare=False, repr=False)

    @staticmethod
    def of(problem: Problem) -> RanksPutBack | None:
        """Of a problem for which there is one in which they are the same or apart; None where the file or its framework takes no such count."""
        groups = tuple(seats for _, seats in overlapping(problem))
        tasks = asked(problem, problem.job.planning.workload or Workload()).tasks
        found = {name: _by_itself(problem, name, tasks) for seats in groups for name in seats}
        options = {name: its for name, its in found.items() if its is not None}
        return RanksPutBack(groups, options) if len(options) == len(found) else None

    def planned(self, planned: Planned) -> Planned:
        """The plan with these ranks in all of its designs and questions."""
        out = tuple(
            replace(each, priced=self.priced(each.priced), question=each.question and self.question(each.question))
            for each in planned.unplaceable
        )
        return replace(
            planned, question=self.question(planned.question), best=self.priced(planned.best), others=tuple(map(self.priced, planned.others)),
            unplaceable=out, not_placed=tuple(map(self.priced, planned.not_placed)), lean=planned.lean and self.design(planned.lean),
            without_estimates=planned.without_estimates and self.priced(planned.without_estimates),
            without_question=planned.without_question and self.question(planned.without_question),
            parts=tuple(map(self.question, planned.parts)),
            further=tuple(replace(each, priced=self.priced(each.priced)) for each in planned.further),
        )  # fmt: skip

    def priced(self, priced: Priced) -> Priced:
        """The same time of the design with these ranks; of the same one always the same one."""
        if id(priced) not in self._known:
            self._known[id(priced)] = priced, replace(priced, design=self.design(priced.design))
        return self._known[id(priced)][1]

    def question(self, question: PlanningProblem) -> PlanningProblem:
        """The question with how they run, and without what their other ranks have to do with each other."""
        options = {name: tuple(self._option(name, each) for each in its) for name, its in question.options.items()}
        together, apart, within = (
            frozenset(pair for pair in pairs if not any(seats.keys() >= set(pair) for seats in self.groups))
            for pairs in (question.sharing.together, question.sharing.apart, question.sharing.within)
        )
        return replace(
            question,
            options=options,
            sharing=replace(question.sharing, together=together, apart=apart, within=within, one_at_a_time=frozenset()),
        )

    def design(self, design: Design) -> Design:
        """The design with the blocks that these ranks are."""
        options = {name: self._option(name, its) for name, its in design.options.items()}
        blocks: list[Block] = []
        for seats in self.groups:
            kind = next(block.kind for block in design.blocks if not seats.keys().isdisjoint(block.components))
            counts: dict[tuple[str, ...], int] = {}
            for seat in sorted(frozenset[tuple[int, int]]().union(*seats.values())):
                users = tuple(name for name in design.options if name in seats and seat in seats[name])
                counts[users] = counts.get(users, 0) + 1
            blocks += (Block(kind, count, users) for users, count in counts.items())
        left = (block for block in design.blocks if self.options.keys().isdisjoint(block.components))
        return replace(design, blocks=(*blocks, *left), options=options)

    def _option(self, name: str, option: Option) -> Option:
        its = self.options.get(name)
        return option if its is None else replace(its, kind=option.kind)


def _by_itself(problem: Problem, name: str, tasks: Sequence[Task]) -> Option | None:
    """How a component runs on its given ranks, whoever else is on them; its times in the order of these tasks. None where it may not run so."""
    job = replace(problem.job, components=(problem[name],), relations=(), links=(), planning=replace(problem.job.planning, ways=()))
    its = asked(replace(problem, job=job), job.planning.workload or Workload())
    if not its.options[name]:
        return None
    option, phases = its.options[name][0], [its.tasks[task].phase for task in its.tasks_of[name]]
    order = (phases.index(task.phase) for task in tasks if task.component == name)
    return replace(option, nanoseconds=tuple(option.nanoseconds[place] for place in order))
