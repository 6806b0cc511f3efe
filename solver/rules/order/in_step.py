"""Two ranges that share accelerators begin and end with whole processes of the second."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Iterable, Iterator, Mapping

from ....models.component import Component
from ....models.demand import Clause
from ....models.findings.finding import Finding, error
from ....models.findings.wording import plural
from ....models.machines.node_group import NODE
from ....models.placements.assignment import Assignment, seats
from ....models.problem import Problem
from ...layout.parts import bits
from ...wording import lowest

if TYPE_CHECKING:
    from ...layout.bundle import Bundle
    from ...model.amount import Amount
    from ...model.variables import Variables

Pair = tuple[Component, Component]


class InStep:
    """Of two contiguous components that share accelerators the first begins and ends whole processes of the second away from where that does.

    Each of them may reach beyond the other: both distances are multiples of the accelerators of one process of the second, in ranks of
    the numbering that both are ranges of. So every process of the second has its weights from as many ranks of the first, or from none.
    Where both are searched they have one order of ranks there, whatever is pinned (see `where/pinned.py`).
    Source: ROLL, roll/third_party/megatron/model_update.py and roll/third_party/fsdp2/model_update.py (_setup_colocated_model_update).
    """

    code: ClassVar[str] = "PW217"
    packs: ClassVar[bool] = True

    def subjects(self, problem: Problem) -> Iterable[Pair]:
        """Those pairs of `Job.in_step` that are ranges of one numbering, the written order of the components first."""
        names = [component.name for component in problem.components]
        pairs = [(problem[one], problem[other]) for one in names for other in names if (one, other) in problem.job.in_step]
        return [pair for pair in pairs if self._is_said(problem, *pair)]

    def _is_said(self, problem: Problem, one: Component, other: Component) -> bool:
        solid = one.contiguous and other.contiguous and NODE not in (problem.kind(one), problem.kind(other))
        return solid and problem.range_in(one) == problem.range_in(other)

    def encode(self, problem: Problem, pair: Pair, variables: Variables) -> None:
        """Beginnings leave the same rest, and so do ends, where one lies within the other; beside given ranks, where they meet."""
        one, other = (variables.bundle(component) for component in pair)
        if one is None or other is None or one is other or one.kind != other.kind:
            return
        first, step = problem.cluster.numbering(problem.range_in(pair[0])).first, pair[1].per_process
        edges = [self._edges(bundle, first, step, variables) for bundle in (one, other)]
        hosts = variables.layout.hosts
        always = one in hosts[other] or other in hosts[one]
        if one.fixed and other.fixed:
            theirs = variables.layout.fixed[other]
            met = any(mask & theirs.get(node, 0) for node, mask in variables.layout.fixed[one].items())
            variables.require(not met or edges[0] == edges[1], f"{one.name} and {other.name} are given out of step")
            return
        if always:
            meet: Amount = 1
        elif one.fixed or other.fixed:
            given, searched = (one, other) if one.fixed else (other, one)
            meet = variables.boolean(f"{one.name} and {other.name} meet")
            for node, mask in variables.layout.fixed[given].items():
                for index in bits(mask):
                    variables.at_most(variables.covers(searched, node, index), meet)
        else:
            return  # neither lies within the other, so they have nothing in common
        for mine, theirs in zip(*edges):
            for here, there in zip(mine, theirs):
                variables.at_most(here + meet, there + 1, f"{one.name} and {other.name} are out of step")

    def _edges(self, bundle: Bundle, first: Mapping[int, int], step: int, variables: Variables) -> tuple[list[Amount], list[Amount]]:
        """For every rest of a division by `step`, whether the first rank leaves it, and whether the one after the last does."""
        if not bundle.fixed:
            return variables.rests(bundle, step)
        held = {node: mask for node, mask in variables.layout.fixed[bundle].items() if node in first}
        low, high = _ends(held, first) if held else (0, 0)
        return [int(low % step == rest) for rest in range(step)], [int(high % step == rest) for rest in range(step)]

    def check(self, problem: Problem, pair: Pair, assignment: Assignment) -> Iterator[Finding]:
        one, other = pair
        first = problem.cluster.numbering(problem.range_in(one)).first
        mine, theirs = ({node: mask for (node, _), mask in assignment.masks(each.name).items() if mask and node in first} for each in pair)
        if not any(mask & theirs.get(node, 0) for node, mask in mine.items()):
            return
        step, (low, high), (least, most) = other.per_process, _ends(mine, first), _ends(theirs, first)
        yield from self._turned(pair, low - least, first, assignment)
        if (low - least) % step or (high - most) % step:
            edges = [
                f"{what} {abs(away)} {plural('rank', abs(away))} {'after' if away > 0 else 'before'} it"
                for what, away in (("begins", low - least), ("ends", high - most))
                if away % step
            ]
            message = f"{one.name} (ranks {low}-{high - 1}) and {other.name} (ranks {least}-{most - 1}) share accelerators, but"
            message += f" {one.name} {' and '.join(edges)}: not with whole processes of {step}"
            advice = f"let {one.name} share whole processes of {other.name}, or no accelerator"
            yield error(self.code, one.name, message, one.span("placement"), help=advice, witnesses=(low, least), amount=len(edges))

    def _turned(self, pair: Pair, away: int, first: Mapping[int, int], assignment: Assignment) -> Iterator[Finding]:
        """Error where two searched components share accelerators in different orders of ranks."""
        one, other = pair
        if any(each.runs is not None or not each.any_order or each.stride > 1 for each in pair):
            return
        mine, theirs = ([first[node] + index for _, its in seats(assignment.of(each.name)) for (node, index), _, _ in its] for each in pair)
        out = [place for place, rank in enumerate(mine) if 0 <= place + away < len(theirs) and theirs[place + away] != rank]
        if out:
            message = f"{one.name} and {other.name} share accelerators, but not in one order of ranks: {len(out)} of {one.name} meet others"
            advice = "pin both alike, or fewer ranks"
            yield error(self.code, one.name, message, one.span("placement"), help=advice, witnesses=(out[0],), amount=len(out))

    def explain(self, problem: Problem, pair: Pair) -> Clause:
        one, other = pair
        return Clause(
            f"where they share accelerators, {one.name} begins and ends with whole processes of {other.name}, {other.per_process} each"
        )


def _ends(held: Mapping[int, int], first: Mapping[int, int]) -> tuple[int, int]:
    """The first of these resource ranks, and the one after the last."""
    return min(first[node] + lowest(mask) for node, mask in held.items()), max(
        first[node] + mask.bit_length() for node, mask in held.items()
    )
