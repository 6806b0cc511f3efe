"""Every order of groups that can make a difference: groups in replicas, replicas in a component, where these must be kept together."""

from __future__ import annotations

from itertools import combinations_with_replacement
from math import comb
from typing import Iterator, Sequence, TypeVar

from placewright.models.component import EP, REPLICA, TP, Component
from placewright.models.problem import Problem

G = TypeVar("G")


def group_of(component: Component) -> int:
    """Accelerators that are enumerated together: a tensor parallel group in whole processes, or a process where groups may be over nodes."""
    return component.per_process if any(keep.unit == TP for keep in component.keep) else component.group_size


def blocks_of(component: Component) -> list[int]:
    """How many groups belong together in ranks, ascending, each a multiple of the one before; what is not kept together does not count."""
    sizes = {its // group_of(component) for what, its in _sizes(component).items() if _is_kept(component, what)}
    return sorted(size for size in sizes if size > 1)


def can_be_enumerated(problem: Problem) -> bool:
    """Do the groups that every component keeps together divide each other, so that they are enumerated one inside the other?"""
    for component in problem.components:
        size = group_of(component)
        sizes = [size, *sorted(its for what, its in _sizes(component).items() if _is_kept(component, what))]
        if any(large % small for small, large in zip(sizes, sizes[1:])):
            return False
    return True


def _sizes(component: Component) -> dict[str, int]:
    parallel = component.parallel
    return {TP: parallel.tp, EP: parallel.tp * parallel.ep, REPLICA: parallel.replica}


def _is_kept(component: Component, what: str) -> bool:
    return any(keep.required and keep.unit == what for keep in component.keep)


def arranged(groups: Sequence[G], blocks: Sequence[int], count: int) -> Iterator[tuple[G, ...]]:
    """Every choice of so many groups, block by block: the order inside a block, and that of whole blocks, makes no difference."""
    if not blocks:
        yield from combinations_with_replacement(groups, count)
        return
    whole, rest = divmod(count, blocks[-1])
    inner = list(arranged(groups, blocks[:-1], blocks[-1]))
    for chosen in combinations_with_replacement(inner, whole):
        for last in arranged(groups, blocks[:-1], rest):
            yield (*(group for block in chosen for group in block), *last)


def arrangements(groups: int, blocks: Sequence[int], count: int) -> int:
    """How many these are."""
    if not blocks:
        return comb(groups + count - 1, count) if groups else int(count == 0)
    whole, rest = divmod(count, blocks[-1])
    inner = arrangements(groups, blocks[:-1], blocks[-1])
    return arrangements(inner, (), whole) * arrangements(groups, blocks[:-1], rest)
