"""Baseline: the file's own ranks, priced by the cost model of the plan."""

from __future__ import annotations

from dataclasses import replace
from typing import Iterator

from ..models.account import DECLARED, Baseline
from ..models.component import UNBOUNDED, Component
from ..models.findings.finding import Severity
from ..models.placements.assignment import Assignment
from ..models.planning.cost_models import CostModel
from ..models.planning.design import Design
from ..models.planning.option import Option
from ..models.planning.planned import CostedDesign, PlanningResult
from ..models.planning.problem import PlanningProblem
from ..models.problem import AMOUNT, Problem
from ..models.quantity import write_estimate, write_memory
from ..models.tied_degrees import as_written as as_written_degrees
from ..solver.choosing.lying_over import all_held
from ..solver.wording import join_names
from .assumptions import bases
from .benders import as_written
from .bills import bills
from .check import forbidden, no_option
from .costs import cost_design, cost_model
from .memory import without_estimates
from .own_design import NoPrice, design_of_ranks, find_refusal, runs_of, seats_of
from .problem import planning_problem, source_of
from .related import find_related
from .scope import keep_models
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
        question = planning_problem(file_problem)
    return baseline_of(file_problem, question, cost_model(result.model))


def baseline_of(problem: Problem, question: PlanningProblem, model: CostModel) -> Baseline:
    """Price the ranks that the file gives to the planned components."""
    spread = keep_models(problem)
    problem, question = spread, allow_groups_over_nodes(spread, question if spread is problem else planning_problem(spread))
    try:
        seats = seats_of(problem, question)
        design = design_of_ranks(problem, question, seats, model)
    except NoPrice as reason:
        return Baseline(None, problem, question, str(reason))
    assignment = Assignment({name: runs_of(problem, question, name) for name in seats})
    usage = all_held(problem, Assignment({**problem.build_given().runs, **assignment.runs})) if question.given.shared else None
    candidate = cost_design(model, question, design, Traffic(problem).nanoseconds(_ranks(problem)), usage)
    refusals, unknown, with_all_options = _with_options(problem, question, design)
    reasons = [*refusals, *problem.job.planning.own_faults, *_too_many(question, candidate)]
    asked_for, declared = as_declared(replace(_keep_demands(problem, with_all_options), barred=()), design)
    faults = tuple(forbidden(asked_for, model, declared))  # estimates of memory forbid nothing
    broken = () if reasons else tuple(_broken(problem, question, design))
    return Baseline(
        candidate, problem, question, forbidden=(*reasons, *faults) or broken or tuple(unknown), unclear=bool(unknown) and not (reasons or faults or broken),
        bases=bases(problem, question, design), over_estimates=tuple(list_overfilled(problem, question, design)),
    )  # fmt: skip


def _with_options(problem: Problem, question: PlanningProblem, design: Design) -> tuple[list[str], list[str], PlanningProblem]:
    """Return reasons against options of a design, unexplained ones, and the problem with all options."""
    options, refusals, missing, foreign = dict(question.options), list[str](), list[str](), set[str]()
    for name, option in design.options.items():
        if option.parallel not in problem.job.choices.get(name, (option.parallel,)):
            foreign.add(name)
        if option in options[name]:
            continue
        options[name] = (*options[name], option)
        if reason := find_refusal(problem, problem[name], option.amount, option.parallel):
            refusals.append(reason)
        else:
            missing.append(no_option(name, option))
    arrangements = tuple(  # pairs say of offered degrees alone what goes together
        replace(arrangement, paired=tuple(pair for pair in arrangement.paired if foreign.isdisjoint((pair.component, pair.partner))))
        for arrangement in question.ways
    )
    return refusals, missing, replace(question, options=options, ways=arrangements)


def _too_many(question: PlanningProblem, candidate: CostedDesign) -> Iterator[str]:
    """Yield a sentence if more accelerators are held than the budget allows."""
    most = question.budget.accelerators
    if most is not None and candidate.accelerators(question) > most + question.given.held >= candidate.design.all_accelerators(question):
        yield f"{candidate.accelerators(question)} accelerators are used, {most + question.given.held} may be"


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


def as_declared(question: PlanningProblem, design: Design) -> tuple[PlanningProblem, Design]:
    """Return problem and design with declared memory only."""
    options = {name: tuple(map(_declare, candidates)) for name, candidates in question.options.items()}
    return replace(question, options=options), replace(design, options={name: _declare(option) for name, option in design.options.items()})


def _declare(option: Option) -> Option:
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
