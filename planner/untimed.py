"""Components without times: beside a timed component, or on the remaining accelerators."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Callable, Collection, Mapping

from ..models.answer import IMPOSSIBLE, Answer, Solve
from ..models.component import COLOCATED, SUBSET, UNBOUNDED, Component
from ..models.placements.assignment import Assignment
from ..models.planning.design import Block, Design
from ..models.planning.option import NO_KIND, Option
from ..models.planning.problem import PlanningProblem
from ..models.planning.workload import SECONDS
from ..models.problem import Problem
from ..models.record import dataclass
from ..models.tied_degrees import each_choice
from ..solver.session import Session
from .placing import placing
from .problem import connect, planning_problem
from .scope import find_nested_pairs

Plan = Callable[[Problem], Answer]


def with_companions(problem: Problem, plan: Plan, session: Session) -> Answer:
    """Plan so that an untimed companion uses all accelerators of its timed component.

    Other plans count only if an iteration takes less: the companion's own time is unknown, and it
    is no longer on more accelerators.
    """
    answer = plan(problem)
    for variant in (may_lie_inside(problem), may_be_apart(problem)):
        is_open = answer.planned is None and answer.verdict != IMPOSSIBLE
        if variant is not None and not is_open and not session.cancelled:
            answer = _better(plan, answer, variant)
    return answer


def _better(plan: Plan, answer: Answer, problem: Problem) -> Answer:
    """Return the better answer of both problems, with the weaker of both lower bounds."""
    rival, result = plan(problem), answer.planned
    if rival.planned is None:
        if rival.verdict == IMPOSSIBLE:
            return answer
        return rival if result is None else _weaken_bound(answer, 0)
    if result is None or rival.planned.price[0] < result.price[0]:
        answer = _widen_companions(plan, problem, rival)
    return _weaken_bound(answer, rival.planned.bound if result is None else min(result.bound, rival.planned.bound))


def _weaken_bound(answer: Answer, bound: int) -> Answer:
    """Return the answer with this lower bound; its alternatives stay open."""
    result = answer.planned
    if result is None:
        return answer
    is_proved = result.proved and bound == result.price[0]
    return replace(answer, planned=replace(result, bound=bound, proved=is_proved, alternatives_open=True))


def _widen_companions(plan: Plan, problem: Problem, answer: Answer) -> Answer:
    """Return the plan with companions widened as far as the iteration takes no longer."""
    if answer.planned is None:
        return answer
    options, most = answer.planned.best.design.options, dict[str, int]()
    for inner, outer in find_nested_pairs(problem):
        counts = [option.amount for option in answer.planned.question.options[inner] if option.amount <= options[outer].amount]
        most |= {inner: max(counts)} if max(counts, default=0) > options[inner].amount else {}
    if not most:
        return answer
    components = tuple(part.narrow_counts(most[part.name], part.most) if part.name in most else part for part in problem.components)
    more = plan(replace(problem, job=replace(problem.job, components=components)))
    if more.planned is None or more.planned.price[0] > answer.planned.price[0]:
        return answer
    question = answer.planned.question  # what was asked: that it is on no fewer is no demand
    has_options = all(option in question.options[name] for name, option in more.planned.best.design.options.items())
    result = replace(more.planned, bound=answer.planned.bound, proved=answer.planned.proved)
    return replace(more, planned=replace(result, question=question) if has_options else result)


def may_lie_inside(problem: Problem) -> Problem | None:
    """Return the problem with companions inside their component; None if they always fill it."""
    going = [relation for relation in problem.find_relations(COLOCATED) if relation.proposed]
    if not going:
        return None
    every = [planning_problem(variant).options for variant in each_choice(problem)]

    def has_fewer(leader: str, follower: str) -> bool:
        counts = ({option.amount for option in options.get(follower, ())} for options in every)
        return any(option.amount not in amounts for options, amounts in zip(every, counts) for option in options.get(leader, ()))

    relations_open = [relation for relation in going if has_fewer(*relation.components)]
    if not relations_open:
        return None
    relations = tuple(
        replace(relation, kind=SUBSET, components=relation.components[::-1]) if relation in relations_open else relation
        for relation in problem.job.relations
    )
    return replace(problem, job=replace(problem.job, relations=relations))


def may_be_apart(problem: Problem) -> Problem | None:
    """Return the problem with separate companions that need memory; None without any."""

    def needs(component: Component) -> bool:
        return bool(component.memory or component.offloaded or component.estimate)

    going = [relation for relation in problem.find_relations(COLOCATED) if relation.proposed and needs(problem[relation.components[-1]])]
    if not going:
        return None
    relations = tuple(relation for relation in problem.job.relations if relation not in going)
    return replace(problem, job=replace(problem.job, relations=relations))


@dataclass(frozen=True)
class UntimedPlacement:
    """Widening of a design; `solve` places a problem with open ranges, fullest first."""

    problem: Problem
    question: PlanningProblem
    solve: Solve

    def widen(self, design: Design) -> Design:
        """Return the design with untimed components widened, on the same kinds.

        All are widened at once. If the budget leaves less than the cluster, one after another in
        written order; if the fewest accelerators are wanted, only components that take none of
        their own.
        """
        names = self._names()
        most = self.question.budget.accelerators if self.question.aim == SECONDS else design.count_used(self.question)
        caps = self._caps(design, names)
        increase = sum(cap - design.options[name].amount for name, cap in caps.items() if self._takes(design, name))
        if most is None or design.count_used(self.question) + increase <= most:
            return self._enlarge(design, caps)
        before: Design | None = None
        while design != before:  # what is widened may leave more to what it is related to
            before = design
            for group in connect(names, self.question.sharing.together):
                remaining = most - design.count_used(self.question)
                room = {name: remaining if self._takes(design, name) else UNBOUNDED for name in group}
                design = self._enlarge(design, self._caps(design, group, room))
        return design

    def _names(self) -> list[str]:
        """Return untimed components with a free range; empty if the dialect lays out all."""
        if self.problem.job.planning.laying is not None:
            return []
        parts = ((name, self.problem[name]) for name in self.question.components if name in self.question.sharing.alone)
        return [name for name, part in parts if part.runs is None and part.timed is None and part.least < part.most < UNBOUNDED]

    def _takes(self, design: Design, name: str) -> bool:
        """Return True if the component takes accelerators outside a surrounding component."""
        return design.options[name].kind != NO_KIND and all(inner != name for inner, _ in self.question.sharing.within)

    def _amounts(self, design: Design, name: str) -> dict[int, Option]:
        """Return the counts open to a component with its degrees, without more memory: count -> option."""
        current, options = design.options[name], self.question.options[name]
        same_degrees = [option for option in options if (option.kind, option.parallel) == (current.kind, current.parallel)]
        return {option.amount: option for option in same_degrees if option.memory <= current.memory and option.kept <= current.kept}

    def _caps(self, design: Design, names: Collection[str], more: Mapping[str, int] | None = None) -> dict[str, int]:
        """Return the largest count of each component: remaining accelerators, and `more`."""
        free = [kind.accelerators for kind in self.question.kinds]
        for block in design.blocks:
            free[block.kind] -= block.accelerators if not set(block.components) <= set(names) else 0
        largest = {}
        for name in names:
            current = design.options[name]
            most = free[current.kind] if self._takes(design, name) else UNBOUNDED
            most = min(most, current.amount + more[name]) if more else most
            largest[name] = max([current.amount, *(amount for amount in self._amounts(design, name) if amount <= most)])
        return largest

    def _enlarge(self, design: Design, caps: Mapping[str, int]) -> Design:
        """Return the design with the most of these components that have a placement."""
        caps = dict(caps)
        while any(cap > design.options[name].amount for name, cap in caps.items()):
            answer = self.solve(placing(self.problem, self.question, design, caps))
            if answer.plan is None:
                return design
            assignment = answer.plan.assignment
            amounts = {name: assignment.count_held(name) or assignment.amount(name) or assignment.world_size(name) for name in caps}
            strange = {name: amount for name, amount in amounts.items() if amount not in self._amounts(design, name)}
            if not strange:
                return self._redrawn(design, amounts, assignment)
            for name, amount in strange.items():  # a count between two that it may have
                caps[name] = max(count for count in self._amounts(design, name) if count < amount)
        return design

    def _redrawn(self, design: Design, amounts: Mapping[str, int], assignment: Assignment) -> Design:
        """Return the design with the counts of a placement."""
        options = {**design.options, **{name: self._amounts(design, name)[amount] for name, amount in amounts.items()}}
        seats = {name: assignment.accelerators(name) for name in self.question.components}
        users = Counter(tuple(name for name in seats if seat in seats[name]) for seat in sorted(frozenset().union(*seats.values())))
        kinds = {name: option.kind for name, option in options.items()}
        order = [block.components for block in design.blocks]
        every = sorted(users, key=lambda names: (order.index(names) if names in order else len(order), names))
        return replace(design, options=options, blocks=tuple(Block(kinds[names[0]], users[names], names) for names in every))
