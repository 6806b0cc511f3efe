"""Account of a plan as JSON data, in seconds and MiB."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, Mapping, Sequence

from ...models.account import (
    BEYOND,
    ESTIMATED,
    HUNDRED,
    Account,
    Baseline,
    Basis,
    BlockBill,
    BusyInterval,
    PlanChange,
    Sensitivity,
    Usage,
    models_of,
)
from ...models.memory.terms import MemoryTerm, mebibytes
from ...models.planning.design import Block, Design
from ...models.planning.option import NO_KIND
from ...models.planning.planned import CostedDesign, PlanningResult
from ...models.planning.problem import PlanningProblem
from ...models.planning.workload import SECOND, SECONDS
from ..json import attributes


def to_data(account: Account) -> Data:
    """Convert the whole account; unknown and unasked values are left out."""
    result, question = account.planned, account.planned.question
    data: Data = {
        "given": account.given,
        "cost_model": result.model,
        "source": account.source,
        "batches": question.flow.batches,
        "minimise": question.aim,
        "proved": result.proved,
        **({"extrapolated": names} if (names := sorted({basis.task.component for basis in account.bases if basis.kind == BEYOND})) else {}),
        **({"ties_open": True} if result.ties_open else {}),
        **({"left_out_of_scope": list(question.scope.left_out)} if question.scope.left_out else {}),
        "bound": result.bound / SECOND if question.aim == SECONDS else result.bound,
        "arrangements": {"all": result.structures[0], "searched": result.structures[1]},
        **priced_data(question, result.best),
        "adds": {str(task): time / SECOND for task, time in account.shares.items()},
        "usage": [_usage(question, usage) for usage in account.usages],
        "memory": [_bill(bill) for bill in account.bills],
        "rests_on": [_basis(basis, account.given) for basis in account.bases],
        "assumed": list(account.assumed),
        "others": [
            {
                **priced_data(question, alternative.priced),
                "placed": alternative.priced not in result.not_placed,
                **({"traffic_known": False} if account.given and result.best.traffic and alternative.priced in result.not_placed else {}),
                "adds_more": {str(task): time / SECOND for task, time in alternative.adds},
            }
            for alternative in account.alternatives
        ],
        "not_placeable": [
            {
                **priced_data(design.question or question, design.priced),
                "why": [finding.message for finding in design.reason],
                "proved": not any(finding.code == "PW604" for finding in design.reason),
            }
            for design in result.unplaceable
        ],
    }
    if account.resources:
        data["resources"] = dict(account.resources)
    if question.flow.rounds:
        data["rounds"] = [[str(question.tasks[task]) for task in sorted(cycle)] for cycle in question.flow.rounds]
    arrangement = result.best.design.way(question)
    if arrangement is not None and arrangement.without:
        data["not_started"] = {"components": sorted(arrangement.without), "where": arrangement.name}
    if result.filled:
        needs = result.compared.options
        data["filled"] = {name: {"needs": needs[name].amount, "asked_at_most": most} for name, most in result.filled.items()}
    if result.without_estimates is not None:
        data["without_estimates"] = priced_data(result.without_question or question, result.without_estimates)
    if account.own is not None or account.given:
        data["keep"], data["is_own"] = account.keeps, account.given or result.is_own
    if pairs := result.best.design.overlapping:
        data["overlapping"] = [list(pair) for pair in pairs]  # no other such design is searched
    if account.own is not None:
        data["yours"] = _own(result, account.own)
    if account.sensitivity is not None:
        data["sensitivity"] = sensitivity_data(question, account.sensitivity)
    return data


def _usage(question: PlanningProblem, usage: Usage) -> Data:
    """Convert usage; idle time is left out beside components without times."""
    return {
        **({"block": usage.block} if usage.block is not None else {"component": usage.components[0]}),
        "part": usage.segment, "seconds": usage.nanoseconds / SECOND,
        **({"without_seconds": list(usage.untimed)} if usage.untimed else {"idle": usage.idle / SECOND}),
        "works": [_turn(question, turn) for turn in usage.turns],
    }  # fmt: skip


def _turn(question: PlanningProblem, turn: BusyInterval) -> Data:
    when = {} if turn.begins is None or turn.ends is None else {"begins": turn.begins / SECOND, "ends": turn.ends / SECOND}
    return {"task": str(question.tasks[turn.task]), "seconds": turn.works / SECOND, **when}


def _bill(bill: BlockBill) -> Data:
    parts = [
        {
            "part": moment.segment,
            **({"phase": moment.phase} if moment.segment is None else {}),
            "mebibytes": moment.mebibytes,
            "components": [
                attributes(entry, "component", "mebibytes", "state", "origin") | ({"high": entry.high} if entry.origin == ESTIMATED else {})
                for entry in moment.entries
            ],
        }
        for moment in bill.moments
    ]
    names, estimates = list(bill.block.components), terms(bill)
    return {
        "components": names, "capacity": bill.capacity, "peak": bill.peak.mebibytes, "parts": parts,
        **({"models": list(bill.models)} if bill.models else {}), **({"estimates": estimates} if estimates else {}),
    }  # fmt: skip


def _basis(basis: Basis, given: bool) -> Data:
    """Convert the basis of a time; with all ranks `given`, degrees are not as written."""
    return {
        "task": str(basis.task), "resources": basis.amount, "seconds": basis.nanoseconds / SECOND, "kind": basis.kind,
        **({"low": basis.bounds[0] / SECOND, "high": basis.bounds[1] / SECOND} if basis.bounds else {}),
        "counts": list(basis.counts), "scaling": basis.scaling or None, "beyond": round(basis.beyond, 2),
        **({"measured_with": list(basis.named)} if basis.named else {}),
        "any_degrees": bool(basis.any_degrees), "any_model": basis.any_model,
        **({"as_written": basis.as_written and not given} if basis.any_degrees else {}),
        **({"slowest": basis.slowest, "models": list(basis.several)} if basis.several else {}),
    }  # fmt: skip


def _own(result: PlanningResult, baseline: Baseline) -> Data:
    if baseline.priced is None:
        return {"why_not": baseline.why_not}
    over = baseline.over(result.best)
    rests = [_basis(basis, False) for basis in baseline.bases]
    pairs = baseline.priced.design.overlapping
    overlap = {"overlapping": [list(pair) for pair in pairs]} if pairs else {}
    large = {"over_estimates": list(baseline.over_estimates)} if baseline.over_estimates else {}
    return {
        **priced_data(baseline.question, baseline.priced), "over": over, "forbidden": list(baseline.forbidden), **large, "rests_on": rests, **overlap,
    }  # fmt: skip


Data = dict[str, object]


def priced_data(question: PlanningProblem, candidate: CostedDesign) -> Data:
    """Convert a design with its price in seconds."""
    design = candidate.design
    models = {**question.scope.confined, **models_of((question,), design), **candidate.models}
    return {
        "seconds": candidate.total / SECOND,
        **({"traffic": candidate.traffic / SECOND} if candidate.traffic else {}),
        "accelerators": (count := candidate.accelerators(question)),
        **({"by_given_ranks": by_fixed_ranks} if (by_fixed_ranks := count - design.accelerators) else {}),
        "parts": [time / SECOND for time in candidate.segments],
        "components": {name: _component(question, design, name, models.get(name, ())) for name in question.components},
        "blocks": [_block(question, block, models) for block in design.blocks],
    }


def _component(question: PlanningProblem, design: Design, name: str, models: Sequence[str]) -> Data:
    option, runs = design.options[name], design.option_of_work(question, name)
    tasks = question.tasks_of[name]
    amount = "accelerators" if option.kind != NO_KIND else "resources"
    return {
        amount: option.amount,
        **(_models(models or question.kinds[option.kind].named) if option.kind != NO_KIND else {}),
        "parallel": asdict(runs.parallel),
        "replicas": runs.replicas,
        "tasks": [
            {"phase": question.tasks[task].phase, "seconds": design.nanoseconds(question, task) / SECOND, "part": design.segments[task]}
            for task in tasks
        ],
        "extrapolated": option.extrapolated,
    }


def _block(question: PlanningProblem, block: Block, models: Mapping[str, tuple[str, ...]]) -> Data:
    """Convert a block with its possible models."""
    models_of_kind = question.kinds[block.kind].named
    possible = [model for model in models_of_kind if all(model in models.get(name, models_of_kind) for name in block.components)]
    return {"components": list(block.components), "accelerators": block.accelerators, **_models(possible or models_of_kind)}


def _models(names: Sequence[str]) -> Data:
    """Convert one or several models of accelerators."""
    return {"model": names[0]} if len(names) == 1 else {"models": list(names)}


def sensitivity_data(question: PlanningProblem, sensitivity: Sensitivity) -> Data:
    """Convert factors such as `1.25`; `not_searched` is the first undecided one."""
    return {
        "searches": sensitivity.searches,
        "flips": [_flip(question, flip) for flip in sensitivity.flips],
        "not_searched": [{"component": name, "from": percent / HUNDRED} for name, percent in sensitivity.left],
    }


def _flip(question: PlanningProblem, flip: PlanChange) -> Data:
    to = flip.to and {**priced_data(flip.question or question, flip.to), "placed": flip.placed}
    factors = {"holds": flip.holds / HUNDRED, "flips": flip.flips / HUNDRED}
    return {"component": flip.component, **factors, "takes": flip.takes / SECOND, "to": to}


def terms(bill: BlockBill) -> dict[str, list[dict[str, Any]]]:
    """Return component -> terms of its estimate, in the segment with most of them."""
    longest: dict[str, tuple[MemoryTerm, ...]] = {}
    for moment in bill.moments:
        for entry in moment.entries:
            if len(entry.terms) > len(longest.get(entry.component, ())):
                longest[entry.component] = entry.terms
    return {name: [_term(term) for term in entry_terms] for name, entry_terms in longest.items()}


def _term(term: MemoryTerm) -> dict[str, Any]:
    low, high = mebibytes((term.low,)), mebibytes((term.high,))
    return {"term": term.name, "mebibytes": term.mebibytes, "low": low, "high": high, "formula": term.formula, "source": term.source}
