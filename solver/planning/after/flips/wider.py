"""How far a plan holds against plans that nobody asked for: nested ones, and those over nodes or with components on several kinds.

And against those on other models than its own, where there are too many choices of these to search each.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple, Sequence

from .....models.parallel import Parallel
from .....models.planning.design import Design
from .....models.planning.planned import Planned, Priced
from ....sandbox.interrupts import unless_heard
from ...variants.wide import Wide
from .flip import HUNDRED, Flip, Held, Wider
from .further import Further
from .way import Way


def wider(
    planned: Planned, wide: Wide, flips: Sequence[Flip], seed: int, most: int, limit: float, traffic: bool = False
) -> tuple[Wider | None, int]:
    """What of these flips does not hold against wider plans, and how many searches that took; None where all of it does.

    It is proved by what the plan's own bounds say of such plans, else by a search of them just where the plan is said to hold: none of
    them is placed, and what is better there may have no placement. All searches together take at most `limit` deterministic seconds.
    """
    run = Further(_bounded(planned, wide), seed, most, limit, questions=wide.questions)
    run.known += [each.design for each in _told(planned)]
    if wide.on_models or (wide.over_kinds and any(each.crossing is not None for each in wide.questions)):
        run.known = []  # what of them crosses is asked by kinds, and these are others here
    return _less(run, planned, wide, flips, traffic)


def on_other_models(
    planned: Planned, wide: Wide, flips: Sequence[Flip], seed: int, most: int, limit: float, traffic: bool = False
) -> tuple[Wider | None, int]:
    """The same of plans on other models than the plan's own, of which it is proved as of any what they cost at least."""
    run = Further(planned, seed, most, limit, questions=wide.on_models)
    run.known = []  # their kinds are others
    return _less(run, planned, replace(wide, over_nodes=False, nested=False, on_models=()), flips, traffic)


def _less(run: Further, planned: Planned, wide: Wide, flips: Sequence[Flip], traffic: bool) -> tuple[Wider | None, int]:
    ways = [(flip, Way(run, flip.component, flip.holds)) for flip in flips if flip.holds != HUNDRED]
    less = Wider(wide.over_nodes, wide.over_kinds and not wide.on_models, wide.nested, as_it_is=False)
    if traffic or any(way.holds is None for _, way in ways) or len(ways) < len(flips):
        beaten = unless_heard(lambda: run.may_be_beaten(flips[0].component), lambda: True)
        if beaten:
            return less, run.searches
    unless_heard(lambda: _search(run, [way for _, way in ways]), lambda: None)
    sooner = [(flip, way) for flip, way in ways if way.holds != flip.holds]
    if not sooner:
        return None, run.searches
    found = tuple(Held(flip.component, way.holds or HUNDRED, flip.holds > HUNDRED) for flip, way in sooner)
    named = () if wide.over_nodes or wide.over_kinds else _named(planned, [way for _, way in sooner])
    return replace(less, holds=found, as_it_is=True, flips=named), run.searches


def _named(planned: Planned, ways: Sequence[Way]) -> tuple[Flip, ...]:
    """Where a nested plan is known that is better: the best that is known there, of which one alone was placed."""
    placed = planned.nested.best.design if planned.nested is not None and planned.nested.best is not None else None
    found = []
    for way in ways:
        flip = way.flip()
        if flip is not None and flip.to is not None:
            its = flip.to.design
            is_placed = placed is not None and (its.blocks, its.segments) == (placed.blocks, placed.segments)
            alike = is_placed and placed is not None and _degrees(its) == _degrees(placed)
            found.append(replace(flip, placed=alike))
    return tuple(found)


def _degrees(design: Design) -> dict[str, Parallel]:
    return {name: option.parallel for name, option in design.options.items()}


class Doubted(NamedTuple):
    """What is left of flips, and what it took to know: searches, and deterministic seconds."""

    flips: tuple[Flip, ...]
    searches: int = 0
    spent: float = 0.0


def doubted(planned: Planned, wide: Wide | None, flips: Sequence[Flip], seed: int, most: int, limit: float) -> Doubted:
    """The flips, of which those where nothing keeps to the budget say so only where no wider plan does either.

    Of plans that are not known (None) it is open whether one does.
    """
    sure = [flip.flips for flip in flips if flip.flips is not None and flip.to is None and flip.sure]
    if not sure or (wide is not None and not wide.any and not wide.on_models):
        return Doubted(tuple(flips))
    run = None if wide is None else Further(planned, seed, most, limit, questions=wide.questions)
    if run is not None and wide is not None and wide.on_models:
        run.known = []  # their kinds are others

    def told(flip: Flip) -> Flip:
        if flip.flips is None or flip.to is not None or not flip.sure:
            return flip
        at, name = flip.flips, flip.component
        none = (
            run is not None and unless_heard(lambda: run.better(name, at, run.spent + run.left(limit) / len(sure)), lambda: None) is False
        )
        return flip if none else replace(flip, sure=False)

    left = tuple(told(flip) for flip in flips)
    return Doubted(left) if run is None else Doubted(left, run.searches, run.spent)


def as_sure(flips: Sequence[Flip], less: Wider | None) -> tuple[Flip, ...]:
    """The flips, of which those where other models may be better say so: what is best there is not known of these."""
    held = {(each.component, each.slower) for each in less.holds} if less is not None else set()

    def is_sure(flip: Flip) -> bool:
        known = less is None or (less.as_it_is and (flip.component, flip.holds > HUNDRED) not in held)
        return flip.sure and flip.to is None and (known or flip.flips is not None)

    return tuple(replace(flip, sure=is_sure(flip)) for flip in flips)


def unknown(planned: Planned) -> Wider | None:
    """What is said where nothing of this is known: of those plans alone that may be better as it is."""
    over_nodes, over_kinds, nested = planned.over_nodes is not None, planned.over_kinds is not None, planned.nested is not None
    return Wider(over_nodes, over_kinds, nested, as_it_is=False) if over_nodes or over_kinds or nested else None


def _search(run: Further, ways: Sequence[Way]) -> None:
    for way in ways:
        way.begin()
    for nearer in (False, True):
        open_ = [way for way in ways if way.open]
        for number, way in enumerate(open_):
            way.search(run.spent + run.left(run.limit) / (len(open_) - number), nearer, names_best=False)


def _bounded(planned: Planned, wide: Wide) -> Planned:
    """The plan with what is proved of wider plans too, if that is: of what is not told of them it is that they cost no less than it."""
    told = [planned.over_nodes is not None, planned.over_kinds is not None, planned.nested is not None]
    if planned.at_once is not None or sum(told) > 1 or (any(told) and told != [wide.over_nodes, wide.over_kinds, wide.nested]):
        return replace(planned, bound=0, proved=False)  # nothing is known of those that differ in what is told and in more
    bounds = [each.bound for each in (planned.over_nodes, planned.nested) if each is not None]
    bounds += [] if planned.over_kinds is None else [planned.over_kinds]
    least = min([planned.bound, *bounds])
    return replace(planned, bound=least, proved=planned.proved and least >= planned.price[0])


def _told(planned: Planned) -> list[Priced]:
    """Wider plans that are known."""
    return [each.best for each in (planned.over_nodes, planned.nested) if each is not None and each.best is not None]
