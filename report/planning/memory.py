"""Memory bill as a table: a row per block, a column per segment."""

from __future__ import annotations

from ...models.account import ESTIMATED, KEPT, SILENT, Account, BlockBill, ComponentMemory
from ...solver.wording import listed
from ..table import table
from ..terminal import escape
from .words import bill_name, parts


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
    unknown = f"\nnobody says the memory of {escape(listed(list(dict.fromkeys(silent))))}" if silent else ""
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
