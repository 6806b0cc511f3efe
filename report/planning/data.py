"""Account of a plan as JSON data, in seconds and MiB."""

from __future__ import annotations

from ...models.account import BEYOND, Account, Baseline, Basis, BusyInterval, Usage
from ...models.memory.bill import BlockBill
from ...models.planning.measured import SECOND
from ...models.planning.planned import PlanningResult
from ...models.planning.problem import PlanningProblem
from ...models.planning.workload import SECONDS
from .design_data import Data, priced_data
from .estimates import terms
from .flip_data import sensitivity_data


def to_data(account: Account) -> Data:
    """Convert the whole account; unknown and unasked values are left out."""
    planned, question = account.planned, account.planned.question
    data: Data = {
        "given": account.given,
        "cost_model": planned.model,
        "source": account.source,
        "batches": question.flow.batches,
        "minimise": question.aim,
        "proved": planned.proved,
        **({"extrapolated": names} if (names := sorted({basis.task.component for basis in account.bases if basis.kind == BEYOND})) else {}),
        **({"ties_open": True} if planned.ties_open else {}),
        **({"left_out_of_scope": list(question.scope.left_out)} if question.scope.left_out else {}),
        "bound": planned.bound / SECOND if question.aim == SECONDS else planned.bound,
        "arrangements": {"all": planned.structures[0], "searched": planned.structures[1]},
        **priced_data(question, planned.best),
        "adds": {str(task): time / SECOND for task, time in account.shares.items()},
        "usage": [_usage(question, usage) for usage in account.usages],
        "memory": [_bill(bill) for bill in account.bills],
        "rests_on": [_basis(basis, account.given) for basis in account.bases],
        "assumed": list(account.assumed),
        "others": [
            {
                **priced_data(question, alternative.priced),
                "placed": alternative.priced not in planned.not_placed,
                **({"traffic_known": False} if account.given and planned.best.traffic and alternative.priced in planned.not_placed else {}),
                "adds_more": {str(task): time / SECOND for task, time in alternative.adds},
            }
            for alternative in account.alternatives
        ],
        "further": [
            {
                **priced_data(question, alternative.priced),
                "proved": plan.proved,
                "adds_more": {str(task): time / SECOND for task, time in alternative.adds},
            }
            for alternative, plan in zip(account.further, planned.further)
        ],
        "not_placeable": [
            {
                **priced_data(design.question or question, design.priced),
                "why": [finding.message for finding in design.reason],
                "proved": not any(finding.code == "PW604" for finding in design.reason),
            }
            for design in planned.unplaceable
        ],
    }
    if account.resources:
        data["resources"] = dict(account.resources)
    if question.flow.rounds:
        data["rounds"] = [[str(question.tasks[task]) for task in sorted(cycle)] for cycle in question.flow.rounds]
    way = planned.best.design.way(question)
    if way is not None and way.without:
        data["not_started"] = {"components": sorted(way.without), "where": way.name}
    if planned.filled:
        needs = planned.compared.options
        data["filled"] = {
            name: {"needs": needs[name].amount, "asked_at_most": filled.most, "proved": filled.proved}
            for name, filled in planned.filled.items()
        }
    if planned.without_estimates is not None:
        data["without_estimates"] = priced_data(planned.without_question or question, planned.without_estimates)
    if account.own is not None or account.given:
        data["keep"], data["is_own"] = account.keeps, account.given or planned.is_own
    if pairs := planned.best.design.overlapping:
        data["overlapping"] = [list(pair) for pair in pairs]  # no other such design is searched
    if account.own is not None:
        data["yours"] = _own(planned, account.own)
    if (freed := account.without_ranks) is not None:
        freed_plan = freed.planned
        data["without_ranks"] = {
            "ranks_of": list(freed.names),
            "proved": freed_plan.proved,
            **priced_data(freed_plan.question, freed_plan.best),
        }
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
                {"component": entry.component, "mebibytes": entry.mebibytes, "state": entry.state, "origin": entry.origin}
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
    """Convert the basis of a time."""
    return {
        "task": str(basis.task), "resources": basis.amount, "seconds": basis.nanoseconds / SECOND, "kind": basis.kind,
        "counts": list(basis.counts), "scaling": basis.scaling or None, "beyond": round(basis.beyond, 2),
        **({"measured_with": list(basis.named)} if basis.named else {}),
        "any_degrees": bool(basis.any_degrees), "any_model": basis.any_model,
        **({"as_written": basis.as_written and not given} if basis.any_degrees else {}),
        **({"slowest": basis.slowest, "models": list(basis.several)} if basis.several else {}),
    }  # fmt: skip


def _own(planned: PlanningResult, own: Baseline) -> Data:
    if own.priced is None:
        return {"why_not": own.why_not}
    models = {"models": {name: dict(amounts) for name, amounts in own.counts.items()}} if own.on_several_kinds else {}
    over = own.over(planned.best)
    rests = [_basis(basis, False) for basis in own.bases]
    pairs = own.priced.design.overlapping
    overlap = {"overlapping": [list(pair) for pair in pairs]} if pairs else {}
    large = {"over_estimates": list(own.over_estimates)} if own.over_estimates else {}
    return {
        **priced_data(own.question, own.priced), "over": over, "forbidden": list(own.forbidden), **large, "rests_on": rests, **overlap, **models,
    }  # fmt: skip
