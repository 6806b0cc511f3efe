"""Account of a plan as text: on one screen, or with the tables of usage and memory."""

from __future__ import annotations

from typing import Iterator

from ...models.account import BETWEEN, BEYOND, ESTIMATED, FITTED, FORMULA, Account
from ...models.findings.wording import plural, with_noun
from ...models.planning.planned import PlanningResult
from ...models.planning.workload import LOOKED_AT, SECONDS
from ...solver.wording import join_names, least_in_seconds, with_unit
from ..table import table
from ..terminal import escape
from .alternatives import alternatives
from .assumptions import assumptions
from .own import own_placement
from .sensitivity import sensitivities
from .words import amount, amount_on, format_assumption, format_proof, format_scope, percent, resources, seconds, task_name
from .works import memory, models_held, works

FAR = 100.0
"""Percentage from which a gap is no gap but a missing bound."""


def render(account: Account) -> list[str]:
    """Return the blocks of the account; the first has price and proof."""
    blocks = [headline(account) + "\n" + components(account), works(account), memory(account)]
    blocks += [alternatives(account), own_placement(account), sensitivities(account), assumptions(account)]
    return [block for block in blocks if block]


def headline(account: Account) -> str:
    """`plan: 20.18 seconds an iteration, 128 accelerators, proved the best (...)`."""
    planned, question, best = account.planned, account.planned.question, account.planned.best
    traffic = f" ({seconds(best.traffic)} of them for traffic)" if best.traffic else ""
    used = best.accelerators(question)
    given = f" ({held} of them by given ranks)" if (held := used - best.design.accelerators) else ""
    low, high = account.bounds
    between = f" ({seconds(low)} to {seconds(high)})" if low < high else ""
    figures = [f"{with_unit(seconds(best.total))} an iteration{between}{traffic}", f"{used} {plural('accelerator', used)}{given}"]
    value = best.total if question.aim == SECONDS else used
    distance = max(0.0, 100 * (value - planned.bound) / planned.bound) if planned.bound > 0 else 0.0
    shown = "less than 0.1 %" if 0 < distance < 0.05 else f"{distance:.1f} %"
    bounded = f"{shown} from the bound" if account.given else f"within {shown} of the best possible"
    by_times = format_assumption(account) if planned.bound > 0 or planned.proved else ""
    proof = f"{bounded}{format_scope(planned)}{by_times}" if distance <= FAR or account.given else _far(planned)
    proof = proof if planned.bound > 0 else "not bounded"
    if best.design.overlapping and (account.given or not planned.proved):
        least = f"within {shown} of" if value > planned.bound else "proved no worse than"
        proof = (
            f"{least} all plans{format_scope(planned)}{by_times}; those that overlap in part are not searched"
            if planned.bound > 0
            else proof
        )
    elif account.given:
        proof += ": keep it" if account.keeps else ""
    elif planned.proved:
        proof = format_proof(planned, by_times)
    batches = f" in {question.flow.batches} batches" if question.flow.batches > 1 else ""
    every, searched = planned.structures
    how = f"{searched} searched" if searched else "decided by bounds" if planned.proved or account.given else "none searched"
    tried = f"{every} {plural('arrangement', every)}, {how}" if every else how
    parts = figures if question.aim == SECONDS else figures[::-1]
    return f"{'these ranks' if account.given else 'plan'}: {', '.join([*parts, proof])} (cost model {planned.model}{batches}; {tried})"


def _far(planned: PlanningResult) -> str:
    """Format a weak lower bound: `any plan takes at least 0.287 seconds, more is not proved`."""
    by_time, bound = planned.question.aim == SECONDS, planned.bound
    least = f"takes at least {with_unit(least_in_seconds(bound))}" if by_time else f"has at least {with_noun(bound, 'accelerator')}"
    return f"any plan{format_scope(planned)} {least}, more is not proved"


def components(account: Account) -> str:
    """Format a row per task: accelerators, degrees, sharing, time, contribution."""
    question, design = account.planned.question, account.planned.best.design
    rows = [["component", "accelerators", "degrees", "replicas", "shares with", "seconds", "adds"]]
    for name in question.components:
        option = design.options[name]
        blocks = set(design.blocks_of(name))
        neighbours = [neighbour for neighbour in question.components if neighbour != name and blocks & set(design.blocks_of(neighbour))]
        models = question.scope.on_models.get(name, ())
        if models:
            held = amount_on(models, option.amount)
        elif option.accelerators:
            bills = [bill for bill in account.bills if name in bill.block.components]
            held = models_held(account, bills, option.kind, option.amount) or amount(question, option.kind, option.amount)
        else:
            held = resources(account.resources[name], option)
        runs = design.option_of_work(question, name)
        own = [held, str(runs.parallel), str(runs.replicas), ", ".join(neighbours) or "-"]
        tasks = question.tasks_of[name]
        rows += [[name, *own, "-", "-"]] if not tasks else []
        for place, number in enumerate(tasks):
            task = question.tasks[number]
            cells = [task_name(question, task), *(own if not place else [""] * len(own))]
            rows.append([*cells, seconds(design.nanoseconds(question, number)), seconds(account.shares[task])])
    return table(rows, right=(1, 3, 5, 6))


MOST = 2
"""Maximum number of tasks named as the bottleneck."""
NOTICED = 10
"""Least percentage of an iteration for a bottleneck task."""


def render_brief(account: Account) -> list[str]:
    """Return the blocks of the account; `-v` adds usage, memory and measurements."""
    first = [headline(account), components(account), *_bottleneck(account), *_list_assumed(account)]
    blocks = ["\n".join(first), own_placement(account), alternatives(account, brief=True), sensitivities(account)]
    return [block for block in blocks if block]


def _bottleneck(account: Account) -> Iterator[str]:
    """`bottleneck: rollout adds 125.1 seconds (57 %) and critic.train adds 90 (41 %)`."""
    whole = account.planned.best.total
    adds = sorted(((time, task) for task, time in account.shares.items() if time * 100 >= whole * NOTICED), key=lambda entry: -entry[0])
    named = [f"{task_name(account.planned.question, task)} adds {seconds(time)} ({percent(time, whole)})" for time, task in adds[:MOST]]
    if named:
        yield escape(f"bottleneck: {join_names(named)} of {seconds(whole)} seconds")


def _list_assumed(account: Account) -> Iterator[str]:
    """`assumed: times interpolated for rollout and actor; times extrapolated for reference`."""
    planned = account.planned
    question, parts = planned.question, list[str]()
    if "workflow" in LOOKED_AT.get(planned.model, ()) and len(question.tasks) > 1 and not question.flow.edges:
        parts.append("no component waits for another, since there is no `workflow`")
    for kind, how in (
        (BETWEEN, "times interpolated for"),
        (BEYOND, "times extrapolated for"),
        (FORMULA, "times by a formula for"),
        (FITTED, "times fitted for"),
        (ESTIMATED, "times estimated for"),
    ):
        names = [task_name(question, basis.task) for basis in account.bases if basis.kind == kind]
        parts += [f"{how} {join_names(names)}"] if names else []
    any_degrees = [task_name(question, basis.task) for basis in account.bases if basis.any_degrees]
    parts += [f"the same time with any degrees for {join_names(any_degrees)}"] if any_degrees else []
    entries = [entry for bill in account.bills for entry in bill.peak.entries]
    estimated = list(dict.fromkeys(entry.component for entry in entries if entry.origin == ESTIMATED))
    parts += [f"memory estimated for {join_names(estimated)}"] if estimated else []
    if parts:
        yield escape(f"assumed: {'; '.join(parts)} (`-v` says more)")
