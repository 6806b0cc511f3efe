"""Workload of an iteration, its budget, and tasks that wait for each other."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Hashable, Mapping, Sequence, TypeVar

from ..findings.span import Span
from ..record import dataclass
from .measured import POWER, Measured

if TYPE_CHECKING:
    from fractions import Fraction


Each = TypeVar("Each", bound=Hashable)


STAGES, STREAM, STEADY = "stages", "stream", "steady"
MODELS = (STAGES, STREAM, STEADY, "rlinf", "rlinf-embodied")
"""Names of the cost models that a user may choose (see planner/costs.py)."""
_FLOW = ("workflow", "batches")
LOOKED_AT = {**dict.fromkeys(MODELS, _FLOW), STAGES: ("phases",), STEADY: ()}
"""Cost model -> what it looks at, of what is said of how an iteration goes on."""
SECONDS, ACCELERATORS = AIMS = ("seconds", "accelerators")
PHASES = ("generate", "infer", "train")
"""The usual order of phases: HybridFlow, section 6 (generation, preparation, training)."""


def circles(following: Mapping[Each, Sequence[Each]]) -> dict[Each, int]:
    """Each task with a number that those have in common that can be reached from each other (Kosaraju and Sharir)."""
    before: dict[Each, list[Each]] = {task: [] for task in following}
    for task, its in following.items():
        for other in its:
            before[other].append(task)
    seen, left = set[Each](), set[Each]()
    done = [each for task in following for each in _reached(task, following, seen)]
    return {each: number for number, task in enumerate(reversed(done)) for each in _reached(task, before, left)}


def _reached(start: Each, following: Mapping[Each, Sequence[Each]], seen: set[Each]) -> list[Each]:
    """What is reached from there and was not seen before, each after all that is reached from it."""
    found, way = list[Each](), [] if start in seen else [(start, iter(following[start]))]
    seen.add(start)
    while way:
        task, rest = way[-1]
        other = next((each for each in rest if each not in seen), None)
        if other is None:
            found.append(task)
            way.pop()
        else:
            seen.add(other)
            way.append((other, iter(following[other])))
    return found


@dataclass(frozen=True, slots=True)
class Budget:
    """What an answer may take: at most so many accelerators, at most so many nanoseconds an iteration; None: as many as there are."""

    accelerators: int | None = None
    nanoseconds: int | None = None


@dataclass(frozen=True, slots=True)
class After:
    """`later` works on what `earlier` makes; both are components, or tasks such as ``critic.train``.

    `whole`: it begins when all of that is there, not batch by batch.
    """

    earlier: str
    later: str
    whole: bool = False
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Timed:
    """What is known of the time that one component takes.

    Attributes
    ----------
    measured : at least one measurement for each of its phases.
    scaling : one of `SCALINGS`, for counts between and beyond them.
    samples : what its data parallel ranks must divide evenly among themselves; 0 if nothing.
    longest_of : what counts for each of several models, where it is on all of them at once: the longest time counts.
    """

    measured: tuple[Measured, ...]
    scaling: str = POWER
    samples: int = 0
    longest_of: tuple[tuple[Measured, ...], ...] = ()

    @property
    def phases(self) -> tuple[str, ...]:
        """Its phases, in the written order."""
        return tuple(dict.fromkeys(each.phase for each in self.measured))


@dataclass(frozen=True)
class Workload:
    """What the plan is chosen by, besides the times of the components (`Component.timed`); those without times are not planned.

    Attributes
    ----------
    after : what works on what.
    nested : may a component use the accelerators of several others, each of which uses some of them?
    spanning, heterogeneous : may tensor parallel groups lie over nodes, and components on several models of accelerators?
    batches : an iteration is handed on in so many batches, so that components on different accelerators overlap; 1: as a whole.
    model : the cost model, one of `MODELS` or a dialect's own.
    phases : the order of the phases (cost model `stages`).
    aim : what is as small as possible, time or accelerators; the other one comes second.
    budget : what an answer may take at most.
    span, spans : where the plan is written, and the values of its keys, such as ``budget.seconds``.
    heeds_estimates : does an option need the memory that is estimated where none is declared?
    bandwidth : level of the topology -> MiB a second that cross it; with it, traffic counts as time.
    assumed : sentences on what the file's framework is taken to do, where nobody says it.
    over_kinds : is each component on any of the accelerators of a vendor in this question, although something tells these apart?
    on_models : components with times that name models -> those that each is on, where it may be on several at once.
    """

    after: tuple[After, ...] = ()
    nested: bool = False
    batches: int = 1
    model: str = STREAM
    phases: tuple[str, ...] = PHASES
    aim: str = SECONDS
    budget: Budget = Budget()
    bandwidth: Mapping[str, int | Fraction] = field(default_factory=dict)
    heeds_estimates: bool = True
    assumed: tuple[str, ...] = ()
    spanning: bool = False
    heterogeneous: bool = False
    over_kinds: bool = False
    on_models: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    span: Span | None = field(default=None, compare=False)
    spans: Mapping[str, Span] = field(default_factory=dict, compare=False)

    @property
    def handed_on(self) -> int:
        """In how many batches an iteration is handed on by the cost model."""
        return self.batches if "batches" in LOOKED_AT.get(self.model, _FLOW) else 1

    @property
    def flows(self) -> bool:
        """Does the cost model look at what works on what?"""
        return "workflow" in LOOKED_AT.get(self.model, _FLOW)

    def place(self, key: str) -> Span | None:
        """Where the value of a key stands; the whole plan where it is not written."""
        return self.spans.get(key, self.span)
