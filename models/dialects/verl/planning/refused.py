"""What verl refuses of a job with other sizes of a pool and other degrees: each is read once, for all trees of a file that differ in these."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Callable, Collection, Mapping

from ....findings.finding import Severity
from ....parallel import Parallel
from ....pools.pool import Pool
from ..job import Setup, is_whole

HINTED = "placewright."
Changes = Mapping[str, int]
"""Key -> its number in the place of the one that is written."""
Again = Callable[[Changes], Setup]
"""The job with other numbers, as verl has it: without what hints say of it."""
Numbers = tuple[tuple[str, int], ...]
"""Key -> number, of all degrees of the components, as they come out through interpolations."""
Told = Mapping[str, list[tuple[str, str]]]
"""Component -> an error of each kind that is told of it or of its pool: its code, "" for replicas that would be torn, and its message."""
Has = Mapping[str, Parallel]
"""Component -> the degrees that come out, of the components of all pools."""
Found = tuple[Told, Has]
Known = dict[tuple[str, int, int, Numbers], Found]
"""(pool, its nodes, accelerators of each, all degrees) -> what is told, and what comes out."""
MOST_READ = 8192
"""Readings of one file that are made on the same machines."""


@dataclass(frozen=True)
class Refused:
    """What is told of a pool with other numbers, among which is its size.

    `known` is added to; `degrees` are those with other numbers. `following` are the keys of what may follow from sizes of pools, `dealt`
    those of the degrees by which work is dealt out, `before` the (code, subject) of what is wrong with the file itself.
    """

    known: Known
    again: Again
    degrees: Callable[[Changes], Numbers]
    following: frozenset[str] = frozenset()
    dealt: frozenset[str] = frozenset()
    before: frozenset[tuple[str, str]] = frozenset()
    _numbers: dict[tuple[tuple[str, int], ...], Numbers] = field(default_factory=dict, repr=False)

    def read(self, pool: Pool, changes: Changes) -> Found | None:
        """What is told, and what comes out; None where so much was read before that this is not any more."""
        key = (pool.name, changes[pool.nodes_key], changes[pool.accelerators_key], self._with(pool, changes))
        if key not in self.known and len(self.known) < MOST_READ:
            setup = self.again(changes)
            self.known[key] = faults(setup, pool, self.before), {each.name: each.parallel for each in setup.components}
        return self.known.get(key)

    def trained(self, pool: Pool, changes: Changes) -> Numbers | None:
        """The degrees by which work is dealt out; None where more than degrees follows from the size of the pool."""
        numbers = self._with(pool, changes) if self.is_of_degrees else None
        return None if numbers is None else tuple(its for its in numbers if its[0] in self.dealt)

    @cached_property
    def is_of_degrees(self) -> bool:
        """Does nothing but degrees follow from sizes?"""
        return self.following <= {key for key, _ in self.degrees({})} | {each for each in self.following if each.startswith(HINTED)}

    def _with(self, pool: Pool, changes: Changes) -> Numbers:
        sizes = (pool.nodes_key, pool.accelerators_key)
        asked = {key: number for key, number in changes.items() if self.following or key not in sizes}
        said = tuple(sorted(asked.items()))
        if said not in self._numbers:
            self._numbers[said] = self.degrees(asked)
        return self._numbers[said]


def faults(setup: Setup, pool: Pool, before: Collection[tuple[str, str]] = ()) -> Told:
    """An error of each kind that is told; one more of a component whose replicas are torn.

    What is told of a key, and is not wrong with the file `before`, is told of all: the number comes out on this size.
    """
    findings = (*setup.notes.findings, *setup.settings.unresolved)
    errors = [each for each in findings if each.severity is Severity.ERROR]
    others = {each.name for each in setup.pools} | {each.name for each in setup.components} | {subject for _, subject in before}
    told = {(each.code, each.subject): each.message for each in errors}
    torn = {each.name: ("", f"its replicas of {each.parallel} would be torn") for each in setup.components if not is_whole(setup, each)}
    return {
        name: [(code, message) for (code, subject), message in told.items() if subject in ("", pool.name, name) or subject not in others]
        + ([torn[name]] if name in torn else [])
        for name in pool.components
    }
