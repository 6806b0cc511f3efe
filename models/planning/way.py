"""The ways in which a framework lets a job be arranged, where it has several and a design keeps to one of them."""

from __future__ import annotations

from dataclasses import field
from typing import Iterator, Mapping, Sequence

from ..parallel import UNDIVIDED, Parallel
from ..record import dataclass


@dataclass(frozen=True, slots=True)
class Shape:
    """How the accelerators of a component become its processes.

    Attributes
    ----------
    per_process, stride : accelerators of a process, and how far apart they are.
    parallel : the degrees that divide its work.
    least : where the degrees that were chosen divide nothing, and its framework only wants as many accelerators: that many; else 0.
    """

    per_process: int = 1
    stride: int = 1
    parallel: Parallel = UNDIVIDED
    least: int = 0

    @property
    def block(self) -> int:
        """What the number of accelerators must be a multiple of."""
        return self.per_process * self.stride


@dataclass(frozen=True, slots=True)
class Multiple:
    """Of two components `one` has a multiple of `step` accelerators, and no more than `other`, or whole times as many where that has a multiple too.

    `with_one`, `with_other`: this is so where they have these degrees; whatever they have where that is None. `equal`: it is so where
    they have as many as each other, and of other numbers nothing is known.
    """

    one: str
    other: str
    step: int = 1
    with_one: Parallel | None = None
    with_other: Parallel | None = None
    equal: bool = False

    @property
    def meant(self) -> tuple[tuple[str, Parallel | None], ...]:
        """Both components with the degrees that are meant."""
        return (self.one, self.with_one), (self.other, self.with_other)

    def holds(self, one: int, other: int) -> bool:
        """Does it, of so many accelerators?"""
        if self.equal and one != other:
            return True
        return one % self.step == 0 and (one <= other or (one % other == 0 and other % self.step == 0))


@dataclass(frozen=True)
class Paired:
    """The shapes of `one` with the degrees that are chosen for it and for `other`.

    Attributes
    ----------
    shapes : (degrees of `one`, degrees of `other`) -> shape of `one`; None stands for the degrees of one of which none are chosen.
        Degrees that are not here do not go together.
    """

    one: str
    other: str
    shapes: Mapping[tuple[Parallel | None, Parallel | None], Shape]

    def of(self, one: Parallel, other: Parallel) -> Shape | None:
        """The shape with these degrees; None where they do not go together."""
        keys = ((one, other), (one, None), (None, other))
        return next((self.shapes[key] for key in keys if key in self.shapes), None)


@dataclass(frozen=True)
class Way:
    """One of them.

    Attributes
    ----------
    name : what the framework calls it, such as ``collocated``.
    together, apart : pairs of components on exactly the same accelerators, and on none in common, in this way.
    shapes : components that have another shape in this way than they have by themselves. One that every way has a shape for has the
        degrees of that shape there; it is in a pair that is together in the one way and apart in the others.
    without : components that the framework does not start in this way; those on their accelerators do their work.
    multiples : numbers of accelerators that go together. They are kept to whatever way a design has.
    paired : shapes that depend on degrees that are chosen, which come before those of `shapes`; both components are in a pair as one with
        a shape is.
    least : components that have at least so many accelerators in this way; each is in a pair as one with a shape is.
    """

    name: str
    together: frozenset[tuple[str, str]] = frozenset()
    apart: frozenset[tuple[str, str]] = frozenset()
    shapes: Mapping[str, Shape] = field(default_factory=dict)
    without: frozenset[str] = frozenset()
    multiples: tuple[Multiple, ...] = ()
    least: Mapping[str, int] = field(default_factory=dict)
    paired: tuple[Paired, ...] = ()

    def told_by(self, name: str, others: Sequence[Way]) -> Iterator[tuple[str, bool]]:
        """Components that tell this way from all others by how they lie to the one, with whether they share its accelerators in this one."""
        for pairs, together in ((self.together, True), (self.apart, False)):
            for pair in sorted(pairs):
                opposite = (way.apart if together else way.together for way in others)
                if name in pair and all(pair in its or pair[::-1] in its for its in opposite):
                    yield pair[0] if pair[1] == name else pair[1], together

    def beside_in_it_alone(self, name: str, others: Sequence[Way]) -> frozenset[str]:
        """Those on exactly the same accelerators as a component in this way, and in each of the others on none of its."""
        reached = {name}
        for _ in self.together:  # enough for the longest chain of pairs
            reached |= {each for pair in self.together if not reached.isdisjoint(pair) for each in pair}
        return frozenset(each for each in reached - {name} if all((each, name) in way.apart or (name, each) in way.apart for way in others))

    def worker(self, name: str) -> str | None:
        """Who does the work of a component that is not started in this way; None of one that is, or where that one is not here."""
        others = (each for pair in sorted(self.together) if name in pair for each in pair if each != name)
        return next(others, None) if name in self.without else None

    def among(self, names: frozenset[str]) -> Way:
        """What it says of these components."""
        together = frozenset(pair for pair in self.together if names.issuperset(pair))
        apart = frozenset(pair for pair in self.apart if names.issuperset(pair))
        shapes = {name: its for name, its in self.shapes.items() if name in names}
        multiples = tuple(each for each in self.multiples if {each.one, each.other} <= names)
        least = {name: count for name, count in self.least.items() if name in names}
        paired = tuple(each for each in self.paired if {each.one, each.other} <= names)
        return Way(self.name, together, apart, shapes, self.without & names, multiples, least, paired)
