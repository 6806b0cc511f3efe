"""The account of a plan for a person: tables of who works when and of memory, and sentences on what else there was."""

from __future__ import annotations

from typing import Iterator

from ...models.memory.bill import ESTIMATED, KEPT, SILENT, Entry
from ...models.planning.question import Question
from ...models.planning.workload import SECONDS
from ...solver.planning.after.account import Account
from ...solver.planning.after.usage import Usage, busy
from ...solver.wording import listed, plural
from ..table import table
from ..terminal import escape
from .against import KEEP, alternatives, own_placement, sensitivities
from .assumptions import assumptions
from .words import amount, block_name, parts, percent, seconds, task_name, total


def render(account: Account) -> list[str]:
    """The blocks of the account, one after the other; the first says what an iteration takes and what is proved of it."""
    blocks = [_headline(account) + "\n" + _components(account), _usage(account), _memory(account)]
    blocks += [alternatives(account), own_placement(account), sensitivities(account), assumptions(account)]
    return [block for block in blocks if block]


def _headline(account: Account) -> str:
    """`plan: 20.18 seconds an iteration, 128 accelerators, proved the best (...)`."""
    planned, question, best = account.planned, account.planned.question, account.planned.best
    traffic = f" ({seconds(best.traffic)} of them for traffic)" if best.traffic else ""
    used = best.design.accelerators
    figures = [f"{seconds(total(best))} seconds an iteration{traffic}", f"{used} {plural('accelerator', used)}"]
    value = total(best) if question.aim == SECONDS else used
    distance = max(0.0, 100 * (value - planned.bound) / max(planned.bound, 1))
    proof = "proved the best" if planned.proved else f"within {distance:.1f} % of the best possible"
    if account.given:
        proof = f"{distance:.1f} % from the bound" + (": keep it" if distance <= KEEP else "")
    batches = f" in {question.batches} batches" if question.batches > 1 else ""
    every, searched = planned.structures
    tried = f"{every} {plural('arrangement', every)}, {f'{searched} searched' if searched else 'decided by bounds'}"
    said = figures if question.aim == SECONDS else figures[::-1]
    return f"{'these ranks' if account.given else 'plan'}: {', '.join([*said, proof])} (cost model {planned.model}{batches}; {tried})"


def _components(account: Account) -> str:
    """One row a task: on how many accelerators, with which degrees, with whom, how long it works, and what it adds."""
    question, design = account.planned.question, account.planned.best.design
    rows = [["component", "accelerators", "degrees", "replicas", "shares with", "seconds", "adds"]]
    for name in question.components:
        option = design.options[name]
        blocks = set(design.blocks_of(name))
        others = [other for other in question.components if other != name and blocks & set(design.blocks_of(other))]
        held = amount(question, option.kind, option.amount) if option.accelerators else "-"
        replicas = str(option.amount // option.parallel.replica) if option.accelerators else str(option.amount)
        own = [held, str(option.parallel), replicas, ", ".join(others) or "-"]
        tasks = question.tasks_of[name]
        rows += [[name, *own, "-", "-"]] if not tasks else []
        for place, number in enumerate(tasks):
            task = question.tasks[number]
            whose = [task_name(question, task), *(own if not place else [""] * len(own))]
            rows.append([*whose, seconds(design.nanoseconds(question, number)), seconds(account.shares[task])])
    return table(rows, right=(1, 3, 5, 6))


def _usage(account: Account) -> str:
    """One row a block, one column a part of the iteration: who works in it, and for how much of it; then the whole iteration."""
    planned, question, design = account.planned, account.planned.question, account.planned.best.design
    if not account.usages:
        return ""
    names = parts(question, planned, design)
    lengths = [next((each.nanoseconds for each in account.usages if each.segment == place), 0) for place in range(len(names))]
    shown = [place for place, length in enumerate(lengths) if length]
    rows = [["works", *(f"{names[place]}: {seconds(lengths[place])}" for place in shown), *(["iteration"] if len(shown) > 1 else [])]]
    done = total = 0
    for number, block in enumerate(design.blocks):
        cells = []
        for place in shown:
            usage = next(each for each in account.usages if (each.block, each.segment) == (number, place))
            who = [f"{_worker(question, usage, turn.task)} {percent(turn.works, usage.nanoseconds)}" for turn in usage.turns]
            cells.append(", ".join(who) or "idle")
        works, length = busy(account.usages, number)
        done, total = done + works * block.accelerators, total + length * block.accelerators
        rows.append([block_name(question, block), *cells, *([percent(works, length)] if len(shown) > 1 else [])])
    rows += [[name, *cells] for name, cells in _without_accelerators(account, shown)]
    lines = [table(rows), *_idle(account)]
    there = sum(kind.accelerators for kind in question.kinds)
    used = design.accelerators
    unused = f"; {there - used} of {there} are not used" if used < there else ""
    subject = f"the {used} accelerators work" if used != 1 else "the accelerator works"
    lines.append(f"{subject} {percent(done, total)} of the time{unused}")
    return "\n".join(lines)


def _worker(question: Question, usage: Usage, number: int) -> str:
    """Who works: the component, with the phase where it has another turn in the same part."""
    task = question.tasks[number]
    several = sum(question.tasks[turn.task].component == task.component for turn in usage.turns) > 1
    return task_name(question, task) if several else task.component


def _without_accelerators(account: Account, shown: list[int]) -> Iterator[tuple[str, list[str]]]:
    """(component, how much of each part it works, and of the iteration) of those that hold no accelerators."""
    planned, question, design = account.planned, account.planned.question, account.planned.best.design
    for name in question.components:
        tasks = question.tasks_of[name]
        if not tasks or design.blocks_of(name):
            continue
        works = [sum(design.nanoseconds(question, task) for task in tasks if design.segments[task] == place) for place in shown]
        cells = [f"{name} {percent(time, planned.best.segments[place])}" if time else "-" for time, place in zip(works, shown)]
        yield name, [*cells, *([percent(sum(works), planned.best.nanoseconds)] if len(shown) > 1 else [])]


def _idle(account: Account) -> list[str]:
    """For each block that waits: how long, and for what."""
    planned, question, design = account.planned, account.planned.question, account.planned.best.design
    names, found = parts(question, planned, design), []
    for number, block in enumerate(design.blocks):
        its = [usage for usage in account.usages if usage.block == number and usage.idle]
        why = []
        for usage in its:
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
            idle = sum(usage.idle for usage in its)
            found.append(f"{escape(block_name(question, block))} idle {seconds(idle)} seconds: {'; '.join(why)}")
    return found


def _memory(account: Account) -> str:
    """One row a block, one column a part: what each of its accelerators holds, and of how much."""
    planned, question, design = account.planned, account.planned.question, account.planned.best.design
    if not any(moment.mebibytes for each in account.bills for moment in each.moments):
        return ""
    names = parts(question, planned, design)
    segments = list(dict.fromkeys(moment.segment for each in account.bills for moment in each.moments))
    rows = [["GiB on each", *(names[place] for place in segments), "peak", "of"]]
    silent: list[str] = []
    for each in account.bills:
        cells = []
        for place in segments:
            entries = next(its.entries for its in each.moments if its.segment == place)
            said = [f"{its.component} {_amount(its)}" for its in entries if its.mebibytes and its.state != KEPT]
            kept = [f"{its.component} {_amount(its)}" for its in entries if its.mebibytes and its.state == KEPT]
            cells.append("; ".join([*([", ".join(said)] if said else []), *([f"kept: {', '.join(kept)}"] if kept else [])]) or "-")
            silent += [its.component for its in entries if its.origin == SILENT]
        capacity = _gibibytes(each.capacity) if each.capacity is not None else "not known"
        rows.append([block_name(question, each.block), *cells, _gibibytes(each.peak.mebibytes), capacity])
    unsaid = f"\nnobody says the memory of {escape(listed(list(dict.fromkeys(silent))))}" if silent else ""
    estimated = any(its.origin == ESTIMATED for each in account.bills for moment in each.moments for its in moment.entries)
    return table(rows) + ("\n~ is an estimate" if estimated else "") + unsaid


def _amount(entry: Entry) -> str:
    return ("~" if entry.origin == ESTIMATED else "") + _gibibytes(entry.mebibytes)


def _gibibytes(mebibytes: int) -> str:
    """Up to a tenth, rounded up."""
    return f"{-(-mebibytes * 10 // 1024) / 10:g}"
