"""Times, blocks and designs as text."""

from __future__ import annotations

from typing import Mapping, Sequence

from ...models.account import BEYOND, ESTIMATED, FITTED, Account, BlockBill, models_of
from ...models.findings.wording import plural
from ...models.machines.node_group import NODE
from ...models.planning.design import Block, Design
from ...models.planning.option import NO_KIND, Option
from ...models.planning.planned import CostedDesign, PlanningResult
from ...models.planning.problem import PlanningProblem, Task
from ...models.planning.workload import SECOND, SECONDS
from ...models.quantity import write_memory
from ...planner.scope import with_limits
from ...solver.wording import figure, join_names, with_unit
from ..terminal import escape

MOST_TOLD = 10_000
"""Percentage from which a difference is no longer given."""


def seconds(nanoseconds: int) -> str:
    """Format seconds with four significant digits: `20.18`, `0.375`, `0.0000004`, `1234`."""
    time = nanoseconds / SECOND
    return f"{time:.0f}" if time >= 1000 or not time else figure(time)


def task_name(question: PlanningProblem, task: Task) -> str:
    """Format `actor.train`; `rollout` for a component with a single phase."""
    return str(task) if len(question.tasks_of[task.component]) > 1 else task.component


def format_scope(result: PlanningResult) -> str:
    """Format the scope of a proof; "" without a restriction."""
    limits = with_limits(result.question.scope.left_out)
    return f" {limits}" if limits else ""


def format_proof(result: PlanningResult, under: str = "") -> str:
    """Format the proof of a plan, `under` which times. Given ranks may have groups over nodes."""
    its_own = result.is_own and bool(format_scope(result))
    best, rest = "the best", ""
    if result.ties_open and result.question.aim == SECONDS:
        best, rest = "the quickest", ", though one as quick on fewer accelerators may exist"
    elif result.ties_open:
        best, rest = "the fewest", ", though a quicker plan on as many may exist"
    return f"proved {'as good as any' if its_own else best}{format_scope(result)}{under}{rest}"


def percent(part: int, whole: int) -> str:
    """Format `97 %`; 100 and 0 only if exact."""
    share = round(100 * part / whole) if whole else 0
    if share == 100 and part < whole:
        share = 99
    return f"{max(share, 1) if part else share} %"


def format_difference(nanoseconds: int, best: int) -> str:
    """Format the difference of times: `4.0 % more`, `4.0 % less`, `as much`."""
    if nanoseconds == best:
        return "as much"
    difference = 100 * abs(nanoseconds - best) / best
    percentage = distance(nanoseconds, best) if difference >= 0.05 else "less than 0.1 %"
    return f"{percentage} {'more' if nanoseconds > best else 'less'}"


def distance(nanoseconds: int, best: int) -> str:
    """Format a gap: `4.0 %`; huge ones only in words."""
    share = 100 * abs(nanoseconds - best) / best
    return f"{share:.1f} %" if share <= MOST_TOLD else f"more than {MOST_TOLD:,} %"


def parts(question: PlanningProblem, result: PlanningResult, design: Design) -> list[str]:
    """Return the names of the segments: phases or numbers; "" for a single one."""
    count = max(design.segments, default=0) + 1
    if result.model == "stages":
        return list(question.flow.phases[:count])
    return [f"part {number + 1}" for number in range(count)] if count > 1 else ["iteration"]


def block_name(question: PlanningProblem, block: Block) -> str:
    """`rollout, actor (108 H100)`."""
    return f"{', '.join(block.components)} ({amount(question, block.kind, block.accelerators)})"


def bill_name(question: PlanningProblem, bill: BlockBill) -> str:
    """Format the block of a bill, with the models held: `rollout (3 H100)`."""
    every = {model for kind in question.kinds for model in kind.named} | {*bill.models}
    if not bill.models or len(every) < 2:
        return block_name(question, bill.block)
    return f"{', '.join(bill.block.components)} ({amount_on(bill.models, bill.block.accelerators)})"


def amount(question: PlanningProblem, kind: int, count: int) -> str:
    """Format `108`, `108 H100`, `2 H100 with 24 GiB` or `2 of H100 and A100`, as needed."""
    if len(question.kinds) < 2 or kind < 0:
        return str(count)
    node_kind = question.kinds[kind]
    kinds_of_model = sum(candidate.model == node_kind.model for candidate in question.kinds) > 1
    memory = f" with {write_memory(node_kind.memory)}" if kinds_of_model and node_kind.memory is not None else ""
    return f"{count} {node_kind.model}{memory}" if node_kind.model else str(count)


def resources(kind: str, option: Option) -> str:
    """Format resources of a component without accelerators: `16 processes`, `2 Franka`."""
    return f"{option.processes} {plural('process', option.processes)}" if kind == NODE else f"{option.amount} {kind}"


def design_in_words(
    question: PlanningProblem,
    result: PlanningResult,
    design: Design,
    reference: Design | None = None,
    models: Mapping[str, tuple[str, ...]] | None = None,
) -> str:
    """Format a design: `rollout and actor on 108, inference on 20; ...`.

    What the design `reference` has too is left out: order, and components without accelerators.
    `models` names the models of components if the planning problems do not name them.
    """
    sets: dict[tuple[int, ...], list[str]] = {}
    more = result.filled if reference is not None else ()  # others than the plan are compared with what such components need
    for name in question.components:
        if reference is not None and not design.blocks_of(name) and (name in more or design.options[name] == reference.options[name]):
            continue
        sets.setdefault(design.blocks_of(name) or (-1 - question.components.index(name),), []).append(name)
    sizes = dict[str, str]()
    if question is result.question or question.scope.on_models:
        possible = models or models_of((question, *(result.parts if question is result.question else ())), design)
        sizes = {name: amount_on(on, design.options[name].amount) for name, on in {**_find_confined(question, design), **possible}.items()}
    clauses = [_set(question, design, uses, names, list(sets), any(name in more for name in names), sizes) for uses, names in sets.items()]
    order = _order(question, result, design) if reference is None or design.segments != reference.segments else ""
    return ", ".join(clauses) + (f"; {order}" if order else "")


def _find_confined(question: PlanningProblem, design: Design) -> Mapping[str, tuple[str, ...]]:
    """Return component -> models, for components restricted to some of a kind."""
    on_mixed_kinds = {name for name, option in design.options.items() if option.kind != NO_KIND and question.kinds[option.kind].mixed}
    return {name: models for name, models in question.scope.confined.items() if name in on_mixed_kinds}


def amount_on(models: Sequence[str], count: int) -> str:
    """Format `4 H100`; `4 of H100 and A100` on both."""
    return f"{count} {'of ' if len(models) > 1 else ''}{join_names(list(models))}"


def _set(
    question: PlanningProblem,
    design: Design,
    uses: tuple[int, ...],
    names: list[str],
    every: list[tuple[int, ...]],
    or_more: bool,
    sizes: Mapping[str, str],
) -> str:
    option = design.options[names[0]]
    parallels = {name: design.degrees(question, name) for name in names}
    degrees = [f"{name} ({parallel})" if parallel.replica > 1 else name for name, parallel in parallels.items()]
    if uses[0] < 0:
        return f"{option.amount} of {names[0]}"
    minimum = "at least " if or_more else ""
    enclosing = [outer_uses for outer_uses in every if set(uses) < set(outer_uses)]
    outer_names = ""
    if enclosing:
        outer = min(enclosing, key=len)
        outer_names = f" of those of {join_names([name for name in question.components if design.blocks_of(name) == outer])}"
    count = next((sizes[name] for name in names if name in sizes), amount(question, option.kind, option.amount))
    return f"{join_names(degrees)} on {minimum}{count}{outer_names}"


def _order(question: PlanningProblem, result: PlanningResult, design: Design) -> str:
    """Format `first rollout and inference, then actor`; "" without an order."""
    if result.model in ("stages", "steady"):
        return ""
    groups: list[list[str]] = [[] for _ in range(max(design.segments, default=0) + 1)]
    for task, segment in zip(question.tasks, design.segments):
        groups[segment].append(task_name(question, task))
    return "first " + ", then ".join(map(join_names, groups)) if len(groups) > 1 else ""


def format_price(result: PlanningResult, candidate: CostedDesign, question: PlanningProblem | None = None) -> str:
    """Format price and design: `83.78 seconds (13.7 % more): rollout on 32, ...`.

    `question` : planning problem of the design, if not the plan's.
    """
    words = design_in_words(question or result.question, result, candidate.design, result.best.design, models=candidate.models)
    count = candidate.accelerators(question or result.question)
    size = f"{count} {plural('accelerator', count)}, " if result.question.aim != SECONDS else ""
    return f"{size}{with_unit(seconds(candidate.total))} ({format_difference(candidate.total, result.best.total)}): {escape(words)}"


def format_assumption(account: Account, brief: bool = False) -> str:
    """Format ` under times extrapolated for actor, 8.0x beyond what was measured`; else "".

    `brief` without the components: ` under estimated times`.
    """
    tasks_of_kind = {
        kind: [task_name(account.planned.question, basis.task) for basis in account.bases if basis.kind == kind]
        for kind in (BEYOND, FITTED, ESTIMATED)
    }
    names = tasks_of_kind.pop(BEYOND)
    clauses = [f"{kind} for {join_names(tasks)}" for kind, tasks in tasks_of_kind.items() if tasks]
    if brief and (names or clauses):
        kinds = [*(["extrapolated"] if names else []), *(kind for kind, tasks in tasks_of_kind.items() if tasks)]
        return _format_after(account.planned, f"under {join_names(kinds)} times")
    if names:
        farthest = max(basis.beyond for basis in account.bases)
        up_to = "up to " if len(names) > 1 else ""
        clauses.insert(0, f"extrapolated for {join_names(names)}, {up_to}{farthest:.1f}x beyond what was measured")
    return _format_after(account.planned, f"under times {', and '.join(clauses)}") if clauses else ""


def format_extrapolated(result: PlanningResult) -> str:
    """Format ` under extrapolated times`; "" without any."""
    options = result.best.design.options.values()
    return _format_after(result, "under extrapolated times") if any(option.extrapolated for option in options) else ""


def _format_after(result: PlanningResult, text: str) -> str:
    """Format the text after the scope of a proof."""
    return f"{',' if format_scope(result) else ''} {text}"
