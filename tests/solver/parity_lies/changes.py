"""What a lie does to a face of a rule."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Callable

from placewright.models.component import Component
from placewright.models.findings.finding import Severity
from placewright.models.problem import Problem
from placewright.solver.layout.bundle import Bundle
from placewright.solver.layout.cells import Cell
from placewright.solver.layout.layout import Layout
from placewright.solver.layout.pools import NodePool
from placewright.solver.model.variables import Variables

from ..cases import GIB

Lie = Callable[[Any], Any]
"""A function or a class -> what stands in its place."""


def silent(*arguments: Any) -> tuple[()]:
    """A check that finds nothing; an encoding that says nothing."""
    return ()


def instead(replacement: Any) -> Callable[[Any], Any]:
    """Something else altogether."""
    return lambda original: replacement


def about(change: Callable[[Component], Component]) -> Lie:
    """The face of a rule about components, told of another component than it was asked about."""

    def lie(original: Any) -> Any:
        return lambda self, problem, component, other: original(self, problem, change(component), other)

    return lie


def only_first(original: Any) -> Any:
    """A check that overlooks every witness but accelerator 0."""
    return lambda *arguments: (finding for finding in original(*arguments) if finding.witnesses[-1:] == (0,))


def one_sided(original: Any) -> Any:
    """The difference of two amounts as if the first were never the smaller one."""

    def lie(self: Any, variables: Any, first: Any, second: Any) -> Any:
        difference = variables.integer(0, variables.problem.cluster.total(), "difference")
        variables.at_most(first - second, difference)
        return difference

    return lie


def heavier(original: Any) -> Any:
    """One MiB more than was said: `>` and `>=` must not look alike."""

    def lie(self: Any, problem: Problem, meeting: Any, variables: Any) -> None:
        (first, *rest), above = meeting
        original(self, problem, ((replace(first, memory=first.memory + 1), *rest), above), variables)

    return lie


def about_first(original: Any) -> Any:
    """Memory of those that meet, without what they lie within."""
    return lambda self, problem, meeting, variables: original(self, problem, (meeting[0], ()), variables)


def of_the_largest(original: Any) -> Any:
    """What is needed of an accelerator with 80 GiB, whatever it has."""
    return lambda members, capacity: original(members, 80 * GIB)


def proved(original: Any) -> Any:
    """A share as if it were proved that a run fails without it."""
    return lambda self, problem, share, variables: original(self, problem, replace(share, proved=True), variables)


def with_severity(severity: Severity) -> Lie:
    """The same findings, as bad as that."""
    return lambda original: lambda *arguments: (replace(finding, severity=severity) for finding in original(*arguments))


only_warned, all_errors = with_severity(Severity.WARNING), with_severity(Severity.ERROR)


def together(self: Variables, cell: Cell, pool: NodePool, size: int, inside_numa: bool = False) -> int:
    """Free accelerators of all nodes in one sum, as if a group could lie on two nodes."""
    return self.layout.capacity(cell, pool, 1) // size


def beside_nothing(self: Variables, cell: Cell, pool: NodePool, size: int, inside_numa: bool = False) -> int:
    """Capacity that forgets the ranges."""
    return self.layout.capacity(cell, pool, size)


def one_way(self: Variables, bundle: Bundle, level: str, name: str) -> Any:
    """An indicator that may stay 0 although something is there."""
    return self.model.new_bool_var("loose")


def nothing_given(self: Layout) -> dict[tuple[int, str], int]:
    """Free resources that forget the given parts."""
    return {(node.rank, b.kind): node.free(b.kind) for node in self.problem.cluster.nodes for b in self.bundles}
