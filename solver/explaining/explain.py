"""Explanation of a configuration: needs, sharing, and the derivation of every number."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import partial
from typing import Callable, Sequence

from ...models.component import Relation
from ...models.derivation import ACCELERATORS_PER_NODE, NOT_KNOWN, WORLD_SIZE, Derivation
from ...models.machines.shorthand import MAX_ACCELERATORS_PER_NODE, DeclaredNodes
from ...models.placements.plan import VERIFIED, Plan
from ...models.problem import Problem
from ...models.reading import Reading
from ...models.record import dataclass
from ...models.report import Report
from ...models.text.environment import Environment
from ..stretches import components_by_accelerators, stretches
from ..unchecked import missing_in
from .demands import DemandText, demands_of, list_times
from .needs import Needs, needs_of, numbers

NOT_SHOWN = "not shown"
USUAL = (1, 2, 4, 8, 16)
"""Usual numbers of accelerators per node."""
WITHIN, PARTLY = "within", "partly"
MOST = 64
"""Largest number of accelerator sets compared pairwise."""
Verify = Callable[[Reading], Report]
Derive = Callable[[Problem], Sequence[Derivation]]


@dataclass(frozen=True, slots=True)
class ColocatedSet:
    """Maximal set of components on exactly the same accelerators; may be a single component."""

    components: tuple[str, ...]
    accelerators: int


@dataclass(frozen=True, slots=True)
class Overlap:
    """Two sets of components with `shared` accelerators in common.

    Kind ``within``: the second contains the first.
    """

    kind: str
    first: ColocatedSet
    second: ColocatedSet
    shared: int


@dataclass(frozen=True, slots=True)
class SharedAccelerators:
    """Colocated sets of components, and all overlapping pairs of sets.

    Nesting is listed without transitive pairs. `compared` is the number of sets examined for
    overlaps. `asked` are the required relations of hinted components.
    """

    together: tuple[ColocatedSet, ...]
    overlaps: tuple[Overlap, ...]
    compared: int
    asked: tuple[Relation, ...] = ()

    def alone(self, colocated_set: ColocatedSet) -> bool:
        """Return True if the set overlaps with no other set."""
        return all(colocated_set not in (overlap.first, overlap.second) for overlap in self.overlaps)


@dataclass(frozen=True)
class Explanation:
    """Explanation of one file.

    Attributes
    ----------
    report : result of verification.
    plan : components with a known placement, even if the file has errors; None if the file is
        unusable.
    needs, sharing : None if the file is unusable.
    demands : demands on topology and nodes, and traffic between components.
    assumed : assumed accelerators per node if the cluster is unspecified; else 0.
    """

    report: Report
    plan: Plan | None = None
    needs: Needs | None = None
    sharing: SharedAccelerators | None = None
    derivations: tuple[Derivation, ...] = ()
    assumed: int = 0
    demands: tuple[DemandText, ...] = ()

    @property
    def known(self) -> bool:
        """True if the number of accelerators is known."""
        return self.needs is not None and self.needs.there is not None


def explain(reading: Reading, reread: Callable[[DeclaredNodes], Reading], verify: Verify, iteration_of: Derive) -> Explanation:
    """Return the explanation of a file.

    If neither the file nor the user states the accelerators per node, the smallest sufficient
    number is assumed; `reread` reads the file on that cluster. `verify` returns the report on a
    reading; `iteration_of` derives the iteration time of explicit ranks.
    """
    explain_reading = partial(_explain, verify, iteration_of)
    if reading.problem is not None and not reading.problem.cluster.counted:
        return _assuming(reading, reread, explain_reading) or explain_reading(reading)
    return explain_reading(reading)


def _assuming(
    reading: Reading, reread: Callable[[DeclaredNodes], Reading], explain_reading: Callable[..., Explanation]
) -> Explanation | None:
    """Explain the file on the smallest nodes that hold all ranks; None without ranks."""
    per_node = next((int(derivation.value) for derivation in reading.derivations if derivation.name == ACCELERATORS_PER_NODE), 0)
    if not 0 < per_node <= MAX_ACCELERATORS_PER_NODE:
        return None
    on_least = reread(DeclaredNodes(per_node))
    if on_least.problem is None or not on_least.problem.cluster.counted:
        return None
    first = explain_reading(on_least, per_node)
    larger = (explain_reading(reread(DeclaredNodes(count)), count) for count in USUAL if count > per_node and first.report.errors)
    best = next((explanation for explanation in larger if len(explanation.report.errors) < len(first.report.errors)), first)
    missing = missing_in(reading, reading.unchecked)
    return replace(best, report=replace(best.report, missing=missing, machines=""))


def _explain(verify: Verify, iteration_of: Derive, reading: Reading, per_node: int = 0) -> Explanation:
    problem, report = reading.problem, verify(reading)
    secret = reading.document.environment
    if problem is None:
        return Explanation(report, derivations=tuple(_conceal(derivation, secret) for derivation in reading.derivations))
    unknown = {
        derivation.component for derivation in reading.derivations if derivation.name == WORLD_SIZE and derivation.value == NOT_KNOWN
    }
    search_problem = reading.to_solve.problem or problem
    needs = needs_of(problem, reading.document, unknown, search_problem)
    number_derivations = numbers(problem, needs, reading.derivations, reading.document)
    plan = Plan(problem.cluster, problem.build_given(), VERIFIED)
    derivations = tuple(_conceal(derivation, secret) for derivation in (*number_derivations, *iteration_of(search_problem)))
    demands = (*demands_of(problem), *list_times(search_problem))
    return Explanation(report, plan, needs, sharing_of(problem), derivations, per_node, demands)


def _conceal(derivation: Derivation, secret: Environment) -> Derivation:
    """Hide a number that comes from the environment."""
    matches = [figure.span in secret.places for figure in derivation.figures if figure.span]
    if not any(matches):
        return derivation
    figures = tuple(
        replace(figure, value=NOT_SHOWN) if figure.span and figure.span in secret.places else figure for figure in derivation.figures
    )
    return replace(derivation, value=NOT_SHOWN, formula="from a value of the environment", figures=figures)


def sharing_of(problem: Problem) -> SharedAccelerators:
    """Return the sharing of placed components. The cost grows with node stretches and pairs."""
    nodes, groups = components_by_accelerators(stretches(problem, problem.build_given()))
    order = {component.name: position for position, component in enumerate(problem.components)}
    sets: list[ColocatedSet] = []
    holders: dict[int, list[tuple[ColocatedSet, int]]] = {}
    totals: Counter[tuple[ColocatedSet, ColocatedSet]] = Counter()
    for places, names in sorted(groups.items(), key=lambda entry: order[entry[1][0]]):
        sets.append(ColocatedSet(tuple(names), sum(mask.bit_count() * len(nodes[number]) for number, mask in places)))
        for number, mask in places if len(sets) <= MOST else ():
            for earlier, earlier_mask in holders.setdefault(number, []):
                if common := mask & earlier_mask:
                    totals[earlier, sets[-1]] += common.bit_count() * len(nodes[number])
            holders[number].append((sets[-1], mask))
    overlaps = [_overlap(first, second, amount) for (first, second), amount in totals.items()]
    inner = {(overlap.first, overlap.second) for overlap in overlaps if overlap.kind == WITHIN}
    indirect = {(first, second) for first, middle in inner for second in sets[:MOST] if (middle, second) in inner}
    direct = [overlap for overlap in overlaps if overlap.kind != WITHIN or (overlap.first, overlap.second) not in indirect]
    pending = {component.name for component in problem.hinted if "placement" not in component.spans}
    relations = tuple(dict.fromkeys(relation for relation in problem.job.relations if pending.intersection(relation.components)))
    return SharedAccelerators(tuple(sets), tuple(direct), min(len(sets), MOST), relations)


def _overlap(first: ColocatedSet, second: ColocatedSet, common: int) -> Overlap:
    if common == second.accelerators:
        first, second = second, first
    return Overlap(WITHIN if common == first.accelerators else PARTLY, first, second, common)
