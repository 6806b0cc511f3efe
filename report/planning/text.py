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
"""Percentage from which a gap is not a gap but a missing bound."""


def render(account: Account) -> list[str]:
    """Return the blocks of the account; the first has price and proof."""
    blocks = [headline(account) + "\n" + components(account), works(account), memory(account)]
    blocks += [alternatives(account), own_placement(account), sensitivities(account), assumptions(account)]
    return [block for block in blocks if block]


def headline(account: Account, brief: bool = False) -> str:
    """`plan: 20.18 seconds an iteration, 128 accelerators, proved the best (...)`; brief, without the effort of the search."""
    result, question, best = account.planned, account.planned.question, account.planned.best
    traffic = f" ({seconds(best.traffic)} of them for traffic)" if best.traffic else ""
    count = best.accelerators(question)
    by_ranks = f" ({fixed_count} of them by given ranks)" if (fixed_count := count - best.design.accelerators) else ""
    low, high = account.bounds
    interval = f" ({seconds(low)} to {seconds(high)})" if low < high else ""
    figures = [f"{with_unit(seconds(best.total))} an iteration{interval}{traffic}", f"{count} {plural('accelerator', count)}{by_ranks}"]
    value = best.total if question.aim == SECONDS else count
    distance = max(0.0, 100 * (value - result.bound) / result.bound) if result.bound > 0 else 0.0
    percentage = "less than 0.1 %" if 0 < distance < 0.05 else f"{distance:.1f} %"
    gap = f"{percentage} from the bound" if account.given else f"within {percentage} of the best possible"
    by_times = format_assumption(account, brief) if result.bound > 0 or result.proved else ""
    proof = f"{gap}{format_scope(result)}{by_times}" if distance <= FAR or account.given else _far(result)
    proof = proof if result.bound > 0 else "not bounded"
    if best.design.overlapping and (account.given or not result.proved):
        claim = f"within {percentage} of" if value > result.bound else "proved no worse than"
        proof = (
            f"{claim} all plans{format_scope(result)}{by_times}; those that overlap in part are not searched" if result.bound > 0 else proof
        )
    elif account.given:
        proof += ": keep it" if account.keeps else ""
    elif result.proved:
        proof = format_proof(result, by_times)
    batches = f" in {question.flow.batches} batches" if question.flow.batches > 1 else ""
    total, searched = result.structures
    search = f"{searched} searched" if searched else "decided by bounds" if result.proved or account.given else "none searched"
    effort = f"{total} {plural('arrangement', total)}, {search}" if total else search
    clauses = figures if question.aim == SECONDS else figures[::-1]
    text = f"{'these ranks' if account.given else 'plan'}: {', '.join([*clauses, proof])}"
    return text if brief else f"{text} (cost model {result.model}{batches}; {effort})"


def _far(result: PlanningResult) -> str:
    """Format a weak lower bound: `any plan takes at least 0.287 seconds, more is not proved`."""
    by_time, bound = result.question.aim == SECONDS, result.bound
    claim = f"takes at least {with_unit(least_in_seconds(bound))}" if by_time else f"has at least {with_noun(bound, 'accelerator')}"
    return f"any plan{format_scope(result)} {claim}, more is not proved"


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
            size = amount_on(models, option.amount)
        elif option.accelerators:
            bills = [bill for bill in account.bills if name in bill.block.components]
            size = models_held(account, bills, option.kind, option.amount) or amount(question, option.kind, option.amount)
        else:
            size = resources(account.resources[name], option)
        runs = design.option_of_work(question, name)
        values = [size, str(runs.parallel), str(runs.replicas), ", ".join(neighbours) or "-"]
        tasks = question.tasks_of[name]
        rows += [[name, *values, "-", "-"]] if not tasks else []
        for place, number in enumerate(tasks):
            task = question.tasks[number]
            cells = [task_name(question, task), *(values if not place else [""] * len(values))]
            rows.append([*cells, seconds(design.nanoseconds(question, number)), seconds(account.shares[task])])
    return table(rows, right=(1, 3, 5, 6))


MOST = 2
"""Maximum number of tasks named as the bottleneck."""
NOTICED = 10
"""Least percentage of an iteration for a bottleneck task."""


def render_brief(account: Account) -> list[str]:
    """Return the blocks of the account; `-v` adds usage, memory and measurements."""
    first = [headline(account, brief=True), components(account), *_bottleneck(account), *_list_assumed(account)]
    blocks = ["\n".join(first), own_placement(account), alternatives(account, brief=True), sensitivities(account)]
    return [block for block in blocks if block]


def _bottleneck(account: Account) -> Iterator[str]:
    """`bottleneck: rollout adds 125.1 seconds (57 %) and critic.train adds 90 (41 %)`."""
    whole = account.planned.best.total
    adds = sorted(((time, task) for task, time in account.shares.items() if time * 100 >= whole * NOTICED), key=lambda entry: -entry[0])
    clauses = [f"{task_name(account.planned.question, task)} adds {seconds(time)} ({percent(time, whole)})" for time, task in adds[:MOST]]
    if clauses:
        yield escape(f"bottleneck: {join_names(clauses)} of {seconds(whole)} seconds")


def _list_assumed(account: Account) -> Iterator[str]:
    """`assumed: times interpolated for rollout and actor; times extrapolated for reference`."""
    result = account.planned
    question, clauses = result.question, list[str]()
    if "workflow" in LOOKED_AT.get(result.model, ()) and len(question.tasks) > 1 and not question.flow.edges:
        clauses.append("no component waits for another, since there is no `workflow`")
    for kind, how in (
        (BETWEEN, "times interpolated for"),
        (BEYOND, "times extrapolated for"),
        (FORMULA, "times by a formula for"),
        (FITTED, "times fitted for"),
        (ESTIMATED, "times estimated for"),
    ):
        names = [task_name(question, basis.task) for basis in account.bases if basis.kind == kind]
        far = f", up to {max(basis.beyond for basis in account.bases):.1f}x beyond what was measured" if kind == BEYOND else ""
        clauses += [f"{how} {join_names(names)}{far}"] if names else []
    any_degrees = [task_name(question, basis.task) for basis in account.bases if basis.any_degrees]
    clauses += [f"the same time with any degrees for {join_names(any_degrees)}"] if any_degrees else []
    entries = [entry for bill in account.bills for entry in bill.peak.entries]
    estimated_names = list(dict.fromkeys(entry.component for entry in entries if entry.origin == ESTIMATED))
    clauses += [f"memory estimated for {join_names(estimated_names)}"] if estimated_names else []
    if clauses:
        yield escape(f"assumed: {'; '.join(clauses)} (`-v` says more)")
