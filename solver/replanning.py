"""Replanning after a change: lost nodes, fewest moves, report of moves, and trade-offs."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Collection, Iterator, Sequence

from ..models.answer import IMPOSSIBLE, Solve
from ..models.component import Component
from ..models.findings.finding import Finding, error
from ..models.machines.changed import ranks_left, without_nodes
from ..models.machines.node_group import NODE
from ..models.placements.assignment import Assignment
from ..models.placements.moves import GroupMoves, Moves, Trade
from ..models.placements.plan import Plan, TermValue
from ..models.placements.run import Run
from ..models.placements.run_checks import carry_over, deal_round_robin
from ..models.problem import AMOUNT, Cap, Problem
from ..models.sharing import given_part
from .layout.bundle import unit
from .layout.previous import Members, Pieces, movable, pieces, remaining
from .objectives.counts import MissingAccelerators
from .objectives.moves import MoveTerm
from .objectives.preferred import SplitGroups
from .wording import nodes_called, some_of


def lose(problem: Problem, losses: Collection[int]) -> Problem:
    """Return the problem without lost nodes, with the remaining nodes renumbered.

    Explicit ranks on a lost node are removed (see `immovable`). Processes that the framework
    distributes over nodes are all kept, on as many remaining nodes as possible (see in_turn.py). A
    pin to lost nodes alone becomes empty. The file's own ranks of planned components are kept only
    for components that lost no node.
    """
    new_ranks, components = ranks_left(problem.cluster, losses), list[Component]()
    for component in problem.components:
        pins = tuple(replace(pin, nodes=tuple(new_ranks[rank] for rank in pin.nodes if rank in new_ranks)) for pin in component.pins)
        exclusions = tuple(new_ranks[rank] for rank in component.excluded if rank in new_ranks)
        runs = _renumber(component.runs, new_ranks) if component.runs is not None else None
        if component.name in problem.job.in_turn:
            runs = tuple(deal_round_robin(problem.build_given().world_size(component.name), len(new_ranks)))
        components.append(replace(component, pins=pins, excluded=exclusions, runs=runs))
    baseline = {
        name: _renumber(runs, new_ranks) for name, runs in problem.job.planning.own.items() if all(run.node in new_ranks for run in runs)
    }
    job = replace(problem.job, components=tuple(components), planning=replace(problem.job.planning, own=baseline))
    return replace(problem, cluster=without_nodes(problem.cluster, losses), job=job)


def _renumber(runs: Sequence[Run], new_ranks: dict[int, int]) -> tuple[Run, ...]:
    """Return the runs on remaining nodes, with new node ranks."""
    return tuple(replace(run, node=new_ranks[run.node]) for run in runs if run.node in new_ranks)


def immovable(problem: Problem, losses: Collection[int]) -> Iterator[Finding]:
    """Yield findings for what no search can move off lost nodes.

    These are explicit ranks, not those distributed by the framework, and components on accelerators
    if none is left.
    """
    cluster = without_nodes(problem.cluster, losses)
    for component in (c for c in problem.hinted if cluster.kind(c.node_groups) != problem.kind(c)):
        message = f"no node with accelerators is left for `{component.name}` without {nodes_called(problem.cluster, losses)}"
        yield error("PW609", component.name, message, component.span(AMOUNT), help="leave a node that has some")
        return
    holders, nodes = list[Component](), set[int]()
    for component in given_part(problem).components:
        lost_nodes = {run.node for run in component.runs or () if run.node in losses}
        if lost_nodes and component.name not in problem.job.in_turn:
            holders.append(component)
            nodes |= lost_nodes
    if not holders:
        return
    first, node_names = holders[0], nodes_called(problem.cluster, nodes)
    message = f"{some_of([f'`{component.name}`' for component in holders])} {'has' if len(holders) == 1 else 'have'} given ranks on {node_names}, which "
    message += "is lost" if len(nodes) == 1 else "are lost"
    lines = sorted({span.line for component in holders if (span := component.span("placement"))})
    notes = (f"the ranks are given in lines {some_of([str(line) for line in lines])}",) if len(lines) > 1 else ()
    key = "processes" if problem.kind(first) == NODE else "accelerators"
    assignment = problem.build_given()
    amount = assignment.world_size(first.name) if key == "processes" else assignment.amount(first.name)
    advice = f"give hints such as `{key}: {amount}` in the place of given ranks, so that the places are searched"
    yield error(
        "PW607", first.name, message, first.span("placement"), label=f"on {node_names}", help=advice, notes=notes,
        also=tuple(component.name for component in holders[1:]),
    )  # fmt: skip


def replan(problem: Problem, before: Plan) -> Problem:
    """Return the problem to be solved near a previous plan; nodes are matched by name.

    The previous plan may be of another cluster or job. A component with changed degrees cannot keep
    anything, so its previous placement is dropped.
    """
    previous, degrees = carry_over(before, problem.cluster), {component.name: component.parallel for component in problem.components}
    comparable = {
        name: runs
        for name, runs in previous.runs.items()
        if name in degrees and (name in problem.job.choices or before.degrees.get(name, degrees[name]) == degrees[name])
    }
    return replace(problem, previous=replace(previous, runs=comparable))


def moves(question: Problem, before: Plan, now: Plan) -> Moves:
    """Return the moves between a plan and a re-placement (see `after`)."""
    fixed_problem = _choose(question, now)
    set_moves = tuple(move for members in movable(fixed_problem) if (move := _find_moved(fixed_problem, members, before, now)).before)
    by_framework = tuple(
        _dealt(component.name, question, before, now) for component in question.components if component.name in question.job.in_turn
    )
    # The term also counts groups that end as the job shrinks; its gap to the bound is of moves.
    open_still = next((term.value - term.bound for term in now.terms if term.name == MoveTerm.name), 0)
    # Framework layouts and placements over explicit ranks are not searched for fewest moves.
    has_search = (question.job.planning.laying is None or question.job.planning.workload is None) and not question.job.overlaps
    fewest_moves = max(0, sum(move.moved for move in set_moves) - open_still) if has_search else 0
    process_moves = tuple(move for move in by_framework if move.before)
    term_values = tuple((term.name, term.value) for term in before.terms)
    return Moves((*set_moves, *process_moves), fewest_moves, term_values, traffic_first=_traffic_first(now))


def _traffic_first(plan: Plan) -> bool:
    """Return True if a term was minimised before the moves that otherwise comes later."""
    tier = next((term.tier for term in plan.terms if term.name == MoveTerm.name), 0)
    return any(term.tier < tier and term.name not in (MissingAccelerators.name, SplitGroups.name) for term in plan.terms)


def _choose(question: Problem, plan: Plan) -> Problem:
    """Return the question with the degrees of the plan."""
    problem = question.with_fields({name: {"parallel": degrees} for name, degrees in plan.degrees.items()})
    return replace(problem, job=replace(problem.job, choices={}))


def _find_moved(problem: Problem, members: Members, before: Plan, now: Plan) -> GroupMoves:
    size = unit(problem, members)
    running = pieces(problem, members, before.assignment)
    old = pieces(problem, members, problem.previous) if problem.previous else Pieces({}, {}, 0)
    remnants, new = remaining(problem, members, old).at, pieces(problem, members, now.assignment).at
    kept_pieces = [piece for piece in remnants if piece in new]
    amount = max(now.assignment.amount(component.name) for component in members) // size
    name = "+".join(component.name for component in members)
    renumber_count = sum(remnants[piece] != new[piece] for piece in kept_pieces)
    return GroupMoves(name, size, running.count, amount, running.count - len(remnants), len(kept_pieces), renumber_count)


def _dealt(name: str, question: Problem, before: Plan, now: Plan) -> GroupMoves:
    """Return the moves of interchangeable processes that the framework distributes."""
    old, new = _nodes(question.previous, name) if question.previous else {}, _nodes(now.assignment, name)
    old_counts, new_counts = Counter(old.values()), Counter(new.values())
    same = sum(new.get(rank) == node for rank, node in old.items())
    count, kept_count = before.assignment.world_size(name), sum((old_counts & new_counts).values())
    return GroupMoves(name, 1, count, len(new), count - len(old), kept_count, max(0, kept_count - same))


def _nodes(assignment: Assignment, name: str) -> dict[int, int]:
    """Return process -> node."""
    return {rank: run.node for run in assignment.of(name) for rank in run.ranks}


def with_trade(question: Problem, moves: Moves, plan: Plan, solve: Solve) -> Moves:
    """Return the moves with a trade: the fewest moves that reduce the most important cost.

    Costs are tried in order of importance, while more important ones may not increase: the same
    problem is solved with this cap, fewest moves first. `question` is the problem that the plan
    answers.
    """
    caps: list[Cap] = []
    # A term before the moves that is not at its bound because of a cap on moves may still decrease.
    is_proved = not any(name == MoveTerm.name for cap in question.caps for name, _ in cap.terms) and _earlier_are_least(plan)
    for terms in _tiers_after_moves(plan):
        names = tuple((term.name, term.weight // min(candidate.weight for candidate in terms)) for term in terms)
        now = sum(cost * term.value for (_, cost), term in zip(names, terms))
        if now > 0:
            answer = solve(replace(question, caps=(*question.caps, *caps, Cap(names, now - 1))))
            if answer.plan is not None:
                return replace(moves, trade=_trade(terms, answer.plan))
            is_proved = is_proved and answer.verdict == IMPOSSIBLE
        caps.append(Cap(names, now))
    return replace(moves, no_trade=is_proved)


def _earlier_are_least(plan: Plan) -> bool:
    """Return True if all terms before the moves are proved optimal."""
    first = next((term.tier for term in plan.terms if term.name == MoveTerm.name), 0)
    return all(term.value == term.bound for term in plan.terms if term.tier < first and term.weight)


def _tiers_after_moves(plan: Plan) -> list[list[TermValue]]:
    """Return the terms with a weight per tier after the moves."""
    first = next((term.tier for term in plan.terms if term.name == MoveTerm.name), None)
    later = [term for term in plan.terms if first is not None and term.tier > first and term.weight]
    return [[term for term in later if term.tier == tier] for tier in sorted({term.tier for term in later})]


def _trade(terms: Sequence[TermValue], plan: Plan) -> Trade:
    """Return the trade of the term with the largest weighted reduction."""
    values = {term.name: term.value for term in plan.terms}
    best = max(terms, key=lambda term: term.weight * (term.value - values.get(term.name, 0)))
    return Trade(values.get(MoveTerm.name, 0), best.name, best.value - values.get(best.name, 0))
