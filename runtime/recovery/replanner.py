"""A new plan after nodes were lost, near the plan before."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import combinations
from math import gcd
from typing import Callable, Collection, Iterator

from ...models.answer import IMPOSSIBLE, Answer
from ...models.component import COLOCATED, SUBSET, Component, Parallel, Relation
from ...models.findings.finding import UnusableInput
from ...models.job import Capabilities, Job
from ...models.machines.cluster import Cluster
from ...models.machines.node_group import ACCELERATOR, NODE
from ...models.placements.moves import Moves
from ...models.placements.plan import Plan
from ...models.problem import Problem
from ...models.reading import Reading
from ..failure import LaunchFailed
from .restarts import NO_ROOM_HELP, final_failure

GROUP_SIZES = (1, 2, 4, 8)

Masks = dict[tuple[int, str], int]


def immovable(plan: Plan, problem: Problem | None) -> list[str]:
    """Return the components whose ranks are given: a lost node under them is not replaced."""
    return sorted((problem or problem_of_plan(plan)).build_given().runs)


def problem_of_plan(plan: Plan) -> Problem:
    """Derive the most open problem that this plan solves.

    Every component requests as many resources as it has, in processes of the same size, of the same
    node groups. A plan tells tensor parallel groups only if they were a choice; otherwise up to
    eight accelerators that share a node throughout the component stay on one node (see `without_guesses`).
    Components on the same accelerators stay together, and a component within another stays within
    it. Given ranks remain for everything else: processes of different sizes, on several nodes or on
    a part of a resource, and components that overlap in part.
    """
    masks = {name: plan.assignment.masks(name) for name in plan.components}
    fixed_names = _find_fixed(plan, masks)
    components = tuple(
        Component(name, _node_groups(plan, name), runs=plan.assignment.of(name), cpus=plan.cpus.get(name, 0))
        if name in fixed_names
        else _component(plan, name)
        for name in plan.components
    )
    open_relations = tuple(relation for relation in _relations(masks) if not fixed_names.intersection(relation.components))
    return Problem(plan.cluster, Job(components, open_relations, Capabilities(shares_accelerators=True)))


def _find_fixed(plan: Plan, masks: dict[str, Masks]) -> set[str]:
    """Return the components with given ranks, and all that share accelerators with them."""
    fixed_names = {name for name in masks if not _even(plan, name)}
    for first, second in combinations(masks, 2):
        if _overlap(masks[first], masks[second]) and not (_within(masks[first], masks[second]) or _within(masks[second], masks[first])):
            fixed_names |= {first, second}
    while additional := {
        name for name in masks.keys() - fixed_names if any(_overlap(masks[name], masks[second]) for second in fixed_names)
    }:
        fixed_names |= additional
    return fixed_names


def _component(plan: Plan, name: str) -> Component:
    runs = plan.assignment.of(name)
    first = runs[0]
    amount = plan.assignment.world_size(name) if first.kind == NODE else plan.assignment.amount(name)
    return Component(
        name, _node_groups(plan, name), least=amount, most=amount, per_process=max(1, first.each),
        parallel=plan.degrees.get(name) or Parallel(tp=_count_together(plan, name)), cpus=plan.cpus.get(name, 0),
    )  # fmt: skip


def without_guesses(problem: Problem, plan: Plan) -> Problem:
    """Remove the guesses of `problem_of_plan`: only node locality stated in the plan remains."""
    components = tuple(replace(component, parallel=plan.degrees.get(component.name, Parallel())) for component in problem.components)
    return replace(problem, job=replace(problem.job, components=components))


def _count_together(plan: Plan, name: str) -> int:
    """Return the largest size whose consecutive groups each lie on a single node."""
    runs = plan.assignment.of(name)
    if runs[0].kind != ACCELERATOR:
        return 1
    ends = [run.ranks.stop * run.each for run, following in zip(runs, (*runs[1:], None)) if following is None or following.node != run.node]
    return max(size for size in GROUP_SIZES if gcd(*ends) % size == 0)


def _node_groups(plan: Plan, name: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(run.node_group for run in plan.assignment.of(name)))


def _even(plan: Plan, name: str) -> bool:
    """Return True if all processes have equal exclusive resources, each on a single node."""
    runs = plan.assignment.of(name)
    if len({(run.each, run.kind) for run in runs}) > 1 or any(len(run.ranks) == 0 for run in runs):
        return False
    if sum(len(run.ranks) for run in runs) != plan.assignment.world_size(name):
        return False
    return runs[0].kind == NODE or plan.assignment.count_held(name, runs[0].kind) == plan.assignment.amount(name)


def _relations(masks: dict[str, Masks]) -> Iterator[Relation]:
    """Yield colocations with an earlier component, and subset relations."""
    first: dict[tuple[tuple[tuple[int, str], int], ...], str] = {}
    for name, component_masks in masks.items():
        if not any(kind == ACCELERATOR for _, kind in component_masks):
            continue
        key = tuple(sorted(component_masks.items()))
        if key in first:
            yield Relation(COLOCATED, (first[key], name))
            continue
        first[key] = name
        around = [candidate for candidate in masks if masks[candidate] != component_masks and _within(component_masks, masks[candidate])]
        if around:
            yield Relation(SUBSET, (name, min(around, key=lambda candidate: sum(map(int.bit_count, masks[candidate].values())))))


def _within(inner: Masks, outer: Masks) -> bool:
    return all(not mask & ~outer.get(place, 0) for place, mask in inner.items())


def _overlap(first: Masks, second: Masks) -> bool:
    return any(mask & second.get(place, 0) for place, mask in first.items() if place[1] == ACCELERATOR)


Search = Callable[[Problem], Answer]


def solve_in_child(problem: Problem, reading: Reading | None = None) -> Answer:
    """Solve a problem in a separate process, which protects the launch.

    Counts and degrees chosen by time are chosen anew; plans that the framework refuses for the
    file, if known, are excluded.
    """
    from ...planner.answer import Solver
    from ...planner.write_back import refusing
    from ...solver.sandbox.solve import solve
    from ...solver.searching.search import LIMIT
    from ...solver.session import Session

    elsewhere = reading.session.elsewhere if reading else None
    with Session() as session:
        place = partial(solve, session=session)
        return Solver(place, LIMIT, session=session, refuses=refusing(reading), elsewhere=elsewhere)(problem)


class Replanner:
    """Repeated solver of a problem on the nodes that are left.

    Without a problem it is derived from the plan, with guesses of node locality; if only these
    prevent a placement, they are dropped. A framework's `file` is read again where its ranks are given.
    """

    def __init__(self, plan: Plan, problem: Problem | None, search: Search, file: Reading | None = None) -> None:
        self.problem = problem_of_plan(plan) if problem is None else problem
        self._guessed = problem is None
        self._search = search
        self._file = file

    def replan(self, before: Plan, cluster: Cluster, reachable: Collection[str], failure: LaunchFailed) -> tuple[Plan, Moves]:
        """Return (plan with the fewest moves, moves) on the named nodes of a cluster."""
        problem = replace(self.problem, cluster=cluster)
        file = self._file and replace(self._file, machines=cluster)
        try:
            plan, plan_moves = replan(problem, before, reachable, self._search, failure, file)
        except LaunchFailed:
            if not self._guessed:
                raise
            plan, plan_moves = replan(without_guesses(problem, before), before, reachable, self._search, failure)
        return replace(plan, cluster=_as_known(plan.cluster, self.problem.cluster)), plan_moves


def replan(
    problem: Problem, before: Plan, reachable: Collection[str], search: Search, failure: LaunchFailed, file: Reading | None = None
) -> tuple[Plan, Moves]:  # fmt: skip
    """Return the plan with the fewest moves on the named nodes, and the moves.

    Raises LaunchFailed (PW714, with `failure` and the solver's findings) if there is none.
    """
    from ...planner.placing import decide
    from ...solver.pricing.changes import stay_near_plan
    from ...solver.replanning import moves

    lost_names = [node.name for node in problem.cluster.nodes if node.name not in reachable]
    if not reachable:
        raise final_failure(failure, "no node of its cluster is left", NO_ROOM_HELP)
    try:
        question = stay_near_plan(problem, before, lost_names, file)
    except UnusableInput as refusal:
        words, help = _explain_no_fit(problem.cluster, reachable), NO_ROOM_HELP
        if any(finding.code == "PW607" for finding in refusal.findings):
            words, help = "ranks are given on lost nodes", "write hints in the place of given ranks"
        raise final_failure(failure, words, help, refusal.findings) from None
    answer = search(question)
    if answer.plan is None:
        words = _explain_no_fit(problem.cluster, reachable) if answer.verdict == IMPOSSIBLE else "no placement was found in time"
        raise final_failure(failure, words, NO_ROOM_HELP, answer.findings)
    return answer.plan, moves(decide(question, answer), before, answer.plan)


def _explain_no_fit(cluster: Cluster, reachable: Collection[str]) -> str:
    count, shared_nodes = len(reachable), sum(node.name in reachable and bool(node.taken) for node in cluster.nodes)
    shared_text = f", {shared_nodes} of them with accelerators of other jobs" if shared_nodes else ""
    return f"its components fit no longer on the {f'{count} nodes that are' if count > 1 else 'node that is'} left of {len(cluster.nodes)}{shared_text}"


def _as_known(cluster: Cluster, original: Cluster) -> Cluster:
    """Restore the file's own taken accelerators: current use by others is not a part of a plan."""
    masks = {node.name: node.taken for node in original.nodes}
    if all(node.taken == masks[node.name] for node in cluster.nodes):
        return cluster
    return replace(cluster, nodes=tuple(replace(node, taken=masks[node.name]) for node in cluster.nodes))
