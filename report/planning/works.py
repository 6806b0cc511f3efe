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
    planned, question, design = account.planned, account.planned.question, account.planned.best.design
    if not account.usages:
        return ""
    names, places = parts(question, planned, design), group_by_block(account.usages)
    shown = [usage.segment for usage in places[0] if usage.nanoseconds]
    lengths = (seconds(usage.nanoseconds) for usage in places[0] if usage.nanoseconds)
    rows = [["works", *(f"{names[place]}: {length}" for place, length in zip(shown, lengths)), *(["iteration"] if len(shown) > 1 else [])]]
    for place_usages in places:
        cells = [_format_work(question, usage) for usage in place_usages if usage.segment in shown]
        rows.append([_place(account, place_usages[0]), *cells, *([_share(place_usages, planned.best.traffic)] if len(shown) > 1 else [])])
    for bill in _list_unplanned(account):
        rows.append([bill_name(question, bill), *(NOT_KNOWN for _ in shown), *(["not known"] if len(shown) > 1 else [])])
    return "\n".join([table(rows), *_idle(account), *_whole(account)])


def _list_unplanned(account: Account) -> list[BlockBill]:
    """Return the bills of accelerators without planned components."""
    return [bill for bill in account.bills if bill.block.kind == NO_KIND]


def _find_unplanned(account: Account, block: Block) -> list[str]:
    """Return unplanned components over accelerators of a block."""
    options = account.planned.question.options
    sets = (bill.block.components for bill in account.bills if set(block.components) == {*bill.block.components} & {*options})
    return [name for names in sets for name in names if name not in options]


def _place(account: Account, usage: Usage) -> str:
    """`rollout, actor (108)`; `reward (16 processes)`."""
    design = account.planned.best.design
    if usage.block is not None:
        return _block(account, design.blocks[usage.block])
    (name,) = usage.components
    return f"{name} ({resources(account.resources[name], design.options[name])})"


def _block(account: Account, block: Block) -> str:
    """Format a set by its placed models: `rollout (3 H100 and 4 L40S)`."""
    bills = [bill for bill in account.bills if bill.block.components == block.components]
    held = models_held(account, bills, block.kind, block.accelerators)
    return f"{', '.join(block.components)} ({held})" if held else block_name(account.planned.question, block)


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
    done, length = busy(place)
    return percent(done, length + traffic) if place[0].known else "not known"


def _whole(account: Account) -> list[str]:
    """Return a line on utilization and unknown accelerators; empty without any."""
    question, design = account.planned.question, account.planned.best.design
    done = total = counted = 0
    traffic = account.planned.best.traffic
    left, beside, untimed = 0, list[str](), list[str]()
    for place_usages in group_by_block(account.usages):
        usage = place_usages[0]
        if usage.block is None:
            continue
        held = design.blocks[usage.block].accelerators
        if not usage.known:
            left, untimed = left + held, [*untimed, *usage.untimed]
            continue
        worked, length = busy(place_usages)
        done, total, counted = done + worked * held, total + (length + traffic) * held, counted + held
        beside += usage.untimed
        beside += _find_unplanned(account, design.blocks[usage.block])
    for block in (bill.block for bill in _list_unplanned(account)):
        left, untimed = left + block.accelerators, [*untimed, *block.components]
    there, sentences = sum(kind.accelerators for kind in question.kinds) + question.given.held, []
    if counted:
        subject = f"the {counted} accelerators work" if counted != 1 else "the accelerator works"
        sentences.append(f"{subject} {percent(done, total)} of the time" + (f", not counting {_without_seconds(beside)}" if beside else ""))
    if left:
        sentences.append(f"the work of the {left} of {_without_seconds(untimed)}, is unknown")
    if (used := account.planned.best.accelerators(question)) < there:
        sentences.append(f"{there - used} of {there} {'is' if there - used == 1 else 'are'} not used")
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
    planned, question, design = account.planned, account.planned.question, account.planned.best.design
    names, lines = parts(question, planned, design), []
    for place in group_by_block(account.usages):
        idle_usages = [usage for usage in place if usage.idle and usage.known]
        why = []
        for usage in idle_usages:
            where = f" in {names[usage.segment]}" if len(names) > 1 else ""
            if not usage.turns:
                why.append(f"{seconds(usage.idle)}{where}, in which others work")
                continue
            turn = usage.turns[0]
            if turn.begins is None or turn.ends is None or len(usage.turns) > 1:
                why.append(f"{seconds(usage.idle)}{where}, until others are done")
                continue
            waits = {
                "before its first batch": turn.begins,
                "between batches": turn.starves,
                "after its last": usage.nanoseconds - turn.ends,
            }
            why.append(", ".join(f"{seconds(time)} {when}" for when, time in waits.items() if time) + where)
        if why:
            idle = sum(usage.idle for usage in idle_usages)
            workers = [
                *idle_usages[0].untimed,
                *(_find_unplanned(account, design.blocks[idle_usages[0].block]) if idle_usages[0].block is not None else []),
            ]
            unless = f", unless {join_names(workers)} {'works' if len(workers) == 1 else 'work'}" if workers else ""
            lines.append(escape(f"{_place(account, idle_usages[0])} idle {with_unit(seconds(idle))}{unless}: {'; '.join(why)}"))
    return lines


def memory(account: Account) -> str:
    """Format a row per block and a column per segment: load and capacity."""
    planned, question, design = account.planned, account.planned.question, account.planned.best.design
    if not any(moment.mebibytes for bill in account.bills for moment in bill.moments):
        return ""
    names = parts(question, planned, design)
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
            kept = [f"{entry.component} {_amount(entry)}" for entry in entries if entry.mebibytes and entry.state == KEPT]
            nothing = "not known" if any(entry.origin == SILENT for entry in entries) else "-"
            cells.append(
                "; ".join([*([", ".join(working)] if working else []), *([f"kept: {', '.join(kept)}"] if kept else [])]) or nothing
            )
            silent += [entry.component for entry in entries if entry.origin == SILENT]
        capacity = _gibibytes(bill.capacity) if bill.capacity is not None else "not known"
        rows.append([bill_name(question, bill), *cells, _peak(bill), capacity])
    unknown = f"\nthe memory of {escape(join_names(list(dict.fromkeys(silent))))} is unknown" if silent else ""
    estimated = any(entry.origin == ESTIMATED for bill in account.bills for moment in bill.moments for entry in moment.entries)
    return table(rows) + ("\n~ is an estimate" if estimated else "") + unknown


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
