"""Measured times, workload of an iteration, budget, and cycles of tasks."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Hashable, Iterable, Mapping, Sequence, TypeVar

from ..findings.span import Span
from ..parallel import DEGREES, Parallel
from ..record import dataclass

if TYPE_CHECKING:
    from fractions import Fraction

SECOND = 1_000_000_000
"""Nanoseconds per second: planning counts whole ns, so that sums are exact."""

POWER, LINEAR, TABLE = SCALINGS = ("power", "linear", "table")
"""Assumptions between and beyond the measured counts.

`power`: between two counts the time is a power of the count (a straight line on logarithmic
scales), beyond them the power continues; a single count scales as `linear`. `linear`: twice the
accelerators take half the time, from the nearest count. `table`: only the measured counts are
possible.
"""
LONGEST = 10**7 * SECOND
"""Upper limit of derived times, about four months, so that sums do not overflow."""


@dataclass(frozen=True, slots=True)
class Measurement:
    """Measured time of an iteration of a component.

    Attributes
    ----------
    nanoseconds : time, with nothing else on them.
    named : degrees that it names; with `tp` alone, the time is assumed for any other `pp`.
    model : accelerator model, such as ``H100``; "" if the time holds for any.
    assumed : formula that derives the time from measurements, such as ``RLinf's formula for
        rollout``; "" for a measurement.
    bounds : low and high ns of an estimate, behind which is no measurement; () of all others.
    """

    accelerators: int
    nanoseconds: int
    phase: str = ""
    parallel: Parallel | None = None
    model: str = ""
    assumed: str = ""
    named: tuple[str, ...] = DEGREES
    bounds: tuple[int, ...] = ()
    span: Span | None = field(default=None, compare=False)

    def holds_with(self, parallel: Parallel) -> bool:
        """Return True if the time holds with the degrees `parallel`."""
        return self.parallel is None or all(getattr(self.parallel, name) == getattr(parallel, name) for name in self.named)

    def names(self, degree: str) -> bool:
        """Return True if the measurement names the value of a degree like `tp`."""
        return self.parallel is not None and degree in self.named

    @property
    def degrees(self) -> str:
        """Named degrees, like ``tp 4, ep 8``; "" without names."""
        if self.parallel is None or self.named == DEGREES:
            return str(self.parallel or "")
        return ", ".join(f"{name} {getattr(self.parallel, name)}" for name in self.named)


@dataclass(frozen=True, slots=True)
class IterationBatch:
    """Work of an iteration, for times that nobody measured.

    Attributes
    ----------
    prompt, response : tokens of a prompt, and of the longest answer.
    mean_response : mean tokens of an answer; 0 if unknown.
    """

    prompts: int
    samples: int
    prompt: int
    response: int
    mean_response: int = 0
    steps: int = 1


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


def reachable(following: Mapping[Each, Iterable[Each]]) -> dict[Each, set[Each]]:
    """Return node -> all nodes that it leads to, itself included."""
    reach_of_node = {node: {node, *successors} for node, successors in following.items()}
    for between in following:
        for reach in reach_of_node.values():
            if between in reach:
                reach |= reach_of_node[between]
    return reach_of_node


def circles(following: Mapping[Each, Sequence[Each]]) -> dict[Each, int]:
    """Return task -> number of the strongly connected component."""
    order, reach_of_node = list(following), reachable(following)
    return {
        task: next(place for place, node in enumerate(order) if node in reach_of_node[task] and task in reach_of_node[node])
        for task in order
    }


@dataclass(frozen=True, slots=True)
class Budget:
    """Maximum number of accelerators and maximum ns of an iteration; None: unlimited."""

    accelerators: int | None = None
    nanoseconds: int | None = None


@dataclass(frozen=True, slots=True)
class After:
    """Dependency of a component or task (``critic.train``): on a batch, or on the `whole`."""

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

    measured: tuple[Measurement, ...]
    scaling: str = POWER
    samples: int = 0
    longest_of: tuple[tuple[Measurement, ...], ...] = ()

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
    nested : True if a component may use the accelerators of several others, each on some of them.
    spanning, heterogeneous : True if tp groups may span nodes, and components several accelerator
        models.
    batches : number of batches of an iteration, so that components on different accelerators
        overlap; 1: as a whole.
    model : cost model, one of `MODELS` or a dialect's own.
    span, spans : place of the plan, and of the values of its keys, such as ``budget.seconds``.
    heeds_estimates : True if options need the estimated memory if none is declared.
    bandwidth : level of the topology -> MiB per second across it; if present, traffic counts as
        time.
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
