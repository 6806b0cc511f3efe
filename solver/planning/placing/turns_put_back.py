"""From what was planned around ranks that are the same or apart to the ranks of the file, which overlap in part."""

from __future__ import annotations

from dataclasses import field, replace
from typing import Mapping, Sequence

from ....models.answer import Answer, Solve
from ....models.component import Component
from ....models.planning.design import Block, Design
from ....models.planning.option import Option
from ....models.planning.planned import Planned, Priced
from ....models.planning.question import Question, Task
from ....models.planning.workload import Workload
from ....models.problem import Problem
from ....models.record import dataclass
from ...unchecked import unchecked
from ..asking.asked import asked, is_resident
from ..asking.put_apart import Seats
from ..asking.taking_turns import overlapping
from ..costs import cost_model
from ..costs.cost_model import iteration


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
        its = replace(
            its, components=parts, relations=(*relations, *said), links=(*its.links, *links), shares=(*its.shares, *shares),
            one_at_a_time=frozenset(),
        )  # fmt: skip
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
        tasks = asked(problem, problem.job.workload or Workload()).tasks
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
            parts=tuple(map(self.question, planned.parts)), seen=tuple(map(self.design, planned.seen)),
            further=tuple(replace(each, priced=self.priced(each.priced)) for each in planned.further),
        )  # fmt: skip

    def priced(self, priced: Priced) -> Priced:
        """The same time of the design with these ranks; of the same one always the same one."""
        if id(priced) not in self._known:
            self._known[id(priced)] = priced, replace(priced, design=self.design(priced.design))
        return self._known[id(priced)][1]

    def question(self, question: Question) -> Question:
        """The question with how they run, and without what their other ranks have to do with each other."""
        options = {name: tuple(self._option(name, each) for each in its) for name, its in question.options.items()}
        together, apart, within = (
            frozenset(pair for pair in pairs if not any(seats.keys() >= set(pair) for seats in self.groups))
            for pairs in (question.together, question.apart, question.within)
        )
        return replace(question, options=options, together=together, apart=apart, within=within, one_at_a_time=frozenset())

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
    job = replace(problem.job, components=(problem[name],), relations=(), links=(), ways=())
    its = asked(replace(problem, job=job), job.workload or Workload())
    if not its.options[name]:
        return None
    option, phases = its.options[name][0], [its.tasks[task].phase for task in its.tasks_of[name]]
    order = (phases.index(task.phase) for task in tasks if task.component == name)
    return replace(option, nanoseconds=tuple(option.nanoseconds[place] for place in order))
