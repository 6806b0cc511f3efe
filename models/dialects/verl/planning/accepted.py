"""Which counts and degrees verl takes: found by reading the job with these numbers in the place of those that are written."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Callable, Iterator, Mapping, Sequence, Union

from ....machines.cluster import Cluster
from ....parallel import Parallel
from ....pools.pool import Pool
from .refused import Changes, Found, Refused
from .sizes import Size, sizes_of
from .undealt import Undealt

MOST_TRIED = 3072
"""Readings of sizes of a pool with degrees; of what needs more it is not known whether verl takes it."""
Accepted = frozenset[tuple[int, Parallel]]
Together = tuple[tuple[str, Parallel], ...]
"""The degrees of components of a pool, as they come out on one size."""
Choices = Mapping[str, Mapping[Parallel, Changes]]
"""Component with open degrees -> each of them, with the numbers that say them."""
_Variant = tuple[str, Union[Parallel, None], Changes]
"""A component, the degrees that are tried of it, None for those that come out, and what says them."""


@dataclass
class Taken:
    """What verl takes of a pool.

    Attributes
    ----------
    pairs : component -> counts and degrees. Where an error is told of each, those of the same kinds as of the file's own size are taken:
        another size that has as few may have one that the file has not, such as samples that do not divide.
    always : component -> one of its errors, where there is one on each size.
    together : degrees that come out on sizes, where they follow from these -> the counts that go with them.
    unread : sizes of which nobody knows.
    """

    pairs: dict[str, Accepted] = field(default_factory=dict)
    always: dict[str, str] = field(default_factory=dict)
    together: dict[Together, set[int]] = field(default_factory=dict)
    unread: set[Size] = field(default_factory=set)


def accepted(
    pool: Pool, cluster: Cluster, own: Mapping[str, Parallel], choices: Choices, refused: Refused, may_have: Callable[[int], bool]
) -> Taken:  # fmt: skip
    """What is taken on each size that has room, several parts on one node too.

    `own` are the degrees of all components in the file; those without `choices` have what comes out on a size. Whole nodes that are too many
    to be read are taken, and judged once they are planned; what else is not read is not proposed, unless nobody `may_have` so many.
    """
    first, others = sizes_of(pool, cluster)
    variants: list[_Variant] = [
        (name, parallel, said) for name in pool.components for parallel, said in choices.get(name, {None: {}}).items()
    ]
    fixed = [name for name in pool.components if name not in choices]
    most = max((nodes * each for nodes, each in (*first, *others)), default=0)
    undealt = Undealt(most) if refused.is_of_degrees else None
    read = list(_read(pool, [*first, *others], variants, fixed, refused, undealt))
    if undealt is not None and not all(_can_be(read, name) for name in pool.components):
        read = list(_read(pool, [*first, *others], variants, fixed, refused, None))
    taken, whole = Taken(), set(first)
    faults: dict[str, dict[tuple[int, Parallel], list[tuple[str, str]]]] = {name: {} for name in pool.components}
    later: dict[str, set[tuple[int, Parallel]]] = {name: set() for name in pool.components}
    sizes: list[tuple[int, Found]] = []
    for (nodes, each), (name, parallel, _), its in read:
        if its is None and (refused.following or (nodes, each) not in whole):
            taken.unread |= {(nodes, each)} if may_have(nodes * each) else set()
        elif its is None:
            later[name].add((nodes * each, parallel or own[name]))
        else:
            pair = nodes * each, parallel or (its[1] if refused.following else own)[name]
            faults[name][pair] = min(faults[name].get(pair, its[0][name]), its[0][name], key=len)
            sizes += [(nodes * each, its)] if refused.following and fixed and name == fixed[0] else []
            if any(its[1].get(other, here) != here for other, here in own.items() if other not in pool.components):
                taken.unread.add((nodes, each))  # what runs elsewhere has other degrees then
    counts = {parts.count * parts.size for parts in pool.parts}
    for name, its_faults in faults.items():
        best = _best(its_faults, counts)
        largest = sorted(best.items(), key=lambda its: its[0][0])
        taken.pairs[name] = frozenset({*best, *later[name]})
        if always := next((errors[0][1] for _, errors in reversed(largest) if errors), ""):
            taken.always[name] = always
    common = set.intersection(*({count for count, _ in its} for its in taken.pairs.values())) if taken.pairs else set()
    if common:  # all of them hold the same accelerators
        taken.pairs = {name: frozenset(its for its in pairs if its[0] in common) for name, pairs in taken.pairs.items()}
    for count, (told, has) in sizes:
        if all((count, has[name]) in taken.pairs[name] and len(told[name]) == len(faults[name][count, has[name]]) for name in fixed):
            taken.together.setdefault(tuple((name, has[name]) for name in fixed), set()).add(count)
    return taken


def _read(
    pool: Pool, sizes: Sequence[Size], variants: Sequence[_Variant], fixed: Sequence[str], refused: Refused, undealt: Undealt | None
) -> Iterator[tuple[Size, _Variant, Union[Found, None]]]:
    """Each size with each variant, but for those that `undealt` tells to be refused; None for what is not read, as it is too much."""
    left = MOST_TRIED
    for nodes, each in sizes:
        count, size = nodes * each, {pool.nodes_key: nodes, pool.accelerators_key: each}
        for name, parallel, said in variants:
            trained = {}
            if undealt is not None:
                trained = {id(its[2]): refused.trained(pool, {**size, **its[2]}) or () for its in variants}
                every = (  # each variant of one is refused, so that there is no such count for any
                    all(undealt.refuses(count, trained[id(its[2])], {one, *fixed}) for its in variants if its[0] == one)
                    for one in pool.components
                )
                if undealt.refuses(count, trained[id(said)], {name, *fixed}) or any(every):
                    continue
            before = len(refused.known)
            found = refused.read(pool, {**size, **said}) if left > 0 else None
            left -= len(refused.known) > before
            if undealt is not None and found is not None:
                undealt.add(count, trained[id(said)], found[0])
            yield (nodes, each), (name, parallel, said), found


def _can_be(read: Sequence[tuple[Size, _Variant, Union[Found, None]]], name: str) -> bool:
    """Is nothing told of a component on some size?"""
    return any(its[0] == name and (found is None or not found[0][name]) for _, its, found in read)


def _best(told: Mapping[tuple[int, Parallel], list[tuple[str, str]]], own: set[int]) -> dict[tuple[int, Parallel], list[tuple[str, str]]]:
    """The counts and degrees of which the fewest kinds of errors are told; of those with some, the kinds of the file's `own` counts."""
    least = min(map(len, told.values()), default=0)
    best = {pair: errors for pair, errors in told.items() if len(errors) == least}
    known = {_kinds(errors) for (count, _), errors in best.items() if count in own} if least else set()
    return {pair: errors for pair, errors in best.items() if not known or _kinds(errors) in known}


def _kinds(told: Sequence[tuple[str, str]]) -> frozenset[str]:
    return frozenset(code for code, _ in told)
