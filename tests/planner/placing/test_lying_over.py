"""What planned components hold over given ones that let them: every way to place a small job, each accelerator counted once."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations, product
from random import Random
from typing import Iterator, Mapping

import pytest
from placewright.models.answer import IMPOSSIBLE, Answer
from placewright.models.component import Component
from placewright.models.machines.cluster import Cluster
from placewright.models.parallel import Parallel
from placewright.models.placements.assignment import compress
from placewright.models.planning.cost_models import iteration
from placewright.models.planning.design import Block, Design
from placewright.models.planning.option import Option
from placewright.models.planning.problem import PlanningProblem
from placewright.models.planning.workload import ACCELERATORS, SECOND, SECONDS, Budget, Measurement, TimedComponent, Workload
from placewright.models.problem import Problem
from placewright.planner.answer import Solver
from placewright.planner.costs import cost_model
from placewright.planner.problem import planning_problem
from placewright.planner.search.structures import segmentations
from placewright.solver.searching.search import solve

from ...solver.cases import cluster, component, problem

Seats = frozenset[tuple[int, int]]
NAMES = ("actor", "rollout", "critic")


@dataclass(frozen=True)
class Small:
    """A job: how long each planned component takes on how many, what is given where, and who may use that too."""

    cluster: Cluster
    times: Mapping[str, Mapping[int, int]]
    given: Mapping[str, Seats]
    overlaps: Mapping[str, frozenset[str]]
    aim: str
    budget: Budget
    contiguous: frozenset[str] = frozenset()
    size: int = 1

    @property
    def seats(self) -> list[tuple[int, int]]:
        return [(node.rank, index) for node in self.cluster.nodes for index in range(len(node.accelerators))]

    def problem(self) -> Problem:
        parts: list[Component] = []
        for name, times in self.times.items():
            rows = tuple(Measurement(count, seconds * SECOND) for count, seconds in times.items())
            part = component(name, min(times), max(times), tp=self.size, contiguous=name in self.contiguous)
            parts.append(replace(part, timed=TimedComponent(rows, scaling="table")))
        for name, its in self.given.items():
            runs = compress((rank, [seat]) for rank, seat in enumerate(sorted(its)))
            parts.append(Component(name, least=len(its), most=len(its), runs=runs))
        its = problem(self.cluster, *parts, shares=True)
        workload = Workload(aim=self.aim, budget=self.budget, nested=True)
        return replace(its, job=replace(its.job, overlaps=self.overlaps, planning=replace(its.job.planning, workload=workload)))

    def placements(self) -> Iterator[dict[str, Seats]]:
        """Every way to place it in which of two planned components that share accelerators one is inside the other."""
        for its in product(*(list(self._places(name)) for name in self.times)):
            pairs = combinations(its, 2)
            if all(not one & other or one <= other or other <= one for one, other in pairs):
                yield dict(zip(self.times, its))

    def _places(self, name: str) -> Iterator[Seats]:
        strange = frozenset[tuple[int, int]]().union(
            *(its for other, its in self.given.items() if name not in self.overlaps.get(other, ()))
        )
        for count in self.times[name]:
            for its in combinations(self.seats, count):
                places = [self.seats.index(seat) for seat in its]
                whole = all(sum(seat[0] == node.rank for seat in its) % self.size == 0 for node in self.cluster.nodes)
                in_row = name not in self.contiguous or places == list(range(places[0], places[0] + count))
                if strange.isdisjoint(its) and whole and in_row:
                    yield frozenset(its)

    def best(self) -> tuple[int, int] | None:
        """The least that any placement costs: ns and accelerators that anybody holds, in the order of the aim."""
        free = replace(self, budget=Budget()).problem()
        assert free.job.planning.workload is not None
        question, taken = planning_problem(free), frozenset[tuple[int, int]]().union(*self.given.values())
        prices, known = [], dict[tuple[Counts, Users], int]()
        for placed in self.placements():
            takes = _takes(question, self, placed, known)
            held = len(taken.union(*placed.values()))
            most, allowed = self.budget.accelerators, self.budget.nanoseconds
            if (most is None or held <= most) and (allowed is None or takes <= allowed):
                prices.append((takes, held) if self.aim == SECONDS else (held, takes))
        return min(prices, default=None)


Counts = tuple[tuple[str, int, int], ...]
Users = tuple[tuple[tuple[str, ...], int], ...]


def _takes(question: PlanningProblem, small: Small, placed: Mapping[str, Seats], known: dict[tuple[Counts, Users], int]) -> int:
    """ns of an iteration of a placement, cut as it is best."""
    users: dict[tuple[str, ...], int] = {}
    for seat in small.seats:
        if names := tuple(name for name, its in placed.items() if seat in its):
            users[names] = users.get(names, 0) + 1
    key = tuple((name, len(its), small.times[name][len(its)]) for name, its in placed.items()), tuple(sorted(users.items()))
    if key not in known:
        model = cost_model(Workload().model)
        options = {name: Option(0, count, Parallel(), (seconds * SECOND,), 0, 0) for name, count, seconds in key[0]}
        blocks = tuple(Block(0, count, names) for names, count in key[1])
        cuts = segmentations(question, model, tuple(block.components for block in blocks))
        known[key] = min(iteration(model, question, Design(blocks, options, cut)) for cut in cuts)
    return known[key]


def _random(random: Random) -> Small:
    nodes = random.choice([(4,), (5,), (6,), (2, 2), (2, 4)])
    names = NAMES[: random.choice([1, 2, 2, 3]) if sum(nodes) < 6 else random.choice([1, 2])]
    size = random.choice([1, 1, 2])
    total = sum(nodes)
    seats = [(node, index) for node, count in enumerate(nodes) for index in range(count)]
    times = {}
    for name in names:
        work, counts = random.randint(6, 60), range(size, total + 1, size)
        times[name] = {count: -(-work // count) + random.choice([0, 0, 1]) for count in counts if random.random() < 0.8} or {size: work}
    given = {
        name: frozenset(random.sample(seats, random.randint(1, total)) if random.random() < 0.5 else seats[: random.randint(1, total)])
        for name in ("reference", "reward")[: random.choice([1, 1, 2])]
    }
    overlaps = {name: its for name in given if (its := frozenset(each for each in names if random.random() < 0.75))}
    aim = random.choice([SECONDS, ACCELERATORS])
    most = random.choice([None, *range(total // 2, total + 1)])
    allowed = random.choice([None, random.randint(10, 60) * SECOND])
    whole = frozenset(name for name in names if random.random() < 0.15)
    return Small(cluster(*({"count": count} for count in nodes)), times, given, overlaps, aim, Budget(most, allowed), whole, size)


def faults(small: Small, answer: Answer) -> Iterator[str]:
    """What an answer says that is not so."""
    best = small.best()
    if answer.plan is None or answer.planned is None:
        if answer.verdict == IMPOSSIBLE and best is not None:
            yield f"impossible, and {best} is there"
        return
    placed, planned = answer.plan.assignment, answer.planned
    held = len(frozenset[tuple[int, int]]().union(*map(placed.accelerators, placed.runs)))
    takes = planned.best.nanoseconds
    price = (takes, held) if small.aim == SECONDS else (held, takes)
    if planned.best.accelerators(planned.question) != held:
        yield f"{planned.best.accelerators(planned.question)} accelerators are told, {held} held"
    if best is None or price < best:
        yield f"{price} is none, the best is {best}"
        return
    if planned.bound > best[0]:
        yield f"bound {planned.bound}, and the best is {best}"
    if planned.proved and price[0] > best[0]:
        yield f"{price} is proved, and the best is {best}"
    if planned.proved and not planned.ties_open and price > best:
        yield f"{price} is proved, also of what is as good, and the best is {best}"


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(60))
def test_every_accelerator_counts_that_anybody_holds(seed: int) -> None:
    small = _random(Random(seed))
    assert not list(faults(small, Solver(solve, 2.0)(small.problem())))
