"""Planning problem: tasks, options by component, accelerators by kind.

It knows no node and no rank.
"""

from __future__ import annotations

from dataclasses import field
from functools import cached_property
from itertools import combinations
from typing import Iterable, Mapping

from ..record import dataclass
from .arrangement import FrameworkArrangement
from .option import AcceleratorKind, Area, Crossing, Idle, Option, RefusedCount, SharedBlock
from .workload import SECONDS, Budget


@dataclass(frozen=True, slots=True)
class Task:
    """Work of a component in a phase; "" for all work as a single task."""

    component: str
    phase: str = ""

    def __str__(self) -> str:
        return f"{self.component}.{self.phase}" if self.phase else self.component


@dataclass(frozen=True, slots=True)
class Edge:
    """Dependency of task `later` on `earlier`: on a batch, or on the `whole` result."""

    earlier: int
    later: int
    whole: bool = False


@dataclass(frozen=True)
class Workflow:
    """Order of the work in an iteration.

    Attributes
    ----------
    rounds : cycles of tasks through which a batch passes: they run at the same time, or, if some of
        them share accelerators, one after the other.
    phases : order of the phases, for a cost model that runs one after the other.
    """

    edges: tuple[Edge, ...] = ()
    rounds: tuple[frozenset[int], ...] = ()
    phases: tuple[str, ...] = ()
    batches: int = 1


@dataclass(frozen=True)
class MemoryTurns:
    """Phases in which components need all their memory.

    `resident` components hold their memory all the time. `turns`: other component -> phases in which
    it needs all its memory; an unnamed component has a turn of its own.
    """

    resident: frozenset[str] = frozenset()
    turns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class Sharing:
    """Allowed sharing of accelerators between components.

    Attributes
    ----------
    together, apart, within : pairs of components on exactly the same accelerators, on none in
        common, the first inside the second.
    whole : pairs on exactly the same accelerators, or on none in common.
    not_fewer : pairs in which the first has at least as many processes as the second.
    in_step : pairs in which the first, on shared accelerators, has a multiple of the accelerators
        of a process of the second.
    filling : sets of components, all `apart`, that use all accelerators between them.
    alone : components that share accelerators only with those that they are `together` with or
        `within`.
    nested : True if a component may use the accelerators of several others; False for those of one
        set.
    only_within : True if, beside pairs in `within`, no other component uses only some of another's
        accelerators, except those together with them.
    forbids_nesting : True if the reason for `only_within` is `nested: false` in the file. For
        messages alone.
    inside : under `only_within`, pairs in which the first may be inside the second without a
        demand.
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
class GivenRanks:
    """Accelerators of given ranks that are not planned.

    Attributes
    ----------
    held : accelerators of unplanned components with given ranks that share with nobody. They are in
        no kind, and `budget` is without them.
    shared : accelerators of such components that planned components may use too. They are in the
        kinds, and count in `budget` in any case.
    """

    held: int = 0
    shared: tuple[SharedBlock, ...] = ()


@dataclass(frozen=True)
class DesignScope:
    """Scope of the designs: accelerator models and omitted widenings.

    Attributes
    ----------
    over_kinds : True if each component may be on any accelerators of a vendor, although demands
        distinguish them.
    on_models : component with times that name models -> its models, several at once if allowed: the
        slowest decides.
    confined : other component that may be on only some models of a kind, whatever is chosen ->
        these models.
    left_out : widenings of the scope with further designs. For messages alone.
    """

    over_kinds: bool = False
    on_models: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    confined: Mapping[str, tuple[str, ...]] = field(default_factory=dict, compare=False)
    left_out: tuple[str, ...] = field(default=(), compare=False)


@dataclass(frozen=True)
class PlanningProblem:
    """Choice of an option per component, of sharing, and of concurrency.

    Attributes
    ----------
    tasks : in topological order; tasks of one component are in the order of its options' times.
    options : component -> options. A component without tasks has options too: it takes accelerators
        and no time.
    ways : arrangements; a design keeps to one of them. Empty: no further constraint.
    areas : nodes with a shared capacity for components.
    crossing : traffic across the topology, if it counts as time; the price of a design has its
        lower bound.
    source : Problem that this one was made of, with its chosen degrees and models; None for others.
        `source_of` in planner/problem.py has it with its type.
    flow, memory, sharing, given, scope : see these classes.
    """

    kinds: tuple[AcceleratorKind, ...]
    tasks: tuple[Task, ...]
    options: Mapping[str, tuple[Option, ...]]
    flow: Workflow = Workflow()
    memory: MemoryTurns = MemoryTurns()
    sharing: Sharing = Sharing()
    given: GivenRanks = GivenRanks()
    scope: DesignScope = DesignScope()
    ways: tuple[FrameworkArrangement, ...] = ()
    aim: str = SECONDS
    budget: Budget = field(default_factory=Budget)
    areas: tuple[Area, ...] = ()
    barred: tuple[RefusedCount, ...] = ()
    crossing: Crossing | None = None
    source: object = field(default=None, compare=False, repr=False)

    @cached_property
    def accelerators(self) -> int:
        """Number of accelerators of all kinds."""
        return sum(kind.accelerators for kind in self.kinds)

    def by_aim(self, time: int, accelerators: int) -> tuple[int, int]:
        """Return both figures in the order of the aim; a second call restores them."""
        return (time, accelerators) if self.aim == SECONDS else (accelerators, time)

    @property
    def components(self) -> tuple[str, ...]:
        """Components in the written order."""
        return tuple(self.options)

    def kind_of(self, model: str, memory: int | None) -> int | None:
        """Return the kind of accelerators of a model and size, best an exact match. Else None."""
        kinds = [number for number, kind in enumerate(self.kinds) if kind.covers(model, memory)]
        return next((number for number in kinds if self.kinds[number].memory == memory), kinds[0] if kinds else None)

    @cached_property
    def together_shared(self) -> tuple[tuple[SharedBlock, ...], ...]:
        """All subsets of the shared accelerators, the empty set first."""
        return tuple(subset for count in range(len(self.given.shared) + 1) for subset in combinations(self.given.shared, count))

    @cached_property
    def tasks_of(self) -> Mapping[str, tuple[int, ...]]:
        """Component -> task indices, in the order of the options' times."""
        indices: dict[str, list[int]] = {name: [] for name in self.options}
        for index, task in enumerate(self.tasks):
            indices[task.component].append(index)
        return {name: tuple(tasks) for name, tasks in indices.items()}

    @cached_property
    def heeds_estimates(self) -> bool:
        """True if some option's memory is estimated, so designs fit by estimates."""
        return any(option.estimated for options in self.options.values() for option in options)

    @cached_property
    def of_one_kind(self) -> tuple[str, ...]:
        """Components with options on several kinds, restricted to a single kind at a time."""
        return tuple(name for name, options in self.options.items() if len({option.kind for option in options}) > 1)

    def turns_of(self, component: str) -> tuple[tuple[str, str], ...]:
        """Return the memory turns of a nonresident component: (phase, "") or ("", its name)."""
        phases = self.memory.turns.get(component, ())
        return tuple((phase, "") for phase in phases) if phases else (("", component),)

    @cached_property
    def idle(self) -> Idle:
        """Components without a start, and their neighbours."""
        return Idle(self.ways)

    def turns_beside(self, component: str, idle: Iterable[str]) -> tuple[tuple[str, str], ...]:
        """Return the memory turns of a component and of idle ones whose work it does."""
        idle_workers = (name for name in idle if self.idle.workers.get(name) == component)
        return tuple(dict.fromkeys((*self.turns_of(component), *(turn for name in idle_workers for turn in self.turns_of(name)))))

    @cached_property
    def all_turns(self) -> tuple[tuple[str, str], ...]:
        """All memory turns of nonresident components, in the order of the components."""
        return tuple(dict.fromkeys(turn for name in self.options if name not in self.memory.resident for turn in self.turns_of(name)))

    def phase(self, task: int) -> int:
        """Return the index of a task's phase in the order of phases."""
        return self.flow.phases.index(self.tasks[task].phase)
