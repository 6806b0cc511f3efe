"""What verl refuses of a job with other sizes of a pool and other degrees: each is read once, for all trees of a file that differ in these.

The sizes are as many equal parts as there is room for. A multiple of a count on which work does not divide among ranks is refused too, so
most sizes of a large cluster need not be read. What refers to a number of a pool follows it, one interpolation through another.
"""

from __future__ import annotations

from dataclasses import field
from functools import cached_property
from typing import Callable, Collection, Iterable, Iterator
from typing import Mapping as MappingType
from typing import Sequence as SequenceType

from ....findings.finding import Severity
from ....machines.cluster import Cluster
from ....machines.node_group import ACCELERATOR
from ....parallel import Parallel
from ....pools.laying import fitting
from ....pools.pool import Pool
from ....record import dataclass
from ....text.interpolation_text import BadInterpolation, Call, Part, Reference, holds_interpolation, split
from ....text.tree import Mapping, Scalar, Sequence, Value
from ..job import Setup, is_whole
from ..work.work import SHARES

Path = tuple[str, ...]
SELECT = "oc.select"
"""The resolver whose first argument is a key."""


def following_keys(root: Value, keys: Iterable[str]) -> frozenset[str]:
    """The keys of all scalars that refer to one of these, or to one that does; one whose reference cannot be told may refer to any."""
    leaves = [(path, list(_references(leaf.text, path))) for path, leaf in _leaves(root, ()) if holds_interpolation(leaf.text)]
    changed = [tuple(key.split(".")) for key in keys if key]
    found = set[Path]()
    while new := [path for path, refers in leaves if path not in found and any(_meets(its, changed) for its in refers)]:
        found.update(new)
        changed += new
    return frozenset(".".join(path) for path in found)


def _meets(reference: Path | None, changed: Iterable[Path]) -> bool:
    """Does a reference lead to one of these, to what holds it, or to what may stand below it? None leads anywhere."""
    return reference is None or any(each[: len(reference)] == reference[: len(each)] for each in changed)


def _leaves(value: Value, path: Path) -> Iterator[tuple[Path, Scalar]]:
    if isinstance(value, Scalar):
        yield path, value
    elif isinstance(value, Mapping):
        for entry in value:
            yield from _leaves(entry.value, (*path, entry.key.text))
    elif isinstance(value, Sequence):
        for position, item in enumerate(value.items):
            yield from _leaves(item, (*path, str(position)))


def _references(text: str, path: Path) -> Iterator[Path | None]:
    try:
        yield from _of_parts(split(text), path)
    except BadInterpolation:
        yield None


def _of_parts(parts: Iterable[Part], path: Path) -> Iterator[Path | None]:
    for part in parts:
        if isinstance(part, Reference):
            yield _path(part.parts, path)
        elif isinstance(part, Call):
            if part.name == SELECT and part.arguments:
                yield _path(part.arguments[0], path)
            for its in part.arguments:
                yield from _of_parts(its, path)


def _path(parts: tuple[Part, ...], path: Path) -> Path | None:
    """Where a reference leads; None where that depends on other values. Leading dots count from what holds the value."""
    if len(parts) != 1 or not isinstance(parts[0], str):
        return None
    keys = parts[0].lstrip(".")
    dots = len(parts[0]) - len(keys)
    return (*(path[: len(path) - dots] if dots else ()), *(key for key in keys.replace("[", ".").replace("]", "").split(".") if key))


Size = tuple[int, int]
"""(parts, accelerators of each)."""


def sizes_of(pool: Pool, cluster: Cluster) -> tuple[list[Size], list[Size]]:
    """Those that are read first, and all others, both by how many accelerators they have, the fewest first.

    The first are the size of the pool as the file has it, parts of one node, and whole nodes.
    """
    free = _free(cluster)
    most = max(free, default=0)
    own = [(parts.count, parts.size) for parts in pool.parts if parts.size and parts.count <= _fitting(free, parts.size)]
    first = sorted({*own, *_whole(free)}, key=_by_count)
    every = {(parts, each) for each in range(1, most + 1) for parts in range(1, _fitting(free, each) + 1)}
    return first, sorted(every.difference(first), key=_by_count)


def _by_count(size: Size) -> tuple[int, int]:
    return size[0] * size[1], size[0]


def _free(cluster: Cluster) -> list[int]:
    """How many accelerators are free on each node that has some, the most first."""
    counts = (node.free(ACCELERATOR).bit_count() for node in cluster.nodes)
    return sorted((count for count in counts if count), reverse=True)


def _fitting(free: SequenceType[int], each: int) -> int:
    return fitting([(count, 1) for count in free], each)


def _whole(free: SequenceType[int]) -> Iterator[Size]:
    """Parts of one node, then whole ones."""
    yield from ((1, each) for each in range(1, max(free, default=0) + 1))
    yield from ((nodes, free[0]) for nodes in range(2, len(free) + 1) if free[nodes - 1] == free[0])


HINTED = "placewright."
Changes = MappingType[str, int]
"""Key -> its number in the place of the one that is written."""
Again = Callable[[Changes], Setup]
"""The job with other numbers, as verl has it: without what hints say of it."""
Numbers = tuple[tuple[str, int], ...]
"""Key -> number, of all degrees of the components, as they come out through interpolations."""
Told = MappingType[str, list[tuple[str, str]]]
"""Component -> an error of each kind that is told of it or of its pool: its code, "" for replicas that would be torn, and its message."""
Has = MappingType[str, Parallel]
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


@dataclass
class Undealt:
    """Degrees of what is trained -> count -> the components that are refused on it; right where nothing but degrees follows from sizes.

    `most`: the largest count that is asked for.
    """

    most: int
    _known: dict[Numbers, dict[int, set[str]]] = field(default_factory=dict)

    def add(self, count: int, trained: Numbers, told: Told) -> None:
        """What is told on a count, with these degrees of what is trained."""
        names = {name for name, errors in told.items() if any(code == SHARES for code, _ in errors)}
        its = self._known.setdefault(trained, {})
        if not names <= its.get(count, set()):
            for multiple in range(count, self.most + 1, count):
                its.setdefault(multiple, set()).update(names)

    def refuses(self, count: int, trained: Numbers, components: Collection[str]) -> bool:
        """Is one of some components known to be refused on a count, with these degrees?"""
        return not self._known.get(trained, {}).get(count, set()).isdisjoint(components)
