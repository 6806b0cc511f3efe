"""Reasons for the place of a component or an accelerator, and its alternatives."""

from __future__ import annotations

from ..models.findings.codes import CODES
from ..models.findings.wording import are, plural, with_noun
from ..models.machines.topology import NODE_LEVEL
from ..models.placements.reasons import ALL, FULL, OUT, SMALL, Reason, WhyAccelerator, WhyComponent, Without
from ..solver.wording import level_name
from .terminal import escape

MAX_DOMAINS = 6


def of_component(why: WhyComponent) -> str:
    """Format a component: its places, allowed places, costs elsewhere."""
    places = _format_some([f"{where or 'none'} ({count})" for where, count in why.held])
    lines = [f"why {why.name}: it is {_name_places(why.level, places)}"]
    if why.given:
        return escape(lines[0]) + "\n  its place was not searched: it is given, or spread over nodes"
    may, total = why.may
    other_places = [where for where in why.possible if where not in dict(why.held)]
    lines.append(
        f"  it may use {may} of {total} {plural('node', total)}"
        + (f", also {_name_places(why.level, _format_some(other_places))}" if other_places else f", in no other {level_name(why.level)}")
    )
    lines += [f"  {with_noun(count, 'node')} {are(count)} kept off by {code}: {CODES[code]}" for code, count in why.barred]
    kind = "" if why.level == NODE_LEVEL else f"{level_name(why.level)} "
    lines += [f"  without {kind}{candidate.domain or 'none'}: {_price(candidate)}" for candidate in why.without]
    return "\n".join(map(escape, lines))


def of_accelerator(why: WhyAccelerator) -> str:
    """Format an accelerator: its holder, and why no other component holds it."""
    name = f"{why.node}:{why.index}"
    if why.holders:
        head = "held by " + ", ".join(f"{component} (rank {rank})" for component, rank in why.holders)
    else:
        head = "held by another job" if why.taken else f"idle, as {why.idle} of this node are"
    return "\n".join(map(escape, [f"why {name}: {head}", *(f"  {_reason(rejection, why)}" for rejection in why.rejected)]))


def _reason(reason: Reason, why: WhyAccelerator) -> str:
    if reason.why == OUT:
        return f"{reason.component} may not use it: {reason.message} ({reason.code})"
    if reason.why == ALL:
        return f"{reason.component} has all that it may have ({reason.figure})"
    if reason.why == FULL:
        return f"{reason.component} could use it if it were free"
    if reason.why == SMALL:
        return f"{reason.component} takes {reason.figure} of a node at once, and {why.idle} are idle"
    end = "no answer is better that gives it more" if why.proved else "no better answer was found that gives it more"
    return f"{reason.component} could use it and has {reason.figure}; {end}"


def _price(without: Without) -> str:
    if not without.changes:
        return "as good" if without.verdict not in ("impossible", "undecided") else without.verdict
    changes = ", ".join(f"{name} {now} -> {then}" for name, now, then in without.changes)
    return changes if without.verdict == "optimal" else f"{changes} (not proved best)"


def _name_places(level: str, places: str) -> str:
    return f"on {places}" if level == NODE_LEVEL else f"in {level_name(level)} {places}"


def _format_some(names: list[str]) -> str:
    return ", ".join(names[:MAX_DOMAINS]) + (f" and {len(names) - MAX_DOMAINS} more" if len(names) > MAX_DOMAINS else "")


def component_data(why: WhyComponent) -> dict[str, object]:
    """Convert a component to JSON data."""
    return {
        "component": why.name, "given": why.given, "level": why.level, "held": dict(why.held), "may_use": why.may[0], "nodes": why.may[1],
        "barred": dict(why.barred), "possible": list(why.possible),
        "without": [
            {"domain": candidate.domain, "verdict": candidate.verdict, "changes": [{"term": t, "now": a, "then": b} for t, a, b in candidate.changes]}
            for candidate in why.without
        ],
    }  # fmt: skip


def accelerator_data(why: WhyAccelerator) -> dict[str, object]:
    """Convert an accelerator to JSON data."""
    rejections = [
        {"component": o.component, "why": o.why, **({"code": o.code, "message": o.message} if o.code else {"figure": o.figure})}
        for o in why.rejected
    ]
    holders = [{"component": component, "rank": rank} for component, rank in why.holders]
    return {
        "node": why.node, "index": why.index, "holders": holders, "taken": why.taken, "idle": why.idle, "others": rejections,
        "proved": why.proved,
    }  # fmt: skip
