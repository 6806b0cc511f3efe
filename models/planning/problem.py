"""Planning problem: tasks, options of each component, and accelerators by kind; it knows no node and no rank."""

from __future__ import annotations

from dataclasses import field
from functools import cached_property
from itertools import combinations, product
from typing import Iterable, Iterator, Mapping

from ..parallel import Parallel
from ..record import dataclass
from .limits import Area, Barred, Crossing, Shared, Use
from .option import Idle, Kind, Option
from .way import Way
from .workload import SECONDS, Budget


@dataclass(frozen=True, slots=True)
class Task:
    """The work of one component in one phase; "" where a component does all its work at once."""

    component: str
    phase: str = ""

    def __str__(self) -> str:
        return f"{self.component}.{self.phase}" if self.phase else self.component


@dataclass(frozen=True, slots=True)
class Edge:
    """Task `later` works on what task `earlier` makes; `whole`: it begins when all of that is there, not batch by batch."""

    earlier: int
    later: int
    whole: bool = False


@dataclass(frozen=True)
class Workflow:
    """Order of the work in an iteration.

    Attributes
    ----------
    edges : what works on what.
    rounds : tasks that wait for each other in a circle, so that a batch goes round: they run at the same time, or, where some of them
        share accelerators, one after the other.
    phases : the order of the phases, for a cost model that runs one after the other.
    batches : an iteration is handed on in so many.
    """

    edges: tuple[Edge, ...] = ()
    rounds: tuple[frozenset[int], ...] = ()
    phases: tuple[str, ...] = ()
    batches: int = 1


@dataclass(frozen=True)
class MemoryTurns:
    """When components need all their memory.

    Attributes
    ----------
    resident : components that hold their memory all the time, whatever else runs.
    turns : of the other components, the phases in which each needs all its memory; one that is not named has a turn of its own.
    """

    resident: frozenset[str] = frozenset()
    turns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class Sharing:
    """Which components may use the same accelerators, and how they lie there.

    Attributes
    ----------
    together, apart, within : pairs of components on exactly the same accelerators, on none in common, the first inside the second.
    whole : pairs on exactly the same accelerators, or on none in common.
    not_fewer : pairs of which the first has at least as many processes as the second.
    in_step : pairs of which the first, where both share accelerators, has a multiple of those of a process of the second.
    filling : sets of components, all `apart`, that use all accelerators between them.
    alone : components that share accelerators with those alone that they are `together` with or `within`.
    nested : may a component use the accelerators of several others, or only those of one set?
    only_within : where some are `within` others, does nobody else use only some of another's accelerators, but those together with them?
    forbids_nesting : where so, is that because the file says `nested: false`? For words alone.
    inside : where so, pairs of which the first may lie inside the second though nothing demands it.
    """

    together: frozenset[tuple[str, str]] = frozenset()
    apart: frozenset[tuple[str, str]] = frozenset()
    within: frozenset[tuple[str, str]] = frozenset()
    whole: frozenset[tuple[str, str]] = frozenset()
    not_fewer: frozenset[tuple[str, str]] = frozenset()
    in_step: frozenset[tuple[str, str]] = frozenset()
    filling: tuple[frozenset[str], ...] = ()
    alone: frozenset[str] = frozenset()
    nested: bool = False
    only_within: bool = False
    forbids_nesting: bool = field(default=False, compare=False)
    inside: frozenset[tuple[str, str]] = frozenset()


@dataclass(frozen=True)
class Given:
    """Accelerators of given ranks that are not planned.

    Attributes
    ----------
    held : accelerators of components whose ranks are given and that are not planned, and let nobody use theirs. They are in no kind, and `budget` is what they leave.
    shared : those of them that planned components may use too. They are in the kinds, and count in `budget` whether these are on them or not.
    """

    held: int = 0
    shared: tuple[Shared, ...] = ()


@dataclass(frozen=True)
class ScopeUsed:
    """Scope of the designs: models of accelerators, and what is left out.

    Attributes
    ----------
    over_kinds : is each component on any of the accelerators of a vendor, although something tells these apart?
    on_models : components with times that name models -> those that each is on, where it may be on several at once: the slowest decides.
    confined : other components that may be on only some of the models of a kind, whatever is chosen -> these.
    left_out : by which widenings of the scope there would be other designs. For words alone.
    """

    over_kinds: bool = False
    on_models: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    confined: Mapping[str, tuple[str, ...]] = field(default_factory=dict, compare=False)
    left_out: tuple[str, ...] = field(default=(), compare=False)


@dataclass(frozen=True)
class PlanningProblem:
    """What is to be chosen: an option for each component, which of them share accelerators, and what runs at the same time.

    Attributes
    ----------
    kinds : the accelerators that there are.
    tasks : no task comes before one that it works on; those of one component are in the order of its options' times.
    options : component -> the ways to run it. A component without tasks has options too: it takes accelerators and no time.
    ways : a design keeps to what one of them says; none: nothing more is asked of it.
    areas : nodes on which components must share the room.
    barred : designs that are not to be answered.
    crossing : what crosses the topology, where that counts as time; the price of a design has the least of it.
    leading : components whose degrees others follow -> the degrees with which this is asked; the options say these, where there are any.
    flow, memory, sharing, given, scope : see these classes.
    """

    kinds: tuple[Kind, ...]
    tasks: tuple[Task, ...]
    options: Mapping[str, tuple[Option, ...]]
    flow: Workflow = Workflow()
    memory: MemoryTurns = MemoryTurns()
    sharing: Sharing = Sharing()
    given: Given = Given()
    scope: ScopeUsed = ScopeUsed()
    ways: tuple[Way, ...] = ()
    aim: str = SECONDS
    budget: Budget = field(default_factory=Budget)
    areas: tuple[Area, ...] = ()
    barred: tuple[Barred, ...] = ()
    crossing: Crossing | None = None
    leading: Mapping[str, Parallel] = field(default_factory=dict, compare=False)

    @cached_property
    def accelerators(self) -> int:
        """How many there are, of all kinds."""
        return sum(kind.accelerators for kind in self.kinds)

    @property
    def components(self) -> tuple[str, ...]:
        """The components in the written order."""
        return tuple(self.options)

    def kind_of(self, model: str, memory: int | None) -> int | None:
        """The kind of accelerators of a model with so many MiB each: with exactly these, where there is one; None where no component may be on them."""
        its = [number for number, kind in enumerate(self.kinds) if kind.covers(model, memory)]
        return next((number for number in its if self.kinds[number].memory == memory), its[0] if its else None)

    @cached_property
    def together_shared(self) -> tuple[tuple[Shared, ...], ...]:
        """Every choice of what is shared, the empty one first: where none of it is left to be used, all else that is used comes beside it."""
        return tuple(its for count in range(len(self.given.shared) + 1) for its in combinations(self.given.shared, count))

    @cached_property
    def tasks_of(self) -> Mapping[str, tuple[int, ...]]:
        """Component -> indices of its tasks, in the order of its options' times."""
        found: dict[str, list[int]] = {name: [] for name in self.options}
        for index, task in enumerate(self.tasks):
            found[task.component].append(index)
        return {name: tuple(its) for name, its in found.items()}

    @cached_property
    def heeds_estimates(self) -> bool:
        """Is memory of some option only estimated, so that its designs fit by that?"""
        return any(option.estimated for its in self.options.values() for option in its)

    @cached_property
    def of_one_kind(self) -> tuple[str, ...]:
        """The components that are looked at on one kind of accelerators alone, whichever it is."""
        return tuple(name for name, its in self.options.items() if len({option.kind for option in its}) > 1)

    def turns_of(self, component: str) -> tuple[tuple[str, str], ...]:
        """When a component that is not resident needs all its memory: (phase, ""), or ("", its name) where no phase is said."""
        phases = self.memory.turns.get(component, ())
        return tuple((phase, "") for phase in phases) if phases else (("", component),)

    @cached_property
    def idle(self) -> Idle:
        """Who is not started beside whom."""
        return Idle(self.ways)

    def turns_beside(self, component: str, idle: Iterable[str]) -> tuple[tuple[str, str], ...]:
        """When a component needs all its memory where some are idle: in its own turns, and in those of what it does the work of."""
        done = (name for name in idle if self.idle.workers.get(name) == component)
        return tuple(dict.fromkeys((*self.turns_of(component), *(turn for name in done for turn in self.turns_of(name)))))

    @cached_property
    def all_turns(self) -> tuple[tuple[str, str], ...]:
        """Every turn of a component that is not resident, in the order of the components."""
        return tuple(dict.fromkeys(turn for name in self.options if name not in self.memory.resident for turn in self.turns_of(name)))

    @cached_property
    def misshapen(self) -> tuple[Barred, ...]:
        """Designs in which a component has other degrees, or fewer accelerators, than the way in which it lies has for it."""
        return tuple(
            Barred({name: Use(kind, amount, parallel, parallel is not None), other: Use(beside, 0, its, True)}, inside)
            for number, way in enumerate(self.ways)
            for name, amount, parallel, met in self._unfit(way)
            for other, together in way.told_by(name, [*self.ways[:number], *self.ways[number + 1 :]])
            for its in [met.get(other) if met else None]
            if not met or its is not None
            for kind, beside in product(range(len(self.kinds)), repeat=2)
            for inside in [frozenset({(name, other), (other, name)} if together else ())]
            if kind == beside or not together
        )

    def _unfit(self, way: Way) -> Iterator[tuple[str, int, Parallel | None, Mapping[str, Parallel]]]:
        """Component -> degrees that it does not have in a way, on any count; or a count that it does not have there, with any degrees.

        Degrees that it does not have beside those of another are told with these.
        """
        for name, shape in way.shapes.items():
            if all(name in each.shapes for each in self.ways):
                yield from ((name, 0, parallel, {}) for parallel in self._degrees(name) if parallel != shape.parallel)
        for name, least in way.least.items():
            counts = dict.fromkeys(option.amount for option in self.options.get(name, ()))
            yield from ((name, count, None, {}) for count in counts if count < least)
        for pair in way.paired:
            for one, other in product(self._degrees(pair.one), self._degrees(pair.other)):
                if pair.of(one, other) is None:
                    yield pair.one, 0, one, {pair.other: other}

    def _degrees(self, name: str) -> tuple[Parallel, ...]:
        """All that a component may have."""
        return tuple(dict.fromkeys(option.parallel for option in self.options.get(name, ())))

    def phase(self, task: int) -> int:
        """The place of a task's phase in the order of phases."""
        return self.flow.phases.index(self.tasks[task].phase)
