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
    found: Data = {
        "given": account.given,
        "cost_model": planned.model,
        "source": account.source,
        "batches": question.flow.batches,
        "minimise": question.aim,
        "proved": planned.proved,
        **({"extrapolated": names} if (names := sorted({each.task.component for each in account.bases if each.kind == BEYOND})) else {}),
        **({"ties_open": True} if planned.ties_open else {}),
        **({"left_out_of_scope": list(question.scope.left_out)} if question.scope.left_out else {}),
        "bound": planned.bound / SECOND if question.aim == SECONDS else planned.bound,
        "arrangements": {"all": planned.structures[0], "searched": planned.structures[1]},
        **priced_data(question, planned.best),
        "adds": {str(task): time / SECOND for task, time in account.shares.items()},
        "usage": [_usage(question, each) for each in account.usages],
        "memory": [_bill(each) for each in account.bills],
        "rests_on": [_basis(each, account.given) for each in account.bases],
        "assumed": list(account.assumed),
        "others": [
            {
                **priced_data(question, each.priced),
                "placed": each.priced not in planned.not_placed,
                **({"traffic_known": False} if account.given and planned.best.traffic and each.priced in planned.not_placed else {}),
                "adds_more": {str(task): time / SECOND for task, time in each.adds},
            }
            for each in account.others
        ],
        "further": [
            {
                **priced_data(question, each.priced),
                "proved": its.proved,
                "adds_more": {str(task): time / SECOND for task, time in each.adds},
            }
            for each, its in zip(account.further, planned.further)
        ],
        "not_placeable": [
            {
                **priced_data(each.question or question, each.priced),
                "why": [finding.message for finding in each.reason],
                "proved": not any(finding.code == "PW604" for finding in each.reason),
            }
            for each in planned.unplaceable
        ],
    }
    if account.resources:
        found["resources"] = dict(account.resources)
    if question.flow.rounds:
        found["rounds"] = [[str(question.tasks[task]) for task in sorted(its)] for its in question.flow.rounds]
    way = planned.best.design.way(question)
    if way is not None and way.without:
        found["not_started"] = {"components": sorted(way.without), "where": way.name}
    if planned.filled:
        needs = planned.compared.options
        found["filled"] = {
            name: {"needs": needs[name].amount, "asked_at_most": its.most, "proved": its.proved} for name, its in planned.filled.items()
        }
    if planned.without_estimates is not None:
        found["without_estimates"] = priced_data(planned.without_question or question, planned.without_estimates)
    if account.own is not None or account.given:
        found["keep"], found["is_own"] = account.keeps, account.given or planned.is_own
    if pairs := planned.best.design.overlapping:
        found["overlapping"] = [list(pair) for pair in pairs]  # no other such design is searched
    if account.own is not None:
        found["yours"] = _own(planned, account.own)
    if (freed := account.without_ranks) is not None:
        its = freed.planned
        found["without_ranks"] = {"ranks_of": list(freed.names), "proved": its.proved, **priced_data(its.question, its.best)}
    if account.sensitivity is not None:
        found["sensitivity"] = sensitivity_data(question, account.sensitivity)
    return found


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
                {"component": its.component, "mebibytes": its.mebibytes, "state": its.state, "origin": its.origin} for its in moment.entries
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
    """Convert the basis of a time.

    `given` : True if all ranks are given; without degrees those of the file hold.
    """
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
    models = {"models": {name: dict(its) for name, its in own.counts.items()}} if own.on_several_kinds else {}
    over = own.over(planned.best)
    rests = [_basis(each, False) for each in own.bases]
    pairs = own.priced.design.overlapping
    overlap = {"overlapping": [list(pair) for pair in pairs]} if pairs else {}
    large = {"over_estimates": list(own.over_estimates)} if own.over_estimates else {}
    return {
        **priced_data(own.question, own.priced), "over": over, "forbidden": list(own.forbidden), **large, "rests_on": rests, **overlap, **models,
    }  # fmt: skip
