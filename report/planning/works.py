"""Tables of blocks and segments: who works and waits, and the memory bill."""

from __future__ import annotations

from collections import Counter
from typing import Sequence

from ...models.account import ESTIMATED, KEPT, SILENT, Account, BlockBill, ComponentMemory, Usage, busy, group_by_block
from ...models.planning.design import Block
from ...models.planning.option import NO_KIND
from ...models.planning.problem import PlanningProblem
from ...solver.wording import join_names, with_unit
from ..table import table
from ..terminal import escape
from .words import amount_on, bill_name, block_name, parts, percent, resources, seconds, task_name

NOT_KNOWN = "not known: no seconds"
"""Text for the work of components without times."""


def works(account: Account) -> str:
    """Format a row per block and a column per segment, then the iteration."""
    result, question, design = account.planned, account.planned.question, account.planned.best.design
    if not account.usages:
        return ""
    names, places = parts(question, result, design), group_by_block(account.usages)
    segments = [usage.segment for usage in places[0] if usage.nanoseconds]
    lengths = (seconds(usage.nanoseconds) for usage in places[0] if usage.nanoseconds)
    rows = [
        ["works", *(f"{names[place]}: {length}" for place, length in zip(segments, lengths)), *(["iteration"] if len(segments) > 1 else [])]
    ]
    for place_usages in places:
        cells = [_format_work(question, usage) for usage in place_usages if usage.segment in segments]
        rows.append(
            [place_name(account, place_usages[0]), *cells, *([_share(place_usages, result.best.traffic)] if len(segments) > 1 else [])]
        )
    for bill in _list_unplanned(account):
        rows.append([bill_name(question, bill), *(NOT_KNOWN for _ in segments), *(["not known"] if len(segments) > 1 else [])])
    return "\n".join([table(rows), *_idle(account), *_whole(account)])


def _list_unplanned(account: Account) -> list[BlockBill]:
    """Return the bills of accelerators without planned components."""
    return [bill for bill in account.bills if bill.block.kind == NO_KIND]


def _find_unplanned(account: Account, block: Block) -> list[str]:
    """Return unplanned components over accelerators of a block."""
    options = account.planned.question.options
    sets = (bill.block.components for bill in account.bills if set(block.components) == {*bill.block.components} & {*options})
    return [name for names in sets for name in names if name not in options]


def place_name(account: Account, usage: Usage) -> str:
    """`rollout, actor (108)`; `reward (16 processes)`."""
    design = account.planned.best.design
    if usage.block is not None:
        return _block(account, design.blocks[usage.block])
    (name,) = usage.components
    return f"{name} ({resources(account.resources[name], design.options[name])})"


def _block(account: Account, block: Block) -> str:
    """Format a set by its placed models: `rollout (3 H100 and 4 L40S)`."""
    bills = [bill for bill in account.bills if bill.block.components == block.components]
    models = models_held(account, bills, block.kind, block.accelerators)
    return f"{', '.join(block.components)} ({models})" if models else block_name(account.planned.question, block)


def models_held(account: Account, bills: Sequence[BlockBill], kind: int, accelerators: int) -> str:
    """Format the models of these bills as placed: `3 H100 and 4 L40S`; "" if unknown."""
    kinds, counts = account.planned.question.kinds, Counter[tuple[str, ...]]()
    several = len({model for node_kind in kinds for model in node_kind.named}) > 1
    is_known = several and kinds[kind].mixed and all(bill.models and bill.block.kind == kind for bill in bills)
    for bill in bills if is_known else []:
        counts[bill.models] += bill.block.accelerators
    return join_names([amount_on(*entry) for entry in counts.items()]) if sum(counts.values()) == accelerators else ""


def _format_work(question: PlanningProblem, usage: Usage) -> str:
    """Format the workers of a segment with their shares."""
    if not usage.turns and usage.untimed:
        return NOT_KNOWN + (f" of {join_names(usage.untimed)}" if usage.known else "")
    return ", ".join(f"{_worker(question, usage, turn.task)} {percent(turn.works, usage.nanoseconds)}" for turn in usage.turns) or "idle"


def _share(place: list[Usage], traffic: int) -> str:
    work, length = busy(place)
    return percent(work, length + traffic) if place[0].known else "not known"


def _whole(account: Account) -> list[str]:
    """Return a line on utilization and unknown accelerators; empty without any."""
    question, design = account.planned.question, account.planned.best.design
    work = total = accelerators = 0
    traffic = account.planned.best.traffic
    unknown, others_untimed, untimed = 0, list[str](), list[str]()
    for place_usages in group_by_block(account.usages):
        usage = place_usages[0]
        if usage.block is None:
            continue
        size = design.blocks[usage.block].accelerators
        if not usage.known:
            unknown, untimed = unknown + size, [*untimed, *usage.untimed]
            continue
        busy_time, length = busy(place_usages)
        work, total, accelerators = work + busy_time * size, total + (length + traffic) * size, accelerators + size
        others_untimed += usage.untimed
        others_untimed += _find_unplanned(account, design.blocks[usage.block])
    for block in (bill.block for bill in _list_unplanned(account)):
        unknown, untimed = unknown + block.accelerators, [*untimed, *block.components]
    available, sentences = sum(kind.accelerators for kind in question.kinds) + question.given.held, []
    if accelerators:
        subject = f"the {accelerators} accelerators work" if accelerators != 1 else "the accelerator works"
        sentences.append(
            f"{subject} {percent(work, total)} of the time"
            + (f", not counting {_without_seconds(others_untimed)}" if others_untimed else "")
        )
    if unknown:
        sentences.append(f"the work of the {unknown} of {_without_seconds(untimed)}, is unknown")
    if (count := account.planned.best.accelerators(question)) < available:
        sentences.append(f"{available - count} of {available} {'is' if available - count == 1 else 'are'} not used")
    if traffic:
        sentences.append(f"traffic adds {with_unit(seconds(traffic))} without work")
    return [escape("; ".join(sentences))] if sentences else []


def _without_seconds(names: list[str]) -> str:
    """`judge, which has no seconds`."""
    distinct = list(dict.fromkeys(names))
    return f"{join_names(distinct)}, which {'has' if len(distinct) == 1 else 'have'} no seconds"


def _worker(question: PlanningProblem, usage: Usage, number: int) -> str:
    """Format a worker, with its phase if it has several turns in a segment."""
    task = question.tasks[number]
    several = sum(question.tasks[turn.task].component == task.component for turn in usage.turns) > 1
    return task_name(question, task) if several else task.component


def _idle(account: Account) -> list[str]:
    """Return a line for each waiting block: duration and reason."""
    result, question, design = account.planned, account.planned.question, account.planned.best.design
    names, lines = parts(question, result, design), []
    for place in group_by_block(account.usages):
        idle_usages = [usage for usage in place if usage.idle and usage.known]
        reasons = []
        for usage in idle_usages:
            segment = f" in {names[usage.segment]}" if len(names) > 1 else ""
            if not usage.turns:
                reasons.append(f"{seconds(usage.idle)}{segment}, in which others work")
                continue
            turn = usage.turns[0]
            if turn.begins is None or turn.ends is None or len(usage.turns) > 1:
                reasons.append(f"{seconds(usage.idle)}{segment}, until others are done")
                continue
            waits = {
                "before its first batch": turn.begins,
                "between batches": turn.starves,
                "after its last": usage.nanoseconds - turn.ends,
            }
            reasons.append(", ".join(f"{seconds(time)} {moment}" for moment, time in waits.items() if time) + segment)
        if reasons:
            idle = sum(usage.idle for usage in idle_usages)
            workers = [
                *idle_usages[0].untimed,
                *(_find_unplanned(account, design.blocks[idle_usages[0].block]) if idle_usages[0].block is not None else []),
            ]
            unless = f", unless {join_names(workers)} {'works' if len(workers) == 1 else 'work'}" if workers else ""
            lines.append(escape(f"{place_name(account, idle_usages[0])} idle {with_unit(seconds(idle))}{unless}: {'; '.join(reasons)}"))
    return lines


def memory(account: Account) -> str:
    """Format a row per block and a column per segment: load and capacity."""
    result, question, design = account.planned, account.planned.question, account.planned.best.design
    if not any(moment.mebibytes for bill in account.bills for moment in bill.moments):
        return ""
    names = parts(question, result, design)
    columns = list(dict.fromkeys((moment.segment, moment.phase) for bill in account.bills for moment in bill.moments))
    columns.sort(key=lambda column: column[0] is None)
    heads = (names[place] if place is not None else f"{phase}: no seconds" for place, phase in columns)
    rows = [["GiB on each", *heads, "peak", "of"]]
    silent: list[str] = []
    for bill in account.bills:
        cells = []
        for column in columns:
            entries = next((moment.entries for moment in bill.moments if (moment.segment, moment.phase) == column), None)
            if entries is None:  # in none of its turns, but in the parts that lie around it
                cells.append("as in its part")
                continue
            working = [f"{entry.component} {_amount(entry)}" for entry in entries if entry.mebibytes and entry.state != KEPT]
            idle = [f"{entry.component} {_amount(entry)}" for entry in entries if entry.mebibytes and entry.state == KEPT]
            nothing = "not known" if any(entry.origin == SILENT for entry in entries) else "-"
            cells.append(
                "; ".join([*([", ".join(working)] if working else []), *([f"kept: {', '.join(idle)}"] if idle else [])]) or nothing
            )
            silent += [entry.component for entry in entries if entry.origin == SILENT]
        capacity = _gibibytes(bill.capacity) if bill.capacity is not None else "not known"
        rows.append([bill_name(question, bill), *cells, _peak(bill), capacity])
    unknown = f"\nthe memory of {escape(join_names(list(dict.fromkeys(silent))))} is unknown" if silent else ""
    has_estimates = any(entry.origin == ESTIMATED for bill in account.bills for moment in bill.moments for entry in moment.entries)
    return table(rows) + ("\n~ is an estimate" if has_estimates else "") + unknown


def _peak(bill: BlockBill) -> str:
    """Format the largest load of an accelerator; unknown memory comes on top."""
    amount = _gibibytes(bill.peak.mebibytes)
    if not any(entry.origin == SILENT for moment in bill.moments for entry in moment.entries):
        return amount
    return f"at least {amount}" if bill.peak.mebibytes else "not known"


def _amount(entry: ComponentMemory) -> str:
    return ("~" if entry.origin == ESTIMATED else "") + _gibibytes(entry.mebibytes)


def _gibibytes(mebibytes: int) -> str:
    """Format GiB rounded up to a tenth."""
    return f"{-(-mebibytes * 10 // 1024) / 10:g}"
