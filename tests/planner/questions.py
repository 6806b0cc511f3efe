"""Random small questions of every kind: for whoever tries everything."""

from __future__ import annotations

from random import Random

from placewright.models.parallel import Parallel
from placewright.models.planning.option import NO_KIND, AcceleratorKind, Option
from placewright.models.planning.problem import Edge, MemoryTurns, PlanningProblem, Sharing, Task, Workflow
from placewright.models.planning.workload import ACCELERATORS, PHASES, SECONDS, Budget


def question(seed: int, stages: bool) -> PlanningProblem:
    """One of them: 2 to 4 components, at most 6 accelerators of one or two kinds, all else as it comes."""
    random = Random(f"{seed} {stages}")
    size = random.choice((2, 3, 3, 3, 4))
    kinds = _kinds(random, 4 if size == 4 else 6)
    names = tuple("abcd"[:size])
    tasks = _tasks(random, names, stages)
    edges = () if stages else _edges(random, len(tasks))
    batches = 1 if stages else random.choice((1, 2, 3, 8))
    options = {name: _options(random, kinds, sum(task.component == name for task in tasks), batches, size) for name in names}
    pairs = [(one, other) for one in names for other in names if one < other and all(options[name][0].kind >= 0 for name in (one, other))]
    relations = {pair: random.choice(("together", "apart", "within", "without")) for pair in pairs if random.random() < 0.2}
    within = frozenset(
        pair if kind == "within" else pair[::-1] for pair, kind in relations.items() if kind in ("within", "without")
    )  # fmt: skip
    memory = MemoryTurns(
        resident=frozenset(name for name in names if random.random() < 0.2 or not any(task.component == name for task in tasks)),
        turns={name: random.choice((("p",), ("q",), ("p", "q"))) for name in names if random.random() < 0.6},
    )
    sharing = Sharing(
        together=frozenset(pair for pair, kind in relations.items() if kind == "together"),
        apart=frozenset(pair for pair, kind in relations.items() if kind == "apart"),
        within=within,
        alone=frozenset(name for name in names if random.random() < 0.1),
        nested=bool(within) or random.random() < 0.4,
        only_within=bool(within) and seed % 3 == 1,
    )
    return PlanningProblem(
        kinds,
        tasks,
        options,
        Workflow(edges, () if stages else _rounds(seed, len(tasks)), PHASES, batches),
        memory,
        sharing,
        aim=ACCELERATORS if random.random() < 0.25 else SECONDS,
        budget=Budget(
            random.randint(2, 6) if random.random() < 0.3 else None,
            random.randint(10, 60) * 24 if random.random() < 0.3 else None,
        ),
    )


def _kinds(random: Random, most: int) -> tuple[AcceleratorKind, ...]:
    def memory() -> int | None:
        return random.choice((None, 8, 12, 16))

    if random.random() < 0.25:
        return AcceleratorKind("large", random.randint(1, 3), memory()), AcceleratorKind("small", random.randint(1, 3), memory())
    return (AcceleratorKind("large", random.randint(2, most), memory()),)


def _tasks(random: Random, names: tuple[str, ...], stages: bool) -> tuple[Task, ...]:
    """None, one or two of each component, in any order in which the parts of one component keep theirs."""
    found = [
        Task(name, phase)
        for name in names
        for phase in sorted(random.sample(PHASES, random.choice((1, 1, 1, 1, 2, 2) if name != "d" else (0, 1))), key=PHASES.index)
    ]
    if stages:
        return tuple(sorted(found, key=lambda task: PHASES.index(task.phase)))
    random.shuffle(found)
    places = {task.component: [place for place, other in enumerate(found) if other.component == task.component] for task in found}
    for its in places.values():
        for place, task in zip(its, sorted((found[place] for place in its), key=lambda task: PHASES.index(task.phase))):
            found[place] = task
    return tuple(found)


def _edges(random: Random, tasks: int) -> tuple[Edge, ...]:
    density = random.choice((0.2, 0.5, 0.8))
    return tuple(
        Edge(one, other, random.random() < 0.25) for one in range(tasks) for other in range(one + 1, tasks) if random.random() < density
    )


def _rounds(seed: int, tasks: int) -> tuple[frozenset[int], ...]:
    """Mostly none; else two or three tasks that wait for each other."""
    random = Random(f"round {seed}")
    return (frozenset(random.sample(range(tasks), random.choice((2, 2, 3)))),) if tasks > 2 and random.random() < 0.15 else ()


def _options(random: Random, kinds: tuple[AcceleratorKind, ...], tasks: int, batches: int, size: int) -> tuple[Option, ...]:
    """Some counts of some kinds, a few with several degrees; more accelerators are mostly, but not always, faster."""
    if size > 2 and random.random() < 0.12:
        return tuple(Option(NO_KIND, amount, Parallel(), tuple(random.randint(1, 60) * batches for _ in range(tasks))) for amount in (1, 2))
    memory, kept = random.randint(0, 9), random.random() < 0.5
    work = [random.randint(5, 120) for _ in range(tasks)]
    power = random.choice((0.3, 0.7, 1.0))
    found = []
    for kind, its in enumerate(kinds):
        counts = [count for count in range(1, its.accelerators + 1) if random.random() < (0.6 if size < 4 else 0.5)]
        for count in counts or [its.accelerators]:
            for degree in (1, 2) if random.random() < 0.3 else (1,):
                needs = max(0, memory // degree + random.randint(-1, 1))
                times = tuple(max(1, round(each / count**power * random.choice((1, 1, 1, 0.8, 1.3)))) * batches for each in work)
                found.append(Option(kind, count, Parallel(tp=degree), times, needs, random.randint(0, needs) if kept else 0))
    return tuple(found)
