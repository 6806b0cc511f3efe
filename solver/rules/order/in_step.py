"""Rule PW217: overlapping ranges begin and end with whole processes of the second."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Iterable, Iterator, Mapping

from ....models.component import Component
from ....models.findings.finding import Finding
from ....models.findings.wording import plural
from ....models.machines.node_group import NODE
from ....models.placements.assignment import Assignment, seats
from ....models.problem import ConflictClause, Problem
from ...layout.parts import bits
from ...rule import ComponentRule
from ...stretches import extent

if TYPE_CHECKING:
    from ...layout.bundle import Bundle
    from ...model.amount import Amount
    from ...model.variables import Variables

Pair = tuple[Component, Component]


class InStep(ComponentRule):
    """Two contiguous components that share accelerators are in step.
    The first begins and ends whole processes of the second away from the start and the end of the
    second.

    Each may reach beyond the other: both distances are multiples of the accelerators of one process
    of the second, in ranks of the common numbering. So every process of the second has its weights
    from equally many ranks of the first, or from none. If both are searched, they have one order of
    ranks there, whatever is pinned (see `where/pinned.py`).

    Source: ROLL, roll/third_party/megatron/model_update.py and
    roll/third_party/fsdp2/model_update.py (_setup_colocated_model_update).
    """

    code: ClassVar[str] = "PW217"

    def subjects(self, problem: Problem) -> Iterable[Pair]:
        """Return the pairs of `Job.in_step` that are ranges of one numbering.

        In the written order of the components.
        """
        names = [component.name for component in problem.components]
        pairs = [(problem[first], problem[second]) for first in names for second in names if (first, second) in problem.job.in_step]
        return [pair for pair in pairs if self._is_said(problem, *pair)]

    def _is_said(self, problem: Problem, first: Component, second: Component) -> bool:
        solid = first.contiguous and second.contiguous and NODE not in (problem.kind(first), problem.kind(second))
        return solid and problem.range_in(first) == problem.range_in(second)

    def encode(self, problem: Problem, pair: Pair, variables: Variables) -> None:
        """Require equal remainders of the starts, and of the ends.

        Always for nested ranges; beside given ranks, only if the two meet.
        """
        first_bundle, second_bundle = (variables.bundle(component) for component in pair)
        if first_bundle is None or second_bundle is None or first_bundle is second_bundle or first_bundle.kind != second_bundle.kind:
            return
        first, step = problem.cluster.numbering(problem.range_in(pair[0])).first, pair[1].per_process
        edges = [self._edges(bundle, first, step, variables) for bundle in (first_bundle, second_bundle)]
        hosts = variables.layout.hosts
        always = first_bundle in hosts[second_bundle] or second_bundle in hosts[first_bundle]
        if first_bundle.fixed and second_bundle.fixed:
            second_part = variables.layout.fixed[second_bundle]
            met = any(mask & second_part.get(node, 0) for node, mask in variables.layout.fixed[first_bundle].items())
            variables.require(not met or edges[0] == edges[1])
            return
        if always:
            meet: Amount = 1
        elif first_bundle.fixed or second_bundle.fixed:
            given_bundle, open_bundle = (first_bundle, second_bundle) if first_bundle.fixed else (second_bundle, first_bundle)
            meet = variables.boolean(f"{first_bundle.name} and {second_bundle.name} meet")
            for node, mask in variables.layout.fixed[given_bundle].items():
                for index in bits(mask):
                    variables.at_most(variables.range_of(open_bundle).covers(node, index), meet)
        else:
            return  # not nested, so they share nothing
        for first_part, second_part in zip(*edges):
            for first_rest, second_rest in zip(first_part, second_part):
                variables.at_most(first_rest + meet, second_rest + 1)

    def _edges(self, bundle: Bundle, first: Mapping[int, int], step: int, variables: Variables) -> tuple[list[Amount], list[Amount]]:
        """Return remainder indicators modulo `step` of a bundle's start and end.

        The end is the rank after the last.
        """
        if not bundle.fixed:
            return variables.range_of(bundle).rests(step)
        masks = {node: mask for node, mask in variables.layout.fixed[bundle].items() if node in first}
        low, high = extent(first, masks) if masks else (0, 0)
        return [int(low % step == rest) for rest in range(step)], [int(high % step == rest) for rest in range(step)]

    def check(self, problem: Problem, pair: Pair, assignment: Assignment) -> Iterator[Finding]:
        first_component, second_component = pair
        first = problem.cluster.numbering(problem.range_in(first_component)).first
        first_masks, second_masks = (
            {node: mask for (node, _), mask in assignment.masks(component.name).items() if mask and node in first} for component in pair
        )
        if not any(mask & second_masks.get(node, 0) for node, mask in first_masks.items()):
            return
        step, (low, high), (second_low, second_high) = second_component.per_process, extent(first, first_masks), extent(first, second_masks)
        yield from self._check_turned(pair, low - second_low, first, assignment)
        if (low - second_low) % step or (high - second_high) % step:
            edges = [
                f"{edge_name} {abs(away)} {plural('rank', abs(away))} {'after' if away > 0 else 'before'} it"
                for edge_name, away in (("begins", low - second_low), ("ends", high - second_high))
                if away % step
            ]
            message = f"{first_component.name} (ranks {low}-{high - 1}) and {second_component.name} (ranks {second_low}-{second_high - 1}) share accelerators, but"
            message += f" {first_component.name} {' and '.join(edges)}: not with whole processes of {step}"
            advice = f"let {first_component.name} share whole processes of {second_component.name}, or no accelerator"
            yield self.fault(first_component, message, "placement", advice, (low, second_low), len(edges))

    def _check_turned(self, pair: Pair, away: int, first: Mapping[int, int], assignment: Assignment) -> Iterator[Finding]:
        """Yield an error if two searched components overlap in different rank orders."""
        first_component, second_component = pair
        if any(component.runs is not None or not component.any_order or component.stride > 1 for component in pair):
            return
        first_ranks, second_ranks = (
            [first[node] + index for _, process_seats in seats(assignment.of(component.name)) for (node, index), _, _ in process_seats]
            for component in pair
        )
        out = [
            place for place, rank in enumerate(first_ranks) if 0 <= place + away < len(second_ranks) and second_ranks[place + away] != rank
        ]
        if out:
            message = f"{first_component.name} and {second_component.name} share accelerators, but not in one order of ranks: {len(out)} of {first_component.name} meet others"
            advice = "pin both alike, or fewer ranks"
            yield self.fault(first_component, message, "placement", advice, (out[0],), len(out))

    def explain(self, problem: Problem, pair: Pair) -> ConflictClause:
        first, second = pair
        return ConflictClause(
            f"where they share accelerators, {first.name} begins and ends with whole processes of {second.name}, {second.per_process} each"
        )
