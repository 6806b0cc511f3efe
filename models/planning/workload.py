"""Workload of an iteration, the budget, and cycles of tasks."""

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
"""Cost model -> used keys of the plan."""
SECONDS, ACCELERATORS = AIMS = ("seconds", "accelerators")
PHASES = ("generate", "infer", "train")
"""Usual order of phases: HybridFlow, section 6 (generation, preparation, training)."""


def circles(following: Mapping[Each, Sequence[Each]]) -> dict[Each, int]:
    """Return task -> number of the strongly connected component (Kosaraju and Sharir)."""
    before: dict[Each, list[Each]] = {task: [] for task in following}
    for task, successors in following.items():
        for successor in successors:
            before[successor].append(task)
    seen, left = set[Each](), set[Each]()
    done = [node for task in following for node in _reached(task, following, seen)]
    return {node: number for number, task in enumerate(reversed(done)) for node in _reached(task, before, left)}


def _reached(start: Each, following: Mapping[Each, Sequence[Each]], seen: set[Each]) -> list[Each]:
    """Return the unseen tasks reachable from `start`, in postorder."""
    order, stack = list[Each](), [] if start in seen else [(start, iter(following[start]))]
    seen.add(start)
    while stack:
        task, rest = stack[-1]
        successor = next((candidate for candidate in rest if candidate not in seen), None)
        if successor is None:
            order.append(task)
            stack.pop()
        else:
            seen.add(successor)
            stack.append((successor, iter(following[successor])))
    return order


@dataclass(frozen=True, slots=True)
class Budget:
    """Maximum number of accelerators and maximum ns of an iteration; None: unlimited."""

    accelerators: int | None = None
    nanoseconds: int | None = None


@dataclass(frozen=True, slots=True)
class After:
    """Dependency of `later` on `earlier`: components, or tasks like ``critic.train``.

    `whole`: it waits for the whole result instead of a batch.
    """

    earlier: str
    later: str
    whole: bool = False
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class TimedComponent:
    """Measured times of a component.

    Attributes
    ----------
    measured : at least one measurement for each phase.
    scaling : one of `SCALINGS`, for counts between and beyond the measured ones.
    samples : number that its data parallel ranks must divide evenly; 0 for none.
    longest_of : measurements of each of several models, if it is on all of them at once: the
        longest time counts.
    """

    measured: tuple[Measured, ...]
    scaling: str = POWER
    samples: int = 0
    longest_of: tuple[tuple[Measured, ...], ...] = ()

    @property
    def phases(self) -> tuple[str, ...]:
        """Phases in the written order."""
        return tuple(dict.fromkeys(row.phase for row in self.measured))


@dataclass(frozen=True)
class Workload:
    """Basis of planning besides the times (`Component.timed`).

    Components without times are not planned.

    Attributes
    ----------
    after : dependencies.
    nested : True if a component may use the accelerators of several others, each on some of them.
    spanning, heterogeneous : True if tp groups may span nodes, and components several accelerator
        models.
    batches : number of batches of an iteration, so that components on different accelerators
        overlap; 1: as a whole.
    model : cost model, one of `MODELS` or a dialect's own.
    phases : order of the phases (cost model `stages`).
    aim : objective, time or accelerators; the other is the tie-breaker.
    budget : limits on an answer.
    span, spans : place of the plan, and of the values of its keys, such as ``budget.seconds``.
    heeds_estimates : True if options need the estimated memory if none is declared.
    bandwidth : level of the topology -> MiB per second across it; if present, traffic counts as
        time.
    assumed : assumptions about the file's framework, one sentence each.
    over_kinds : True if each component may be on any accelerators of a vendor in this problem,
        although demands distinguish them.
    on_models : component with times that name models -> its models, several at once if allowed.
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
        """Number of batches in the cost model."""
        return self.batches if "batches" in LOOKED_AT.get(self.model, _FLOW) else 1

    @property
    def flows(self) -> bool:
        """True if the cost model uses the dependencies."""
        return "workflow" in LOOKED_AT.get(self.model, _FLOW)

    def place(self, key: str) -> Span | None:
        """Return the place of a key's value; the whole plan if unwritten."""
        return self.spans.get(key, self.span)
