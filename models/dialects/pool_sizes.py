"""Sizes of open pools and degrees that a framework accepts.

Each is read once for all trees of a file. A size is a number of equal parts with enough capacity.
A multiple of a count on which work does not divide among ranks is refused too, so most sizes of a
large cluster need no reading. Degrees of one component that refer to the size of its pool take the
value that results on each size.
"""

from __future__ import annotations

import re
from dataclasses import field
from typing import Callable, Iterable, Iterator, Mapping, Sequence

from ..component import Component
from ..configuration.settings import Amount
from ..machines.cluster import Cluster
from ..machines.node_group import ACCELERATOR
from ..parallel import Parallel
from ..pools import Pool, fitting
from ..record import dataclass
from ..text.interpolation_text import holds_interpolation
from ..text.tree import Value
from .following import scalars_by_path

MOST_READ = 8192
"""Limit on readings of a file on the same machines."""
MOST_TRIED = 3072
"""Limit on readings of a pool's sizes with degrees; further ones stay unknown."""
_REFERENCES = re.compile(r"[\w.]+")
Size = tuple[int, int]
"""(parts, accelerators per part)."""
Changes = Mapping[str, int]
"""Key -> number in place of the written number."""
Errors = list[tuple[str, str]]
"""(code, message); the code is "" for torn replicas."""
Found = tuple[Mapping[str, Errors], Mapping[str, Parallel]]
"""Component of a pool -> errors by kind; any component -> resulting degrees."""
Numbers = frozenset[tuple[str, int]]
"""(key, number) of all degrees of the components, after interpolation."""
Known = dict[tuple[str, Size, Numbers], Found]
"""(pool, size, all degrees) -> result of a reading."""
Pair = tuple[int, Parallel]
"""(accelerators, degrees) of a component."""
_Variant = tuple[str, "Parallel | None", Changes]
"""Component, degrees to try (None: the resulting ones), and numbers for the keys."""


def following_keys(root: Value, keys: Iterable[str]) -> frozenset[str]:
    """Return the keys of scalars that may refer to some keys, directly or indirectly."""
    leaves = [(path, scalar.text) for path, scalar in scalars_by_path(root) if holds_interpolation(scalar.text)]
    changed_keys, following = [key for key in keys if key], set[str]()
    while new := [path for path, text in leaves if path not in following and _refers(text, changed_keys)]:
        following.update(new)
        changed_keys += new
    return frozenset(following)


def _refers(text: str, keys: Iterable[str]) -> bool:
    words = [word.strip(".") for word in _REFERENCES.findall(text)]
    names = {word.rpartition(".")[2] for word in words}
    return "${${" in text or any(key.rpartition(".")[2] in names or any(key.startswith(f"{word}.") for word in words) for key in keys)


def sizes_of(pool: Pool, cluster: Cluster) -> tuple[list[Size], list[Size]]:
    """Return (sizes to read first, all other sizes), by ascending number of accelerators.

    The first are the pool's size in the file, parts of one node, and whole nodes.
    """
    counts = (node.free(ACCELERATOR).bit_count() for node in cluster.nodes)
    free = sorted((count for count in counts if count), reverse=True)

    def most(part_size: int) -> int:
        return fitting([(count, 1) for count in free], part_size)

    largest = max(free, default=0)
    first = {(parts.count, parts.size) for parts in pool.parts if parts.size and parts.count <= most(parts.size)}
    first |= {(1, part_size) for part_size in range(1, largest + 1)}
    first |= {(nodes, largest) for nodes in range(2, len(free) + 1) if free[nodes - 1] == largest}
    all_sizes = {(parts, part_size) for part_size in range(1, largest + 1) for parts in range(1, most(part_size) + 1)}

    def by_count(size: Size) -> tuple[int, int]:
        return size[0] * size[1], size[0]

    return sorted(first, key=by_count), sorted(all_sizes - first, key=by_count)


@dataclass(frozen=True)
class SizeReader:
    """Reader of a pool with changed sizes and degrees.

    Attributes
    ----------
    known : results of readings, extended by each reading.
    again : errors and degrees of a pool with other numbers, as the framework has them, without hints.
    degrees : all degrees with other numbers, after interpolation.
    following : keys that may follow from sizes of pools.
    uneven : code of the error that work does not divide among ranks, as on all multiples of a size.
    """

    known: Known
    again: Callable[[Changes, Pool], Found]
    degrees: Callable[[Numbers], Numbers]
    following: frozenset[str]
    uneven: str

    def read(self, pool: Pool, size: Size, changes: Changes) -> Found | None:
        """Return the result of a reading; None once the limit is reached."""
        numbers = {**changes, pool.nodes_key: size[0], pool.accelerators_key: size[1]}
        key = pool.name, size, self.degrees(frozenset((numbers if self.following else changes).items()))
        if key not in self.known and len(self.known) < MOST_READ:
            self.known[key] = self.again(numbers, pool)
        return self.known.get(key)


@dataclass
class AcceptedSizes:
    """Accepted counts and degrees of a pool.

    Attributes
    ----------
    pairs : component -> counts and degrees. If every one has an error, those with the same kinds of
        errors as the file's own size are taken: another size with as few may have an error that the
        file does not have, such as samples that do not divide.
    always : component -> one of its errors, if every size has one.
    unread : sizes without a result.
    """

    pairs: dict[str, frozenset[Pair]] = field(default_factory=dict)
    always: dict[str, str] = field(default_factory=dict)
    unread: set[Size] = field(default_factory=set)


def accepted_sizes(
    pool: Pool, cluster: Cluster, components: Sequence[Component], choices: Mapping[str, Mapping[Parallel, Changes]], reader: SizeReader
) -> AcceptedSizes:
    """Return the accepted counts and degrees on all sizes with capacity.

    A component without `choices` has the degrees that result on a size. Whole nodes beyond the
    reading limit are accepted, and judged once they are planned; other unread sizes are not
    proposed, and reported if the components of the pool may have them.
    """
    current = {component.name: component.parallel for component in components}
    first, rest = sizes_of(pool, cluster)
    variants: list[_Variant] = [
        (name, parallel, changes) for name in pool.components for parallel, changes in choices.get(name, {None: {}}).items()
    ]
    read = list(_read(pool, [*first, *rest], variants, reader, not reader.following))
    accepted_names = {name for _, (name, _, _), result in read if result is not None and not result[0][name]}
    if not reader.following and not accepted_names.issuperset(pool.components):
        read = list(_read(pool, [*first, *rest], variants, reader, False))
    outcome, whole = AcceptedSizes(), set(first)
    errors: dict[str, dict[Pair, Errors]] = {name: {} for name in pool.components}
    later: dict[str, set[Pair]] = {name: set() for name in pool.components}
    for size, (name, parallel, _), result in read:
        count = size[0] * size[1]
        if result is not None:
            new_errors, degrees = result
            pair = count, parallel or (degrees if reader.following else current)[name]
            errors[name][pair] = min(errors[name].get(pair, new_errors[name]), new_errors[name], key=len)
            if any(
                degrees.get(component, default) != default for component, default in current.items() if component not in pool.components
            ):
                outcome.unread.add(size)  # components of other pools would have other degrees
        elif not reader.following and size in whole:
            later[name].add((count, parallel or current[name]))
        elif all(component.may_have(count) for component in components if component.name in pool.components):
            outcome.unread.add(size)
    counts = {parts.count * parts.size for parts in pool.parts}
    for name, pairs in errors.items():
        best = _best(pairs, counts)
        outcome.pairs[name] = frozenset({*best, *later[name]})
        if always := next((best[pair][0][1] for pair in sorted(best, key=lambda pair: -pair[0]) if best[pair]), ""):
            outcome.always[name] = always
    common = set.intersection(*({count for count, _ in pairs} for pairs in outcome.pairs.values())) if outcome.pairs else set()
    if common:  # components of a pool hold the same accelerators
        outcome.pairs = {name: frozenset(pair for pair in pairs if pair[0] in common) for name, pairs in outcome.pairs.items()}
    return outcome


def _read(
    pool: Pool, sizes: Sequence[Size], variants: Sequence[_Variant], reader: SizeReader, skips: bool
) -> Iterator[tuple[Size, _Variant, Found | None]]:
    """Yield sizes with variants and results, None beyond the limit; skip refused multiples."""
    remaining = MOST_TRIED
    indivisible: dict[int, set[int]] = {number: set() for number in range(len(variants))}
    """Variant -> counts on which its work does not divide among ranks."""
    for size in sizes:
        count = size[0] * size[1]
        possible = [number for number, counts in indivisible.items() if not any(count % divisor == 0 for divisor in counts)]
        if len({variants[number][0] for number in possible}) < len({name for name, _, _ in variants}):
            continue  # every variant of a component is refused, so no component can have this count
        for number in possible:
            variant, before = variants[number], len(reader.known)
            result = reader.read(pool, size, variant[2]) if remaining > 0 else None
            remaining -= len(reader.known) > before
            of_fixed = [variant[0], *(name for name, parallel, _ in variants if parallel is None)]
            if skips and result and any(code == reader.uneven for name in of_fixed for code, _ in result[0][name]):
                indivisible[number].add(count)
            yield size, variant, result


def _best(errors: Mapping[Pair, Errors], own_counts: set[int]) -> dict[Pair, Errors]:
    """Return the pairs with the fewest errors, preferably of the kinds of the `own_counts`."""
    minimum = min(map(len, errors.values()), default=0)
    best = {pair: those for pair, those in errors.items() if len(those) == minimum}

    def kinds(those: Errors) -> frozenset[str]:
        return frozenset(code for code, _ in those)

    own_kinds = {kinds(those) for (count, _), those in best.items() if count in own_counts} if minimum else set()
    return {pair: those for pair, those in best.items() if not own_kinds or kinds(those) in own_kinds}


def find_changes(amounts: Mapping[str, Amount], parallel: Parallel) -> dict[str, int]:
    """Return degree -> number, for degrees that differ from the file."""
    return {degree: number for degree, amount in amounts.items() if (number := int(getattr(parallel, degree))) != amount.value}
