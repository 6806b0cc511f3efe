"""No-goods: designs ruled out by the proof that one of them has no placement."""

from __future__ import annotations

from dataclasses import replace
from typing import Iterable, Mapping

from ..models.answer import IMPOSSIBLE, Solve
from ..models.component import UNBOUNDED, Component
from ..models.part import restricted
from ..models.planning.barring import inside_of
from ..models.planning.design import Design
from ..models.planning.limits import RefusedCount, Use
from ..models.planning.option import NO_KIND
from ..models.planning.problem import PlanningProblem
from ..models.problem import Problem
from ..models.record import dataclass
from .placing.placing import placing

PROBES = 12
"""Maximum number of probing placements per design, to strengthen its no-good."""


def this_alone(design: Design) -> RefusedCount:
    """Return the no-good of a single design, for all its segmentations."""
    return _barred(design, design.options, {})


def ruled_out(problem: Problem, question: PlanningProblem, design: Design, solve: Solve, probes: int = PROBES) -> RefusedCount:
    """Return the strongest no-good found for an infeasible design.

    Segments count only if memory may be the reason. Subsets of components are placed alone, without
    traffic, and without memory on uniform kinds: what is infeasible for them is so for every design
    with them. Then the counts are relaxed to "or more".
    """
    probing = _Probing(problem, question, design, solve, min(probes, PROBES))
    every = {name: design.options[name].amount for name in question.components}
    if not probing.is_impossible(every, False):
        return replace(this_alone(design), segments=design.segments)
    if problem.job.planning.laying is not None:  # the dialect lays out all that it is told of, and as much of it as it is told
        has_room = any(True for _ in problem.job.planning.laying.laid(every, problem.cluster))
        return this_alone(design) if has_room else _with_any_degrees(design)
    names = dict(every)
    # Which way a design keeps to, and what its terms come to, all components say together.
    for name in every if not (question.ways or problem.caps or problem.unlike) else ():
        fewer = {remaining: amount for remaining, amount in names.items() if remaining != name}
        if fewer and probing.is_impossible(fewer, False):
            names = fewer
    # On a mixed kind an estimate may be less with more accelerators.
    is_open = any(kind.mixed for kind in question.kinds) and any(option.estimated for option in design.options.values())
    return _barred(design, names, {} if is_open or not probing.is_impossible(names, True) else names)


def _barred(design: Design, names: Iterable[str], least: Mapping[str, int]) -> RefusedCount:
    """Return a no-good for counts from `least` on; exact counts for other components."""
    uses = {}
    for name in names:
        option = design.options[name]
        uses[name] = Use(option.kind, least.get(name, option.amount), option.parallel, name in least)
    return RefusedCount(uses, inside_of(design, frozenset(uses)))


def _with_any_degrees(design: Design) -> RefusedCount:
    """Return the no-good for these sizes with any degrees."""
    alone = this_alone(design)
    return replace(alone, uses={name: replace(use, parallel=None) for name, use in alone.uses.items()})


@dataclass
class _Probing:
    """Placements of parts of a design."""

    problem: Problem
    question: PlanningProblem
    design: Design
    solve: Solve
    probes: int

    def is_impossible(self, amounts: Mapping[str, int], or_more: bool) -> bool:
        """Return True if these components are proved infeasible with these counts."""
        if self.probes <= 0:
            return False
        self.probes -= 1
        return self.solve(self._part(amounts, or_more)).verdict == IMPOSSIBLE

    def _part(self, amounts: Mapping[str, int], or_more: bool) -> Problem:
        placed = replace(placing(self.problem, self.question, self.design), explained=False)
        left_out = set(self.question.components).difference(amounts)
        placed = restricted(placed, {component.name for component in placed.components} - left_out)
        components = tuple(self._bare(component, amounts, or_more) for component in placed.components)
        job = replace(placed.job, components=components, shares=())
        if placed.caps:
            return replace(placed, job=job)
        return replace(placed, job=replace(job, links=()), previous=None)

    def _bare(self, component: Component, amounts: Mapping[str, int], or_more: bool) -> Component:
        """Return the component reduced to what decides its possible places."""
        bare = replace(component, host_memory=0)
        if not any(kind.mixed for kind in self.question.kinds):
            bare = replace(bare, memory=0, offloaded=0, phases=(), on_sizes=())
        bare = bare if self.problem.caps else replace(bare, traffic=0)
        if component.name not in amounts or component.runs is not None:
            return bare
        amount, none = amounts[component.name], self.design.options[component.name].kind == NO_KIND
        return replace(
            bare,
            counts=(),
            least=amount,
            most=UNBOUNDED if or_more and not none else self.design.options[component.name].amount if none else amount,
        )
