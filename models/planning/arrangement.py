"""Arrangements of a job in a framework; a design keeps to a single arrangement."""

from __future__ import annotations

from dataclasses import field
from typing import AbstractSet, Mapping, Sequence

from ..parallel import UNDIVIDED, Parallel
from ..record import dataclass


@dataclass(frozen=True, slots=True)
class ProcessShape:
    """Division of a component's accelerators into processes.

    Attributes
    ----------
    per_process, stride : accelerators of a process, and their distance.
    parallel : degrees that divide the work.
    least : minimum number of accelerators if the chosen degrees divide nothing; else 0.
    """

    per_process: int = 1
    stride: int = 1
    parallel: Parallel = UNDIVIDED
    least: int = 0

    @property
    def block(self) -> int:
        """Divisor of the number of accelerators."""
        return self.per_process * self.stride


@dataclass(frozen=True, slots=True)
class CountConstraint:
    """Constraint on two counts: that of `component` is a multiple of `step`.

    It is also at most that of `partner`, or a whole multiple of it if that is a multiple of `step`
    too. `equal`: it holds for equal counts only; nothing is known of unequal counts.
    """

    component: str
    partner: str
    step: int = 1
    equal: bool = False

    def holds(self, count: int, partner_count: int) -> bool:
        """Return True if the counts satisfy the constraint."""
        if self.equal and count != partner_count:
            return True
        return count % self.step == 0 and (count <= partner_count or (count % partner_count == 0 and partner_count % self.step == 0))


@dataclass(frozen=True)
class FrameworkArrangement:
    """Arrangement of a job.

    Attributes
    ----------
    name : name in the framework, such as ``collocated``.
    together, apart : pairs of components on exactly the same accelerators, and on none in common.
    shapes : component -> shape that differs in this arrangement. A component with a shape in every
        arrangement has its degrees.
    without : components that the framework does not start; those on their accelerators do their
        work.
    multiples : constraints on counts. They hold in every arrangement.
    least : component -> minimum number of accelerators.
    """

    name: str
    together: frozenset[tuple[str, str]] = frozenset()
    apart: frozenset[tuple[str, str]] = frozenset()
    shapes: Mapping[str, ProcessShape] = field(default_factory=dict)
    without: frozenset[str] = frozenset()
    multiples: tuple[CountConstraint, ...] = ()
    least: Mapping[str, int] = field(default_factory=dict)

    def matches(self, uses: Mapping[str, AbstractSet[object]]) -> bool:
        """Return True if components that use these accelerators keep to the arrangement."""
        is_together = all(uses.get(first) == uses.get(second) for first, second in self.together)
        return is_together and not any(uses.get(first, set()) & uses.get(second, set()) for first, second in self.apart)

    def colocated_only_here(self, name: str, rivals: Sequence[FrameworkArrangement]) -> frozenset[str]:
        """Return the components together with `name` here and apart from it in all rivals."""
        members = {name}
        for _ in self.together:  # enough for the longest chain of pairs
            members |= {member for pair in self.together if not members.isdisjoint(pair) for member in pair}
        return frozenset(
            neighbour
            for neighbour in members - {name}
            if all((neighbour, name) in rival.apart or (name, neighbour) in rival.apart for rival in rivals)
        )

    def worker(self, name: str) -> str | None:
        """Return the component here with the work of an unstarted component; else None."""
        partners = (partner for pair in sorted(self.together) if name in pair for partner in pair if partner != name)
        return next(partners, None) if name in self.without else None

    def among(self, names: frozenset[str]) -> FrameworkArrangement:
        """Return the arrangement restricted to `names`."""
        pairs_together = frozenset(pair for pair in self.together if names.issuperset(pair))
        pairs_apart = frozenset(pair for pair in self.apart if names.issuperset(pair))
        shapes = {name: shape for name, shape in self.shapes.items() if name in names}
        multiples = tuple(multiple for multiple in self.multiples if {multiple.component, multiple.partner} <= names)
        minima = {name: count for name, count in self.least.items() if name in names}
        return FrameworkArrangement(self.name, pairs_together, pairs_apart, shapes, self.without & names, multiples, minima)
