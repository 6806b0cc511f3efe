"""Rule PW213: components come one after the other and fill the cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING, Iterator, Mapping

from ....models.component import IN_ORDER, Relation
from ....models.findings.finding import Finding, error
from ....models.findings.wording import plural
from ....models.machines.node_group import ACCELERATOR, CLUSTER_LABEL, Numbering
from ....models.placements.assignment import Assignment
from ....models.problem import ConflictClause, Problem
from ....models.ranks import write_ranks
from ...rank_fixes import RankFix, contiguous_range, fix_with_ranges
from ...rule import RelationRule
from ...stretches import extent
from ...wording import demanding, join_names

if TYPE_CHECKING:
    from ...layout.bundle import Bundle
    from ...model.amount import Amount
    from ...model.variables import Variables


class InOrder(RelationRule):
    """Components in order are solid ranges of the cluster's accelerators, without gaps.
    They go from the first accelerator to the last.

    Source: RLinf, rlinf/utils/placement.py, ModelParallelComponentPlacement (auto mode).
    """

    code, kind = "PW213", IN_ORDER

    def encode(self, problem: Problem, relation: Relation, variables: Variables) -> None:
        numbering = problem.cluster.numbering((CLUSTER_LABEL,))
        before: Amount = 0
        last: Bundle | None = None
        for name in relation.components:
            bundle = variables.bundle(problem[name])
            if bundle is None or bundle.kind != ACCELERATOR:
                variables.require(False)
                return
            start, before_next = self._ends(bundle, numbering, variables)
            variables.require(start == before)
            if last and all(not neighbour.fixed and variables.layout.numbering(neighbour) == numbering for neighbour in (last, bundle)):
                variables.range_of(bundle).follows(variables.range_of(last))  # redundant, place by place: a tighter relaxation
            before, last = before_next, bundle
        variables.require(before == numbering.size)

    def _ends(self, bundle: Bundle, numbering: Numbering, variables: Variables) -> tuple[Amount, Amount]:
        """Return a bundle's first accelerator, and the accelerator after its last.

        -1 for a bundle given in pieces.
        """
        if bundle.fixed:
            ranks = solid(variables.layout.fixed[bundle], numbering)
            return (ranks.start, ranks.stop) if ranks else (-1, -1)
        if variables.layout.numbering(bundle) == numbering:
            return variables.range_of(bundle).first_and_end()
        places = self._places(bundle, numbering, variables)
        variables.range_of(bundle).only(places)
        nowhere = (0, 0)
        first = variables.range_of(bundle).worth(lambda place: places.get(place, nowhere)[0])
        return first, variables.range_of(bundle).worth(lambda place: places.get(place, nowhere)[1])

    def _places(self, bundle: Bundle, numbering: Numbering, variables: Variables) -> dict[tuple[int, int], tuple[int, int]]:
        """Return place -> (start, stop) in the cluster, for places solid there too."""
        bundle_numbering, places = variables.layout.numbering(bundle), {}
        for start, units in variables.range_of(bundle).starts:
            masks: dict[int, int] = {}
            for stretch, first, count in bundle_numbering.pieces(start, start + units * bundle.unit):
                masks[stretch.node_rank] = ((1 << count) - 1) << first
            if ranks := solid(masks, numbering):
                places[start, units] = (ranks.start, ranks.stop)
        return places

    def check(self, problem: Problem, relation: Relation, assignment: Assignment) -> Iterator[Finding]:
        first, next_start, before = problem.cluster.numbering((CLUSTER_LABEL,)).first, 0, ""
        total = problem.cluster.total(ACCELERATOR)
        for name in relation.components:
            masks = {node: mask for (node, kind), mask in assignment.masks(name).items() if kind == ACCELERATOR and mask}
            if not masks:
                yield self._fault(problem, relation, name, f"{name} has no accelerators", (next_start,))
                continue
            low, high = extent(first, masks)
            count = sum(mask.bit_count() for mask in masks.values())
            if count != high - low:
                message = f"{name} uses {count} of the accelerators {low}-{high - 1}, not one solid range"
                yield self._fault(problem, relation, name, message, (low, high - 1))
            if low != next_start:
                message = f"{name} begins at accelerator {low} instead of {next_start}{f', after {before}' if before else ''}"
                yield self._fault(problem, relation, name, message, (low, next_start))
            next_start, before = high, name
        if next_start != total:
            message = f"{before or join_names(relation.components)} ends at accelerator {next_start - 1} instead of {total - 1}, the last of the cluster"
            yield self._fault(problem, relation, relation.components[-1], message, (next_start, total))

    def _fault(self, problem: Problem, relation: Relation, name: str, message: str, witnesses: tuple[int, ...]) -> Finding:
        order, size = join_names(relation.components), problem.cluster.total(ACCELERATOR)
        return error(
            self.code, name, message, problem[name].span("placement"), label="out of order", witnesses=witnesses, amount=1,
            help=f"place {order} one after the other over `{write_ranks((range(size),))}`", notes=demanding(relation),
        )  # fmt: skip

    def explain(self, problem: Problem, relation: Relation) -> ConflictClause:
        size = problem.cluster.total(ACCELERATOR)
        return self.clause(
            relation,
            f"{join_names(relation.components)} come one after the other and fill the cluster ({size} {plural('accelerator', size)})",
        )

    def repairs(self, problem: Problem, relation: Relation) -> Iterator[RankFix]:
        """Yield ranges of the present sizes; the last component takes the rest."""
        ranges, start = {}, 0
        for name in relation.components:
            current_range = contiguous_range(problem, problem[name])
            if current_range is None or problem[name].node_groups != (CLUSTER_LABEL,):
                return
            stop = problem.cluster.total(ACCELERATOR) if name == relation.components[-1] else start + len(current_range)
            if stop <= start:
                return
            ranges[name], start = range(start, stop), stop
        yield fix_with_ranges(problem, ranges)


def solid(masks: Mapping[int, int], numbering: Numbering) -> range | None:
    """Return the ranks of the resources if they form a solid range, else None."""
    if not masks or not masks.keys() <= numbering.first.keys():
        return None
    ranks = sorted(numbering.first[node] + i for node, mask in masks.items() for i in range(mask.bit_length()) if mask >> i & 1)
    return range(ranks[0], ranks[-1] + 1) if ranks[-1] - ranks[0] + 1 == len(ranks) else None
