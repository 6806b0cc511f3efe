"""What a plan takes for granted, each of it named."""

from __future__ import annotations

from ...solver.planning.after.account import Account
from ...solver.planning.after.basis import BETWEEN, FAR, FORMULA, MEASURED, Basis
from ...solver.wording import listed
from ..terminal import escape


def assumptions(account: Account) -> str:
    """One line for each time that nobody measured on exactly these accelerators, and for what else was assumed."""
    lines = [_time(each) for each in account.bases if each.kind != MEASURED]
    measured = [str(each.task) for each in account.bases if each.kind == MEASURED]
    if measured:
        lines.append(f"{listed(measured)}: as measured")
    if account.own is not None:
        lines += [f"yours: {_time(each)}" for each in account.own.bases if each.kind != MEASURED and each not in account.bases]
    lines.append(f"an iteration: {account.source}")
    for each in account.bills:
        for entry in each.peak.entries:
            if entry.origin == "estimated":
                lines.append(f"the memory of {entry.component} is an estimate, with nothing measured")
    return "\n".join(["rests on:", *(f"  {escape(line)}" for line in dict.fromkeys(lines))])


def _time(basis: Basis) -> str:
    counts = listed([str(count) for count in basis.counts])
    if basis.kind == FORMULA:
        return f"{basis.task} on {basis.amount}: {basis.scaling}"
    if basis.kind == BETWEEN:
        return f"{basis.task} on {basis.amount}: interpolated between {counts} ({basis.scaling})"
    far = f", {basis.beyond:.1f}x beyond: measure it there" if basis.beyond > FAR else f", {basis.beyond:.1f}x beyond"
    return f"{basis.task} on {basis.amount}: extrapolated from {counts} ({basis.scaling}){far}"
