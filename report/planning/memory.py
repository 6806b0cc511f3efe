"""Memory bill as a table: a row per block, a column per segment."""

from __future__ import annotations

from ...models.account import Account
from ...models.memory.bill import ESTIMATED, KEPT, SILENT, BlockBill, ComponentMemory
from ...solver.wording import listed
from ..table import table
from ..terminal import escape
from .words import bill_name, parts


def memory(account: Account) -> str:
    """Format a row per block and a column per segment: load and capacity."""
    planned, question, design = account.planned, account.planned.question, account.planned.best.design
    if not any(moment.mebibytes for each in account.bills for moment in each.moments):
        return ""
    names = parts(question, planned, design)
    columns = list(dict.fromkeys((moment.segment, moment.phase) for each in account.bills for moment in each.moments))
    columns.sort(key=lambda column: column[0] is None)
    heads = (names[place] if place is not None else f"{phase}: no seconds" for place, phase in columns)
    rows = [["GiB on each", *heads, "peak", "of"]]
    silent: list[str] = []
    for each in account.bills:
        cells = []
        for column in columns:
            entries = next((its.entries for its in each.moments if (its.segment, its.phase) == column), None)
            if entries is None:  # in none of its turns, but in the parts that lie around it
                cells.append("as in its part")
                continue
            said = [f"{its.component} {_amount(its)}" for its in entries if its.mebibytes and its.state != KEPT]
            kept = [f"{its.component} {_amount(its)}" for its in entries if its.mebibytes and its.state == KEPT]
            nothing = "not known" if any(its.origin == SILENT for its in entries) else "-"
            cells.append("; ".join([*([", ".join(said)] if said else []), *([f"kept: {', '.join(kept)}"] if kept else [])]) or nothing)
            silent += [its.component for its in entries if its.origin == SILENT]
        capacity = _gibibytes(each.capacity) if each.capacity is not None else "not known"
        rows.append([bill_name(question, each), *cells, _peak(each), capacity])
    unsaid = f"\nnobody says the memory of {escape(listed(list(dict.fromkeys(silent))))}" if silent else ""
    estimated = any(its.origin == ESTIMATED for each in account.bills for moment in each.moments for its in moment.entries)
    return table(rows) + ("\n~ is an estimate" if estimated else "") + unsaid


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
