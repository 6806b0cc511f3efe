"""Baseline: the file's own ranks, priced by the cost model of the plan."""

from __future__ import annotations

from dataclasses import replace
from typing import Iterator, Mapping, Sequence

from ..models.account import DECLARED, Baseline
from ..models.component import UNBOUNDED, Component
from ..models.findings.finding import Severity
from ..models.findings.wording import are, with_noun
from ..models.memory.work import not_whole, whole_groups
from ..models.parallel import Parallel
from ..models.placements.assignment import Assignment, Seat
from ..models.placements.run import Run
from ..models.planning.cost_models import CostModel, iteration
from ..models.planning.design import Block, Design
from ..models.planning.option import NO_KIND, Option
from ..models.planning.planned import PlanningResult
from ..models.planning.problem import PlanningProblem
from ..models.problem import AMOUNT, Problem
from ..models.quantity import write_estimate, write_memory
from ..models.tied_degrees import as_written as as_written_degrees
from ..solver.choosing.lying_over import all_held
from ..solver.rules.amounts import EvenShares, format_demand
from ..solver.wording import join_names
from .benders import as_written
from .bills import bases, bills
from .capacity import timed_model
from .check import forbidden, no_option
from .costs import cost_design, cost_model
from .memory import without_estimates
from .problem import find_related, holds_accelerators, planning_problem, source_of
from .profile import build_option
from .scope import keep_models
from .search.structures import segmentations
from .times import time_of
from .traffic import Traffic


def baseline_of_file(problem: Problem, result: PlanningResult) -> Baseline | None:
    """Return the baseline by the ranks of the file; None without ranks."""
    if not problem.job.planning.own:
        return None
    file_problem, question = problem, result.question
    if result.parts or question.scope.over_kinds:  # its degrees and models may be others than those of the plan
        source = source_of(question)
        without_limits = without_estimates(problem) if source is not None and not source.workload.heeds_estimates else None
        file_problem = as_written_degrees(without_limits or problem)
        choices = problem.job.choices.items()
        foreign = {name: offers for name, offers in choices if problem.own_degrees(problem[name]) not in offers}
        file_problem = replace(file_problem, job=replace(file_problem.job, choices={**file_problem.job.choices, **foreign}))
        question = _own_part(problem, result) or planning_problem(file_problem)
    return baseline_of(file_problem, question, cost_model(result.model))


def _own_part(problem: Problem, result: PlanningResult) -> PlanningProblem | None:
    """Return the answered question with the degrees of the file, if there is one."""
    degrees = {name: problem.own_degrees(problem[name]) for name in problem.job.leaders}

    def has_own(question: PlanningProblem) -> bool:
        return all(option.parallel == parallel for name, parallel in degrees.items() for option in question.options.get(name, ()))

    return next(filter(has_own, result.parts), None) if not result.question.scope.over_kinds else None


def baseline_of(problem: Problem, question: PlanningProblem, model: CostModel) -> Baseline:
    """Price the ranks that the file gives to the planned components."""
    spread = keep_models(problem)
    problem, question = spread, allow_groups_over_nodes(spread, question if spread is problem else planning_problem(spread))
    try:
        assignment = ranks_of(problem, question)
        design = design_of_ranks(problem, question, assignment, model)
    except NoPrice as reason:
        return Baseline(None, problem, question, str(reason))
    usage = all_held(problem, Assignment({**problem.build_given().runs, **assignment.runs})) if question.given.shared else None
    candidate = cost_design(model, question, design, Traffic(problem).nanoseconds(_ranks(problem)), usage)
    refusals, unknown, with_all_options = _with_options(problem, question, design)
    reasons, most, usage_count = (
        [*refusals, *problem.job.planning.own_faults],
        question.budget.accelerators,
        candidate.accelerators(question),
    )
    if most is not None and usage_count > most + question.given.held >= design.all_accelerators(question):
        reasons.append(f"{usage_count} accelerators are used, {most + question.given.held} may be")
    demand_problem = replace(_keep_demands(problem, with_all_options), barred=())
    all_options = {name: tuple(map(_declare, candidates)) for name, candidates in demand_problem.options.items()}
    declared = replace(design, options={name: _declare(option) for name, option in design.options.items()})
    faults = tuple(forbidden(replace(demand_problem, options=all_options), model, declared))
    broken = () if reasons else tuple(_broken(problem, question, design))
    return Baseline(
        candidate, problem, question, forbidden=(*reasons, *faults) or broken or tuple(unknown), unclear=bool(unknown) and not (reasons or faults or broken),
        bases=bases(problem, question, design), over_estimates=tuple(list_overfilled(problem, question, design)),
    )  # fmt: skip


def _with_options(problem: Problem, question: PlanningProblem, design: Design) -> tuple[list[str], list[str], PlanningProblem]:
    """Return reasons against options of a design, unexplained ones, and the problem with all options."""
    options, refusals, missing = dict(question.options), list[str](), list[str]()
    for name, option in design.options.items():
        if option in options[name]:
            continue
        options[name] = (*options[name], option)
        if reason := find_refusal(problem, problem[name], option.amount, option.parallel):
            refusals.append(reason)
        else:
            missing.append(no_option(name, option))
    return refusals, missing, replace(question, options=options)


def _keep_demands(problem: Problem, question: PlanningProblem) -> PlanningProblem:
    """Return the problem without relations that only guide a plan.

    Relations that keep untimed components in place go, and what follows from them, unless they are
    demanded too. A component that had to be inside another for that reason may then lie anywhere.
    """
    relations = tuple(relation for relation in problem.job.relations if not relation.proposed)
    if len(relations) == len(problem.job.relations):
        return question
    bare = replace(problem, job=replace(problem.job, relations=relations))
    demand = find_related(bare, [bare[name] for name in question.components])
    same = {frozenset(pair) for pair in demand.together}
    pairs = frozenset(pair for pair in question.sharing.together if frozenset(pair) in same)
    names = {name for relation in problem.job.relations if relation.proposed for name in relation.components if problem[name].timed is None}
    return replace(
        question,
        sharing=replace(
            question.sharing,
            together=pairs,
            within=question.sharing.within & demand.within,
            inside=question.sharing.within - demand.within,
            alone=question.sharing.alone - names,
        ),
    )


def _broken(problem: Problem, question: PlanningProblem, design: Design) -> Iterator[str]:
    """Yield the rules broken by the ranks of an admissible design."""
    from ..solver.check import check_explicit

    for finding in check_explicit(as_written(problem, question, design)):
        if finding.severity is Severity.ERROR:
            yield f"{finding.code}: {finding.message}"


def _ranks(problem: Problem) -> Assignment:
    """Return the ranks in the file: those of open components, and given ones."""
    file_runs = problem.job.planning.own
    return Assignment({part.name: ranks for part in problem.components if (ranks := file_runs.get(part.name) or part.runs)})


def open_component(component: Component) -> Component:
    """Return the component without its ranks; without other hints any count is open."""
    if AMOUNT in component.spans:
        return replace(component, runs=None)
    return replace(component, runs=None, least=1, most=UNBOUNDED, counts=())


def _declare(option: Option) -> Option:
    """Return the option with declared memory only: estimates forbid nothing."""
    return replace(option, memory=0, kept=0, estimated=False) if option.estimated else option


def list_overfilled(problem: Problem, question: PlanningProblem, design: Design) -> Iterator[str]:
    """Yield the accelerators that the highs of estimates overfill."""
    for bill in bills(problem, question, design, _ranks(problem)):
        declared_needs = (sum(entry.mebibytes for entry in moment.entries if entry.origin == DECLARED) for moment in bill.moments)
        if bill.tight and bill.capacity is not None and max(declared_needs, default=0) <= bill.capacity:
            need = max(moment.demanded for moment in bill.moments)
            names = join_names(list(bill.block.components))
            yield f"{names} may need {write_estimate(need)} of an accelerator, and it has {write_memory(bill.capacity)}"


def allow_groups_over_nodes(problem: Problem, question: PlanningProblem) -> PlanningProblem:
    """Return the problem with counts for groups over nodes, unless the framework refuses them."""
    if not problem.job.capabilities.groups_may_cross:
        return question
    wide = planning_problem(problem, over_nodes=True)
    options = {}
    for name, candidates in question.options.items():
        present = {(option.kind, option.amount, option.parallel) for option in candidates}
        more = (option for option in wide.options[name] if (option.kind, option.amount, option.parallel) not in present)
        options[name] = (*candidates, *more)
    return replace(question, options=options, areas=wide.areas)


Seats = Mapping[str, frozenset[Seat]]


class NoPrice(Exception):
    """Missing price of a placement; the message is a sentence."""


def ranks_of(problem: Problem, question: PlanningProblem) -> Assignment:
    """Return the ranks of all components with accelerators. Raises NoPrice for a file without ranks."""
    return Assignment({name: runs_of(problem, question, name) for name in question.components if holds_accelerators(problem, name)})


def runs_of(problem: Problem, question: PlanningProblem, name: str) -> Sequence[Run]:
    """Return the runs of a component, or of its stand-in. Raises NoPrice."""
    runs = problem.job.planning.own.get(name) or problem[name].runs
    if runs is None:  # those of a component that the framework starts instead
        own, pairs = problem.job.planning.own, [sorted(way.together) for way in question.ways if name in way.without]
        members = (member for way in pairs for pair in way if name in pair for member in pair if member != name)
        runs = next((own[member] for member in members if member in own), None)
    if runs is None:
        raise NoPrice(f"the file gives no ranks of `{name}` on these nodes")
    return runs


def design_of_ranks(problem: Problem, question: PlanningProblem, assignment: Assignment, model: CostModel) -> Design:
    """Return the design of the file's ranks by held accelerators. Raises NoPrice."""
    seats = {name: own_seats for name in assignment.runs if (own_seats := assignment.accelerators(name))}
    kinds, degrees = _kinds(problem, question, seats), {name: problem.own_degrees(problem[name]) for name in question.components}
    arrangement = next((arrangement for arrangement in question.ways if arrangement.matches(seats)), None)
    for name, shape in arrangement.shapes.items() if arrangement is not None else ():
        if all(name in arrangement.shapes for arrangement in question.ways):
            degrees[name] = shape.parallel
    options = {name: _option(problem, question, kinds, name, seats.get(name, frozenset()), parallel) for name, parallel in degrees.items()}
    users: dict[tuple[int, tuple[str, ...]], int] = {}
    for seat in sorted(set().union(*seats.values())):
        key = (kinds[seat], tuple(name for name, own_seats in seats.items() if seat in own_seats))
        users[key] = users.get(key, 0) + 1
    blocks = tuple(Block(kind, count, names) for (kind, names), count in users.items())
    cuts = segmentations(question, model, tuple(block.components for block in blocks))
    designs = [Design(blocks, options, segments) for segments in cuts]
    if not designs:
        raise NoPrice("its components cannot take turns in the order of the workflow")
    return min(designs, key=lambda design: iteration(model, question, design))


def _kinds(problem: Problem, question: PlanningProblem, seats: Seats) -> Mapping[Seat, int]:
    """Return the kind of each accelerator. Raises NoPrice if it is open to no component, or a component is on several kinds."""
    kinds: dict[Seat, int] = {}
    for name, own_seats in seats.items():
        nodes = {seat: problem.cluster.nodes[seat[0]] for seat in sorted(own_seats)}
        for seat, node in nodes.items():
            kind = question.kind_of(node.accelerator_model, node.accelerator_memory)
            if kind is None:
                raise NoPrice(f"`{node.name}` has no accelerator that is free")
            kinds[seat] = kind
        if len({kinds[seat] for seat in own_seats}) > 1:
            models = dict.fromkeys(node.accelerator_model for node in nodes.values())
            raise NoPrice(f"`{name}` is on {join_names(list(models))}, which only `scope: [heterogeneous]` compares")
    return kinds


def _option(
    problem: Problem, question: PlanningProblem, kinds: Mapping[Seat, int], name: str, seats: frozenset[Seat], parallel: Parallel
) -> Option:
    """Return a component's option by its ranks, offered or not. Raises NoPrice."""
    component, options = problem[name], question.options[name]
    if not seats and component.runs is None:
        return min(options, key=lambda option: option.nanoseconds)
    kind, amount = (kinds[min(seats)], len(seats)) if seats else (NO_KIND, Assignment({name: component.runs or ()}).world_size(name))
    parallel = parallel if seats else component.parallel  # on other resources, with its given processes
    for option in options:
        if (option.kind, option.amount, option.parallel) == (kind, amount, parallel):
            return option
    model = timed_model(problem, component, question.kinds[kind] if kind != NO_KIND else None)
    phases = [question.tasks[task].phase for task in question.tasks_of[name]]
    times = [time_of(component.timed, phase, amount, parallel, model) if component.timed else None for phase in phases]
    is_undivided = problem.divide(name, parallel) != parallel
    bare_option = Option(kind, amount, parallel, (), component.memory, component.offloaded, undivided=is_undivided)
    built = build_option(bare_option, times, question.flow.batches)
    if built is None:
        raise NoPrice(describe_untimed(problem, component, phases[times.index(None)], amount, parallel, model))
    return built


def find_refusal(problem: Problem, component: Component, amount: int, parallel: Parallel) -> str:
    """Return the first reason against a count with these degrees; "" if unknown."""
    for share in problem.shares:
        if share.component == component.name and not share.divides(amount // component.per_process):
            assignment = Assignment({component.name: problem.job.planning.own.get(component.name) or component.runs or ()})
            for finding in EvenShares().check(problem, share, assignment):
                return finding.message
    if not component.may_have(amount):
        return f"`{component.name}` is to have {format_demand(component, 'accelerator')}, not {amount}"
    choices = problem.job.choices.get(component.name, (parallel,))
    if parallel not in choices:
        return f"`{component.name}` is to have {' or '.join(map(str, choices))}, not {parallel}"
    accepted_pairs = problem.job.planning.accepted.get(component.name)
    if accepted_pairs is not None and (amount, parallel) not in accepted_pairs:
        runs = f"the framework does not run `{component.name}` on {amount} with {parallel}"
        return f"{runs}: pools, batches or replicas do not divide so, see `verify --level training`"
    division = problem.divide(component.name, parallel)
    if remainder := amount % division.replica:
        whole = f"plans are of whole replicas, and {with_noun(remainder, 'accelerator')} {are(remainder)} left"
        return f"the {with_noun(amount, 'accelerator')} of `{component.name}` {are(amount)} not a multiple of {division}: {whole}"
    if not whole_groups(component.divided_among, amount, division):
        return not_whole(component.name, amount // (division.tp * division.pp), component.divided_among)
    times = component.timed
    replicas = amount // division.replica
    if times and times.samples and (not replicas or times.samples % replicas):
        return f"{times.samples} samples do not divide among the {replicas} replicas of `{component.name}`"
    return ""


def describe_untimed(problem: Problem, component: Component, phase: str, amount: int, parallel: Parallel, model: str) -> str:
    """Return the missing time as a sentence."""
    message = f"there are no seconds of `{component.name}` on {amount}"
    if reason := find_refusal(problem, component, amount, parallel):
        return f"{message}: {reason}"
    times = component.timed
    every = dict.fromkeys(measurement.parallel for measurement in times.measured if measurement.parallel is not None) if times else {}
    other_degrees = [
        str(degrees) for degrees in every if times and degrees != parallel and time_of(times, phase, amount, degrees, model) is not None
    ]
    return f"{message} with {parallel}: its times there are of {join_names(other_degrees)}" if other_degrees else message
